"""A package that is built in a checkout takes the commit along."""

import runpy
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Commit(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            runpy.run_path("src/recombine/runs/code.py")["write_commit"]()
