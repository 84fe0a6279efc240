"""What a table's own answers say: the error to expect, and whether effects add up, on whatever scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recombine.checks.adds_up.additivity import MOST_FACTORS, additivity
from recombine.checks.adds_up.between import repeats_alone
from recombine.checks.adds_up.tested import MOST_LISTED, Additivity, scale_of, where_answered
from recombine.checks.asked.queries_asked import Asked
from recombine.checks.exact.aliases import Aliases, aliases
from recombine.checks.exact.identifiability import DETERMINED, Identifiability
from recombine.checks.forecasts.apart import apart
from recombine.checks.forecasts.contestants import untried
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast import forecast
from recombine.checks.forecasts.gaps import gaps_in
from recombine.checks.forecasts.harder import harder, times_wider
from recombine.checks.forecasts.losses import losses_of
from recombine.checks.forecasts.own_range import own_ranges
from recombine.checks.holes.by_answer import by_answer
from recombine.checks.holes.ends_early import ends_early
from recombine.checks.holes.never_run import never_run
from recombine.checks.holes.unreached import unreached
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.learners import fewer_learnt
from recombine.checks.rules.scales import PLAIN, Scale, scaled
from recombine.checks.rules.seen_cells import Cells
from recombine.checks.rules.surface import outside
from recombine.space import Level
from recombine.support.table import Table

ONE_CLASS = "no forecast: only one class occurs in training, so nothing tells what others depend on."
ALIASED = "no forecast: the rule that fits best is of pairs, some of which the seen combinations cannot tell apart."
NOTHING_LEFT = (
    "no forecast: there are as many single effects as seen combinations, so nothing is left to measure an error by."
)
SATURATED = (
    "answers have no ranges: effects of pairs take up nearly all that the seen combinations tell, so what is left says "
    "nothing of the error of one answer; for the forecast each combination left out was forgotten wholly."
)
MOST_TRIED = 10_000
"""Asked combinations with answers on which a forecast is tried; of more, as many evenly spread ones."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What the table's own answers say."""

    forecast: Forecast | None
    additivity: Additivity | None
    rescaled: Additivity | None
    why_not: tuple[str, ...]
    """Why nothing is forecast, where it is not."""

    @property
    def scale(self) -> Scale | None:
        """The scale on which effects add up where they do not in the answer's own units."""
        return self.forecast.scale if self.forecast is not None and scale_of(self.rescaled) else None

    @property
    def contradicted(self) -> bool:
        """Whether the seen combinations speak against sums, on their scale too."""
        found = self.additivity
        return found is not None and (found.rejected is True or found.open) and self.scale is None

    def adds_up(self, order: int) -> bool:
        """Whether nothing speaks against sums: they are not rejected, or not on their scale, and the recommended rule
        is one."""
        sums = ("additive", "curved") if order == 1 else ("additive", "curved", "pairs")
        return not self.contradicted and (self.forecast is None or self.forecast.rule.startswith(sums))


def judge(
    known: Identifiability, train: Table, asked: Asked, wanted: Table | None, rules: Sequence[str], seed: int
) -> Judged:
    """The forecast first: what else is tested depends on the rule that it recommends. ``wanted``: what is asked about,
    where it is a table; answers that it carries are held against the forecast's."""
    expected, why_not = _forecast(known, train, asked, wanted is None, rules, seed)
    if expected is not None and train.target is not None:
        expected = replace(expected, answer=train.target.name)
    if expected is not None and wanted is not None:
        expected = replace(expected, realised=_realised(expected, known, train, wanted))
    fit = _additivity(known, train, expected)
    fit, rescaled = _by_repeats(known, train, fit, _rescaled(known, train, fit, expected), expected)
    return Judged(_suspecting(expected, train, fit, rescaled), fit, rescaled, tuple(why_not))


def with_shared_repeats(judged: Judged) -> Judged:
    """The same where the scatter of repeats is no noise of a mean: no error against means of very many rows."""
    expected = judged.forecast
    return judged if expected is None else replace(
        judged, forecast=replace(expected, error_many_rows=None, shared=True)
    )  # fmt: skip


def tested_anew(judged: Judged, known: Identifiability, train: Table, how: str) -> Judged:
    """The same with the test of adding up that of ``train``, where answers were mended, as ``how`` says."""
    known = Identifiability(train.codes.astype(np.int64), known.shape, known.order, known.curves)
    fit = _additivity(known, train, judged.forecast)
    tests = _by_repeats(known, train, fit, _rescaled(known, train, fit, judged.forecast), judged.forecast)
    fit, rescaled = (None if test is None else _with(test, how) for test in tests)
    return replace(judged, additivity=fit, rescaled=rescaled)


def beside_factor(judged: Judged, test: Additivity, column: str) -> Judged:
    """The same where the test does not reject with a column as a factor: then nobody knows of which of the two a
    rejection is."""
    anew = replace(judged, additivity=_with(test, f"with column {column} as a factor"), rescaled=None)
    return judged if test.rejected is not False else one_or_the_other(judged, anew, column)


def one_or_the_other(judged: Judged, anew: Judged, what: str) -> Judged:
    """A rejection that does not stand when ``what`` is taken off, where that may be another answer: nobody knows of
    which of the two it is."""
    before, after = where_answered(judged.additivity, judged.rescaled), anew.additivity
    if before is None or after is None or anew.contradicted or not (judged.contradicted or judged.scale):
        return anew
    if not judged.contradicted:  # effects add up on a scale, whichever of the two it is
        return judged
    told = f"the seen combinations contradict it ({before.evidence})" if before.rejected else before.words.rstrip(".")
    words = (
        f"{told}; {after.how} they do not: either effects do not simply add up, or that accounts for it; a note says "
        "what to do."
    )
    return replace(judged, additivity=replace(before, rejected=None, words=words, odd=None, open=True), rescaled=None)


def _with(test: Additivity, how: str) -> Additivity:
    evidence = f"{test.evidence}, {how}" if test.evidence else ""
    return replace(test, words=f"{test.words.rstrip('.')} ({how}).", evidence=evidence, how=how)


def _forecast(
    known: Identifiability, train: Table, asked: Asked, on_grid: bool, rules: Sequence[str], seed: int
) -> tuple[Forecast | None, list[str]]:
    """The error to expect on the determined cells, or a note on why that is not said."""
    target = train.target
    if target is None or asked.worst == "seen":
        return None, []
    if target.classes is not None and len(target.classes) < 2:
        return None, [ONE_CLASS]
    cells = Cells.of(known.codes, known.shape, target, known.curves, asked.weights)
    codes = asked.codes[asked.status == DETERMINED].astype(np.int64)
    whole = len(asked.codes) == asked.total  # of a part that is listed no corner can be told
    early = ends_early(known, codes, train.space) if whole else None
    found = forecast(
        cells, codes, assumed=known.order, more=rules, seed=seed, series=None if early is None else early.series
    )
    if isinstance(found, str):
        return None, [found]
    if cells.numeric and not np.ptp(cells.answers):  # what is left is rounding
        exact = tuple(replace(r, error=0.0, explained=None, beats=False, uncharged=0.0) for r in found.rules)
        assumed = next((r for r in exact if found.assumed is not None and r.rule == found.assumed.rule), None)
        found = replace(
            found, error=0.0, low=0.0, high=0.0, constant=0.0, explained=None, rules=exact, assumed=assumed,
            error_many_rows=None,
        )  # fmt: skip
    hiding = Aliases() if known.curves or known.order > 1 else aliases(known.codes, known.shape)
    unrun = None if known.curves else never_run(known.codes.astype(np.int64), known.shape, codes)
    notes = hiding.words(train.space.names)
    pairs_alike = bool(notes) and found.by_pairs
    notes += [] if unrun is None else [unrun.note(train.space.names)]
    if hiding.saturated or pairs_alike:
        return None, [NOTHING_LEFT if hiding.saturated else ALIASED, *notes]
    (low, high), on = target.bounds, found.scale.ends if found.scale is not None else target.bounds
    found = replace(found, aliased=bool(hiding.hidden), unrun=unrun, bounds=(max(low, on[0]), min(high, on[1])))
    found = replace(found, early=early if found.series is not None else None)
    if whole:
        found = replace(found, corner=unreached(known, train.counts, codes, train.space))
    if cells.numeric and found.corner is None and found.early is None and found.recommended is not None:
        found = replace(found, by_answer=by_answer(known, codes, found.recommended, on_grid))
    if found.rule == "surface" and (far := int(outside(cells, codes).sum())):
        notes.append(
            f"{far:,} of {len(codes):,} asked points lie beyond the seen ones, though each number lies between seen "
            "values: there the surface is extrapolated."
        )
    if known.order == 1 and len(cells.shape) <= MOST_FACTORS and (pairs := untried(cells)):
        some = [" × ".join(train.space.names[k] for k in pair) for pair in pairs[:MOST_LISTED]]
        some += [f"{len(pairs) - MOST_LISTED:,} more"] if len(pairs) > MOST_LISTED else []
        notes.append(f"no rule that was tried has effects of {', '.join(some)}: too many pairs of levels.")
    if part := fewer_learnt(rules, cells):
        notes.append(part)
    if cells.numeric and found.by_pairs and not found.ranged:
        notes.append(SATURATED)
    if cells.numeric and isinstance(rule := found.recommended, Adding):
        # Of saturated pairs a combination that is left out alone is not forgotten, and errors of levels mislead.
        levels = harder(rule, codes, train.space) if found.ranged else ()
        gaps = gaps_in(rule, codes, found.error, train.space)
        found = replace(found, harder=levels, apart=apart(rule, levels, codes, train.space), gaps=gaps)
        found = replace(found, own_ranges=own_ranges(rule, codes, train.space))
        if rule.scale.learnt and rule.noisy:  # that noise is of ranks, steep where answers lie close
            found = replace(found, error_many_rows=None)
    # Of very many asked cells a part was passed on, which stands for all of them.
    return found if asked.counts is None else replace(found, cells=asked.counts["determined"]), notes


def _realised(expected: Forecast, known: Identifiability, train: Table, wanted: Table) -> dict[str, float] | None:
    """What the answers err by on determined combinations whose answers are told."""
    told = wanted.target if train.target is not None else None
    if told is None or train.target is None:
        return None
    use = np.flatnonzero(told.count > 0)
    use = use[:: -(-len(use) // MOST_TRIED) or 1]
    use = use[known.status(wanted.codes[use].astype(np.int64)) == DETERMINED]
    if not len(use):
        return None
    said = expected.estimate(wanted.codes[use].astype(np.int64)).answers.reshape(len(use), -1)
    same = np.broadcast_to(train.target.mean[train.target.count > 0].mean(axis=0), said.shape)
    error, constant = (float(losses_of(told.mean[use], s, expected.metric).mean()) for s in (said, same))
    root = np.sqrt if expected.metric == "rmse" else float
    return {"cells": len(said), "error": float(root(error)), "constant": float(root(constant))}


def _additivity(known: Identifiability, train: Table, expected: Forecast | None) -> Additivity | None:
    if train.target is None:
        return None
    found = additivity(known, train.target, train.space.names, _levels(train))
    explained = next((r.explained for r in expected.rules if r.rule == "additive"), None) if expected else None
    return replace(found, explained=explained)


def _rescaled(
    known: Identifiability, train: Table, fit: Additivity | None, expected: Forecast | None
) -> Additivity | None:
    """The same test on the scale of the recommended rule, where that is another one and adding up in the answer's own
    units is rejected, or explains nothing beyond chance while that rule does. Where neither is so, only a test that
    rejects it there: in the answer's own units a few large ones may drown what is seen among logarithms."""
    if train.target is None or fit is None or expected is None or (scale := expected.scale) is None:
        return None
    enough = not fit.rejected and (expected.explains is not False or expected.aliased or not expected.beats)
    if enough and (scale.learnt or fit.rejected is None):
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        target = scaled(train.target, scale)
    if not np.isfinite(target.mean[target.count > 0]).all():  # what a column explains was taken off, beyond its ends
        return None
    again = additivity(known, target, train.space.names, _levels(train))
    return replace(again, scale=scale.name) if again.rejected or not enough else None


def _by_repeats(
    known: Identifiability, train: Table, fit: Additivity | None, rescaled: Additivity | None, expected: Forecast | None
) -> tuple[Additivity | None, Additivity | None]:
    """The same where more than repeated rows speaks against sums, or sums explain nothing of combinations left out;
    else one of which nobody knows, in the answer's own units or else on the other scale."""
    if fit is None or train.target is None or expected is None or scale_of(rescaled) is not None:
        return fit, rescaled
    if expected.explains and (found := repeats_alone(fit, known, train.target, train.space.names)):
        return found, None
    if rescaled is not None and (scale := expected.scale) is not None and expected.beats:
        there, on = scaled(train.target, scale), f"on the {scale.name} scale "
        if found := repeats_alone(rescaled, known, there, train.space.names, on):
            return replace(found, explained=fit.explained), None
    return fit, rescaled


def _suspecting(
    expected: Forecast | None, train: Table, fit: Additivity | None, rescaled: Additivity | None
) -> Forecast | None:
    """The forecast with wider ranges of a level that may respond unlike the others, on the scale that answers, where
    they are not wider anyway."""
    rule = None if expected is None else expected.recommended
    if expected is None or not isinstance(rule, Adding):
        return expected
    test = fit if rule.scale is PLAIN else rescaled
    if test is None or test.suspect is None:
        return expected
    at = test.suspect.at(train.space)
    wider = at in rule.noisy or at in {h.at for h in expected.harder}
    return expected if wider else replace(expected, suspect=(at, times_wider(rule, at)))


def with_pair(judged: Judged, train: Table) -> Judged:
    """The same where ranges reach as far as a pair of levels lies apart from a sum, on the scale that answers; pairs
    have it in their answers."""
    expected = judged.forecast
    rule = None if expected is None else expected.recommended
    if expected is None or not isinstance(rule, Adding) or expected.by_pairs:
        return judged
    test = judged.additivity if rule.scale is PLAIN else judged.rescaled
    if test is None or test.pair is None or not judged.contradicted:
        return judged
    return replace(judged, forecast=replace(expected, pair=(test.pair, test.pair.at(train.space))))


def _levels(train: Table) -> list[Sequence[Level]]:
    return [factor.levels or () for factor in train.space.factors]
