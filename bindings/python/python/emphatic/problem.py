"""Decision problems, and everything that is exactly true of them."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native, catalogue, convert, parts
from .batch import Batch
from .convert import Floats, Ints
from .diagnosis import Diagnosis
from .progress import Bar
from .solution import Solution, shaped


class Transitions(NamedTuple):
    """All transitions of a problem, sorted by state and action. One that ends the episode has gamma 0; `next` is where the next
    episode starts, so an end may take several rows."""

    state: Ints
    action: Ints
    next: Ints
    probability: Floats
    reward: Floats
    gamma: Floats


class Problem(_native.Problem):
    """A decision problem with a behaviour, a target policy, an interest and what actor and critic see.

    >>> problem = Problem.open("counterexample")
    >>> problem
    <Problem counterexample: 3 states, 2 actions>
    >>> problem.solve().objective
    0.6875
    """

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Problem:
        """A problem file (TOML or JSON), or one of `emphatic.problems()` by its name."""
        return cls(path)

    @classmethod
    def parse(cls, text: str, name: str = "problem.toml") -> Problem:
        """The text of a problem file; JSON if the name ends in `.json`."""
        return cls(name, text)

    @classmethod
    def from_arrays(
        cls,
        probability: npt.ArrayLike,
        reward: npt.ArrayLike,
        *,
        gamma: npt.ArrayLike = 1.0,
        ends: npt.ArrayLike = 0.0,
        end_reward: npt.ArrayLike = 0.0,
        start: int | str | npt.ArrayLike,
        behaviour: npt.ArrayLike,
        target: npt.ArrayLike | None = None,
        interest: npt.ArrayLike = 1.0,
        actor: npt.ArrayLike | None = None,
        critic: npt.ArrayLike | None = None,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        name: str = "problem",
    ) -> Problem:
        """A problem from arrays over S states and A actions.

        `probability` [S, A, S] is that of each next state, `ends` [S, A] that of ending the episode: together they sum
        to one. `reward` and `gamma` [S, A, S] go with the transitions and `end_reward` [S, A] with the ends. A number will do for
        all, and a dimension of length 1: rewards by state and action are reward[:, :, None]. `start` is a state, "uniform" or probabilities [S]; `behaviour` and `target` are
        [S, A] or [A], or "uniform"; `interest` [S] or a number; `actor` and `critic` are features [S, F], by default the states themselves.

        >>> Problem.from_arrays([[[0, 1], [1, 0]], [[0, 0], [0, 0]]], reward=0, start=0, behaviour=[0.5, 0.5],
        ...                     ends=[[0, 0], [1, 1]], end_reward=[[0, 0], [1, 2]], gamma=0.9).solve().value.round(3)
        array([1.227, 1.5  ])
        """
        p = convert.floats(probability, "probability", 3)
        if p.shape[0] != p.shape[2] or 0 in p.shape:
            raise ValueError(f"probability has the shape {p.shape}; it must be [states, actions, states]")
        shape, pairs = p.shape, (p.shape[0], p.shape[1])
        end = _finite(_broadcast(ends, "ends", pairs), "ends")
        all_ways = convert.normalised(np.concatenate([_finite(p, "probability"), end[:, :, None]], axis=2))
        sums = all_ways.sum(axis=2)
        for s, a in np.argwhere(abs(sums - 1) > convert.ROUNDING):
            raise ValueError(
                f"probability[{s}, {a}] and ends[{s}, {a}] sum to {sums[s, a]}; they must sum to 1"
            )
        p, end = all_ways[:, :, :-1], all_ways[:, :, -1]
        # What goes with a transition that cannot be is not looked at.
        rewards = _finite(np.where(p != 0, _broadcast(reward, "reward", shape), 0.0), "reward")
        gammas = _finite(np.where(p != 0, _broadcast(gamma, "gamma", shape), 0.0), "gamma")
        end_rewards = _finite(
            np.where(end != 0, _broadcast(end_reward, "end_reward", pairs), 0.0), "end_reward"
        )
        ways = [
            {
                "from": int(s),
                "action": int(a),
                "to": int(n),
                "probability": float(p[s, a, n]),
                "reward": float(rewards[s, a, n]),
                "gamma": float(gammas[s, a, n]),
            }
            for s, a, n in np.argwhere(p != 0)
        ]
        ways += [
            {
                "from": int(s),
                "action": int(a),
                "end": True,
                "probability": float(end[s, a]),
                "reward": float(end_rewards[s, a]),
            }
            for s, a in np.argwhere(end != 0)
        ]
        return cls._from_ways(
            ways, pairs, states, actions, start, behaviour, target, interest, actor, critic, name
        )

    @classmethod
    def from_gymnasium(
        cls,
        env: Any,
        *,
        gamma: float = 1.0,
        behaviour: npt.ArrayLike | None = None,
        target: npt.ArrayLike | None = None,
        interest: npt.ArrayLike = 1.0,
        actor: npt.ArrayLike | None = None,
        critic: npt.ArrayLike | None = None,
    ) -> Problem:
        """A problem from a Gymnasium environment with a transition table `P`, or its name: FrozenLake, Taxi, CliffWalking.
        `behaviour` left out: all actions alike. States that cannot be reached from the start are kept."""
        if isinstance(env, str):
            gymnasium = convert.library("gymnasium")
            with gymnasium.make(env) as made:
                return cls.from_gymnasium(
                    made,
                    gamma=gamma,
                    behaviour=behaviour,
                    target=target,
                    interest=interest,
                    actor=actor,
                    critic=critic,
                )
        gamma = convert.number(gamma, "gamma")
        inner = getattr(env, "unwrapped", env)
        table = getattr(inner, "P", None)
        start = getattr(inner, "initial_state_distrib", None)
        if not isinstance(table, Mapping) or start is None:
            raise TypeError(
                f"{env} has no transition table `P` with `initial_state_distrib`; FrozenLake, Taxi and CliffWalking have"
            )
        _warn_of_what_is_not_in_the_table(env)
        states = len(table)
        if not states or not all(
            isinstance(by_action, Mapping) and by_action for by_action in table.values()
        ):
            raise ValueError(
                f"the transition table `P` of {env} has a state without actions, or no states at all"
            )
        ways = []
        for state, by_action in table.items():
            for action, outcomes in by_action.items():
                for probability, following, reward, terminated in outcomes:
                    if not 0 <= following < states:
                        raise ValueError(
                            f"P[{state}][{action}] leads to {following}; there are {states} states, numbered from 0"
                        )
                    way = {
                        "from": int(state),
                        "action": int(action),
                        "probability": float(probability),
                        "reward": float(reward),
                    }
                    ways.append(
                        way | ({"end": True} if terminated else {"to": int(following), "gamma": gamma})
                    )
        ways = [way for way in ways if way["probability"] > 0]
        pairs = (len(table), len(next(iter(table.values()))))
        uniform = np.full(pairs[1], 1.0 / pairs[1])
        spec = getattr(env, "spec", None)
        name = type(inner).__name__ if spec is None else spec.id
        mu = uniform if behaviour is None else behaviour
        return cls._from_ways(ways, pairs, None, None, start, mu, target, interest, actor, critic, name)

    @classmethod
    def _from_ways(
        cls,
        ways: list[dict[str, Any]],
        pairs: tuple[int, int],
        states: Sequence[str] | None,
        actions: Sequence[str] | None,
        start: int | str | npt.ArrayLike,
        behaviour: npt.ArrayLike,
        target: npt.ArrayLike | None,
        interest: npt.ArrayLike,
        actor: npt.ArrayLike | None,
        critic: npt.ArrayLike | None,
        name: str,
    ) -> Problem:
        """By way of a problem file, so that everything is checked in one place and the problem can be saved."""
        count, width = pairs
        named = [str(k) for k in range(count)] if states is None else [str(state) for state in states]
        called = [str(k) for k in range(width)] if actions is None else [str(action) for action in actions]
        for names, right, what in ((named, count, "states"), (called, width, "actions")):
            if len(names) != right:
                raise ValueError(f"there are {len(names)} names of {what} for {right} {what}")
        for way in ways:
            way["from"], way["action"] = named[way["from"]], called[way["action"]]
            if "to" in way:
                way["to"] = named[way["to"]]
        data: dict[str, Any] = {"states": named, "actions": called, "transitions": ways}
        data["start"] = _start(start, named)
        data["behaviour"] = _policy(behaviour, "behaviour", named, called)
        if target is not None:
            data["target"] = _policy(target, "target", named, called)
        data["interest"] = dict(
            zip(named, _finite(_broadcast(interest, "interest", (count,)), "interest").tolist())
        )
        features = {
            whose: dict(zip(named, _features(table, whose, count).tolist()))
            for whose, table in (("actor", actor), ("critic", critic))
            if table is not None
        }
        if features:
            data["features"] = features
        try:
            text = json.dumps(data, allow_nan=False)
        except ValueError:
            raise ValueError(
                "a number of the problem is infinite or not a number; all must be finite"
            ) from None
        file = name if name.endswith(".json") else f"{name}.json"
        try:
            return cls(file, text)
        except _native.FileError as error:
            # The user wrote arrays: a place in the text says nothing.
            place = rf"{re.escape(file)}(, line \d+, column \d+)?: "
            raise ValueError(re.sub(f"^{place}", "", str(error))) from None

    # --- What it is ---

    @property
    def transitions(self) -> Transitions:
        """All transitions, as columns."""
        return Transitions(**self._transitions())

    @property
    def actor(self) -> parts.Table:
        """What the actor sees of each state."""
        return parts.Table._sparse(*self._features(False))

    @property
    def critic(self) -> parts.Table:
        """What the critic sees of each state."""
        return parts.Table._sparse(*self._features(True))

    @property
    def target_weights(self) -> Floats | None:
        """The weights of the target policy in the shape of a learner's; None if it is given by probabilities that no weights have."""
        kind, weights = self._target()
        return None if weights is None else shaped(weights, kind, len(self.actions))

    def softmax(self) -> catalogue.Softmax:
        """A softmax policy over what the actor sees."""
        if not self.actions:
            raise TypeError("this problem has a real action: use gaussian() or deterministic()")
        return catalogue.Softmax(self.actor, len(self.actions))

    def gaussian(self) -> catalogue.Gaussian:
        """A Gaussian policy over what the actor sees, where the action is a real number."""
        if self.actions:
            raise TypeError("this problem has finitely many actions: use softmax()")
        return catalogue.Gaussian(self.actor)

    def deterministic(self) -> catalogue.DeterministicLinear:
        """A deterministic policy over what the actor sees, where the action is a real number."""
        if self.actions:
            raise TypeError("this problem has finitely many actions: use softmax()")
        return catalogue.DeterministicLinear(self.actor)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the problem file; a problem from arrays is JSON, so let the name end in `.json`."""
        is_json = self.text.lstrip().startswith("{")
        if is_json != os.fspath(path).endswith(".json"):
            right = "in" if is_json else "in no"
            raise ValueError(
                f"{os.fspath(path)}: the text of this problem is {'JSON' if is_json else 'TOML'}; let the name end {right} `.json`"
            )
        _native.write_file(path, self.text.encode())

    def __repr__(self) -> str:
        actions = f"{len(self.actions)} actions" if self.actions else "a real action"
        return f"<Problem {self.name.removesuffix('.json')}: {len(self.states)} states, {actions}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.text)

    # --- What is true of it ---

    def stream(self, steps: int, *, seed: int, run: int = 0) -> Batch:
        """Experience of the behaviour: the same bits for the same seed and run as everywhere in emphatic. `x` are the numbers of states."""
        columns = self._experience(
            convert.count(steps, "steps", least=0),
            convert.count(seed, "seed", 0),
            convert.count(run, "run", 0),
        )
        ended = columns["gamma_next"] == 0
        return Batch(**columns, terminated=ended)

    def objective(self, weights: npt.ArrayLike) -> float:
        """J_μ of the policy with these weights, in the shape of a learner's."""
        flat, outputs = self._flat(weights)
        return self._objective(flat, outputs)

    def solve(
        self,
        lambda_a: float = 1.0,
        *,
        weights: npt.ArrayLike | None = None,
        probabilities: npt.ArrayLike | None = None,
    ) -> Solution:
        """Everything that is exactly true of the problem's target policy, of the policy with other `weights`, or of a policy given by
        its `probabilities` [S, A]. `lambda_a` is that of the emphatic weighting and of `Solution.with_lambda_a`."""
        if weights is not None and probabilities is not None:
            raise ValueError("give weights or probabilities, not both")
        flat, outputs = (None, 1) if weights is None else self._flat(weights)
        rows = None
        if probabilities is not None:
            if not self.actions:
                raise TypeError(
                    "this problem has a real action: its policies have weights, not probabilities"
                )
            rows = convert.readable(
                _rows(probabilities, "probabilities", len(self.states), len(self.actions))
            )
        found = self._solve(convert.number(lambda_a, "lambda_a"), flat, outputs, rows)
        return Solution._of(self, found)

    def diagnose(
        self,
        *,
        starts: int | None = None,
        seed: int = 1,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Diagnosis:
        """What it means to learn off-policy here: where the gradient and the semi-gradient lead, whether the emphasis can be
        estimated, whether critics are stable, and what to try. `starts` is the number of random starts; by default what
        the size of the problem allows."""
        starts = None if starts is None else convert.count(starts, "starts", least=0, most=1_000_000)
        threads = None if threads is None else convert.count(threads, "threads")
        with Bar("following flows", progress) as bar:
            found = self._diagnose(starts, convert.count(seed, "seed", 0), threads, bar)
        return Diagnosis._of(json.loads(found["json"]), found["text"], found["svg"], found["experiment"])

    def _flat(self, weights: npt.ArrayLike) -> tuple[Floats, int]:
        found = convert.array(weights, "weights")
        features = self._actor_len()
        if self.actions:
            right: tuple[tuple[int, ...], ...] = ((features, len(self.actions)),)
        else:
            right = ((features, 2), (features,))
        if found.shape not in right:
            shapes = " or ".join(str(shape) for shape in right)
            raise ValueError(f"weights have the shape {found.shape}; they must have {shapes}")
        flat = convert.readable(_finite(found, "weights")).ravel()
        return flat, 1 if found.ndim == 1 else found.shape[1]


def _warn_of_what_is_not_in_the_table(env: Any) -> None:
    """Wrappers stand between the table and who acts, and not all that an environment can do is in its table."""
    ignored = []
    while (inner := getattr(env, "env", None)) is not None:
        if any(kind in {base.__name__ for base in type(env).__mro__} for kind in _CHANGING):
            ignored.append(type(env).__name__)
        env = inner
    ignored += ["fickle_passenger"] if getattr(env, "fickle_passenger", False) else []
    if ignored:
        warnings.warn(
            f"{', '.join(ignored)}: this is not in the environment's transition table and is left out",
            RuntimeWarning,
            stacklevel=3,
        )


# Gymnasium's wrappers that change what is seen, done or earned.
_CHANGING = ("ObservationWrapper", "ActionWrapper", "RewardWrapper")


def problems() -> dict[str, str]:
    """The problems that come along: name, and what each is."""
    return dict(_native.shipped_problems())


def _broadcast(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    found = convert.array(value, name).astype(np.float64)
    # Fewer dimensions would be taken for the last ones: [S, A] for [A, S] where both fit.
    if found.ndim in (0, len(shape)):
        try:
            return np.broadcast_to(found, shape)
        except ValueError:
            pass
    raise ValueError(f"{name} has the shape {found.shape}; it must be a number or have the shape {shape}")


def _finite(found: Floats, name: str) -> Floats:
    for at in np.argwhere(~np.isfinite(found)):
        where = ", ".join(str(k) for k in at)
        raise ValueError(f"{name}[{where}] is {found[tuple(at)]}; it must be finite")
    return found


def _rows(value: npt.ArrayLike, name: str, states: int, actions: int) -> Floats:
    found = convert.array(value, name).astype(np.float64)
    if found.shape not in ((states, actions), (actions,)):
        raise ValueError(
            f"{name} has the shape {found.shape}; it must be [{states}, {actions}] or [{actions}]"
        )
    return np.broadcast_to(convert.normalised(_finite(found, name)), (states, actions))


def _policy(value: npt.ArrayLike, name: str, states: list[str], actions: list[str]) -> Any:
    if isinstance(value, str):
        return value
    rows = _rows(value, name, len(states), len(actions))
    return {state: dict(zip(actions, row.tolist())) for state, row in zip(states, rows)}


def _features(value: npt.ArrayLike, whose: str, states: int) -> Floats:
    found = convert.floats(value, whose, 2)
    if len(found) != states:
        raise ValueError(
            f"{whose} has the shape {found.shape}; it must have a row for each of {states} states"
        )
    return _finite(found, whose)


def _start(start: int | str | npt.ArrayLike, states: list[str]) -> Any:
    if isinstance(start, str):
        return start
    if isinstance(start, (int, np.integer)) and not isinstance(start, bool):
        if not 0 <= start < len(states):
            raise IndexError(f"start is {start}; there are {len(states)} states, numbered from 0")
        return states[int(start)]
    shares = convert.floats(start, "start", 1)
    if len(shares) != len(states):
        raise ValueError(
            f"start has the shape {shares.shape}; it must have one probability for each of {len(states)} states"
        )
    _finite(shares, "start")
    return {state: float(share) for state, share in zip(states, convert.normalised(shares)) if share != 0}
