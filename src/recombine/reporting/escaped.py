"""Texts for Markdown: whatever they hold stays text there."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")


def markdown_text(text: str) -> str:
    """The text as Markdown shows it, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
