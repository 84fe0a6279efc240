"""Where results live: frozen descriptions of work, and a store in which a description's hash is its address."""

from recombine.runs.collect import Rubbish, collect
from recombine.runs.execute import RunFailed, get_or_compute
from recombine.runs.failures import failure
from recombine.runs.index import catalogue
from recombine.runs.layout import StoreError
from recombine.runs.packing import Packed, Unpacked, pack, unpack
from recombine.runs.provenance import Started, provenance, start
from recombine.runs.run import Context, Outcome, Run
from recombine.runs.store import Store
from recombine.runs.stored import StoredRun

__all__ = [
    "Context",
    "Outcome",
    "Packed",
    "Rubbish",
    "Run",
    "RunFailed",
    "Started",
    "Store",
    "StoreError",
    "StoredRun",
    "Unpacked",
    "catalogue",
    "collect",
    "failure",
    "get_or_compute",
    "pack",
    "provenance",
    "start",
    "unpack",
]
