"""Exact solutions: what is true of a policy in a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .convert import Floats

if TYPE_CHECKING:
    from .problem import Problem


def shaped(weights: Floats, kind: str, actions: int) -> Floats:
    """Returns weights in the shape of a learner's: [features, outputs], or [features] of a deterministic policy."""
    if kind == "deterministic":
        return weights
    return weights.reshape(-1, 2 if kind == "gaussian" else actions)


@dataclass(frozen=True, eq=False)
class Solution:
    """What is exactly true of a policy in a problem. Arrays are by state, and by action where there are two dimensions; gradients have the shape
    of the weights. `print` shows it as a table.

    states, actions
        Their names.
    objective
        J_μ = Σ_s d_μ(s) i(s) v(s).
    stationary, interest
        d_μ, how often the behaviour is in each state; and i, how much it counts.
    target
        π(a|s) [S, A]; of a Gaussian mean and standard deviation [S, 2], of a deterministic policy the action [S, 1].
    value
        v_π.
    action_value
        q_π [S, A]; with a real action, at the policy's mean action [S, 1].
    emphatic_weighting
        m, or m_{λ_a}.
    emphatic_density
        m/d_μ; NaN in a state that is never visited.
    weights, weight_names
        The policy's weights and what follows from them; None for a policy without weights.
    gradient
        The gradient of the objective, λ_a = 1.
    semi_gradient
        What OffPAC and DPG follow instead, λ_a = 0.
    with_lambda_a
        The expected update with the λ_a that was asked for; None if that is 0 or 1.
    angle
        Between gradient and semi-gradient, in degrees; None if one of them is zero.
    angle_with_lambda_a
        Between the gradient and the update with λ_a.
    """

    states: list[str]
    actions: list[str]
    objective: float
    stationary: Floats
    interest: Floats
    target: Floats
    value: Floats
    action_value: Floats
    emphatic_weighting: Floats
    emphatic_density: Floats
    weights: Floats | None
    weight_names: list[str] | None
    gradient: Floats | None
    semi_gradient: Floats | None
    with_lambda_a: Floats | None
    angle: float | None
    angle_with_lambda_a: float | None
    _text: str

    @classmethod
    def _of(cls, problem: Problem, found: dict[str, Any]) -> Solution:
        columns: dict[str, Floats] = found["columns"]
        actions = problem.actions

        def beneath(prefix: str) -> Floats:
            return np.stack([column for name, column in columns.items() if name.startswith(prefix)], axis=1)

        def weights(key: str) -> Floats | None:
            values = found.get(key)
            return None if values is None else shaped(values, found["policy"], len(actions))

        return cls(
            states=problem.states,
            actions=actions,
            objective=found["objective"],
            stationary=columns["stationary"],
            interest=columns["interest"],
            target=beneath("target."),
            value=columns["value"],
            action_value=beneath("action_value."),
            emphatic_weighting=columns["emphatic_weighting"],
            emphatic_density=columns["emphatic_density"],
            weights=weights("weights"),
            weight_names=found.get("weight_names"),
            gradient=weights("gradient"),
            semi_gradient=weights("semi_gradient"),
            with_lambda_a=weights("with_lambda_a"),
            angle=found.get("angle"),
            angle_with_lambda_a=found.get("angle_with_lambda_a"),
            _text=found["text"],
        )

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Solution: objective {self.objective:.6g}, {len(self.states)} states>"
