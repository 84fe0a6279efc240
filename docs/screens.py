"""Screenshots of the playground's doors for its tutorial: `python docs/screens.py`, then look at them.

One picture for each door: on a desk and on a telephone, light and dark, each after the networks have trained.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from recombine.playground import write_page

DOORS = ("leak", "redundant", "support", "rendering", "parts")
SHOTS = [(width, scheme) for width in (1400, 390) for scheme in ("light", "dark")]
HEIGHT, SCALE, GAP, QUALITY = 1480, 0.5, 12, 50


def main() -> None:
    browsers = ("chromium", "chromium-browser", "google-chrome", "chrome")
    chromium = next(path for name in browsers if (path := shutil.which(name)))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        file = write_page(Path(folder) / "play.html")
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for door in DOORS:
            shots = [shot(browser, file, door, width, scheme) for width, scheme in SHOTS]
            sheet = Image.new("RGB", (sum(s.width for s in shots) + GAP * (len(shots) - 1), shots[0].height), "#98a1ab")
            left = 0
            for picture in shots:
                sheet.paste(picture, (left, 0))
                left += picture.width + GAP
            sheet.save(Path(__file__).parent / "pictures" / f"playground-{door}.webp", quality=QUALITY, method=6)
        browser.close()


def shot(browser: Any, file: Path, door: str, width: int, scheme: str) -> Image.Image:
    """The top of the page behind a door, once training has stopped."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.goto(file.as_uri())
    page.click(f"[data-door={door}]")
    while page.inner_text("#run") == "Pause" or page.inner_text("#epoch").startswith("0"):
        page.wait_for_timeout(200)
    if door == "parts":
        page.click("#off-0")
        page.wait_for_timeout(300)
    page.evaluate("scrollTo(0, 0)")
    picture = Image.open(io.BytesIO(page.screenshot()))
    page.close()
    return picture.convert("RGB").resize((round(width * SCALE), round(HEIGHT * SCALE)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
