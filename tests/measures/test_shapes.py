"""What several numbers stand for: classes, labels, chances or numbers; in both directions."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import recombine as rc
from recombine.errors import InputError
from recombine.measures import measure
from recombine.space import FactorSpace
from recombine.support import Explicit
from recombine.tasks import FixedTask, Task, cross_entropy
from recombine.tasks.coded import coded

SIDE, K = 6, 4
SPACE = FactorSpace.of(a=SIDE, b=SIDE)
CODES = torch.as_tensor(SPACE.grid().repeat(5, 0))
SEEN = (CODES[:, 0] + 2 * CODES[:, 1]) % 4 > 0
TRAIN = Explicit(SPACE, CODES[SEEN].unique(dim=0).numpy())
ROWS = torch.arange(len(CODES))[:, None].float()
LABEL = CODES.sum(1) % K
ONE = F.one_hot(LABEL, K).float()
BITS = torch.stack([CODES[:, 0] > 2, CODES[:, 1] > 2, CODES.sum(1) % 2 == 0], 1)


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def asked(targets, outputs, loss=None, **more):
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, targets, CODES, loss=loss)
    return measure(lambda rows: outputs[rows[:, 0].long()], task, **more)


def scores(label, high=4.0):
    """Scores of classes that are no numbers from 0 to 1."""
    return high * F.one_hot(label, K).float() - 2 + 0.5 * noise(len(label), K)


def elsewhere(right, wrong):
    """Right where training saw the combination."""
    return torch.where(SEEN.reshape(-1, *[1] * (right.dim() - 1)), right, wrong)


def own_cross_entropy(outputs, targets):
    return -(targets * outputs.log_softmax(-1)).sum(-1)


def own_binary(outputs, targets):
    return F.binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean(-1)


CLEAR = 0.7 * ONE + 0.3 * noise(len(CODES), K, seed=3).softmax(-1)
CLASSES = {
    "one-hot": (ONE, nn.CrossEntropyLoss(), "Targets are one-hot: judged"),
    "one-hot, no loss": (ONE, None, "Targets are one-hot: judged"),
    "one-hot, whole numbers": (ONE.long(), nn.CrossEntropyLoss(), "Targets are one-hot: judged"),
    "one-hot, true and false": (ONE.bool(), None, "Targets are one-hot: judged"),
    "one-hot, class by class": (ONE, nn.BCEWithLogitsLoss(), "Targets are one-hot: judged"),
    "one-hot, a loss of this package": (ONE, cross_entropy, "Targets are one-hot: judged"),
    "smoothed": (0.9 * ONE + 0.1 / K, nn.CrossEntropyLoss(), "one-hot (0.025, 0.925): judged"),
    "smoothed, no loss": (0.9 * ONE + 0.1 / K, None, "one-hot (0.025, 0.925): judged"),
    "minus one and one": (2 * ONE - 1, None, "one-hot (-1, 1): judged"),
    "chances": (CLEAR, nn.CrossEntropyLoss(), "one above a half in each row: judged"),
    "chances in two digits": ((100 * CLEAR).round() / 100, own_cross_entropy, "one above a half in each row: judged"),
}


@pytest.mark.parametrize("name", CLASSES)
def test_rows_that_stand_for_a_class_are_judged_by_it(name):
    targets, loss, told = CLASSES[name]
    right = asked(targets, scores(LABEL), loss)
    assert right.answers.kind == "class"
    assert right.verdict == "composes"
    assert right.seen.mean == right.unseen.mean == 0
    assert told in " ".join(right.notes)
    wrong = asked(targets, elsewhere(scores(LABEL), scores((LABEL + 1) % K)), loss)
    assert wrong.verdict == "fails"
    assert (wrong.seen.mean, wrong.unseen.mean) == (0, 1)


@pytest.mark.parametrize("loss", [nn.MSELoss(), None, lambda o, t: (o - t).square().mean(-1)])
@pytest.mark.parametrize("what", ["numbers", "shares", "shares of two", "near corners", "zeros and ones", "pictures"])
def test_numbers_stay_numbers(loss, what):
    """Also where they are not negative, sum to 1 or are 0 and 1, as long as outputs are such numbers."""
    y = noise(SIDE, 3, seed=1)[CODES[:, 0]] + noise(SIDE, 3, seed=2)[CODES[:, 1]]
    two = y[:, :1].sigmoid()
    line = torch.eye(8)[CODES[:, 1]][:, None].expand(-1, 8, -1)
    targets = {
        "numbers": y.abs(), "shares": y.softmax(-1), "shares of two": torch.cat([two, 1 - two], 1),
        "near corners": (6 * y).softmax(-1), "zeros and ones": BITS.float(), "pictures": line,
    }[what]  # fmt: skip
    outputs = targets + 0.05 * noise(*targets.shape)
    found = asked(targets, outputs, loss)
    assert found.answers.kind == "number"
    assert found.answers.target.shape[1] == targets[0].numel()
    assert found.unseen.mean < 0.2
    told = "judged as numbers, as no loss says" in " ".join(found.notes)
    assert told == (loss is None and what != "numbers")
    off = elsewhere(outputs, outputs + noise(*targets.shape, seed=5))
    assert asked(targets, off, loss).answers.kind == "number"


def test_chances_without_a_clear_class_are_compared_as_numbers():
    y = noise(SIDE, 3, seed=1)[CODES[:, 0]] + noise(SIDE, 3, seed=2)[CODES[:, 1]]
    shares = y.softmax(-1)
    for outputs, loss in ((y + 5, nn.CrossEntropyLoss()), (shares.log(), nn.KLDivLoss()), (shares.log(), None),
                          (shares, nn.CrossEntropyLoss())):  # fmt: skip
        found = asked(shares, outputs, loss)
        assert found.answers.kind == "number"
        assert found.verdict == "composes"
        assert found.unseen.mean < 1e-6
        assert "give targets.argmax(1)" in " ".join(found.notes)
    worse = asked(shares, elsewhere(y, y.flip(1)), nn.CrossEntropyLoss())
    assert worse.verdict == "fails"


LABELS = [nn.BCEWithLogitsLoss(), nn.MultiLabelSoftMarginLoss(), own_binary]


@pytest.mark.parametrize("loss", LABELS)
@pytest.mark.parametrize("whole", [False, True])
def test_labels_are_yes_or_no_and_each_is_judged_by_itself(loss, whole):
    if whole and loss is not LABELS[0]:
        loss = None
    targets = BITS.long() if whole else BITS.float()
    outputs = 6 * BITS.float() - 3 + 0.5 * noise(*BITS.shape)
    right = asked(targets, outputs, loss)
    assert right.answers.kind == "class"
    assert right.verdict == "composes"
    assert "Targets are 3 labels, yes where outputs are logits above 0" in " ".join(right.notes)
    off = outputs.clone()
    off[~SEEN, 1] *= -1
    wrong = asked(targets, off, loss)
    assert wrong.verdict == "fails"
    assert wrong.scores()["unseen"]["right one by one"] == pytest.approx(2 / 3)
    assert [o.verdict for o in wrong.outputs] == ["composes", "fails", "composes"]
    assert "output 2 fails (error 1.00 on unseen" in wrong.notes[1]
    assert "By itself output 2 fails; outputs 1 and 3 compose." in wrong.sentence()


def own_hinge(outputs, targets):
    return (1 - outputs * targets).clamp(min=0).mean(-1)


@pytest.mark.parametrize("loss", [own_hinge, nn.SoftMarginLoss()])
@pytest.mark.parametrize("whole", [True, False])
def test_labels_of_minus_one_and_one_are_yes_or_no_where_the_loss_is_one_of_scores(loss, whole):
    signs = 2 * BITS.long() - 1
    outputs = 4.0 * signs + noise(*signs.shape)
    right = asked(signs if whole else signs.float(), outputs, loss)
    assert (right.verdict, right.answers.kind, right.unseen.mean) == ("composes", "class", 0)
    assert any("Targets are 3 labels" in note for note in right.notes)
    assert asked(signs.float(), elsewhere(outputs, -outputs), loss).verdict == "fails"
    assert asked(signs.float(), signs + 0.01 * noise(*signs.shape), nn.MSELoss()).answers.kind == "number"


RATE = 0.3 * CODES.sum(1)


def own_log_squares(outputs, targets):
    return (outputs - (targets + 1e-6).log()).square().flatten(1).mean(1)


@pytest.mark.parametrize("loss", [nn.PoissonNLLLoss(), own_log_squares])
@pytest.mark.parametrize("several", [False, True])
def test_logarithms_of_rates_are_compared_as_rates(loss, several):
    rate = torch.stack([RATE, 2 - RATE], 1) if several else RATE[:, None]
    right = asked(rate.exp(), rate, loss)
    assert right.verdict == "composes"
    assert right.unseen.mean < 1e-9
    assert any("outputs are logarithms" in note for note in right.notes)
    assert asked(rate.exp(), elsewhere(rate, rate.flip(0)), loss).verdict == "fails"
    for other in (nn.PoissonNLLLoss(log_input=False), nn.MSELoss()):
        assert asked(rate.exp(), rate.exp(), other).unseen.mean < 1e-9


def own_cosine(outputs, targets):
    return 1 - F.cosine_similarity(outputs, targets, dim=-1)


def test_directions_are_compared_at_one_length():
    turns = torch.stack([CODES[:, 0] - 2.3, CODES[:, 1] - 2.4, CODES.sum(1) - 4.7], 1).float()
    longer = turns * (1 + CODES[:, :1])
    right = asked(turns, longer, own_cosine)
    assert right.verdict == "composes"
    assert right.unseen.mean < 1e-9
    assert any("directions alone" in note for note in right.notes)
    assert asked(turns, elsewhere(longer, -longer), own_cosine).verdict == "fails"
    assert asked(turns, longer, nn.MSELoss()).seen.mean > 0.1


def test_pictures_of_zeros_and_ones_are_compared_as_probabilities():
    pictures = torch.eye(8)[CODES[:, 0]][:, :, None] + torch.eye(8)[CODES[:, 1]][:, None] > 0
    logits = 8 * pictures.float() - 4
    for targets, outputs in ((pictures.float(), logits), (pictures.flatten(1).float(), logits.flatten(1))):
        found = asked(targets, outputs, nn.BCEWithLogitsLoss())
        assert found.answers.kind == "number"
        assert found.unseen.mean < 0.01
        assert "taken as logits" in " ".join(found.notes)
    soft = torch.linspace(0.1, 0.9, SIDE)[CODES[:, :1]]
    assert asked(soft, soft.logit(), nn.BCEWithLogitsLoss()).unseen.mean < 1e-6


def test_what_looks_like_scores_is_refused_where_no_loss_says_so():
    shares = (noise(SIDE, 3, seed=1)[CODES[:, 0]]).softmax(-1)
    tokens = F.one_hot(torch.stack([LABEL, CODES[:, 0] % K], 1), K).float()
    given = [(BITS.float(), 8 * BITS - 4), (shares, 9 * shares - 4), (BITS[:, 0].float(), 8.0 * BITS[:, 0] - 4),
             (tokens, 6 * tokens - 2)]  # fmt: skip
    for targets, outputs in given:
        with pytest.raises(InputError, match=r"look like scores.*BCEWithLogitsLoss"):
            asked(targets, outputs.float())
        assert asked(targets, outputs.float(), nn.MSELoss()).answers.kind == "number"
    with pytest.raises(InputError, match="several ones in a row"):
        asked(BITS.float(), noise(*BITS.shape), nn.CrossEntropyLoss())
    chances = {"n": lambda rows: CLEAR.log()[rows[:, 0].long()]}
    with pytest.raises(InputError, match="'n' are judged as classes and those of the model as numbers"):
        asked(CLEAR, CLEAR, against=chances)


@pytest.mark.parametrize("classes", [K, 3])
def test_classes_of_a_sequence_are_found_before_and_after_its_places(classes):
    """Also where there are as many places as classes, so that shapes do not tell."""
    right = torch.stack([CODES[:, 0], CODES[:, 1], CODES.sum(1)], 1) % classes
    scored = 5 * F.one_hot(right, classes).float() - 1
    off = scored.clone()
    off[~SEEN, 2] *= -1
    last = lambda o, t: F.cross_entropy(o.movedim(-1, 1), t, reduction="none").mean(-1)  # noqa: E731
    one_hot = F.one_hot(right, classes).float()
    given = [
        (right, scored, last, off),
        (right, scored.mT, nn.CrossEntropyLoss(), off.mT),
        (one_hot, scored, lambda o, t: own_cross_entropy(o, t).mean(-1), off),
        (one_hot.mT, scored.mT, nn.CrossEntropyLoss(), off.mT),
    ]
    for targets, outputs, loss, wrong in given:
        found = asked(targets, outputs, loss)
        assert found.answers.kind == "class"
        assert found.verdict == "composes"
        assert "sequences of 3" in " ".join(found.notes)
        failing = asked(targets, wrong, loss)
        assert (failing.seen.mean, failing.unseen.mean) == (0, 1)
        assert failing.scores()["unseen"]["right one by one"] == pytest.approx(2 / 3)


def test_chances_that_a_model_gives_are_no_logits():
    chances = scores(LABEL, 9.0).softmax(-1)
    for targets, loss in ((LABEL, nn.CrossEntropyLoss()), (ONE, None)):
        found = asked(targets, chances, loss)
        assert found.scores()["unseen"]["confidence"] > 0.95
        assert "less sure than right" not in " ".join(found.notes)
    hard = asked(ONE, ONE, nn.MSELoss())
    assert "log loss" not in hard.scores()["unseen"]


class Angles(Task):
    """A task that draws its answers: the first of them look like one-hot rows."""

    space, train, test = SPACE, TRAIN, ~TRAIN

    def examples(self, points, draws):
        angle = points[..., 0] * torch.pi / 2
        return points.float(), torch.stack([angle.cos(), angle.sin()], -1).round()

    def losses(self, outputs, targets):
        return (outputs - targets).square().mean(-1)


def test_the_first_answers_of_a_task_that_draws_them_decide_nothing():
    task = Angles()
    found = measure(lambda x: task.examples(x, None)[1], task, batch_size=16)
    assert found.answers.kind == "number"
    assert found.verdict == "composes"


def test_networks_are_trained_on_whole_one_hot_rows():
    inputs = torch.cat([F.one_hot(CODES[:, 0], SIDE), F.one_hot(CODES[:, 1], SIDE)], 1).float()
    for rows in (F.one_hot(CODES[:, 0], SIDE), F.one_hot(CODES[:, 0], SIDE).float()):
        task = FixedTask(SPACE, TRAIN, ~TRAIN, inputs, rows, CODES, loss=nn.CrossEntropyLoss())
        ensemble = rc.train(lambda: nn.Linear(2 * SIDE, SIDE), task, members=2, steps=60, optimizer=rc.Adam(0.1))
        assert measure(ensemble, task).unseen.mean == 0
    task = FixedTask(SPACE, TRAIN, ~TRAIN, inputs, rows, CODES, loss=cross_entropy)
    with pytest.raises(InputError, match=r"torch\.nn\.CrossEntropyLoss"):
        rc.train(lambda: nn.Linear(2 * SIDE, SIDE), task, steps=1)


def test_a_table_has_one_column_for_the_answer():
    table = pl.DataFrame({"a": CODES[:, 0].numpy(), "b": CODES[:, 1].numpy(), "part": np.where(SEEN, "train", "test"),
                          "p": LABEL.numpy(), **{f"t{k}": ONE[:, k].numpy() for k in range(K)}})  # fmt: skip

    class Rows:
        classes_ = (np.arange(2), np.arange(2))
        feature_names_in_ = ("a", "b")

        def predict(self, rows):
            return np.zeros((len(rows), 2))

        predict_proba = predict

    for target in ("t0,t1,t2,t3", ["t0", "t1"]):
        for ask in (
            lambda target: rc.measure_predictions(table, ["a", "b"], target=target, prediction="p", split="part=test"),
            lambda target: rc.measure(Rows(), table, factors=["a", "b"], target=target, split="part=test"),
            lambda target: rc.check(table, ["a", "b"], target=target),
        ):
            with pytest.raises(InputError, match=r"the target is one column, and 't0', 't1'.*a task \(rc.FixedTask\)"):
                ask(target)

    with pytest.raises(InputError, match="several answers for a row"):
        rc.measure(Rows(), table, factors=["a", "b"], target="p", split="part=test")
    with pytest.raises(InputError, match="rows of several answers"):
        measure(Rows(), FixedTask(SPACE, TRAIN, ~TRAIN, ROWS, ONE, CODES))


def test_coded_rows():
    assert coded(ONE)
    assert coded(3 - 0.5 * (1 - ONE))
    assert not coded(BITS.float())
    assert not coded(ONE + 0.01 * noise(*ONE.shape))
    assert not coded(torch.ones(3, 3))
    assert not coded(torch.tensor([[0.9, 0.1], [0.2, 0.8]]))
