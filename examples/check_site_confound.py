"""Medical images from three hospitals: can a classifier trained on them be trusted at a site × diagnosis it never saw?

One hospital sends almost only the rare diagnosis, and its scanner leaves a mark. The label then follows the site in
training; where it is deployed, healthy people are scanned there too.
"""

from __future__ import annotations

import numpy as np

from recombine.checks import check

TRAIN = [
    ("A", "young", "healthy", 60),
    ("A", "old", "healthy", 50),
    ("A", "old", "ill", 12),
    ("B", "young", "healthy", 55),
    ("B", "young", "ill", 10),
    ("B", "old", "healthy", 45),
    ("C", "young", "ill", 40),
    ("C", "old", "ill", 55),
]
DEPLOYED = [("C", "young", "healthy"), ("C", "old", "healthy"), ("A", "young", "ill"), ("D", "old", "healthy")]


def scans() -> dict[str, list[str]]:
    rows = [(site, age, finding) for site, age, finding, count in TRAIN for _ in range(count)]
    rng = np.random.default_rng(0)
    rng.shuffle(rows)
    return {"site": [r[0] for r in rows], "age": [r[1] for r in rows], "finding": [r[2] for r in rows]}


def main() -> None:
    factors = ["site", "age", "finding"]
    test = {name: [row[k] for row in DEPLOYED] for k, name in enumerate(factors)}
    result = check(scans(), factors, test=test)
    print(f"Verdict: {result.verdict}. {result.sentence()}")
    for query in result.queries:
        print(f"  {' / '.join(map(str, result.combination(query.codes).values())):24} {result.in_words(query.status)}")
    strongest = result.confounding.pairs[0]
    print(
        f"Strongest confound: {strongest.one} with {strongest.two}, Cramér's V {strongest.cramers_v:.2f}, p = "
        f"{strongest.p_value:.3f}."
    )
    (pair,) = [i for i in result.coverage.strength(2) if i.factors == (0, 2)]
    sites, findings = result.space["site"].levels, result.space["finding"].levels
    print("Never scanned:", ", ".join(f"{sites[a]} / {findings[b]}" for a, b in pair.examples))

    # The appearance of a scan as site + age + finding is linked, but only through few patients; the label is another
    # matter.
    label = check(scans(), ["site", "age"], target="finding")
    shares = next(p for p in label.confounding.pairs if {p.one, p.two} == {"site", "finding"})
    print(
        f"The site alone carries {shares.information:.2f} bits about the finding; holding {shares.given} fixed "
        f"leaves {shares.conditional:.2f}."
    )
    print(
        f"Decision: do not deploy at site {', '.join(result.unseen_levels['site'])} before collecting "
        f"{result.suggestions[0]}; at site C, ask for healthy scans first."
    )


if __name__ == "__main__":
    main()
