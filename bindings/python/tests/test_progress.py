"""A bar where somebody looks, and only if it takes a while."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, experience
from emphatic import progress
from emphatic.progress import Bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time, which the test moves."""
    now = [100.0]
    monkeypatch.setattr("emphatic.progress.time.monotonic", lambda: now[0])
    yield now


def make_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    # No fixture: pytest puts its own stderr back before the test.
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def test_a_bar_on_a_terminal_after_two_seconds(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    with Bar("learning") as bar:
        clock[0] += 1.9
        bar(1, 10)
        assert terminal.getvalue() == ""
        clock[0] += 0.1
        bar(2, 10)
        assert terminal.getvalue() == f"\r\033[2K[####{' ' * 20}] learning: 20 %, 8 s left"
        clock[0] += 0.05
        bar(3, 10)
        assert "30 %" not in terminal.getvalue()
        clock[0] += 0.1
        bar(10, 10, " of all")
        assert terminal.getvalue().endswith(f"\r\033[2K[{'#' * 24}] learning: 100 % of all, 0 s left")
    assert terminal.getvalue().endswith("\r\033[2K")


def test_a_bar_before_anything_is_done(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    with Bar("sweeping") as bar:
        clock[0] += 3
        bar(0, 10)
        bar(0, 0)
    assert terminal.getvalue() == f"\r\033[2K[{' ' * 24}] sweeping: 0 %\r\033[2K"


def test_a_bar_is_cleared_after_an_error(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    with pytest.raises(KeyError), Bar("learning") as bar:
        clock[0] += 3
        bar(1, 10)
        raise KeyError
    assert terminal.getvalue().endswith("\r\033[2K")


@pytest.mark.parametrize(
    ("seconds", "text"), [(59, "59 s"), (60, "1 min"), (3599, "60 min"), (5400, "1.5 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert progress._duration(seconds) == text


def closed() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [io.StringIO(), None, closed(), object()])
def test_nothing_where_nobody_looks(clock: list[float], monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("learning") as bar:
        clock[0] += 9
        bar(1, 10)
    if isinstance(stream, io.StringIO) and not stream.closed:
        assert stream.getvalue() == ""


def test_a_bar_that_is_wanted_or_not(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted, stream in [(True, io.StringIO()), (False, Terminal())]:
        monkeypatch.setattr(sys, "stderr", stream)
        with Bar("learning", wanted) as bar:
            clock[0] += 9
            bar(1, 10)
        assert ("10 %" in stream.getvalue()) == wanted


@pytest.mark.parametrize("columns", [200, 80, 40, 27, 5])
def test_a_bar_is_never_wider_than_the_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Regression: what was wrapped stayed on the screen."""
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr("emphatic.progress._columns", lambda: columns)
    with Bar("an_experiment_with_a_rather_long_name_indeed.toml") as bar:
        clock[0] += 4
        bar(1, 2, ", 123 M updates a second")
        line = terminal.getvalue().removeprefix("\r\033[2K")
    assert len(line) < columns
    assert ("50 %" in line) == (columns >= 40) and ("indeed" in line) == (columns > 80)


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("stream", [Gone(), closed(), None])
def test_work_goes_on_when_the_terminal_is_gone(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], stream: Any
) -> None:
    """Regression: it was ended by the bar."""
    monkeypatch.setattr(sys, "stderr", stream)
    with Bar("learning", True) as bar:
        for done in (1, 2):
            clock[0] += 3
            bar(done, 10)
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_a_bar_on_a_pseudo_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import pty

    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with Bar("learning") as bar:
            clock[0] += 4
            bar(1, 2)
        seen = ""
        while seen.count("\033[2K") < 2:  # Drawn and cleared.
            seen += os.read(master, 1000).decode()
    os.close(master)
    assert "] learning: 50 %, 4 s left" in seen
    assert seen.endswith("\r\033[2K")


class Notebook:
    """What a notebook displays: all that was shown in one place."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shown: list[str] = []
        shell = type("ZMQInteractiveShell", (), {})()
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
        display.HTML = str  # type: ignore[attr-defined]
        display.display = self.display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, html: str, display_id: bool) -> Notebook:
        assert display_id and not self.shown
        self.update(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


@pytest.mark.parametrize("own_shell", [False, True])
def test_a_bar_in_a_notebook(clock: list[float], monkeypatch: pytest.MonkeyPatch, own_shell: bool) -> None:
    terminal = make_terminal(monkeypatch)
    notebook = Notebook(monkeypatch)
    if own_shell:  # As Colab has.
        shell = type("Shell", (type(sys.modules["IPython"].get_ipython()),), {})()
        monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    with Bar("learning") as bar:
        bar(1, 4)
        assert notebook.shown == []
        for done in (1, 2):
            clock[0] += 2
            bar(done, 4)
    assert notebook.shown == [
        '<progress value="0.2500" max="1"></progress> learning: 25 %, 6 s left',
        '<progress value="0.5000" max="1"></progress> learning: 50 %, 4 s left',
        "",
    ]
    assert terminal.getvalue() == ""


def test_a_name_is_no_html_in_a_notebook(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: what a file is called was put into the page as it is."""
    notebook = Notebook(monkeypatch)
    with Bar('<img src=x onerror=alert(1)>&".toml') as bar:
        clock[0] += 4
        bar(1, 2, ", <b>")
    assert notebook.shown[0] == (
        '<progress value="0.5000" max="1"></progress> '
        "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;.toml: 50 %, &lt;b&gt;, 4 s left"
    )


def test_a_shell_of_ipython_is_a_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    Notebook(monkeypatch)
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    with Bar("learning") as bar:
        clock[0] += 3
        bar(1, 4)
    assert "25 %" in terminal.getvalue()


@pytest.mark.parametrize(("features", "steps"), [(1, 400_000), (30_001, 30_000)])
def test_a_sweep_never_says_more_than_all(monkeypatch: pytest.MonkeyPatch, features: int, steps: int) -> None:
    """Regression: without lanes, every learner counted as all of them. (Something is said every tenth of a second.)"""
    said: list[tuple[int, int]] = []
    monkeypatch.setattr(
        "emphatic.progress.Bar.__call__", lambda self, done, all, note="": said.append((done, all))
    )
    policy = emphatic.Softmax(emphatic.Active(features, 1), 20)
    agents = [emphatic.ACE(policy, emphatic.GTD(0.1, 0.1, 0.5), alpha=0.1) for _ in range(40)]
    zero = np.zeros(steps, int)
    batch = emphatic.Batch(zero[:, None], zero, zero, zero[:, None], mu=0.5, gamma_next=0.9)
    emphatic.sweep(agents, batch, threads=1)
    assert said and all(done <= all == 40 * steps for done, all in said)
    assert max(said)[0] > 0


def test_learn_and_sweep_show_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    agent = AGENTS["ACE one-hot"]()
    batch = experience(agent, 70_000)
    emphatic.sweep([agent], batch)
    agent.learn(batch)
    assert "learning: " in terminal.getvalue()
    agent.learn(batch, progress=False)
    assert terminal.getvalue().endswith("\r\033[2K")
