"""Which combinations training sees: build a support by name, read one from a table, keep one as a manifest."""

from recombine.support.builders import anchors, donut, full, leave_out, random
from recombine.support.manifest import load_manifest, save_manifest
from recombine.support.region import Region
from recombine.support.support import Explicit, Support

__all__ = [
    "Explicit",
    "Region",
    "Support",
    "anchors",
    "donut",
    "full",
    "leave_out",
    "load_manifest",
    "random",
    "save_manifest",
]
