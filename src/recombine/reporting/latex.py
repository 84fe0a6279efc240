"""LaTeX that pdflatex sets: texts in ASCII, and booktabs tables. Whatever a text holds stays text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

A_PAGE = 30
"""Rows of a line that fit on a page."""
NARROW_GAPS = r"\setlength{\tabcolsep}{4pt}"
BELOW = r"@{}>{\footnotesize\raggedright\arraybackslash}p{\linewidth}@{}"
"""The column of a row across all others."""

_GREEK = (
    "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "pi", "rho", "sigma", "varsigma", "tau", "upsilon", "varphi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
)  # fmt: skip
_MATHS = {
    "−": "-", "±": r"\pm", "∓": r"\mp", "×": r"\times", "÷": r"\div", "·": r"\cdot", "⋅": r"\cdot", "∘": r"\circ",
    "°": r"^\circ", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "∼": r"\sim", "≡": r"\equiv",
    "∝": r"\propto", "≪": r"\ll", "≫": r"\gg", "∂": r"\partial", "∇": r"\nabla", "∑": r"\sum", "∏": r"\prod",
    "∫": r"\int", "√": r"\surd", "∞": r"\infty", "→": r"\rightarrow", "←": r"\leftarrow", "↔": r"\leftrightarrow",
    "↦": r"\mapsto", "⇒": r"\Rightarrow", "∈": r"\in", "∉": r"\notin", "∪": r"\cup", "∩": r"\cap", "⊂": r"\subset",
    "⊆": r"\subseteq", "∅": r"\emptyset", "∀": r"\forall", "∃": r"\exists", "¬": r"\neg", "∧": r"\wedge", "∨": r"\vee",
    "⊕": r"\oplus", "⊗": r"\otimes", "⊙": r"\odot", "⊥": r"\perp", "∥": r"\parallel", "‖": r"\|", "∣": r"\mid",
    "⟨": r"\langle", "⟩": r"\rangle", "′": "'",
    **{letter: f"\\{name}" for letter, name in zip("αβγδεζηθικλμνξπρσςτυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK, strict=True)},
}  # fmt: skip
_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\`{}",
    "–": "--", "—": "---", "‐": "-", "‑": "-", "‒": "-", "…": r"\ldots{}", "⁄": "/", "‘": "`", "’": "'", "“": "``",
    "”": "''", "„": r"\quotedblbase{}", "‚": r"\quotesinglbase{}", "«": r"\guillemotleft{}", "»": r"\guillemotright{}",
    "•": r"\textbullet{}", "†": r"\dag{}", "‡": r"\ddag{}", "§": r"\S{}", "¶": r"\P{}", "©": r"\copyright{}",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "ȷ": r"\j{}", "đ": r"\dj{}", "Đ": r"\DJ{}", "ð": r"\dh{}", "Ð": r"\DH{}",
    "þ": r"\th{}", "Þ": r"\TH{}", "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,",
    **{letter: f"\\{letter}" for letter in "$&%#_"},
    **{letter: f"${maths}$" for letter, maths in _MATHS.items()},
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True)),  # Greek that looks Latin
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0328": "k",
    "\u0331": "b",
}  # fmt: skip
_SPACE = re.compile(r"[^\S\u00a0\u2009\u202f]+")
_PER_CENT = re.compile(r"(?<=\d) (?=%)")
_LETTER = re.compile(r".[\u0300-\u036f]*")
_RUN_TOGETHER = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)")
"""Where two signs would become one: a dash, a quotation mark."""


def latex_text(text: str) -> str:
    """The text as LaTeX prints it, in ASCII; a letter that its fonts lack stands as its number, such as U+4E2D."""
    spaced = _PER_CENT.sub("\u202f", _SPACE.sub(" ", unicodedata.normalize("NFC", text)))
    parts = _RUN_TOGETHER.split(spaced.strip(" "))
    return "{}".join("".join(map(_set, _LETTER.findall(part))) for part in parts)


@cache
def _set(letter: str) -> str:
    """A letter with the accents upon it."""
    if letter in _SIGNS:
        return _SIGNS[letter]
    if len(letter) == 1 and " " <= letter <= "~":
        return letter
    base, *accents = list(unicodedata.normalize("NFD", letter))
    if accents and all(accent in _ACCENTS for accent in accents):
        inner = {"i": r"\i", "j": r"\j"}.get(base, _set(base))
        for accent in accents:
            inner = rf"{{\{_ACCENTS[accent]}{{{inner}}}}}"
        return inner
    if len(letter) > 1:
        return "".join(map(_set, letter))
    kind, _, codes = unicodedata.decomposition(letter).partition("> ")
    plain = "".join(chr(int(code, 16)) for code in codes.split())
    if kind in ("<sub", "<super"):
        inner = "".join(map(_set, plain)).replace("$", "")
        return f"${'_' if kind == '<sub' else '^'}{inner if len(inner) == 1 else f'{{{inner}}}'}$"
    if plain:
        return latex_text(plain)
    return "" if unicodedata.category(letter) in ("Cc", "Cf") else rf"\texttt{{U+{ord(letter):04X}}}"


def latex_comment(lines: Sequence[str]) -> list[str]:
    """Lines that LaTeX skips, in ASCII."""
    return [f"% {' '.join(line.split())}".encode("ascii", "backslashreplace").decode() for line in lines]


def latex_frame(
    columns: str, head: Sequence[str], rows: Sequence[str], caption: str, label: str,
    comments: Sequence[str] = (), long: bool = False,
) -> str:  # fmt: skip
    """A booktabs table as wide as the page has text, of `latex_row`s; its caption is LaTeX already. A ``long`` one
    breaks over pages, which LaTeX does in one column only."""
    caption = rf"\caption{{{caption}}}"
    label = rf"\label{{{re.sub('[^A-Za-z0-9:-]', '-', label)}}}"
    titles = [r"\toprule", latex_row(head), r"\midrule"]
    needs = rf"needs \usepackage{{booktabs,array{',longtable' * long}}} and \usepackage[T1]{{fontenc}}"
    if long:
        needs += r"; in a document of two columns it stands after \onecolumn"
        begin = [rf"\begingroup\small{NARROW_GAPS}", rf"\begin{{longtable}}{{{columns}}}", rf"{caption}{label}\\*"]
        heads = [*titles, r"\endfirsthead", *titles, r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = [*begin, *heads, *rows, r"\end{longtable}", r"\endgroup"]
    else:
        set_as = rf"\centering\small{NARROW_GAPS}"
        begin = [r"\begin{table*}", set_as, caption, label, r"\smallskip", rf"\begin{{tabular}}{{{columns}}}"]
        lines = [*begin, *titles, *rows, r"\bottomrule", r"\end{tabular}", r"\end{table*}"]
    return "\n".join([*latex_comment([needs, *comments]), *lines, ""])


def latex_row(cells: Sequence[str], keep: bool = False) -> str:
    """A row of cells that are LaTeX already; one that is to ``keep`` stands on the page of the next."""
    # After the end of a row or a rule, a bracket or star would be taken for an option of it.
    first = "{}" * cells[0].startswith(("[", "*"))
    return first + " & ".join(cells) + r" \\" + "*" * keep


def latex_column(share: float) -> str:
    """A column that breaks lines, as a share of a line of the page; between two columns are 8 points."""
    return rf">{{\raggedright\arraybackslash}}p{{{share}\linewidth}}"


def latex_below(text: str, columns: int) -> str:
    """A row across all columns in smaller letters, which ends what the row above it begins."""
    return latex_row([rf"\multicolumn{{{columns}}}{{{BELOW}}}{{{text}}}"]) + "\n" + r"\addlinespace"
