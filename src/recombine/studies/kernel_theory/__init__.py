"""When does compositional structure yield compositional generalization? A kernel theory (Lippl & Stachenfeld 2025).

Exact kernel machines, dense networks from rich to lazy, and image networks, on the paper's tasks.
"""

from recombine.studies.kernel_theory import plane
from recombine.studies.kernel_theory.claims import CLAIMS
from recombine.studies.kernel_theory.figures import FIGURES
from recombine.studies.kernel_theory.settings import SIZES, settings
from recombine.studies.kernel_theory.tables import (
    along,
    by_images,
    networks,
    ordered,
    phase,
    reading,
    reading_of_contexts,
    trained,
    weights,
)
from recombine.studies.notes import read_notes
from recombine.studies.study import Paper, Study

STUDY = Study(
    name="kernel-theory",
    says="A lazy network with compositional inputs can only add up what it learned for parts and for seen "
    "combinations, and its kernel says beforehand where that goes wrong.",
    lead="slopes",
    title="When does compositional structure yield compositional generalization?",
    question="What will a kernel machine, and a network, answer on combinations it has not seen — and can the answer "
    "be computed from how similar its representation finds them?",
    paper=Paper(
        "When does compositional structure yield compositional generalization? A kernel theory.",
        "Samuel Lippl, Kimberly Stachenfeld", 2025, "ICLR 2025", "https://arxiv.org/abs/2405.16391",
    ),
    scales=SIZES,
    settings=settings,
    tables={"networks": (networks, "salience"), "along": (along, "leak"), "trained": (trained, "leak_trained"),
            "by_images": (by_images, "additivity_trained"),
            "salience": "salience", "kernels": "kernels",
            "effects": "effects", "map": "map", "starts": (plane.starts, "starts")},
    derived={"phase": (phase, "kernels"), "ordered": (ordered, "networks"),
             "reading": (reading, "trained"),
             "reading_of_contexts": (reading_of_contexts, "by_images"), "weights": (weights, "kernels")},
    claims=CLAIMS + plane.CLAIMS,
    figures=FIGURES + plane.FIGURES,
    notes=read_notes(__file__),
)  # fmt: skip
