"""`recombine check` at scale beside plain pandas + numpy.linalg.matrix_rank: `python benchmarks/check.py`.

Each size runs in a process of its own, timed from the call to the result (reading Parquet included) with its peak
memory. The plain version does what people do today: drop duplicates, one-hot, matrix_rank, groupby for coverage; it is
given the largest size it can do here, and ours runs the same table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2"}

SIZES = {"a": 100, "b": 80, "c": 60, "d": 50, "e": 30, "f": 20}
ROWS = (1_250_000, 2_500_000, 5_000_000, 10_000_000)
PLAIN_ROWS = 200_000

OURS = """
import json, resource, sys, time
from recombine.checks import check
table, test, options = sys.argv[1], sys.argv[2] or None, json.loads(sys.argv[3])
factors = options.pop("factors")
start = time.perf_counter()
result = check(table, factors, test=test, **options)
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
peak, cpu = used.ru_maxrss / 1e6, used.ru_utime + used.ru_stime
print(json.dumps([seconds, cpu, peak, result.verdict, result.rank_train, result.rank_needed - result.rank_train,
result.coverage.total(3)[1]]))
"""

PLAIN = """
import itertools, json, resource, sys, time
import numpy as np, pandas as pd
start = time.perf_counter()
frame = pd.read_parquet(sys.argv[1]).drop_duplicates()
factors = list(frame.columns)
design = pd.get_dummies(frame, columns=factors, dtype=np.float64).to_numpy()
rank = int(np.linalg.matrix_rank(design))
seen = sum(frame.groupby(list(trio)).ngroups for trio in itertools.combinations(factors, 3))
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
peak, cpu = used.ru_maxrss / 1e6, used.ru_utime + used.ru_stime
full = sum(frame[name].nunique() - 1 for name in factors) + 1
print(json.dumps([seconds, cpu, peak, "determined" if rank == full else "undetermined", rank, full - rank, int(seen)]))
"""


def write_table(
    path: Path, rows: int, seed: int, confounded: bool = False, sizes: dict[str, int] = SIZES, answers: bool = False
) -> Path:
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(levels, size=rows, dtype=np.int16) for name, levels in sizes.items()}
    if confounded:
        columns["b"] = (columns["b"] // 2) * 2 + columns["a"] % 2
    if answers:
        effects = [rng.normal(size=levels)[columns[name]] for name, levels in sizes.items()]
        columns["y"] = np.sum(effects, axis=0) + rng.normal(size=rows)
    pl.DataFrame(columns).write_parquet(path)
    return path


def run(code: str, *words: object) -> list:
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def shell_seconds(folder: Path) -> tuple[float, float]:
    import time

    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    path = folder / "thousand.csv"
    pl.DataFrame({name: rng.integers(6, size=1_000) for name in "abcd"} | {"y": rng.normal(size=1_000)}).write_csv(path)
    command = [sys.executable, "-m", "recombine", "check", str(path), "--factors", "a,b,c,d", "--target", "y", "--json"]
    start, before = time.perf_counter(), os.times()
    subprocess.run(command, capture_output=True, check=True)
    seconds, after = time.perf_counter() - start, os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def line(
    what: str, seconds: float, cpu: float, peak: float, verdict: str, rank: int, missing: int, triples: int
) -> None:
    print(f"| {what} | {seconds:.1f} | {cpu:.1f} | {peak:.2f} | {verdict} | {rank:,} | {missing:,} | {triples:,} |")


def main() -> None:
    factors = list(SIZES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| table | seconds | CPU s | peak GB | verdict | rank | to collect | 3-way seen |\n" + "|---" * 8 + "|")
        times = []
        for rows in ROWS:
            path = write_table(folder / "rows.parquet", rows, seed=0)
            found = run(OURS, path, "", json.dumps({"factors": factors}))
            times.append(found[0])
            line(f"{rows:,} rows × 6 factors", *found)
        path = write_table(folder / "rows.parquet", ROWS[-1], seed=0, confounded=True)
        line(f"{ROWS[-1]:,} rows, two factors confounded", *run(OURS, path, "", json.dumps({"factors": factors})))
        path = write_table(folder / "rows.parquet", ROWS[-1], seed=0, answers=True)
        with_answers = json.dumps({"factors": factors, "target": "y"})
        line(f"{ROWS[-1]:,} rows with answers", *run(OURS, path, "", with_answers))
        path = write_table(folder / "rows.parquet", ROWS[-1], seed=0, sizes=dict.fromkeys(factors, 4), answers=True)
        line(f"{ROWS[-1]:,} rows with answers, all 4,096 combinations seen", *run(OURS, path, "", with_answers))
        ten = {f"x{k}": 50 for k in range(10)}
        train = write_table(folder / "ten.parquet", 100_000, seed=0, sizes=ten)
        test = write_table(folder / "ten-test.parquet", 5_000, seed=1, sizes=ten)
        line("100,000 rows × 10 factors of 50, test table", *run(OURS, train, test, json.dumps({"factors": list(ten)})))
        small = {"a": 20, "b": 15, "c": 10, "d": 8}
        path = write_table(folder / "two.parquet", 20_000, seed=0, sizes=small)
        line("20,000 rows × 4 factors, order 2", *run(OURS, path, "", json.dumps({"factors": list(small), "order": 2})))
        path = write_table(folder / "plain.parquet", PLAIN_ROWS, seed=0)
        ours = run(OURS, path, "", json.dumps({"factors": factors}))
        line(f"{PLAIN_ROWS:,} rows × 6 factors, ours", *ours)
        plain = run(PLAIN, path)
        line(f"{PLAIN_ROWS:,} rows × 6 factors, pandas + matrix_rank", *plain)
        print(
            f"\nratio to the plain version at {PLAIN_ROWS:,} rows: {plain[0] / ours[0]:.1f} × faster, "
            f"{plain[2] / ours[2]:.1f} × less memory"
        )
        growth = (times[-1] - times[0]) / (ROWS[-1] - ROWS[0]) * 1e6
        print(
            f"cost of a further million rows: {growth:.2f} s ({times[-1] / times[0]:.1f} × the time for "
            f"{ROWS[-1] / ROWS[0]:.0f} × the rows)"
        )
        seconds, cpu = shell_seconds(folder)
        print(f"1 000 rows of CSV from the shell: {seconds:.2f} s, {cpu:.2f} CPU s")


if __name__ == "__main__":
    main()
