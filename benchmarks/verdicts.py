"""Is what `measure` says true? Learners whose behaviour is planted, and how often verdict and mechanism are right.

    python benchmarks/verdicts.py [--seeds 20] [--first 0] [--only overfits,leak]

Printed of each kind (defined in the files named `planted_…` that are imported here): the share of right verdicts, the
share that names a mechanism that is not there, and the share that names the planted one.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import warnings

import numpy as np
import torch

import planted_away  # noqa: F401 - each kind that is defined adds itself to LEARNERS.
import planted_by_heart  # noqa: F401
import planted_columns  # noqa: F401
import planted_factors  # noqa: F401
import planted_few  # noqa: F401
import planted_kinds  # noqa: F401
import planted_levels  # noqa: F401
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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="", help="part of the name of a kind, or several: a,b")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    print("| planted | right verdict | verdicts | wrong mechanism | planted one named | s each |")
    print("|---|---:|---|---:|---:|---:|")
    total: collections.Counter[str] = collections.Counter()
    for name in (n for n in LEARNERS if any(part in n for part in given.only.split(","))):
        start = time.perf_counter()
        found = [run(name, seed) for seed in range(given.first, given.first + given.seeds)]
        each = (time.perf_counter() - start) / len(found)
        right = sum(p.result.verdict in p.verdicts for p in found)
        false = sum(p.wrong for p in found)
        named = sum(p.named for p in found)
        said = collections.Counter(p.result.verdict for p in found)
        verdicts = ", ".join(f"{v} {n}" for v, n in said.most_common())
        due = sum(bool(p.mechanisms or p.remark) for p in found)
        planted = f"{named} of {due}" if due else "–"
        print(f"| {name} | {right} of {len(found)} | {verdicts} | {false} | {planted} | {each:.2f} |", flush=True)
        total.update(right=right, false=false, all=len(found))
    print(f"\nRight verdict {total['right']} of {total['all']} ({total['right'] / total['all']:.1%}), wrong mechanism "
          f"named {total['false']} ({total['false'] / total['all']:.1%}).")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
