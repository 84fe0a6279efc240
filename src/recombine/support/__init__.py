"""Which combinations training sees: build a support by name, read one from a table, keep one as a manifest."""

from recombine.support.builders import anchors, donut, full, leave_out, random
from recombine.support.holdouts import corner, cross, diagonal, ell, unseen_levels
from recombine.support.manifest import load_manifest, save_manifest
from recombine.support.placed import Mixture, Placed
from recombine.support.planes import Band, band, everywhere, planes
from recombine.support.support import Explicit, Region, Support
from recombine.support.table import Table, Target, read_tables, support_from_table

__all__ = [
    "Band",
    "Explicit",
    "Mixture",
    "Placed",
    "Region",
    "Support",
    "Table",
    "Target",
    "anchors",
    "band",
    "corner",
    "cross",
    "diagonal",
    "donut",
    "ell",
    "everywhere",
    "full",
    "leave_out",
    "load_manifest",
    "planes",
    "random",
    "read_tables",
    "save_manifest",
    "support_from_table",
    "unseen_levels",
]
