"""Padding and rows without a label cost nothing by the loss: they are no wrong answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from recombine.errors import InputError
from recombine.measures import measure
from recombine.mechanisms.verdicts.outputs import unused_by_one
from recombine.space import FactorSpace
from recombine.support import Explicit
from recombine.tasks import FixedTask

SIDE, K, LONG = 5, 4, 3
SPACE = FactorSpace.of(a=SIDE, b=SIDE)
CODES = torch.as_tensor(SPACE.grid().repeat(10, 0))
SEEN = (CODES[:, 0] + 2 * CODES[:, 1]) % 5 > 1
TRAIN = Explicit(SPACE, CODES[SEEN].unique(dim=0).numpy())
ROWS = torch.arange(len(CODES))[:, None].float()
DRAW = torch.Generator().manual_seed(0)
PARTS = (torch.randint(K - 1, shape, generator=DRAW) for shape in ((SIDE, 1, LONG), (1, SIDE, LONG)))
WORDS = 1 + sum(PARTS) % (K - 1)
SAID = WORDS[CODES[:, 0], CODES[:, 1]]
BEYOND = torch.arange(LONG) >= torch.randint(1, LONG + 1, (len(CODES), 1), generator=DRAW)


def masked(outputs, targets):
    counts = targets >= 0
    each = F.cross_entropy(outputs, targets.clamp(min=0), reduction="none")
    return (each * counts).sum(1) / counts.sum(1)


def asked(targets, said, loss, classes=K):
    outputs = 8.0 * F.one_hot(said, classes).movedim(-1, 1).float()
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, targets, CODES, loss=loss)
    return measure(lambda rows: outputs[rows[:, 0].long()], task)


def elsewhere(said):
    """Another class at the first place, where training did not see the combination."""
    wrong = said.clone()
    first = wrong[:, 0] if said.dim() > 1 else wrong
    first[~SEEN] = 1 + first[~SEEN] % (K - 1)
    return wrong


PADDED = {
    "-100": (-100, nn.CrossEntropyLoss()),
    "a function": (-100, F.cross_entropy),
    "a label": (0, nn.CrossEntropyLoss(ignore_index=0)),
    "a label, each": (0, nn.CrossEntropyLoss(ignore_index=0, reduction="none")),
    "no class of the model": (255, nn.CrossEntropyLoss(ignore_index=255)),
    "an own loss": (-1, masked),
}


@pytest.mark.parametrize("name", PADDED)
def test_padding_is_left_out(name):
    pad, loss = PADDED[name]
    targets = torch.where(BEYOND, pad, SAID)
    noise = torch.where(BEYOND, torch.randint(K, SAID.shape, generator=torch.Generator().manual_seed(1)), SAID)
    right = asked(targets, noise, loss)
    assert right.verdict == "composes"
    assert (right.unseen.mean, right.seen.mean, *right.noise) == (0, 0, 0, 0)
    assert any(f"{int(BEYOND.sum()):,} of {BEYOND.numel():,} places" in note for note in right.notes)
    assert float(right.answers.scores["right one by one"].min()) == 1
    wrong = asked(targets, elsewhere(noise), loss)
    assert (wrong.verdict, wrong.unseen.mean, wrong.seen.mean) == ("fails", 1, 0)


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(), nn.NLLLoss(ignore_index=-100)])
def test_rows_without_a_label_are_left_out(loss):
    without = torch.rand(len(CODES), generator=torch.Generator().manual_seed(2)) < 0.3
    label = SAID[:, 0]
    targets = label.where(~without, -100)
    right = asked(targets, label, loss)
    assert right.verdict == "composes"
    assert right.answers.counts.sum() < len(CODES) - without.sum()  # Rows that were trained on are not asked.
    assert any(f"{int(without.sum())} of {len(CODES)} rows" in note for note in right.notes)
    assert asked(targets, elsewhere(label), loss).verdict == "fails"
    assert float(right.answers.scores["log loss"].max()) < 0.01


def test_without_a_label_in_training_nothing_can_be_said():
    with pytest.raises(InputError, match="no row that is trained on has a label"):
        asked(SAID[:, 0].where(~SEEN, -100), SAID[:, 0], nn.CrossEntropyLoss())


def hardest(outputs, targets):
    """Of a batch the half that is farthest off counts."""
    each = F.cross_entropy(outputs, targets, reduction="none")
    return each * (each >= each.median())


@pytest.mark.parametrize("loss", [nn.CrossEntropyLoss(label_smoothing=0.1), nn.MultiMarginLoss(), hardest, None])
def test_where_no_loss_ignores_any_none_is_left_out(loss):
    found = asked(SAID[:, 0], SAID[:, 0], loss)
    assert found.verdict == "composes"
    assert not any("cost nothing" in note for note in found.notes)


def test_without_a_loss_targets_below_0_are_told():
    found = asked(torch.where(BEYOND, -100, SAID), SAID, None)
    assert any("below 0, which is no class" in note for note in found.notes)


def test_padding_hides_no_answers_that_were_drawn_anew():
    drawn = SAID[torch.randperm(len(SAID), generator=torch.Generator().manual_seed(3))]
    assert asked(torch.where(BEYOND, -100, drawn), SAID, nn.CrossEntropyLoss()).verdict not in ("composes", "partly")


GONE = torch.rand(len(CODES), 2, generator=torch.Generator().manual_seed(4)) < 0.3
SUMS = torch.randn(2, SIDE, 2, generator=DRAW)
SUMS = SUMS[0][CODES[:, 0]] + SUMS[1][CODES[:, 1]]
DEALT = torch.where(SEEN[:, None], SUMS, -2 * SUMS.roll(10, 0))
YES = (SUMS.median(0).values < SUMS).float()


def over_labels(loss, missing):
    def masked(outputs, targets):
        counts = ~missing(targets)
        each = loss(outputs, targets.where(counts, 0.0), reduction="none").where(counts, 0.0)
        return each.sum(1) / counts.sum(1).clamp(min=1)

    return masked


def several(targets, said, loss):
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, targets, CODES, loss=loss)
    return measure(lambda rows: said[rows[:, 0].long()], task)


BINARY = over_labels(F.binary_cross_entropy_with_logits, torch.isnan)


@pytest.mark.parametrize(
    ("mark", "loss"),
    [(torch.nan, nn.MSELoss()), (-999.0, over_labels(F.mse_loss, lambda y: y == -999))],
)
def test_numbers_that_are_missing_in_part_of_a_row_are_left_out(mark, loss):
    targets = SUMS.masked_fill(GONE, mark)
    right = several(targets, SUMS, loss)
    assert right.verdict == "composes"
    assert (right.unseen.mean, right.seen.mean, *right.noise) == (0, 0, 0, 0)
    assert any(f"{int((GONE & ~GONE.all(1, True)).sum())} of" in note for note in right.notes)
    alone = several(targets[:, :1], SUMS[:, :1], loss)
    assert right.outputs[0].verdict == alone.verdict
    assert several(targets, DEALT, loss).verdict == "fails"


def test_errors_are_means_over_the_labels_that_are_there():
    size = torch.tensor([0.1, 0.4])
    found = several(SUMS.masked_fill(GONE, torch.nan), SUMS + size, None)
    trained = FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, SUMS, CODES).trained_on
    spread = [SUMS[trained & ~GONE[:, i], i].var(correction=0) for i in range(2)]
    each = float((size**2 / torch.stack(spread)).mean())
    assert found.unseen.mean == pytest.approx(each / found.answers.scale, rel=1e-4)


def test_labels_that_are_missing_are_left_out():
    loss = over_labels(F.binary_cross_entropy_with_logits, lambda y: y < 0)
    targets, logits = YES.masked_fill(GONE, -1), 8 * YES - 4
    right = several(targets, logits, loss)
    assert (right.answers.kind, right.unseen.mean, right.seen.mean) == ("class", 0, 0)
    assert right.verdict in ("composes", "unclear")
    assert several(targets, logits.where(SEEN[:, None], -logits), loss).verdict == "fails"


def test_a_label_that_training_lacks_is_not_seen_by_itself():
    away = (CODES.sum(1) == 4) & SEEN
    trained = FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, SUMS, CODES).trained_on
    targets, said = SUMS.clone(), SUMS.clone()
    targets[away & trained, 1] = torch.nan
    said[away, 1] += 9
    found = several(targets, said, nn.MSELoss())
    assert (found.verdict, found.seen.mean) == ("composes", 0)
    assert [o.verdict for o in found.outputs].index("composes") == 0
    assert found.outputs[1].verdict != "composes"
    assert [o.seen.mean for o in found.outputs] == [0, 0]


AWAY = torch.tensor([False, True])


@pytest.mark.parametrize(
    ("labels", "where", "verdict"),
    [(True, SEEN, "not judged"), (False, ~SEEN, "nothing unseen"), (False, SEEN | ~SEEN, "not judged")],
)
def test_an_output_without_labels_is_told_and_the_other_is_judged(labels, where, verdict):
    targets, said, loss = (YES, 8 * YES - 4, BINARY) if labels else (SUMS, SUMS, nn.MSELoss())
    found = several(targets.masked_fill(where[:, None] & AWAY, torch.nan), said, loss)
    assert (found.output, found.verdict, found.unseen.mean) == (1, found.outputs[0].verdict, 0)
    assert found.verdict in ("composes", "unclear")
    assert found.outputs[1].verdict == verdict
    assert found.outputs[1].why.startswith("no label")
    told = "has no label on" if verdict == "nothing unseen" else "cannot be judged (no label in"
    assert f"output 2 {told}" in found.sentence()


def test_an_output_that_is_always_the_same_in_training_hides_no_other():
    found = several(
        torch.cat([SUMS, torch.ones(len(SUMS), 1)], 1), torch.cat([SUMS, torch.ones(len(SUMS), 1)], 1), None
    )
    assert [o.verdict for o in found.outputs] == ["composes", "composes", "not judged"]
    assert (found.verdict, found.outputs[2].why[:26]) == ("composes", "every training answer is t")


def test_where_no_output_has_labels_in_training_that_is_an_error():
    with pytest.raises(InputError, match="no row that is trained on has a label"):
        several(SUMS.masked_fill(SEEN[:, None], torch.nan), SUMS, None)


def test_the_whole_says_what_its_worst_output_says_where_most_combinations_lack_one():
    place = (CODES[:, 0] + 3 * CODES[:, 1]) % 5
    targets = SUMS.masked_fill(torch.stack([place < 2, (place > 1) & (place < 4)], 1), torch.nan)
    right = several(targets, SUMS, nn.MSELoss())
    assert (right.verdict, [o.verdict for o in right.outputs]) == ("composes", ["composes", "composes"])
    assert "both compose" in right.sentence()
    one = several(targets, torch.stack([SUMS[:, 0], DEALT[:, 1]], 1), nn.MSELoss())
    assert (one.verdict, one.output, [o.verdict for o in one.outputs]) == ("fails", 2, ["composes", "fails"])
    assert "output 2 fails; output 1 composes" in one.sentence()
    assert (one.unseen.mean, one.to_dict()["output"]) == (one.outputs[1].unseen.mean, 2)
    frame = one.outputs_frame()
    assert frame["verdict"].to_list() == ["composes", "fails"]
    row = frame.row(1, named=True)
    assert (row["gap"], row["mechanisms"]) == (one.gap.mean, "; ".join(one.mechanisms))
    drawn = SUMS[torch.randperm(len(SUMS), generator=torch.Generator().manual_seed(6))]
    nothing = several(targets, torch.stack([SUMS[:, 0], drawn[:, 1]], 1), nn.MSELoss())
    assert (nothing.verdict, nothing.output) == ("not fitted", 2)


def test_an_output_with_nothing_in_it_decides_nothing_and_one_that_is_not_fitted_does():
    rng = np.random.default_rng(3)
    yes = (SUMS.median(0).values < SUMS).float()
    drawn = torch.as_tensor(rng.random(len(yes)) < 0.6).float()
    by_chance, loss = torch.as_tensor(rng.random(len(yes)) < 0.5).float(), nn.BCEWithLogitsLoss()
    empty = several(torch.stack([drawn, yes[:, 1]], 1), 8 * torch.stack([drawn * 0 + 1, yes[:, 1]], 1) - 4, loss)
    assert [o.nothing for o in empty.outputs] == [True, False]
    assert empty.verdict == empty.outputs[1].verdict == "composes"
    assert "output 1 has hardly anything to learn" in empty.sentence()
    wrong = several(yes, 8 * torch.stack([by_chance, yes[:, 1]], 1) - 4, loss)
    assert [o.nothing for o in wrong.outputs] == [False, False]
    assert wrong.outputs[0].verdict == wrong.verdict == "not fitted"


def test_an_output_that_ignores_a_factor_is_named_and_its_notes_are_said_of_it():
    right = torch.cat([SUMS, SUMS + 9.0 * (CODES[:, 1:] == 3)], 1)
    said = right.clone()
    for level in range(SIDE):
        said[CODES[:, 0] == level, 3] = right[(CODES[:, 0] == level) & SEEN, 3].mean()
    noisy = right + 0.1 * torch.randn(right.shape, generator=torch.Generator().manual_seed(7))
    found = several(noisy, said, nn.MSELoss())
    b = SPACE.names[1]
    assert (found.output, [o.unused for o in found.outputs]) == (None, [(), (), (), (b,)])
    assert f"Answers of output 4 hardly vary with {b}." in found.sentence()
    assert f"vary with {b}" in found.outputs_frame()["why"][3]
    assert "Look first" not in found.sentence()
    assert not any("No answer" in note for note in found.notes)
    place = (CODES[:, 0] + 3 * CODES[:, 1]) % 5
    alone = several(noisy.masked_fill((place < 2)[:, None] & torch.tensor([True, False] * 2), torch.nan), said, None)
    assert alone.output == 4
    assert alone.sentence().startswith(f"Answers to seen combinations, too, hardly vary with {b} (")
    assert f"of output 4 hardly vary with {b}" not in alone.sentence()
    assert unused_by_one(found.outputs, [found]) == {b}
    assert not unused_by_one(found.outputs, [replace(found, level=((1, 2),))])


def test_adding_up_is_fitted_to_each_of_several_labels():
    yes = torch.stack([(CODES[:, 0] % 2), (CODES[:, 1] > 1), (CODES[:, 1] % 2)], 1).float()
    found = several(yes, 8 * yes - 4, BINARY)
    assert found.verdict == "composes"
    assert (found.comparison.adding.error.mean, found.comparison.adding.seen) == (0, 0)
    assert not any("knows a rule" in note for note in found.notes)
    assert "Recall" not in found.sentence()


def test_a_class_of_no_share_is_no_label_that_is_missing():
    shares = F.one_hot(SAID[:, 0], K).float()
    found = several(shares, (shares + 1e-6).log(), lambda o, t: -(t * o).sum(1))
    assert (found.answers.kind, found.unseen.mean) == ("class", 0)
    assert not any("cost nothing" in note for note in found.notes)


def test_a_whole_composes_in_part_where_one_of_its_numbers_does_not():
    right = torch.cat([SUMS, SUMS.roll(1, 1), 2 * SUMS[:, :1]], 1)
    noisy, said = right + 0.4 * torch.randn(right.shape, generator=torch.Generator().manual_seed(5)), right.clone()
    said[~SEEN, 4] += 1.4 * (CODES[~SEEN].sum(1) % 2 - 0.5)
    found = several(noisy, said, nn.MSELoss())
    assert (found.verdict, found.gap.mean < 0.05) == ("partly", True)
    assert "By itself output 5 fails" in found.sentence()
    assert several(noisy, right, nn.MSELoss()).verdict == "composes"
