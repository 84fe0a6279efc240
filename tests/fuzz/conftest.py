"""How many cases: a few in `make test`; `pytest tests/fuzz --fuzz-cases 25000` tries 25 000 new ones of each reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from damage import OUTCOMES
from hypothesis import HealthCheck, given, settings, strategies as st

TRIED: dict[str, int] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-cases", type=int, default=None, help="cases of each reader, drawn anew every time")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for name, count in TRIED.items():
        terminalreporter.write_line(f"{name}: {count:,} cases")


@pytest.fixture
def fuzz(request: pytest.FixtureRequest) -> Callable[..., Counter[str]]:
    """Call a function with that many drawn arguments, or as many as the command line says; counts how calls ended."""
    cases = request.config.getoption("--fuzz-cases", default=None)
    name = request.node.name
    TRIED[name] = 0

    def run(few: int, function: Callable[..., None], *strategies: st.SearchStrategy[Any]) -> Counter[str]:
        OUTCOMES.clear()

        @settings(
            max_examples=cases or few, derandomize=cases is None, deadline=None, database=None,
            suppress_health_check=list(HealthCheck), print_blob=True,
        )  # fmt: skip
        @given(st.tuples(*strategies))
        def try_one(case: tuple[Any, ...]) -> None:
            TRIED[name] += 1
            function(*case)

        try_one()
        return Counter(OUTCOMES)

    return run
