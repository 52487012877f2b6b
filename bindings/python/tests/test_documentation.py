"""What the documentation shows, works."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
PAGES = (PACKAGE / "README.md", PACKAGE.parents[1] / "README.md")
BLOCKS = [
    block
    for page in PAGES
    for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]


def test_the_readme_has_examples() -> None:
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # As somebody who copies it has it: without what is imported here from the future.
    exec(compile(block, "README.md", "exec", dont_inherit=True), {"__name__": "readme"})


@pytest.mark.parametrize("example", sorted((PACKAGE / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "torch" in example.stem:
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
