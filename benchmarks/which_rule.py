"""Which rule and which scale does `check` recommend, and is what it says of one answer for all right? Planted tables.

    python benchmarks/which_rule.py [--tables 40] [--first 0]

Classes: two to four of two to four factors, one row of each combination (of one table in four three), a quarter asked
about. Effects of so many standard deviations add up on the log-odds; or two factors act together alone (xor); or one
factor acts. Numbers: effects add up as they are, or their logarithms, log-odds or square roots do, with noise of .1, .3
or .6 of them; one row or three, three tenths asked about. Each time: what was recommended, what it erred by (classes:
share wrong of the planted chances; numbers: over what the planted scale errs by), how often the intervals of the
forecast and of single answers held, and by what factor (root mean square of its logarithm) the error forecast of one
answer for all was off; of classes last what share wrong was told.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.special import expit

from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.seen_cells import Cells

CLASSES = ((3, 3), (5, 4), (5, 5), (3, 3, 3), (4, 4, 3), (5, 4, 3), (3, 3, 3, 3), (4, 3, 3, 2))
SIZES = (0.0, 0.5, 1.0, 2.0, 4.0)
NUMBERS = ((5, 4), (6, 5), (8, 6), (4, 3, 3), (5, 4, 3), (3, 3, 2, 2), (4, 4, 3, 2))
SCALES = {"plain": "additive", "log": "additive on a log scale", "log-odds": "additive on a log-odds scale", "sqrt": ""}
SMALL = 0.02
"""A share wrong that is taken for as good as none where factors are told."""


def grid(shape: tuple[int, ...]) -> np.ndarray:
    return np.indices(shape).reshape(len(shape), -1).T.astype(np.int64)


def added(shape: tuple[int, ...], codes: np.ndarray, rng: np.random.Generator, width: int = 1) -> np.ndarray:
    return sum(rng.standard_normal((n, width))[c] for n, c in zip(shape, codes.T, strict=True))


def determined(codes: np.ndarray, shape: tuple[int, ...], asked: np.ndarray) -> bool:
    x = np.hstack([np.eye(n)[codes[:, k]] for k, n in enumerate(shape)])
    return bool(np.linalg.matrix_rank(x[~asked]) == np.linalg.matrix_rank(x)) and asked.sum() > 2


def of_classes(kind: str, seed: int) -> dict[str, object] | None:
    rng = np.random.default_rng(seed)
    shape = CLASSES[rng.integers(len(CLASSES))]
    rows, classes, codes = int(rng.choice([1, 1, 1, 3])), int(rng.choice([2, 2, 3, 4])), grid(shape)
    odds = added(shape, codes, rng, classes - 1)
    if kind == "xor":
        halves = [rng.permutation(n)[codes[:, k]] % 2 for k, n in enumerate(shape[:2])]
        p = np.where(((halves[0] ^ halves[1]) == 1)[:, None], [0.1, 0.9], [0.9, 0.1])
    elif kind == "one factor":
        commonest = rng.permutation(shape[0])[codes[:, 0]] % classes
        p = np.where(np.arange(classes) == commonest[:, None], 0.7, 0.3 / (classes - 1))
    else:
        p = np.exp(np.hstack([np.zeros((len(codes), 1)), float(kind) * (odds - odds.mean(axis=0))]))
        p /= p.sum(axis=1, keepdims=True)
    asked, share = rng.random(len(codes)) < 0.25, rng.multinomial(rows, p) / rows
    kept = share[~asked].sum(axis=0) > 0
    if kept.sum() < 2 or not determined(codes, shape, asked):
        return None
    seen = Cells(codes[~asked], shape, np.full(int((~asked).sum()), float(rows)), share[~asked][:, kept], None)
    told = forecast(seen, codes[asked], seed=seed)
    if isinstance(told, str):
        return None
    said = np.zeros_like(p[asked])
    said[:, kept] = told.estimate(codes[asked]).answers
    same = np.zeros_like(said)
    same[:, kept] = seen.answers.mean(axis=0)
    sure, real = np.arange(len(said)), []
    for one in (said, same):
        wrong = 1 - share[asked][sure, one.argmax(axis=1)]
        loss = -(share[asked] * np.log(np.clip(one, 1e-6, 1))).sum(axis=1)
        real.append(float((wrong if told.metric == "error rate" else loss).mean()))
    assumed = next(rule for rule in told.rules if rule.rule == "additive")
    return {
        "rule": told.rule, "rows": rows, "beats": assumed.beats, "held": told.low <= real[0] <= told.high,
        "error": float(1 - p[asked][sure, said.argmax(axis=1)].mean()),
        "told": told.error if told.metric == "error rate" else told.wrong,
        "off": float(np.log(max(told.constant, SMALL) / max(real[1], SMALL))),
    }  # fmt: skip


def answers_on(kind: str, z: np.ndarray, rng: np.random.Generator) -> np.ndarray | None:
    """Answers above zero, of which the largest is more than twice the smallest; most of them may be per cents."""
    if kind == "log-odds":
        return 100 * expit(rng.uniform(-1, 1) + rng.uniform(0.6, 1.5) * z)
    y = {
        "plain": rng.uniform(35, 65) + rng.uniform(8, 20) * z,
        "log": rng.uniform(10, 20) * np.exp(rng.uniform(0.4, 0.9) * z),
        "sqrt": np.maximum(rng.uniform(5, 6) + rng.uniform(1, 1.7) * z, 0) ** 2,
    }[kind]
    fits = 0 < y.min() < y.max() / 2 and (kind == "log" or y.max() < 100)
    return y * (1.0 if rng.random() < 0.6 else 10.0) if fits else None


def of_numbers(kind: str, seed: int) -> dict[str, object] | None:
    rng = np.random.default_rng([seed, list(SCALES).index(kind)])
    shape = NUMBERS[seed % len(NUMBERS)]
    rows, noise, codes, y = int(rng.choice([1, 1, 3])), float(rng.choice([0.1, 0.3, 0.6])), grid(shape), None
    while y is None:
        z = added(shape, codes, rng)
        y = answers_on(kind, (z - z.mean()) / z.std() + noise * rng.standard_normal((len(codes), rows)), rng)
    asked, mean = rng.random(len(codes)) < 0.3, y.mean(axis=1)
    if not determined(codes, shape, asked):
        return None
    spread = ((y - mean[:, None]) ** 2).sum(axis=1)[~asked]
    pure = float(spread.sum()) / (len(spread) * (rows - 1)) if rows > 1 else None
    seen = Cells(
        codes[~asked], shape, np.full(len(spread), float(rows)), mean[~asked], pure,
        spread=spread if rows > 1 else None, reach=(float(y[~asked].min()), float(y[~asked].max())),
    )  # fmt: skip
    told, truth = forecast(seen, codes[asked], seed=seed), mean[asked]
    if isinstance(told, str):
        return None
    said = told.estimate(codes[asked])
    real, same = (float(np.sqrt(((one - truth) ** 2).mean())) for one in (said.answers, mean[~asked].mean()))
    found = {"rule": told.rule, "held": told.low <= real <= told.high, "error": real / truth.std()}
    if said.low is not None and said.high is not None:
        found["ranges"] = float(((said.low <= truth) & (truth <= said.high)).mean())
    return found | {"off": float(np.log(told.constant / same))}


def mean(found: list[dict[str, object]], name: str) -> str:
    return f"{np.mean([one[name] for one in found if name in one]):.3f}".lstrip("0") or "0"


def off(found: list[dict[str, object]]) -> str:
    return f"{np.sqrt(np.mean([float(str(one['off'])) ** 2 for one in found])):.2f}".lstrip("0")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=40, help="of each kind, but for those that are not determined")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.tables)
    lines = ["| classes | tables | one answer for all | additive | pairs | substitution | additive beats one answer | "
             "share wrong | interval holds | one answer's error off by | told |", f"|---|{'---:|' * 10}"]  # fmt: skip
    for kind in (*map(str, SIZES), "xor", "one factor"):
        found = [one for seed in seeds if (one := of_classes(kind, seed))]
        rules = [
            str(sum(one["rule"] == name for one in found)) for name in ("constant", "additive", "pairs", "substitution")
        ]
        parts = [kind, str(len(found)), *rules, str(sum(bool(one["beats"]) for one in found))]
        parts += [mean(found, "error"), mean(found, "held"), off(found), mean(found, "told")]
        lines.append(f"| {' | '.join(parts)} |")
    lines += ["", "| numbers | tables | plain | log | log-odds | rank | other rules | error, of answers' spread | "
              "interval holds | ranges hold | one answer's error off by |", f"|---|{'---:|' * 10}"]  # fmt: skip
    for kind in SCALES:
        found = [one for seed in seeds if (one := of_numbers(kind, seed))]
        names = [*list(SCALES.values())[:3], "additive on a rank scale"]
        counts = [sum(one["rule"] == name for one in found) for name in names]
        parts = [kind, *map(str, (len(found), *counts, len(found) - sum(counts)))]
        lines.append(
            f"| {' | '.join([*parts, mean(found, 'error'), mean(found, 'held'), mean(found, 'ranges'), off(found)])} |"
        )
    about = (
        f"`python benchmarks/which_rule.py --tables {given.tables} --first {given.first}`: see there what is planted."
    )
    text = "\n".join(["# Which rule and which scale, on planted tables", "", about, "", *lines, ""])
    print(text)
    (Path(__file__).parent / "results" / "which-rule-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
