"""Is what `check` says of a table true? Verdicts, forecasts and ranges on tables whose truth was planted.

    python benchmarks/planted.py [SEEDS]

additive   effects of the factors add up
multiply   they multiply (positive answers, noise in per cent)
xor        two factors act together alone: whether their levels are of one half or of two
modular    (a + b) mod n, and nothing else
noise      nothing is going on
one level  effects add up, but one level of the first factor reverses those of the second
Of classes: effects add up on the log-odds, xor with one answer in ten wrong, a coin.

`python benchmarks/planted.py chances`: would ranges of the chances of classes hold? Those by the fit, of planted odds.
`python benchmarks/planted.py forecasts`: forecasts where few cells are seen, effects multiply, or numbers act.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

import recombine as rc
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.rules.odds import Odds
from recombine.checks.rules.seen_cells import Cells

SEEDS = 40
LAYOUTS = {
    "6 × 5, three rows each": ((6, 5), 3),
    "8 × 6, one row each": ((8, 6), 1),
    "5 × 4 × 3, two rows each": ((5, 4, 3), 2),
    "6 × 5, ten rows each": ((6, 5), 10),
    "6 × 5 × 4, one row each": ((6, 5, 4), 1),
}
KINDS = ("additive", "multiply", "xor", "modular", "noise", "odds (classes)", "xor (classes)", "coin (classes)",
         "one level")  # fmt: skip
VERDICTS = ("determined", "determined on a scale", "assumption unsupported", "assumption rejected", "other")
SMALL = ((4, 4, 10), (5, 4, 12), (6, 6, 24), (7, 6, 28))
"""Levels of two factors and cells seen, where few are."""
CURVES = {
    "line": (lambda x: 0.1 * x, 0.3),
    "wave": (lambda x: np.sin(x / 10), 0.15),
    "saturation": (lambda x: 4 * x / (15 + x), 0.15),
    "threshold": (lambda x: 2.0 * (x >= 35), 0.15),
}
"""What a number does, and the noise of a row."""
FALSE = {"additive": "assumption rejected", "odds (classes)": "assumption rejected"}
"""The verdict that would be false; of all other kinds it is “determined”."""


def truth(kind: str, shape: tuple[int, ...], codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The answer of each cell without noise: a mean, or the chance of the first of two classes."""
    effects = [rng.standard_normal(n) for n in shape]
    added = sum(e[c] for e, c in zip(effects, codes.T, strict=True))
    halves = [rng.permutation(n) % 2 for n in shape[:2]]
    apart = halves[0][codes[:, 0]] != halves[1][codes[:, 1]]
    if "classes" in kind:
        by = {
            "odds": 1 / (1 + np.exp(-1.5 * added)),
            "xor": np.where(apart, 0.9, 0.1),
            "coin": np.full(len(codes), 0.5),
        }
        return by[kind.split()[0]]
    turned = [rng.permutation(n)[c] for n, c in zip(shape[:2], codes.T[:2], strict=True)]
    return {
        "additive": 20 + 2 * added, "multiply": 20 * np.exp(0.6 * added), "xor": 20 + 4.0 * apart,
        "modular": 20 + 2.0 * ((turned[0] + turned[1]) % shape[1]), "noise": np.full(len(codes), 20.0),
        "one level": 20 + 2 * (added - 2 * (codes[:, 0] == 0) * effects[1][codes[:, 1]]),
    }[kind]  # fmt: skip


def rows_of(kind: str, answers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if "classes" in kind:
        return np.where(rng.random(len(answers)) < answers, "yes", "no")
    noise = rng.standard_normal(len(answers))
    return answers * np.exp(0.1 * noise) if kind == "multiply" else answers + noise


def trial(kind: str, shape: tuple[int, ...], rows: int, seed: int) -> dict[str, object]:
    """One table, of which a third of the cells is hidden and asked about."""
    rng = np.random.default_rng([KINDS.index(kind), *shape, rows, seed])
    codes = np.stack(np.unravel_index(rng.permutation(int(np.prod(shape))), shape), axis=1)
    means = truth(kind, shape, codes, rng)
    each = np.repeat(np.arange(len(codes)), rows)
    answers, hidden = rows_of(kind, means[each], rng), each < len(codes) // 3
    names = [f"factor {k}" for k in range(len(shape))]
    levels = {n: [f"{n}: {c}" for c in codes[each, k]] for k, n in enumerate(names)}
    table = pl.DataFrame(levels | {"y": answers})
    train, test = table.filter(~pl.Series(hidden)), table.filter(pl.Series(hidden))
    result = rc.check(train, names, target="y", test=test, draws=9)
    verdict = "determined on a scale" if " on a " in result.verdict else result.verdict
    found: dict[str, object] = {"verdict": verdict if verdict in VERDICTS else "other"}
    told = result.forecast
    if told is None or told.realised is None:
        return found
    found["held"] = told.low <= told.realised["error"] <= told.high
    found["ratio"] = told.error / told.realised["error"] if told.realised["error"] else 1.0
    if told.metric == "rmse" and result.queries[0].low is not None:
        seen = test.group_by(names).agg(pl.col("y").mean()).join(result.to_frame(), on=names)
        found["ranges"] = float(seen.select(pl.col("y").is_between("low", "high").mean()).item() or 0.0)
    return found


def line(kind: str, layout: str, found: list[dict[str, object]]) -> str:
    counts = Counter(str(one["verdict"]) for one in found)
    wrong = counts[FALSE.get(kind, "determined")]

    def mean(name: str, how=np.mean) -> str:
        values = [one[name] for one in found if name in one]
        return f"{how(values):.2f}" if values else ""

    parts = [kind, layout, *(str(counts[v] or "") for v in VERDICTS), str(wrong)]
    return f"| {' | '.join([*parts, mean('ratio', np.median), mean('held'), mean('ranges')])} |"


def chances(shape: tuple[int, ...], rows: int, seed: int) -> float | None:
    """Share of true chances in 90 % ranges by the fit (normal on the log-odds); None where a level is never seen."""
    rng = np.random.default_rng([KINDS.index("odds (classes)"), *shape, rows, seed])
    codes = np.stack(np.unravel_index(rng.permutation(int(np.prod(shape))), shape), axis=1)
    means = truth("odds (classes)", shape, codes, rng)
    share, out = (rng.random((len(codes), rows)) < means[:, None]).mean(axis=1), np.arange(len(codes)) < len(codes) // 3
    if any(len(np.unique(codes[~out, k])) < n for k, n in enumerate(shape)):
        return None
    seen = Cells(codes, shape, np.full(len(codes), float(rows)), np.stack([1 - share, share], axis=1), None).take(~out)
    fit = Odds("additive", seen, 1).fits[0]
    place, sd = fit.predict(codes[out], 0.0)  # of the chance itself, which has no noise of its own
    low, high = (1 / (1 + np.exp(-(place + side * 1.645 * sd))) for side in (-1, 1))
    return float(((low <= means[out]) & (means[out] <= high)).mean())


def main_chances() -> None:
    lines = ["| table | tables | ranges hold |", "|---|---:|---:|"]
    for layout, (shape, rows) in LAYOUTS.items():
        found = [held for seed in range(SEEDS) if (held := chances(shape, rows, seed)) is not None]
        lines.append(f"| {layout} | {len(found)} | {np.mean(found):.2f} |")
        print(lines[-1], flush=True)
    about = (
        "`python benchmarks/planted.py chances`: effects add up on the log-odds, a third of the combinations hidden; "
    )
    about += "how often 90 % ranges by the fit hold the true chance of a hidden one. Too seldom, so none are given."
    text = "\n".join(["# Ranges of chances, on planted tables", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "planted-chances-cpu.md").write_text(text, encoding="utf-8")


def few_seen(shape: tuple[int, ...], seen: int, seed: int, multiply: bool = False) -> tuple[float, bool] | None:
    """Forecast over realised error and whether the interval held, of sums, or of products that were taken for such."""
    rng = np.random.default_rng([*shape, seen, seed, multiply])
    codes = np.stack(np.unravel_index(rng.permutation(int(np.prod(shape))), shape), axis=1)
    added = sum(rng.standard_normal(n)[codes[:, k]] for k, n in enumerate(shape)) + 0.3 * rng.standard_normal(
        len(codes)
    )
    cells = Cells(codes, shape, np.ones(len(codes)), np.exp(added) if multiply else added, None)
    asked, known = cells.take(np.arange(seen, len(codes))), Identifiability(codes[:seen], shape, 1)
    asked = asked.take(known.status(asked.codes) == DETERMINED)
    told = forecast(cells.take(np.arange(seen)), asked.codes, seed=seed)
    if isinstance(told, str) or (multiply and told.rule != "additive on a log scale"):
        return None
    real = float(np.sqrt(((told.estimate(asked.codes).answers - asked.answers) ** 2).mean()))
    return told.error / real, told.low <= real <= told.high


def along(curve: str, seed: int) -> tuple[float, bool] | None:
    """The same of eight levels and a number seen at six values, asked at two between them."""
    rng = np.random.default_rng(seed)
    effects, seen, asked = rng.normal(0, 3, 8), (0, 10, 20, 40, 50, 60), (30, 45.5)
    act, noise = CURVES[curve]
    train, test = (
        pl.DataFrame(
            [(f"v{v}", float(x), effects[v] + act(x) + rng.normal(0, noise)) for v in range(8) for x in doses],
            schema=["variety", "dose", "y"], orient="row",
        )
        for doses in (seen, asked)
    )  # fmt: skip
    told = rc.check(train, ["variety", "dose"], target="y", numeric="dose", test=test, draws=9).forecast
    if told is None or told.realised is None:
        return None
    real = told.realised["error"]
    return told.error / real, told.low <= real <= told.high


def main_forecasts() -> None:
    lines = ["| planted | tables | forecast / realised | interval holds |", "|---|---:|---:|---:|"]
    found = {}
    for kind, a, b, seen in (*(("sums", *size) for size in SMALL), ("products", 6, 6, 24)):
        told = [few_seen((a, b), seen, seed, kind == "products") for seed in range(2 * SEEDS)]
        found[f"{kind}, {a} × {b}, {seen} seen"] = told
    found |= {curve: [along(curve, seed) for seed in range(SEEDS)] for curve in CURVES}
    for name, told in found.items():
        ratios, held = zip(*filter(None, told), strict=True)
        lines.append(f"| {name} | {len(held)} | {np.median(ratios):.2f} | {np.mean(held):.2f} |")
    about = "`python benchmarks/planted.py forecasts`: sums with noise of three tenths of an effect, one row each, "
    about += "asked is what is determined of the others; products where adding up on a log scale was recommended; a "
    about += "line, a wave, a curve that saturates and a jump seen at six values of a number. Ratios are medians."
    text = "\n".join(["# Forecasts on planted tables", "", about, "", *lines, ""])
    print(text)
    (Path(__file__).parent / "results" / "planted-forecasts-cpu.md").write_text(text, encoding="utf-8")


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    heads = ["planted", "table", *VERDICTS, "false", "forecast / realised", "interval holds", "ranges hold"]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|{'---:|' * (len(heads) - 2)}"]
    print("\n".join(lines), flush=True)
    for kind in KINDS:
        for layout, (shape, rows) in LAYOUTS.items():
            lines.append(line(kind, layout, [trial(kind, shape, rows, seed) for seed in range(seeds)]))
            print(lines[-1], flush=True)
    about = f"`python benchmarks/planted.py`: {seeds} tables of each kind, a third of the combinations hidden. False: "
    about += "“assumption rejected” where effects add up, “determined” elsewhere. Ratios are medians."
    text = "\n".join(["# Verdicts of `check` on planted tables", "", about, "", *lines, ""])
    (Path(__file__).parent / "results" / "planted-cpu.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    {"chances": main_chances, "forecasts": main_forecasts}.get(sys.argv[-1], main)()
