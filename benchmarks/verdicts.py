"""Is what `measure` says true? Learners whose behaviour is planted, and how often verdict and mechanism are right.

    python benchmarks/verdicts.py [--seeds 20] [--first 0] [--only overfits,leak] [--processes 1]

Printed of each kind (defined in the files named `planted_…` that are imported here): the share of right verdicts, the
share that names a mechanism that is not there, and the share that names the planted one.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

import planted_away  # noqa: F401 - each kind that is defined adds itself to LEARNERS.
import planted_by_heart  # noqa: F401
import planted_columns  # noqa: F401
import planted_factors  # noqa: F401
import planted_few  # noqa: F401
import planted_kinds  # noqa: F401
import planted_levels  # noqa: F401
import planted_members  # noqa: F401
import planted_misplaced  # noqa: F401
import planted_models  # noqa: F401
import planted_often  # noqa: F401
import planted_outputs  # noqa: F401
import planted_passed_over  # noqa: F401
import planted_sure  # noqa: F401
import planted_written  # noqa: F401
from planted_grid import LEARNERS, Planted


def run(name: str, seed: int) -> Planted:
    """One learner of a kind; the seed is of this kind alone, so that each stays as it is when others are added."""
    return LEARNERS[name](np.random.default_rng([seed, *name.encode()]))


class Judged(NamedTuple):
    verdict: str
    right: bool
    wrong: bool
    named: bool
    due: bool
    seconds: float


def judged(name: str, seed: int) -> Judged:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    start = time.perf_counter()
    planted = run(name, seed)
    verdict, due = planted.result.verdict, bool(planted.mechanisms or planted.remark)
    return Judged(verdict, verdict in planted.verdicts, planted.wrong, planted.named, due, time.perf_counter() - start)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="part of the name of a kind, or several: a,b")
    parser.add_argument("--processes", type=int, default=1, help="seeds that are judged at once")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    print("| planted | right verdict | verdicts | wrong mechanism | planted one named | s each |")
    print("|---|---:|---|---:|---:|---:|")
    total: collections.Counter[str] = collections.Counter()
    with ProcessPoolExecutor(given.processes) as pool:
        for name in (n for n in LEARNERS if any(part in n for part in given.only.split(","))):
            found = list(pool.map(partial(judged, name), seeds))
            right, false, named, due = (sum(getattr(p, x) for p in found) for x in ("right", "wrong", "named", "due"))
            verdicts = ", ".join(f"{v} {n}" for v, n in collections.Counter(p.verdict for p in found).most_common())
            planted = f"{named} of {due}" if due else "–"
            each = sum(p.seconds for p in found) / len(found)
            print(f"| {name} | {right} of {len(found)} | {verdicts} | {false} | {planted} | {each:.2f} |", flush=True)
            total.update(right=right, false=false, all=len(found))
    print(f"\nRight verdict {total['right']} of {total['all']} ({total['right'] / total['all']:.1%}), wrong mechanism "
          f"named {total['false']} ({total['false'] / total['all']:.1%}).")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
