"""The pair CNN, the sequence networks, the remedies: shapes, equivalences, and that they stack."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor, nn

from recombine import measures
from recombine.errors import InputError
from recombine.models import PairCNN, Seq2Seq, Transformer
from recombine.tasks import DigitPairs, Draws, ScanTask
from recombine.tasks.scan import END, START
from recombine.training import Adam, train
from recombine.training.remedies import (
    Charged,
    ComponentDropout,
    GradientPenalty,
    GroupBalanced,
    NoisyRepresentation,
    TwoStream,
)
from recombine.training.sign import SignSGD

SMALL = PairCNN(shape=(1, 8, 16), convolutions=0)


def test_the_appendix_network_has_its_parameters() -> None:
    assert sum(p.numel() for p in PairCNN()().parameters()) == 1_145_930
    assert sum(p.numel() for p in PairCNN(convolutions=3)().parameters()) == 179_338
    assert [name for name, _ in SMALL().named_children()] == ["flat", "hidden", "dense", "readout"]
    with pytest.raises(InputError, match="too small for 3 convolutions"):
        PairCNN(shape=(1, 8, 16), convolutions=3)()


def reference(model: nn.Module, words: Tensor) -> Tensor:
    """The encoder's outputs by torch's own LSTM, one sequence at a time, with the same weights."""
    cell: Any = model.encoder
    units = cell.state.shape[1]
    lstm = nn.LSTM(cell.inner.shape[1], units, bidirectional=True, batch_first=True)
    order = torch.cat([torch.arange(units) + k * units for k in (0, 1, 3, 2)])  # ours i, f, o, g; torch i, f, g, o
    with torch.no_grad():
        for d, suffix in enumerate(("", "_reverse")):
            bias = cell.bias[d, 0].clone()
            bias[units : 2 * units] += 1
            getattr(lstm, f"weight_ih_l0{suffix}").copy_(cell.inner[d].T[order])
            getattr(lstm, f"weight_hh_l0{suffix}").copy_(cell.state[d].T[order])
            getattr(lstm, f"bias_ih_l0{suffix}").copy_(bias[order])
            getattr(lstm, f"bias_hh_l0{suffix}").zero_()
        out, _ = lstm(model.word[words][None])  # type: ignore[index]
    return out[0]  # type: ignore[no-any-return]


def test_the_unrolled_encoder_is_an_lstm_and_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    model: Any = Seq2Seq()()
    words = torch.tensor([[3, 5, 1, 0, 0], [2, 4, 6, 1, 7]])
    outputs, first, last = model._encode(words, (words > 0).float())
    for row, length in ((0, 3), (1, 5)):
        expected = reference(model, words[row, :length])
        torch.testing.assert_close(outputs[row, :length], expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(first[row], expected[0], rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(last[row], expected[-1], rtol=1e-5, atol=1e-6)
    before = torch.tensor([[START, 1, 2]] * 2)
    longer = torch.cat([words, torch.zeros(2, 3, dtype=torch.int64)], 1)
    torch.testing.assert_close(model(longer, before), model(words, before), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("model", [Seq2Seq(), Transformer()])
def test_a_token_never_sees_what_comes_after_it(model: Any) -> None:
    torch.manual_seed(0)
    module = model().eval()
    words = torch.tensor([[3, 5, 1, 0]])
    before = torch.tensor([[START, 1, 2, 3]])
    changed = before.clone()
    changed[0, 3] = 5
    with torch.no_grad():
        one, other = module(words, before), module(words, changed)
    torch.testing.assert_close(one[:, :3], other[:, :3])
    assert not torch.allclose(one[:, 3], other[:, 3])


def greedy(module: nn.Module, words: Tensor, longest: int) -> Tensor:
    """The answer as it would be decoded, token by token from the model's own."""
    before = torch.full((len(words), longest), START)
    answer = torch.full((len(words), longest), END)
    for t in range(longest):
        answer[:, t] = module(words, before)[:, t].argmax(-1)
        if t + 1 < longest:
            before[:, t + 1] = answer[:, t]
    return answer


@pytest.mark.parametrize(("model", "lr"), [(Seq2Seq(), 0.02), (Transformer(), 0.01)])
def test_exact_accuracy_is_that_of_greedy_decoding_and_both_stack(model: Any, lr: float) -> None:
    task = ScanTask(longest=2, pairs=False, words="uniform")
    ensemble = train(model, task, members=2, steps=40, batch_size=16, optimizer=Adam(lr=lr), strategy="stacked")
    points = torch.as_tensor(task.train.codes.copy())
    (words, before), answer = task.examples(points, Draws.single(0))
    counted = (answer == END).long().cumsum(-1) - (answer == END).long() == 0
    shares = []
    for member in ensemble.members:
        module = ensemble.member(member)
        with torch.no_grad():
            forced = task.scores(module(words, before), answer)["accuracy"]
            decoded = ((greedy(module, words, answer.shape[1]) == answer) | ~counted).all(-1)
        assert forced.bool().tolist() == decoded.tolist()
        shares.append(float(forced.mean()))
    assert max(shares) > 0


def test_stacked_and_looped_sequences_agree() -> None:
    task = ScanTask(longest=3, pairs=False)
    losses = [
        train(Seq2Seq(), task, members=2, steps=3, batch_size=8, optimizer=Adam(lr=0.01), strategy=s).history["loss"]
        for s in ("loop", "stacked")
    ]
    torch.testing.assert_close(*losses, rtol=1e-4, atol=1e-5)


def test_sign_descent_moves_every_parameter_alike() -> None:
    task = DigitPairs()
    start = train(SMALL, task, members=1, steps=0, batch_size=8).flat
    end = train(SMALL, task, members=1, steps=1, batch_size=8, optimizer=SignSGD(lr=0.5)).flat
    steps = (end - start).abs()
    assert ((steps - 0.5).abs() < 1e-5).logical_or(steps == 0).all()
    averaged = train(SMALL, task, members=1, steps=2, batch_size=8, optimizer=SignSGD(lr=0.5, momentum=0.9))
    assert torch.isfinite(averaged.flat).all()


def test_dropout_hides_the_other_digit_and_nothing_else() -> None:
    task = DigitPairs()
    draws = Draws.of([0, 1], range(3), seed=0)
    plain, labels = task.batch(draws, 200)
    shown, same = ComponentDropout(task=task, rate=0.3).batch(draws, 200)
    assert isinstance(shown, Tensor)
    assert torch.equal(labels, same)
    assert torch.equal(shown[..., task.part(0)], plain[..., task.part(0)])
    hidden = (shown[..., task.part(1)] == 0).flatten(-3).all(-1)
    assert abs(float(hidden.double().mean()) - 0.3) < 0.06
    kept = ~hidden
    assert torch.equal(shown[kept], plain[kept])


def test_balanced_groups_are_drawn_alike() -> None:
    task = GroupBalanced(task=DigitPairs(strength=0.9))
    images, labels = task.batch(Draws.of([0], range(50), seed=0), 64)
    assert images.shape == (50, 1, 64, 1, 8, 16)  # type: ignore[union-attr]
    assert (labels.flatten().bincount(minlength=10) / labels.numel() - 0.1).abs().max() < 0.03
    assert task.part(1) == slice(8, 16)


def test_what_is_charged_is_in_the_loss_and_not_in_the_answers() -> None:
    task = Charged(task=DigitPairs(), outputs=10, numbers=64, weight=2.0)
    (images, numbers), labels = task.batch(Draws.of([0], range(1), seed=0), 4)
    assert numbers.shape == (1, 1, 4, 64)
    outputs = torch.randn(4, 10)
    charge = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    plain = task.losses(outputs, labels[0, 0])
    torch.testing.assert_close(task.losses(torch.cat([outputs, charge], 1), labels[0, 0]), plain + 2 * charge[:, 0])
    module = NoisyRepresentation(model=SMALL, noise=0.5)()
    with torch.no_grad():
        inside = module.below(images[0, 0])  # type: ignore[operator]
        charged = module(images[0, 0], numbers[0, 0])
    assert charged.shape == (4, 11)
    torch.testing.assert_close(charged[:, 10], inside.square().mean(1))
    assert module(images[0, 0]).shape == (4, 10)
    with pytest.raises(InputError, match="a layer 'nowhere'"):
        NoisyRepresentation(model=SMALL, layer="nowhere")()


def test_the_gradient_charge_is_the_squared_jacobian_of_the_part() -> None:
    torch.manual_seed(0)
    linear = PairCNN(shape=(1, 8, 16), convolutions=0)()
    module = GradientPenalty(model=SMALL, start=8, stop=16, delta=1e-2)()
    inner: Any = module.model
    inner.load_state_dict(linear.state_dict())
    x = torch.rand(1, 1, 8, 16)
    jacobian = torch.autograd.functional.jacobian(linear, x)[0, :, 0, 0, :, 8:]
    with torch.no_grad():
        many = module(x.expand(20_000, -1, -1, -1), torch.randn(20_000, 64))[:, 10]
    assert abs(float(many.mean()) / float(jacobian.square().sum()) - 1) < 0.05


def test_two_streams_add_and_see_only_their_own() -> None:
    torch.manual_seed(0)
    module = TwoStream(model=SMALL)()
    x = torch.rand(3, 1, 8, 16)
    left, right = x.clone(), x.clone()
    left[..., 8:], right[..., :8] = 0, 0
    streams: Any = module.models
    torch.testing.assert_close(module(x), streams[0](left) + streams[1](right))


def test_a_redundant_digit_is_leant_on_and_a_gradient_penalty_stops_that() -> None:
    a = DigitPairs()
    common: dict[str, Any] = {"members": 3, "steps": 200, "batch_size": 64, "optimizer": Adam(lr=0.003)}
    charged = Charged(task=a, outputs=10, numbers=64, weight=1.0)
    unseen = {}
    for name, model, task in (
        ("A", SMALL, a),
        ("B", SMALL, DigitPairs(strength=0.0)),
        ("penalty", GradientPenalty(model=SMALL, start=8, stop=16), charged),
    ):
        ensemble = train(model, task, **common)  # type: ignore[arg-type]
        assert ensemble.notes["strategy"] == "stacked"
        table = measures.views(ensemble, task, 512).filter(pl.col("view") == "unseen")
        unseen[name] = float(table["accuracy"].mean())  # type: ignore[arg-type]
    assert unseen["A"] + 0.08 < unseen["penalty"]
    assert unseen["A"] + 0.08 < unseen["B"]
