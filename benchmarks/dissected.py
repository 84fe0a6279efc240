"""What was planted: is what `dissect` says true? Networks whose parts are known, and ones in which nothing goes on.

    python benchmarks/dissected.py [--seeds 10] [--first 0] [--only "two copies"] [--out FILE.md]

Printed for each kind of network: how often each finding is given of a subroutine, and how many are right. What is
right is declared beside each kind below; that a rule is taken out must besides hold on 2000 new problems of each, with
a D_abl that lies by .1 below the mean of 20 new random masks of its size.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

import recombine as rc
from recombine.structure import Choice, Mask, MaskSettings, Protocol, ablated, accuracy, chosen, grid, subnetwork
from recombine.structure.evaluate import anywhere
from recombine.structure.wording import CLEAR, TAKEN_OUT

BASE = MaskSettings(epochs=10, batch_size=32)
ASKED, NEW = 500, 2000
Pair = tuple[Any, Tensor]


def protocol(choice: Choice = Choice()) -> Protocol:  # noqa: B008 - frozen
    return Protocol(
        settings=grid(starts=(0.0,), choices=(choice,), lrs=(0.03,), penalties=(0.2, 0.002), base=BASE),
        seeds=1,
        shuffled=False,
    )


def draw(count: int, turned: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Sixteen switches; A: the first two agree, B: the ninth and the tenth do."""
    x = (torch.randint(0, 2, (count, 16)) * 2 - 1).float()
    a, b = (x[:, 0] == x[:, 1]).long(), (x[:, 8] == x[:, 9]).long()
    return (x if turned is None else x @ turned), a, b


def layers(*widths: int) -> nn.Sequential:
    pairs = itertools.pairwise(widths)
    return nn.Sequential(*[part for pair in pairs for part in (nn.Linear(*pair), nn.ReLU())][:-1])


class Halves(nn.Module):
    """A network for each rule, on its own half of the switches; ``joined`` makes one answer of both."""

    def __init__(self, joined: Callable[[Tensor, Tensor], Tensor], out: int = 2) -> None:
        super().__init__()
        self.left, self.right, self.joined = layers(8, 16, out), layers(8, 16, out), joined

    def forward(self, x: Tensor) -> Tensor:
        return self.joined(self.left(x[:, :8]), self.right(x[:, 8:16]))


def four_classes(left: Tensor, right: Tensor) -> Tensor:
    return (left[:, :, None] + right[:, None, :]).flatten(1)


def both_true(left: Tensor, right: Tensor) -> Tensor:
    true = (left.sigmoid() * right.sigmoid()).clamp(1e-6, 1 - 1e-6)
    return torch.cat([(1 - true).log(), true.log()], 1)


class Asked(nn.Module):
    """A network of four classes, 2·A + B, that is asked for one of the two."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor, question: Tensor) -> Tensor:
        scores = self.network(x).unflatten(1, (2, 2))
        return torch.where(question[:, None] == 0, scores.logsumexp(2), scores.logsumexp(1))


class Shared(nn.Module):
    """One detector that answers either question: only what it is shown depends on the question."""

    def __init__(self) -> None:
        super().__init__()
        self.detector = layers(2, 16, 2)

    def forward(self, x: Tensor, question: Tensor) -> Tensor:
        return self.detector(torch.where(question[:, None] == 0, x[:, :2], x[:, 8:10]))


class Copies(nn.Module):
    """Everything twice."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = (Asked(layers(16, 32, 4)) for _ in range(2))

    def forward(self, x: Tensor, question: Tensor) -> Tensor:
        return self.one(x, question) + self.two(x, question)


VERBS, ADVERBS = torch.tensor([0, 1, 0, 1, 1, 0]), torch.tensor([0, 0, 1, 1])


def words(count: int) -> tuple[Tensor, Tensor, Tensor]:
    """A verb, an adverb and a direction without a say; one bit of the verb, one of the adverb."""
    x = torch.stack([torch.randint(0, n, (count,)) for n in (6, 4, 3)], 1)
    return x, VERBS[x[:, 0]], ADVERBS[x[:, 1]]


class Composer(nn.Module):
    """The verb's bit from its embedding by a head of its own, the adverb's by another."""

    def __init__(self) -> None:
        super().__init__()
        self.verbs, self.adverbs = nn.Embedding(6, 16), nn.Embedding(4, 16)
        self.one, self.two = nn.Linear(16, 2), nn.Linear(16, 2)

    def forward(self, x: Tensor) -> Tensor:
        return four_classes(self.one(self.verbs(x[:, 0])), self.two(self.adverbs(x[:, 1])))


class Memo(nn.Module):
    """A row of its own for every combination."""

    def __init__(self) -> None:
        super().__init__()
        self.rows, self.out = nn.Embedding(72, 16), nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.out(self.rows(x[:, 0] * 12 + x[:, 1] * 3 + x[:, 2]))
        return scores


def fit(network: nn.Module, batch: Callable[[], tuple[Any, Tensor]], steps: int, rate: float = 5e-3) -> nn.Module:
    optimizer = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], rate)
    for _ in range(steps):
        inputs, targets = batch()
        optimizer.zero_grad()
        functional.cross_entropy(network(*inputs), targets).backward()
        optimizer.step()
    return network.eval()


def of_classes(turned: Tensor | None = None) -> tuple[tuple[Tensor], Tensor]:
    x, a, b = draw(64, turned)
    return (x,), 2 * a + b


def of_questions() -> tuple[tuple[Tensor, Tensor], Tensor]:
    x, a, b = draw(64)
    question = torch.randint(0, 2, (64,))
    return (x, question), torch.where(question == 0, a, b)


def of_both() -> tuple[tuple[Tensor], Tensor]:
    x, a, b = draw(64)
    return (x,), a * b


def pairs(count: int) -> list[Pair]:
    """A pair per rule of a network of four classes: the other rule is held still."""
    (x, a, b), (u, c, d) = draw(4 * count), draw(4 * count)
    return [(x[b == 0][:count], 2 * a[b == 0][:count]), (u[c == 0][:count], d[c == 0][:count])]


def of_words() -> tuple[tuple[Tensor], Tensor]:
    x, a, b = words(128)
    return (x,), 2 * a + b


def word_pairs(count: int) -> list[Pair]:
    (x, a, b), (u, c, d) = words(4 * count), words(4 * count)
    return [(x[b == 0][:count], 2 * a[b == 0][:count]), (u[c == 0][:count], d[c == 0][:count])]


def questions(count: int, turned: Tensor | None = None) -> list[Pair]:
    (x, a, _), (u, _, d) = draw(count, turned), draw(count, turned)
    zero = torch.zeros(count, dtype=torch.long)
    return [((x, zero), a), ((u, zero + 1), d)]


def where_other_true(count: int) -> list[Pair]:
    (x, a, b), (u, c, d) = draw(4 * count), draw(4 * count)
    return [(x[b == 1][:count], a[b == 1][:count]), (u[c == 1][:count], d[c == 1][:count])]


def one_true(count: int) -> list[Pair]:
    """What only a network of one rule alone can answer."""
    (x, a, _), (u, _, d) = draw(count), draw(count)
    return [(x, a), (u, d)]


@dataclass
class Planted:
    network: nn.Module
    problems: Callable[[int], list[Pair]]
    right: tuple[str, ...]
    """Findings that are true of this network."""
    protocol: Protocol = field(default_factory=protocol)
    fresh: Callable[[], nn.Module] | None = None
    words: str = ""
    """What the verdict must also say."""
    learn: Callable[[int], list[Pair]] | None = None
    by_oracle: bool = False
    """Whether a rule can be taken out only where all of its half is a part."""


NOT_TAKEN_OUT = (
    "as random masks",
    "as untrained",
    "not needed",
    "all hurt",
    "others hurt",
    "not alone",
    "open",
    "no mask",
)
DOES_OTHERS = "does others too"
ANY = (*TAKEN_OUT, DOES_OTHERS, *NOT_TAKEN_OUT)
KINDS: dict[str, Callable[[], Planted]] = {}


def kind(name: str) -> Callable[[Callable[[], Planted]], Callable[[], Planted]]:
    def put(make: Callable[[], Planted]) -> Callable[[], Planted]:
        KINDS[name] = make
        return make

    return put


@kind("two halves, pairs of inputs and targets")
def halves_in_pairs() -> Planted:
    return Planted(fit(Halves(four_classes), of_classes, 500), pairs, TAKEN_OUT)


@kind("two halves, asked a question")
def halves_asked() -> Planted:
    halves = fit(Halves(four_classes), of_classes, 500)
    return Planted(Asked(halves), questions, TAKEN_OUT)


@kind("and of two halves")
def and_of_halves() -> Planted:
    """Of a product nothing may be left without one factor: a half is a part where all of it does its rule alone, and
    the other rule stays without it."""
    network = fit(Halves(both_true, 1), of_both, 900, 1e-2)
    return Planted(network, where_other_true, TAKEN_OUT, learn=one_true, by_oracle=True)


@kind("one shared detector")
def shared() -> Planted:
    return Planted(fit(Shared(), of_questions, 500), questions, NOT_TAKEN_OUT)


@kind("two copies, masks over one")
def copies() -> Planted:
    network = Copies()
    for part in (network.one, network.two):
        fit(part.network, of_classes, 500)
    return Planted(network, questions, ("not needed",), protocol(Choice(names="one")))


@kind("the same rule asked twice")
def twice() -> Planted:
    """Nothing tells the two subroutines apart."""
    network = fit(layers(16, 32, 4), of_classes, 500)
    return Planted(Asked(network), lambda count: [questions(count)[0], questions(count)[0]], NOT_TAKEN_OUT)


@kind("labels at random, known by heart")
def memoriser() -> Planted:
    """Halves of the rows are the two subroutines, and their problems all that there are."""
    x, y = torch.randn(2 * ASKED, 16), torch.randint(0, 2, (2 * ASKED,))
    network = fit(layers(16, 192, 2), lambda: ((x,), y), 500, 1e-2)
    halves = [(x[:ASKED], y[:ASKED]), (x[ASKED:], y[ASKED:])]
    return Planted(network, lambda count: halves, NOT_TAKEN_OUT)


@kind("random trunk, frozen; trained readout")
def frozen() -> Planted:
    """Switches are turned, so that no input is one rule's. A part may be found; that nobody trained it must be said."""
    turned = torch.linalg.qr(torch.randn(16, 16))[0]

    def build() -> nn.Module:
        network = layers(16, 1024, 4)
        network[0].requires_grad_(False)
        return Asked(network)

    network = build()
    fit(network.network, lambda: of_classes(turned), 700, 2e-3)
    return Planted(network, lambda count: questions(count, turned), ANY, protocol(Choice(names="network.0")), build,
                   "may never have been trained")  # fmt: skip


@kind("a head for each word, pairs")
def composer() -> Planted:
    return Planted(fit(Composer(), of_words, 500, 1e-2), word_pairs, TAKEN_OUT)


@kind("a row for each combination, pairs")
def memo() -> Planted:
    """Its weights for a class may come out; that they are a part for one rule is false."""
    return Planted(fit(Memo(), of_words, 500, 1e-2), word_pairs, (DOES_OTHERS, *NOT_TAKEN_OUT))


@kind("trained, pairs of inputs and targets")
def plain_in_pairs() -> Planted:
    return Planted(fit(layers(16, 64, 32, 4), of_classes, 500), pairs, ANY)


@kind("trained, asked a question")
def plain_asked() -> Planted:
    return Planted(Asked(fit(layers(16, 64, 32, 4), of_classes, 500)), questions, ANY)


@kind("untrained")
def untrained() -> Planted:
    return Planted(Asked(layers(16, 64, 32, 4)), questions, ("refused",))


def judged(make: Callable[[], Planted], seed: int) -> Iterator[tuple[str, bool]]:
    """Finding and whether it is right, of each subroutine of one network."""
    torch.manual_seed(seed)
    planted = make()
    try:
        result = rc.dissect(
            planted.network, *planted.problems(ASKED), names=("A", "B"), protocol=planted.protocol, seed=seed,
            learn=planted.learn and planted.learn(ASKED), fresh=planted.fresh, progress=lambda *told: None,
        )  # fmt: skip
    except rc.InputError as error:
        if "is not dissected at" not in str(error):
            raise
        yield "refused", "refused" in planted.right
        return
    new = planted.problems(NEW)
    for i, name in enumerate(("A", "B")):
        part = result.part(name)
        finding = part.finding if part is not None else "no mask"
        right = planted.right
        if planted.by_oracle and not _is_part(planted.network, i, planted.problems(NEW), planted.learn):
            right = NOT_TAKEN_OUT
        true = finding in right and (part is None or planted.words in result.verdict_of(name))
        yield (
            finding,
            true and (finding not in (*TAKEN_OUT, DOES_OTHERS) or _holds(planted.network, result.mask(name), new, i)),
        )


def _holds(network: nn.Module, mask: Any, new: list[Pair], own: int) -> bool:
    drawn = [_without(network, anywhere(mask, 100 + draw), new, own) for draw in range(20)]
    return _without(network, mask, new, own) < min(0, sum(drawn) / len(drawn)) - CLEAR


def _without(network: nn.Module, mask: Mask, problems: list[Pair], own: int) -> float:
    """D_abl."""
    found = [accuracy(ablated(network, mask), one, among=tuple(one[1].unique().tolist())) for one in problems]
    return max(found[own], 0.5) - max(found[1 - own], 0.5)


def _is_part(network: nn.Module, own: int, new: list[Pair], learn: Callable[[int], list[Pair]] | None) -> bool:
    """Whether all weights of a planted half do their rule alone, as a mask must, and are removed without the other."""
    half = ("left", "right")[own]
    mask = Mask({name: torch.full(weight.parameter.shape, name.startswith(half))
                 for name, weight in chosen(network, Choice()).items()})  # fmt: skip
    alone = accuracy(subnetwork(network, mask), (learn(NEW) if learn else new)[own])
    return alone > protocol().passing and _without(network, mask, new, own) < -CLEAR


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", help="one kind of network")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    lines = ["| network | right | found |", "|---|---:|---|"]
    print("\n".join(lines), flush=True)
    for name, make in KINDS.items():
        if given.only in (None, name):
            began = time.process_time()
            said = [one for seed in range(given.first, given.first + given.seeds) for one in judged(make, seed)]
            counts = collections.Counter(finding for finding, _ in said)
            found = ", ".join(f"{finding} {count}" for finding, count in counts.most_common())
            lines.append(f"| {name} | {sum(right for _, right in said)} of {len(said)} | {found} |")
            print(lines[-1], flush=True)
            print(f"{time.process_time() - began:.0f} s", file=sys.stderr)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
