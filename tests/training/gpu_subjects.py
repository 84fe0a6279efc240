"""Tasks, small, and models with one that they are trained on: all that is there, to be run on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from trainees import fixed_task

from recombine.models import (
    CellNetwork,
    Compositional,
    CompositionFamily,
    ConvNet,
    CoordinateNetwork,
    Dense,
    EmbeddingCNN,
    OddOneOut,
    OddOneOutNet,
    PairCNN,
    Panels,
    Perceptron,
    PixelDecoder,
    PixelTransformer,
    ResNet,
    Seq2Seq,
    ShiftedNetwork,
    SlotAutoencoder,
    StripeDecoder,
    Transformer,
    TransposedCNN,
    Upsampler,
    Views,
    ViT,
    WordEncoder,
    resnet_50,
    wide_resnet_50,
)
from recombine.space import FactorSpace
from recombine.tasks import (
    BumpReading,
    BumpTask,
    Contours,
    DigitPairs,
    FactorTable,
    Fourier,
    ImageTask,
    MaskedWords,
    OddOneOutTask,
    PerMember,
    Population,
    Ramp,
    ScanTask,
    Sentences,
    SignProducts,
    SpriteTask,
    SymbolicTask,
    Task,
    ToyBoth,
    ToyTask,
    TwoViews,
    VectorParts,
)
from recombine.tasks.odd_one_out.problems import Source
from recombine.tasks.sprites.compose import Addition, Over, SoftOcclusion
from recombine.tasks.two_factors import BumpsTask, DigitTask, SignalsTask, SignsTask, StripesTask, SumsTask
from recombine.training.remedies import (
    Charged,
    ComponentDropout,
    GradientPenalty,
    GroupBalanced,
    NoisyRepresentation,
    TwoStream,
)

TOY, BOTH = ToyTask(), ToyBoth()
BUMPS = BumpTask(side=8, hole=4)
DIGITS = DigitPairs(loss="cross entropy")
PARTS = VectorParts(cells=4)
SPRITES = SpriteTask(side=8, samples=64)
SCAN = ScanTask(longest=8, pairs=False)
SUMS = SymbolicTask(
    levels=(3, 3), seen=((0, 0), (0, 1), (1, 0), (2, 0), (0, 2), (2, 2)), answers=(0.0, 1.0, 1.0, 2.0, 2.0, 4.0),
    asked=((1, 1), (1, 2)), asked_answers=(2.0, 3.0),
)  # fmt: skip
PICTURES = ImageTask(symbolic=SUMS, per_class=5, examples_seen=16, distance=1)
AGREEMENT = Sentences(structures=("simple", "preposition"))
ITEMS = FactorSpace.of(shape=4, colour=5, size=3)


def one_hot(codes: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.one_hot(codes, 5).flatten(1).float()


TABLE = FactorTable(
    ITEMS, {"few": lambda codes: np.asarray(codes[:, 0] < 2), "light": lambda codes: np.asarray(codes[:, 1] > 1)},
    one_hot, even="size",
)  # fmt: skip
SIGNS = SignProducts(width=8, pairs=((0, 1), (4, 5)))
PANELS = Contours(side=32)

SOURCES: dict[str, tuple[Source, ...]] = {
    "Contours": (
        PANELS,
        Contours(side=96, obeyed=("inside", "number")),
        Contours(side=32, obeyed=("number", "contact")),
    ),
    "FactorTable": (TABLE,),
    "Sentences": (AGREEMENT, Sentences(grammar="anaphora")),
    "SignProducts": (SIGNS,),
}
DRAWN = OddOneOutTask(source=PANELS, problems=4, held_out=4)
ODD = OddOneOutTask(source=SIGNS, problems=16, held_out=32)

TASKS: dict[str, tuple[Task, ...]] = {
    "BumpReading": (BumpReading(of=BumpTask(side=8, hole=4, encoding=Ramp())),),
    "BumpTask": (
        BumpTask(side=8, hole=4, bumps=5, stripes=3),
        BumpTask(side=8, hole=4, compose="sum", encoding=Fourier()),
        BumpTask(side=10, centres="continuous", hole=0.5, encoding=Population(), bumps=32),
    ),
    "BumpsTask": (BumpsTask(offsets=(0, 1)),),
    "Charged": (Charged(task=TOY, outputs=2, numbers=3),),
    "ComponentDropout": (ComponentDropout(task=DIGITS),),
    "DigitPairs": (DIGITS, DigitPairs(other="noise"), DigitPairs(table=tuple(i % 7 for i in range(100)))),
    "DigitTask": (DigitTask(offsets=(0, 1)),),
    "FixedTask": (fixed_task(), fixed_task(several=True)),
    "GroupBalanced": (GroupBalanced(task=DIGITS),),
    "ImageTask": (PICTURES,),
    "MaskedWords": (MaskedWords(source=AGREEMENT),),
    "OddOneOutTask": (ODD,),
    "PerMember": (PerMember(task=PICTURES),),
    "ScanTask": tuple(
        ScanTask(longest=8, pairs=False, words=words) for words in ("given", "uniform", "apart", "without")
    ),
    "SignalsTask": (SignalsTask(pairs=((0, 0), (0, 1), (1, 1))),),
    "SignsTask": (SignsTask(offsets=(0, 1)),),
    "SpriteTask": (
        SPRITES,
        SpriteTask(side=8, samples=None, support="normal", raster="centre", composition=Over()),
        SpriteTask(side=8, samples=8, support="diagonal", raster="smooth", composition=SoftOcclusion()),
        SpriteTask(side=12, samples=16, support="gap", composition=Addition()),
    ),
    "StripesTask": (StripesTask(offsets=(0, 1)),),
    "SumsTask": (SumsTask(offsets=(0, 1)),),
    "SymbolicTask": (SUMS,),
    "ToyBoth": (BOTH,),
    "ToyTask": (TOY,),
    "TwoViews": (TwoViews(source=PANELS, panels=4, held_out=4),),
    "VectorParts": (
        PARTS,
        VectorParts(support="random", inputs="observation"),
        VectorParts(support="diagonal"),
        VectorParts(support="gap", composition=SoftOcclusion()),
    ),
}

CELL = Perceptron(widths=(2, 8, 12), activation="elu")
SPRITE = Upsampler(inputs=5, side=8, hidden=8, channels=4)
SMALL: dict[str, Any] = {"channels": (4, 8), "blocks": 1, "hidden": (8,), "outputs": 6}
WORDS: dict[str, Any] = {"words": len(AGREEMENT.spoken.words), "width": 8, "heads": 2}
CHARGED = Charged(task=DIGITS, outputs=10, numbers=64)
NET = PairCNN(shape=DIGITS.shape, filters=4)

MODELS: dict[str, tuple[Any, Task]] = {
    "CellNetwork": (Compositional(component=CELL, composition=CellNetwork()), PARTS),
    "CompositionFamily": (Compositional(component=CELL, composition=CompositionFamily()), PARTS),
    "Compositional": (Compositional(component=SPRITE, composition=SoftOcclusion(), shared=True), SPRITES),
    "ConvNet": (ConvNet(shape=PICTURES.shape, filters=(4,), kernel=3, dense=(8,)), PICTURES),
    "CoordinateNetwork": (CoordinateNetwork(inputs=16, side=8, width=8), BUMPS),
    "Dense": (Dense(inputs=6, width=8), SUMS),
    "EmbeddingCNN": (EmbeddingCNN(side=8, terms=2), BUMPS),
    "GradientPenalty": (GradientPenalty(model=NET, start=8, stop=16), CHARGED),
    "NoisyRepresentation": (NoisyRepresentation(model=NET), CHARGED),
    "OddOneOut": (OddOneOut(Perceptron(widths=(8, 16, 4))()), ODD),
    "OddOneOutNet": (OddOneOutNet(encoder=Perceptron(widths=(8, 16, 4))), ODD),
    "PairCNN": (NET, DIGITS),
    "Panels": (OddOneOutNet(encoder=Panels(encoder=ResNet(shape=PANELS.shape, norm="instance", **SMALL))), DRAWN),
    "Perceptron": (Perceptron(widths=(2, 8, 2), activation="tanh"), TOY),
    "PixelDecoder": (PixelDecoder(inputs=16, side=8, channels=2, hidden=4), BUMPS),
    "PixelTransformer": (PixelTransformer(inputs=16, side=8, dim=8, depth=1, heads=2, feed_forward=8), BUMPS),
    "ResNet": (ResNet(shape=PICTURES.shape, channels=(4, 8), blocks=1), PICTURES),
    "Seq2Seq": (Seq2Seq(embedding=4, encoder=3), SCAN),
    "ShiftedNetwork": (Compositional(component=ShiftedNetwork(network=Upsampler(
        inputs=3, side=8, hidden=8, channels=4), side=8), composition=SoftOcclusion()), SPRITES),
    "SlotAutoencoder": (SlotAutoencoder(inputs=12, slot=2, component=CELL), PARTS.replace(inputs="observation")),
    "StripeDecoder": (StripeDecoder(inputs=16, side=8, hidden=4), BUMPS),
    "Transformer": (Transformer(width=8, heads=2, layers=1), SCAN),
    "TransposedCNN": (TransposedCNN(inputs=16, side=8, channels=4, depth=2), BUMPS),
    "TwoStream": (TwoStream(model=NET), DIGITS),
    "Upsampler": (SPRITE.replace(inputs=10, ranges=((0.0, 1.0),) * 10), SPRITES),
    "ViT": (ViT(shape=(*PICTURES.shape[:2], 8), patch=4, dim=8, depth=1, heads=2, head_dim=4, mlp=8, dropout=0.0),
            PICTURES.replace(distance=0)),
    "Views": (Views(encoder=Panels(encoder=ResNet(shape=PANELS.shape, norm="instance", **SMALL))),
              TwoViews(source=PANELS, panels=4, held_out=4)),
    "WordEncoder": (WordEncoder(masked_words=True, **WORDS), MaskedWords(source=AGREEMENT)),
    "both answers": (Perceptron(widths=(2, 8, 4), activation="tanh"), BOTH),
    "resnet_50": (OddOneOutNet(encoder=Panels(encoder=resnet_50(32, **SMALL))), DRAWN),
    "wide_resnet_50": (OddOneOutNet(encoder=Panels(encoder=wide_resnet_50(32, **SMALL))), DRAWN),
}  # fmt: skip
