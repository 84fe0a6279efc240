"""The page of a measured learner and the files beside it: the verdict, where it fails, by which mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine import __version__
from recombine.errors import InputError
from recombine.figures import theme
from recombine.figures.data import label
from recombine.figures.export import save_figure, write
from recombine.figures.measured import MOST_BARS, MOST_LEVELS, measured_figure, measured_rows
from recombine.mechanisms.answers.names import brief, ranged, score, share
from recombine.mechanisms.causes.simpler_rules import BEHAVIOUR
from recombine.mechanisms.verdicts.result import ERROR_WORDS
from recombine.mechanisms.verdicts.verdict_words import in_part, noise_words
from recombine.reporting.escaped import markdown_text
from recombine.reporting.html import responsive_svg
from recombine.reporting.latex import A_PAGE, latex_below, latex_column, latex_frame, latex_row, latex_text
from recombine.reporting.page import render
from recombine.result import safe_csv

if TYPE_CHECKING:
    from recombine.mechanisms import Finding, MeasureResult

SHOWN = 20
HEADLINES = {
    "not fitted": "Not fitted: nothing can be said of how it composes",
    "overfits": "It overfits; not composing is not what fails",
    "fails": "It fails on combinations it has not seen",
    "partly": in_part(""),
    "composes": "It answers unseen combinations as well as seen ones",
    "unclear": "Not clear whether it fails on unseen combinations",
    "nothing unseen": "Nothing unseen is asked",
    "nothing seen": "Only unseen combinations are asked",
}
SAID = ("fails", "partly", "overfits", "composes", "unclear")
BESIDE_HEAD = ("on the same unseen rows", "error (95 % interval)", "this model's error less that")
EVIDENCE_HEAD = (
    "mechanism",
    "measure",
    "value (95 % interval)",
    "compared with",
    "p",
    "wrong answers explained",
    "named",
)
ERROR_HEAD = ("error on", "value (95 % interval)", "interval over")
WIDTHS, WIDTHS_OF_MANY = (0.41, 0.27, 0.27), (0.24, 0.175, 0.16, 0.1, 0.12, 0.08)
"""Of the columns of LaTeX, as shares of a line."""


def measured_page(result: MeasureResult) -> str:
    """One self-contained page; names and levels are text wherever they stand."""
    names = [brief(name) for name in result.answers.space.names]
    picture = responsive_svg(
        lambda: measured_figure(result), f"error by {' and '.join(names)}. {result.sentence()}", "error"
    )
    sentence = result.sentence()
    answer, _, how = sentence.partition(". ")
    headline = HEADLINES[result.verdict]
    if result.verdict in ("composes", "overfits") and result.why:
        headline = answer.partition(": ")[0]
    elif result.verdict == "partly":
        headline = in_part(result.why)
    if result.verdict in SAID:
        # The headline has said the rest.
        answer = answer.partition(": ")[2][:1].upper() + answer.partition(": ")[2][1:]
    answer, _, open_ = answer.partition("; ")  # Numbers first; what they hang on is not for the headline.
    how = ". ".join(filter(None, [open_[:1].upper() + open_[1:].rstrip("."), how]))
    found = result.settings.get("prediction", ())
    return render(
        "measured.html.j2",
        result=result,
        names=names,
        of=", ".join(map(brief, [found] if isinstance(found, str) else found)),
        headline=headline,
        answer=answer.rstrip(".") + ".",
        how=how,
        picture=picture,
        caption=_caption(result),
        error_words=ERROR_WORDS[result.answers.kind],
        errors=error_rows(result),
        beside=beside_rows(result),
        noise=noise_words(result),
        scores=[
            (side, ", ".join(f"{k} {score(k, v)}" for k, v in found.items() if v is not None))
            for side, found in result.scores().items()
        ],
        evidence=[_evidence(e) for e in result.evidence],
        worst=[_worst(row) for row in result.worst[:SHOWN]],
        more=max(0, int(result.answers.unseen.sum()) - SHOWN),
        told=any(row["prediction"] is not None for row in result.worst[:SHOWN]),
        levels=[_level(row) for row in _worst_levels(result)],
        worst_level=result.worst_level_words(),
        behaviour=BEHAVIOUR,
        notes=result.notes,
        seen=int(result.answers.seen.sum()),
        unseen=int(result.answers.unseen.sum()),
    )


def write_measured(result: MeasureResult, out: Path) -> Path:
    """Write page, figures and tables under ``out``; the page last, so that it never points at nothing."""
    out = Path(out)
    try:
        for width, name in (("single", "error"), ("double", "error-wide")):
            with theme.drawn_for(width):  # type: ignore[arg-type]
                save_figure(measured_figure(result), measured_rows(result), out / "figures" / name)
        tables = {
            "errors": (ERROR_HEAD, error_rows(result), "Error on seen and on unseen combinations."),
            "beside": (BESIDE_HEAD, beside_rows(result), "The learner and simple rules on the same unseen rows."),
            "evidence": (
                EVIDENCE_HEAD,
                evidence_rows(result),
                "What speaks for which mechanism, and what chance gives.",
            ),
        }
        for name, (head, rows, caption) in tables.items():
            write(out / "tables" / f"{name}.md", markdown_table(head, rows).encode())
            write(out / "tables" / f"{name}.tex", latex_table(head, rows, caption, f"tab:{name}").encode())
        write(out / "tables" / "evidence.csv", safe_csv(result.evidence_frame()).encode())
        write(out / "tables" / "errors.csv", _errors_csv(result))
        write(out / "tables" / "combinations.csv", safe_csv(result.to_frame()).encode())
        write(out / "measure.json", (result.to_json(indent=1) + "\n").encode())
        return write(out / "index.html", measured_page(result).encode())
    except OSError as error:
        raise InputError(f"{str(out)!r} cannot be written: {error.strerror}.") from None


def error_rows(result: MeasureResult) -> list[tuple[str, ...]]:
    """Errors on training, seen and unseen combinations and the gap, for reading."""
    found = {"what was trained on": result.training} if isfinite(result.training.mean) else {}
    found |= {
        f"seen combinations, {result.compared_on}": result.seen,
        "unseen combinations": result.unseen,
        "the gap, unseen − seen": result.gap,
    }
    return [(name, ranged(f), f.whom if f.bounded else "–") for name, f in found.items()]


def beside_rows(result: MeasureResult) -> list[tuple[str, ...]]:
    """The learner and what it is compared with, for reading."""
    others = [(brief(c.name) + f" ({c.verdict})" * bool(c.verdict), ranged(c.error),
               ranged(c.difference) + f", {c.mostly}" * bool(c.mostly))
              for c in result.comparison.others]  # fmt: skip
    return [("this model", ranged(result.unseen), "–"), *others] if others and result.answers.unseen.any() else []


def evidence_rows(result: MeasureResult) -> list[tuple[str, ...]]:
    return [tuple(_evidence(e)[key] for key in ("mechanism", "what", "value", "compared", "p", "explains", "named"))
            for e in result.evidence]  # fmt: skip


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; whatever its cells hold stays text."""
    lines = [head, ["---"] * len(head), *([markdown_text(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, name: str) -> str:
    """A booktabs table; whatever its cells hold stays text. Of many columns the second stands below the others."""
    titles, *cells = ([latex_text(cell) for cell in row] for row in (head, *rows))
    wide = len(head) > len(WIDTHS)
    if wide:
        said = [row.pop(1) for row in (titles, *cells)]
        titles[0] += rf"\newline{{\footnotesize {said[0]}}}"
        lines = [latex_row(row, keep=True) + "\n" + latex_below(text, len(row))
                 for row, text in zip(cells, said[1:], strict=True)]  # fmt: skip
    else:
        lines = [latex_row(row) for row in cells]
    columns = "".join(map(latex_column, WIDTHS_OF_MANY if wide else WIDTHS))
    made, long = [f"made by recombine {__version__}"], len(rows) > A_PAGE // (4 if wide else 2)
    return latex_frame(rf"@{{}}{columns}@{{}}", titles, lines, latex_text(caption), name, made, long)


def _errors_csv(result: MeasureResult) -> bytes:
    import polars as pl

    found = {"training": result.training, "seen": result.seen, "unseen": result.unseen, "gap": result.gap}
    return pl.DataFrame([{"error": name, **f.to_dict()} for name, f in found.items()]).write_csv().encode()


def _evidence(evidence: Finding) -> dict[str, str]:
    return {
        "mechanism": evidence.mechanism,
        "what": evidence.what,
        "value": ranged(evidence.value),
        "over": evidence.value.whom,
        "chance": share(evidence.chance),
        "reference": evidence.reference,
        "compared": f"{share(evidence.chance)} ({evidence.reference})",
        "p": "–" if evidence.p is None else f"{evidence.p:.2g}",
        "explains": f"{evidence.explains:.0%}" if evidence.explains is not None and evidence.speaks else "–",
        "named": "yes" if evidence.named else "no",
        "limit": " ".join(
            [*([f"Not named: {evidence.why}."] if evidence.puzzles else []), evidence.limit.replace(BEHAVIOUR, "")]
        ).strip(),
    }


def _worst(row: dict[str, Any]) -> dict[str, Any]:
    said = {name: "–" if row[name] is None else brief(label(row[name])) for name in ("target", "prediction")}
    levels = [brief(label(v)) for v in row["combination"].values()]
    return {"levels": levels, "count": f"{row['count']:,}", "error": share(row["error"]), **said}


def _worst_levels(result: MeasureResult) -> list[dict[str, Any]]:
    return sorted((r for r in result.levels() if r["unseen"] is not None), key=lambda r: -r["unseen"])[:SHOWN]


def _level(row: dict[str, Any]) -> dict[str, str]:
    return {
        "name": f"{brief(row['factor'])} = {brief(label(row['level']))}" + ", never trained on" * row["new"],
        "unseen": share(row["unseen"]),
        "unseen_count": f"{row['unseen_count']:,}",
        "seen": share(row["seen"]),
        "seen_count": f"{row['seen_count']:,}",
    }


def _caption(result: MeasureResult) -> str:
    space = result.answers.space
    seen = f"{result.compared_on} of seen"
    mapped = space.finite and len(space) == 2 and max(space.shape) <= MOST_LEVELS
    where = "Each combination with its error; unseen ones are framed." if mapped else (
        f"For each level, its mean error over unseen combinations and over {seen} ones." if space.finite else
        f"Each member's mean error on unseen combinations and on {seen} ones."
    )  # fmt: skip
    if space.finite and not mapped and sum(space.shape) > MOST_BARS:
        where += f" Of {sum(space.shape):,} levels, the {MOST_BARS} worst are shown."
    if mapped and (result.answers.compared != result.answers.seen).any():
        where += " Seen ones without new rows show their training rows, which the verdict leaves aside."
    return f"{where} {ERROR_WORDS[result.answers.kind]}"
