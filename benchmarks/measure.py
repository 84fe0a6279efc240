"""`recombine measure` on 300 000 rows beside the two means that anybody can take: `python benchmarks/measure.py`.

Each table is judged in a process of its own: CPU seconds from the call to the printed object, starting Python and
reading CSV included, and peak memory. The plain version reads the same file and takes the mean error of rows of seen
and of unseen combinations.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

ROWS, HIDDEN = 300_000, 0.1
MANY, ALL = (20, 15, 10), (80, 75, 50)
"""Levels of three factors with a hundred rows for each combination, and with a single one."""
TABLES = {
    "numbers, 100 rows each": (MANY, 0, False),
    "numbers, 100 rows each, 500 groups": (MANY, 0, True),
    "four classes, 100 rows each": (MANY, 4, False),
    "numbers, one row each": (ALL, 0, False),
    "four classes, one row each": (ALL, 4, False),
}
USED = """
import atexit, json, resource, sys
def told():
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6]), file=sys.stderr)
atexit.register(told)
"""
OURS = USED + "from recombine.cli import main\nmain()"
PLAIN = (
    USED
    + """
import polars as pl
rows = pl.read_csv(sys.argv[1])
factors = ["a", "b", "c"]
seen = rows.filter(pl.col("part") == "train").select(factors).unique().with_columns(seen=True)
test = rows.filter(pl.col("part") == "test").join(seen, on=factors, how="left")
error = (pl.col("y") - pl.col("p")) ** 2 if rows["y"].dtype.is_float() else pl.col("y") != pl.col("p")
print(test.group_by("seen").agg(error.mean()))
"""
)


def write_table(path: Path, shape: tuple[int, ...], classes: int, groups: bool, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    cell = rng.permutation(np.resize(np.arange(np.prod(shape)), ROWS))
    codes = np.unravel_index(cell, shape)
    truth = np.sum([rng.normal(size=n)[c] for n, c in zip(shape, codes, strict=True)], axis=0)
    group = rng.integers(500, size=ROWS)
    answer = truth + 0.3 * rng.normal(size=ROWS) + 0.4 * groups * rng.normal(size=500)[group]
    said = truth + 0.1 * rng.normal(size=ROWS)
    columns = {name: [f"{name}{code}" for code in own] for name, own in zip("abc", codes, strict=True)}
    if classes:
        ends = np.quantile(truth, np.linspace(0, 1, classes + 1)[1:-1])
        answer, said = (np.array([*"wxyz"])[np.searchsorted(ends, values)] for values in (answer, said))
    test = (rng.random(np.prod(shape)) < HIDDEN)[cell] | (rng.random(ROWS) < 0.3)
    part = np.where(test, "test", "train")
    pl.DataFrame({**columns, "y": answer, "p": said, "part": part, "who": group}).write_csv(path)


def used(code: str, *words: object) -> tuple[float, float]:
    """CPU seconds and peak memory in GB."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stderr.splitlines()[-1])
    return seconds, peak


def main() -> None:
    print("| table | measure: CPU s | peak GB | two means: CPU s | times these |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        for name, (shape, classes, groups) in TABLES.items():
            write_table(path, shape, classes, groups)
            more = ["--group", "who"] if groups else []
            asked = ["--factors", "a,b,c", "--target", "y", "--json"]
            ours, peak = used(OURS, "measure", path, "--prediction", "p", "--split", "part=test", *asked, *more)
            plain, _ = used(PLAIN, path)
            print(f"| {name} | {ours:.1f} | {peak:.2f} | {plain:.1f} | {ours / plain:.0f} |", flush=True)


if __name__ == "__main__":
    main()
