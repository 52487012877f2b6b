"""Running experiment files, and their results."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native, convert
from .progress import Bar
from .sessions import Environments, Opener

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Name = Literal["results", "settings", "finalists", "fresh"]


class Results:
    """The results of an experiment, in a directory.

    `results` (a row for each setting, run and evaluation), `settings` (a row for each setting) and, if the experiment asks for them,
    `finalists` (more runs of the settings among which the best is chosen) and `fresh` (the best settings on fresh runs). As NumPy columns, or as a data frame of the library you have.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        if not (self.directory / "manifest.json").exists():
            raise FileNotFoundError(f"{self.directory} has no results of an experiment (no manifest.json)")

    def path(self, table: Name = "results") -> Path:
        """The Parquet file of a table."""
        if table not in ("results", "settings", "finalists", "fresh"):
            raise ValueError(f"there is no table {table!r}; there are results, settings, finalists and fresh")
        return self.directory / f"{table}.parquet"

    def _existing(self, table: Name) -> Path:
        path = self.path(table)
        if not path.exists():
            asked = "it has none, or " if table in ("finalists", "fresh") else ""
            raise FileNotFoundError(
                f"{path} is not there: {asked}the experiment is not finished; run it again to go on"
            )
        _native.check_table(self.directory, path)
        return path

    def columns(
        self, table: Name = "results", *, with_settings: bool = False
    ) -> dict[str, npt.NDArray[Any] | list[Any]]:
        """A table's columns: numbers as NumPy arrays (NaN for missing ones), everything else as lists (None for missing entries).
        `with_settings` adds each row's settings; one is named `setting.NAME` if a recorded column has the same name."""
        columns = _native.read_table(self._existing(table))
        if not with_settings or table == "settings":
            return columns
        settings = _native.read_table(self._existing("settings"))
        # Settings are numbered from 0 in the order of their table.
        rows = np.asarray(columns["setting"])
        del settings["setting"]
        for name, values in settings.items():
            of_rows = values[rows] if isinstance(values, np.ndarray) else [values[k] for k in rows]
            columns[_beside(name, columns)] = of_rows
        return columns

    def to_pandas(self, table: Name = "results", *, with_settings: bool = False) -> pandas.DataFrame:
        """A table as a pandas data frame; NaN or None for missing entries."""
        columns = self.columns(table, with_settings=with_settings)
        return convert.library("pandas").DataFrame(columns)

    def to_polars(self, table: Name = "results", *, with_settings: bool = False) -> polars.DataFrame:
        """A table as a Polars data frame; null for missing entries."""
        library = convert.library("polars")
        frame: polars.DataFrame = library.read_parquet(self._existing(table))
        if not with_settings or table == "settings":
            return frame
        settings = library.read_parquet(self._existing("settings"))[frame["setting"]].drop("setting")
        return frame.hstack(
            settings.rename({name: _beside(name, frame.columns) for name in settings.columns})
        )

    def to_pyarrow(self, table: Name = "results", *, with_settings: bool = False) -> pyarrow.Table:
        """A table as an Arrow table; null for missing entries."""
        convert.library("pyarrow")
        parquet = import_module("pyarrow.parquet")
        found = parquet.read_table(self._existing(table))
        if not with_settings or table == "settings":
            return found
        settings = (
            parquet.read_table(self._existing("settings")).take(found["setting"]).drop_columns("setting")
        )
        for name in settings.column_names:
            found = found.append_column(_beside(name, found.column_names), settings[name])
        return found

    def summarise(
        self,
        select: Literal["final", "area"] | None = None,
        *,
        select_by: str | None = None,
        quantity: str | None = None,
    ) -> dict[str, Any]:
        """The best settings, learning curves and intervals: what `emphatic summarise --json` prints. `select` replaces the experiment's
        own criterion for the best setting. `select_by` is the recorded quantity that it is chosen by: one of the experiment's `select_by`,
        if not the first. `quantity` is the recorded quantity that numbers and curves are of, if not that one.

        Of each of `["methods"]`: `best_values`, the chosen setting; `curve`, by the runs that chose it, and `["fresh"]["curve"]`, by fresh runs, a list of
        points with `at`, `mean`, `standard_error` and `interval`; `["fresh"]["final_quantiles"]`, of 0, 5, 25, 50, 75, 95 and 100 %."""
        return json.loads(_native.summary(self.directory, select, select_by, quantity)[1])  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return _native.summary(self.directory, None, None, None)[0]

    def __repr__(self) -> str:
        return f"Results({str(self.directory)!r})"


def _beside(name: str, others: Iterable[str]) -> str:
    """Returns the name of a column of settings beside others."""
    return f"setting.{name}" if name in others else name


def check(
    file: str | os.PathLike[str],
    *,
    runs: int | None = None,
    threads: int | None = None,
    env: Opener | None = None,
) -> str:
    """Returns how much work an experiment file is, and how the time divides between learning and evaluation, from a trial of a few
    steps: what `emphatic check` prints. The arguments are those of `run`."""
    runs = None if runs is None else convert.count(runs, "runs", most=2**32 - 1)
    threads = None if threads is None else convert.count(threads, "threads")
    return _native.workload(Path(file), runs, threads, Environments(env))


def run(
    file: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    runs: int | None = None,
    threads: int | None = None,
    env: Opener | None = None,
    progress: bool | None = None,
) -> Results:
    """Runs an experiment file, or what is missing of it in `out` (by default `results/NAME`).

    Ctrl-C stops it; what was finished is kept, and the same call goes on. Runs that diverged are warned of. `runs` replaces the
    file's number of runs. The results are the same bits for any number of threads, and the same as those of the command
    `emphatic run`.

    A file may name an environment of Gymnasium, `problem = "gymnasium:CartPole-v1"`, by any id that `gymnasium.make` knows. `env` takes
    its place: a class of environments, a function without arguments that returns one, or an id. Then what the file has after
    `gymnasium:` is a label. Several environments are opened, and closed at the end. One that raises an exception or returns NaN leads to an
    `EpisodeError`; what was finished is kept.
    """
    where = Path("results") / Path(file).stem if out is None else Path(out)
    runs = None if runs is None else convert.count(runs, "runs", most=2**32 - 1)
    threads = None if threads is None else convert.count(threads, "threads")
    environments = Environments(env)
    with Bar(Path(file).name, progress) as bar:

        def report(done: int, units: int, updates: int, seconds: float) -> None:
            rate = updates / seconds / 1e6 if seconds else 0.0
            bar(done, units, f", {rate:.0f} M updates a second")

        diverged = _native.run(Path(file), where, runs, threads, environments, report)
    if diverged:
        warnings.warn(
            f"{diverged} run{'s' if diverged > 1 else ''} diverged: the weights left the finite numbers;"
            " the column diverged_step says when",
            RuntimeWarning,
            stacklevel=2,
        )
    return Results(where)
