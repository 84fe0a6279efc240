"""Where a learner fails and by which rule: what its answers alone can say, no model needed."""

from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.evidence import Evidence
from recombine.mechanisms.figure import Figure
from recombine.mechanisms.judge import judge
from recombine.mechanisms.predictions import measure_predictions
from recombine.mechanisms.result import MeasureResult

__all__ = ["Answers", "Evidence", "Figure", "MeasureResult", "Trained", "judge", "measure_predictions"]
