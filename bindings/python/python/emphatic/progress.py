"""Progress: a bar on a terminal or in a notebook, nothing elsewhere."""

from __future__ import annotations

import html
import os
import sys
import time
from types import TracebackType
from typing import Any

_PATIENCE = 2.0  # Seconds before a bar is shown.
_EVERY = 0.1  # Seconds between updates.


class Bar:
    """A progress bar; call it with how much is done, and how much there is."""

    def __init__(self, what: str, wanted: bool | None = None) -> None:
        """`wanted` None: only on a terminal or in a notebook."""
        self._what = what
        self._start = time.monotonic()
        self._shown = 0.0
        self._handle: Any = None
        self._out = _display(wanted)

    def __call__(self, done: int, all: int, note: str = "") -> None:
        now = time.monotonic()
        if self._out is None or now - self._start < _PATIENCE or now - self._shown < _EVERY or all == 0:
            return
        self._shown = now
        left = (now - self._start) * (all - done) / done if done else float("inf")
        numbers = f"{100 * done // all} %{note}" + (f", {_duration(left)} left" if done else "")
        if self._out == "notebook":
            self._in_notebook(done / all, f"{self._what}: {numbers}")
        else:
            width = 24 * done // all
            self._write(_fitting(f"[{'#' * width}{' ' * (24 - width)}] ", self._what, numbers))

    def _write(self, text: str) -> None:
        try:
            print(f"\r\033[2K{text}", end="", file=sys.stderr, flush=True)
        except (OSError, ValueError, AttributeError):  # The terminal is gone: go on without it.
            self._out = None

    def _in_notebook(self, share: float, text: str) -> None:
        from IPython.display import HTML, display

        bar = HTML(f'<progress value="{share:.4f}" max="1"></progress> {html.escape(text)}')
        if self._handle is None:
            self._handle = display(bar, display_id=True)
        else:
            self._handle.update(bar)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._out == "terminal":
            self._write("")
        if self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))


def _display(wanted: bool | None) -> str | None:
    if wanted is False:
        return None
    if _in_notebook():
        return "notebook"
    return "terminal" if sys.stderr is not None and (wanted or _on_terminal()) else None


def _fitting(bar: str, what: str, numbers: str) -> str:
    """Returns a line that the terminal does not wrap, because a wrapped one could not be cleared."""
    columns = _columns() - 1
    room = columns - len(bar) - len(numbers) - len(": ")
    if len(what) > room:
        what = what[: room - 1] + "…" if room > 1 else ""
    return (f"{bar}{what}: {numbers}" if what else bar + numbers)[:columns]


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (AttributeError, OSError, ValueError):  # Not a terminal, though a bar is wanted.
        return 80


def _on_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # There is no stderr, or it is closed.
        return False


def _in_notebook() -> bool:
    # A notebook's kernel has imported IPython already.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # Some notebooks have a subclass of Jupyter's shell.
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
