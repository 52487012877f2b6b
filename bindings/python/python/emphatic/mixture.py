"""Behaviours that are made of others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import convert

if TYPE_CHECKING:
    from .behaviour import Behaviour


@dataclass(frozen=True, eq=False)
class EpsilonGreedy:
    """A behaviour for `collect` and `evaluate`: the agent's most probable action, or with probability `epsilon` any, all alike.

    Actions that are equally probable to the bit share the rest evenly. The `agent` may be anything that has probabilities: a
    learner, a table of probabilities, `"uniform"`, a `Mixture`. Real actions have no greedy one; a `Mixture` mixes densities.

    >>> import emphatic, gymnasium
    >>> problem = emphatic.Problem.open("counterexample")
    >>> agent = emphatic.TrueACE(problem, alpha=0.1)
    >>> agent.learn(problem.stream(5000, seed=1))
    >>> env = gymnasium.make("emphatic/Counterexample-v0")
    >>> batch = emphatic.collect(env, emphatic.EpsilonGreedy(agent, epsilon=0.2), episodes=100, seed=1)
    >>> sorted(set(batch.mu.round(12).tolist()))  # the other one of two actions, and the most probable one
    [0.1, 0.9]
    """

    agent: Behaviour
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        epsilon = convert.number(self.epsilon, "epsilon")
        if not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon is {epsilon}; a probability lies between 0 and 1")
        object.__setattr__(self, "epsilon", epsilon)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Mixture:
    """A behaviour for `collect` and `evaluate`: one of several, drawn anew at every step with the probabilities given.

    `parts` are pairs of a probability and a behaviour: `"uniform"`, a table of probabilities, an agent, or another mixture. A function
    cannot be among them, because it says the probability of no action but its own; an object with the methods `sample(x, rng)` and
    `probability(x, action)` can. What `collect` records is the probability (or density) of the action in the whole mixture.

    >>> import emphatic
    >>> env = emphatic.make_vec("mountain-car", 2)
    >>> often_right = emphatic.Mixture([(0.75, "uniform"), (0.25, [0, 0, 1])])
    >>> batch = emphatic.collect(env, often_right, steps=100, seed=1)
    >>> [batch.mu[batch.action == action][0].item() for action in range(3)]
    [0.25, 0.25, 0.5]
    """

    parts: tuple[tuple[float, Behaviour], ...]

    def __init__(self, parts: Iterable[tuple[float, Behaviour]]) -> None:
        right = "pairs of a probability and a behaviour: Mixture([(0.5, 'uniform'), (0.5, agent)])"
        checked: list[tuple[float, Behaviour]] = []
        if isinstance(parts, str) or not isinstance(parts, Iterable):
            raise TypeError(f"a mixture's parts are {parts!r}; they must be {right}")
        for i, part in enumerate(parts):
            if not isinstance(part, (tuple, list)) or len(part) != 2:
                raise TypeError(f"part {i} of a mixture is {part!r}; parts must be {right}")
            share = convert.number(part[0], f"the probability of part {i} of a mixture")
            if not 0 <= share <= 1:
                raise ValueError(
                    f"the probability of part {i} of a mixture is {share}; it must lie between 0 and 1"
                )
            checked.append((share, part[1]))
        if not checked:
            raise ValueError(f"a mixture has no parts; they must be {right}")
        total = sum(share for share, _ in checked)
        if abs(total - 1) > convert.ROUNDING:
            raise ValueError(f"the probabilities of a mixture's parts sum to {total}; they must sum to 1")
        object.__setattr__(self, "parts", tuple(checked))

    def __repr__(self) -> str:
        return f"Mixture({list(self.parts)!r})"
