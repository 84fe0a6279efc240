"""Do answers to unseen combinations vary with some of the factors alone, whatever these levels gave in training?

A shortcut need not hit the means of training: a shrunken fit of one factor, or one that is off by a number, gives each
of its levels an answer that is nobody's. So numbers are fitted by a sum over levels of the factors it would use:

    p = Σ_k u_k + rest.

No rest where the right answers have one, beyond the noise, is a rule that does not see the other factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.special import fdtrc

from recombine.mechanisms.answers.answered import Answers
from recombine.mechanisms.answers.finding import FEWEST, LEVEL, MOST_OF, Finding
from recombine.mechanisms.answers.names import NOTHING, brief
from recombine.mechanisms.causes.simpler_rules import BEHAVIOUR, MOST_FACTORS
from recombine.statistics import FloatArray, Interval

REST = 0.01
"""Share of what answers vary by, and of what right ones do beside these factors, that the rest may be."""


def unmoved(asked: Answers, noise: float) -> list[Finding]:
    """The shortcuts by one factor, and the factors ignored, that answers to unseen combinations speak for. ``noise``:
    the mean square that right answers of a combination are off by, for all that is known."""
    if asked.classes is not None or len(asked.codes) < FEWEST:
        return []
    names, k = [*map(brief, asked.space.names)], len(asked.space)
    used = {f"factor {j + 1}": (f"shortcut by {name}", [j], f"with {name} alone") for j, name in enumerate(names)}
    if k > 2:  # Of two factors, it is the other one's shortcut.
        used |= {f"ignored {j + 1}": (f"{name} ignored", [i for i in range(k) if i != j], f"with all but {name}")
                 for j, name in enumerate(names)}  # fmt: skip
    if 4 <= k <= MOST_FACTORS:
        for i, j in combinations(range(k), 2):
            both = f"{names[i]} and {names[j]}"
            rest = [at for at in range(k) if at not in (i, j)]
            used[f"ignored {i + 1} {j + 1}"] = (f"{both} ignored", rest, f"with all but {both}")
    found = [_unmoved(asked, noise, id_, *how) for id_, how in used.items()]
    return [e for e in found if e is not None and e.p is not None and e.p <= LEVEL / len(used)]


def _unmoved(
    asked: Answers, noise: float, id_: str, mechanism: str, using: Sequence[int], words: str
) -> Finding | None:
    x = np.hstack([np.eye(asked.space.shape[j])[asked.codes[:, j]] for j in using])
    several = np.einsum("ij,ji->i", x, np.linalg.pinv(x)) < 1 - NOTHING  # One that is alone in its level fits itself.
    x, right, said = x[several], asked.target[several], asked.predicted.mean(axis=0)[several]
    n, rank = len(x), int(np.linalg.matrix_rank(x)) if several.any() else 0
    free = n - rank
    off = right - said
    if free < FEWEST or rank < 2:
        return None

    def rest(values: FloatArray) -> float:
        return float(np.square(values - x @ np.linalg.lstsq(x, values, rcond=None)[0]).sum())

    varies, left = float(np.square(said - said.mean(axis=0)).sum()), rest(said)
    due = rest(right) / free - noise
    whole = float(np.square(off - off.mean(axis=0)).sum()) / (n - 1) - noise
    if not (varies > NOTHING * asked.scale and due > noise and whole > 0):
        return None
    if left / free > REST * min(due, varies / (n - 1)):
        return None
    explains = min(1.0, (rest(off) / free - noise) / whole)
    if explains < MOST_OF:
        return None
    p = float(fdtrc(rank - 1, free, (varies - left) / (rank - 1) / max(left / free, 1e-300)))
    return Finding(
        id_, mechanism, f"share of what answers to unseen combinations vary by that goes {words}",
        Interval(1 - left / varies), p=p, explained=Interval(explains), speaks=True,
        limit=f"What these levels gave in training may be another number. {BEHAVIOUR}",
    )  # fmt: skip
