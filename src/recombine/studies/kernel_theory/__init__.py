"""When does compositional structure yield compositional generalization? A kernel theory (Lippl & Stachenfeld 2025).

Exact kernel machines, dense networks from rich to lazy, and image networks, on the paper's tasks: `sets` has the
training sets, the three files of runs what is computed, `tables` what is kept of it, `claims` what the paper says,
`pictures` what is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

from recombine.runs import Run
from recombine.studies.kernel_theory.claims import CLAIMS
from recombine.studies.kernel_theory.image_runs import image_runs
from recombine.studies.kernel_theory.kernel_runs import kernel_runs
from recombine.studies.kernel_theory.network_runs import deep_runs, dense_runs
from recombine.studies.kernel_theory.pictures import FIGURES
from recombine.studies.kernel_theory.tables import tables
from recombine.studies.study import Paper, Scale, Study


def runs(scale: Scale, members: int | None) -> Mapping[str, Run]:
    """Kernels first, then dense networks, then pictures: what is cheap and telling comes early."""
    return {
        **kernel_runs(scale),
        **dense_runs(scale, members),
        **image_runs(scale, members),
        **deep_runs(scale, members),
    }


STUDY = Study(
    name="kernel-theory",
    says="A network with compositional inputs can only add up what it learned for parts and for seen combinations, and "
    "its kernel says beforehand where that goes wrong.",
    lead="slopes",
    title="When does compositional structure yield compositional generalization?",
    question="What will a kernel machine, and a network, answer on combinations it has not seen — and can the answer "
    "be computed from how similar its representation finds them?",
    paper=Paper(
        title="When does compositional structure yield compositional generalization? A kernel theory.",
        authors="Samuel Lippl, Kimberly Stachenfeld",
        year=2025,
        venue="ICLR 2025",
        url="https://arxiv.org/abs/2405.16391",
    ),
    runs=runs,
    tables=tables,
    claims=CLAIMS,
    figures=FIGURES,
    deviations=(
        "Settled after results were seen, no criterion among them: more dispersed sets (50 to 100) and lazy "
        "seeds (16 to 160) because intervals were wider than the tolerance (invariance-lazy and exposure-lazy"
        " failed before); image learning rates and steps, so that networks fit; at paper scale ConvNets "
        "diverged at distance 20 with a rate of 1e-3 and were run again at 5e-4 with 6 seeds instead of 3. At"
        " quick scale image-context-distance holds at distance 6 and failed at 5: marginal.",
        "How tables become claims was mended after results were seen. leak-predicted and image-predicted counted "
        "networks of one seed on several tasks as independent; a seed is now one value. equivalence-deep took the mean "
        "over depths and now takes the depth that does worst: it holds at paper scale as before, and fails at quick "
        "scale, where it had held at .97, because two of sixteen networks do not solve the task. Figures that the "
        "paper has for another quantity are no longer set beside ours (leak-predicted, context-loss, "
        "context-weights-works, context-weights-shortcut), and that of image-salience-distance is the one for two "
        "anchors (.09, was .08 for one).",
        "Learning rates are fixed and stated: seven tenths of the largest stable step of the infinitely wide lazy "
        "network, at most .05 (addition), .1 (answers ±1) or .3 (logistic), instead of Lightning's lr_find, which at "
        "σ = 1 picks 4e-4 and leaves lazy networks short of fitting.",
        "At σ = 1 more seeds are trained than the paper's 6 (12 at quick and 24 at paper scale, 160 and 200 on sets of "
        "two or three pairs): the random function a lazy network starts from adds noise to each of its figures.",
        "Quick scale: width 500 instead of 1000 (equivalence 1000 instead of 10 000, context dependence 300), four "
        "values of σ instead of seven, 3 seeds instead of 6, no networks on CD-2, on CD-1 by squared error, on "
        "dispersed pairs and on an order with exceptions; deep networks with Adam at 1e-3 "
        "instead of 1e-4; logistic training for 1000 steps instead of 5000.",
        "Quick scale: scikit-learn's 8 × 8 digits and small networks (ConvNet of 8 and 16 filters of 3 × 3 and 64 "
        "units, ResNet of 8 and 16 channels, ViT of dimension 32), 300 steps at batch 64, 5 seeds (ResNet and ViT 3), "
        "distances 0 and 6 (the paper: MNIST and CIFAR-10, 15 700 steps, 10 seeds, distances 0 to 20 of 28 pixels).",
        "Paper scale: the paper's networks on MNIST, but 1500 steps (addition) or 1000 at five and forty times the "
        "learning rate instead of 15 700, 6 seeds instead of 10, distances 0 and 20 (interpolation also 10) of five; "
        "20 000 pictures for context dependence instead of 30 000; the sets ‘both’ and ‘asymmetric’ and CD-2 on codes "
        "only.",
        "Paper scale, reduced data: ResNet and ViT see a part of CIFAR-10 (200 of the paper's 4000 images a class), "
        "interpolation only, without flips and crops, 1000 steps: judged by sign and order only.",
        "Learning rates on images fall along a cosine, because training is short.",
        "Which class of image stands for which item is drawn once and shared by all seeds; the paper draws it anew for "
        "each. Items may use any class, not only the first ones.",
        "What image networks generalise to are images of the official test split (digits: two fifths held out), not "
        "held-out images of the training split.",
        "Additivity is measured on unseen combinations alone; the paper averages over seen ones, which its regression "
        "matches by construction, so its figures flatter.",
        "Kernel machines interpolate exactly; the paper's support vector regression stops at ε = .1. Dispersed sets: "
        "100 instead of 50.",
    ),
)
