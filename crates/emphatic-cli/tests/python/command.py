"""Runs the command. Every script is given its path, and an empty directory to work in."""

import json
import subprocess
import sys
from pathlib import Path

COMMAND, DIRECTORY = sys.argv[1], Path(sys.argv[2])


def experiment(name, text):
    path = DIRECTORY / f"{name}.toml"
    path.write_text(text)
    return path


def emphatic(*arguments):
    result = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, f"{arguments}: {result.returncode}\n{result.stderr}"
    return result.stdout


def run(file, name, *options):
    """Runs an experiment to its end, and gives the directory of its results."""
    out = DIRECTORY / name
    emphatic("run", file, "--out", out, "--quiet", *options)
    return out


def summary(directory, *options):
    return json.loads(emphatic("summarise", directory, "--json", *options))
