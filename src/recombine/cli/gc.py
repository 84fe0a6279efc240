"""`recombine runs gc`: what a store no longer needs, shown first and deleted only when asked."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from recombine.cli.options import STORE, Json, StorePath
from recombine.cli.printing import print_json, print_table, say, size
from recombine.errors import InputError

if TYPE_CHECKING:
    from recombine.runs import Store

_ADDRESS = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_ROWS = 200

Delete = Annotated[bool, Parameter(negative=(), show_default=False, help="Delete it; without this nothing is touched.")]
OlderThan = Annotated[float, Parameter(help="Days after which the workspace of an unfinished run may go.")]
Unreferenced = Annotated[
    bool,
    Parameter(
        negative=(),
        show_default=False,
        help="Runs may go too: those that no study of this package refers to at any scale. Runs of your own studies "
        "and runs made with --members count as such unless --keep or --keep-from names them.",
    ),
]
Keep = Annotated[
    list[str] | None,
    Parameter(consume_multiple=True, negative=(), help="Runs that stay: addresses or their first letters."),
]
KeepFrom = Annotated[
    list[Path] | None,
    Parameter(
        consume_multiple=True, negative=(), help="Folders of results: runs that a study.json in them names stay."
    ),
]


def gc(
    *,
    delete: Delete = False,
    older_than: OlderThan = 30.0,
    unreferenced: Unreferenced = False,
    keep: Keep = None,
    keep_from: KeepFrom = None,
    store: StorePath = STORE,
    as_json: Json = False,
) -> None:
    """Show what may go from a store, and delete it with --delete.

    What was set aside as damaged, workspaces of finished runs, files that no run names.

    Example: recombine runs gc --unreferenced --keep-from results"""
    from recombine.runs import Store, collect

    opened = Store(store, writable=False)
    if not unreferenced and (keep or keep_from):
        raise InputError("--keep and --keep-from say which runs stay with --unreferenced; without it all runs stay.")
    referred = _referred(opened, keep or [], keep_from or []) if unreferenced else None
    if delete:
        opened = Store(store)
    found = collect(opened, delete=delete, older_than=older_than, referred=referred)
    total = sum(rubbish.bytes for rubbish in found)
    if as_json:
        print_json({"store": opened.name, "deleted": delete, "bytes": total, "found": [asdict(r) for r in found]})
        return
    if found:
        rows = [(rubbish.what, rubbish.path, size(rubbish.bytes), rubbish.why) for rubbish in found[:_ROWS]]
        print_table(f"rubbish in {opened.name}", ("what", "path", "size", "why"), rows)
    if len(found) > _ROWS:
        say(f"{len(found) - _ROWS} more are not shown; --json has all")
    runs = sum(rubbish.what == "run" for rubbish in found)
    counted = f"{len(found)} things, {runs} of them runs, {size(total)}"
    say(f"{counted}: deleted" if delete else f"{counted}, may go; --delete deletes them" if found else "nothing may go")
    if runs and not delete:
        say("runs of your own studies and runs made with --members are among them; --keep and --keep-from spare them")


def _referred(store: Store, keep: list[str], keep_from: list[Path]) -> set[str]:
    """The addresses that studies refer to at any scale, and those that a person names."""
    from recombine.studies import SCALES, STUDIES

    addresses: set[str] = set()
    for folder in keep_from:
        addresses |= _named_in(folder)
    there = list(store.addresses()) if keep else []
    for prefix in keep:
        begin_so = {address for address in there if address.startswith(prefix)} if len(prefix) >= 4 else set()
        if not begin_so:
            raise InputError(f"no run in {store.name!r} begins with {prefix[:80]!r}; give 4 or more letters of one.")
        addresses |= begin_so
    studies = STUDIES.values()
    return addresses | {run.address for s in studies for scale in SCALES for run in s.runs(scale, None).values()}


def _named_in(folder: Path) -> set[str]:
    found = [folder / "study.json", *sorted(folder.glob("*/study.json"))]
    try:
        texts = [path.read_text(encoding="utf-8") for path in found if path.is_file()]
    except (OSError, ValueError) as error:
        raise InputError(f"the results in {str(folder)!r} cannot be read: {error}.") from None
    if not texts:
        raise InputError(f"{str(folder)!r} holds no study.json, nor does a folder in it.")
    return {address for text in texts for address in _ADDRESS.findall(text)}
