"""The runs that train nothing: exact kernel machines on every task of the paper."""

from __future__ import annotations

import numpy as np

from recombine.kernels import problems
from recombine.runs import Run
from recombine.runs.kernel import KernelRun, simplex
from recombine.studies.kernel_theory import sets
from recombine.studies.study import Scale

LEAK = (0.1, 0.2, 0.3, 0.4, 0.5)


def kernel_runs(scale: Scale) -> dict[str, Run]:
    """Cheap at any scale; only smoke thins the sweeps out."""
    small = scale == "smoke"
    one_layer = sets.relu_saliences(2)[1][0]
    singles = [(i,) for i in range(9)]
    pairs = [(i, j) for i in range(9) for j in range(i)]
    runs: dict[str, Run] = {
        f"kernel-random-{c}": KernelRun(
            problems={f"random {seed}": sets.task(sets.random_problem(c, seed)) for seed in range(4 if small else 20)},
            saliences=sets.random_saliences(c, 10),
        )
        for c in (2, 3, 4)
    }
    runs["kernel-leak"] = KernelRun(
        problems={f"anchors {chosen}": sets.task(problems.addition(chosen)) for chosen in singles + pairs},
        saliences=tuple((s,) for s in (*LEAK, one_layer)),
    )
    runs["kernel-dispersed"] = KernelRun(
        problems={f"seed {s}": sets.task(problems.dispersed_addition(s)) for s in range(1, 6 if small else 101)},
        saliences=tuple((round(float(s), 4),) for s in np.linspace(0, 0.5, 51)),
    )
    cd = {f"CD-{k}": sets.context(k, "logistic") for k in (1, 2, 3)}
    by_depth = (*sets.relu_saliences(3).values(), sets.quadratic_saliences())
    for fit in ("least squares", "hard margin"):
        slug = fit.replace(" ", "-")
        runs[f"kernel-context-{slug}"] = KernelRun(problems=cd, saliences=simplex(20 if small else 40), fit=fit)
        runs[f"kernel-depth-{slug}"] = KernelRun(problems=cd, saliences=by_depth, fit=fit, effects=True)
    even = {(2, 2): (1, 1), (3, 3): (2, 2), (5, 5): (4, 4)}
    runs["kernel-equivalence"] = KernelRun(
        problems={
            **{f"{n} items, {a} anchors": sets.equivalence(n, a) for n, a in even.items()},
            "(5, 5) items, (1, 1) anchors": sets.equivalence((5, 5), (1, 1)),
            "(3, 3) items, (1, 2) anchors": sets.equivalence((3, 3), (1, 2)),
            "(4, 2) items, (1, 1) anchors": sets.equivalence((4, 2), (1, 1)),
            "(4, 2) items, (3, 1) anchors": sets.equivalence((4, 2), (3, 1)),
        },
        saliences=tuple((round(float(s), 4),) for s in np.linspace(0.05, 0.5, 10)),
    )
    runs["kernel-order"] = KernelRun(
        problems={
            "ordering": sets.task(problems.transitive_ordering()),
            "ordering with an exception": sets.task(sets.ordering_with_exceptions()),
            "invariance": sets.task(problems.invariance()),
            "partial exposure": sets.task(problems.partial_exposure()),
        },
        saliences=tuple((s,) for s in (0.1, 0.2, 0.3, 0.4, one_layer)),
        allow_unseen=True,
    )
    return runs
