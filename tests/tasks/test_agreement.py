"""Sentences: the grammars' counts, what breaks what, and that no sentence is in two splits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.measures import per_combination
from recombine.models import OddOneOutNet, WordEncoder
from recombine.tasks import Draws
from recombine.tasks.odd_one_out import (
    Family,
    MaskedWords,
    OddOneOutTask,
    Sentences,
    build,
)
from recombine.tasks.odd_one_out.agreement import agreement, anaphora
from recombine.tasks.odd_one_out.grammar import CLASS, MASK, PAD
from recombine.tasks.odd_one_out.masked_words import BLANK
from recombine.training import Adam, train


def sentences(source: Sentences) -> list[str]:
    return source.spoken.texts(source.spoken.tokens(torch.as_tensor(source.spoken.codes)))


def test_the_grammars_have_as_many_sentences_as_their_lists_make_and_none_twice() -> None:
    nouns = 10 * 7 + 9 * 7
    frames = nouns + nouns * 6 * 20 + 2 * nouns * 4 * 20 + 70 * 4 * 20
    assert len(agreement().codes) == 4 * frames == 171_892
    # Singular pronouns have two genders, plural ones none.
    assert len(anaphora().codes) == 2 * 3 * (70 + 2 * 70 * 4 * 20) == 67_620
    said = sentences(Sentences(grammar="anaphora"))
    assert len(set(said)) == len(said)
    small = Sentences(structures=("simple", "subject relative"))
    rows = small.spoken.tokens(torch.as_tensor(small.table._codes))
    assert len(rows.unique(dim=0)) == len(rows) == 4 * (nouns + 70 * 80)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (("simple", "baker", "laughs", "near", "dancer", "singular", "plural", "singular"), "the bakers laughs"),
        (
            ("preposition", "road", "is old", "below", "poet", "plural", "singular", "singular"),
            "the road below the poets is old",
        ),
        (
            ("object relative", "actor", "has a plan", "like", "cook", "plural", "singular", "plural"),
            "the actor that the cooks like have a plan",
        ),
        (
            ("object relative, bare", "actor", "waits", "know", "cook", "singular", "plural", "plural"),
            "the actors the cook knows wait",
        ),
        (
            ("subject relative", "actor", "waits", "know", "cook", "singular", "plural", "singular"),
            "the actors that know the cook waits",
        ),
    ],
)
def test_sentences_are_said_as_a_person_would(row: tuple[str, ...], text: str) -> None:
    grammar = agreement()
    codes = grammar.space.encode([dict(zip(grammar.space.names, row, strict=True))])
    tokens = grammar.tokens(torch.as_tensor(codes))
    assert grammar.texts(tokens) == [text]
    numbers = [grammar.words.index(word) for word in text.split()]
    assert tokens[0, 1:].tolist() == numbers + [PAD] * (grammar.longest - 1 - len(numbers))
    assert tokens[0, 0] == CLASS
    assert tokens[0, -1] in (PAD, *range(4, len(grammar.words)))


@pytest.mark.parametrize("grammar", ["agreement", "anaphora"])
@pytest.mark.parametrize("number", ["singular", "plural"])
def test_items_keep_what_they_are_said_to(grammar: str, number: str) -> None:
    source = Sentences(grammar=grammar, number=number)  # type: ignore[arg-type]
    problems = build(source, Family(), 300)
    wanted = ("singular", "plural").index(number)
    for place, factor in enumerate(source.spoken.numbers.values()):
        column = source.columns.index(factor)
        assert torch.equal(problems.codes[..., place] == 1, problems.codes[..., column] == wanted)
    said = source.spoken.texts(problems.inputs)
    if grammar == "anaphora":
        plural = torch.tensor([s.endswith("themselves") for s in said]).reshape(300, 4)
        assert torch.equal(problems.codes[..., 1] == 1, plural == (number == "plural"))
    structures = problems.codes[..., source.columns.index("structure")].flatten().bincount() / 1200
    assert (structures - 1 / len(structures)).abs().max() < 0.06


@pytest.mark.parametrize("grammar", ["agreement", "anaphora"])
def test_no_sentence_is_in_two_splits_nor_in_mask_training_and_partition_tests(grammar: str) -> None:
    source = Sentences(grammar=grammar)  # type: ignore[arg-type]
    families = [Family(), *(Family(asks=a, of=r) for a in ("subroutine", "partition") for r in source.rules)]  # type: ignore[arg-type]
    sets = {
        split: [build(source, family, 400, split=split) for family in families]
        for split in ("train", "validation", "test")
    }
    for one, other in itertools.combinations(sets, 2):
        assert [len(a.distinct & b.distinct) for a in sets[one] for b in sets[other]] == [0] * len(families) ** 2
    frames = [source.columns.index(name) for name in source.spoken.frame]
    shown = {
        split: {tuple(r) for p in some for r in p.codes[..., frames].flatten(0, 1).tolist()}
        for split, some in sets.items()
    }
    assert not shown["train"] & shown["test"]
    assert not shown["train"] & shown["validation"]
    # With other seeds too: a sentence's split is its own.
    assert not sets["train"][0].distinct & build(source, Family(), 400, split="test", seed=7).distinct


def test_the_paper_s_language_families_are_an_option() -> None:
    source = Sentences()
    odd = build(source, Family(both_broken=False), 400).odd
    assert (odd.sum(1) == 1).all()
    mask = build(source, Family(asks="subroutine", of="subject", free=False), 400)
    assert (mask.odd == torch.tensor([0, 1])).all()
    assert (build(source, Family(), 400).odd.sum(1) == 0).double().mean() == pytest.approx(1 / 3, abs=0.1)


def test_masked_words_ask_for_words_that_were_there() -> None:
    source = Sentences(grammar="anaphora")
    task = MaskedWords(source=source)
    shown, asked = task.batch(Draws.of([0, 1], range(8), seed=0), 64)
    assert shown.shape == asked.shape == (8, 2, 64, source.spoken.longest)
    hidden = asked != BLANK
    assert hidden.any(-1).all()
    assert not (hidden & (shown == PAD)).any()
    original = torch.where(hidden, asked, shown)
    grammatical = source.spoken.tokens(torch.as_tensor(source.grammatical("train")))
    known = {tuple(row) for row in grammatical.tolist()}
    assert {tuple(row) for row in original.flatten(0, 2).tolist()} <= known
    share = (shown == MASK).sum() / hidden.sum()
    assert float(share) == pytest.approx(0.8, abs=0.05)
    assert float(hidden.sum() / (original > CLASS).sum()) == pytest.approx(0.19, abs=0.05)
    unseen, targets = task.examples(torch.zeros(30, 1, dtype=torch.int64), Draws.single(0))
    assert not {tuple(r) for r in torch.where(targets != BLANK, targets, unseen).tolist()} & known


def test_masked_words_score_and_loss_count_only_what_is_asked() -> None:
    task = MaskedWords()
    targets = torch.tensor([[BLANK, 5, BLANK, 7]])
    right = torch.full((1, 4, 10), -20.0)
    right[0, 1, 5] = right[0, 3, 7] = 20.0
    assert task.losses(right, targets).item() == pytest.approx(0, abs=1e-6)
    half = right.clone()
    half[0, 3] = 0.0
    assert task.losses(half, targets).item() == pytest.approx(np.log(10) / 2, abs=1e-5)
    assert task.scores(half, targets)["accuracy"].item() == 0.5


def test_a_small_encoder_learns_the_composition_and_asks_of_unseen_frames() -> None:
    source = Sentences()
    task = OddOneOutTask(source=source, problems=4000, held_out=600)
    # One layer and two heads: products of many small matrices are most of a step, and these learn it all the same.
    encoder = WordEncoder(words=len(source.spoken.words), layers=1, heads=2, longest=source.spoken.longest)
    ensemble = train(
        OddOneOutNet(encoder=encoder), task, steps=80, batch_size=32, optimizer=Adam(lr=3e-3),
        progress=lambda done, total: None, device="cpu",
    )  # fmt: skip
    by_kind = per_combination(ensemble, task, count=100)
    assert len(by_kind) == 3
    assert by_kind["accuracy"].min() > 0.9


def test_structures_that_do_not_exist_are_said() -> None:
    with pytest.raises(InputError, match="unknown structure 'simpel'; did you mean 'simple'"):
        Sentences(structures=("simpel",))
    with pytest.raises(InputError, match="no structure is left"):
        Sentences(structures=())
