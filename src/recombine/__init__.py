"""recombine: having seen some combinations of some factors, what will a learner do on the others, and why?

    import recombine as rc

    rc.check(table, factors=["shape", "colour"])      # before training: what can be answered at all
    ensemble = rc.train(model, task, members=64, steps=1000)
    rc.measure(ensemble, task)                         # after training: where it fails, and by which mechanism
    rc.measure_predictions(table, ["shape", "colour"], target="y", prediction="p", split="part=test")
    rc.dissect(network, problems_of_one_rule, problems_of_the_other)      # inside: a part for each, and can it go
    result = rc.run_study("gradient-toy", "smoke")     # a paper: which claims hold
    rc.report(result)                                  # its page, or that of any other result

Names are looked up when they are first used, so that a person with a table does not wait for torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recombine.errors import InputError as InputError
from recombine.on_demand import on_demand
from recombine.result import register

__version__ = "0.1.0"

if TYPE_CHECKING:
    from recombine import (
        checks as checks,
        figures as figures,
        kernels as kernels,
        measures as measures,
        mechanisms as mechanisms,
        models as models,
        reporting as reporting,
        runs as runs,
        statistics as statistics,
        structure as structure,
        studies as studies,
        support as support,
        tasks as tasks,
        training as training,
    )
    from recombine.checks import CombinationSplit as CombinationSplit, Purpose as Purpose, check as check, plan as plan
    from recombine.measures import check_theorem as check_theorem, measure as measure
    from recombine.mechanisms import measure_predictions as measure_predictions
    from recombine.models import Perceptron as Perceptron
    from recombine.reporting import report as report
    from recombine.runs import Store as Store
    from recombine.space import (
        Factor as Factor,
        FactorSpace as FactorSpace,
        categorical as categorical,
        continuous as continuous,
    )
    from recombine.structure._dissect import dissect as dissect
    from recombine.studies import find_study as find_study, run_study as run_study
    from recombine.support import Explicit as Explicit, Region as Region, Support as Support
    from recombine.tasks import FixedTask as FixedTask, Task as Task
    from recombine.training import (
        SGD as SGD,
        Adam as Adam,
        AdamW as AdamW,
        Ensemble as Ensemble,
        Record as Record,
        Validation as Validation,
        train as train,
    )


if not TYPE_CHECKING:  # type checkers read the imports above instead
    __getattr__, __dir__, __all__ = on_demand(
        __name__,
        {
            "space": ("FactorSpace", "Factor", "categorical", "continuous"),
            "support": ("Support", "Explicit", "Region"),
            "tasks": ("Task", "FixedTask"),
            "models": ("Perceptron",),
            "training": ("SGD", "Adam", "AdamW", "Ensemble", "Record", "Validation", "train"),
            "checks": ("check", "CombinationSplit", "Purpose", "plan"),
            "mechanisms": ("measure_predictions",),
            "measures": ("check_theorem", "measure"),
            "structure": ("dissect",),
            "runs": ("Store",),
            "studies": ("run_study", "find_study"),
            "reporting": ("report",),
        },
        (*("statistics", "support", "tasks", "models", "kernels", "checks", "mechanisms", "training", "measures"),
         *("structure", "runs", "figures", "studies", "reporting")),
        ("InputError", "__version__"),
    )  # fmt: skip


def _drawn_by(module: str, function: str, **options: Any) -> Any:
    """A renderer that imports the drawing libraries when it is first asked to draw."""
    return lambda result: getattr(import_module(module), function)(result, **options)


register("study", "plot", _drawn_by("recombine.reporting.study", "claims_chart"))
register("study", "page", _drawn_by("recombine.reporting.study", "study_page", links=False))
register("check", "plot", _drawn_by("recombine.figures.check", "check_figure"))
register("check", "page", _drawn_by("recombine.reporting.check", "check_page"))
register("plan", "page", _drawn_by("recombine.reporting.check", "plan_page"))
register("measure", "plot", _drawn_by("recombine.figures.measured", "measured_figure"))
register("measure", "page", _drawn_by("recombine.reporting.measured", "measured_page"))
register("theorem", "plot", _drawn_by("recombine.figures.sufficiency", "theorem_figure"))
register("theorem", "page", _drawn_by("recombine.reporting.theorem", "theorem_page"))
register("dissection", "plot", _drawn_by("recombine.figures.dissection", "dissection_figure"))
register("dissection", "page", _drawn_by("recombine.reporting.dissection", "dissection_page"))
for _kind in ("study", "check", "plan", "measure", "theorem", "dissection"):
    register(_kind, "citation", _drawn_by("recombine.reporting.citing", "citation"))
