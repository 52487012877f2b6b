"""The stubs of the native module say what it is. (mypy's stubtest compares all names and arguments.)"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import emphatic
from emphatic import _native

STUBS = ast.parse((Path(emphatic.__file__).parent / "_native.pyi").read_text("utf-8"))


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
