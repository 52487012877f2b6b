"""The tables open in pyarrow, pandas, Polars and DuckDB as they are, and say what was learned."""

import json
import os
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit

from command import experiment, run

RUNS, FRESH_RUNS, EVALUATIONS, EPISODES = 6, 3, 8, 400
# One of the two step-sizes of the critic is far too large.
ACE_SETTINGS, TRUE_ACE_SETTINGS = 2 * 2 * 2, 1
FILE = f"""
problem = "counterexample"
seed = 7
runs = {RUNS}
episodes = {EPISODES}
evaluations = {EVALUATIONS}
record = ["objective", "target.S0", "target.S1.A0", "target.S2.A0", "emphasis", "exact_emphasis", "rho", "weights"]
fresh_runs = {FRESH_RUNS}

[[method]]
algorithm = "ace"
alpha = [0.01, 0.1]
lambda_a = [0, 1]
critic = {{ kind = "gtd", alpha_v = [0.1, 10], alpha_w = 1e-3 }}

[[method]]
algorithm = "true-ace"
alpha = 0.1
critic = "exact"
"""
KEYS = ["setting", "run", "evaluation"]
MEANS = ["emphasis", "exact_emphasis", "rho"]
TARGETS = ["target.S0.A0", "target.S0.A1", "target.S1.A0", "target.S2.A0"]
COLUMNS = {
    "setting": pa.uint32(),
    "run": pa.uint32(),
    "evaluation": pa.uint32(),
    "episode": pa.uint64(),
    "step": pa.uint64(),
    "diverged_step": pa.uint64(),
    "objective": pa.float64(),
    **{name: pa.float64() for name in TARGETS + MEANS},
    "weights": pa.list_(pa.float64()),
}


def check_columns(results):
    assert results.schema.names == list(COLUMNS), results.schema.names
    for field in results.schema:
        expected = COLUMNS[field.name]
        same = field.type.value_type == expected.value_type if pa.types.is_list(expected) else field.type == expected
        assert same, field
    for name in ["setting", "run", "evaluation", "episode", "step"]:
        assert not results.schema.field(name).nullable and results[name].null_count == 0


def check_rows(frame, settings, runs):
    """Every setting, run and evaluation once, and the axes of a run."""
    assert len(frame) == settings * runs * (EVALUATIONS + 1)
    assert not frame.duplicated(KEYS).any()
    for _, rows in frame.groupby(["setting", "run"]):
        assert rows["evaluation"].tolist() == list(range(EVALUATIONS + 1))
        assert rows["episode"].tolist() == [EPISODES * k // EVALUATIONS for k in range(EVALUATIONS + 1)]
        assert rows["step"].is_monotonic_increasing and rows["step"].iloc[0] == 0
    # All settings of a run learn from the same experience.
    assert (frame.groupby(["run", "evaluation"])["step"].nunique() == 1).all()


def check_divergence(frame):
    """Empty exactly where a run has diverged, or where there was no step to take a mean over."""
    diverged = frame["diverged_step"].notna()
    assert 0 < diverged.sum() < len(frame)
    for name in ["objective", "weights", *TARGETS]:
        assert (frame[name].isna() == diverged).all(), name
    for name in MEANS:
        assert (frame[name].isna() == (diverged | (frame["evaluation"] == 0))).all(), name
    assert (frame["diverged_step"][diverged] <= frame["step"][diverged]).all()
    for _, rows in frame.groupby(["setting", "run"]):
        steps = rows["diverged_step"].dropna()
        # Once diverged, it stays so, and since the same step.
        assert steps.nunique() <= 1 and rows["diverged_step"].iloc[len(rows) - len(steps) :].notna().all()


def check_objective(frame):
    """The closed form of the three-state counterexample, with the states S1 and S2 aliased."""
    frame = frame[frame["weights"].notna()]
    weights = np.stack(frame["weights"].to_numpy())
    assert weights.shape[1] == 4
    q, not_q = expit(weights[:, 0] - weights[:, 1]), expit(weights[:, 1] - weights[:, 0])
    p = expit(weights[:, 2] - weights[:, 3])
    v = np.stack([2 * p * q + (1 - q) * (1 - p), 2 * p, 1 - p])
    objective = np.array([0.5, 0.125, 0.375]) @ v
    np.testing.assert_allclose(frame["objective"], objective, rtol=1e-12)
    for name, expected in zip(TARGETS, [q, not_q, p, p]):
        np.testing.assert_allclose(frame[name], expected, rtol=1e-12, atol=1e-300, err_msg=name)
    assert objective.min() < objective.max() <= 1.25


def check_settings(directory, frame):
    path = directory / "settings.parquet"
    settings = pd.read_parquet(path)
    assert settings["setting"].tolist() == list(range(ACE_SETTINGS + TRUE_ACE_SETTINGS))
    assert settings["method"].tolist() == ["ACE"] * ACE_SETTINGS + ["True-ACE"] * TRUE_ACE_SETTINGS
    ace = settings[settings["method"] == "ACE"]
    assert not ace.duplicated(["alpha", "lambda_a", "alpha_v"]).any()
    assert sorted(ace["alpha_v"].unique()) == [0.1, 10.0] and sorted(ace["lambda_a"].unique()) == [0.0, 1.0]
    # What a method does not have is empty.
    assert settings["lambda_a"].isna().tolist() == (settings["method"] == "True-ACE").tolist()
    joined = frame.merge(settings, on="setting", validate="many_to_one")
    assert len(joined) == len(frame)
    diverged = joined[joined["diverged_step"].notna()]
    assert (diverged["alpha_v"] == 10.0).all()
    return settings


def check_readers(path, settings_path, frame):
    """All readers see the same numbers."""
    lazy = pl.scan_parquet(path).sort(KEYS)
    polars = lazy.collect()
    assert polars.schema["weights"] == pl.List(pl.Float64) and polars.schema["diverged_step"] == pl.UInt64
    expected = frame.sort_values(KEYS)
    for name in ["objective", *TARGETS, *MEANS]:
        np.testing.assert_array_equal(polars[name].to_numpy(), expected[name].to_numpy(), err_msg=name)
    assert polars["objective"].null_count() == expected["objective"].isna().sum()
    query = f"""
        select method, count(*) as rows, count(objective) as values, count(weights) as lists, max(objective) as best
        from '{path}' join '{settings_path}' using (setting) group by method order by method"""
    found = duckdb.sql(query).fetchall()
    settings = pl.read_parquet(settings_path)
    joined = polars.join(settings, on="setting", validate="m:1").group_by("method").agg(
        pl.len().alias("rows"),
        pl.col("objective").count().alias("values"),
        pl.col("weights").count().alias("lists"),
        pl.col("objective").max().alias("best"),
    )
    assert found == joined.sort("method").rows(), (found, joined)
    last = duckdb.sql(f"select weights[4] from '{path}' where objective is not null order by setting, run, evaluation")
    assert [row[0] for row in last.fetchall()] == [w[3] for w in expected["weights"] if w is not None]


def check(directory, name, settings, runs):
    path = directory / name
    results = pq.read_table(path)
    check_columns(results)
    frame = pd.read_parquet(path)
    check_rows(frame, settings, runs)
    check_objective(frame)
    check_readers(path, directory / "settings.parquet", frame)
    units = json.loads(pq.read_metadata(path).metadata[b"emphatic.units"])
    assert len(units) == pq.read_metadata(path).num_row_groups
    return frame


def main():
    file = experiment("experiment", FILE)
    directory = run(file, "results")
    frame = check(directory, "results.parquet", ACE_SETTINGS + TRUE_ACE_SETTINGS, RUNS)
    check_divergence(frame)
    check_settings(directory, frame)
    fresh = check(directory, "fresh.parquet", 2, FRESH_RUNS)
    chosen = json.loads((directory / "manifest.json").read_text())["fresh_settings"]
    assert sorted(fresh["setting"].unique()) == chosen
    # Fresh runs are of other experience.
    first = frame[frame["setting"] == chosen[0]].set_index(["run", "evaluation"])["objective"]
    other = fresh[fresh["setting"] == chosen[0]].set_index(["run", "evaluation"])["objective"]
    assert any(first[run].tolist() != other[run].tolist() for run in range(FRESH_RUNS))

    # So do the tables of a shard.
    shard = run(file, "shard", "--shard", "2/3")
    part = pd.read_parquet(shard / "results.parquet")
    whole = frame.merge(part[KEYS], on=KEYS).sort_values(KEYS, ignore_index=True)
    assert 0 < len(part) < len(frame)
    pd.testing.assert_frame_equal(part.sort_values(KEYS, ignore_index=True), whole)


main()
# All has been checked. The readers' libraries have threads of their own, which sometimes abort the interpreter where it ends.
sys.stdout.flush()
os._exit(0)
