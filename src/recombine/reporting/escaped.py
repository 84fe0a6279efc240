"""Texts for other documents, Markdown and LaTeX: whatever they hold stays text there."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    **{letter: f"\\{letter}" for letter in "$&%#_"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∂": r"$\partial$",
    "→": r"$\rightarrow$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "\u00a0": "~",
    **{low: f"$_{digit}$" for low, digit in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)},
    **{high: f"$^{digit}$" for high, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)},
}
A_PAGE = 30
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")


def latex_text(text: str) -> str:
    """The text as LaTeX prints it: no character is a command."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def markdown_text(text: str) -> str:
    """The text as Markdown shows it, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def latex_frame(columns: str, head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, label: str) -> str:
    """A booktabs table of cells that are LaTeX already; one of more rows than a page holds breaks over pages."""
    long = len(rows) > A_PAGE
    caption = rf"\caption{{{latex_text(caption)}}}"
    label = rf"\label{{{re.sub('[^A-Za-z0-9:-]', '-', label)}}}"
    titles = [r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    needs = rf"% needs \usepackage{{booktabs,array{',longtable' * long}}} and \usepackage[T1]{{fontenc}}"
    body = [" & ".join(row) + r" \\" for row in rows]
    if long:
        begin = [r"\begingroup\small", rf"\begin{{longtable}}{{{columns}}}", rf"{caption}{label}\\*"]
        end = [r"\end{longtable}", r"\endgroup"]
        lines = [
            needs,
            *begin,
            *titles,
            r"\endfirsthead",
            *titles,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            *end,
        ]
    else:
        begin = [r"\begin{table}", r"\centering\small", caption, label, rf"\begin{{tabular}}{{{columns}}}"]
        lines = [needs, *begin, *titles, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join([*lines, ""])
