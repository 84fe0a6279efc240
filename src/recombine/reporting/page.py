"""Pages as text: templates that escape everything, and the one script that a page may run."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

_environment = Environment(
    loader=PackageLoader("recombine.reporting"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_COMMAND = re.compile(r"`((?:recombine |--)[^`]+)`")


def _commands(text: str) -> Markup:
    """A sentence whose commands and options, which stand between backticks, are set as such; all else is text."""
    return Markup(_COMMAND.sub(r"<code>\1</code>", str(escape(text))))


_environment.filters["commands"] = _commands


def render(template_name: str, **context: Any) -> str:
    """The template with the context; whatever is not `Markup` appears as text, and a missing name is an error."""
    return _environment.get_template(template_name).render(**context)


def script(name: str) -> dict[str, Markup]:
    """A script of the package, and the hash by which a page allows itself to run it and nothing else."""
    text = _environment.get_template(name).render()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return {"text": Markup(text), "hash": Markup(f"sha256-{digest}")}
