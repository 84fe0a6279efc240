"""What the five say together: the same networks through the lens of each paper, against what they do on unseen
combinations.

`tasks.two_factors` has six tasks of one form, `splits` what of them is seen, `networks` what is trained on them,
`lenses` how well each lens orders networks and whether five do better than one, `evenness` why influence tells less
where kinds of split are mixed.
"""

import polars as pl

from recombine.studies.notes import read_notes
from recombine.studies.study import Study
from recombine.studies.together import evenness, lenses, networks
from recombine.studies.together.claims import CLAIMS, afterwards, looks
from recombine.studies.together.figures import FIGURES

STUDY = Study(
    name="together",
    title="What the five say together",
    question="Look at the same networks through five lenses: what the rows determine, what the representation "
    "foretells, whether it is a sum of parts, what moves the answers, and whether the network comes apart. Which of "
    "them tells who will compose?",
    says="Influence and the kernel on trained features tell across splits which networks will err, but neither is "
    "shown to tell better than the mere number of combinations seen. Among networks that saw equally many, the kernel "
    "tells on the three of six tasks whose answers are sums of one part per factor: there it is the error of a linear "
    "readout refitted on the last layer.",
    paper=None,
    scales=networks.SIZES,
    settings=lambda size, members: networks.settings(size, members) | evenness.settings(size, members),
    tables={"networks": (networks.networks, "modularity"), "training": networks.along, "evenness": evenness.networks},
    derived={"by_setting": (lenses.by_setting, "networks"), "summary": (lenses.summary, "by_setting"),
             "forecasts": (lenses.forecasts, "networks"), "variances": (lenses.variances, "networks"),
             "evenness_orders": (evenness.orders, "evenness"), "evenness_rivals": (evenness.rivals, "evenness"),
             "evenness_figures": (evenness.order_figures, "evenness_orders"),
             "looks": (looks, "networks", "by_setting", "forecasts"),
             "afterwards": (afterwards, "networks", "by_setting", "forecasts")},
    claims=CLAIMS + evenness.CLAIMS,
    figures=FIGURES + evenness.FIGURES,
    notes=read_notes(__file__),
    lead="lenses",
    in_short=lambda rows: rows.filter(
        (pl.col("kind") == lenses.ACROSS) & (pl.col("task") == lenses.ALL_TASKS)
        & pl.col("lens").is_in([lens.label for lens in lenses.LENSES.values()])
    ),
)  # fmt: skip
