"""Everything said about each reported query, worst first."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.checks.asked.queries_asked import Asked
from recombine.checks.asked.query import Query
from recombine.checks.exact import witness
from recombine.checks.exact.identifiability import (
    DETERMINED,
    EXTRAPOLATION,
    SEEN,
    STATUSES,
    UNDETERMINED,
    Identifiability,
)
from recombine.checks.exact.modular import Ints
from recombine.checks.exact.robustness import leverage, min_cuts
from recombine.checks.exact.tables import Pairs
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast import MOST_NUMBERS
from recombine.checks.forecasts.one_row import next_rows
from recombine.checks.rules.weighing import worth_in
from recombine.checks.verdicts.prediction import Prediction
from recombine.support.table import Target

MOST_DIRECTIONS = 200
MOST_EFFECTS = 100_000
"""Effects that the free directions name between them before no further one is looked for."""
MOST_PARTS = 4
"""Factors up to which a prediction is split into every conjunction; above, by the number of factors in them."""


def describe(
    known: Identifiability,
    counts: Ints,
    pairs: Pairs,
    asked: Asked,
    prediction: Prediction | None,
    forecast: Forecast | None,
    target: Target | None,
) -> tuple[tuple[Query, ...], tuple[witness.Direction, ...]]:
    fixed = np.flatnonzero(asked.status == DETERMINED)
    levers = leverage(known, counts, asked.codes[fixed], pairs)
    cuts, terms = min_cuts(known, asked.codes[fixed]), witness.sums(known, asked.codes[fixed])
    lever_of = {int(i): float(v) for i, v in zip(fixed, levers, strict=True)} if levers is not None else {}
    cut_of, terms_of = dict(zip(fixed.tolist(), cuts, strict=True)), dict(zip(fixed.tolist(), terms, strict=True))
    directions, direction_of = _directions(known, asked)
    estimated = _estimates(known, forecast, asked, target)
    for i, told in _observed(known, forecast, asked, target).items():
        estimated[i] = {**told, "smoothed": estimated.get(i, {}).get("prediction")}
    queries = []
    for i, row in enumerate(asked.codes.tolist()):
        queries.append(
            Query(
                tuple(row),
                STATUSES[int(asked.status[i])],
                leverage=lever_of.get(i),
                min_cut=cut_of.get(i),
                shrinkage=_share(prediction, i),
                network=_says(prediction, target, i),
                network_parts=_parts(prediction, i),
                terms=terms_of.get(i),
                direction=direction_of.get(i),
                **estimated.get(i, {}),
            )
        )
    queries.sort(key=lambda q: (-STATUSES.index(q.status), -(q.leverage or 0.0)))
    return tuple(queries), tuple(directions)


def _estimates(
    known: Identifiability, forecast: Forecast | None, asked: Asked, target: Target | None
) -> dict[int, dict[str, Any]]:
    """Answer and interval of every seen or determined cell by the recommended rule; without one, the sums of those
    not seen. What is extrapolated has no interval: nothing was tried so far out."""
    fixed = np.flatnonzero(asked.status <= EXTRAPOLATION)
    if target is None or not len(fixed):
        return {}
    if forecast is None:
        return _sums(known, asked, fixed[asked.status[fixed] != SEEN], target)
    found = forecast.estimate(asked.codes[fixed].astype(np.int64), target)
    nothing = [None] * len(fixed)
    if target.classes is not None:
        covered = nothing if found.covered is None else found.covered.tolist()
        return {
            int(i): {
                "prediction": target.classes[int(shares.argmax())],
                "probabilities": dict(zip(target.classes, shares.tolist(), strict=True)),
                "covered": covers,
            }
            for i, shares, covers in zip(fixed, found.answers, covered, strict=True)
        }
    far = asked.status[fixed] == EXTRAPOLATION
    ends = (
        nothing if end is None else np.where(far, None, end).tolist()  # type: ignore[call-overload]
        for end in (found.low, found.high, found.row_low, found.row_high)
    )
    names = ("prediction", "low", "high", "row_low", "row_high")
    values = zip(found.answers.tolist(), *ends, strict=True)
    return {int(i): dict(zip(names, v, strict=True)) for i, v in zip(fixed, values, strict=True)}


def _observed(
    known: Identifiability, forecast: Forecast | None, asked: Asked, target: Target | None
) -> dict[int, dict[str, Any]]:
    """What the rows of each seen cell answered, how many they are, and where a further row is expected."""
    seen = np.flatnonzero(asked.status == SEEN)
    if target is None or not len(seen):
        return {}
    ends = next_rows(known, target, None if forecast is None else forecast.scale)
    keys, found = known.members.keys(known.codes), dict[int, dict[str, Any]]()
    order = np.argsort(keys)
    at = order[np.searchsorted(keys, known.members.keys(asked.codes[seen]), sorter=order)]
    for i, place in zip(seen.tolist(), at.tolist(), strict=True):
        mean, rows = target.mean[place], int(target.count[place])
        if not rows:
            continue
        found[i] = {
            "rows": rows,
            "prediction": float(mean) if target.classes is None else target.classes[int(mean.argmax())],
        }
        if ends is not None:
            found[i] |= {"row_low": float(ends[0][place]), "row_high": float(ends[1][place])}
        if target.classes is not None:
            found[i]["probabilities"] = dict(zip(target.classes, mean.tolist(), strict=True))
    return found


def _sums(known: Identifiability, asked: Asked, fixed: Ints, target: Target) -> dict[int, dict[str, Any]]:
    """The additive answers by least squares, without an interval: nothing tells how far off they are."""
    use = target.count > 0
    if known.order > 1 or use.sum() * known.grid_rank > MOST_NUMBERS:
        return {}
    x, new = (known.rows.floats(codes) for codes in (known.codes[use], asked.codes[fixed]))
    root = np.ones(len(x)) if target.weights is None else np.sqrt(worth_in(x, target.of(use)))
    said = new @ np.linalg.lstsq((x.T * root).T, (target.mean[use].T * root).T, rcond=None)[0]
    names = target.classes
    return {
        int(i): {"prediction": float(v) if names is None else names[int(np.argmax(v))]}
        for i, v in zip(fixed, said, strict=True)
    }


def _share(prediction: Prediction | None, i: int) -> float | None:
    return float(prediction.shrinkage[i]) if prediction is not None and np.isfinite(prediction.shrinkage[i]) else None


def _says(prediction: Prediction | None, target: Target | None, i: int) -> float | str | None:
    if (
        prediction is None
        or prediction.answers is None
        or target is None
        or not np.isfinite(np.atleast_1d(prediction.answers[i])).all()
    ):
        return None
    if target.classes is None:
        return float(prediction.answers[i])
    if len(target.classes) == 2:
        return target.classes[int(prediction.answers[i] > 0)]
    return target.classes[int(np.argmax(prediction.answers[i]))]


def _parts(prediction: Prediction | None, i: int) -> dict[str, float] | None:
    if prediction is None or prediction.parts is None or not np.isfinite(prediction.shrinkage[i]):
        return None
    factors = max(len(names) for names in prediction.parts)
    if factors <= MOST_PARTS:
        return {" × ".join(names) or "constant": float(values[i]) for names, values in prediction.parts.items()}
    by_size: dict[str, float] = {}
    for names, values in prediction.parts.items():
        key = f"{len(names)} factors" if len(names) > 1 else "single factors" if names else "constant"
        by_size[key] = by_size.get(key, 0.0) + float(values[i])
    return by_size


def _directions(known: Identifiability, asked: Asked) -> tuple[list[witness.Direction], dict[int, int]]:
    """Few free directions that between them explain every undetermined query, and which explains which."""
    open_queries = np.flatnonzero(asked.status == UNDETERMINED)
    directions: list[witness.Direction] = []
    explains: dict[int, int] = {}
    while len(open_queries) and len(directions) < MOST_DIRECTIONS and sum(map(len, directions)) < MOST_EFFECTS:
        effects = witness.direction(known, asked.codes[open_queries[0]])
        values = witness.evaluate(effects, asked.codes[open_queries])
        told = np.array([v != 0 for v in values])
        explains.update(dict.fromkeys(open_queries[told].tolist(), len(directions)))
        directions.append(effects)
        open_queries = open_queries[~told]
    return directions, explains
