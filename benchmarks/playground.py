"""The playground in the system's Chromium: `python benchmarks/playground.py`.

Theory after a stroke on 20 × 20 cells, alone and with everything that the page draws, and eight networks of 24-32-32-1
on 12 × 12 cells, full batch, training in the page's worker, and strokes while they train.
Beside them the same networks in `rc.train` on one thread. On a shared machine clocks count what others do, so the time
that the processors spent is printed too: on the page's scripts, and by the process that trains.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from playwright.sync_api import Page, sync_playwright

import recombine as rc
from recombine.playground import write_page
from recombine.tasks import SymbolicTask

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
STROKES = 100

# The cost of a stroke is what its event handler takes, plus what the next frame takes to draw. Callbacks of a frame run
# in the order in which they were asked for: one asked for before the stroke and one after it stand around the drawing.
PAINT = """async ({size, strokes}) => {
    const times = [], grid = document.getElementById('paint');
    for (let n = 0; n < strokes; n++) {
        const cell = grid.querySelector(`[data-cell='${(37 * n) % (size * size)}']`);
        const box = cell.getBoundingClientRect();
        const at = {clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, pointerId: 1};
        grid.setPointerCapture = () => {};
        let before = 0;
        const first = new Promise(done => requestAnimationFrame(() => { before = performance.now(); done(); }));
        const began = performance.now();
        cell.dispatchEvent(new PointerEvent('pointerdown', at));
        const worked = performance.now() - began;
        grid.dispatchEvent(new PointerEvent('pointerup', at));
        const drawn = await new Promise(done => requestAnimationFrame(() => done(performance.now() - before)));
        await first;
        times.push([worked, drawn]);
        await new Promise(done => setTimeout(done, 20));
    }
    return times;
}"""


def cpu_ms(session: Any) -> float:
    """What the scripts of a page have computed on its main thread, in milliseconds."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "ScriptDuration")


def strokes(page: Page, size: int) -> tuple[Any, float]:
    """Of each stroke the milliseconds to work it out and to draw it, and what scripts computed for one."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(PAINT, {"size": size, "strokes": 40})  # compiled by now
    before = cpu_ms(session)
    times = np.array(page.evaluate(PAINT, {"size": size, "strokes": STROKES}))
    return times, (cpu_ms(session) - before) / STROKES


def spread(values: Any) -> str:
    return f"{np.median(values):.1f} (fastest {np.min(values):.1f})"


def opened(browser: Any, file: Path, fragment: str) -> Page:
    page = browser.new_page(viewport={"width": 1400, "height": 1600})
    page.goto(f"{file.as_uri()}#{fragment}&v=1")
    page.wait_for_timeout(1000)
    return page


def trained(browser: Any, page: Page) -> tuple[float, float]:
    """Epochs a second by the clock, and a second of the page's process."""
    session = browser.new_browser_cdp_session()

    def spent() -> tuple[float, float, int]:
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        cpu = max(p["cpuTime"] for p in processes if p["type"] == "renderer")
        return time.perf_counter(), cpu, int(page.inner_text("#epoch").split()[0])

    page.wait_for_timeout(3000)
    before = spent()
    page.wait_for_timeout(6000)
    after = spent()
    clock, cpu, epochs = (b - a for a, b in zip(before, after, strict=True))
    return epochs / clock, epochs / cpu


def train_here() -> tuple[float, float]:
    """Epochs a second of the same networks in the package, by the clock and of the processor."""
    codes = np.stack(np.divmod(np.arange(144), 12), 1)
    task = SymbolicTask.of((12, 12), codes, (codes.sum(1) - 11) / 11, np.zeros((0, 2), int), [])
    for steps in (50, 600):
        clock, cpu = time.perf_counter(), time.process_time()
        rc.train(rc.Perceptron(widths=(24, 32, 32, 1)), task, members=8, steps=steps, batch_size=None,
                 optimizer=rc.SGD(lr=0.3), device="cpu")  # fmt: skip
    return steps / (time.perf_counter() - clock), steps / (time.process_time() - cpu)


def main() -> None:
    chromium = next(path for name in BROWSERS if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = write_page(Path(folder) / "play.html")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = opened(browser, file, "a=20&b=20&support=random&share=0.2&epochs=1")
        times, cpu = strokes(page, 20)
        page.close()
        page = opened(browser, file, "a=12&b=12&support=full&width=32&layers=2&epochs=1000000")
        rate, of_cpu = trained(browser, page)
        beside, beside_cpu = strokes(page, 12)
        version = browser.version
        browser.close()
    here, here_cpu = train_here()
    rows = [
        ("20 × 20, a stroke: theory", f"{spread(times[:, 0])} ms", ""),
        ("20 × 20, a stroke: theory and all drawings", f"{spread(times.sum(1))} ms", f"{cpu:.1f} ms"),
        ("8 × 24-32-32-1 on 12 × 12, in the page", f"{rate:.0f} epochs/s", f"{of_cpu:.0f} epochs/s"),
        ("the same in `rc.train`, one thread", f"{here:.0f} epochs/s", f"{here_cpu:.0f} epochs/s"),
        ("12 × 12, a stroke while they train", f"{spread(beside.sum(1))} ms", f"{beside_cpu:.1f} ms"),
    ]
    print(f"Chromium {version}, {platform.machine()}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| what | by the clock, median | of the processor |\n|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
