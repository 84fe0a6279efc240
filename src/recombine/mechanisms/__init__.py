"""Where a learner fails and by which rule: what its answers alone can say, no model needed."""

from recombine.mechanisms.answers import Answers, Trained
from recombine.mechanisms.finding import Finding
from recombine.mechanisms.judge import judge
from recombine.mechanisms.predictions import measure_predictions
from recombine.mechanisms.result import MeasureResult

__all__ = ["Answers", "Finding", "MeasureResult", "Trained", "judge", "measure_predictions"]
