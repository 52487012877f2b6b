"""Vector environments of Gymnasium, in any autoreset mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .behaviour import ActionSpace
from .rollout import Rollout, reset, step


class _Outcome(NamedTuple):
    """What a step returned, but for the observations."""

    reward: Any
    terminated: Any
    truncated: Any
    info: Any


def run_several(env: Any, rollouts: Sequence[Rollout], actions: ActionSpace, seed: int) -> None:
    """Lets the behaviour act in all environments until their rollouts are complete."""
    from gymnasium.vector import AutoresetMode

    def where() -> str:
        return f"after {rollouts[0].tally.steps} steps in all"

    mode = _autoreset_mode(env)
    everywhere = np.ones(len(rollouts), np.bool_)
    _begin(env, rollouts, reset(env, where, seed=seed), everywhere)
    taken = actions.of_several(len(rollouts))
    # Where the next step does nothing but reset the environment.
    resets = ~everywhere
    while any(rollout.goes_on for rollout in rollouts):
        for i, rollout in enumerate(rollouts):
            # The others take their last action again; its outcome is ignored.
            if rollout.goes_on and not resets[i]:
                taken[i] = rollout.act()
        observations, *rest = step(env, where, taken)
        outcome = _Outcome(*rest)
        _record(env, rollouts, ~resets, observations, outcome, mode is AutoresetMode.SAME_STEP)
        ended = np.logical_or(outcome.terminated, outcome.truncated)
        if mode is AutoresetMode.NEXT_STEP:
            _begin(env, rollouts, observations, resets)
            resets = ended
        elif mode is AutoresetMode.SAME_STEP:
            _begin(env, rollouts, observations, ended)
        elif ended.any():
            _begin(env, rollouts, reset(env, where, options={"reset_mask": ended.copy()}), ended)


def _begin(env: Any, rollouts: Sequence[Rollout], observations: Any, where: NDArray[np.bool_]) -> None:
    """Begins an episode in the environments given by `where`."""
    from gymnasium.vector.utils import iterate

    each = iterate(env.observation_space, observations)
    for rollout, observation, begins in zip(rollouts, each, where, strict=True):
        if begins and rollout.goes_on:
            rollout.begin(observation)


def _record(
    env: Any,
    rollouts: Sequence[Rollout],
    where: NDArray[np.bool_],
    observations: Any,
    outcome: _Outcome,
    same_step: bool,
) -> None:
    """Records a step in the environments given by `where`."""
    from gymnasium.vector.utils import iterate

    reward, terminated, truncated, info = outcome
    if not isinstance(info, dict):
        raise TypeError(
            f"the infos of the vector environment are a {type(info).__name__}; they must be a dict, as Gymnasium gives"
            " them: leave out wrappers such as DictInfoToList"
        )
    each = iterate(env.observation_space, observations)
    for i, (rollout, observation) in enumerate(zip(rollouts, each, strict=True)):
        if rollout.goes_on and where[i]:
            own = info
            if same_step and (terminated[i] or truncated[i]):
                # The observation is of the next episode already.
                observation, own = _final_observation(info, i), info.get("final_info", {})
            gamma_next = _entry(own, "gamma_next", i)
            rollout.record(observation, reward[i], terminated[i], truncated[i], gamma_next)


def _autoreset_mode(env: Any) -> Any:
    from gymnasium.vector import AutoresetMode

    mode = env.metadata.get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError as error:
        raise ValueError(
            "the vector environment does not say what it does after an end: "
            f"metadata['autoreset_mode'] is {mode!r}; it must be a gymnasium.vector.AutoresetMode"
        ) from error


def _entry(info: dict[str, Any], key: str, i: int) -> Any:
    """Returns an entry of the i-th environment's info, None if it has none."""
    given = key in info and info.get(f"_{key}", np.ones(i + 1))[i]
    return info[key][i] if given else None


def _final_observation(info: dict[str, Any], i: int) -> Any:
    final = _entry(info, "final_obs", i)
    if final is None:
        raise ValueError(
            f"environment {i} ended and was reset in the same step, but info['final_obs'][{i}] is missing"
        )
    return final
