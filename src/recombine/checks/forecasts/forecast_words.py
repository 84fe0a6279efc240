"""A forecast in words: what to expect, how often its interval holds, and how the rule was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.checks.as_read import apart, per_cent, shown
from recombine.checks.rules.adding import Adding
from recombine.space import about, quoted
from recombine.support.pasted import chosen

if TYPE_CHECKING:
    from recombine.checks.forecasts.expected import Forecast, RuleError
    from recombine.checks.forecasts.harder import Harder

LESS = 0.8
"""Share of the error up to which the error against means of very many rows is worth saying."""
NOTHING_TOLD = 0.99
"""Width of the interval of a share that tells nothing; of another error, that width over its upper end."""
WORTH_SAYING = 0.1
"""Share of the error without it from which it is said that a drift is counted."""
ALIKE = 1e-6
"""Share of a log loss up to which an interval has no width: classes that are given the same chance make it the same."""
MOST_APART = 3
"""Levels apart that are named."""


def said(forecast: Forecast, doubted: bool) -> str:
    """The forecast in one sentence; ``doubted``: what “determined” rests on is contradicted or not shown."""
    what = {"rmse": "a root-mean-square error of", "error rate": "a share wrong of", "log loss": "a log loss of"}
    error, constant = apart(forecast.error, forecast.constant, forecast.share)
    errs = f"errs {'in' if forecast.share else 'by'} {constant}"
    gain = f"the same answer for all {errs}" + (", hardly different" if error == constant else "")
    gain += "" if forecast.beats else ", and the difference may be chance"
    if forecast.rule == "constant":
        error = shown(forecast.error, forecast.share)
        gain = "no rule that was tried is clearly better than the same answer for all"
    by = f"rule “{forecast.rule}”"
    if forecast.rule == "substitution" and forecast.substitution and not forecast.covers_all:
        by += f" where it covers ({forecast.substitution['covered']:,}) and the commonest class elsewhere"
    which = "adding up would determine" if doubted else f"{'are' if forecast.cells != 1 else 'is'} determined"
    most = NOTHING_TOLD * (1.0 if forecast.share else forecast.high)
    untold = (forecast.share or forecast.small) and forecast.high - forecast.low > most
    low, high = (shown(end, forecast.share) for end in (forecast.low, forecast.high))
    within = f"90 %: {low} to {high}" if level(forecast) == "90 %" else f"{low} to {high}, {level(forecast)}"
    within = "how near cannot be told from so few" if untold else within
    if forecast.metric == "log loss" and forecast.high - forecast.low <= ALIKE * forecast.high:
        within = "whichever come, as all classes are given the same chance"
    if forecast.span == 0:
        within = "all seen answers are the same, so nothing tells how others differ"
    elif forecast.span is not None and forecast.high > forecast.span and not untold:
        means = isinstance(rule := forecast.recommended, Adding) and not (rule.cells.rows == 1).all()
        seen = "means of seen combinations" if means else "seen answers"
        within += f"; that end tells nothing, as all {seen} lie within {shown(forecast.span)}"
    if forecast.drift is not None and (forecast.by_drift or 0.0) >= WORTH_SAYING:
        within += f"; what a drift over {forecast.drift.over} may add is counted"
    of = f" in {quoted(forecast.answer)}" if forecast.answer else ""
    many = f"{forecast.cells:,}" if forecast.cells < 10**15 else about(forecast.cells)
    return (
        f"Expect {what[forecast.metric]} {error}{of} ({within}) on the "
        f"{many} unseen combination{'s' if forecast.cells != 1 else ''} that {which}, by the "
        f"{by}; {gain}.{_elsewise(forecast)}"
    )


def _elsewise(forecast: Forecast) -> str:
    """What to expect instead on asked combinations of levels that are far harder than the others."""
    said = [
        f" On the {a.asked if a.asked > 1 else 'one'} of them with {a.factor} {a.level} expect about "
        f"{shown(a.error)} instead ({shown(a.low)} to {shown(a.high)}); others err by about {shown(a.elsewhere)}."
        for a in forecast.apart[:MOST_APART]
    ]
    more = len(forecast.apart) - len(said)
    said += [f" So it is with {more:,} more levels (JSON: forecast.apart)."] if more else []
    return "".join([*said, *(_most(forecast, h) for h in forecast.mostly)])


def _most(forecast: Forecast, level: Harder) -> str:
    which = "all" if level.asked == forecast.cells else f"the {level.asked:,}"
    at = f"{level.factor} {level.level}, which errs more where it is seen"
    return f" On {which} of them with {at}, expect about {shown(level.error)} instead."


def against_many(forecast: Forecast) -> str:
    """The error against means of very many rows, where that is clearly less."""
    many = forecast.error_many_rows
    if forecast.shared:
        return "; repeats share part of that (a note says how), so nothing is said against means of very many rows"
    if many is None or many > LESS * forecast.error:
        return ""
    return f"; against means of very many rows expect about {shown(many)}"


def drawn(forecast: Forecast) -> str:
    """How much of the error is a matter of which combinations were drawn to be left out."""
    by = shown(forecast.by_draw, forecast.share)
    return (
        f"another draw of the combinations left out (--seed, seed) moves the error by about {by} (standard deviation)"
    )


def level(forecast: Forecast) -> str:
    """How often the interval holds: as it is meant to, except where planted tables have shown that it does not."""
    if forecast.aliased:
        return "if no interaction hides behind a single effect"
    if forecast.unrun is not None:
        return "if nothing acts that would show only in the fraction that was never run"
    if forecast.drift is not None and forecast.by_drift is None:
        return f"if nothing drifts over {forecast.drift.over}"
    if forecast.cut_as_asked:
        return "meant for 90 %, held about 6 times in 7 on real panels whose series end early"
    if forecast.corner is not None:
        return f"if effects add up {forecast.corner.where}"
    if forecast.by_answer is not None:
        return f"if none is missing because its answer is {forecast.by_answer.end}"
    if forecast.own_ranges:
        return f"if {forecast.own_ranges[0].number} does the same whatever {forecast.own_ranges[0].factor} is"
    if forecast.small:
        return "meant for 90 %, held about 5 times in 6 on planted tables this small"
    if forecast.gaps:
        return (
            "meant for 90 %, held about 2 times in 3 on planted curves where most of it is, as with "
            f"{forecast.gaps[0].factor} here, of what happens between seen values: a smooth curve errs less, a peak "
            "between them more"
        )
    if forecast.scale is not None and forecast.scale.name == "log":
        return "meant for 90 %, held about 5 times in 6 on planted tables whose effects multiply"
    if forecast.scale is not None and forecast.scale.name == "rank":
        return "meant for 90 %, held about 3 times in 4 on planted tables with such answers"
    return "90 %"


def substituted(forecast: Forecast) -> str:
    """What substitution covers and how often it was right, beside a guess."""
    told = forecast.substitution
    if told is None:
        return ""
    words = f"covers {told['covered']:,} of {told['asked']:,}"
    if told["right"] is None or told["guessed"] is None:
        return f"{words}; it covers no stand-in, so it was not tried"
    right = f"it had {per_cent(told['right'])} right, the commonest class {per_cent(told['guessed'])}"
    words += f"; of {told['tried']:,} stand-ins that it covers {right}"
    if forecast.covers_all:
        more = any(r.rule == forecast.rule == "substitution" and r.uncharged < r.error for r in forecast.rules)
        return words + ("; the forecast is larger, since the rule was chosen by them" if more else "")
    left = f"the other {told['asked'] - told['covered']:,} get the commonest class"
    if told["elsewhere"] is None:
        return f"{words}; {left}, which was not tried on such"
    return f"{words}; {left}, which was right in {per_cent(told['elsewhere'])} of the stand-ins not covered"


def choice(forecast: Forecast) -> str:
    """How the recommended rule was chosen: of classes not by the errors that are shown."""
    if forecast.metric != "rmse":
        charged = [f"{r.rule} {shown(r.uncharged)}" for r in forecast.rules if r.uncharged != r.error]
        tried = f" as tried ({', '.join(charged)})" if charged else ""
        return (
            "recommended: one answer for all, unless classes differ beyond chance or another rule is clearly better; "
            f"then the rule that errs least{tried}, or a simpler one as good"
        )
    apart = f"by at most 0.5 % or a third of a standard error{_few(forecast)}"
    scale = "; of sums on several scales that on which the seen answers are likelier, where that is clear"
    said = f"recommended is the rule of the smallest error, or a simpler one that is worse {apart}"
    smaller = [rule.rule for rule in _smaller(forecast)]
    lost = any(rule.endswith(" scale") for rule in smaller)
    pairs = "; effects of pairs only if they are better by a whole one: what they learnt is known roughly"
    said += pairs if any(rule.startswith("pairs") for rule in [*smaller, forecast.rule]) else ""
    return f"{said}{scale if forecast.scale is not None or lost else ''}{_as_tried(forecast)}{_on(forecast)}"


def unlike_shown(forecast: Forecast) -> str:
    """Why the recommended rule is not that of the smallest error, as they are shown; none where it is."""
    return choice(forecast) if _smaller(forecast) else ""


def _smaller(forecast: Forecast) -> list[RuleError]:
    """Rules of a smaller error than the recommended one, as they are shown."""
    own = next((r.error for r in forecast.rules if r.rule == forecast.rule), forecast.error)
    return [r for r in forecast.rules if r.error < own and shown(r.error, forecast.share) != shown(own, forecast.share)]


def _as_tried(forecast: Forecast) -> str:
    """That the recommended rule errs less on the combinations left out than one of a smaller error shown, if it does:
    what the asked ones add each rule tells of itself, and sums that take a slope over are too sure of it."""
    own = next((r.uncharged for r in forecast.rules if r.rule == forecast.rule), forecast.error)
    worse = [r for r in _smaller(forecast) if r.uncharged > own and shown(r.uncharged) != shown(own)]
    if not worse:
        return ""
    errors = ", ".join(f"{r.rule} {shown(r.uncharged)}" for r in worse)
    return (
        f"; on the combinations left out {forecast.rule} errs by {shown(own)} ({errors}); how much more or "
        "less on the asked ones is by each rule’s own account, which chooses none"
    )


def pairs_asked(forecast: Forecast) -> str:
    """How to be told what the rule of the answers determines, where that is pairs and not what “determined” is of."""
    return f"; {chosen('order', 2)} tells what is determined if pairs act together" if forecast.by_pairs else ""


def less_than_sums(forecast: Forecast) -> str:
    """That the rule errs less than the assumed one, in numbers: those that are shown, or else those that it was
    chosen by, before something was added for what it learnt, beside those shown; none where neither are less."""
    own = next((r for r in forecast.rules if r.rule == forecast.rule), None)
    if own is None or forecast.assumed is None:
        return ""
    error = forecast.error if forecast.drift is None else own.error  # sums are tried without a drift too
    with_it = " against ".join(apart(error, forecast.assumed.error, forecast.share))
    charged = f", before something is added for what each learnt; {with_it} with it"
    for one, two, how in (
        (error, forecast.assumed.error, ""), (own.uncharged, forecast.assumed.uncharged, charged),
    ):  # fmt: skip
        rule, sums = apart(one, two, forecast.share)
        if one < two and rule != sums:
            return f"{rule} against {sums} of sums{how}"
    return ""


def _few(forecast: Forecast) -> str:
    """What the means of few rows count in that choice."""
    rule = forecast.recommended
    if not isinstance(rule, Adding) or not rule.weighed:
        return ""
    weigh = rule.cells.weights is not None
    return f"; there {'rows that weigh little' if weigh else 'means of few rows'} count less"


def _on(forecast: Forecast) -> str:
    """What the recommended rule's scale means, where people may not know."""
    odds = "; on a log-odds scale effects multiply the odds (60 % are odds of 60 to 40)"
    return odds if forecast.scale is not None and forecast.scale.name == "log-odds" else ""
