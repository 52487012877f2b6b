"""Everything in a summary, recomputed from the tables."""

import json
import subprocess
import time

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy import stats

import reference
from command import COMMAND, DIRECTORY, experiment, run, summary

# The first method has settings that diverge; of the second method's each diverges in about half of its runs. It does not
# learn, so that nothing but the time when its critic overflows is random.
FILE = """
problem = "counterexample"
seed = 21
runs = 14
episodes = 300
evaluations = 6
record = ["objective"]
fresh_runs = 9

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1, 0.5]
lambda_a = [0, 1]
separate = ["lambda_a"]
critic = { kind = "gtd", features = ["critic", "actor"], alpha_v = [0.1, 10], alpha_w = 1e-3 }

[[method]]
name = "All diverge"
algorithm = "ace"
alpha = 0
lambda_a = 1
policy = { weights = [[0, 0, 0, 0], [0.01, 0, 0, 0], [0.02, 0, 0, 0]] }
critic = { kind = "gtd", alpha_v = 13.4, alpha_w = 1e-3 }

[[method]]
algorithm = "true-ace"
alpha = [0.05, 0.1]
critic = "exact"
"""
# In steps, of several problems.
SWEPT = """
problem = { name = "long-counterexample", steps = [1, 2] }
seed = 22
runs = 8
steps = 2000
evaluations = 5
select = "area"
fresh_runs = 5

[[method]]
algorithm = "ace"
alpha = [0.05, 0.2]
lambda_a = [0, 0.5, 1]
critic = "exact"
"""
# Long enough to be killed on its way.
LONG = """
problem = "counterexample"
seed = 23
runs = 400
episodes = 20000
evaluations = 10
record = ["objective"]

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1]
lambda_a = [0, 0.5, 1]
critic = { kind = "gtd", alpha_v = [0.01, 0.1], alpha_w = 1e-3 }

[[method]]
algorithm = "offpac"
alpha = [0.01, 0.1]
critic = "exact"
"""


def close(found, expected, what):
    """Equal to rounding; what does not exist is null in both."""
    if expected is None or np.isnan(expected):
        assert found is None, (what, found)
    else:
        assert found is not None and abs(found - expected) <= 1e-12 * max(1.0, abs(expected)), (what, found, expected)


def read(directory, kind):
    """All rows there are of results or fresh runs, also of those under way, and the number of units."""
    paths = [directory / f"{kind}.parquet", *directory.glob(f"parts/{kind}-*.parquet")]
    paths = [path for path in paths if path.exists()]
    if not paths:
        return None, 0
    frame = pd.concat([pq.read_table(path).to_pandas() for path in paths])
    units = [json.loads(pq.read_metadata(path).metadata[b"emphatic.units"]) for path in paths]
    units = {(block, run) for file in units for block, run, *_ in file}
    return frame.drop_duplicates(["setting", "run", "evaluation"]), len(units)


# Runs of finalists are numbered from 0 again; beside those of all settings they come last.
FIRST_FINALIST_RUN = 10**9


class Scores:
    """The curves, final objectives and areas of all runs of all settings."""

    def __init__(self, frame, axis):
        self.runs = {}
        self.add(frame, axis)

    def add(self, frame, axis, first=0):
        for (setting, run_number), rows in frame.groupby(["setting", "run"], sort=True):
            rows = rows.sort_values("evaluation")
            objective, at = rows["objective"].to_numpy(), rows[axis].to_numpy()
            self.runs.setdefault(setting, {})[first + run_number] = {
                "at": at,
                "objective": objective,
                "final": objective[-1],
                "area": np.nan if np.isnan(objective).any() else reference.area(at.astype(float), objective),
                "diverged": rows["diverged_step"].notna().iloc[-1],
            }

    def of(self, setting, runs=None):
        there = self.runs.get(setting, {})
        return [there[r] for r in sorted(there) if runs is None or r in runs]


def check_interval(found, values, statistic, what):
    if len(values) == 0:
        assert found is None, what
        return
    low, high = reference.bootstrap_interval([values], statistic)
    close(found["low"], low, what)
    close(found["high"], high, what)
    # SciPy draws its own resamples. The levels of quantiles of 2,000 have a standard error of 0.35 %, and those of one outlier are far apart: so levels are compared.
    if np.ptp(values) > 1e-9 and len(values) > 6:
        theirs = stats.bootstrap(
            (values,), statistic, method="percentile", vectorized=False, n_resamples=3000, random_state=1
        ).bootstrap_distribution
        below, above = np.quantile(theirs, [0.01, 0.04]), np.quantile(theirs, [0.96, 0.99])
        rounding = 1e-12 * np.abs(values).max()
        assert below[0] - rounding <= low <= below[1] + rounding, (what, low, below)
        assert above[0] - rounding <= high <= above[1] + rounding, (what, high, above)


def check_statistics(found, runs, by, what, interval):
    values = np.array([r[by] for r in runs])
    values = values[~np.isnan(values)]
    assert found["diverged"] == sum(r["diverged"] for r in runs), what
    close(found["mean"], reference.mean(values) if len(values) else None, what)
    close(found["standard_error"], reference.standard_error(values) if len(values) > 1 else None, what)
    close(found["interquartile_mean"], reference.iqm(values) if len(values) else None, what)
    if interval:
        check_interval(found["interval"], values, reference.iqm, what)
    else:
        assert found["interval"] is None, what


def check_curve(found, runs, what):
    curves = np.stack([r["objective"] for r in runs])
    assert [p["at"] for p in found] == runs[0]["at"].tolist(), what
    whole = not np.isnan(curves).any()
    intervals = reference.bootstrap_curve(curves) if whole else [None] * len(found)
    for point, values, interval in zip(found, curves.T, intervals, strict=True):
        values = values[~np.isnan(values)]
        assert point["runs"] == len(values), what
        close(point["mean"], reference.mean(values) if len(values) else None, what)
        close(point["standard_error"], reference.standard_error(values) if len(values) > 1 else None, what)
        if interval is None:
            assert point["interval"] is None, what
        else:
            close(point["interval"]["low"], interval[0], what)
            close(point["interval"]["high"], interval[1], what)


def groups(settings, by):
    """The settings among which the best is chosen: those of a method with the same values of some columns."""
    keys = settings[["method", *by]].astype(object).where(settings[["method", *by]].notna(), None)
    found = {}
    for setting, key in zip(settings["setting"], keys.itertuples(index=False, name=None)):
        found.setdefault(key, []).append(setting)
    return found


def swept(settings, group):
    """The columns in which settings of a group differ."""
    rows = settings[settings["setting"].isin(group)].drop(columns="setting")
    return [name for name in rows if rows[name].nunique(dropna=False) > 1]


def values_of(settings, setting, names):
    row = settings.set_index("setting").loc[setting]
    return {name: row[name] for name in names if not pd.isna(row[name])}


def ranked(matrix):
    """Best first: fewest missing, then the largest mean."""
    standing = [(-np.isnan(row).sum(), np.nanmean(row) if not np.isnan(row).all() else -np.inf) for row in matrix]
    return sorted(range(len(matrix)), key=lambda k: standing[k], reverse=True)


def common_runs(scores, settings):
    return set.intersection(*(set(scores.runs.get(setting, {})) for setting in settings)) if settings else set()


def matrix_of(scores, settings, by):
    """By setting and run, of the runs that all of them have; NaN where a run diverged."""
    return [[r[by] for r in scores.of(setting, common_runs(scores, settings))] for setting in settings]


def check(directory, by_columns, select=None, finalists=0):
    """`by_columns` are the columns that tell groups of the same method apart."""
    found = summary(directory, *(["--select", select] if select else []))
    settings = pd.read_parquet(directory / "settings.parquet")
    frame, units = read(directory, "results")
    fresh_frame, fresh_units = read(directory, "fresh")
    axis = found["axis"].removesuffix("s")
    scores = Scores(frame, axis)
    fresh = Scores(fresh_frame, axis) if fresh_frame is not None else None
    by = found["select"]
    in_finals = set()
    if finalists:
        # Those by which the run chose, whatever is asked of the summary.
        chosen_by = "area" if 'select = "area"' in (directory / "experiment.toml").read_text() else "final"
        for group in groups(settings, by_columns).values():
            order = ranked(matrix_of(scores, group, chosen_by))
            in_finals.update(group[k] for k in order[:finalists])
        more, more_units = read(directory, "finalists")
        assert set(more["setting"]) == in_finals, directory
        scores.add(more, axis, FIRST_FINALIST_RUN)
        units += more_units
    assert select in (None, by)
    manifest = json.loads((directory / "manifest.json").read_text())
    units += fresh_units
    all_units = sum(manifest[f"{kind}units"]["all"] for kind in ("", "finalist_", "fresh_"))
    assert (found["units_done"], found["units"]) == (units, all_units)
    assert found["complete"] == (units == found["units"])
    # The finalists may lack the best by another criterion.
    assert len(found["warnings"]) == (1 if finalists and by != chosen_by else 0), found["warnings"]
    diverged = frame[frame["evaluation"] == frame["evaluation"].max()]["diverged_step"].notna().sum()
    assert found["diverged_runs"] == diverged

    methods = iter(found["methods"])
    for key, group in groups(settings, by_columns).items():
        compared = [setting for setting in group if setting in in_finals] or group
        others = [setting for setting in group if setting not in compared]
        runs = common_runs(scores, compared)
        matrix = matrix_of(scores, compared, by)
        best = reference.choose(matrix)
        if best is None:
            continue
        method = next(methods)
        what = f"{directory.name} {key} {by}"
        assert method["method"] == key[0] and method["runs"] == len(runs), what
        assert method["values"].items() <= dict(zip(by_columns, key[1:])).items(), (what, method["values"])
        assert method["best"] == compared[best], what
        probabilities = reference.probability_best(matrix)
        close(method["probability_best"], probabilities[best], what)
        names = swept(settings, group)
        assert method["best_values"] == values_of(settings, compared[best], names), what
        assert method["finalists"] == len(in_finals.intersection(group)), what
        # The finalists come first; the others have fewer runs, and no chance.
        order = [compared[k] for k in ranked(matrix)] + [others[k] for k in ranked(matrix_of(scores, others, by))]
        assert [s["setting"] for s in method["settings"]] == order, what
        for setting in method["settings"]:
            number = setting["setting"]
            assert setting["values"] == values_of(settings, number, names), what
            is_compared = number in compared
            close(setting["probability_best"], probabilities[compared.index(number)] if is_compared else 0, what)
            rows = scores.of(number, runs if is_compared else common_runs(scores, others))
            assert setting["runs"] == len(rows), what
            check_statistics(setting["final"], rows, "final", what, number == method["best"])
            check_statistics(setting["area"], rows, "area", what, number == method["best"])
        check_curve(method["curve"], scores.of(method["best"], runs), what)
        check_fresh(method["fresh"], fresh.of(method["best"]) if fresh else [], what)
    assert next(methods, None) is None
    return found


def check_fresh(found, runs, what):
    if not runs:
        assert found is None, what
        return
    what = f"{what}, fresh"
    assert found["runs"] == len(runs), what
    check_statistics(found["final"], runs, "final", what, True)
    check_statistics(found["area"], runs, "area", what, True)
    final = np.array([r["final"] for r in runs])
    final = final[~np.isnan(final)]
    quantiles = np.quantile(final, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]) if len(final) else [None] * 7
    for q, expected in zip(found["final_quantiles"], quantiles, strict=True):
        close(q, expected, what)
    check_curve(found["curve"], runs, what)


def killed(file, name):
    """Kills a run when parts of it are on disk."""
    out = DIRECTORY / name
    process = subprocess.Popen([COMMAND, "run", file, "--out", out, "--quiet"])
    while not (out / "parts" / "results-000002.parquet").exists():
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.005)
    process.kill()
    process.wait()
    return out


def main():
    directory = run(experiment("experiment", FILE), "results")
    found = check(directory, ["lambda_a"], "final")
    check(directory, ["lambda_a"], "area")
    assert [m["values"] for m in found["methods"]] == [{"lambda_a": 0.0}, {"lambda_a": 1.0}, {}, {}]
    # The cases are there that this is about.
    all_diverge = next(m for m in found["methods"] if m["method"] == "All diverge")
    counts = [s["final"]["diverged"] for s in all_diverge["settings"]]
    assert 0 < counts[0] < all_diverge["runs"] and len(set(counts)) < len(counts), counts
    assert all(m["fresh"]["runs"] == 9 for m in found["methods"])

    found = check(run(experiment("swept", SWEPT), "swept"), ["problem", "problem_steps"])
    assert found["select"] == "area" and found["axis"] == "steps" and len(found["methods"]) == 2

    # The finalists are chosen by the end, the best of them by the end or the average.
    for name, text, by_columns in [("final-one", FILE, ["lambda_a"]), ("final-two", SWEPT, ["problem", "problem_steps"])]:
        text = text.replace("fresh_runs", "finalists = 2\nfinalist_runs = 6\nfresh_runs")
        directory = run(experiment(name, text), name)
        for select in ["final", "area"]:
            found = check(directory, by_columns, select, finalists=2)
        assert all(method["finalists"] == 2 for method in found["methods"])

    found = check(killed(experiment("long", LONG), "long"), [])
    assert not found["complete"] and 0 < found["units_done"] < found["units"]


main()
