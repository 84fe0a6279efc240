"""How it learns: one engine that trains many members at once."""

from recombine.training.engine import plan_training, train
from recombine.training.ensemble import Ensemble
from recombine.training.optim import SGD, Adam, AdamW, Cosine, Exponential, Optimizer, Schedule
from recombine.training.penalties import (
    CoefficientEntropy,
    MapVariance,
    NuclearNorm,
    Orthogonality,
    Together,
    VectorVariance,
)
from recombine.training.pretraining import pretrain, starting_from
from recombine.training.record import Record, powers_of_two
from recombine.training.settings import pick_device
from recombine.training.threads import one_thread_each

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CoefficientEntropy",
    "Cosine",
    "Ensemble",
    "Exponential",
    "MapVariance",
    "NuclearNorm",
    "Optimizer",
    "Orthogonality",
    "Record",
    "Schedule",
    "Together",
    "VectorVariance",
    "one_thread_each",
    "pick_device",
    "plan_training",
    "powers_of_two",
    "pretrain",
    "starting_from",
    "train",
]
