"""Break It Down: evidence for structural compositionality in neural networks (Lepori, Serre and Pavlick 2023).

`runs` has the toy, planted networks, agreement, contours and digit pairs, `bases` the trained weights that come with
the package, `tables` what is kept, `claims` what the paper says and what its release shows, `pictures` what is drawn.
"""

from __future__ import annotations

import polars as pl

from recombine.studies.break_it_down.claims import CLAIMS
from recombine.studies.break_it_down.pictures import FIGURES
from recombine.studies.break_it_down.runs import runs
from recombine.studies.break_it_down.tables import tables
from recombine.studies.study import Paper, Study

STUDY = Study(
    name="break-it-down",
    says="Networks trained on a rule of two parts often hold a subnetwork for each part, which does its own and can be "
    "removed without the other.",
    lead="parts",
    in_short=lambda rows: rows.filter(pl.col("run") == "agreement"),
    title="Break it down: can the part that computes a subroutine be found and removed?",
    question="A network that has learnt a rule made of two parts: does it hold a part for each, one that does its own "
    "and can be taken out without the other — or is that only what a search over masks can make of any network?",
    paper=Paper(
        title="Break It Down: Evidence for Structural Compositionality in Neural Networks",
        authors="Michael A. Lepori, Thomas Serre, Ellie Pavlick",
        year=2023,
        venue="NeurIPS 2023",
        url="https://arxiv.org/abs/2301.10884",
    ),
    runs=runs,
    tables=tables,
    claims=CLAIMS,
    figures=FIGURES,
    deviations=(
        "Published figures are recomputed from the result files that the authors released; the paper's own tables were "
        "not compared with them.",
        "Untrained networks have a search of their own; the authors' take the trained networks' settings.",
        "A setting is chosen on validation problems and reported on others; every other setting is reported too.",
        "The base network is the unit of every interval, or base and subroutine where a figure is published for these; "
        "the authors count masks, with errors clustered on 3 bases.",
        "Penalties are per share of maskable weights. At paper scale it is 10 (the paper's 1e-8 a weight would be .13 "
        "to .28): in nine epochs the paper's left half of the weights in every mask. Settled on densities of a base "
        "that is not in the study (seed 7), where 1e-7, 1e-6 and 1e-5 a weight were tried.",
        "The 4 × 512 bases learn at a rate of 5e-4. At 1e-4, the paper's, the first whole run showed no removable part "
        "in any base (chosen D_abl about 0), nor did the base of seed 7 after 4000 steps at that rate, but it did "
        "after 600 at 5e-4; so the rate was raised, and bases of 1e-4 stand beside them as a run and a claim of their "
        "own.",
        "Items, words and contours are our own; no sentence or panel is in two splits.",
        "Settled after small trials on the toy: rates, penalties and numbers of epochs of all small runs; planted "
        "networks of 24–16–8, because with 24–32–16 a sparse mask found a part that the rest could do without (D_abl "
        "−.01 at a penalty of .2, −.4 to −.75 at .05 and below).",
        "Changed after the first whole run at quick scale, for power: more bases (agreement 3 to 4), more untrained "
        "networks (1 to 2), the toy searched a little longer, digit pairs from 16 to 20 members and weights scaled up "
        "to 12 instead of 10. Changed in what is asked: planted masks are held to −.6 as found ones are (−.7 before: "
        "−.73 [−.76, −.70]); random masks are compared with chosen ones (before, |D_abl| below .1: .20 [.09, .31]); "
        "shares over untrained networks count base and subroutine; what is left of untrained ones is the mean over "
        "both subroutines (the larger of the two, which lies above chance by itself, missed .35 by .001); typical and "
        "removable masks of contours count base and subroutine; the toy joined the untrained networks' own search when "
        "that claim already held; the toy's search was lengthened twice.",
        "Digit pairs: a digit's masks are measured on images that show it alone. On pairs of any digits the whole "
        "network's answers say almost nothing of the right digit (.12 to .14 in a trial), so nothing could be kept. "
        "Members start from weights scaled by .5 to 12, because members that start alike differ by .01.",
        "Quick scale: encoder of 2 layers of 16, contours at 32 pixels with a ResNet of 3 small stages, four settings.",
        "Paper scale: 9 epochs instead of 90 with the temperature schedule compressed, 2000 problems to learn instead "
        "of 9500 (1000 for contours, with 3 to 6 of 24 settings), rates 1e-2 and 1e-3 instead of 1e-2 and 1e-4 for so "
        "few steps; an encoder over the grammar's words in place of BERT-small, masked words of the grammar in place "
        "of its pretraining; 18 layers, a quarter as wide as ResNet-18 and without its first pooling, at 64 pixels in "
        "place of ResNet-50 at 128. ResNet-50 itself and its wide variant have two bases each, on number–contact at 64 "
        "pixels, with three settings.",
        "Inside–contact at 64 pixels: from fresh weights contact was not learnt within 3000 steps, by none of three "
        "bases nor by bases of seed 8 at six other rates and schedules (.73 to .78, the plateau of one of the authors' "
        "three), but mostly after number–contact. So its bases learn number–contact first; this was settled on seeds "
        "8 and 9, which are not in the study. At a rate of 1e-3 some then lost contact: two of the first three bases "
        "passed the gate after 1000 steps, two of five after 2000. The rate was lowered to 2e-4 after a trial with "
        "base 0 of a network that halves the picture first, and all five pass.",
        "Widths were first searched over all layers only, where none showed a removable part; they were searched again "
        "in the three sets of layers of number–contact. One of the wide bases, which had passed the gate, then did "
        "not: the norms had come to be computed in another order, which changes the last bits of every step and so "
        "where a training ends. Number–contact, contrastive pretraining and three rules were trained before that. For "
        "power, five bases of either width were then trained instead of three: all ten pass, among them the one that "
        "had not, trained beside others.",
        "ResNet-50 was first trained for 3000 steps: its one base reached .93 (.90 on number), and its chosen mask for "
        "contact took both rules (D_abl +.01). Two bases of 6000 steps took its place: one answers everything, the "
        "other did not learn number. The wide variant was trained once, for 5000 steps, with the same settings.",
        "Changed after a first run at paper scale with three 4 × 512 bases, for power: six of each kind (one of the "
        "six from scratch stays below the gate). Bases are now compared with those of the same number and subroutine; "
        "before, in the order in which they passed. A base that is below the gate now counts as not fitted in claims "
        "on bases and subroutines too; untrained networks are a group with a spread of its own, and how alike masks "
        "are is one value a base (no status changed by either). Claims on number–contact, widths and contrastive "
        "pretraining were written before their runs, the one on the last stage after them; the one on the last stage "
        "in other networks was planned before these were run so, and written when two of the three had been.",
    ),
)
