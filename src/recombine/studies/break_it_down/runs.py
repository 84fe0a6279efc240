"""The runs of the study, at three scales, the most important first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recombine.models import (
    OddOneOutNet,
    PairCNN,
    Panels,
    Perceptron,
    ResNet,
    Views,
    WordEncoder,
    resnet_50,
    wide_resnet_50,
)
from recombine.runs import Run
from recombine.runs.along_training import AlongTrainingRun
from recombine.runs.dissection import DissectionRun, Pretraining
from recombine.runs.planted import PlantedRun
from recombine.structure import Choice, Geometric, MaskSettings, Protocol, grid
from recombine.studies.break_it_down.bases import FILE, HASH
from recombine.studies.study import Scale
from recombine.tasks import (
    Contours,
    DigitPairs,
    Family,
    MaskedWords,
    OddOneOutTask,
    Sentences,
    SignProducts,
    TwoViews,
)
from recombine.training import Adam, Cosine

STARTS = (-0.05, 0.0, 0.05, 0.1)
SIGNS = SignProducts()
AGREEMENT = Sentences()
FEW = (0.0, 0.1)
"""The two starts of a search of four settings."""


SHORT = MaskSettings(batch_size=16, penalty=0.1, optimizer=Adam(lr=0.03), temperature=Geometric(per="step"))
"""For searches of a hundred steps: the temperature rises at every one."""


@dataclass(frozen=True)
class Size:
    """How much is trained at a scale."""

    bases: int
    toy_steps: int
    epochs: int
    members: int
    asked: int


SIZES = {"smoke": Size(2, 40, 1, 4, 40), "quick": Size(3, 700, 10, 20, 200), "paper": Size(3, 1500, 20, 48, 500)}


def runs(scale: Scale, members: int | None) -> Mapping[str, Run]:
    """What is known first (the toy, planted networks), then the paper's tasks, then what is new."""
    size = SIZES[scale]
    bases = min(members, 3) if members is not None else size.bases
    found: dict[str, Run] = {
        "toy": toy(size, bases),
        "planted-positive": planted("positive", size, bases),
        "planted-negative": planted("negative", size, bases),
    }
    if scale == "paper":
        found |= _paper(members)
    else:
        found |= {
            "agreement": small_agreement(size, bases + (members is None and scale == "quick")),
            "inside-contact": small_contours(scale, size),
        }
    found |= {"digit-pairs": digit_pairs(size, members or size.members)}
    return {name: _open(run) for name, run in found.items()} if scale == "smoke" else found


def _open(run: Any) -> Run:
    """The run with two settings and no gate, so that every table is there after a few steps."""
    own = run.protocol
    opened: Run = run.replace(protocol=own.replace(gate=0.0, passing=0.0, settings=own.settings[:2]))
    return opened


def toy(size: Size, bases: int) -> DissectionRun:
    """Two products of signs (24 numbers): what a search finds where the answer is clear."""
    settings = MaskSettings(epochs=int(2.4 * size.epochs), batch_size=32, penalty=0.235, optimizer=Adam(lr=0.02))
    return DissectionRun(
        task=OddOneOutTask(source=SIGNS, problems=2048, held_out=300),
        model=OddOneOutNet(encoder=Perceptron(widths=(24, 128, 128, 32))),
        bases=bases, steps=size.toy_steps, optimizer=Adam(lr=2e-3),
        learn=768 if size.toy_steps > 100 else 64, asked=2 * size.asked,
        protocol=Protocol(settings=(settings,), seeds=2, random=1), untrained=bases,
    )  # fmt: skip


def planted(kind: Literal["positive", "negative"], size: Size, bases: int) -> PlantedRun:
    width = 24 if kind == "positive" else 12
    settings = tuple(
        MaskSettings(epochs=2 * size.epochs, penalty=penalty, optimizer=Adam(lr=0.02))
        for penalty in (0.1, 0.02, 0.004, 0.0)
    )
    return PlantedRun(
        planted=kind,
        network=OddOneOutNet(encoder=Perceptron(widths=(width, 16, 8))), bases=bases,
        steps=500 if size.toy_steps > 100 else 40, asked=size.asked,
        protocol=Protocol(settings=settings, seeds=1, random=0, shuffled=False),
    )  # fmt: skip


def small_agreement(size: Size, bases: int) -> DissectionRun:
    """Subject–verb agreement with an encoder of 2 layers of 16; four settings."""
    base = SHORT.replace(epochs=min(6, size.epochs))
    short = size.toy_steps < 100
    return DissectionRun(
        task=OddOneOutTask(source=AGREEMENT, family=Family(both_broken=False), problems=3000, held_out=300),
        model=OddOneOutNet(encoder=encoder(16, 2, 2)),
        bases=bases, steps=30 if short else 400, batch_size=32, optimizer=Adam(lr=5e-3),
        learn=32 if short else 256, asked=min(120, size.asked), free=False, untrained=1 if short else 2,
        protocol=Protocol(settings=grid(starts=FEW, choices=(Choice(),), lrs=(0.03, 0.01), base=base), seeds=1,
                          random=1),
    )  # fmt: skip


def small_contours(scale: Scale, size: Size) -> DissectionRun:
    """Inside–contact at 32 pixels with a small ResNet, whose trained weights come with the package; four settings:
    two sets of upper layers, two rates. (A mask over the first layers would cost three times as much.)"""
    base = SHORT.replace(epochs=min(4, size.epochs))
    upper = tuple(Choice(names=names) for names in ("stage_3|readout", "stage_2|stage_3|readout"))
    smoke = scale == "smoke"
    return DissectionRun(
        task=OddOneOutTask(source=Contours(side=32), problems=64 if smoke else 8000, held_out=16 if smoke else 200),
        model=SMALL_RESNET, bases=1 if smoke else 2, steps=4 if smoke else 0, batch_size=16, optimizer=Adam(lr=5e-3),
        weights=None if smoke else FILE, weights_hash=None if smoke else HASH, learn=16 if smoke else 144,
        asked=16 if smoke else 56,
        protocol=Protocol(settings=grid(starts=FEW[1:], choices=upper, lrs=(0.1, 0.03), base=base), seeds=1,
                          random=1), untrained=1 if smoke else 2,
    )  # fmt: skip


def digit_pairs(size: Size, members: int) -> AlongTrainingRun:
    """Pairs of digits of which the second is redundant (setting A); members start from weights of different size, which
    makes what they do on unseen pairs differ."""
    short = size.toy_steps < 100
    base = MaskSettings(epochs=size.epochs, penalty=0.5, optimizer=Adam(lr=0.02))
    settings = tuple(
        base.replace(choice=choice, penalty=penalty)
        for choice in (Choice(), Choice(names="hidden")) for penalty in (0.5, 2.0)
    )  # fmt: skip
    return AlongTrainingRun(
        task=DigitPairs(), model=PairCNN(shape=(1, 8, 16), convolutions=0), members=members,
        at=(0, 20) if short else (0, 40, 400), optimizer=Adam(lr=3e-3), learn=100 if short else 1000, asked=size.asked,
        init_scale=tuple(float(f"{scale:.4g}") for scale in np.geomspace(0.5, 12, members)),
        protocol=Protocol(settings=settings, chance=0.1, passing=0.7, seeds=1, random=0, shuffled=False),
    )  # fmt: skip


def encoder(width: int, heads: int, layers: int, masked_words: bool = False) -> WordEncoder:
    words = AGREEMENT.spoken
    return WordEncoder(words=len(words.words), longest=words.longest, width=width, heads=heads, layers=layers,
                       masked_words=masked_words)  # fmt: skip


SMALL_RESNET = OddOneOutNet(
    encoder=Panels(
        encoder=ResNet(shape=(3, 32, 32), channels=(8, 16, 32), blocks=1, norm="instance", hidden=(32,), outputs=16)
    )
)

FROM = {"bert": ("layers", r"layers\.[23]\.", r"layers\.3\."),
        "resnet": ("stem|stage|readout", r"stage_[34]|readout", "stage_4|readout")}  # fmt: skip
"""The layers that are masked: all, the upper half, the last ones."""
COMPRESSED = MaskSettings(epochs=9, batch_size=64, penalty=10.0)
"""Nine epochs instead of 90, with the temperature rising from 1 to 200 within them. The paper's penalty, .13 to .28 a
share of all weights, would leave half of them in every mask of so short a search."""
RATES = (1e-2, 1e-3)
"""A tenth of the steps: the paper's lower rate, 1e-4, would not move a weight past its threshold."""


def _paper(members: int | None) -> dict[str, Run]:
    """Language first, then contours; each run is one to fifteen minutes on an H200."""
    whole = grid(starts=STARTS, choices=tuple(Choice(names=n) for n in FROM["bert"]), lrs=RATES, base=COMPRESSED)
    few = grid(starts=FEW, choices=(Choice(names=FROM["bert"][0]),), lrs=RATES, base=COMPRESSED)
    searched = Protocol(settings=few, seeds=1, random=0, shuffled=False)
    two, three, five, bases = (min(members or most, most) for most in (2, 3, 5, 6))
    return {
        "bert-grid": bert(Protocol(settings=whole, seeds=2, random=1), 1, untrained=1),
        "bert-scratch": bert(searched, bases, untrained=three),
        "bert-slow": bert(searched, bases, lr=1e-4, steps=4000),
        "bert-pretrained": bert(searched, bases, pretrained=True),
        "resnet18-number-contact": number_contact(resnet(16, halve_first=True), three),
        "resnet18-inside-contact": inside_contact(five),
        "resnet18-narrow": number_contact(resnet(8, halve_first=True), five),
        "resnet18-wide": number_contact(resnet(32, halve_first=True), five),
        "resnet18-simclr": number_contact(resnet(16, halve_first=True), three, contrastive=True),
        "three-rules": three_rules(),
        "resnet50": fifty_layers(resnet_50(64, **FULL), two, steps=6000),
        "wide-resnet50": fifty_layers(wide_resnet_50(64, **FULL), two, steps=5000),
    }


def bert(
    protocol: Protocol, bases: int, untrained: int = 0, pretrained: bool = False, lr: float = 5e-4, steps: int = 600
) -> DissectionRun:
    """Agreement with an encoder of the size of BERT-small, over words of the grammar."""
    learning = Pretraining(
        task=MaskedWords(source=AGREEMENT), model=encoder(512, 8, 4, masked_words=True), steps=800, batch_size=128,
        optimizer=Adam(lr=2e-4),
    )  # fmt: skip
    return DissectionRun(
        task=OddOneOutTask(source=AGREEMENT, family=Family(both_broken=False), problems=9500, held_out=1000),
        model=OddOneOutNet(encoder=encoder(512, 8, 4)),
        bases=bases, steps=steps, batch_size=32, optimizer=Adam(lr=lr), pretraining=learning if pretrained else None,
        learn=2000, asked=300, free=False, protocol=protocol, untrained=untrained,
    )  # fmt: skip


UPPER = grid(starts=FEW, choices=tuple(Choice(names=n) for n in FROM["resnet"]), lrs=RATES[:1], base=COMPRESSED)
"""Masks over all layers and over two sets of upper layers, from two starts, at the higher rate."""
NUMBER_CONTACT = OddOneOutTask(source=Contours(side=64, obeyed=("number", "contact")), problems=10_000, held_out=500)


def resnet(width: int, halve_first: bool = False) -> OddOneOutNet:
    """18 layers without the first pooling, ``width`` channels in the first stage (ResNet-18 has 64)."""
    channels = (width, 2 * width, 4 * width, 8 * width)
    network = ResNet(
        shape=(3, 64, 64), channels=channels, blocks=2, norm="instance", hidden=channels[-1:], outputs=64,
        halve_first=halve_first,
    )  # fmt: skip
    return OddOneOutNet(encoder=Panels(encoder=network))


def number_contact(model: OddOneOutNet, bases: int, contrastive: bool = False) -> DissectionRun:
    """Number–contact at 64 pixels: both are learnt within 1500 steps."""
    views = Pretraining(
        task=TwoViews(source=NUMBER_CONTACT.source), model=Views(encoder=model.encoder), steps=600, batch_size=128,
        optimizer=Adam(lr=5e-4, schedule=Cosine(steps=600, floor=0.02)),
    )  # fmt: skip
    return DissectionRun(
        task=NUMBER_CONTACT, model=model, bases=bases, steps=1500, batch_size=32, optimizer=_cosine(1e-3, 1500),
        pretraining=views if contrastive else None, learn=1000, asked=300,
        protocol=Protocol(settings=UPPER, seeds=1, random=1, shuffled=False), untrained=0 if contrastive else 1,
    )  # fmt: skip


def inside_contact(bases: int) -> DissectionRun:
    """Inside–contact at 64 pixels, by networks that have learnt number–contact: from fresh weights contact is not
    learnt within 3000 steps. At a fifth of that rate they keep it."""
    model = resnet(16)
    before = Pretraining(task=NUMBER_CONTACT, model=model, steps=1500, batch_size=32, optimizer=_cosine(1e-3, 1500))
    return DissectionRun(
        task=OddOneOutTask(source=Contours(side=64), problems=10_000, held_out=500), model=model, bases=bases,
        steps=1500, batch_size=32, optimizer=_cosine(2e-4, 1500), pretraining=before, learn=1000, asked=300,
        protocol=Protocol(settings=UPPER, seeds=1, random=1, shuffled=False),
    )  # fmt: skip


def three_rules() -> DissectionRun:
    """All three rules at once, masks over all layers at both rates."""
    settings = grid(starts=FEW, choices=(Choice(names=FROM["resnet"][0]),), lrs=RATES, base=COMPRESSED)
    return DissectionRun(
        task=OddOneOutTask(
            source=Contours(side=64, obeyed=("inside", "contact", "number")), problems=6000, held_out=500
        ),
        model=resnet(16), bases=1, steps=3000, batch_size=32, optimizer=Adam(lr=2e-3), learn=1000, asked=300,
        protocol=Protocol(settings=settings, seeds=1, random=1, shuffled=False), untrained=1,
    )  # fmt: skip


FULL: dict[str, Any] = {"stem": "cifar", "halve_first": True}
"""Made for larger pictures, ResNet-50 reads these with its first convolution at full resolution."""


def fifty_layers(network: ResNet, bases: int, steps: int) -> DissectionRun:
    """Number–contact with a network of the authors' and their rate: the three sets of layers from one start."""
    return DissectionRun(
        task=NUMBER_CONTACT, model=OddOneOutNet(encoder=Panels(encoder=network)), bases=bases, steps=steps,
        batch_size=32, optimizer=_cosine(1e-3, steps), learn=1000, asked=300,
        protocol=Protocol(settings=UPPER[3:], seeds=1, random=1, shuffled=False),
    )  # fmt: skip


def _cosine(lr: float, steps: int) -> Adam:
    return Adam(lr=lr, schedule=Cosine(steps=steps))
