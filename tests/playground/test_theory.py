"""What the page says of painted cells is what the package says: on 200 random supports, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recombine as rc
from recombine.kernels import Kernel, ReLU, fit_least_squares, nngp

SUPPORTS = 200
CLOSE = 1e-6
STATUSES = ("seen", "determined", "undetermined", "unseen level")
"""As the page numbers them: it has levels only, so nothing is extrapolated."""

ANSWERS = """(theory, cases) => cases.map(({seen, answers, rows, columns, salience}) => {
    const found = theory.pieces(seen, rows, columns), status = theory.statuses(seen, rows, columns);
    return {
        piece: [...found.piece],
        status: [...status],
        suggestions: theory.suggestions(seen, rows, columns),
        paths: [...status].map((s, c) => s === theory.DETERMINED ? theory.path(seen, rows, columns, c) : null),
        additive: [...theory.additiveFit(seen, answers, rows, columns)],
        kernel: [...theory.kernelFit(seen, answers, rows, columns, salience)],
    };
})"""


Cases = list[tuple[dict[str, Any], dict[str, Any], Any]]
"""Of each support: what was painted, what the page says, what `check` says."""


@pytest.fixture(scope="module")
def cases(run: Callable[..., Any]) -> Cases:
    rng = np.random.default_rng(22)
    made = []
    for number in range(SUPPORTS):
        rows, columns = rng.integers(2, 9, size=2).tolist()
        seen = rng.random(rows * columns) < rng.choice([0.1, 0.2, 0.4, 0.8])
        seen[rng.integers(rows * columns)] = True
        seen[rng.choice(np.flatnonzero(~seen) if not seen.all() else [0])] = False  # something is left to ask
        if not seen.any():
            seen[-1] = True
        salience = 0.5 if number % 10 == 0 else float(rng.uniform(0.02, 0.5))
        answers = rng.normal(size=rows * columns).round(3)
        made.append({"seen": seen.astype(int).tolist(), "answers": answers.tolist(), "rows": rows, "columns": columns,
                     "salience": salience})  # fmt: skip
    return list(zip(made, run("theory", ANSWERS, made), map(checked, made), strict=True))


def checked(case: dict[str, Any], **asked: Any) -> Any:
    """The package's answer to the same question: trained on the seen cells, asked about all others."""
    rows, columns = np.divmod(np.arange(case["rows"] * case["columns"]), case["columns"])
    table = {"a": rows, "b": columns, "y": case["answers"], "seen": ["yes" if s else "no" for s in case["seen"]]}
    return rc.check(table, ["a", "b"], split="seen=no", salience=case["salience"], draws=1, **asked)


def test_statuses_pieces_paths_and_suggestions_are_those_of_check(cases: Cases) -> None:
    met = set()
    for case, said, result in cases:
        columns = case["columns"]
        for query in result.queries:
            cell = query.codes[0] * columns + query.codes[1]
            met.add(query.status)
            assert STATUSES[said["status"][cell]] == query.status
            if query.status == "determined":
                found = [(term["sign"], divmod(term["cell"], columns)) for term in said["paths"][cell]]
                assert found == [(int(sign), codes) for sign, codes in query.terms]
        pieces = [[[], []] for _ in range(max(said["piece"]) + 1)]
        for node, piece in enumerate(said["piece"]):
            pieces[piece][node >= case["rows"]].append(node if node < case["rows"] else node - case["rows"])
        pieces.sort(key=lambda sides: -len(sides[0]) - len(sides[1]))
        assert [[p["a"], p["b"]] for p in result.pieces] == pieces
        assert said["suggestions"] == [int(a) * columns + int(b) for a, b in result.advice.cells]
    assert met == {"determined", "undetermined", "unseen level"}


def test_additive_and_kernel_answers_are_those_of_the_package(cases: Cases) -> None:
    for case, said, _ in cases:
        codes = np.stack(np.divmod(np.arange(case["rows"] * case["columns"]), case["columns"]), 1)
        seen, answers, status = np.array(case["seen"], bool), np.array(case["answers"]), np.array(said["status"])
        known = rc.checks.Identifiability(codes[seen], (case["rows"], case["columns"]))
        effects = np.linalg.lstsq(known.rows.rows(codes[seen]).astype(float), answers[seen], rcond=None)[0]
        fit = known.rows.rows(codes).astype(float) @ effects
        additive = np.array(said["additive"], float)
        assert np.array_equal(np.isnan(additive), status > 1)
        assert np.allclose(additive[status < 2], fit[status < 2], rtol=0, atol=CLOSE)

        solution = fit_least_squares(Kernel.from_normalized([case["salience"]]), codes[seen], answers[seen], bias=True)
        kernel = np.array(said["kernel"], float)
        assert np.array_equal(np.isnan(kernel), status == 3)
        assert np.allclose(kernel[status < 3], solution.predict(codes[status < 3]), rtol=0, atol=CLOSE)


def test_what_check_says_of_a_wide_network_is_what_the_kernel_panel_shows(cases: Cases) -> None:
    for case, said, _ in cases[::20]:
        for query in checked(case, target="y", target_kind="number").queries:
            shown = said["kernel"][query.codes[0] * case["columns"] + query.codes[1]]
            assert (query.network is None) == np.isnan(shown)
            assert query.network is None or abs(query.network - shown) < CLOSE


def test_salience_by_depth_is_that_of_wide_networks(run: Callable[..., Any]) -> None:
    said = run("theory", "theory => [0, 1, 2, 3, 5, 10, 20].map(theory.salienceOfDepth)")
    normalized = nngp(Kernel.one_hot(2), ReLU(), 20).normalized[:, 0]
    assert np.allclose(said, normalized[[0, 1, 2, 3, 5, 10, 20]], rtol=0, atol=1e-9)
