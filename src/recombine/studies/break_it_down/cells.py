"""The published cells and ours: four accuracies for each task, subroutine and network.

Published ones are means over bases and mask seeds in the authors' result files (test problems, bases below the gate
left out); agreement is the mean of its singular and plural rule. Untrained ones have the trained networks' settings
there; here they are the mean of all settings of their own search."""

from __future__ import annotations

from typing import Any

import polars as pl

SCORES = ("sub_target", "sub_other", "abl_target", "abl_other")

BERT, PRETRAINED, FRESH = "BERT-small", "BERT-small, pretrained", "BERT-small, untrained"
RESNET, WIDE, CONTRASTIVE, BLANK = "ResNet-50", "Wide-ResNet-50", "ResNet-50, contrastive", "ResNet-50, untrained"
WIDE_BLANK = "Wide-ResNet-50, untrained"

PUBLISHED: dict[tuple[str, str], dict[str, tuple[float, float, float, float]]] = {
    ("agreement", "subject"): {
        BERT: (1.000, 0.490, 0.466, 0.843),
        PRETRAINED: (1.000, 0.277, 0.302, 0.788),
        FRESH: (1.000, 0.225, 0.735, 0.475),
    },
    ("agreement", "verb"): {
        BERT: (0.984, 0.539, 0.636, 0.770),
        PRETRAINED: (1.000, 0.508, 0.491, 1.000),
        FRESH: (0.995, 0.242, 0.931, 0.241),
    },
    ("inside–contact", "inside"): {
        RESNET: (0.988, 0.211, 0.629, 0.740),
        WIDE: (0.903, 0.237, 0.508, 0.481),
        CONTRASTIVE: (1.000, 0.338, 0.858, 0.878),
        BLANK: (0.819, 0.188, 0.252, 0.245),
        WIDE_BLANK: (0.718, 0.238, 0.255, 0.247),
    },
    ("inside–contact", "contact"): {
        RESNET: (0.981, 0.445, 0.637, 0.709),
        WIDE: (0.998, 0.280, 0.540, 0.872),
        CONTRASTIVE: (0.715, 0.309, 0.399, 0.763),
        BLANK: (0.455, 0.244, 0.246, 0.252),
        WIDE_BLANK: (0.573, 0.244, 0.250, 0.256),
    },
    ("number–contact", "number"): {
        RESNET: (0.991, 0.428, 0.552, 0.555),
        WIDE: (0.990, 0.399, 0.524, 0.548),
        CONTRASTIVE: (0.991, 0.502, 0.732, 0.920),
        BLANK: (0.751, 0.233, 0.252, 0.247),
        WIDE_BLANK: (0.925, 0.253, 0.254, 0.256),
    },
    ("number–contact", "contact"): {
        RESNET: (0.997, 0.454, 0.549, 0.866),
        WIDE: (0.998, 0.422, 0.412, 0.906),
        CONTRASTIVE: (0.793, 0.306, 0.349, 0.499),
        BLANK: (0.853, 0.357, 0.284, 0.257),
        WIDE_BLANK: (0.836, 0.386, 0.283, 0.258),
    },
}

OURS = {
    "agreement": ("agreement", "2 layers of 16"),
    "bert-scratch": ("agreement", "4 layers of 512"),
    "bert-slow": ("agreement", "4 layers of 512, low rate"),
    "bert-pretrained": ("agreement", "4 layers of 512, pretrained"),
    "inside-contact": ("inside–contact", "7 layers, 32 pixels"),
    "resnet18-inside-contact": ("inside–contact", "18 layers, 64 pixels"),
    "resnet18-number-contact": ("number–contact", "18 layers, 64 pixels"),
    "resnet18-narrow": ("number–contact", "18 layers, half as wide"),
    "resnet18-wide": ("number–contact", "18 layers, twice as wide"),
    "resnet18-simclr": ("number–contact", "18 layers, contrastive"),
    "resnet50": ("number–contact", "ResNet-50, 64 pixels"),
    "wide-resnet50": ("number–contact", "Wide-ResNet-50, 64 pixels"),
}
"""The task of a run, and what its networks are called."""


def cells(masks: pl.DataFrame) -> pl.DataFrame:
    """Published and measured accuracies of every cell that was measured; trained networks by their chosen masks."""
    search = masks.filter(pl.col("run").is_in(list(OURS)) & (pl.col("role") == "search"))
    kept = search.filter(pl.col("chosen") | (pl.col("network") == "untrained"))
    keys = ["run", "network", "subroutine"]
    bases = kept.group_by(*keys, "base", maintain_order=True).agg(pl.col(*SCORES).mean())
    means = bases.group_by(keys, maintain_order=True).agg(pl.col(*SCORES).mean(), pl.len().alias("bases"))
    measured: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in means.sort("network", maintain_order=True).to_dicts():
        task, name = OURS[row["run"]]
        fresh = ", untrained" if row["network"] == "untrained" else ""
        measured.setdefault((task, row["subroutine"]), []).append(
            {"from": "here", "network": f"here: {name}{fresh}", "bases": row["bases"]} | {s: row[s] for s in SCORES}
        )
    rows: list[dict[str, Any]] = [
        {"cell": f"{key[0]}: {key[1]}"} | row
        for key, published in PUBLISHED.items() if key in measured
        for row in [
            *({"from": "published", "network": name, "bases": None} | dict(zip(SCORES, values, strict=True))
              for name, values in published.items()),
            *measured[key],
        ]
    ]  # fmt: skip
    texts = dict.fromkeys(("cell", "from", "network"), pl.String)
    return pl.DataFrame(rows, schema={**texts, "bases": pl.Int64, **dict.fromkeys(SCORES, pl.Float64)})
