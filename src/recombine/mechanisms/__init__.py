"""Where a learner fails and by which rule: what its answers alone can say, no model needed."""

from recombine.mechanisms._judge import judge as judge
from recombine.mechanisms.answers.answered import Answers as Answers, Trained as Trained
from recombine.mechanisms.answers.finding import Finding as Finding
from recombine.mechanisms.estimators import measure_estimator as measure_estimator
from recombine.mechanisms.predictions import measure_predictions as measure_predictions
from recombine.mechanisms.verdicts.result import MeasureResult as MeasureResult
