"""Training of masks: one as many, many as one, on any kind of model; then that it finds what is there."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from subjects import SUBJECTS, subject
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models import OddOneOutNet, Perceptron
from recombine.structure import (
    Choice,
    ContinuousSparsification,
    Geometric,
    HardConcrete,
    MaskSearch,
    MaskSettings,
    StraightThroughGumbel,
    TopK,
    ablated,
    accuracy,
    find_masks,
    grid,
    subnetwork,
)
from recombine.structure.plan import LAUNCH_BYTES
from recombine.structure.search import _jobs
from recombine.structure.stack import MaskStack
from recombine.tasks import Problems, SignProducts, cross_entropy
from recombine.tasks.odd_one_out import OddOneOutTask
from recombine.training import SGD, Adam, train
from recombine.training.strategies import Stacked

TOY = SignProducts()
NET = OddOneOutNet(encoder=Perceptron(widths=(24, 12, 8)))
SHORT = MaskSettings(epochs=3, batch_size=16, penalty=0.5, optimizer=Adam(lr=0.1))


def model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return NET().double()


def problems(which: int = 0, count: int = 48) -> Problems:
    return TOY.problems("subroutine", count, 0, which)


def numbers(search_of: list[MaskSettings], base: Any, data: Any, strategy: str, **more: Any) -> list[dict[str, Tensor]]:
    """The trained numbers behind masks: masks alone could agree by luck."""
    taken: dict[int, dict[str, Tensor]] = {}
    original = MaskStack.hard

    def hard(self: MaskStack) -> Any:
        for job, row in zip(self.jobs, self._numbers(), strict=True):
            mine = {part.units for part in job.units.parts}
            taken[job.place] = {name: part.clone() for name, part in row.items() if name in mine}
        return original(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MaskStack, "hard", hard)
        find_masks(base, data, search_of, strategy=strategy, **more)
    return [taken[place] for place in sorted(taken)]


def assert_alike(first: list[dict[str, Tensor]], second: list[dict[str, Tensor]], tolerance: float = 1e-7) -> None:
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            assert torch.allclose(one[name], other[name], rtol=0, atol=tolerance), name


def test_looped_masks_are_the_same_bits_on_one_thread_and_side_by_side() -> None:
    settings, bases = (
        [SHORT.replace(seed=seed) for seed in range(5)],
        [model(0), model(1), model(0), model(0), model(1)],
    )
    before = [{name: value.clone() for name, value in base.state_dict().items()} for base in bases]
    found = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            found.append(numbers(settings, bases, problems(), "loop"))
            assert torch.get_num_threads() == count
    finally:
        torch.set_num_threads(threads)
    for other in found[1:]:
        assert_alike(found[0], other, tolerance=0.0)
    for base, values in zip(bases, before, strict=True):
        assert all(torch.equal(value, values[name]) for name, value in base.state_dict().items())


METHODS = {
    "continuous": ContinuousSparsification(),
    "rescaled": ContinuousSparsification(start=0.3, rescale=True),
    "hard concrete": HardConcrete(),
    "gumbel": StraightThroughGumbel(),
    "top-k": TopK(density=0.2),
}


@pytest.fixture
def one_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks of different layers in one stack, as on a GPU."""
    monkeypatch.setitem(LAUNCH_BYTES, "cpu", 2**40)


@pytest.mark.usefixtures("one_stack")
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_stack_trains_each_mask_as_a_loop_does(method: Any) -> None:
    choices = [Choice(), Choice(names=r"encoder\.2")]
    settings = [SHORT.replace(method=method, choice=c, seed=s) for c in choices for s in (0, 1)]
    looped = numbers(settings, model(), problems(), "loop")
    assert_alike(looped, numbers(settings, model(), problems(), "stacked"))
    assert len(looped[0]) == 2
    assert len(looped[2]) == 1
    started = method.begin if hasattr(method, "start") else None
    assert started is None or not torch.allclose(looped[0]["encoder.0.weight"], torch.tensor(method.start).double())


@pytest.mark.usefixtures("one_stack")
def test_the_paper_grid_is_one_stack_and_each_mask_is_its_own() -> None:
    choices = (Choice(), Choice(names=r"encoder\.2"), Choice(names=r"encoder\.0"))
    settings = list(grid(choices=choices, base=SHORT))
    whole = find_masks(model(), problems(), settings)
    assert whole.notes["groups"] == [
        {"masks": 24, "strategy": "stacked", "stack": 24, "reason": "many small masks per step"}
    ]
    together = numbers(settings, model(), problems(), "stacked")
    for i in (9, 22):
        assert_alike([together[i]], numbers([settings[i]], model(), problems(), "stacked"))
    assert whole.frame()["maskable"].to_list()[:6] == [24 * 12 + 12 * 8] * 2 + [12 * 8] * 2 + [24 * 12] * 2
    assert_alike(together[:7], numbers(settings[:7], model(), problems(), "stacked", chunk_size=5))


def test_masks_of_different_layers_are_stacks_of_their_own_on_a_cpu() -> None:
    settings = list(grid(choices=(Choice(), Choice(names=r"encoder\.2")), base=SHORT))
    search = find_masks(model(), problems(), settings)
    assert [(plan["masks"], plan["stack"]) for plan in search.notes["groups"]] == [(8, 8), (8, 8)]
    assert (
        search.frame()["maskable"].to_list()
        == [24 * 12 + 12 * 8] * 2 + [12 * 8] * 2 + ([24 * 12 + 12 * 8] * 2 + [12 * 8] * 2) * 3
    )
    assert_alike(
        sorted(numbers(settings, model(), problems(), "stacked"), key=len),
        sorted(numbers(settings, model(), problems(), "loop"), key=len),
    )


def test_in_a_long_search_masks_that_see_the_same_batches_are_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where a step is more than launches: what comes before the layers of a mask is then computed once."""
    monkeypatch.setitem(LAUNCH_BYTES, "cpu", 1)
    settings = [SHORT.replace(choice=choice) for choice in (Choice(), Choice(names=r"encoder\.2"))]
    data = [problems(0)] * 4 + [problems(1)] * 2
    for long, masks in ((10**6, [3, 3]), (1, [2, 1, 2, 1])):
        monkeypatch.setattr("recombine.structure.plan.LONG", long)
        assert [plan["masks"] for plan in find_masks(model(), data, settings * 3).notes["groups"]] == masks


def test_masks_of_several_models_and_problems_share_a_stack() -> None:
    bases, data = [model(0), model(1), model(2)], [problems(0), problems(1), problems(0)]
    together = numbers([SHORT] * 3, bases, data, "stacked")
    alone = [numbers([SHORT], base, own, "loop")[0] for base, own in zip(bases, data, strict=True)]
    assert_alike(together, alone)
    assert find_masks(bases, data, SHORT).notes["groups"][0]["stack"] == 3


@pytest.mark.parametrize(
    "changes", [{"target_density": 0.3}, {"adversary": 2.0}, {"optimizer": SGD(lr=5.0, momentum=0.9)}]
)
def test_options_are_the_same_stacked_and_looped(changes: dict[str, Any]) -> None:
    settings = [SHORT.replace(**changes, seed=seed) for seed in (0, 1)]
    looped = numbers(settings, model(), problems(), "loop", other=problems(1))
    assert_alike(looped, numbers(settings, model(), problems(), "stacked", other=problems(1)))
    plain = numbers([SHORT.replace(optimizer=settings[0].optimizer)], model(), problems(), "loop")
    changed = settings[0].optimizer != SHORT.optimizer
    assert changed or not torch.allclose(looped[0]["encoder.0.weight"], plain[0]["encoder.0.weight"])


@pytest.mark.parametrize("name", SUBJECTS)
def test_masks_are_trained_on_any_module_and_leave_it_as_it_was(name: str) -> None:
    base, data = subject(name)
    base.train()
    before = copy.deepcopy(base.state_dict())
    settings = [SHORT.replace(penalty=penalty, epochs=2) for penalty in (0.0, 5.0)]
    search = find_masks(base, data, settings)
    for history in search.histories:
        assert all(torch.tensor(history.loss).isfinite())
    assert search.masks[1].density < search.masks[0].density
    assert base.training
    assert all(torch.equal(value, before[key]) for key, value in base.state_dict().items())
    assert all(parameter.grad is None for parameter in base.parameters())
    assert 0 <= accuracy(subnetwork(base, search.masks[0]), data) <= 1


def test_a_model_that_cannot_be_traced_is_looped_and_the_reason_kept() -> None:
    class Choosy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 4)

        def forward(self, x: Tensor) -> Tensor:
            out = self.layer(x)
            return out if out.mean().item() > 0 else 2 * out  # type: ignore[no-any-return]

    data = torch.randn(8, 3), torch.randint(4, (8,))
    (plan,) = find_masks(Choosy(), data, [SHORT, SHORT.replace(seed=1)]).notes["groups"]
    assert plan["strategy"] == "loop"
    assert plan["reason"].startswith("this model cannot be traced: ")


@pytest.fixture(scope="module")
def six() -> MaskSearch:
    return find_masks(model(), problems(), [SHORT.replace(seed=seed) for seed in range(6)], strategy="stacked")


@pytest.mark.parametrize("where", ["prepare", "advance"])
def test_masks_that_do_not_fit_into_memory_together_are_found_in_halves(
    six: MaskSearch, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real, fits, tried = getattr(Stacked, where), 2, []

    def narrow(self: Stacked, *arguments: Any) -> Any:
        tried.append(len(self.stack))
        if len(self.stack) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(self, *arguments)

    monkeypatch.setattr(Stacked, where, narrow)
    split = find_masks(model(), problems(), six.settings, strategy="stacked", chunk_size=4)
    # Four do not fit, so two and two; the last two are not tried with more than what has fitted.
    assert tried == [4] + [2] * (3 if where == "prepare" else 9)
    (plan,) = split.notes["groups"]
    assert (plan["stack"], plan["reason"]) == (2, "asked for; halved, as memory ran out")
    for one, other in zip(six.histories, split.histories, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-9)
    for mask, same in zip(six.masks, split.masks, strict=True):
        assert all(torch.equal(mask.keep[name], same.keep[name]) for name in mask.keep)
    fits = 0
    with pytest.raises(torch.OutOfMemoryError):
        find_masks(model(), problems(), six.settings[:2], strategy="stacked")


def test_tiny_numbers_are_flushed_while_masks_are_trained_and_kept_afterwards() -> None:
    def tiny() -> float:
        return float(torch.tensor(2.0**-130) * 1)

    assert tiny() > 0
    if not torch.set_flush_denormal(True):
        pytest.skip("this CPU cannot flush denormal numbers")
    torch.set_flush_denormal(False)
    seen: list[float] = []
    find_masks(model(), problems(), SHORT, progress=lambda done, total: seen.append(tiny()))
    assert set(seen) == {0.0}
    assert tiny() > 0


def test_the_soft_mask_is_computed_once_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    original = ContinuousSparsification.soft

    def soft(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        return original(self, *arguments)

    monkeypatch.setattr(ContinuousSparsification, "soft", soft)
    find_masks(model(), problems(), SHORT, strategy="loop")
    assert calls == 2 * 9


def test_the_objective_is_the_loss_plus_penalty_and_adversarial_term() -> None:
    base, data = model(), problems(count=16)
    own = SHORT.replace(choice=Choice(names=r"encoder\.2"), penalty=3.0, penalty_on="sum", adversary=7.0, ceiling=1.5)
    masks = MaskStack(_jobs(base, data, problems(1, 16), own, "auto"), cross_entropy, torch.device("cpu"))
    inputs, targets = masks.block(range(1))
    step = masks.shape.step([part[0] if i else part[0, 0] for i, part in enumerate(inputs)], targets[0])
    row = masks.layout.split(masks.stack.flat[0])
    constants = type(masks.constants)(*(part[0] for part in masks.constants.tensors()))
    total, loss = masks.objective.total(row, masks.weights, constants, masks.stack.weight[0], step)
    soft = torch.sigmoid(torch.tensor(0.05, dtype=torch.float64) * 200 ** (1 / 3))
    by_hand = copy.deepcopy(base)
    with torch.no_grad():
        by_hand.encoder[2].weight.mul_(soft)  # type: ignore[union-attr, operator, index]
        expected = cross_entropy(by_hand(step.inputs[0]), step.targets).mean()
        against = cross_entropy(by_hand(step.other[0]), step.other[1]).mean()
    assert float(loss) == pytest.approx(float(expected), rel=1e-8)
    assert 0 < against < 1.5
    adversarial = 7.0 * (1.5 - float(against))
    assert float(total) == pytest.approx(float(expected) + 3.0 * 96 * float(soft) + adversarial, rel=1e-7)
    density, undecided = masks.state(0)[:, 0].tolist()
    assert (density, undecided) == (pytest.approx(float(soft), rel=1e-7), 1.0)


def test_a_mask_stops_when_it_is_decided_and_others_go_on() -> None:
    quick = SHORT.replace(epochs=30, penalty=50.0, stop_undecided=0.0)
    slow = quick.replace(optimizer=Adam(lr=1e-9), method=ContinuousSparsification(start=0.0))
    for strategy in ("stacked", "loop"):
        done: list[tuple[int, int]] = []
        search = find_masks(
            model(), problems(), [quick, slow], strategy=strategy, progress=lambda *at, done=done: done.append(at)
        )
        first, second = search.histories
        assert first.stopped_at is not None
        assert first.stopped_at < 30
        assert first.undecided[first.stopped_at - 1] == 0
        assert (second.stopped_at, len(second.loss)) == (None, 30)
        assert done[-1] == (180, 180)
    assert first.beta[0] == pytest.approx(200 ** (1 / 30), rel=1e-6)


def test_a_target_density_is_kept_to() -> None:
    own = SHORT.replace(
        target_density=0.3, penalty=50.0, epochs=40, optimizer=Adam(lr=0.02), temperature=Geometric(last=50)
    )
    soft = find_masks(model(), problems(), own).histories[0].density[-1]
    assert abs(soft - 0.3) < 0.05


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"settings": []}, "there are 0 settings"),
        ({"model": [1, 2], "settings": [SHORT] * 3}, "there are 3 settings"),
        ({"problems": torch.zeros(3)}, "a Tensor is none of these"),
        ({"problems": (torch.zeros(3, 4, 24), torch.zeros(2))}, r"as many rows.*\[2, 3\]"),
        ({"settings": SHORT.replace(adversary=1.0)}, "give other="),
        ({"strategy": "captured"}, "needs a CUDA device"),
        ({"strategy": "guess"}, "unknown strategy"),
        ({"chunk_size": 0}, "at least 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_searched_is_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": model(), "problems": problems(), "settings": SHORT} | arguments
    with pytest.raises(InputError, match=message):
        find_masks(given.pop("model"), given.pop("problems"), given.pop("settings"), **given)


@pytest.fixture(scope="module")
def trained() -> tuple[nn.Module, MaskSearch, list[Any]]:
    """One network that does both, and a mask for each: the toy of the fact sheet at a third of its size."""
    task = OddOneOutTask(source=TOY, problems=2048)
    net = OddOneOutNet(encoder=Perceptron(widths=(24, 64, 32)))
    base = train(net, task, steps=600, optimizer=Adam(lr=3e-3)).member(0)
    data = [TOY.problems("subroutine", 1024, 1, which) for which in (0, 1)]
    own = MaskSettings(epochs=30, optimizer=Adam(lr=2e-2))
    return base, find_masks(base, data, own), [TOY.problems("partition", 400, 2, w, "test") for w in (0, 1)]


def test_a_mask_finds_its_subroutine_and_removing_it_spares_the_other(trained: Any) -> None:
    base, search, tests = trained
    assert min(accuracy(base, test) for test in tests) > 0.95
    for which in (0, 1):
        part, rest = subnetwork(base, search.masks[which]), ablated(base, search.masks[which])
        assert accuracy(part, tests[which]) > 0.95
        assert accuracy(part, tests[1 - which]) < 0.4
        assert accuracy(rest, tests[1 - which]) - accuracy(rest, tests[which]) > 0.1
        assert search.masks[which].density < 0.2
