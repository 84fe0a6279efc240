"""Texts for other documents, Markdown and LaTeX: whatever they hold stays text there."""

from __future__ import annotations

import re

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
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")


def latex_text(text: str) -> str:
    """The text as LaTeX prints it: no character is a command."""
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))


def markdown_text(text: str) -> str:
    """The text as Markdown shows it, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
