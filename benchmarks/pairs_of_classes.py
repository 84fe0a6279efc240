"""What is lost by the rule that `check` recommends for classes? Planted tables of three or four factors.

    python benchmarks/pairs_of_classes.py [--tables 2] [--first 400]

A third of the combinations is asked about, the others have 1, 3 or 10 rows of two or three classes. Log-odds add up; or
one pair of factors acts besides (standard deviation 1.5), or all do (.7); or nothing acts. Errors are Kullback and
Leibler's, of the planted chances from those answered on the asked combinations: of the recommended rule, of the best of
all that were tried (regret: the difference), and, where pairs were recommended, of these and of single effects.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import numpy as np

from recombine.checks.forecasts.contest import Contest, draw, hold
from recombine.checks.forecasts.forecast import FEWEST
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.surface import each_alone

SHAPES = ((5, 4, 3), (4, 4, 3, 2), (6, 5, 4))
ROWS, CLASSES = (1, 3, 10), (2, 3)
KINDS = {"additive": (0, 0.0), "one pair": (1, 1.5), "all pairs": (None, 0.7), "nothing": (0, 0.0)}
"""How many pairs act, and how much."""


def planted(shape, rows, classes, kind, seed):
    rng = np.random.default_rng([*shape, rows, classes, seed, list(KINDS).index(kind)])
    codes = np.indices(shape).reshape(len(shape), -1).T
    odds = sum(rng.standard_normal((n, classes - 1))[c] for n, c in zip(shape, codes.T, strict=True))
    odds = odds * (kind != "nothing")
    many, size = KINDS[kind]
    for a, b in list(itertools.combinations(range(len(shape)), 2))[:many]:
        odds = odds + size * rng.standard_normal((shape[a], shape[b], classes - 1))[codes[:, a], codes[:, b]]
    p = np.exp(np.hstack([np.zeros((len(codes), 1)), odds]))
    p /= p.sum(axis=1, keepdims=True)
    return codes, p, rng.random(len(codes)) < 1 / 3, rng.multinomial(rows, p)


def tried(shape, rows, classes, kind, seed) -> tuple[Contest, dict[str, float]] | None:
    """The contest, and what each rule errs by; None where too few could be left out."""
    codes, p, out, counts = planted(shape, rows, classes, kind, seed)
    kept = counts[~out].sum(axis=0) > 0
    share = counts[~out][:, kept] / rows
    cells = Cells(codes[~out].astype(np.int64), shape, np.full(len(share), float(rows)), share, None)
    told = np.all([np.isin(codes[out][:, k], cells.codes[:, k]) for k in range(len(shape))], axis=0)
    asked, truth = codes[out][told].astype(np.int64), p[out][told][:, kept]
    truth = truth / truth.sum(axis=1, keepdims=True)
    if len(asked) < 2 or kept.sum() < 2:
        return None
    alone = each_alone(cells, asked)
    drawn = alone or draw(cells, asked, np.random.default_rng(0), None)
    if len({int(group[0]) for group in drawn.groups}) < FEWEST:
        return None
    contest = hold(cells, asked, drawn, alone is not None, (), 0)
    said = {rule.name: np.clip(rule.answer(asked), 1e-6, 1) for rule in contest.rules}
    return contest, {name: float((truth * np.log(truth / q)).sum(axis=1).mean()) for name, q in said.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=2, help="of each of 18 layouts")
    parser.add_argument("--first", type=int, default=400, help="the first seed")
    given = parser.parse_args()
    lines = ["| planted | tables | error | regret | pairs won | pairs err there | single effects |"]
    lines.append("|---|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        seeds = range(given.first, given.first + given.tables)
        found = [one for how in itertools.product(SHAPES, ROWS, CLASSES, [kind], seeds) if (one := tried(*how))]
        errors = [off[contest.winner.name] for contest, off in found]
        regret = np.mean(errors) - np.mean([min(off.values()) for _, off in found])
        pairs = [off for contest, off in found if contest.winner.name == "pairs"]
        there = [f"{np.mean([off[name] for off in pairs]):.4f}" if pairs else "–" for name in ("pairs", "additive")]
        parts = [kind, str(len(found)), f"{np.mean(errors):.4f}", f"{regret:.4f}", str(len(pairs)), *there]
        lines.append(f"| {' | '.join(parts)} |")
        print(lines[-1], flush=True)
    about = f"`python benchmarks/pairs_of_classes.py --tables {given.tables} --first {given.first}`: errors are "
    about += "Kullback and Leibler's, of the rule that was recommended; regret is over the best of those tried."
    text = "\n".join(["# Pairs of classes, on planted tables", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "pairs-of-classes-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
