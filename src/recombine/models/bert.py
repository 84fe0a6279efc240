"""BERT through ``transformers``: from a shape, from a directory, or by the name that a hub knows it by."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from recombine.description import Description
from recombine.errors import InputError

PAD = 0


class Bert(Description):
    """Numbers of tokens (sentences × places, 0 where the sentence has ended) → one vector a sentence.

    Without ``weights`` it is drawn at random in the shape that the other settings say; BERT-small is the default. With
    ``weights``, a directory or a hub's name, shape and weights come from there, and only safetensors are read.
    ``pooling`` reads the first token or the mean over all tokens. The pooler, which nothing here reads, is left out."""

    kind: ClassVar[str] = "bert"

    weights: str | None = None
    pooling: Literal["first", "mean"] = "first"
    words: int = Field(default=30_522, ge=2)
    width: int = Field(default=512, ge=2)
    heads: int = Field(default=8, ge=1)
    layers: int = Field(default=4, ge=1)
    longest: int = Field(default=512, ge=1)

    def __call__(self) -> nn.Module:
        library = _transformers()
        if self.weights is not None:
            return _Pooled(_loaded(library, self.weights), self.pooling)
        config = library.BertConfig(
            vocab_size=self.words, hidden_size=self.width, num_hidden_layers=self.layers,
            num_attention_heads=self.heads, intermediate_size=4 * self.width, max_position_embeddings=self.longest,
            hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, attn_implementation="eager",
        )  # fmt: skip
        return _Pooled(library.BertModel(config, add_pooling_layer=False), self.pooling)

    def tokenizer(self) -> Any:
        """The tokenizer that goes with ``weights``."""
        if self.weights is None:
            raise InputError("a Bert drawn at random has no tokenizer; give weights=, or use the words of a grammar.")
        library = _transformers()
        try:
            return library.AutoTokenizer.from_pretrained(self.weights)
        except (OSError, ValueError) as error:
            raise _absent(self.weights, error) from None


class _Pooled(nn.Module):
    def __init__(self, bert: nn.Module, pooling: str) -> None:
        super().__init__()
        self.bert, self.pooling = bert, pooling

    def forward(self, tokens: Tensor) -> Tensor:
        there = tokens != PAD
        # A mask of four dimensions is taken as it is; one of two is looked into, which no stack can do.
        dtype = next(self.bert.parameters()).dtype
        gone = (~there).to(dtype)[:, None, None, :].expand(-1, 1, tokens.shape[1], -1)
        states: Tensor = self.bert(input_ids=tokens, attention_mask=torch.finfo(dtype).min * gone).last_hidden_state
        if self.pooling == "first":
            return states[:, 0]
        weights = there.to(states.dtype)[..., None]
        return (states * weights).sum(1) / weights.sum(1).clamp(min=1)


def _loaded(library: Any, weights: str) -> nn.Module:
    try:
        with _quiet(library):
            model: nn.Module = library.BertModel.from_pretrained(
                weights, add_pooling_layer=False, use_safetensors=True, attn_implementation="eager",
                hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
            )  # fmt: skip
    except (OSError, ValueError) as error:
        raise _absent(weights, error) from None
    return model


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Without the library's progress bar, and without its report that the pooler was left out."""
    logging = library.utils.logging
    before, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bar:
            logging.enable_progress_bar()


def _transformers() -> Any:
    try:
        import transformers
    except ImportError:
        raise InputError("BERT needs the library transformers: pip install transformers.") from None
    return transformers


def _absent(weights: str, error: Exception) -> InputError:
    why = str(error).splitlines()[0][:160].rstrip(".")
    where = "from this directory" if Path(weights).is_dir() else "from a hub, and there is no such directory"
    wanted = "give a directory with config.json and model.safetensors"
    return InputError(f"BERT weights {weights[:80]!r} cannot be read {where} ({why}); {wanted}.")
