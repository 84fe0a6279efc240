"""What all tests share."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Two workers with two threads each on two cores wait for each other most of the time, and what they compute is small.
for threads in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(threads, "1")

# The same examples every time, and no limit on how long one takes: a busy machine is no finding. Where a test does not
# say how many: 40 in `make test`, and `pytest --hypothesis-profile thorough` tries 1000 new ones.
settings.register_profile("recombine", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("recombine")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
NO_BROWSER = (
    "Playwright is not installed" if importlib.util.find_spec("playwright") is None
    else f"no browser found under the names {', '.join(BROWSERS)}" if CHROMIUM is None else ""
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's Chromium or Chrome; where there is none, the test is skipped."""
    if NO_BROWSER:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def opened(browser: Any) -> Callable[..., AbstractContextManager[Any]]:
    """``with opened(address, viewport=…, color_scheme=…, reduced_motion=…) as tab``: a page in the one tab that tests
    share, since a new one costs more than all that is done in it; what only a context of its own can have (touch, no
    scripts) gets one. What the browser complained of, dialogs too, is in ``tab.said``; what it loaded in ``tab.asked``.
    """
    shared: list[Any] = []

    def new_tab(context: Any) -> Any:
        tab = context.new_page()
        tab.on("console", lambda message: tab.said.append(message.text))
        tab.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.on("dialog", lambda dialog: (tab.said.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: tab.asked.append(request.url))
        return tab

    @contextmanager
    def opening(address: str, *, viewport: tuple[int, int] = (1280, 720), color_scheme: str = "light",
                reduced_motion: str = "no-preference", **own: Any) -> Iterator[Any]:  # fmt: skip
        tab = new_tab(browser.new_context(**own)) if own or not shared else shared.pop()
        tab.said, tab.asked = [], []
        tab.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        tab.emulate_media(media="screen", color_scheme=color_scheme, reduced_motion=reduced_motion)
        tab.mouse.move(0, 0)
        tab.goto(address)
        try:
            yield tab
        except BaseException:
            own = {"broken": True}  # nobody else should have to do with what is left of it
            raise
        finally:
            if own:
                tab.context.close()
            else:
                tab.goto("about:blank")
                shared.append(tab)

    return opening


LONGEST = (
    "test_executors.py", "test_docs.py", "faults", "test_conformance.py", "test_gpu_rules.py", "examples",
    "test_planted_verdicts.py", "test_playground_page.py", "test_standing_out.py", "test_check_words.py",
    "test_training_equality.py", "test_hostile_texts.py", "test_browser.py", "test_check_forecast.py",
    "test_cli_study.py", "test_cli_results.py", "training", "structure", "models", "playground", "measures", "tasks",
)  # fmt: skip
"""Files and folders that take long, the longest first: the last one should not be the one that all wait for."""


def pytest_configure(config: pytest.Config) -> None:
    """Every worker collects all tests, and begins at another place: whose asserts one has rewritten, others find so."""
    here, worker = Path(__file__).parent, os.environ.get("PYTEST_XDIST_WORKER")
    if worker and [Path(place).resolve() for place in config.args] == [here]:
        found = sorted(place for place in here.iterdir() if any(place.glob("test_*.py")) or place.match("test_*.py"))
        start = len(found) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        config.args = [str(place) for place in found[start:] + found[:start]]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported here stays: Python's collector of garbage need not look through it, now or in any test."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    last = len(LONGEST)
    items.sort(key=lambda item: (places.get(item.path.name, places.get(item.path.parent.name, last)), item.path))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file is one worker's, whose tests share what was trained; the fault tests all, which share the process that
    theirs are forked from; of the conformance suite, and of the pages of docs, each subject. They are handed out in the
    order above, not by their number of tests."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if "/faults/" in file:
                return "faults"
            apart = file.endswith(("/test_conformance.py", "/test_docs.py"))
            return f"{file}[{test.partition('[')[2]}" if apart else file

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture(scope="session")
def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def shared_store(of_all_workers: Path) -> Path:
    """A store for runs that several files ask for: whoever comes first computes them, also for other workers."""
    return of_all_workers / "shared-store"


@pytest.fixture(scope="session")
def drawings(of_all_workers: Path) -> Path:
    """The same for figures, found by their specification: ``with cached_in(drawings)``."""
    return of_all_workers / "drawings"


@pytest.fixture(scope="module")
def toy_store(shared_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of one's own that holds gradient-toy at smoke scale with two members."""
    from recombine.runs import Store
    from recombine.studies import run_study

    result = run_study("gradient-toy", "smoke", store=shared_store, members=2, device="cpu")
    own = tmp_path_factory.mktemp("toy") / "store"
    for run in result.provenance.values():
        shutil.copytree(*(str(Store(root).directory(run["address"])) for root in (shared_store, own)))
    return own


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line says that pages were not tried in a browser: among a thousand dots nobody would see it."""
    if NO_BROWSER and not hasattr(config, "workerinput"):
        print(f"The tests that need a browser were skipped: {NO_BROWSER}.")
