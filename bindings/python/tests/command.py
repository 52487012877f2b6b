"""Other processes: the command, where its path is given, with which the package must agree; and Python by itself."""

from __future__ import annotations

import os
import subprocess
import sys
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


def python(code: str, directory: Path = Path(__file__).parent, timeout: float = 300) -> str:
    """What Python prints in a process of its own, which may crash or be ended."""
    program = [sys.executable, "-W", "error", "-X", "faulthandler", "-c", code]
    done = subprocess.run(program, cwd=directory, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-3000:]}"
    return done.stdout
