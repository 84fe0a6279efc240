"""Tables as Parquet and tensors as safetensors: equal values are equal bytes, and reading never runs anything."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recombine.runs.manifest import Damaged

if TYPE_CHECKING:
    import polars as pl
    import torch


def table_to_bytes(table: pl.DataFrame) -> bytes:
    """A table as Parquet. Equal tables give equal bytes, however their memory is cut into chunks."""
    buffer = io.BytesIO()
    table.rechunk().write_parquet(buffer, compression="zstd", compression_level=3, row_group_size=2**18)
    return buffer.getvalue()


def table_from_bytes(data: bytes) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise Damaged(f"a table is not Parquet: {str(error).splitlines()[0]}") from None


def tensors_to_bytes(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Tensors, from any device, as safetensors."""
    import torch
    from safetensors.torch import save

    # A copy of each: safetensors refuses views that share memory, and members of a stack are views.
    own = {name: t.detach().cpu().clone(memory_format=torch.contiguous_format) for name, t in tensors.items()}
    return save(own)


def tensors_from_bytes(data: bytes) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(data)
    except SafetensorError as error:
        raise Damaged(f"the tensors are not safetensors: {error}") from None
