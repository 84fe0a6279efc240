"""What the README and docs/scale.md say of the committed results is what the committed results say."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from recombine.studies import STUDIES

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "results").glob("*/study.json"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
SENTENCES = " ".join(README.split())

QUOTED = {
    ("gradient-descent", "pair-resistance-b"): "costs {} accuracy on unseen pairs of digits",
    ("gradient-descent", "scan-resistance"): "and {} on SCAN's unseen commands",
    ("first-principles", "ranked-r2"): "(rank correlation {}, from {} to {})",
    ("forced-rendering", "fails-mlp-one-hot"): "worse than a blank picture ({} of its error)",
    ("forced-rendering", "superposition"): "for seen ones ({} of the energy)",
    ("forced-rendering", "need-kernel-bumps"): "grow as N^{} for a tangent kernel",
    ("forced-rendering", "need-cnn-bumps"): "and N^{} for a transposed CNN",
    ("break-it-down", "removable-agreement-verb"): "(D_abl {} for verbs",
    ("break-it-down", "removable-agreement-subject"): "{} for subjects)",
    ("break-it-down", "rate-makes-parts"): "less in ones trained at 1e-4 (by {}, from {} to {})",
    ("break-it-down", "removable-number-contact-contact"): "({} for contact",
    ("break-it-down", "removable-inside-contact"): "{} for inside and contact",
    ("break-it-down", "wider-more-removable"): "more removable (by {}, from {} to {})",
    ("break-it-down", "structure-predicts-generalization"): "(ρ {}, from {} to {})",
    ("break-it-down", "structure-beyond-behaviour"): "beyond what one digit alone tells ({})",
    ("together", "influence-across-splits"): "Across splits influence (ρ {})",
    ("together", "kernel-across-splits"): "the kernel on trained features ({})",
    ("together", "support-across-splits"): "the support verdict does not ({}, from {} to {})",
    ("together", "kernel-same-rows"): "the kernel ({})",
    ("together", "influence-same-rows"): "and influence ({}) still do",
    ("together", "structure-same-rows"): "removable structure does not ({})",
}


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def claims(folder: Path) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in read(folder, "claims.json")["claims"]}


def short(number: float) -> str:
    """As in a sentence: .46, −.46, 1.00."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{number:.2f}").replace("-", "−")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_readme_counts_the_claims_of_every_committed_study(folder: Path) -> None:
    counts = Counter(claim["status"] for claim in claims(folder).values())
    members = sum(run["members"] or 0 for run in read(folder, "study.json")["runs"].values())
    numbers = " | ".join(str(n) for n in (counts["holds"], counts["fails"], counts["not fitted"], members))
    (row,) = (line for line in README.splitlines() if line.startswith(f"| `{folder.name}` |"))
    assert row.endswith(f"| {numbers} |")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_committed_claim_that_fails_has_an_explanation(folder: Path) -> None:
    explained = {claim.id for claim in STUDIES[folder.name].claims if claim.explanation}
    assert {name for name, claim in claims(folder).items() if claim["status"] == "fails"} <= explained


@pytest.mark.parametrize(("where", "words"), QUOTED.items(), ids=[claim for _, claim in QUOTED])
def test_a_figure_in_the_readme_is_the_committed_one(where: tuple[str, str], words: str) -> None:
    study, name = where
    claim = claims(ROOT / "results" / study)[name]
    figures = [claim["measured"], claim["low"], claim["high"]]
    as_loss = [-claim["measured"], -claim["high"], -claim["low"]]
    assert any(words.format(*map(short, some)) in SENTENCES for some in (figures, as_loss)), words.format(
        *map(short, figures)
    )


SECONDS = re.findall(r'"([a-z-]+)": ([0-9.]+),', (ROOT / "docs" / "scale.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("study", "seconds"), SECONDS, ids=[study for study, _ in SECONDS])
def test_the_gpu_seconds_of_the_scale_page_are_the_committed_ones(study: str, seconds: str) -> None:
    """Their sum, or less where runs overlapped: not less than the time in which at least one was on the GPU."""
    runs = read(ROOT / "results" / study, "study.json")["runs"].values()
    began = {run["address"]: datetime.fromisoformat(run["started"]).timestamp() for run in runs}
    on_gpu = sorted((run for run in runs if run["device"] == "cuda"), key=lambda run: began[run["address"]])
    busy = end = 0.0
    for run in on_gpu:
        start, stop = began[run["address"]], began[run["address"]] + run["seconds"]
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    assert busy - 1 <= float(seconds) <= sum(run["seconds"] for run in on_gpu) + 0.05
