"""Critics against published code, digit by digit.

The released codes draw their streams from NumPy's legacy generator, with the run as the seed. Those streams are drawn
anew here, and taught to the package's critics and to the published rules in plain NumPy. `docs/published.md` names
the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import emphatic

Array = npt.NDArray[Any]
END = -1


class Step(NamedTuple):
    state: int
    action: int
    mu: float
    reward: float
    following: int


class Problem(NamedTuple):
    features: Array
    gamma: float
    target: tuple[float, float]
    first_weights: Array
    stream: Callable[[np.random.RandomState], Iterator[Step]]


class Method(NamedTuple):
    """One rule for all of them: without second weights if η = 0, which β draws to zero."""

    alpha: float
    lambda_: float
    eta: float = 0.0
    beta: float = 0.0
    emphatic: bool = False


def TD(alpha: float, lambda_: float = 0.0) -> Method:
    return Method(alpha, lambda_)


def TDC(alpha: float, lambda_: float = 0.0) -> Method:
    return Method(alpha, lambda_, eta=1.0)


def TDRC(alpha: float, lambda_: float = 0.0) -> Method:
    return Method(alpha, lambda_, eta=1.0, beta=1.0)


def ETD(alpha: float, lambda_: float = 0.0) -> Method:
    return Method(alpha, lambda_, emphatic=True)


# --- The problems of the released codes ---


def random_walk_stream(rng: np.random.RandomState) -> Iterator[Step]:
    s = 2
    while True:
        a = int(rng.random_sample() >= 0.5)
        following = s + (1 if a else -1)
        reward = {-1: -1.0, 5: 1.0}.get(following, 0.0)
        yield Step(s, a, 0.5, reward, END if reward else following)
        s = 2 if reward else following


def baird_stream(rng: np.random.RandomState) -> Iterator[Step]:
    s = 6
    while True:
        solid = rng.random_sample() >= 6 / 7
        following = 6 if solid else rng.randint(6)
        yield Step(s, int(solid), 1 / 7 if solid else 6 / 7, 0.0, following)
        s = following


def collision_stream(rng: np.random.RandomState) -> Iterator[Step]:
    s = rng.randint(0, 4)
    while True:
        turn = 0 if s < 4 else int(rng.choice([0, 1]))
        end = turn == 1 or s == 7
        yield Step(s, turn, 1.0 if s < 4 else 0.5, float(s == 7 and not turn), END if end else s + 1)
        s = rng.randint(0, 4) if end else s + 1


DEPENDENT = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
WALKS = {
    "tabular": np.eye(5),
    "dependent": DEPENDENT / np.linalg.norm(DEPENDENT, axis=1, keepdims=True),
    "inverted": (np.ones((5, 5)) - np.eye(5)) / 2,
}
BAIRD = np.hstack([2 * np.eye(7), np.ones((7, 1))])
BAIRD[6, 6:] = [1, 2]
# The features of run 0, as printed.
COLLISION = np.array(
    [
        *([0, 0, 1, 0, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1], [1, 0, 1, 1, 0, 0]),
        *([1, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 1], [1, 0, 1, 0, 0, 1]),
    ],
    dtype=float,
)

PROBLEMS = {
    name: Problem(x, 1.0, (0.4, 0.6), np.zeros(x.shape[1]), random_walk_stream) for name, x in WALKS.items()
} | {
    "baird": Problem(BAIRD, 0.99, (0.0, 1.0), np.array([1.0] * 6 + [10.0, 1.0]), baird_stream),
    "collision": Problem(COLLISION, 0.9, (1.0, 0.0), np.zeros(6), collision_stream),
}


def projected_error(problem: Problem, weights: Array) -> Array:
    """The root of the mean squared projected Bellman error."""
    x, n = problem.features, len(problem.features)
    if n == 7:
        p, r, d = np.tile(np.eye(7)[6], (7, 1)), np.zeros(7), np.full(7, 1 / 7)
    else:
        p, r = 0.6 * np.eye(5, k=1) + 0.4 * np.eye(5, k=-1), np.array([-0.4, 0, 0, 0, 0.6])
        # Six digits, as in the released code.
        d = np.array([0.111111, 0.222222, 0.333333, 0.222222, 0.111111])
    key, constant = (x.T * d) @ (np.eye(n) - problem.gamma * p) @ x, x.T @ (d * r)
    g = constant - weights @ key.T
    inverse = np.linalg.pinv((x.T * d) @ x)
    return np.asarray(np.sqrt(np.maximum(0, ((g @ inverse) * g).sum(axis=-1))))


def value_error(weights: Array) -> Array:
    # d_μ as printed, from samples.
    d = [0.05715078, 0.1142799, 0.17142456, 0.22856842, 0.22856842, 0.11428067, 0.05715311, 0.02857415]
    squares = (weights @ COLLISION.T - 0.9 ** np.arange(7, -1, -1)) ** 2
    return np.asarray(np.sqrt(np.average(squares, axis=-1, weights=d)))


# --- The learners ---
#
# Both return weights before the first step and after steps 1, 1 + every, …: [methods, runs, points, features].


def by_published_rules(
    problem: Problem, methods: list[Method], streams: list[list[Step]], every: int
) -> Array:
    x = np.vstack([problem.features, np.zeros(problem.features.shape[1])])
    s, a, mu, reward, following = np.array(streams).transpose(2, 1, 0)[..., None]
    rho = np.array(problem.target)[a.astype(int)] / mu
    now, after = x[s[..., 0].astype(int)], problem.gamma * x[following[..., 0].astype(int)]
    gamma = np.where(following == END, 0, problem.gamma)
    alpha, lambda_, eta, beta, weighted = np.array(methods, dtype=float).T[..., None, None]
    w = np.tile(problem.first_weights, (len(methods), len(streams), 1))
    h, decayed_trace, follow_on = np.zeros_like(w), np.zeros_like(w), np.ones_like(w[..., :1])
    out = [w]
    for t in range(len(s)):
        delta = reward[t] + dot(w, after[t] - now[t])
        z = rho[t] * (decayed_trace + (1 + weighted * (1 - lambda_) * (follow_on - 1)) * now[t])
        w = w + alpha * (delta * z - (1 - lambda_) * dot(z, h) * after[t])
        h = h + alpha * eta * (delta * z - dot(h, now[t]) * now[t] - beta * h)
        decayed_trace, follow_on = gamma[t] * lambda_ * z, 1 + gamma[t] * rho[t] * follow_on
        if t % every == 0:
            out.append(w)
    return np.stack(out, axis=2)


def dot(one: Array, other: Array) -> Array:
    return np.asarray((one * other).sum(axis=-1, keepdims=True))


def critic(features: Array, method: Method) -> Any:
    # The package divides step-sizes by the number of active features.
    alpha = method.alpha * np.count_nonzero(features, axis=1).max()
    table = emphatic.Table(features)
    if method.emphatic:
        return emphatic.ETD(alpha, method.lambda_, table)
    if method.beta:
        return emphatic.TDRC(alpha, method.eta, method.beta, method.lambda_, table)
    if method.eta:
        return emphatic.GTD(alpha, alpha * method.eta, method.lambda_, table)
    return emphatic.TD(alpha, method.lambda_, table)


def learned(problem: Problem, method: Method, steps: list[Step], every: int) -> list[Array]:
    x = problem.features
    policy = emphatic.Softmax(emphatic.OneHot(len(x)), 2)
    agent = emphatic.ActorCritic(policy, critic(x, method), emphatic.NoEmphasis(), alpha=0)
    # The target, which is not learned; 1e-300 is as good as 0.
    agent.weights = np.tile(np.log(np.maximum(problem.target, 1e-300)), (len(x), 1))
    # A critic starts from zero. What the first weights say is added to the reward, so that δ is the same.
    first = x @ problem.first_weights
    out = [problem.first_weights]
    for t, (s, a, mu, reward, following) in enumerate(steps):
        gamma = 0.0 if following == END else problem.gamma
        reward += gamma * first[following] - first[s]
        agent.step(s, a, reward, max(following, 0), mu=mu, gamma_next=gamma)
        if t % every == 0:
            out.append(problem.first_weights + agent.critic_weights["v"])
    return out


def by_the_package(problem: Problem, methods: list[Method], streams: list[list[Step]], every: int) -> Array:
    return np.array([[learned(problem, method, steps, every) for steps in streams] for method in methods])


Learn = Callable[[Problem, list[Method], list[list[Step]], int], Array]
both = pytest.mark.parametrize("learn", [by_published_rules, by_the_package])


def stream(problem: Problem, run: int, steps: int) -> list[Step]:
    return list(islice(problem.stream(np.random.RandomState(run)), steps))


# --- What was published ---

TDRC_ON_BAIRD = 0.02898793620996193

# Computed from the settings and the streams of the released code: five runs, updates 1, 101, …, 2,901.
RANDOM_WALKS = {
    "tabular": {TD(2**-5): 0.06656146672, TDC(2**-4): 0.08195725678, TDRC(2**-5): 0.06919422744},
    "dependent": {TD(2**-5): 0.03635712132, TDC(2**-4): 0.04474782764, TDRC(2**-5): 0.03808691448},
    "inverted": {TD(2**-3): 0.07416206065, TDC(2**-3): 0.07470555997, TDRC(2**-3): 0.07115598821},
}

# The same: run 0, before every update.
RUN_0_OF_COLLISION = {TD(2**-5): 0.5583712761, ETD(2**-8): 0.1949891624, TDRC(2**-5, 0.9): 0.4653922397}


@both
def test_tdrc_on_baird_has_the_number_that_a_public_notebook_prints(learn: Learn) -> None:
    problem = PROBLEMS["baird"]
    weights = learn(problem, [TDRC(2**-8)], [stream(problem, 9, 2901)], 100)
    assert projected_error(problem, weights[0, 0, -1]) == pytest.approx(TDRC_ON_BAIRD, rel=1e-9)


@both
@pytest.mark.parametrize("walk", RANDOM_WALKS)
def test_random_walks_have_the_errors_of_the_released_code(learn: Learn, walk: str) -> None:
    problem, expected = PROBLEMS[walk], RANDOM_WALKS[walk]
    weights = learn(problem, list(expected), [stream(problem, run, 2901) for run in range(5)], 100)
    areas = projected_error(problem, weights[:, :, 1:]).mean(axis=(1, 2))
    assert areas == pytest.approx(np.array(list(expected.values())), rel=1e-9)


@both
def test_run_0_of_collision_has_the_errors_of_the_released_code(learn: Learn) -> None:
    problem, expected = PROBLEMS["collision"], RUN_0_OF_COLLISION
    weights = learn(problem, list(expected), [stream(problem, 0, 20_000)], 1)
    areas = value_error(weights[:, 0, :-1]).mean(axis=1)
    assert areas == pytest.approx(np.array(list(expected.values())), rel=1e-9)
