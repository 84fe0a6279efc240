"""What the verdict alone would hide: notes of one sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import numpy as np

from recombine.checks.as_read import apart, shown
from recombine.checks.asked.queries_asked import Asked
from recombine.checks.asked.query import Query
from recombine.checks.exact.identifiability import Identifiability
from recombine.checks.exact.modular import Floats
from recombine.checks.forecasts.expected import Forecast
from recombine.checks.forecasts.forecast_words import pairs_asked
from recombine.checks.given import MOST_WRITTEN
from recombine.checks.growing import growing
from recombine.checks.headed import Headed
from recombine.checks.judging import Judged
from recombine.checks.rules.adding import Adding
from recombine.checks.rules.learners import LEARNERS
from recombine.checks.slips.zeros import zeros
from recombine.checks.verdicts.prediction import Prediction
from recombine.space import about, quoted
from recombine.support.ordered import ordered
from recombine.support.pasted import chosen, mapped
from recombine.support.table import Table, Target

UNEVEN = 3
"""Times the median width from which a range is one of a hard combination."""
FEWEST_MARKS, MOST_MARKS = 3, 11
"""Different answers of a scale such as a rating."""
MOST_CODES, MOST_IN_A_ROW, OFTEN = 7, 3, 5
"""Different whole numbers that may be codes, also where none is left out between them, and rows for each of them, on
average."""
MOST_HARDER = 3
"""Levels that are named."""
FEWER = 1.2
"""Times the forecast from which it is told what the noise of fewer rows makes of it."""
MOST_SPACED = 6
"""Values of a number that are named."""
WORTH_A_WORD = 0.1
"""Share of the asked pull from which a shortcut that does not win is mentioned."""

FEW_ROWS = 0.1
"""Rows of a combination, as a share of the most that one has, up to which they are few; share of all rows up to which
the combinations that have so few can be left out; share of all combinations that they are at least."""


def few_rows(train: Table, known: Identifiability) -> list[str]:
    """What to try where effects are not shown to add up and some combinations have far fewer rows than others, if these
    determine as much alone."""
    counts, most = train.counts, int(FEW_ROWS * train.counts.max())
    few = counts <= most
    if train.target is None or not train.target.numeric:
        return []
    if few.sum() < max(1, FEW_ROWS * len(few)) or counts[few].sum() > FEW_ROWS * counts.sum():
        return []
    if Identifiability(known.codes[~few], known.shape, known.order, known.curves).rank < known.rank:
        return []
    fewest, largest = int(counts[~few].min()), int(counts[few].max())
    others = f"{fewest:,}{' or more' if fewest < counts.max() else ''}"
    which = f"{few.sum():,} of {len(few):,} combinations have {'only' if largest == 1 else 'at most'} {largest:,} row"
    noisier = f"{which}{'s' if largest > 1 else ''}, the others {others}: their means are noisier, and in the error"
    return [f"{noisier} all count alike; {chosen('min-support', most + 1)} leaves them out of training."]


def notes_on(
    train: Table,
    known: Identifiability,
    asked: Asked,
    wanted: Table | None,
    queries: Sequence[Query],
    judged: Judged,
    prediction: Prediction | None,
    of_learner: bool,
) -> list[str]:
    """Everything that was found and that the verdict alone would hide; ``of_learner``: also of networks, about which
    somebody asked."""
    return [
        *_told(train, wanted, judged.forecast),
        *_rejected(judged),
        *_by_answer(judged.forecast),
        *_harder(judged.forecast),
        *_noisy(judged.forecast, train),
        *growing(train.target, known, judged),
        *_own_ranges(judged.forecast),
        *(_shortcut(prediction, judged.forecast) if of_learner else []),
        *_log_odds(train.target, judged.forecast),
        *zeros(train.target, known),
        *_bits(train.target),
        *_ordered(train.target),
        *_codes(train.target),
        *_outside(train.target, queries),
        *_cut(train.target, judged.forecast, queries),
        *_open(judged.forecast, queries),
        *_uneven(queries),
        *_unranged(train.target, judged.forecast),
        *_bends(known, train.space.names, judged),
        *_long_sums(queries),
        *_part(asked),
        *_all_seen(train.target, asked),
    ]


def _rejected(judged: Judged) -> list[str]:
    fit, again = judged.additivity, judged.rescaled
    if fit is None or not fit.rejected or judged.forecast is None or (again and again.rejected is False):
        return []
    return [f"“determined” rests on effects that add up, which is rejected here{_instead(judged.forecast)}."]


def _told(train: Table, wanted: Table | None, expected: Forecast | None) -> list[str]:
    """Of rows that are asked about and carry answers: how the forecast fared on them, or that they are not used."""
    if train.target is None or wanted is None or wanted.target is None or not wanted.target.count.any():
        return []
    own = "nothing was learnt from them; `recombine measure` judges a model's own answers by them"
    told = None if expected is None else expected.realised
    if expected is None or told is None:
        rows = int(wanted.target.count.sum())
        have = f"{rows:,} row{'s' if rows > 1 else ''} asked about {'carry' if rows > 1 else 'carries'} an answer"
        return [f"{have} in {train.target.name!r}: {own}."]
    error, same = apart(told["error"], told["constant"], expected.share)
    low, high = shown(expected.low, expected.share), shown(expected.high, expected.share)
    which = "1 combination" if told["cells"] == 1 else f"{told['cells']:,} combinations"
    first = f"on {which} asked about that are determined and carry answers the {expected.metric} was {error}"
    first += f", that of the same answer for all {same} (forecast {shown(expected.error, expected.share)}, "
    others = "" if expected.other_blocks is None else f", of other blocks about {shown(expected.other_blocks)}"
    note = f"{first}{low} to {high}{others}{_of_fewer(train.target, wanted.target, expected)}); {own}."
    return [Headed(note, _as_it_came(expected, told, which))]


def _as_it_came(expected: Forecast, told: Mapping[str, float], which: str) -> str:
    """That the answers which asked rows carry did not keep what was forecast, in a sentence."""
    error, same = apart(told["error"], told["constant"], expected.share)
    beyond = told["error"] > expected.high
    if not (beyond or told["error"] > told["constant"]):
        return ""
    said = f"On the {which} asked about whose answers are told the error was {error}"
    said += ", above that interval" if beyond else ""
    return f"{said}; that of the same answer for all was {same}."


def _of_fewer(seen: Target, told: Target, expected: Forecast) -> str:
    """What the forecast, which is of means like the seen ones, comes to for asked means of clearly fewer rows."""
    if seen.scatter is None or seen.weights is not None or expected.shared or expected.metric != "rmse":
        return ""
    asked, own = (float((1 / target.count[target.count > 0]).mean()) for target in (told, seen))
    there = math.sqrt(max(expected.error**2 + seen.scatter**2 * (asked - own), 0.0))
    if there < FEWER * expected.error:
        return ""
    return f", of means of as many rows as the seen ones; with the noise of the fewer asked ones about {shown(there)}"


def _by_answer(expected: Forecast | None) -> list[str]:
    return [] if expected is None or expected.by_answer is None else [expected.by_answer.note]


def _harder(expected: Forecast | None) -> list[str]:
    """Levels for which one forecast for all asked combinations is too small."""
    if expected is None or not expected.harder:
        return []
    named, first = expected.harder[:MOST_HARDER], {a.at for a in expected.apart} | {h.at for h in expected.mostly}
    said = [
        f"{h.factor} {h.level} errs by {shown(h.error)} where its {h.seen:,} seen combinations are left out one by "
        f"one, the others by {shown(h.elsewhere)}, beyond chance; of the asked ones {h.asked:,} "
        f"{'have' if h.asked != 1 else 'has'} it: "
        + ("see the first lines" if h.at in first else "expect as much there, not the forecast")
        + "; ranges there are wider."
        for h in named
    ]
    more = len(expected.harder) - len(named)
    return [*said, *([f"so it is with {more:,} more levels (JSON: forecast.harder)."] if more else [])]


def _noisy(expected: Forecast | None, train: Table) -> list[str]:
    """Levels whose answers scatter more than others', where they are not said to err more already."""
    rule = None if expected is None else expected.recommended
    if expected is None or not isinstance(rule, Adding):
        return []
    levels = [(train.space.factors[k], level, more) for (k, level), more in rule.noisy.items()
              if (k, level) not in {h.at for h in expected.harder}]  # fmt: skip
    return [
        f"rows of {factor.name} {quoted((factor.levels or ())[level])} scatter about {shown(more)} times as far as "
        "others around the mean of their combination: they count less in the fit, and ranges are wider there alone."
        for factor, level, more in levels[:MOST_HARDER]
    ]


def _own_ranges(expected: Forecast | None) -> list[str]:
    """Where answers take over the slope that a number has at other levels."""
    return [
        f"{own.asked:,} asked combination{'s have' if own.asked > 1 else ' has'} {own.number} beyond what was seen of "
        f"it with {own.which}: a slope of its own, which the seen answers do not exclude, may put such an answer off "
        f"by about {shown(own.off)}; ranges there are as wide. Rows of it that far out would tell."
        for own in (expected.own_ranges if expected is not None else ())
    ]


def _instead(expected: Forecast) -> str:
    """What answers come from where effects do not add up."""
    if expected.rule == "constant":
        return ", and no rule that was tried beats the same answer for all"
    if expected.assumed is not None and expected.rule == expected.assumed.rule:
        return "; no rule that was tried does better, so the answers are sums, as wrong as the forecast says"
    return f": the answers are those of the rule “{expected.rule}” instead{pairs_asked(expected)}"


def _shortcut(prediction: Prediction | None, expected: Forecast | None) -> list[str]:
    found = prediction.shortcut if prediction is not None else None
    if prediction is None or found is None or expected is None or expected.explains is False:
        return []
    if not found.outweighs and found.when_asked >= -WORTH_A_WORD:
        return []
    strength = "outweighs" if found.outweighs else "is weaker than"
    return [
        f"Shortcut: {' × '.join(found.factors)} agrees with the answers in training and opposes them where asked "
        f"(judged by {found.judged_by}); for a {prediction.learner} it {strength} what points the right way."
    ]


def _log_odds(target: Target | None, expected: Forecast | None) -> list[str]:
    """Why log-odds were tried, where answers come from them."""
    if target is None or not target.numeric or expected is None:
        return []
    if expected.scale is None or expected.scale.name != "log-odds":
        return []
    top = expected.scale.ends[1]
    why = f"all answers lie between 0 and {top:g}" + (" and come near both" if top > 1 else "")
    if target.cases is not None:
        why = f"each {target.name} is a share of a known number of cases, by the weights"
    elif target.per_cent:
        why = f"the name or sign of {target.name} says that it is in per cent"
    elif top > 1 and target.called_share:
        why = f"the name of {target.name} may be that of a share and answers come near an end of 0 to 100"
    return [f"Log-odds are among the scales that were tried because {why}."]


def _bits(target: Target | None) -> list[str]:
    """Who counts successes wants their share."""
    if target is None or target.classes != ("0", "1"):
        return []
    number = chosen("target-kind", "number")
    return [f"Answers are 0 and 1, taken as classes; {number} forecasts the share of 1, with a range."]


def _ordered(target: Target | None) -> list[str]:
    """Classes are taken as they come, also those of a scale."""
    steps = None if target is None or target.classes is None else ordered(target.classes)
    if target is None or steps is None:
        return []
    coded = ", ".join(f"{quoted(step)} {place}" for place, step in enumerate(steps, 1))
    return [
        f"Classes of {quoted(target.name)} are taken as unordered; if these are ordered, code them 1 … {len(steps)} "
        f"({coded}) and check again: then they are numbers, whose steps count alike."
    ]


def _codes(target: Target | None) -> list[str]:
    """Whole numbers that recur and leave others out, as codes of classes do, or just 1, 2 and 3; ratings and counts are
    more and leave none out."""
    if target is None or not target.numeric:
        return []
    given = np.unique(_given(target))
    few = FEWEST_MARKS <= len(given) <= MOST_CODES and target.count.sum() >= OFTEN * len(given)
    near = len(given) > MOST_IN_A_ROW and (np.diff(given) == 1).any()
    if not few or near or (given != given.round()).any():
        return []
    values = ", ".join(f"{v:g}" for v in given)
    codes = chosen("target-kind", "class")
    return [f"Answers are few whole numbers ({values}), taken as numbers; if they are codes, {codes}."]


def _outside(target: Target | None, queries: Sequence[Query]) -> list[str]:
    """Where ranges leave what may be possible. Nothing is cut: of degrees as of counts all that were seen may be whole
    numbers from 0 on, so only a person knows; and the ranges were tried as they are."""
    if target is None or not target.numeric:
        return []
    rating = _marks(target)
    low, high = rating or (0.0, 1.0 if _shares(target) else math.inf)
    ranged = _closed((q.low, q.high, q.prediction) for q in queries)
    out, one_row = sum(a < low or b > high for a, b, _ in ranged), ""
    if rating and not out:  # what one person answers is a mark, though means of several are not
        ranged = _closed((q.row_low, q.row_high, q.prediction) for q in queries)
        out, one_row = sum(a < low or b > high for a, b, _ in ranged), " of one row"
    if not out or target.reach[0] < low:
        return []
    wrong = sum(isinstance(said, float) and not low <= said <= high for *_, said in ranged)
    answers = f" and {wrong:,} answer{'s' if wrong != 1 else ''}" if wrong else ""
    which = f"{out:,} of {len(ranged):,} ranges{one_row}{answers}"
    if high < math.inf:
        kind = (
            "between which all seen answers lie" if _shares(target) else "the whole numbers that all seen answers are"
        )
        marks = f"leave {low:g} to {high:g}, {kind}"
        return [f"{which} {marks}: if there are no others, cut there; a range cut so holds as often."]
    below = f"{which} reach below 0, which no seen answer does"
    return [f"{below}: if answers cannot be negative, read 0 there; a range cut so holds as often."]


def _closed(
    ranges: Iterable[tuple[float | None, float | None, float | str | None]],
) -> list[tuple[float, float, float | str | None]]:
    """Ranges with two ends; of those that are open `_open` tells."""
    return [
        (low, high, said)
        for low, high, said in ranges
        if low is not None and high is not None and math.isfinite(high - low)
    ]


def _cut(target: Target | None, expected: Forecast | None, queries: Sequence[Query]) -> list[str]:
    """That ranges end where answers cannot go on, and how that is known."""
    if target is None or expected is None:
        return []
    low, high = expected.bounds
    cut = sum(q.low is not None and (q.low == low > -math.inf or q.high == high < math.inf) for q in queries)
    if not cut:
        return []
    ends = f"{low:g} and {high:g}" if high < math.inf else f"{low:g}"
    by_name = target.bounds[0] > -math.inf
    why = "its name or sign says that it is a part of a whole" if by_name else "a log-odds scale has no others"
    which = f"{cut:,} of {sum(q.low is not None for q in queries):,} ranges are cut at {ends}"
    return [f"{which}, which {target.name} is taken not to leave ({why}, and no seen answer does)."]


def _open(expected: Forecast | None, queries: Sequence[Query]) -> list[str]:
    """Ranges that a rank scale leaves open at an end: there is no telling how far beyond it an answer lies."""
    ranged = [(q.low, q.high) for q in queries if q.low is not None and q.high is not None]
    wide = sum(math.isinf(low) or math.isinf(high) for low, high in ranged)
    if not wide or expected is None or not isinstance(expected.recommended, Adding):
        return []
    seen = expected.recommended.cells.answers
    of = "answer" if (expected.recommended.cells.rows == 1).all() else "mean of a combination"
    ends = f"the smallest and largest seen {of} ({shown(float(seen.min()))} and {shown(float(seen.max()))})"
    which = f"{wide:,} of {len(ranged):,} ranges {'are' if wide > 1 else 'is'} open at an end"
    return [f"{which}: a rank scale goes as far as {ends}; an answer there may lie far beyond, which nothing tells."]


def _shares(target: Target) -> bool:
    """Whether answers may be shares or rates: all between 0 and 1, and near both ends."""
    seen = _given(target)
    return bool(0 <= seen.min() < 0.3 and 0.7 < seen.max() <= 1) and not target.per_cent


def _given(target: Target) -> Floats:
    """The smallest and largest answer of every combination that has one; where they are not kept, its mean."""
    answers, told = target.mean if target.ends is None else target.ends, target.count > 0
    return answers if told.all() else answers[told]


def _marks(target: Target) -> tuple[float, float] | None:
    """The ends of a scale of a few whole numbers from 1 on, such as a rating, all of which were given; else None."""
    if target.ends is None or (ends := _given(target)).min() < 1 or ends.max() > MOST_MARKS:
        return None
    given = np.unique(ends)
    few = FEWEST_MARKS <= len(given) <= MOST_MARKS
    return (1.0, float(given[-1])) if few and given[0] == 1 and (np.diff(given) == 1).all() else None


def _unranged(target: Target | None, expected: Forecast | None) -> list[str]:
    if target is None or not target.numeric or expected is None or expected.rule not in LEARNERS:
        return []
    return [
        f"answers have no ranges: the rule “{expected.rule}” gives none of its own; without --rules (rules) they have."
    ]


def _uneven(queries: Sequence[Query]) -> list[str]:
    """Where one forecast is of answers that are easy and of some that are hopeless."""
    widths = [(high - low) / 2 for low, high, _ in _closed((q.low, q.high, None) for q in queries)]
    middle = median(widths) if widths else 0.0
    wide = sum(width > UNEVEN * middle for width in widths)
    if not wide:
        return []
    ends = f"± {shown(middle)} in the median and ± {shown(max(widths))} at the widest"
    which = f"{wide:,} of {len(widths):,} ranges are more than {UNEVEN} times as wide as the median"
    return [f"{which} ({ends}): the forecast is one number for easy and hard combinations, the ranges tell them apart."]


def _bends(known: Identifiability, names: tuple[str, ...], judged: Judged) -> list[str]:
    """What to try where a number does not act along a straight line, or nothing beats the same answer for all, and no
    surface answers."""
    fit, told = judged.additivity, judged.forecast
    if told is not None and told.rule == "surface":
        return []
    shaky = told is not None and not told.beats
    said = []
    for name, curve in ((names[k], c) for k, c in known.curves.items()):
        rejected = fit is not None and bool(fit.rejected) and f"{name} beyond" in fit.evidence
        bends = curve.shape == "linear" and curve.bent() is not None
        curved = bends and told is not None and told.rule == "curved"
        spline = f"a curve may do: {mapped('numeric', {name: 'spline'})}"
        if ((bends and rejected) or curved or shaky) and (above := curve.by_factors):
            spaced = ", ".join(f"{v:g}" for v in above[:MOST_SPACED]) + (", …" if len(above) > MOST_SPACED else "")
            zero = "" if len(above) == len(curve.seen) else f" (0 has none: first add, say, {above[0]:g})"
            better = f"its logarithm{zero} may add up better; give that as a column"
            better += f"; or {spline}" if (bends and rejected) or curved else ""
            said.append(f"{name} is spaced by factors ({spaced}): {better}.")
        elif bends and rejected:
            said.append(f"{name} does not act along a straight line; {spline}.")
        elif curved:
            said.append(f"{name} may not act along a straight line, as the rule “curved” errs less; {spline}.")
    return said


def _long_sums(queries: Sequence[Query]) -> list[str]:
    if not any(q.status == "determined" and q.terms is None for q in queries):
        return []
    return [
        "some sums behind “determined” have long fractions and are not written out; ask "
        ".witness(combination) for any of them."
    ]


def _all_seen(target: Target | None, asked: Asked) -> list[str]:
    if target is None or asked.worst != "seen":
        return []
    return [
        "nothing unseen is asked about, so nothing is forecast; `recombine split` holds combinations out to try how "
        "well unseen ones would be answered."
    ]


def _part(asked: Asked) -> list[str]:
    if len(asked.codes) >= asked.total:
        return []
    many = f"{asked.total:,}" if asked.total < MOST_WRITTEN else about(asked.total)
    listed = f"{len(asked.codes):,} of the {many} combinations asked about are listed, here and in files"
    return [f"{listed}; for others name them with --test (test)."]
