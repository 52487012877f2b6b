"""Experiments: the tables are the command's, in whatever library; stopped, they go on; and what is refused."""

from __future__ import annotations

import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from command import command
from emphatic import FileError, Problem, Results, run

# Some of the settings are meant to.
pytestmark = pytest.mark.filterwarnings("ignore:.* diverged:RuntimeWarning")

SHORT = """
problem = "counterexample"
seed = 3
runs = 4
steps = 40
evaluations = 40
record = ["objective", "rho", "emphasis", "weights", "target.S1.A0"]
fresh_runs = 2

[[method]]
algorithm = "ace"
emphasis = "follow-on"
lambda_a = [0, 1]
alpha = [1e-300, 0.1]
critic = "exact"
policy = { probabilities = { A0 = 0.5, A1 = 0.5 } }

[[method]]
name = "with a learned critic"
algorithm = "offpac"
alpha = [0.1, 1e308] # The second diverges.
critic = { kind = "gtd", alpha_v = 0.1, alpha_w = 1e-4, lambda = 0.5 }
"""

# Some seconds of work in units of some hundredths of a second.
LONG = """
problem = "counterexample"
runs = 150
episodes = 20_000
evaluations = 4

[[method]]
algorithm = "ace"
emphasis = "follow-on"
lambda_a = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
alpha = [0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
critic = { kind = "gtd", alpha_v = [0.1, 0.2], alpha_w = 1e-4, lambda = 0.5 }
"""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "short.toml"
    path.write_text(SHORT)
    return path


@pytest.fixture(scope="module")
def results(short: Path) -> Results:
    return run(short, short.parent / "out")


def python(code: str, *arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-W", "error", "-c", code, *arguments], **(pipes | options))


# --- The same as the command ---


def test_tables_and_summaries_are_the_commands(results: Results, short: Path, tmp_path: Path) -> None:
    out = tmp_path / "command"
    command("run", short, "--out", out, "--threads", "1", "--quiet")
    for table in ("results.parquet", "settings.parquet", "fresh.parquet", "experiment.toml"):
        assert (results.directory / table).read_bytes() == (out / table).read_bytes(), table
    assert results.summarise() == json.loads(command("summarise", out, "--json"))
    assert results.summarise("area") == json.loads(command("summarise", out, "--json", "--select", "area"))
    assert str(results) == command("summarise", out)
    of_emphasis = command("summarise", out, "--json", "--quantity", "emphasis")
    assert results.summarise(quantity="emphasis") == json.loads(of_emphasis)


def test_more_runs_are_the_commands_too(short: Path, tmp_path: Path) -> None:
    run(short, tmp_path / "ours", runs=2, threads=1)
    # By more runs another setting is the best, which has no fresh runs yet.
    with pytest.warns(UserWarning, match="finished units of fresh runs"):
        run(short, tmp_path / "ours", runs=5, threads=2)
    command("run", short, "--out", tmp_path / "command", "--runs", "5", "--quiet")
    for table in ("results.parquet", "settings.parquet", "fresh.parquet"):
        assert (tmp_path / "ours" / table).read_bytes() == (tmp_path / "command" / table).read_bytes(), table


# --- What is in the tables ---


def test_a_row_for_each_setting_run_and_evaluation(results: Results) -> None:
    columns = results.columns()
    keys = zip(columns["setting"], columns["run"], columns["evaluation"])
    assert sorted(keys) == list(itertools.product(range(6), range(4), range(41)))
    np.testing.assert_array_equal(columns["step"], columns["evaluation"])


def test_runs_learn_from_the_problems_own_streams(results: Results) -> None:
    """With a step-size of nearly nothing π stays one half, so that ρ at each step tells the action."""
    columns = {name: np.asarray(results.columns()[name]) for name in ("setting", "run", "evaluation", "rho")}
    for number in range(4):
        stream = Problem.open("counterexample").stream(40, seed=3, run=number)
        mine = (columns["setting"] == 0) & (columns["run"] == number) & (columns["evaluation"] > 0)
        np.testing.assert_array_equal(columns["rho"][mine], 0.5 / stream.mu)


def test_objectives_are_those_of_the_recorded_weights(results: Results) -> None:
    columns, problem = results.columns(), Problem.open("counterexample")
    pairs = list(zip(columns["weights"], np.asarray(columns["objective"])))
    assert all(np.isnan(objective) for weights, objective in pairs if weights is None)
    for weights, objective in pairs[::50]:
        if weights is not None:
            assert problem.objective(np.reshape(weights, (2, 2))) == pytest.approx(objective, rel=1e-12)


def test_a_run_that_diverges_is_empty_from_there_on(results: Results) -> None:
    columns = results.columns()
    diverged = ~np.isnan(np.asarray(columns["diverged_step"]))
    assert diverged.any() and set(np.asarray(columns["setting"])[diverged]) == {5}
    late = diverged & (np.asarray(columns["step"]) >= np.asarray(columns["diverged_step"]))
    assert np.isnan(np.asarray(columns["objective"])[late]).all()
    assert all(columns["weights"][k] is None for k in np.flatnonzero(late))


def test_rows_with_what_their_setting_is(results: Results) -> None:
    settings, rows = results.columns("settings"), results.columns("fresh", with_settings=True)
    assert list(settings["method"]) == ["ACE"] * 4 + ["with a learned critic"] * 2
    for name, values in settings.items():
        # Both tables have an `emphasis`: what was recorded keeps the name.
        column = rows["setting.emphasis" if name == "emphasis" else name]
        expected = [values[k] for k in np.asarray(rows["setting"])]
        np.testing.assert_array_equal(np.asarray(column), np.asarray(expected))
    np.testing.assert_array_equal(rows["emphasis"], results.columns("fresh")["emphasis"])
    assert rows["setting.emphasis"][0] == "follow-on"
    assert results.columns("settings", with_settings=True).keys() == settings.keys()


@pytest.mark.parametrize("table", ["results", "settings", "fresh"])
def test_columns_and_frames_are_what_pyarrow_reads(results: Results, table: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(results.path(table)).to_pydict()
    columns = results.columns(table)
    assert list(columns) == list(read)
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            assert values.dtype in (np.int64, np.float64)
            np.testing.assert_array_equal(values, np.array([np.nan if x is None else x for x in read[name]]))
        else:
            assert [x.tolist() if isinstance(x, np.ndarray) else x for x in values] == read[name]
    arrow = results.to_pyarrow(table)
    assert arrow.to_pydict() == read
    assert arrow.schema.equals(parquet.read_schema(results.path(table)))
    if table != "settings":
        wide, columns = (
            results.to_pyarrow(table, with_settings=True),
            results.columns(table, with_settings=True),
        )
        assert wide.column_names == list(columns)
        assert wide["method"].to_pylist() == columns["method"]


@pytest.mark.parametrize("table", ["results", "settings", "fresh"])
def test_polars(results: Results, table: Any) -> None:
    polars = pytest.importorskip("polars")
    frame, read = results.to_polars(table), polars.read_parquet(results.path(table))
    assert frame.equals(read)
    wide, columns = results.to_polars(table, with_settings=True), results.columns(table, with_settings=True)
    assert wide.columns == list(columns) and wide["method"].to_list() == columns["method"]
    assert results.to_polars(table, with_settings=True)["method"].null_count() == 0


@pytest.mark.parametrize("table", ["results", "settings", "fresh"])
def test_pandas(results: Results, table: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame, columns = results.to_pandas(table, with_settings=True), results.columns(table, with_settings=True)
    assert list(frame.columns) == list(columns)
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            assert frame[name].dtype == values.dtype
            np.testing.assert_array_equal(frame[name].to_numpy(), values)
        elif name != "weights":
            assert [None if pandas.isna(x) else x for x in frame[name]] == values
    assert set(frame.groupby("method").size().index) == {"ACE", "with a learned critic"}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_without_a_library_there_are_columns_and_a_word_of_what_to_install(
    results: Results, library: str
) -> None:
    code = f"""
import sys
sys.modules.update(pandas=None, polars=None, pyarrow=None)
import emphatic
results = emphatic.Results(sys.argv[1])
assert len(results.columns(with_settings=True)["method"]) == 984
try:
    results.to_{library}()
except ImportError as error:
    print(error)
"""
    printed, wrong = python(code, results.directory).communicate()
    assert (printed, wrong) == (f"this needs {library}: pip install {library}\n", "")


# --- Stopping and going on ---


def test_nothing_is_printed_where_nobody_looks(short: Path, tmp_path: Path) -> None:
    code = (
        "import sys, warnings, emphatic; warnings.simplefilter('ignore')\n"
        "emphatic.run(sys.argv[1], sys.argv[2]); emphatic.Problem.open('shop').diagnose()"
    )
    assert python(code, short, tmp_path / "out").communicate() == ("", "")


def test_runs_that_diverged_are_warned_of(short: Path, tmp_path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="runs? diverged: .* diverged_step"):
        results = run(short, tmp_path / "out")
    assert np.isfinite(np.asarray(results.columns()["diverged_step"], float)).any()


@pytest.mark.skipif(sys.platform == "win32", reason="a process there cannot be sent Ctrl-C alone")
def test_ctrl_c_keeps_what_is_finished_and_the_same_call_goes_on(tmp_path: Path) -> None:
    file, out = tmp_path / "long.toml", tmp_path / "out"
    file.write_text(LONG)
    code = "import sys, emphatic; emphatic.run(sys.argv[1], sys.argv[2], threads=1)"
    process = python(code, file, out)
    while not list(out.glob("parts/*")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stopped = time.monotonic()
    _, wrong = process.communicate()
    assert time.monotonic() - stopped < 2
    assert process.returncode != 0 and wrong.rstrip().endswith("KeyboardInterrupt")

    halfway = Results(out)
    summary = halfway.summarise()
    assert 0 < summary["units_done"] < summary["units"] and not summary["complete"]
    assert "Under way" in str(halfway)
    with pytest.raises(FileNotFoundError, match="the experiment is not finished; run it again to go on"):
        halfway.columns()

    went_on, whole = run(file, out), run(file, tmp_path / "whole")
    assert went_on.path().read_bytes() == whole.path().read_bytes()
    assert went_on.path("settings").read_bytes() == whole.path("settings").read_bytes()


# --- What is refused ---


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            SHORT.replace('"ace"', '"acee"'),
            r"x.toml, line 11, column 13: there is no algorithm `acee`\nhelp: did you mean `ace`?",
        ),
        (
            SHORT.replace('"counterexample"', '"counterexampel"'),
            r"(?s)x.toml, line 2, column 11: .*counterexample",
        ),
        (SHORT.replace("runs = 4", "rums = 4"), r"x.toml, line 4, column 1: there is no key `rums` here"),
        ("problem = ", r"x.toml, line 1, column 11: a value is missing here"),
        ("", "x.toml: the key `.*` is missing"),
    ],
)
def test_errors_in_an_experiment_file(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(FileError, match=says):
        run(tmp_path / "x.toml", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_not_there(results: Results, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="x.toml cannot be read"):
        run(tmp_path / "x.toml")
    with pytest.raises(FileNotFoundError, match="has no results of an experiment"):
        Results(tmp_path)
    shutil.copytree(results.directory, tmp_path / "cut")
    (tmp_path / "cut" / "experiment.toml").unlink()
    with pytest.raises(FileNotFoundError, match="experiment.toml"):
        Results(tmp_path / "cut").summarise()
    with pytest.raises(
        ValueError, match="there is no table 'curves'; there are results, settings, finalists and fresh"
    ):
        results.columns("curves")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="select is `best`; it must be `final` or `area`"):
        results.summarise("best")  # type: ignore[arg-type]


def test_a_table_that_the_experiment_does_not_ask_for(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(SHORT.replace("fresh_runs = 2", ""))
    with pytest.raises(FileNotFoundError, match="fresh.parquet is not there: it has none, or"):
        run(tmp_path / "x.toml", tmp_path / "out").columns("fresh")


@pytest.mark.parametrize("arguments", [{"runs": 0}, {"threads": 0}, {"runs": -1}])
def test_numbers_that_make_no_sense(short: Path, tmp_path: Path, arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} is .*; it must be at least 1"):
        run(short, tmp_path / "out", **arguments)  # type: ignore[arg-type]


def test_results_of_another_experiment_are_left_alone(results: Results, short: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SHORT.replace("seed = 3", "seed = 4"))
    before = results.path().read_bytes()
    for file, arguments in ((other, {}), (short, {"runs": 2})):
        with pytest.raises(ValueError, match="holds"):
            run(file, results.directory, **arguments)  # type: ignore[arg-type]
    assert results.path().read_bytes() == before


@pytest.mark.parametrize("table", ["results", "settings", "fresh"])
def test_a_table_of_another_experiment_is_noticed(
    results: Results, short: Path, tmp_path: Path, table: Any
) -> None:
    """Once it was accepted, and the wrong best setting shown."""
    other = tmp_path / "other.toml"
    other.write_text(SHORT.replace("seed = 3", "seed = 4"))
    mixed = tmp_path / "mixed"
    shutil.copytree(results.directory, mixed)
    shutil.copy(run(other, tmp_path / "other").path(table), mixed)
    for read in (Results(mixed).columns, Results(mixed).to_pandas, Results(mixed).to_polars):
        with pytest.raises(ValueError, match=rf"{table}\.parquet is of another experiment"):
            read(table)
    if table == "results":
        with pytest.raises(ValueError, match="is of another experiment"):
            print(Results(mixed))


def test_a_table_with_other_columns_is_refused(results: Results, tmp_path: Path) -> None:
    """Once a list of something else than numbers was a panic."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    mixed = tmp_path / "mixed"
    shutil.copytree(results.directory, mixed)
    metadata = parquet.read_metadata(results.path()).metadata
    ours = {key: value for key, value in metadata.items() if key.startswith(b"emphatic.")}
    rows = pyarrow.table({"setting": [0], "weights": [["text"]]}).replace_schema_metadata(ours)
    parquet.write_table(rows, mixed / "results.parquet")
    with pytest.raises(ValueError, match="columns of type .* cannot be read"):
        Results(mixed).columns()


def test_results_go_to_a_directory_named_after_the_file(
    short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(str(short), runs=1)
    assert found.directory == Path("results/short") and repr(found) == f"Results({str(found.directory)!r})"
    assert emphatic.Results("results/short").path("settings").exists()
