# %% [markdown]
# # Your own data, your own model
#
# Which combinations does it get wrong, and by how much? Two factors, the position of a mark in a strip and its
# brightness, and one combination that training never sees. The data are plain tensors with the combination of each row;
# the model is a plain `nn.Module`.

# %%
import torch
from torch import nn

import recombine as rc
from recombine.support import full, leave_out
from recombine.tasks import correct, cross_entropy

space = rc.FactorSpace.of(position=["left", "middle", "right"], brightness=["dim", "bright"])
train_on = leave_out(space, {"position": "right", "brightness": "dim"})

generator = torch.Generator().manual_seed(0)
codes = torch.as_tensor(space.sample(2000, seed=0))
strips = 0.3 * torch.randn(2000, 9, generator=generator)
for row, (position, brightness) in enumerate(codes.tolist()):
    strips[row, 3 * position : 3 * position + 3] += 1.0 + 2.0 * brightness

# %% [markdown]
# A task is these tensors, what of them is trained on, and how an answer is scored.

# %%
task = rc.FixedTask(
    space,
    train=train_on,
    test=~train_on,
    inputs=strips,
    targets=codes[:, 1],
    combinations=codes,
    loss=cross_entropy,
    scores=lambda outputs, targets: {"accuracy": correct(outputs, targets)},
)

# %% [markdown]
# Sixteen networks from sixteen seeds, trained at once, so that every number has an interval.


# %%
def network() -> nn.Module:
    return nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))


ensemble = rc.train(network, task, members=16, steps=300, batch_size=64, optimizer=rc.Adam(lr=0.003))
table = rc.measures.per_combination(ensemble, task, points=full(space).codes)
gap = rc.measures.gap(table)

print(f"seen    {gap.seen}")
print(f"unseen  {gap.unseen}")
print(f"worst   {gap.worst}: {gap.worst_score}, {gap.worst_count} examples per member")
