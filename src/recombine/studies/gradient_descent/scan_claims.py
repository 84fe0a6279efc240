"""What the paper says of SCAN (section 5.2), and what its figure leaves open."""

from __future__ import annotations

import polars as pl

from recombine.measures.resistance import resistance
from recombine.studies.claims import Claim, Evidence, Order, Sign, Tables
from recombine.studies.gradient_descent.evidence import OURS, compared, count, fitted, gaps, settings
from recombine.studies.gradient_descent.tables import SCANS

EARLY = 25
"""The paper sees the training lead “in steps 10–25”."""


def _scan_several(tables: Tables) -> Evidence:
    a, b = settings(tables, "scan", SCANS["scan-a"], SCANS["scan-b"])
    first, second = (
        side.filter(pl.col("view") != "trained").with_columns(pl.col("view").replace("several words", "trained"))
        for side in (fitted(a), fitted(b))
    )
    return Evidence.of(resistance(first, second, EARLY)["speed"], members=count(a))


SCAN_CLAIMS = (
    Claim(
        id="scan-gap",
        sentence="On SCAN the gap between trained and unseen commands is larger in A than in B.",
        criterion=Order(("gap in B", "gap in A")),
        evidence=lambda t: gaps(t, "scan", SCANS["scan-a"], SCANS["scan-b"]),
        source="section 5.2, figure 3b",
        unit="accuracy",
    ),
    Claim(
        id="scan-resistance",
        sentence="Unseen commands with “jump” are answered worse in A than in B.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["scan-a"], SCANS["scan-b"], "resistance"),
        source="section 5.2, figure 3b",
        unit="accuracy",
    ),
    Claim(
        id="scan-speed",
        sentence="Training accuracy rises sooner in A, in steps 10 to 25.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["scan-a"], SCANS["scan-b"], "speed", EARLY),
        source="section 5.2: “increases faster during the early training (steps 10-25)”",
        unit="accuracy",
        explanation="The lead is that of one command, “jump” alone, a tenth of A's samples: see scan-speed-several.",
    ),
    Claim(
        id="scan-speed-several",
        sentence="That early lead is also there on commands of several words.",
        criterion=Sign("above", 0.0),
        evidence=_scan_several,
        source=f"{OURS}: the training set repeats the one-word command “jump” until it is a tenth",
        unit="accuracy",
        explanation=(
            "It is not, or hardly: the lead of A in the paper's figure is the one-word command “jump”, a tenth of A's "
            "samples; B spreads the same tenth over four words. On the full grammar no other command is answered by "
            "then."
        ),
    ),
    Claim(
        id="scan-structure",
        sentence="A's unseen commands fail in their structure too: not only is the new action wrong, so is where it "
        "stands.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["scan-a"], SCANS["scan-b"], "resistance", score="structure"),
        source=f"section 5.2 calls syntax and semantics the two components; {OURS}",
        unit="accuracy of the structure",
    ),
    Claim(
        id="scan-resistance-apart",
        sentence="Commands with “jump” are answered worse in A than in B′, which draws words uniformly but has seen "
        "none of the commands it is asked for either.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["scan-a"], SCANS["scan-apart"], "resistance"),
        source=f"{OURS}: B trains on the commands that are asked",
        unit="accuracy",
    ),
    Claim(
        id="scan-resistance-without",
        sentence="The structure of commands with “jump” is answered worse in A, which shows “jump” alone, than in B′, "
        "which never shows it.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["scan-a"], SCANS["scan-without"], "resistance", score="structure"),
        source=f"{OURS}: a word that is never shown says nothing of the structure, and no tested command was seen",
        unit="accuracy of the structure",
        explanation=(
            "A word that was never shown is not neutral but unknown: its vector is where it started, far from those of "
            "the other action words, and the structure around it is lost as it is around a word that was shown alone."
        ),
    ),
    Claim(
        id="transformer-resistance",
        sentence="A transformer resists too: unseen commands with “jump” are answered worse in A than in B.",
        criterion=Sign("above", 0.0),
        evidence=lambda t: compared(t, "scan", SCANS["transformer-a"], SCANS["transformer-b"], "resistance"),
        source=f"section 7: it is hard to avoid by the structure of the model alone; {OURS}",
        unit="accuracy",
    ),
)
