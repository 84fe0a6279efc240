"""Modules import each other in one direction only, inside functions too: no two need each other to be understood."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import recombine

SOURCE = Path(recombine.__file__).parent


def modules() -> dict[str, Path]:
    """Every module by name; a package is its ``__init__``."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that are carried out at some time: not those for the type checker."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.expr) or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            continue
        else:
            yield from statements(node)


def imports(code: str, known: set[str]) -> set[str]:
    """The modules of ours that a source imports; of `from package import name` the module where it is one."""
    found: set[str] = set()
    for node in statements(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, "imports name the whole package"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & known) | ({node.module or ""} if inner - known else set())
    return found & known


def circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_is_imported_by_what_it_imports() -> None:
    there = modules()
    graph = {name: imports(path.read_text(encoding="utf-8"), set(there)) for name, path in there.items()}
    assert len(graph) > 300
    assert circle(graph) == []


def test_the_search_finds_a_circle() -> None:
    known = {"a", "b", "b.c"}
    lazy = imports("def f():\n    from b import c, name\n", known)
    assert lazy == {"b", "b.c"}
    assert imports("if TYPE_CHECKING:\n    import b\nelse:\n    import a", known) == set()
    assert set(circle({"a": lazy, "b.c": imports("import a", known)})) == {"a", "b.c"}
