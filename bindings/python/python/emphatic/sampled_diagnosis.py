"""What it means to learn off-policy from a batch, where nobody knows the problem."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, convert, parts
from .bases import Basis
from .batch import Batch
from .convert import Floats
from .learners import Learner


@dataclass(frozen=True, eq=False)
class SampledDiagnosis:
    """What a batch tells about learning off-policy from it. `print` shows all of it in words.

    verdict
        The verdict in plain words.
    effective_samples
        How many steps count, as a share of them, for λ_a = 1 (the follow-on trace), by policy.
    suggestion
        What to start with: emphasis, λ_a, step-sizes and critic, by the names that experiment files have, with `reasons`.
    data
        Everything that the command `emphatic diagnose --json` prints.
    """

    verdict: list[str]
    effective_samples: dict[str, float]
    suggestion: dict[str, Any]
    data: dict[str, Any]
    _text: str

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.verdict) + "</ul>"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<SampledDiagnosis: {self.verdict[0] if self.verdict else ''}>"


def diagnose(
    batch: Batch,
    features: parts.Dense | parts.Active | parts.OneHot | parts.Table | Basis,
    *,
    target: Learner | npt.ArrayLike | None = None,
    actions: int | None = None,
) -> SampledDiagnosis:
    """What can be said about learning off-policy from a batch, with these features of what it shows: does the behaviour cover a target, how
    unevenly do ratios and the follow-on trace weigh steps, how often do episodes end, which features are active, are critics
    stable with them, and what to start with.

    `target` is a learner, its π(·|S_t) at every step `[T, actions]`, or π(A_t|S_t) of the actions taken `[T]`. Left out, the policies are asked
    about that always take one action: what a learned policy comes to. `actions` is how many there are;
    left out, as many as the target has, or as were there where the batch was collected, and in a batch of your own as many as it shows: an action that the
    behaviour never takes is not missed there.

    >>> import emphatic
    >>> problem = emphatic.Problem.open("counterexample")
    >>> found = emphatic.diagnose(problem.stream(4000, seed=1), emphatic.OneHot(3))
    >>> print(found.verdict[0])  # doctest: +ELLIPSIS
    The rarest action that the behaviour took had probability 0.25: ...
    """
    if not isinstance(batch, Batch):
        raise TypeError(f"the batch is a {type(batch).__name__}; it must be an emphatic.Batch")
    parts._check_features(features)
    finite = batch.action.dtype.kind != "f"
    if not finite and actions is not None:
        raise TypeError(
            f"actions is {actions!r}, but the actions of the batch are real numbers: leave it out"
        )
    count = 0
    if finite:
        seen = max(int(batch.action.max(initial=-1)) + 1, batch._action_count or _of_target(target), 1)
        count = seen if actions is None else convert.count(actions, "actions")
    probabilities = None if target is None else _probabilities(target, batch, count)
    found, text = _native.diagnose_batch(batch, features, count, probabilities)
    data = json.loads(found)
    samples = {
        policy["policy"]: float(policy["spread"]["effective_samples"][0]["share"]["value"])
        for policy in data["policies"]
    }
    return SampledDiagnosis(
        verdict=data["verdict"],
        effective_samples=samples,
        suggestion=data["suggestion"],
        data=data,
        _text=text,
    )


def _of_target(target: Learner | npt.ArrayLike | None) -> int:
    """Returns how many actions a target has, if it tells."""
    if isinstance(target, Learner):
        return int(getattr(target.policy, "actions", 0))
    shape = np.shape(target) if target is not None else ()
    return shape[1] if len(shape) == 2 else 0


def _probabilities(target: Learner | npt.ArrayLike, batch: Batch, actions: int) -> Floats:
    """Returns π(A_t|S_t) of a target at every step."""
    steps = len(batch)
    if isinstance(target, Learner):
        if not actions or target.policy._acts != "finite":
            raise TypeError(
                "a learner as the target needs action numbers; give π(A_t|S_t) of the actions taken [T]"
            )
        target = target.probabilities(batch.x)
    found = convert.array(target, "target")
    if found.ndim == 1:
        if found.shape != (steps,):
            raise ValueError(
                f"the target has the shape {found.shape}; it must have ({steps},), a number for each step"
            )
        return convert.readable(convert.floats(found, "target", 1))
    if found.ndim != 2 or not actions or found.shape != (steps, actions):
        right = f"({steps}, {actions}) or ({steps},)" if actions else f"({steps},)"
        raise ValueError(f"the target has the shape {found.shape}; it must have {right}")
    table = convert.floats(found, "target", 2)
    return convert.readable(np.ascontiguousarray(table[np.arange(steps), batch.action]))
