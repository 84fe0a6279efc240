"""Which combinations training sees: build a support by name, read one from a table, keep one as a manifest."""

from recombine.support._planes import Band as Band, band as band, everywhere as everywhere, planes as planes
from recombine.support.builders import (
    anchors as anchors,
    donut as donut,
    full as full,
    leave_out as leave_out,
    random as random,
)
from recombine.support.holdouts import (
    corner as corner,
    cross as cross,
    diagonal as diagonal,
    ell as ell,
    unseen_levels as unseen_levels,
)
from recombine.support.manifest import load_manifest as load_manifest, save_manifest as save_manifest
from recombine.support.placed import Mixture as Mixture, Placed as Placed
from recombine.support.support import Explicit as Explicit, Region as Region, Support as Support
from recombine.support.table import Table as Table, Target as Target, read_tables as read_tables
