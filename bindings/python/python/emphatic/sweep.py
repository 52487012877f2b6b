"""Many learners learn from the same batch side by side, and are evaluated on the way."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from . import _native, convert
from .batch import Batch
from .convert import Floats
from .evaluate import Evaluation, evaluate
from .learners import Learner, UnevenEmphasisWarning, _check_batch
from .progress import Bar

if TYPE_CHECKING:
    import gymnasium
    import gymnasium.vector

_L = TypeVar("_L", bound=Learner)

# Where learners are evaluated: an environment, several, an id, or a class or function that returns one.
_Env: TypeAlias = (
    "str | gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any] | Callable[[], Any]"
)


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Generic[_L]):
    """Learning curves, as `sweep` returns them if there are evaluations."""

    agents: list[_L]
    """The learners after the last step, in the order of the settings."""
    steps: NDArray[np.int64]
    """After how many steps of the batch each evaluation was, read-only."""
    values: Floats
    """What was found, [settings, evaluations], read-only. NaN of a learner that had diverged."""

    def __post_init__(self) -> None:
        for column in (self.steps, self.values):
            column.flags.writeable = False

    def __repr__(self) -> str:
        settings, evaluations = self.values.shape
        return f"Curves({settings} settings, {evaluations} evaluations)"


class EvaluationError(RuntimeError):
    """An evaluation of a sweep failed, by the exception that is the `__cause__`. The message says which."""

    curves: Curves[Any]
    """What there was until then: the learners as they were at this evaluation, from which another sweep can go on, and the values, NaN
    where there are none."""


@overload
def sweep(
    settings: Sequence[_L],
    batch: Batch,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[_L]: ...


@overload
def sweep(
    settings: Sequence[_L],
    batch: Batch,
    *,
    evaluations: int | Sequence[int],
    env: _Env,
    episodes: int,
    seed: int,
    threads: int | None = None,
    progress: bool | None = None,
) -> Curves[_L]: ...


@overload
def sweep(
    settings: Sequence[_L],
    batch: Batch,
    *,
    evaluations: int | Sequence[int],
    evaluate: Callable[[_L], float | Evaluation],
    threads: int | None = None,
    progress: bool | None = None,
) -> Curves[_L]: ...


def sweep(
    settings: Sequence[_L],
    batch: Batch,
    *,
    evaluations: int | Sequence[int] | None = None,
    env: _Env | None = None,
    episodes: int | None = None,
    seed: int | None = None,
    evaluate: Callable[[_L], float | Evaluation] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> list[_L] | Curves[_L]:
    """Many learners learn from the same batch, sixteen side by side in SIMD lanes and on all cores: copies of those given, in
    their order, each to the bit what `learner.learn(batch)` would make of it alone.

    Learners that differ only in numbers (step-sizes, λ, λ_a, warm-ups) share lanes, but not those that differ in
    whole numbers, such as the length of a memory. They may have learned before, and go on from there; those that have learned from different numbers of steps
    share no lanes. Some settings of a sweep may well
    diverge: see `agent.diverged`. As with `learn`, no thread may write to the batch meanwhile. Learners with a part that is
    written in Python are swept on one core.

    >>> import emphatic
    >>> problem = emphatic.Problem.open("counterexample")
    >>> batch = problem.stream(4000, seed=1)
    >>> critic = emphatic.ExactCritic(problem)
    >>> emphases = [emphatic.FollowOn(lambda_a) for lambda_a in (0, 0.25, 0.5, 1)]
    >>> agents = [emphatic.ACE(problem.softmax(), critic, alpha=0.05, emphasis=emphasis) for emphasis in emphases]
    >>> objectives = [problem.objective(agent.weights) for agent in emphatic.sweep(agents, batch)]
    >>> objectives == sorted(objectives)  # the larger λ_a, the better
    True

    With `evaluations` the result is `Curves`: the learners, and what each of them was worth on the way.

    evaluations
        How many, evenly spaced, the last of them after the last step; or after how many steps each is, such as `[0, 100, 1000]`.
    env, episodes, seed
        The value is the mean return of so many episodes in an environment, as `emphatic.evaluate(env, agent, episodes, seed)` finds it: the same episodes
        for all learners and at all times. An environment of Gymnasium, or several, which stay open; or an id, a class or a function without arguments that
        returns one, which is closed at the end.
    evaluate
        In their place a function that is given a copy of the learner and returns its value, or an `Evaluation`, which counts by its mean.

    A learner that has diverged is not evaluated: its value is NaN. An evaluation that raises an exception leads to an `EvaluationError`, whose `curves` have
    what there was until then.

    >>> curves = emphatic.sweep(agents, batch, evaluations=4, evaluate=lambda agent: problem.objective(agent.weights))
    >>> curves.steps
    array([1000, 2000, 3000, 4000])
    >>> curves.values.shape  # settings, evaluations
    (4, 4)
    >>> curves.values[:, -1].tolist() == objectives
    True
    """
    learners = list(settings)
    for k, learner in enumerate(learners):
        if not isinstance(learner, Learner):
            raise TypeError(
                f"settings[{k}] is a {type(learner).__name__}; it must be a learner, such as emphatic.ACE(...)"
            )
        _check_batch(batch, learner)
    if threads is not None:
        threads = convert.count(threads, "threads")
    given = {"env": env, "episodes": episodes, "seed": seed, "evaluate": evaluate}
    if evaluations is None:
        for name, value in given.items():
            if value is not None:
                raise TypeError(f"{name} is given, but no evaluations: how many there are, evaluations=10")
    at = [] if evaluations is None else _steps(evaluations, batch)
    were_uneven = [learner._is_uneven() for learner in learners]
    agents, values = learners, np.full((len(learners), len(at)), np.nan)
    with ExitStack() as opened:
        value_of = None if evaluations is None else _evaluator(env, episodes, seed, evaluate, opened)
        if isinstance(value_of, _InEnvironment):
            value_of.check(learners)
        bar = opened.enter_context(Bar("sweeping", progress))
        all_steps, begin = len(batch) * len(learners), 0
        for j, end in enumerate([*at, len(batch)]):
            # Also if there are no steps: what is returned are always copies.
            if end > begin or j == 0:
                before = begin * len(learners)

                def report(done: int, _all: int, before: int = before) -> None:
                    bar(before + done, all_steps)

                swept = _native.sweep(agents, batch, begin, end, threads, report)
                agents = [learner._like(native) for learner, native in zip(learners, swept)]
                begin = end
            if value_of is not None and j < len(at):
                for k, agent in enumerate(agents):
                    try:
                        if agent.diverged is None:
                            values[k, j] = value_of(agent)
                    except Exception as error:
                        raise _failed(error, k, j, Curves(agents, np.array(at, np.int64), values)) from error
    _warn_of_uneven(agents, were_uneven)
    return agents if evaluations is None else Curves(agents, np.array(at, np.int64), values)


def _warn_of_uneven(agents: Sequence[Learner], were_uneven: Sequence[bool]) -> None:
    uneven = [agent for agent, was in zip(agents, were_uneven) if not was and agent._is_uneven()]
    if uneven:
        worst = min(uneven, key=lambda agent: agent.effective_sample or 0.0)
        warnings.warn(
            f"{len(uneven)} of {len(agents)} learners: {worst._uneven_emphasis} (the worst of them)",
            UnevenEmphasisWarning,
            stacklevel=3,
        )


def _steps(evaluations: Any, batch: Batch) -> list[int]:
    """Returns after how many steps the evaluations are."""
    if isinstance(evaluations, (Sequence, np.ndarray)) and not isinstance(evaluations, (str, bytes)):
        steps = [
            convert.count(step, f"evaluations[{k}]", least=0, most=len(batch))
            for k, step in enumerate(evaluations)
        ]
        if not steps:
            raise ValueError("evaluations is an empty list; leave it out if there are to be none")
        for k, (step, next_step) in enumerate(zip(steps, steps[1:])):
            if next_step <= step:
                raise ValueError(f"evaluations[{k + 1}] is {next_step}, after {step}; steps must increase")
        return steps
    count = convert.count(evaluations, "evaluations")
    if count > len(batch):
        raise ValueError(f"evaluations is {count}; the batch has {len(batch)} steps, so at most as many")
    return [(k + 1) * len(batch) // count for k in range(count)]


def _failed(error: Exception, k: int, j: int, curves: Curves[Any]) -> EvaluationError:
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    failed = EvaluationError(
        f"the evaluation of settings[{k}] after {curves.steps[j]} steps raised {said}; `curves` of this exception has the values"
        f" until then, and the learners after {curves.steps[j]} steps"
    )
    failed.curves = curves
    return failed


def _evaluator(
    env: _Env | None, episodes: Any, seed: Any, function: Any, opened: ExitStack
) -> Callable[[Any], float]:
    """Returns what finds the value of a learner. What it opens is closed with `opened`."""
    if env is None and function is None:
        raise TypeError(
            "evaluations are given, but not how to evaluate: env=, episodes= and seed=, or evaluate=, a function of an agent"
        )
    if function is not None:
        for name, value in (("env", env), ("episodes", episodes), ("seed", seed)):
            if value is not None:
                raise TypeError(
                    f"{name} and evaluate are given; a function has no use for {name}: leave one out"
                )
        if not callable(function):
            raise TypeError(
                f"evaluate is {function!r}; it must be a function of an agent that returns a number"
            )
        return lambda agent: _number(function(agent.copy()))
    for name, value in (("episodes", episodes), ("seed", seed)):
        if value is None:
            raise TypeError(f"env is given without {name}; all evaluations are episodes=… from seed=…")
    episodes, seed = convert.count(episodes, "episodes"), convert.count(seed, "seed", least=0)
    return _InEnvironment(_opened(env, opened), episodes, seed)


def _number(value: Any) -> float:
    if isinstance(value, Evaluation):
        return value.mean
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"evaluate returned {value!r}; it must return a number")
    return float(value)


class _InEnvironment:
    """The mean return of episodes."""

    def __init__(self, env: Any, episodes: int, seed: int) -> None:
        self.env, self.episodes, self.seed = env, episodes, seed

    def __call__(self, agent: Learner) -> float:
        return evaluate(self.env, agent, self.episodes, self.seed, progress=False).mean

    def check(self, learners: Sequence[Learner]) -> None:
        """Refuses learners that do not fit, before they have learned: each takes one step."""
        for k, learner in enumerate(learners):
            try:
                if learner.diverged is None:
                    evaluate(self.env, learner, 1, self.seed, cap=1, progress=False)
            except (TypeError, ValueError, IndexError) as error:
                raise type(error)(f"settings[{k}] does not fit env: {error}") from error


def _opened(env: Any, opened: ExitStack) -> Any:
    """Returns an environment, or several. What is opened here is closed with `opened`."""
    try:
        import gymnasium
    except ImportError as error:
        raise ImportError("sweep() needs Gymnasium for env=: pip install gymnasium") from error
    kinds = (gymnasium.Env, gymnasium.vector.VectorEnv)
    if isinstance(env, kinds):
        return env
    if not isinstance(env, str) and not callable(env):
        right = "an environment, an id, or a class or function without arguments that returns an environment"
        raise TypeError(f"env is a {type(env).__name__}; it must be {right}")
    made = gymnasium.make(env) if isinstance(env, str) else env()
    if not isinstance(made, kinds):
        raise TypeError(f"env returned a {type(made).__name__}; it must return an environment of Gymnasium")
    opened.callback(made.close)
    return made
