"""What the theorem's assumptions say of each setting before anything is trained."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from recombine.description import Description
from recombine.measures import check_theorem, theorem_table
from recombine.runs import Context, Outcome, Run
from recombine.tasks import Task
from recombine.tasks.sprites import Composition


class TheoremSetting(Description):
    """A task, and the composition of the model that will be trained on it."""

    kind: ClassVar[str] = "theorem-setting"

    task: Task
    composition: Composition


class VerdictRun(Run):
    """The assumptions A0 to A4 of every setting, as `check_theorem` computes them."""

    kind: ClassVar[str] = "theorem verdicts"

    settings: dict[str, TheoremSetting] = Field(min_length=1)
    values: int = Field(default=20, ge=1)

    def compute(self, context: Context) -> Outcome:
        results = []
        for done, (name, setting) in enumerate(self.settings.items()):
            result = check_theorem(setting.task, composition=setting.composition, values=self.values)
            results.append((name, result))
            context.progress(done + 1, len(self.settings), "settings")
        return Outcome({"verdicts": theorem_table(results)}, {}, {"members": len(results)})
