"""Where results live: frozen descriptions of work, and a store in which a description's hash is its address."""

from recombine.runs._collect import Rubbish as Rubbish, collect as collect
from recombine.runs._provenance import Started as Started, provenance as provenance, start as start
from recombine.runs.execute import RunFailed as RunFailed, get_or_compute as get_or_compute
from recombine.runs.failures import failure as failure
from recombine.runs.index import catalogue as catalogue
from recombine.runs.layout import StoreError as StoreError
from recombine.runs.packing import Packed as Packed, Unpacked as Unpacked, pack as pack, unpack as unpack
from recombine.runs.run import Context as Context, Outcome as Outcome, Run as Run
from recombine.runs.store import Store as Store
from recombine.runs.stored import StoredRun as StoredRun
