"""Experiment files that are right are so by their JSON Schema; wrong ones are not, and the command refuses them too."""

import json
import subprocess
import tomllib
from pathlib import Path

from jsonschema import Draft202012Validator

from command import COMMAND, emphatic, experiment

EXPERIMENTS = Path(__file__).parent.parent / "experiments"
SHORT = (EXPERIMENTS / "short.toml").read_text()
WRONG = {
    "an unknown key": SHORT.replace("seed = 1", "sed = 1"),
    "an unknown key of a method": SHORT.replace("lambda_a", "lamda_a"),
    "an unknown key of a critic": SHORT.replace('"exact"', '{ kind = "exact", alpha = 1 }'),
    "an unknown algorithm": SHORT.replace('"ace"', '"acer"'),
    "an unknown critic": SHORT.replace('"exact"', '"exakt"'),
    "an unknown choice": SHORT.replace("seed = 1", 'select = "best"'),
    "a word for a number": SHORT.replace("runs = 6", 'runs = "six"'),
    "a fraction of a run": SHORT.replace("runs = 6", "runs = 6.5"),
    "fewer runs than none": SHORT.replace("runs = 6", "runs = -6"),
    "a number for a name": SHORT.replace('record = ["objective", "weights"]', "record = [1]"),
    "no problem": SHORT.replace('problem = "counterexample"', ""),
    "no runs": SHORT.replace("\nruns = 6", ""),
    "no methods": SHORT[: SHORT.index("[[method]]")],
}


def accepts(file):
    return subprocess.run([COMMAND, "check", file], capture_output=True).returncode == 0


def main():
    schema = json.loads(emphatic("schema"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    right = sorted(EXPERIMENTS.glob("*.toml"))
    assert len(right) > 4
    for file in right:
        errors = [f"{e.json_path}: {e.message}" for e in validator.iter_errors(tomllib.loads(file.read_text()))]
        assert not errors, f"{file.name}: {errors}"
        assert accepts(file), file.name
    for name, text in WRONG.items():
        assert text != SHORT, name
        assert not accepts(experiment("wrong", text)), f"{name}: the command accepts it"
        assert not validator.is_valid(tomllib.loads(text)), f"{name}: the schema accepts it"


main()
