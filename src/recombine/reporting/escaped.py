"""Texts for Markdown: whatever they hold stays text there."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#+!|~&$]|^-|-(?=-)|(?<=-)-)")
"""A round bracket means something after a square one alone; a hyphen where it begins a line or stands beside another,
which some readers make one dash."""


def markdown_text(text: str) -> str:
    """The text as Markdown shows it, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))
