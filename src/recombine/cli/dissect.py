"""`recombine dissect`: find, test and remove the part of a saved model that computes a subroutine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from recombine.cli.options import Device, Json, MaxBytes, MaxRows, OutFile, Seed, check_file
from recombine.cli.printing import console, print_json, say, shown
from recombine.cli.progress import bar
from recombine.errors import MAX_BYTES, MAX_ROWS, InputError

if TYPE_CHECKING:
    from torch import nn

    from recombine.structure import Choice, Dissection
    from recombine.tasks import Problems


def dissect(
    model: Annotated[Path, Parameter(help="A folder with model.safetensors and architecture.json.")],
    target: Annotated[Path, Parameter(help="Problems of one subroutine: .npz, .parquet or .csv.")],
    other: Annotated[Path, Parameter(help="Problems of the other.")],
    /,
    *,
    learn_target: Annotated[Path | None, Parameter(help="Train the first one's masks on these problems.")] = None,
    learn_other: Annotated[Path | None, Parameter(help="Train the other's masks on these problems.")] = None,
    whole: Annotated[Path | None, Parameter(help="Problems of the model's own task, for the gate.")] = None,
    items: Annotated[int | None, Parameter(help="Columns of a table are this many items (odd-one-out: 4).")] = None,
    layers: Annotated[
        list[str] | None,
        Parameter(
            help="Mask weights whose name this pattern finds; several are searched. By default all weights, the last "
            "half and the last quarter of the layers.",
            negative=(),
        ),
    ] = None,
    starts: Annotated[str, Parameter(help="Starting values of the masks: a,b,c.")] = "0,0.1",
    rates: Annotated[str, Parameter(help="Learning rates of the masks: a,b.")] = "0.01,0.0001",
    epochs: Annotated[int, Parameter(help="Epochs a mask is trained.")] = 90,
    penalties: Annotated[
        str, Parameter(help="Penalties on the share of weights a mask keeps: a,b. Small ones find large parts.")
    ] = "0.2,0.002",
    gate: Annotated[float, Parameter(help="Refuse a model that is right no more often.")] = 0.9,
    seeds: Annotated[int, Parameter(help="Masks of the chosen setting.")] = 3,
    controls: Annotated[bool, Parameter(help="Untrained network, shuffled answers, random masks.")] = True,
    seed: Seed = 0,
    device: Device = "auto",
    max_rows: MaxRows = MAX_ROWS,
    max_bytes: MaxBytes = MAX_BYTES,
    json: Json = False,
    out: OutFile = None,
) -> int:
    """Does a network hold a part for a subroutine, and can it be taken out? With controls, every setting reported.

    For example:

        recombine dissect model/ inside.npz contact.npz --out dissection.html

        recombine dissect model/ left.csv right.csv --items 4 --layers 'layer\\.3'
    """
    check_file(out, target, other, learn_target, learn_other, whole)
    if (learn_target is None) != (learn_other is None):
        raise InputError("give --learn-target and --learn-other, or neither.")
    tried = {"starts": _numbers(starts, "--starts"), "lrs": _numbers(rates, "--rates"),
             "penalties": _numbers(penalties, "--penalties")}  # fmt: skip
    from recombine.structure import MaskSettings, Protocol, dissect as run, grid, load_model, read_problems
    from recombine.training import pick_device

    def read(path: Path) -> Problems:
        return read_problems(path, items, max_rows=max_rows, max_bytes=max_bytes)

    network, architecture = load_model(model)
    settings = grid(choices=_choices(network, layers), base=MaskSettings(epochs=epochs), **tried)
    parts = [read(path) for path in (target, other)]
    learn = [read(path) for path in (learn_target, learn_other) if path is not None]
    with bar(model.name, quiet=json) as progress:
        result = run(
            network,
            *parts,
            names=_names(target, other),
            learn=learn or None,
            whole=read(whole) if whole is not None else None,
            protocol=Protocol(settings=settings, gate=gate, seeds=seeds),
            fresh=architecture,  # type: ignore[arg-type]
            controls=controls,
            device=pick_device(device),
            seed=seed,
            progress=progress,
        )
    if out is not None:
        result.save(out)
    if json:
        print_json(result.to_dict())
    else:
        _show(result, out)
    return 0


def _choices(network: nn.Module, layers: list[str] | None) -> tuple[Choice, ...]:
    from recombine.structure import Choice, depths

    return tuple(Choice(names=pattern) for pattern in layers) if layers else depths(network)


def _numbers(text: str, what: str) -> tuple[float, ...]:
    try:
        found = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        found = ()
    if not found:
        raise InputError(f"{what} is {text[:80]!r}; write numbers with commas between them.")
    return found


def _names(target: Path, other: Path) -> tuple[str, str]:
    return (target.stem, other.stem) if target.stem != other.stem else ("target", "other")


def _show(result: Dissection, out: Path | None) -> None:
    from rich.table import Table

    for name in result.subroutines:
        console().print(shown(result.verdict_of(name)))
    say("")
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for head in ("", "part", "other", "rest", "other", "D_abl"):
        table.add_column(head, justify="left" if head in ("", "D_abl") else "right")
    for (network, subroutine), rows in result.to_frame().group_by("network", "subroutine", maintain_order=True):
        table.add_row(shown(f"{subroutine}, {network} network", "bold"))
        for row in rows.iter_rows(named=True):
            between = "" if row["d_abl_low"] is None else f" [{row['d_abl_low']:+.2f}, {row['d_abl_high']:+.2f}]"
            scores = [f"{row[name]:.2f}" for name in ("sub_target", "sub_other", "abl_target", "abl_other")]
            table.add_row(f"  {row['row']}", *scores, shown(f"{row['d_abl']:+.2f}{between}"))
    console().print(table)
    say("Accuracy of the part alone and of the rest without it, on the part's own subroutine and on the other.")
    if out is not None:
        say(f"\nwritten to {out}")
