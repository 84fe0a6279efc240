"""`measure` on models whose answers are known: what is named, what is left out, and the model is left as it was."""

from __future__ import annotations

import types

import numpy as np
import pytest
import torch
from fixed_models import Sum, linear
from torch import nn

import recombine as rc
from recombine.errors import InputError
from recombine.measures import callback, measure
from recombine.measures.probes_of_model import superposed
from recombine.measures.readers import spreads
from recombine.space import FactorSpace
from recombine.statistics import Over
from recombine.support import Explicit, Region, leave_out
from recombine.tasks import Draws, FixedTask, Task, ToyTask, cross_entropy, squared_error

SIDE = 6
SPACE = FactorSpace.of(a=SIDE, b=SIDE)
CODES = torch.as_tensor(SPACE.grid())
SEEN = torch.rand(len(CODES), generator=torch.Generator().manual_seed(0)) > 0.4
TRAIN = Explicit(SPACE, CODES[SEEN].numpy())
ONE_HOT = nn.functional.one_hot(CODES, SIDE).float().flatten(1)


class Table(nn.Module):
    """Answers from a list, one row per combination; it has no parameters."""

    def __init__(self, rows: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        a, b = inputs[:, :SIDE].argmax(1), inputs[:, SIDE:].argmax(1)
        return self.rows[a * SIDE + b]


def sums(loss=cross_entropy, targets=None):
    targets = CODES.sum(1) if targets is None else targets
    return FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT, targets, CODES, loss=loss)


def scores(answers):
    return 5.0 * nn.functional.one_hot(answers, 2 * SIDE).float()


def test_a_perfect_table_composes():
    result = measure(Table(scores(CODES.sum(1))), sums())
    assert result.verdict == "composes"
    assert result.unseen.mean == 0
    assert any("One model has no members" in note for note in result.notes)


def test_a_table_that_reads_one_factor_is_a_shortcut():
    """In training b alone says the answer; elsewhere it does not, and is followed."""
    a, b = CODES.T
    seen = (a < 4) | (a == b)
    train = Explicit(SPACE, CODES[seen].numpy())
    right = torch.where(seen, b, (b + 1) % SIDE)
    task = FixedTask(SPACE, train, ~train, ONE_HOT, right, CODES, loss=cross_entropy)
    result = measure(Table(scores(b)), task, noise=0)
    assert result.verdict == "fails"
    assert result.mechanisms == ("shortcut by b",)
    assert "every factor changes the right answer" in result.left_out["redundant influence"]
    assert result.left_out["superposition"] == "the answers are classes, not pictures"


def test_what_was_not_fitted_is_said_first_and_nothing_else():
    result = measure(Table(torch.zeros(SIDE**2, 2 * SIDE)), sums())
    assert result.verdict == "not fitted"
    assert result.mechanisms == ()
    assert list(result.left_out) == ["mechanisms"]
    assert result.why in result.sentence()
    assert "where always giving the same answer costs" in result.why


def test_a_factor_that_should_not_matter_but_flips_the_answer_is_named():
    reads_both = nn.Sequential(nn.Linear(2, 2))
    with torch.no_grad():
        reads_both[0].weight.copy_(torch.tensor([[-1.0, 1.0], [1.0, -1.0]]))
        reads_both[0].bias.copy_(torch.tensor([0.0, 0.0]))
    result = measure(reads_both, ToyTask(), fitted=0.5)
    assert result.verdict == "fails"
    assert result.mechanisms == ("redundant influence of y2",)
    assert result.evidence[0].value.over == "examples"
    reads_one = linear([([[0.0, 0.0], [9.0, 0.0]], [0.0, 0.0])])
    assert measure(reads_one, ToyTask()).mechanisms == ()


def test_the_slope_of_a_leak_is_the_one_that_was_built_in():
    right = (CODES[:, :1].float() - 2.5) * 2 + CODES[:, 1:].float() - 2.5
    answers = torch.where(SEEN[:, None], right, 0.6 * right)
    result = measure(Table(answers), sums(squared_error, right))
    assert result.mechanisms == ("memorization leak",)
    assert result.evidence[0].value.mean == pytest.approx(0.6, abs=1e-6)


def test_pictures_that_are_sums_of_seen_ones_are_a_superposition():
    pictures = torch.einsum("xi,yj->xyij", torch.eye(SIDE), torch.eye(SIDE)).reshape(SIDE**2, SIDE, SIDE)
    row = torch.stack([pictures[SEEN & (CODES[:, 0] == a)].sum(0) for a in CODES[:, 0]])
    column = torch.stack([pictures[SEEN & (CODES[:, 1] == b)].sum(0) for b in CODES[:, 1]])
    answers = torch.where(SEEN[:, None, None], pictures, 0.3 * row + 0.3 * column)
    result = measure(Table(answers), sums(squared_error, pictures), noise=0)
    assert result.verdict == "fails"
    assert "superposition of seen answers" in result.mechanisms
    found = next(e for e in result.evidence if e.id == "superposition")
    assert found.value.mean == pytest.approx(1.0, abs=1e-6)
    assert found.chance == pytest.approx(0.0, abs=1e-6)


def test_members_give_the_interval_and_those_that_did_not_fit_are_set_aside():
    exact = ([[1.0, 2.0]], [0.0])
    broken = ([[float("nan"), 2.0]], [0.0])
    result = measure(linear([exact, exact, ([[1.0, 2.1]], [0.0]), ([[9.0, 9.0]], [0.0]), broken]), Sum())
    assert (result.diverged, result.unfitted, len(result.answers.members)) == (1, 1, 3)
    assert result.gap.over == "members"
    assert result.gap.count == 3
    aside = "1 of 5 members diverged and is left out. 1 of 5 members did not fit and is left out."
    assert aside in result.sentence()
    assert aside in result._repr_html_()


def test_diverged_members_alone_leave_nothing_to_say():
    result = measure(linear([([[float("nan"), 2.0]], [0.0])]), Sum())
    assert result.verdict == "not fitted"
    assert result.to_dict()["error"]["unseen"]["mean"] is None


def test_the_model_is_called_as_it_is_and_left_as_it_was():
    model = nn.Sequential(nn.Linear(2 * SIDE, 2 * SIDE), nn.Dropout(0.5), nn.BatchNorm1d(2 * SIDE))
    model[1].eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    measure(model, sums())
    assert model.training
    assert not model[1].training
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(p.requires_grad and p.grad is None for p in model.parameters())


def test_a_plain_function_is_a_model_too_and_a_class_is_not():
    table = Table(scores(CODES.sum(1)))
    assert measure(lambda x: table(x), sums()).verdict == "composes"
    with pytest.raises(InputError, match="a model is"):
        measure(Table, sums())


def test_networks_that_were_trained_apart_are_members():
    off = torch.where(SEEN, CODES.sum(1), (CODES.sum(1) + 1) % 9)
    right, wrong = Table(scores(CODES.sum(1))), Table(scores(off))
    wrong.train()
    result = measure([right, wrong, Table(scores(CODES.sum(1)))], sums())
    assert result.answers.members == (0, 1, 2)
    assert result.answers.error[:, result.answers.unseen].mean(1).tolist() == [0, 1, 0]
    assert wrong.training
    assert not any("One model has no members" in note for note in result.notes)
    assert measure(nn.ModuleList([right, wrong]), sums()).answers.members == (0, 1)
    assert any("One model has no members" in note for note in measure([right], sums()).notes)
    for odd, words in (([], "has nothing"), ([right, len], "builtin"), ([right, right], "the same network twice"),
                       ([right, Table(scores(CODES.sum(1)).double())], "networks 0 and 1 .* one architecture"),
                       ([nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh())], "one architecture")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            measure(odd, sums())


def test_members_that_agree_leave_as_much_open_as_one():
    one, three = (measure([Table(scores(CODES.sum(1))) for _ in range(count)], sums()) for count in (1, 3))
    assert three.unseen.mean == 0
    assert three.unseen.high == pytest.approx(one.unseen.high)
    assert three.unseen.high > 0.1
    assert three.gap.high == pytest.approx(one.gap.high)


def test_named_inputs_go_by_keyword_and_what_does_not_take_them_is_said():
    table = Table(scores(CODES[:, 0]))
    named = {"right": ONE_HOT[:, SIDE:], "left": ONE_HOT[:, :SIDE]}
    task = FixedTask(SPACE, TRAIN, ~TRAIN, named, CODES[:, 0], CODES, loss=cross_entropy)

    def by_name(left, right):
        return table(torch.cat([left, right], 1))

    for model in (by_name, lambda **parts: by_name(**parts), lambda *parts: by_name(parts[1], parts[0]),
                  lambda one, two: by_name(two, one)):  # fmt: skip
        assert measure(model, task).unseen.mean == 0
    with pytest.raises(InputError, match=r"right \(\d+, 6\) .* takes 1 positional .* by keyword, those of a tuple one"):
        measure(lambda batch: table(batch), task)
    with pytest.raises(InputError, match=r"inputs are named right, left and .* the model takes left, other: call both"):
        measure(lambda left, other: table(left), task)


def test_outputs_for_fewer_classes_than_there_are_is_said():
    with pytest.raises(InputError, match="has 9 outputs, and answers go from 0 to 10, so 2 classes can never be said"):
        measure(Table(scores(CODES.sum(1))[:, :9]), sums())


def test_answers_that_are_levels_are_called_by_their_names():
    space = FactorSpace.of(animal=["cow", "pig", "owl"], place=["farm", "wood", "town"])
    codes = torch.as_tensor(space.grid()).repeat(4, 1)
    train = Explicit(space, [(i, (i + k) % 3) for i in range(3) for k in (0, 1)])
    task = FixedTask(space, train, ~train, codes.float(), codes[:, 0], codes, loss=cross_entropy)
    result = measure(lambda x: nn.functional.one_hot(x[:, 0].long(), 3).float(), task)
    assert {row["prediction"] for row in result.worst} == {"cow", "pig", "owl"}
    assert "recall of cow" in result.scores()["unseen"]


def test_sequences_are_right_only_as_a_whole():
    targets = torch.stack([CODES[:, 0], CODES[:, 1]], dim=1)
    answers = torch.where(SEEN[:, None], targets, torch.stack([CODES[:, 0], (CODES[:, 1] + 1) % SIDE], dim=1))
    result = measure(
        Table(nn.functional.one_hot(answers, SIDE).float()),
        sums(lambda o, t: (o.argmax(-1) != t).float().mean(-1), targets),
    )
    assert result.seen.mean == 0
    assert result.unseen.mean == 1


def test_very_many_answers_are_counted_right_or_wrong_and_no_rule_is_looked_for():
    space = FactorSpace.of(a=20, b=15)
    codes = torch.as_tensor(space.grid())
    train = Explicit(space, codes[::2].numpy())
    place = torch.arange(len(codes))
    task = FixedTask(space, train, ~train, place[:, None].float(), place, codes, loss=cross_entropy)
    result = measure(lambda x: nn.functional.one_hot(x[:, 0].long() // 2 * 2, len(codes)).float(), task)
    assert (result.seen.mean, result.unseen.mean) == (0, 1)
    assert "300 different answers" in result.left_out["rules"]
    assert result.worst[0]["prediction"] is None


def test_a_model_that_gives_no_tensor_is_told_what_to_do():
    with pytest.raises(InputError, match=r"lambda x: model\(x\)\['"):
        measure(lambda x: {"logits": x}, sums())


class Line(Task):
    """y = x over a continuous factor; trained below one half."""

    space = FactorSpace((rc.continuous("x"),))
    train = Region(space, {"box": {"x": [0.0, 0.5]}})
    test = Region(space, {"box": {"x": [0.5, 1.0]}})

    def examples(self, points: torch.Tensor, draws: Draws) -> tuple[torch.Tensor, torch.Tensor]:
        return points.float(), points.float()

    def losses(self, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return squared_error(outputs, targets)


def test_continuous_factors_are_sampled_and_have_a_page():
    result = measure(lambda x: x.clamp(max=0.5), Line(), combinations=50)
    assert result.verdict == "fails"
    assert "continuous" in result.left_out["rules"]
    assert "continuous" in result._repr_html_()


def test_combinations_without_examples_are_left_out_and_said():
    keep = torch.ones(len(CODES), dtype=torch.bool)
    keep[int((~SEEN).nonzero()[0])] = False
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT[keep], CODES.sum(1)[keep], CODES[keep], loss=cross_entropy)
    result = measure(Table(scores(CODES.sum(1))), task)
    assert "1 unseen combination has no example and was left out." in result.notes
    few = measure(Table(scores(CODES.sum(1))), sums(), combinations=5)
    assert len(few.answers.codes) == 10


def test_answers_that_cannot_be_compared_are_an_error_that_says_what_to_do():
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT, CODES.float(), CODES, loss=lambda o, t: o.sum(-1))
    with pytest.raises(InputError, match="score called 'accuracy'"):
        measure(Table(scores(CODES.sum(1))), task)
    with pytest.raises(InputError, match="from 1 on"):
        measure(Table(scores(CODES.sum(1))), sums(), count=0)


def test_a_trained_ensemble_of_own_data():
    space = FactorSpace.of(position=["left", "right"], brightness=["dim", "bright"])
    train = leave_out(space, {"position": "right", "brightness": "dim"})
    codes = torch.as_tensor(space.sample(400, seed=0))
    inputs = 0.2 * torch.randn(400, 2, generator=torch.Generator().manual_seed(0)) + codes.float()
    task = FixedTask(space, train, ~train, inputs, codes[:, 1], codes, loss=cross_entropy)
    ensemble = rc.train(lambda: nn.Linear(2, 2), task, members=4, steps=200, batch_size=64, optimizer=rc.Adam(lr=0.05))
    result = rc.measure(ensemble, task)
    assert result.seen.mean < 0.05
    assert result.unseen.mean > result.seen.mean
    assert result.gap.count == 4


def test_the_callback_measures_and_logs_at_every_other_validation(monkeypatch):
    base = type("Callback", (), {})
    monkeypatch.setattr(callback, "_base", lambda: base)
    watch = callback.lightning_callback(sums(), every=2, model=lambda module: module.network)
    with pytest.raises(InputError, match="nothing has been measured"):
        _ = watch.last
    logged = {}
    module = types.SimpleNamespace(
        network=Table(scores(CODES.sum(1))), log=lambda name, value, **_: logged.update({name: value})
    )
    for step, checking in enumerate([True, False, False, False, False]):
        watch.on_validation_epoch_end(types.SimpleNamespace(global_step=step, sanity_checking=checking), module)
    assert [step for step, _ in watch.results] == [2, 4]
    assert watch.last.verdict == "composes"
    assert logged == {"recombine/seen": 0.0, "recombine/unseen": 0.0, "recombine/gap": 0.0}
    assert isinstance(watch, base)


def test_without_lightning_the_callback_says_what_to_install(monkeypatch):
    monkeypatch.setattr(callback, "HOMES", ("no_such_lightning",))
    with pytest.raises(InputError, match="pip install lightning"):
        callback.lightning_callback(sums())
    with pytest.raises(InputError, match="every is 0"):
        callback.lightning_callback(sums(), every=0)


def test_projected_pictures_keep_their_sums():
    pictures = torch.rand(SIDE**2, 20, 20, generator=torch.Generator().manual_seed(0))
    answers = torch.where(SEEN[:, None, None], pictures, 0.5 * pictures)
    result = measure(Table(answers), sums(squared_error, pictures), noise=0)
    leak = next(e for e in result.evidence if e.id == "leak")
    assert leak.value.mean == pytest.approx(0.5, abs=1e-5)
    assert result.answers.predicted.shape == (1, SIDE**2, 64)
    assert np.isfinite(result.unseen.mean)


def noisy(label=0, noise=0.3, rows=1440, **more):
    """Inputs that show both factors as one-hot codes with noise; the label is one of them."""
    codes = torch.as_tensor(SPACE.sample(rows, seed=3))
    inputs = nn.functional.one_hot(codes, SIDE).flatten(1).float()
    inputs = inputs + noise * torch.randn(rows, 2 * SIDE, generator=torch.Generator().manual_seed(4))
    return FixedTask(SPACE, TRAIN, ~TRAIN, inputs, codes[:, label], codes, loss=cross_entropy, **more)


def test_each_row_is_asked_once_so_no_draw_decides():
    task = noisy()
    found = [measure(lambda x: x[:, :SIDE], task, seed=seed, fitted=0.5) for seed in range(3)]
    assert len({(r.verdict, r.seen.mean, r.unseen.mean) for r in found}) == 1
    assert int(found[0].answers.counts.sum()) == len(task._asked)
    assert found[0].answers.like
    assert "new rows of seen ones" in found[0].sentence()
    assert measure(lambda x: x[:, :SIDE], task, count=3, fitted=0.5).answers.counts.max() == 3


def test_noise_in_the_input_is_no_influence_of_a_factor_and_a_part_that_is_read_is():
    """The answer changes with the row whatever its place; only a model that reads the place is moved by it."""
    task = noisy(noise=0.4)
    from recombine.measures._swap import redrawn_flips
    from recombine.measures.as_ensemble import as_ensemble

    with as_ensemble(lambda x: x[:, :SIDE]) as ensemble:
        blind = redrawn_flips(ensemble, task, 1, 500, 0)
        shown = redrawn_flips(ensemble, noisy(noise=0.4, part={"b": slice(SIDE, None)}), 1, 500, 0)
    assert abs(blind.moved.mean() - blind.still.mean()) < 0.06
    assert blind.still.mean() > 0.1
    assert shown.moved.max() == shown.still.max() == 0
    with as_ensemble(lambda x: x[:, :SIDE] + x[:, SIDE:]) as ensemble:
        moved = redrawn_flips(ensemble, task, 1, 500, 0)
    assert moved.moved.mean() > moved.still.mean() + 0.2


def test_what_is_no_finite_number_is_wrong_and_said():
    result = measure(lambda x: torch.full((len(x), 2 * SIDE), torch.nan), sums())
    assert result.verdict == "not fitted"
    assert "not finite" in result.sentence()
    assert ">–<" in result._repr_html_(), "a cell without an error has none"
    masked = scores(CODES.sum(1)).where(scores(CODES.sum(1)) > 0, -torch.inf)
    assert measure(Table(masked), sums()).unseen.mean == 0, "a class may be ruled out by −∞"
    some = measure(Table(torch.where(SEEN[:, None], scores(CODES.sum(1)), torch.nan)), sums(), noise=0)
    assert some.verdict == "fails"
    assert some.mechanisms == ()
    assert f"{int((~SEEN).sum())} answers are not finite numbers; they count as wrong." in some.notes


def binary(loss, targets=None, **more):
    label = (CODES[:, 0] > 2).long() if targets is None else targets
    return FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT, label, CODES, loss=loss, **more)


@pytest.mark.parametrize("form", ["logit (n, 1)", "logit (n)", "probability", "float targets"])
def test_one_score_for_two_classes_is_a_class(form):
    logit = torch.where(CODES[:, 0] > 2, 3.0, -3.0)[:, None]
    loss = nn.functional.binary_cross_entropy_with_logits
    targets = None
    if form == "probability":
        logit, loss = torch.sigmoid(logit), nn.functional.binary_cross_entropy
    if form == "logit (n)":
        logit = logit[:, 0]
    if form == "float targets":
        targets = (CODES[:, :1] > 2).float()
    result = measure(Table(logit), binary(loss, targets))
    assert result.answers.classes is not None
    assert result.verdict == "composes"
    assert result.unseen.mean == 0
    assert measure(Table(-logit if form != "probability" else 1 - logit), binary(loss, targets)).seen.mean == 1


OWN = {
    "focal": lambda o, t: -((1 - torch.sigmoid((2 * t - 1) * o)) ** 2) * nn.functional.logsigmoid((2 * t - 1) * o),
    "hinge": lambda o, t: torch.relu(1 - (2 * t - 1) * o),
    "weighted": lambda o, t: (1 + 4 * t) * nn.functional.softplus(-(2 * t - 1) * o),
    "logs": lambda p, t: -(t * torch.log(p) + (1 - t) * torch.log(1 - p)),
    "logs, cut off": lambda p, t: -torch.log(torch.where(t > 0, p, 1 - p).clamp(1e-6, 1)),
    "nearness": lambda o, t: torch.log(torch.cosh(o - t)),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("whole", [False, True])
def test_a_loss_of_ones_own_says_what_one_score_is(name, whole):
    """0 and 1 are classes to a loss that asks scores to go on beyond them, or that is cut off there."""
    label = CODES[:, 0] > 2
    right = torch.where(label, 3.0, -3.0)
    right = torch.sigmoid(right) if "logs" in name else label.float() if name == "nearness" else right
    targets = label.long() if whole else label.float()
    found = measure(Table(right), binary(lambda o, t: OWN[name](o.flatten(), t.flatten().float()), targets))
    assert (found.answers.classes is None) == (name == "nearness")
    assert found.verdict == "composes"
    assert found.unseen.mean == 0


@pytest.mark.parametrize("loss", [nn.SoftMarginLoss(reduction="none"), lambda o, t: torch.relu(1 - t * o)])
def test_a_score_for_minus_one_and_one_is_a_class(loss):
    label = torch.where(CODES[:, 0] > 2, 1.0, -1.0)
    found = measure(Table(3 * label), binary(loss, label))
    assert found.answers.classes is not None
    assert found.verdict == "composes"
    assert measure(Table(-3 * label), binary(loss, label)).seen.mean == 1
    assert measure(Table(label), binary(nn.MSELoss(reduction="none"), label)).answers.classes is None


def test_each_of_several_numbers_counts_by_its_own_spread():
    """A sum, a hundred times as large as what is known by heart, does not hide that."""
    sum_, apart = CODES.sum(1).float(), (CODES[:, 0] - CODES[:, 1]).float()
    by_heart, off = torch.where(SEEN, apart, -apart), []
    for size in (1.0, 100.0):
        task = FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT, torch.stack([size * sum_, apart], 1), CODES, loss=squared_error)
        found = measure(Table(torch.stack([size * sum_, by_heart], 1)), task)
        assert found.verdict == "unclear"  # seen combinations have training rows alone
        assert "output 1 composes (error 0.00 on unseen, 0.00 on seen combinations); output 2 is un" in " ".join(
            found.notes
        )
        off.append(found.unseen.low)
        assert measure(Table(torch.stack([size * sum_, apart], 1)), task).verdict == "composes"
    assert off[0] > 0.5
    assert off[1] == pytest.approx(off[0])
    assert len(spreads(ToyTask(), 2)) == 1, "a task that draws its answers has no rows that tell a unit"


@pytest.mark.parametrize("seed", range(4))
def test_several_numbers_that_are_wrong_at_some_combinations_compose_in_part(seed):
    rng = np.random.default_rng(seed)
    right, rows = rng.normal(size=(SIDE, 1, 3)) + rng.normal(size=(1, SIDE, 3)), np.repeat(np.arange(SIDE**2), 12)
    codes, away = CODES.numpy()[rows], np.flatnonzero(~SEEN.numpy())
    right = right.reshape(-1, 3)
    targets = torch.as_tensor(right[rows] + 0.1 * rng.normal(size=(len(rows), 3))).float()
    task = FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT[rows], targets, codes, loss=nn.MSELoss())
    some, dealt = right.copy(), right.copy()
    few = rng.permutation(away)[: len(away) // 3]
    some[few] += 2 * rng.choice([-1, 1], (len(few), 3))
    dealt[away] = right[np.roll(rng.permutation(away), 1)]
    verdicts = []
    for said in (right, some, dealt):
        found = measure(Table(torch.as_tensor(said).float()), task)
        verdicts.append(found.verdict)
        if said is some:
            names = [tuple(level.values()) for level in found.to_dict()["standing_out"]]
            assert sorted(names) == sorted(map(tuple, CODES.numpy()[few].tolist()))
    assert verdicts == ["composes", "partly", "fails"]


def test_targets_of_one_number_may_be_flat_or_whole():
    right = CODES.sum(1)
    for targets in (right.float(), right, right.float()[:, None]):
        task = FixedTask(SPACE, TRAIN, ~TRAIN, ONE_HOT, targets, CODES, loss=squared_error)
        result = measure(Table(right.float()[:, None]), task)
        assert result.answers.classes is None
        assert result.verdict == "composes"
        exact = nn.Linear(2 * SIDE, 1, bias=False)
        exact.weight.data = torch.arange(SIDE).float().repeat(2)[None]
        asked = rc.train(exact, task, steps=0, device="cpu")
        assert "1 number; a picture needs" in str(superposed(asked, task, result.answers, Over(1), 0))
        assert rc.measures.generalization(asked, task).height > 0


def test_another_model_is_asked_the_same_and_an_estimator_is_a_model():
    class Estimator:
        classes_ = np.arange(2 * SIDE - 1)

        def predict_proba(self, rows):
            codes = rows.reshape(-1, 2, SIDE).argmax(2).sum(1)
            return np.eye(2 * SIDE - 1)[codes]

        predict = None

    result = measure(Estimator(), sums(), against={"always 3": lambda x: scores(torch.full((len(x),), 3))})
    assert result.verdict == "composes"
    assert result.comparison.others[-1].name == "always 3"
    assert result.comparison.others[-1].difference.high < 0
    with pytest.raises(InputError, match="'factors' is said of a table"):
        measure(Table(scores(CODES.sum(1))), sums(), factors=["a"])
