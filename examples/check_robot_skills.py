# %% [markdown]
# # A robot-skill grid of five factors
#
# Which demonstrations are worth a day in the lab? Demonstrations are costly: the mobile arm costs four times the fixed
# ones, glass must not be dropped on the floor, and the grid has 4 × 4 × 3 × 3 × 3 = 432 cells.

# %%
import numpy as np

from recombine.checks import check
from recombine.space import FactorSpace
from recombine.support import Explicit

SPACE = FactorSpace.of(
    skill=["pick", "place", "wipe", "pour"],
    object=["cup", "book", "bottle", "glass"],
    surface=["table", "shelf", "floor"],
    light=["day", "lamp", "dark"],
    arm=["left", "right", "mobile"],
)
COST = {"arm": {"left": 1.0, "right": 1.0, "mobile": 4.0}, "surface": {"floor": 1.0}}
FORBIDDEN = [{"object": "glass", "surface": "floor"}, {"skill": "pour", "object": "book"}]


def demonstrations(seed: int = 0) -> Explicit:
    """What the lab has: left and right arms in daylight anywhere, the mobile arm only in the dark at the shelf."""
    cells = SPACE.grid()
    skill, obj, surface, light, arm = cells.T
    fixed = (arm < 2) & (light == 0) & (obj < 3) & ~((obj == 1) & (skill == 3))
    mobile = (arm == 2) & (light == 2) & (surface == 1) & (obj == 0)
    keep = (fixed & (np.random.default_rng(seed).random(len(cells)) < 0.5)) | mobile
    return Explicit(SPACE, cells[keep])


# %% [markdown]
# Ask about the whole grid: what can the robot be trusted with today?

# %%
have = demonstrations()
records = have.combinations()
names = list(SPACE.names)
table = {name: [r[name] for r in records] for name in names}
everything = {name: [r[name] for r in SPACE.decode(SPACE.grid())] for name in names}
result = check(table, names, test=everything, cost=COST, forbid=FORBIDDEN)
print(f"{len(records)} demonstrations of {SPACE.size} cells. Verdict: {result.verdict}. {result.sentence()}")
print(f"Skills it can be asked for today: {result.counts['seen'] + result.counts['determined']} of {SPACE.size} cells.")
shaky = [q for q in result.queries if q.status == "determined" and (q.leverage or 0) > 0.5]
print(f"Of the determined ones, {len(shaky)} rest on thin evidence (leverage above one half).")

# %% [markdown]
# What to demonstrate next, by its price, without what is forbidden.

# %%
for record, cost in zip(result.suggestions, result.advice.costs, strict=True):
    print(f"  demonstrate {' / '.join(str(v) for v in record.values())}  ({cost:g} h)")
free = check(table, names, test=everything, forbid=FORBIDDEN)
print(
    f"{result.advice.method}; {result.advice.cost:g} hours, the same number of cells without prices: "
    f"{len(free.suggestions)}."
)
print(
    f"Decision: book {result.advice.cost:g} lab hours for {len(result.suggestions)} demonstrations; "
    "nothing cheaper settles the grid."
    if result.advice.exact and result.advice.enough
    else "Decision: lift a ban first; no allowed set settles the grid."
)
