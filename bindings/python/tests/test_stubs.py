"""The stubs of the native module say what it is."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import emphatic
from emphatic import _native

STUBS = ast.parse((Path(emphatic.__file__).parent / "_native.pyi").read_text("utf-8"))


def names(body: list[ast.stmt]) -> set[str]:
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_everything_has_a_stub_and_nothing_else_has() -> None:
    assert names(STUBS.body) == {name for name in vars(_native) if not name.startswith("__")}
    for node in STUBS.body:
        if isinstance(node, ast.ClassDef) and not issubclass(getattr(_native, node.name), Exception):
            known = {name for name in vars(getattr(_native, node.name)) if not name.startswith("__")}
            assert names(node.body) - {"__new__"} == known, node.name


def test_what_editors_show_is_what_help_shows() -> None:
    """Editors read the stubs, `help` the native module: both say the same, and of everything public."""
    seen = 0
    for node in STUBS.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
                seen += 1
                said = ast.get_docstring(member)
                assert said and said == inspect.getdoc(getattr(getattr(_native, node.name), member.name)), (
                    member.name
                )
    assert seen > 10
