"""The runs of the study with their labels, at three scales, the most important first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np

from recombine.models import OddOneOutNet, PairCNN, Panels, Perceptron, ResNet, Views, ViT, WordEncoder, resnet_50
from recombine.runs.training import Measured, TrainingRun
from recombine.structure import Choice, ContinuousSparsification, Geometric, MaskSettings, Protocol, grid
from recombine.studies.break_it_down.along_training import AlongTrainingRun
from recombine.studies.break_it_down.dissection import DissectionRun, Pretraining
from recombine.studies.break_it_down.planted import PlantedRun
from recombine.studies.faithful import Faithful
from recombine.studies.study import Scale, Setting
from recombine.tasks import Contours, DigitPairs, Family, MaskedWords, OddOneOutTask, Sentences, SignProducts, TwoViews
from recombine.tasks.two_factors import BumpsTask, SumsTask, TwoFactors
from recombine.training import Adam, AdamW, Cosine
from recombine.training.precision import Precision

STARTS, FEW = (-0.05, 0.0, 0.05, 0.1), (0.0, 0.1)
"""Where the weights of a mask start, in a whole search and in one of four settings."""
AGREEMENT = Sentences()
LANGUAGES = {"agreement": AGREEMENT, "agreement-plural": Sentences(number="plural"),
             "reflexives": Sentences(grammar="anaphora"),
             "reflexives-plural": Sentences(grammar="anaphora", number="plural")}  # fmt: skip
"""The paper's four rules of language, each about one number."""
SHORT = MaskSettings(batch_size=16, penalty=0.1, optimizer=Adam(lr=0.03), temperature=Geometric(per="step"))
"""For searches of a hundred steps: the temperature rises at every one."""
BERT_LAYERS = ("layers", r"layers\.[23]\.", r"layers\.3\.")
RESNET_LAYERS = ("stem|stage|readout", r"stage_[34]|readout", "stage_4|readout")
"""The layers that are masked: all, the upper half, the last ones."""
COMPRESSED = MaskSettings(epochs=9, batch_size=64, penalty=10.0)
"""Nine epochs instead of 90, with the temperature rising from 1 to 200 within them. The paper's penalty, .13 to .28 per
share of all weights, would leave half of them in every mask of so short a search."""
RATES = (1e-2, 1e-3)
"""A tenth of the steps: the paper's lower rate, 1e-4, would not move a weight past its threshold."""
AT_LENGTH = MaskSettings(penalty=1e-8, penalty_on="sum")
"""The paper's: 90 epochs in batches of 64, 1e-8 per weight; with its rates of 1e-2 and 1e-4 and all 9500 problems."""
UPPER = grid(starts=FEW, choices=tuple(Choice(names=n) for n in RESNET_LAYERS), lrs=RATES[:1], base=COMPRESSED)
PRUNING = MaskSettings(method=ContinuousSparsification(start=0.1), epochs=4, penalty=5.0, optimizer=Adam(lr=1e-2),
                       choice=Choice(names=RESNET_LAYERS[0]), temperature=Geometric(per="step"))  # fmt: skip
"""To a few percent of the weights, as the paper's 3 to 6: such a penalty left masks of untrained networks 3 %."""
MANY, CLOSELY = "digit pairs, many", "digit pairs, many, measured closely"
WHEN = (0, 10, 20, 40, 80, 160, 400)
PENALTIES = (5.0, 1.0, 0.2)
"""Down to the paper's: under the compressed searches' ten, most masks of untrained residual networks keep no weight."""
FRESH = tuple(one.replace(epochs=15, penalty=penalty) for penalty in PENALTIES for one in UPPER[3:])
BERT, RESNET, WIDE_RESNET = (4, 512), (50, 64), (50, 128)
"""Layers of the paper's networks, and how wide the first are."""
FILE = "studies/break_it_down/weights/inside_contact_32.safetensors"
HASH = "c8509bcb43b69d0c4587787838ef55b5a787499948e3c5ecf9f7c80e75e2c4eb"
"""The trained bases that come with the package; `bases` makes them."""


@dataclass(frozen=True)
class Size:
    """How much is trained at a scale."""

    bases: int
    toy_steps: int
    epochs: int
    members: int
    asked: int
    encoders: int
    """Bases of the small encoder; none where the networks are of the paper's size."""

    @property
    def short(self) -> bool:
        """A few steps: every table is there, and nothing is learnt."""
        return self.toy_steps < 100


SCALES: dict[Scale, Size] = {
    "smoke": Size(2, 32, 1, 4, 12, 2), "quick": Size(3, 700, 10, 20, 200, 4), "paper": Size(3, 1500, 20, 48, 500, 0),
}  # fmt: skip


def settings(size: Size, members: int | None) -> Mapping[str, Setting]:
    """What is known first (the toy, planted networks), then the paper's tasks, then what is new."""
    bases, encoders = (min(members, 3) if members else most for most in (size.bases, size.encoders))
    found = {"toy": toy(size, bases), "planted-positive": planted("positive", size, bases)}
    found |= {"planted-negative": planted("negative", size, bases)}
    if size.encoders:
        found |= {"agreement": small_agreement(size, encoders), "inside-contact": small_contours(size)}
    else:
        found |= _paper(members)
    found |= {"digit-pairs": digit_pairs(size, members or size.members)}
    if not size.encoders:
        found |= {"digit-pairs-alike": alike(size, members or 96), "digit-pairs-when": when(size, members or 24)}
        found |= many(size, members or 200)
        found |= {
            f"{name}-{called}-{search}": two_factors(f"{name}, {title}", task, search, members or most, seed)
            for called, title, most, seed in (("alike", "one size", 96, 0), ("many", "many", 400, 1))
            for name, task in (("sums", SumsTask), ("bumps", BumpsTask))
            for search in (0, 1)
        }
    labelled = {name: replace(s, labels={"bases_of": name, **s.labels}) for name, s in found.items()}
    return {name: _open(s) for name, s in labelled.items()} if size.short else labelled


def _open(setting: Setting) -> Setting:
    """With two settings and no gate, so that every table is there after a few steps."""
    run: Any = setting.run
    opened = run.protocol.replace(gate=0.0, passing=0.0, settings=run.protocol.settings[:2])
    return replace(setting, run=run.replace(protocol=opened))


def _paper(members: int | None) -> dict[str, Setting]:
    """Language first, then contours; each run is one to fifteen minutes on an H200."""
    layers = tuple(Choice(names=names) for names in BERT_LAYERS)
    whole = grid(starts=STARTS, choices=layers, lrs=RATES, base=COMPRESSED)
    papers, papers_seen = (grid(starts=STARTS, choices=tuple(Choice(names=names) for names in which), base=AT_LENGTH)
                           for which in (BERT_LAYERS, RESNET_LAYERS))  # fmt: skip
    few, all_layers = (grid(starts=FEW, choices=(Choice(names=layers[0]),), lrs=RATES, base=COMPRESSED)
                       for layers in (BERT_LAYERS, RESNET_LAYERS))  # fmt: skip
    searched = Protocol(settings=few, seeds=1, random=0, shuffled=False)
    two, three, five, six, ten = (min(members or most, most) for most in (2, 3, 5, 6, 10))
    number, inside, rules = (_contours(*which) for which in (("number",), ("inside",), ("inside", "number")))
    pair = number.replace(source=Contours(obeyed=("inside", "number")))
    fresh, narrow, middle, wide = _resnet(16), *(_resnet(width, halve_first=True) for width in (8, 16, 32))
    # Made for larger pictures, it reads these with its first convolution at full resolution.
    fifty, wide_fifty = (resnet_50(64, stem="cifar", halve_first=True, widen=widen) for widen in (1, 2))
    words, long = _words(AGREEMENT), 8000
    views, other_views = (Pretraining(
        task=TwoViews(source=task.source), model=Views(encoder=Panels(encoder=middle)), steps=600, batch_size=128,
        optimizer=Adam(lr=5e-4, schedule=Cosine(steps=600, floor=0.02))) for task in (number, pair))  # fmt: skip
    # From fresh weights contact is not learnt beside inside within 3000 steps; at a fifth of the rate it is kept.
    before = Pretraining(task=number, model=_panels(fresh), steps=1500, batch_size=32,
                         optimizer=Adam(lr=1e-3, schedule=Cosine(steps=1500)))  # fmt: skip
    return {
        "bert-grid": bert("4 × 512, whole grid", Protocol(settings=whole, seeds=2, random=1), 1, untrained=1,
                          bases_of="bert-scratch"),
        "bert-scratch": bert("4 × 512, from scratch", searched, six, untrained=three),
        "bert-slow": bert("4 × 512, low rate", searched, ten, lr=1e-4, steps=4000),
        "bert-long": bert("4 × 512, from scratch, longer", searched, five, steps=4000),
        "bert-pretrained": bert("4 × 512, pretrained", searched, six, words),
        "bert-slow-pretrained": bert("4 × 512, low rate, pretrained", searched, ten, words, lr=1e-4, steps=4000),
        **{f"{name}{ending}": bert(f"4 × 512, low rate{called}", searched, five, _words(rule) if ending else None,
                                   lr=1e-4, steps=4000, rule=name)
           for name, rule in LANGUAGES.items() if name != "agreement"
           for ending, called in (("", ""), ("-pretrained", ", pretrained"))},
        # Ten times the pretraining; and from scratch, as many more steps as the others' pretraining had.
        **{f"{name}-pretrained-long": bert("4 × 512, low rate, pretrained for longer", searched, five,
                                           _words(LANGUAGES[name]).replace(steps=long), lr=1e-4, steps=4000, rule=name,
                                           precision="tf32") for name in ("agreement", "agreement-plural")},
        # The same steps at the same rates, all of them of the task itself.
        "agreement-task-long": bert("4 × 512, low rate, the task for longer", searched, five, _task(AGREEMENT, long),
                                    lr=1e-4, steps=4000, precision="tf32"),
        "agreement-plural-more": bert("4 × 512, low rate, more steps", searched, five, lr=1e-4, steps=4800,
                                      rule="agreement-plural"),
        # One base per run, nine minutes of an H200: a run that is cut short goes on from the masks it has.
        **{f"faithful-{name}-{base}": bert(f"4 × 512, low rate{called}, the paper's search",
                                           searched.replace(settings=papers), 1, before_it, lr=1e-4, steps=4000,
                                           learn=9500, first=base, bases_of=bases_of,
                                           precision="tf32" if name == "longer" else None)
           for name, called, before_it, bases_of in (
               ("agreement", "", None, "bert-slow"), ("pretrained", ", pretrained", words, "bert-slow-pretrained"),
               # Not searched yet.
               ("longer", ", pretrained for longer", words.replace(steps=long), "agreement-pretrained-long"))
           for base in range(three)},
        "resnet18-number-contact": contours("18 layers", middle, number, three),
        # In half precision, since masks over all layers are most of the cost: nine minutes of an H200 each.
        **{f"faithful-contours-{base}": contours("18 layers, the paper's search", middle, number, 1, None, papers_seen,
                                                 untrained=0, learn=10_000, first=base, random=0, precision="tf32",
                                                 search_precision="bfloat16", bases_of="resnet18-number-contact")
           for base in range(three)},
        "resnet18-half": contours("18 layers, half precision", middle, number, three, untrained=0, random=0,
                                  search_precision="bfloat16", bases_of="resnet18-number-contact"),
        "resnet18-inside-contact": contours("18 layers", fresh, inside, five, before, lr=2e-4),
        "resnet18-untrained": contours("18 layers, lower penalties", middle, number, 0, None, FRESH, 0, falls=False,
                                       untrained=three, learn=2000),
        "resnet18-narrow": contours("18 layers, half as wide", narrow, number, five),
        "resnet18-wide": contours("18 layers, twice as wide", wide, number, five),
        "resnet18-simclr": contours("18 layers, contrastive", middle, number, three, views, untrained=0),
        "resnet18-inside-number": contours("18 layers", middle, pair, five, untrained=0),
        "resnet18-inside-number-wide": contours("18 layers, twice as wide", wide, pair, three, untrained=0),
        "resnet18-inside-number-simclr": contours("18 layers, contrastive", middle, pair, three, other_views,
                                                  untrained=0),
        "resnet18-pruned": contours("18 layers, pruned", middle, number, five, untrained=0, pruning=PRUNING),
        **{f"vit-{name}": vit(task, three) for name, task in (("number-contact", number), ("inside-number", pair))},
        "three-rules": contours("18 layers", fresh, rules, 1, None, all_layers, 3000, 2e-3, falls=False, paper=None),
        "resnet50": contours("ResNet-50", fifty, number, two, None, UPPER[3:], 6000, depth=50),
        "wide-resnet50": contours("Wide-ResNet-50", wide_fifty, number, two, None, UPPER[3:], 5000, depth=50,
                                  paper=WIDE_RESNET),
    }  # fmt: skip


def _setting(run: DissectionRun, task: str, called: str | None, depth: int, paper: tuple[int, int] | None,
             **bases_of: str) -> Setting:  # fmt: skip
    """A run labelled with what it is, most of which its description says. ``paper``: depth and width of the paper's
    network, where the paper has the task; its masks learn for 90 epochs in batches of 64."""
    network: Any = run.model.encoder  # type: ignore[attr-defined]
    network = getattr(network, "encoder", network)
    before: Any = run.pretraining
    width: Any = network.channels[0] * network.widen if network.kind == "resnet" else getattr(network, "width", None)
    labels = {
        "task": task, "called": called, "kind": network.kind, "depth": depth, "width": width,
        "pixels": getattr(run.task.source, "side", None), "rate": run.optimizer.lr,
        "pretraining": before.task.kind if before else "none",
        "random": run.protocol.random, "shuffled": run.protocol.shuffled, **bases_of,
    }  # fmt: skip
    if paper is None:
        return Setting(run, labels)
    problems = 10_000 if network.kind == "resnet" else run.task.problems
    search = run.protocol.settings[0]
    steps = search.epochs * ceil(run.learn / search.batch_size)

    def depth_times_width_squared(_: object) -> int:
        return int(depth * width**2)

    return Setting(run, labels, Faithful(
        steps=(lambda _: steps, 90 * ceil(problems / 64)),
        members=None if bases_of else ("bases" if run.bases else "untrained", 3),
        data=("learn", problems), size=(depth_times_width_squared, paper[0] * paper[1] ** 2),
    ))  # fmt: skip


def toy(size: Size, bases: int) -> Setting:
    """Two products of signs (24 numbers): what a search finds where the answer is clear."""
    search = MaskSettings(epochs=int(2.4 * size.epochs), batch_size=32, penalty=0.235, optimizer=Adam(lr=0.02))
    run = DissectionRun(
        task=OddOneOutTask(source=SignProducts(), problems=2048, held_out=300),
        model=OddOneOutNet(encoder=Perceptron(widths=(24, 128, 128, 32))),
        bases=bases, steps=size.toy_steps, optimizer=Adam(lr=2e-3), learn=64 if size.short else 768,
        asked=2 * size.asked, protocol=Protocol(settings=(search,), seeds=2, random=1), untrained=bases,
    )  # fmt: skip
    return _setting(run, "toy", None, 3, None)


def planted(sort: Literal["positive", "negative"], size: Size, bases: int) -> Setting:
    search = MaskSettings(epochs=2 * size.epochs, optimizer=Adam(lr=0.02))
    run = PlantedRun(
        planted=sort, network=OddOneOutNet(encoder=Perceptron(widths=(24 if sort == "positive" else 12, 16, 8))),
        bases=bases, steps=32 if size.short else 500, asked=size.asked,
        protocol=Protocol(settings=tuple(search.replace(penalty=penalty) for penalty in (0.1, 0.02, 0.004, 0.0)),
                          seeds=1, random=0, shuffled=False),
    )  # fmt: skip
    return Setting(run, {"task": "planted", "called": sort, "kind": "perceptron", "depth": 2})


def small_agreement(size: Size, bases: int) -> Setting:
    """Subject–verb agreement with an encoder of 2 layers of 16; four settings."""
    search = grid(starts=FEW, choices=(Choice(),), lrs=(0.03, 0.01), base=SHORT.replace(epochs=min(6, size.epochs)))
    run = DissectionRun(
        task=OddOneOutTask(source=AGREEMENT, family=Family(both_broken=False), problems=300 if size.short else 3000,
                           held_out=40 if size.short else 300),
        model=OddOneOutNet(encoder=_encoder(16, 2, 2)), bases=bases, steps=30 if size.short else 400, batch_size=32,
        optimizer=Adam(lr=5e-3), learn=32 if size.short else 256, asked=min(120, size.asked), free=False,
        untrained=1 if size.short else 2, protocol=Protocol(settings=search, seeds=1, random=1),
    )  # fmt: skip
    return _setting(run, "agreement", "2 × 16", 2, BERT)


def small_contours(size: Size) -> Setting:
    """Inside–contact at 32 pixels with a small ResNet, whose trained weights come with the package; four settings:
    two sets of upper layers, two rates. (A mask over the first layers would cost three times as much.)"""
    upper = tuple(Choice(names=names) for names in ("stage_3|readout", "stage_2|stage_3|readout"))
    search = grid(starts=FEW[1:], choices=upper, lrs=(0.1, 0.03), base=SHORT.replace(epochs=min(4, size.epochs)))
    smoke = size.short
    run = DissectionRun(
        task=OddOneOutTask(source=Contours(side=32), problems=32 if smoke else 8000, held_out=8 if smoke else 200),
        model=SMALL_RESNET, bases=1 if smoke else 2, steps=4 if smoke else 0, batch_size=16, optimizer=Adam(lr=5e-3),
        weights=None if smoke else FILE, weights_hash=None if smoke else HASH, learn=8 if smoke else 144,
        asked=4 if smoke else 56, protocol=Protocol(settings=search, seeds=1, random=1), untrained=1 if smoke else 2,
    )  # fmt: skip
    return _setting(run, "inside–contact", "7 layers, 32 pixels", 7, RESNET)


def digit_pairs(size: Size, members: int) -> Setting:
    """Pairs of digits of which the second is redundant (setting A); members start from weights of different size, which
    makes what they do on unseen pairs differ."""
    search = MaskSettings(epochs=size.epochs, optimizer=Adam(lr=0.02))
    scales = tuple(float(f"{scale:.4g}") for scale in np.geomspace(0.5, 12, members))
    run = AlongTrainingRun(
        task=DigitPairs(), model=PairCNN(shape=(1, 8, 16), convolutions=0), members=members,
        at=(0, 20) if size.short else (0, 40, 400), optimizer=Adam(lr=3e-3), learn=100 if size.short else 1000,
        asked=size.asked, init_scale=scales, protocol=Protocol(
            settings=tuple(search.replace(choice=choice, penalty=penalty)
                           for choice in (Choice(), Choice(names="hidden")) for penalty in (0.5, 2.0)),
            chance=0.1, passing=0.7, seeds=1, random=0, shuffled=False),
    )  # fmt: skip
    return Setting(run, {"task": "digit pairs", "init_scale": scales})


def alike(size: Size, members: int) -> Setting:
    """The same from weights of one size, where what members do on unseen pairs still differs."""
    run: Any = digit_pairs(size, members).run
    return Setting(run.replace(init_scale=8.0, at=run.at[-1:]), {"task": "digit pairs, one size", "init_scale": 8.0})


def when(size: Size, members: int) -> Setting:
    """The same looked at more often, to see when parts come."""
    run: Any = digit_pairs(size, members).run
    return Setting(run.replace(init_scale=8.0, at=WHEN), {"task": "digit pairs, when", "init_scale": 8.0})


def many(size: Size, members: int) -> dict[str, Setting]:
    """The same at their end with more members, of other seeds, so that what their start leaves over can be told; and as
    many that start alike, from weights of the size of `alike` and of an eighth of it. The same networks are trained
    again to be measured on twenty times as many images: noise in a rival would leave too much to what it is held to."""
    setting = digit_pairs(size, members)
    run: Any = setting.run
    asked = run.replace(seed=1, at=run.at[-1:])
    starts = {"many": setting.labels["init_scale"], "eight": 8.0, "one": 1.0}
    closely = asked.replace(asked=10_000, shown=10_000)
    return {
        f"digit-pairs-{name}{told}": Setting(how.replace(init_scale=of), {"task": task, "init_scale": of})
        for told, how, task in (("", asked, MANY), ("-closely", closely, CLOSELY))
        for name, of in starts.items()
    }


def two_factors(title: str, task: type[TwoFactors], search: int, members: int, seed: int) -> Setting:
    """The same question of networks that are told two factors exactly, in half of all combinations, and whose answers
    add up or multiply. Each is searched twice, in another order, so that what a search repeats of D_abl is known."""
    asked = task(offsets=(0, 1, 2, 4, 7))
    inputs, outputs = asked.numbers
    run = TrainingRun(
        task=asked, model=Perceptron(widths=(inputs, 48, 48, outputs)), members=members, steps=1000, batch_size=32,
        seed=seed, optimizer=AdamW(lr=4e-3, weight_decay=0.1, schedule=Cosine(steps=1000, floor=0.02)), measured=(
            Measured(measure="per_combination", arguments={"count": 1}),
            Measured(measure="modularity", arguments={"epochs": 25, "penalties": "5,20", "seed": search})),
    )  # fmt: skip
    return Setting(run, {"task": title, "search": search})


def bert(called: str, protocol: Protocol, bases: int, before: Pretraining | None = None, untrained: int = 0,
         lr: float = 5e-4, steps: int = 600, rule: str = "agreement", learn: int = 2000, first: int = 0,
         precision: Precision | None = None, **bases_of: str) -> Setting:  # fmt: skip
    """A rule with an encoder of the size of BERT-small, over words of its grammar; of reflexives there are fewer. Rules
    that came later are trained in TF32, as PyTorch rounded by default for the authors."""
    source = LANGUAGES[rule]
    problems, held_out = (9500, 1000) if source.grammar == "agreement" else (2500, 200)
    run = DissectionRun(
        task=OddOneOutTask(source=source, family=Family(both_broken=False), problems=problems, held_out=held_out),
        model=OddOneOutNet(encoder=_encoder(512, 8, 4, source)), bases=bases, first=first, steps=steps, batch_size=32,
        pretraining=before, optimizer=Adam(lr=lr), learn=learn, asked=300, free=False, protocol=protocol,
        untrained=untrained, precision=precision or ("float32" if rule == "agreement" else "tf32"),
    )  # fmt: skip
    return _setting(run, rule.replace("-", ", "), called, 4, BERT, **bases_of)


def contours(called: str, network: ResNet, task: OddOneOutTask, bases: int, before: Pretraining | None = None,
             search: tuple[MaskSettings, ...] = UPPER, steps: int = 1500, lr: float = 1e-3, falls: bool = True,
             untrained: int = 1, depth: int = 18, paper: tuple[int, int] | None = RESNET,
             learn: int = 1000, pruning: MaskSettings | None = None, first: int = 0, random: int = 1,
             precision: Precision = "float32", search_precision: Precision = "tf32",
             **bases_of: str) -> Setting:  # fmt: skip
    """Contours at 64 pixels: number and contact are learnt within 1500 steps."""
    run = DissectionRun(
        task=task, model=_panels(network), bases=bases, first=first, steps=steps, batch_size=32, pretraining=before,
        optimizer=Adam(lr=lr, schedule=Cosine(steps=steps)) if falls else Adam(lr=lr), asked=300, untrained=untrained,
        learn=learn, pruning=pruning, protocol=Protocol(settings=search, seeds=1, random=random, shuffled=False),
        precision=precision, search_precision=search_precision,
    )  # fmt: skip
    return _setting(run, "–".join(task.source.rules), called, depth, paper, **bases_of)


def vit(task: OddOneOutTask, bases: int) -> Setting:
    """The paper's transformer of 12 layers of 768 on as many patches, for the gate: what passes has one search."""
    model = ViT(shape=(3, 64, 64), dim=768, depth=12, heads=12, mlp=3072, dropout=0, outputs=128)
    search = COMPRESSED.replace(choice=Choice(names="blocks|readout"), optimizer=Adam(lr=1e-2))
    run = DissectionRun(
        task=task, model=OddOneOutNet(encoder=Panels(encoder=model)), bases=bases, steps=3000, batch_size=32,
        optimizer=Adam(lr=1e-4), learn=1000, precision="tf32", untrained=0,
        protocol=Protocol(settings=(search,), seeds=1, random=0, shuffled=False),
    )  # fmt: skip
    return _setting(run, "–".join(task.source.rules), "12 × 768, patches", 12, None)


def _contours(*beside: str) -> OddOneOutTask:
    """One rule and contact, or three; fewer problems of three."""
    obeyed = (beside[0], "contact", *beside[1:])
    return OddOneOutTask(source=Contours(obeyed=obeyed), problems=6000 if beside[1:] else 10_000, held_out=500)


def _words(source: Sentences) -> Pretraining:
    return Pretraining(task=MaskedWords(source=source), model=_encoder(512, 8, 4, source, masked_words=True), steps=800,
                       batch_size=128, optimizer=Adam(lr=2e-4))  # fmt: skip


def _task(source: Sentences, steps: int) -> Pretraining:
    """The odd one out at the rate of masked words, and as many sentences in a step."""
    task = OddOneOutTask(source=source, family=Family(both_broken=False), problems=9500, held_out=1000)
    return Pretraining(task=task, model=OddOneOutNet(encoder=_encoder(512, 8, 4, source)), steps=steps, batch_size=32,
                       optimizer=Adam(lr=2e-4))  # fmt: skip


def _encoder(
    width: int, heads: int, layers: int, source: Sentences = AGREEMENT, masked_words: bool = False
) -> WordEncoder:
    words = source.spoken
    return WordEncoder(words=len(words.words), longest=words.longest, width=width, heads=heads, layers=layers,
                       masked_words=masked_words)  # fmt: skip


def _resnet(width: int, halve_first: bool = False) -> ResNet:
    """18 layers without the first pooling, ``width`` channels in the first stage (ResNet-18 has 64)."""
    channels = (width, 2 * width, 4 * width, 8 * width)
    return ResNet(shape=(3, 64, 64), channels=channels, norm="instance", hidden=channels[-1:], outputs=64,
                  halve_first=halve_first)  # fmt: skip


def _panels(network: ResNet) -> OddOneOutNet:
    return OddOneOutNet(encoder=Panels(encoder=network))


SMALL_RESNET = _panels(
    ResNet(shape=(3, 32, 32), channels=(8, 16, 32), blocks=1, norm="instance", hidden=(32,), outputs=16)
)
