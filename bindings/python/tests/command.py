"""The command, where its path is given: the package must agree with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest


def command(*arguments: str | Path) -> str:
    """What it prints."""
    program = os.environ.get("EMPHATIC_COMMAND")
    if program is None:
        pytest.skip("EMPHATIC_COMMAND is not set")
    return subprocess.run(
        [program, *arguments], capture_output=True, text=True, encoding="utf-8", check=True
    ).stdout
