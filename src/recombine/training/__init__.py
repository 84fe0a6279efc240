"""How it learns: one engine that trains many members at once."""

from recombine.training.engine import plan_training as plan_training, train as train
from recombine.training.ensemble import Ensemble as Ensemble
from recombine.training.optim import (
    SGD as SGD,
    Adam as Adam,
    AdamW as AdamW,
    Cosine as Cosine,
    Exponential as Exponential,
    Optimizer as Optimizer,
    Schedule as Schedule,
    Step as Step,
    Warmup as Warmup,
)
from recombine.training.penalties import (
    CoefficientEntropy as CoefficientEntropy,
    MapVariance as MapVariance,
    NuclearNorm as NuclearNorm,
    Together as Together,
    VectorVariance as VectorVariance,
)
from recombine.training.pretraining import pretrain as pretrain, starting_from as starting_from
from recombine.training.record import Record as Record, powers_of_two as powers_of_two
from recombine.training.settings import pick_device as pick_device
from recombine.training.threads import one_thread_each as one_thread_each
from recombine.training.validation import Validation as Validation
