"""Penalties, optimisers, masks, measures and runs, each with what it is tried on: all that is there, for a GPU."""

from __future__ import annotations

from typing import Any

from gpu_subjects import MODELS, ODD, TOY

from recombine.runs.training import Measured
from recombine.structure import (
    ContinuousSparsification,
    HardConcrete,
    MagnitudePruning,
    MaskSettings,
    Method,
    Protocol,
    StraightThroughGumbel,
    TopK,
)
from recombine.studies.break_it_down.dissection import DissectionRun
from recombine.studies.gradient_descent.evolution import EvolutionRun
from recombine.training import SGD, Adam, AdamW, Cosine, Exponential, Optimizer
from recombine.training.penalties import (
    CoefficientEntropy,
    MapVariance,
    NuclearNorm,
    Penalty,
    SquaredNorm,
    Together,
    VectorVariance,
)
from recombine.training.sign import SignSGD

PENALTIES: dict[str, tuple[Penalty, str]] = {
    "CoefficientEntropy": (CoefficientEntropy(), "EmbeddingCNN"),
    "MapVariance": (MapVariance(side=8), "PixelDecoder"),
    "NuclearNorm": (NuclearNorm(), "EmbeddingCNN"),
    "SquaredNorm": (SquaredNorm(), "Perceptron"),
    "Together": (Together(parts=((0.5, CoefficientEntropy()), (0.1, VectorVariance()))), "EmbeddingCNN"),
    "VectorVariance": (VectorVariance(), "EmbeddingCNN"),
}
"""Each with a model that has what it charges for."""

OPTIMIZERS: dict[str, Optimizer] = {
    "SGD": SGD(lr=(0.1, 0.2), momentum=0.9, weight_decay=0.01),
    "Adam": Adam(lr=0.01, weight_decay=(0.0, 0.1), schedule=Cosine(steps=4)),
    "AdamW": AdamW(lr=0.01, schedule=Exponential(factor_each=0.5)),
    "SignSGD": SignSGD(lr=0.01, momentum=0.5),
}

METHODS: dict[str, Method] = {
    "ContinuousSparsification": ContinuousSparsification(rescale=True),
    "HardConcrete": HardConcrete(),
    "MagnitudePruning": MagnitudePruning(),
    "StraightThroughGumbel": StraightThroughGumbel(),
    "TopK": TopK(),
}

MEASURED: dict[str, tuple[str, dict[str, Any]]] = {
    "additivity": ("Dense", {"count": 2}),
    "boundary": ("Perceptron", {"lines": 3, "points": 5}),
    "component_influence": ("Perceptron", {"count": 4}),
    "composition_shares": ("CompositionFamily", {}),
    "decision_map": ("Perceptron", {"resolution": 3}),
    "decoded": ("Seq2Seq", {"count": 4}),
    "drawing": ("StripeDecoder", {}),
    "effects": ("Dense", {"count": 1}),
    "embedding": ("StripeDecoder", {}),
    "factorization": ("PixelDecoder", {"layers": "input,seed,output,tangent", "tangent_levels": 3}),
    "generalization": ("Compositional", {"count": 8, "chunk": 4}),
    "geometry": ("PixelDecoder", {"layers": "seed,output"}),
    "hard_answer": ("Perceptron", {"count": 8}),
    "influence": ("Perceptron", {"count": 4}),
    "information": ("Perceptron", {"count": 16, "shuffles": 2}),
    "kernel_leak": ("Dense", {"layers": "relu_1", "count": 2}),
    "latent_map": ("CellNetwork", {"x": "a1", "y": "b1", "cells": 2, "count": 2}),
    "leak": ("Dense", {"count": 2}),
    "lenses": ("both answers", {"layer": "0", "count": 2}),
    "modularity": ("both answers", {"learn": 8, "asked": 8, "epochs": 1, "batch_size": 4}),
    "one_step": ("Perceptron", {"batch": 4, "count": 4}),
    "per_combination": ("Perceptron", {"count": 2}),
    "probes": ("PixelDecoder", {"layers": "input,seed"}),
    "r_squared": ("Dense", {"count": 2}),
    "recombination": ("SlotAutoencoder", {"count": 4}),
    "reconstruction": ("Upsampler", {"examples": 2}),
    "recovery": ("CellNetwork", {"count": 4}),
    "rendering": ("StripeDecoder", {}),
    "salience": ("Dense", {"layers": "relu_1,tangent", "count": 4}),
    "snap": ("both answers", {"count": 4}),
    "step_matrix": ("both answers", {"batch": 4, "count": 4}),
    "superposition": ("PixelDecoder", {"most": 4}),
    "swap": ("Perceptron", {"count": 4}),
    "transport": ("PixelDecoder", {"most": 3}),
    "variance": ("Perceptron", {"count": 2}),
    "views": ("Seq2Seq", {"count": 4}),
}
"""Each measure with one of `MODELS` and with what it is asked."""

DISSECTED = DissectionRun(
    task=ODD, model=MODELS["OddOneOutNet"][0], bases=1, steps=1, batch_size=2, optimizer=SGD(lr=0.1), learn=4, asked=2,
    protocol=Protocol(settings=(MaskSettings(epochs=1, batch_size=2),), gate=0.0, passing=0.0),
)  # fmt: skip
EVOLVED = EvolutionRun(
    task=TOY, model=MODELS["Perceptron"][0], members=2, generations=2, children=2, batch_size=4, stop_below=0.1,
    stop_on=4, measured=(Measured(measure="swap", arguments={"count": 4}),),
)  # fmt: skip
