"""What it means to learn off-policy in a problem."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native
from .convert import Floats


class Apart(NamedTuple):
    """States (those that look alike) in which the gradient and the semi-gradient end with different policies: what is compared, and
    what it is in each."""

    states: str
    what: str
    gradient: float
    semi_gradient: float


@dataclass(frozen=True, eq=False)
class Flows:
    """Where following the gradient leads.

    start
        J_μ where flows start.
    best, unbounded
        The best objective that any flow reached, and whether there is no bound to it.
    lambda_a, objective, settled, from_random
        λ_a of each flow, and what it reaches from the given start and from random ones [flows, starts].
    smallest_lambda_a
        The smallest λ_a that reaches the best objective.
    highest_on_semi_gradient
        The highest objective on the way of the semi-gradient.
    times
        How long the gradient and the semi-gradient take to cover 95 % of their ways, in units of α times steps.
    apart
        Where the policies in which they end are farthest apart; the farthest first.
    """

    start: float
    best: float
    unbounded: bool
    lambda_a: Floats
    objective: Floats
    settled: npt.NDArray[np.bool_]
    from_random: Floats
    smallest_lambda_a: float | None
    highest_on_semi_gradient: float | None
    times: Floats
    apart: list[Apart]

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Flows:
        reached = data["reached"]
        fields = {name: value for name, value in data.items() if name != "reached"} | {
            "lambda_a": _array(flow["lambda_a"] for flow in reached),
            "objective": _array(flow["objective"] for flow in reached),
            "settled": np.array([flow["settled"] for flow in reached], dtype=bool),
            "from_random": _array(flow["from_random"] for flow in reached),
            "times": _array(data["times"]),
            "apart": [Apart(**apart) for apart in data["apart"]],
        }
        return cls(**fields)


@dataclass(frozen=True, eq=False)
class Spread:
    """How far the follow-on trace spreads in the states that count most.

    spectral_radius, finite, states
        Bounds of the spectral radius that decides whether the variance is finite; None if a ratio is unbounded.
    share, mean, standard_deviation
        The share of m, and mean and standard deviation of F, in each of the states.
    steps, steps_in_all
        How many steps an estimate of m to 10 % takes, in each state and in all.
    """

    spectral_radius: tuple[float, float] | None
    finite: bool
    states: list[str]
    share: Floats
    mean: Floats
    standard_deviation: Floats
    steps: Floats
    steps_in_all: float | None

    @classmethod
    def _of(cls, data: dict[str, Any] | None) -> Spread | None:
        if data is None:
            return None
        states, bounds = data["states"], _array(data["spectral_radius"] or ())
        numbers = ("share", "mean", "standard_deviation", "steps")
        return cls(
            spectral_radius=(float(bounds[0]), float(bounds[1])) if bounds.size else None,
            finite=data["finite"],
            states=[state["state"] for state in states],
            steps_in_all=data["steps"],
            **{of: _array(state[of] for state in states) for of in numbers},
        )


@dataclass(frozen=True, eq=False)
class CriticStability:
    """Whether linear critics are stable with the critic's features: all eigenvalues of the key matrix have positive real parts.

    features, tabular
        How many features the critic sees, and whether they distinguish all states.
    td_stable, td_eigenvalues, etd_stable, etd_eigenvalues
        Of TD(0) and of emphatic TD(0).
    value_error, value_size
        How far the values in TD(0)'s fixed point are from the true ones, and how large these are: root mean squares, weighted by d_μ. None if that
        was not computed.
    """

    features: int
    tabular: bool
    td_stable: bool | None
    td_eigenvalues: npt.NDArray[np.complex128]
    etd_stable: bool | None
    etd_eigenvalues: npt.NDArray[np.complex128]
    value_error: float | None
    value_size: float | None

    @classmethod
    def _of(cls, data: dict[str, Any]) -> CriticStability:
        def eigenvalues(of: dict[str, Any] | None) -> npt.NDArray[np.complex128]:
            pairs = _array((of or {}).get("eigenvalues") or ())
            return pairs.reshape(-1, 2).view(np.complex128).ravel()

        td, etd, limit = data["td"], data["etd"], data["limit"] or {}
        return cls(
            features=data["features"],
            tabular=data["tabular"],
            td_stable=None if td is None else td["stable"],
            td_eigenvalues=eigenvalues(td),
            etd_stable=None if etd is None else etd["stable"],
            etd_eigenvalues=eigenvalues(etd),
            value_error=limit.get("error"),
            value_size=limit.get("size"),
        )


class Size(NamedTuple):
    """How large a problem is; `actions` is None where the action is a real number."""

    states: int
    actions: int | None
    transitions: int
    actor_features: int
    weights: int


@dataclass(frozen=True, eq=False)
class Suggestion:
    """What to start with.

    algorithm, emphasis, lambda_a, alpha
        The algorithm; its emphasis (`kind`, and `lambda_e` of a λ-return) with λ_a if it has a choice; and step-sizes to try.
    comparison_alpha
        Step-sizes of what to compare it with, the semi-gradient or the full gradient, that move the weights as far.
    critic
        The critic and what to try for it, by the names that experiment files have.
    steps, warm_up
        For how long; and for which share of it the actor waits while the critic learns, or None.
    reasons
        What was decided, and why.
    """

    algorithm: str
    emphasis: dict[str, Any] | None
    lambda_a: float | None
    alpha: list[float]
    comparison_alpha: list[float]
    critic: dict[str, Any]
    steps: int
    warm_up: float | None
    reasons: list[tuple[str, str]]

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Suggestion:
        fields: dict[str, Any] = data | {"reasons": [(what, why) for what, why in data["reasons"]]}
        return cls(**fields)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What it means to learn off-policy in a problem. `print` shows all of it in words; a notebook shows
    the verdict and a picture.

    problem, size
        The problem's name, and how large it is.
    verdict
        The verdict in plain words.
    given, objective
        Which policy the objective, the trace and the critics are about, in words; and its J_μ.
    start, angle
        Which policy flows start from, in words; and the angle there between gradient and semi-gradient, in
        degrees.
    uncovered
        Actions (state, action) that the target takes and the behaviour never does.
    flows
        None if the problem is too large to follow flows.
    emphasis, emphasis_at_end
        The follow-on trace for the given policy, and where the gradient ends; None where there is no ratio.
    critics, critics_at_end
        Linear critics for the given policy, and where the gradient ends; the latter is None if flows were not followed.
    suggestion
        What to try, with reasons; None if there is nothing to try.
    experiment
        An experiment file that tries it.
    svg
        The picture; None if there is nothing to draw. `figure` writes it to a file.
    data
        Everything that the command `emphatic diagnose --json` prints.
    """

    problem: str
    size: Size
    verdict: list[str]
    given: str
    objective: float
    start: str
    angle: float | None
    uncovered: list[tuple[str, str]]
    flows: Flows | None
    emphasis: Spread | None
    emphasis_at_end: Spread | None
    critics: CriticStability
    critics_at_end: CriticStability | None
    suggestion: Suggestion | None
    experiment: str | None
    svg: str | None
    data: dict[str, Any]
    _text: str

    @classmethod
    def _of(cls, data: dict[str, Any], text: str, svg: str | None, experiment: str | None) -> Diagnosis:
        fields = data | {
            "size": Size(**data["size"]),
            "uncovered": [(state, action) for state, action in data["uncovered"]],
            "flows": None if data["flows"] is None else Flows._of(data["flows"]),
            "emphasis": Spread._of(data["emphasis"]),
            "emphasis_at_end": Spread._of(data["emphasis_at_end"]),
            "critics": CriticStability._of(data["critics"]),
            "critics_at_end": None
            if data["critics_at_end"] is None
            else CriticStability._of(data["critics_at_end"]),
            "suggestion": None if data["suggestion"] is None else Suggestion._of(data["suggestion"]),
        }
        return cls(**fields, experiment=experiment, svg=svg, data=data, _text=text)

    def figure(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture: as SVG, or as PNG if the name ends in `.png`."""
        if self.svg is None:
            raise ValueError(
                "there is nothing to draw: the flows were not followed, or lead nowhere; starts=0 follows those from the given policy"
            )
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix not in (".svg", ".png"):
            raise ValueError(f"{os.fspath(path)}: a figure is SVG or PNG; let the name end in .svg or .png")
        _native.write_file(path, _native.png(self.svg) if suffix == ".png" else self.svg.encode())

    def _repr_html_(self) -> str:
        verdict = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.verdict)
        return f"<ul>{verdict}</ul>{self.svg or ''}"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Diagnosis: {self.verdict[0] if self.verdict else ''}>"


def _array(values: Iterable[Any]) -> Floats:
    """Returns numbers as an array, with NaN for None."""
    return np.array(list(values), dtype=np.float64)
