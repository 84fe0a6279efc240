"""The odd-one-out head against its formula."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError
from recombine.models import OddOneOut, OddOneOutNet, Perceptron


class Nothing(Description):
    """Describes no model."""

    kind: ClassVar[str] = "nothing"


def test_logits_by_hand() -> None:
    # Encodings at 0°, 0°, 90° and 180°: inner products with the sum (0, 1) after scaling to length one.
    items = torch.tensor([[[2.0, 0.0], [5.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]])
    assert OddOneOut(nn.Identity())(items).tolist() == [[-1.0, -1.0, -1.0, 1.0]]
    # Self terms included, logit j is −Σ_k ⟨e_j, e_k⟩.
    x = torch.randn(3, 4, 5)
    e = x / x.norm(dim=-1, keepdim=True)
    assert torch.allclose(OddOneOut(nn.Identity())(x), -torch.einsum("pjd,pkd->pj", e, e), atol=1e-6)


def test_the_description_builds_the_head_on_an_encoder() -> None:
    model = OddOneOutNet(encoder=Perceptron(widths=(6, 5, 3)))()
    assert isinstance(model, OddOneOut)
    assert model(torch.randn(7, 4, 6)).shape == (7, 4)
    with pytest.raises(InputError, match="does not build a network"):
        OddOneOutNet(encoder=Nothing())()


def test_named_inputs_are_folded_and_the_first_token_is_read() -> None:
    class Output:
        def __init__(self, hidden: Tensor) -> None:
            self.last_hidden_state = hidden

    class Encoder(nn.Module):
        def forward(self, words: Tensor, attention: Tensor, scale: float = 1.0) -> Any:
            assert words.shape == attention.shape == (8, 5)
            return Output(torch.stack([words, attention], -1).float() * scale)

    words, attention = torch.randint(9, (2, 4, 5)), torch.ones(2, 4, 5)
    logits = OddOneOut(Encoder())(words=words, attention=attention, scale=2.0)
    first = torch.stack([words[..., 0].float(), attention[..., 0]], -1)
    assert torch.allclose(logits, OddOneOut(nn.Identity())(first), atol=1e-6)
    read = OddOneOut(Encoder(), read=lambda out: out.last_hidden_state[:, -1])(words, attention)
    last = torch.stack([words[..., -1].float(), attention[..., -1]], -1)
    assert torch.allclose(read, OddOneOut(nn.Identity())(last), atol=1e-6)


def test_what_is_no_set_of_problems_is_refused() -> None:
    with pytest.raises(InputError, match=r"problems × items"):
        OddOneOut(nn.Identity())(torch.randn(4))
    with pytest.raises(InputError, match="all alike"):
        OddOneOut(nn.Identity())(torch.randn(2, 4, 3), torch.randn(2, 3, 3))

    class Text(nn.Module):
        def forward(self, x: Tensor) -> str:
            return "words"

    with pytest.raises(InputError, match="give OddOneOut a read="):
        OddOneOut(Text())(torch.randn(2, 4, 3))
