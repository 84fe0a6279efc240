"""Your own training loop: is the network composing yet, and if not, why does it fail?

Two dials of eight positions each; the network must add them up. Its input shows each dial, and also a code of the pair
as a whole, by which pairs can be memorized. Two fifths of all pairs are never trained on. A plain `nn.Module`, a plain
loop, and one call to `measure` where you would print the loss.
"""

from __future__ import annotations

import torch
from torch import nn

import recombine as rc
from recombine.support import Explicit
from recombine.tasks import squared_error

LEVELS = 8


def shown(codes: torch.Tensor) -> torch.Tensor:
    """Each dial as a one-hot code, and the pair as a louder one."""
    dials = nn.functional.one_hot(codes, LEVELS).float().flatten(1)
    pair = nn.functional.one_hot(codes @ torch.tensor([LEVELS, 1]), LEVELS**2).float()
    return torch.cat([dials, 1.5 * pair], dim=1)


def main() -> None:
    torch.manual_seed(0)
    space = rc.FactorSpace.of(first=LEVELS, second=LEVELS)
    codes = torch.as_tensor(space.grid())
    kept = torch.rand(len(codes), generator=torch.Generator().manual_seed(1)) > 0.4
    train = Explicit(space, codes[kept].numpy())
    inputs = shown(codes)
    targets = (codes.sum(1, keepdim=True).float() - 7.0) / 3.0
    task = rc.FixedTask(space, train, ~train, inputs, targets, codes, loss=squared_error)

    network = nn.Sequential(nn.Linear(inputs.shape[1], 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for step in range(1, 301):
        loss = squared_error(network(inputs[kept]), targets[kept]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in (1, 300):
            result = rc.measure(network, task, noise=0.0)  # the sum follows from the dials exactly
            print(f"step {step:>3}  {result.verdict}: {result.sentence()}")

    print(f"worst unseen pair: {result.worst[0]['combination']}, error {result.worst[0]['error']:.2f}")
    for name, why in result.left_out.items():
        print(f"left out  {name}: {why}")
    decision = "ship it" if result.verdict == "composes" else f"do not trust unseen pairs: {result.verdict}"
    print(f"Decision: {decision}, {', '.join(result.mechanisms) or 'no mechanism named'}.")


if __name__ == "__main__":
    main()
