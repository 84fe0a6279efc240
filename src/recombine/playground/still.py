"""The still picture of the first door, for a page whose scripts are off: worked out by the package itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from recombine.kernels import Kernel, ReLU, fit_least_squares, nngp, problems

SIDE = 14
LOW, MIDDLE, HIGH = np.array([184, 95, 18]), np.array([245, 244, 242]), np.array([15, 84, 136])


def still_picture() -> Markup:
    """Truth, what is settled and the answers of a wide network on sums of −4 … 4, trained on every pair with an end."""
    problem = problems.addition(anchors=(0, 8))
    salience = nngp(Kernel.one_hot(2), ReLU(), 1).normalized[1, 0]
    solution = fit_least_squares(Kernel.from_normalized([salience]), problem.train, problem.targets, bias=True)
    truth, said = np.zeros((9, 9)), np.zeros((9, 9))
    truth[tuple(problem.train.T)], truth[tuple(problem.test.T)] = problem.targets, problem.test_targets
    said[tuple(problem.train.T)], said[tuple(problem.test.T)] = problem.targets, solution.predict(problem.test)
    seen = np.zeros((9, 9), dtype=bool)
    seen[tuple(problem.train.T)] = True
    slope = float(np.polyfit(problem.test_targets, said[~seen], 1)[0])
    panels = [
        ("Truth; dots are seen", lambda a, b: _shade(float(truth[a, b]) / 8), True),
        ("Settled: all", lambda a, b: "#1c2127" if seen[a, b] else "#0072b2", False),
        (f"A wide network: slope {slope:.2f}", lambda a, b: _shade(float(said[a, b]) / 8), True),
    ]
    drawn = [_panel(210 * k, title, fill, seen if dots else None) for k, (title, fill, dots) in enumerate(panels)]
    words = f"Three grids: the truth, what is settled, and a wide network whose unseen answers have slope {slope:.2f}."
    return Markup(
        '<svg viewBox="0 0 600 170" width="600" role="img" aria-label="{}" font-family="sans-serif">{}</svg>'
    ).format(words, Markup("").join(drawn))


def _panel(left: int, title: str, fill: Callable[[int, int], str], dots: NDArray[np.bool_] | None) -> Markup:
    cells = [
        Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>').format(
            left + SIDE * b, 24 + SIDE * a, SIDE - 1, SIDE - 1, fill(a, b)
        )
        for a in range(9)
        for b in range(9)
    ]
    marks = [
        Markup('<circle cx="{}" cy="{}" r="2.5" fill="#1c2127"/>').format(left + SIDE * b + 6.5, 24 + SIDE * a + 6.5)
        for a, b in (np.argwhere(dots) if dots is not None else ())
    ]
    label = Markup('<text x="{}" y="14" font-size="13" fill="currentColor">{}</text>').format(left, title)
    return label + Markup("").join(cells) + Markup("").join(marks)


def _shade(t: float) -> str:
    end = HIGH if t > 0 else LOW
    return "rgb({},{},{})".format(*(MIDDLE + min(1.0, abs(t)) * (end - MIDDLE)).round().astype(int))
