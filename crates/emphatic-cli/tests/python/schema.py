"""Experiment and problem files that are right are so by their JSON Schemas; wrong ones are not, and the command refuses them too."""

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
    "a setting of another critic": SHORT.replace(
        '"exact"', '{ kind = "gtd", alpha_v = 0.1, alpha_w = 0.1, alpha_u = 0.1 }'
    ),
    "an unknown choice": SHORT.replace("seed = 1", 'select = "best"'),
    "a word for a number": SHORT.replace("runs = 6", 'runs = "six"'),
    "a fraction of a run": SHORT.replace("runs = 6", "runs = 6.5"),
    "fewer runs than none": SHORT.replace("runs = 6", "runs = -6"),
    "a number for a name": SHORT.replace('record = ["objective", "weights"]', "record = [1]"),
    "no problem": SHORT.replace('problem = "counterexample"', ""),
    "no runs": SHORT.replace("\nruns = 6", ""),
    "no methods": SHORT[: SHORT.index("[[method]]")],
}

PROBLEMS = Path(__file__).parents[4] / "problems"
PROBLEM = (PROBLEMS / "counterexample.toml").read_text()
WRONG_PROBLEMS = {
    "an unknown key": PROBLEM.replace("start =", "begin ="),
    "an unknown key of a transition": PROBLEM.replace("reward = 2", "pay = 2"),
    "a word for a number": PROBLEM.replace("reward = 2", 'reward = "two"'),
    "a number for a policy": PROBLEM.replace("behaviour = { A0 = 0.25, A1 = 0.75 }", "behaviour = 0.5"),
    "a transition from nowhere": PROBLEM.replace('from = "S0", ', ""),
    "a grid with an unknown key": 'behaviour = "uniform"\n[grid]\nmaps = ""',
    "a random problem without a seed": 'behaviour = "uniform"\n[random]\nstates = 3\nactions = 2',
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
    problems()


def problems():
    schema = json.loads(emphatic("schema", "problem"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for file in sorted(PROBLEMS.glob("*.toml")):
        errors = [f"{e.json_path}: {e.message}" for e in validator.iter_errors(tomllib.loads(file.read_text()))]
        assert not errors, f"{file.name}: {errors}"
    for name, text in WRONG_PROBLEMS.items():
        assert text != PROBLEM, name
        solved = subprocess.run([COMMAND, "solve", experiment("wrong-problem", text)], capture_output=True)
        assert solved.returncode == 1, f"{name}: the command accepts it"
        assert not validator.is_valid(tomllib.loads(text)), f"{name}: the schema accepts it"


main()
