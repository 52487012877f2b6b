"""Worked steps of every emphasis, critic and actor, from the equations, with sixty digits.

    python updates.py            writes emphases.json, critics.json, action_critics.json and actors.json here
    python updates.py --check    checks the rules against identities, and the files against the rules

Each rule is a class that reads like its equation; nothing here is taken from the library. The streams are
made by hand of numbers that are exact in binary; settings such as 0.6 are the double nearest to them. What
comes out is rounded once, to the nearest double. It needs Python 3.11 or later, and mpmath.

A step leads from S_t to S_{t+1}. `gamma` is the discount of the transition into S_t and `gamma_next` that of
the transition out of it; `before` is the step before this one. Throughout, c_t = γ_t ρ_{t−1} (`s.c`), which
is 0 at the start of an episode and at the first step of a stream, because γ_t = 0 there. After a truncated
episode `gamma_next` is positive, so that the value of `x_next` is bootstrapped, but the next step has `gamma`
= 0, so that traces start afresh.

Every rule takes all that it needs from the weights before the step, unless its equation says otherwise. All
weights start at 0, unless a rule says otherwise.
"""

import json
import sys
from itertools import cycle, product
from pathlib import Path

from mpmath import exp, inf, log, log10, lu_solve, matrix, mp, mpf, svd_r

mp.dps = 60
HERE = Path(__file__).parent


# Numbers ----------------------------------------------------------------------------------------------------


def exact(value):
    """The double that `value` is, with sixty digits. Counts stay whole numbers."""
    return mpf(value) if isinstance(value, float) else value


class Vector:
    """A vector: `a @ b` is the inner product, and `a * b` is ∘, entry by entry, if both are vectors."""

    def __init__(self, entries):
        self.entries = [mpf(entry) for entry in entries]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, index):
        return self.entries[index]

    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other):
        return Vector(a - b for a, b in zip(self, other, strict=True))

    def __mul__(self, other):
        if isinstance(other, Vector):
            return Vector(a * b for a, b in zip(self, other, strict=True))
        return Vector(a * other for a in self)

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum((a * b for a, b in zip(self, other, strict=True)), mpf(0))


def zeros(n):
    return Vector([0] * n)


def ones(n):
    return Vector([1] * n)


def unit(n, index):
    return Vector(int(i == index) for i in range(n))


class Matrix:
    """A matrix, as a list of rows."""

    def __init__(self, rows):
        self.rows = list(rows)

    @staticmethod
    def identity(n, scale=1):
        return Matrix(scale * unit(n, i) for i in range(n))

    def __add__(self, other):
        return Matrix(a + b for a, b in zip(self.rows, other.rows, strict=True))

    def __sub__(self, other):
        return self + -1 * other

    def __rmul__(self, scalar):
        return Matrix(scalar * row for row in self.rows)

    def __matmul__(self, vector):
        return Vector(row @ vector for row in self.rows)

    def solve(self, right):
        return Vector(lu_solve(matrix([list(row) for row in self.rows]), matrix(list(right))))

    def solve_rows(self, right):
        """X with A X = B, row by row."""
        columns = [self.solve(row[j] for row in right.rows) for j in range(len(right.rows[0]))]
        return Matrix(Vector(column[i] for column in columns) for i in range(len(right.rows)))

    def condition(self):
        values = list(svd_r(matrix([list(row) for row in self.rows]), compute_uv=False))
        return max(values) / min(values)


def outer(a, b):
    """a bᵀ"""
    return Matrix(entry * b for entry in a)


# Streams ----------------------------------------------------------------------------------------------------


class Step:
    """One step of a stream, and the one before it."""

    def __init__(self, stream, row, before):
        self.stream, self.row, self.before = stream, row, before
        self.x, self.x_next = Vector(row["x"]), Vector(row["x_next"])
        self.pi, self.pi_next = Vector(row["pi"]), Vector(row["pi_next"])
        self.state, self.state_next, self.action = row["state"], row["state_next"], row["action"]
        for name in ["mu", "reward", "gamma", "gamma_next", "interest", "rho"]:
            setattr(self, name, exact(row[name]))
        self.pi_taken = self.pi[self.action]
        # φ(s, a) is x(s) in the block of a: feature f for action a is at f · actions + a.
        self.phi = block(self.x, unit(stream.actions, self.action))
        self.phi_next = block(self.x_next, self.pi_next)  # φ̄' = Σ_b π(b|S') φ(S', b)
        self.c = self.gamma * before.rho

    def delta(self, w):
        """δ_t = R_{t+1} + γ_{t+1} w·x_{t+1} − w·x_t"""
        return self.reward + self.gamma_next * (w @ self.x_next) - w @ self.x

    def action_delta(self, w):
        """δ_t = R_{t+1} + γ_{t+1} Σ_b π(b|S_{t+1}) q̂(S_{t+1}, b) − q̂(S_t, A_t)"""
        return self.reward + self.gamma_next * (w @ self.phi_next) - w @ self.phi


class Nothing:
    """What was before the first step."""

    def __init__(self, features):
        self.x = zeros(features)
        self.rho = self.pi_taken = self.mu = mpf(0)


def block(x, actions):
    """x ⊗ actions"""
    return Vector(f * a for f in x for a in actions)


class Stream:
    """Steps, made of episodes.

    `states` has for each state its features, the target policy and the behaviour. An episode is its rows
    (state, action, reward, interest, discount out of the state), and the state after the last of them. After
    a termination that is the state in which the next episode starts."""

    def __init__(self, states, active, episodes):
        self.states, self.active = states, active
        self.features, self.actions = len(states[0][0]), len(states[0][1])
        self.episodes = []
        for rows, last in episodes:
            ends = [row[0] for row in rows[1:]] + [last]
            gammas = [0.0] + [row[4] for row in rows[:-1]]
            steps = zip(rows, ends, gammas, strict=True)
            self.episodes.append([self.row(*step) for step in steps])

    def row(self, row, state_next, gamma):
        state, action, reward, interest, gamma_next = row
        x, pi, behaviour = self.states[state]
        return {
            "state": state,
            "state_next": state_next,
            "x": x,
            "x_next": self.states[state_next][0],
            "action": action,
            "mu": behaviour[action],
            "pi": pi,
            "pi_next": self.states[state_next][1],
            "reward": reward,
            "gamma": gamma,
            "gamma_next": gamma_next,
            "interest": interest,
            "rho": pi[action] / behaviour[action],
        }

    def rows(self):
        return [row for episode in self.episodes for row in episode]

    def steps(self, rows=None):
        before = Nothing(self.features)
        for row in self.rows() if rows is None else rows:
            before = Step(self, row, before)
            yield before

    def described(self):
        states = [{"x": x, "pi": pi, "behaviour": behaviour} for x, pi, behaviour in self.states]
        shape = {"features": self.features, "active": self.active, "actions": self.actions}
        return {**shape, "states": states, "steps": self.rows()}


# Three features that are all counted as active, one state (3) in which all of them are 0. The first episode
# is truncated, the second is one step that terminates.
DENSE = Stream(
    states=[
        ([1.0, -0.5, 0.25], [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]),
        ([0.5, 1.25, -1.0], [0.75, 0.25, 0.0], [0.5, 0.25, 0.25]),
        ([-0.75, 0.0, 1.5], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]),
        ([0.0, 0.0, 0.0], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]),
        ([0.25, 0.75, 0.5], [0.125, 0.625, 0.25], [0.25, 0.5, 0.25]),
    ],
    active=3,
    episodes=[
        (
            [
                (0, 0, 1.0, 1.0, 0.90625),
                (1, 0, -0.5, 0.5, 0.5),
                (4, 1, 2.0, 0.0, 1.0),
                (2, 2, 0.25, 1.0, 0.953125),
                (0, 1, -1.5, 2.0, 0.90625),
                (3, 1, 0.75, 1.0, 0.90625),
            ],
            1,
        ),
        ([(4, 0, 3.0, 1.5, 0.0)], 2),
        (
            [
                (2, 1, 0.5, 0.75, 1.0),
                (1, 2, -2.0, 1.0, 0.953125),
                (0, 2, 1.25, 0.0, 0.90625),
                (4, 2, 0.125, 0.5, 0.5),
                (2, 0, -0.25, 1.0, 0.90625),
                (1, 0, 1.0, 1.0, 0.953125),
                (0, 0, -1.0, 1.25, 0.0),
            ],
            0,
        ),
    ],
)

# One feature for each of four states. The first episode terminates, the second is one step that is truncated,
# and so is the third.
ONE_HOT = Stream(
    states=[
        ([1.0, 0.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.25, 0.25, 0.5]),
        ([0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.25, 0.25]),
        ([0.0, 0.0, 1.0, 0.0], [0.25, 0.25, 0.5], [0.25, 0.5, 0.25]),
        ([0.0, 0.0, 0.0, 1.0], [0.625, 0.375, 0.0], [0.5, 0.25, 0.25]),
    ],
    active=1,
    episodes=[
        (
            [
                (0, 0, 1.0, 1.0, 0.90625),
                (1, 1, -1.0, 0.5, 1.0),
                (2, 1, 0.5, 1.0, 0.5),
                (3, 0, 2.0, 0.0, 0.953125),
                (1, 2, -0.25, 2.0, 0.0),
            ],
            3,
        ),
        ([(3, 1, 1.5, 1.25, 0.90625)], 0),
        (
            [
                (2, 2, 0.75, 1.0, 0.90625),
                (2, 1, -0.5, 0.0, 1.0),
                (1, 0, 1.0, 1.0, 0.953125),
                (0, 1, 0.25, 0.75, 0.90625),
                (3, 0, -1.25, 1.0, 0.5),
                (0, 2, 2.0, 1.5, 0.90625),
                (1, 1, 0.125, 0.5, 0.953125),
                (2, 0, -0.75, 1.0, 0.90625),
            ],
            1,
        ),
    ],
)

# Two of four binary features are active. States 1 and 4 share them, but not the policies. The first episode
# is one step that terminates, the second is truncated.
SPARSE = Stream(
    states=[
        ([1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]),
        ([1.0, 0.0, 1.0, 0.0], [0.125, 0.375, 0.5], [0.5, 0.25, 0.25]),
        ([0.0, 1.0, 0.0, 1.0], [0.75, 0.0, 0.25], [0.25, 0.25, 0.5]),
        ([0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]),
        ([1.0, 0.0, 1.0, 0.0], [0.625, 0.25, 0.125], [0.25, 0.5, 0.25]),
        ([0.0, 1.0, 1.0, 0.0], [0.375, 0.625, 0.0], [0.5, 0.25, 0.25]),
    ],
    active=2,
    episodes=[
        ([(1, 2, -1.0, 0.5, 0.0)], 0),
        (
            [
                (0, 0, 0.5, 1.0, 0.953125),
                (4, 1, 1.0, 0.0, 0.90625),
                (2, 0, -2.0, 1.0, 1.0),
                (3, 1, 0.25, 0.25, 0.5),
                (5, 1, 1.5, 2.0, 0.90625),
                (0, 1, -0.5, 1.0, 0.90625),
                (1, 1, 0.75, 1.5, 0.90625),
            ],
            3,
        ),
        (
            [
                (2, 2, 1.25, 1.0, 0.90625),
                (5, 0, -0.75, 0.75, 1.0),
                (2, 1, 0.5, 1.0, 0.953125),
                (4, 0, 2.0, 0.0, 0.5),
                (0, 2, -1.5, 1.0, 0.90625),
                (3, 0, 0.125, 0.5, 0.0),
            ],
            1,
        ),
    ],
)

STREAMS = {"dense": DENSE, "one-hot": ONE_HOT, "sparse": SPARSE}


class ActorStream(Stream):
    """A stream for a softmax policy that learns, with features of its own: `policy` has them for each state,
    and the weights it starts from. The target policy of the states is that of these weights."""

    def __init__(self, states, active, policy, theta, episodes):
        self.policy, self.theta = policy, theta
        self.policy_active = max(sum(entry != 0 for entry in y) for y in policy)
        pis = [softmax(Vector(theta), Vector(y), len(states[0][1])) for y in policy]
        super().__init__([(x, list(pi), b) for (x, b), pi in zip(states, pis, strict=True)], active, episodes)

    def described(self):
        return {**super().described(), "policy": self.policy, "theta": self.theta}


def softmax(theta, y, actions):
    """π(a|s) ∝ exp(y(s)·θ_a); the weight of feature f for action a is at f · actions + a."""
    likely = [
        exp(sum((y[f] * theta[f * actions + a] for f in range(len(y))), mpf(0))) for a in range(actions)
    ]
    return Vector(p / sum(likely) for p in likely)


# Two actions. States 0 and 2 are one to the policy. The first episode is truncated, the second terminates.
TWO_ACTIONS = ActorStream(
    states=[
        ([1.0, 0.0, 0.0], [0.5, 0.5]),
        ([0.0, 1.0, 0.0], [0.25, 0.75]),
        ([0.0, 0.0, 1.0], [0.625, 0.375]),
        ([0.5, -1.0, 0.0], [0.5, 0.5]),
    ],
    active=2,
    policy=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    # In state 3 the first action is never taken by the target.
    theta=[0.25, -0.5, 0.75, 0.5, -1000.0, 0.125],
    episodes=[
        (
            [
                (0, 0, 1.0, 1.0, 0.90625),
                (1, 1, -0.5, 0.5, 0.5),
                (2, 1, -2.0, 1.5, 1.0),
                (3, 1, -0.75, 2.0, 0.90625),
                (1, 0, 0.5, 0.25, 0.953125),
                (0, 1, -1.25, 1.0, 0.90625),
            ],
            2,
        ),
        (
            [
                (1, 0, 1.5, 1.25, 0.90625),
                (3, 0, -1.0, 1.0, 0.953125),
                (2, 0, 0.25, 0.75, 0.5),
                (0, 0, -1.5, 0.0, 1.0),
                (1, 1, 2.0, 1.0, 0.90625),
                (2, 1, 0.75, 0.5, 0.0),
            ],
            0,
        ),
    ],
)

# Three actions, and features of both kinds that are not binary. The first episode terminates, the second is
# truncated, and the third is one step.
THREE_ACTIONS = ActorStream(
    states=[
        ([1.0, -0.5], [0.25, 0.5, 0.25]),
        ([0.5, 1.25], [0.5, 0.25, 0.25]),
        ([-0.75, 0.5], [0.25, 0.25, 0.5]),
        ([0.25, 0.75], [0.25, 0.5, 0.25]),
    ],
    active=2,
    policy=[[1.0, 0.5, 0.0], [-0.5, 1.0, 0.0], [0.75, -0.25, 0.0], [0.0, 0.0, 1.0]],
    # In state 3 the last action is never taken by the target.
    theta=[0.25, -0.5, 0.125, 0.5, 0.0, -0.25, 0.375, 0.25, -1000.0],
    episodes=[
        (
            [
                (0, 1, -1.0, 1.0, 0.90625),
                (1, 2, 0.5, 0.5, 1.0),
                (3, 0, 2.0, 1.5, 0.5),
                (2, 0, -0.25, 1.0, 0.953125),
                (0, 2, -1.5, 0.75, 0.0),
            ],
            1,
        ),
        (
            [
                (1, 0, 0.75, 1.25, 0.953125),
                (3, 2, 1.0, 2.0, 0.90625),
                (0, 0, -0.5, 0.0, 0.90625),
                (2, 1, 1.25, 1.0, 0.5),
                (1, 1, -2.0, 0.25, 0.90625),
            ],
            3,
        ),
        ([(2, 2, 0.5, 1.0, 0.0)], 0),
    ],
)

ACTOR_STREAMS = {"two-actions": TWO_ACTIONS, "three-actions": THREE_ACTIONS}


# Step-sizes of what an emphasis learns ----------------------------------------------------------------------


class Constant:
    """α / A, with A the number of features that are counted as active."""

    def __init__(self, stream, alpha):
        self.size = exact(alpha) / stream.active * ones(stream.features)

    def sizes(self, x):
        return self.size

    def regularised(self, x):
        """The features whose second weights decay: all."""
        return ones(len(x))


class Polynomial(Constant):
    """α max(floor, (1 + t/T)^−p) / A, with t = 0 at the first step."""

    def __init__(self, stream, alpha, scale, power, floor):
        super().__init__(stream, alpha)
        self.scale, self.power, self.floor = exact(scale), exact(power), exact(floor)
        self.t = 0

    def sizes(self, x):
        factor = max(self.floor, (1 + mpf(self.t) / self.scale) ** -self.power)
        self.t += 1
        return factor * self.size


class PerFeature:
    """α_j = α max(floor, n_j^−p) / ‖x_t‖², with n_j the number of steps, this one included, on which feature
    j was not 0. A feature that was never active has n_j = 1. Features that are all 0 change nothing."""

    def __init__(self, stream, alpha, power, floor):
        self.alpha, self.power, self.floor = exact(alpha), exact(power), exact(floor)
        self.n = [0] * stream.features

    def sizes(self, x):
        self.n = [n + (entry != 0) for n, entry in zip(self.n, x, strict=True)]
        if x @ x == 0:
            return zeros(len(x))
        return self.alpha / (x @ x) * Vector(max(self.floor, mpf(max(n, 1)) ** -self.power) for n in self.n)

    def regularised(self, x):
        """The features whose second weights decay: those that are active."""
        return Vector(int(entry != 0) for entry in x)


SCHEDULES = {"constant": Constant, "polynomial": Polynomial, "per-feature": PerFeature}


def schedule_of(stream, alpha, kind="constant", **settings):
    return SCHEDULES[kind](stream, alpha, **settings)


# Emphases: traces -------------------------------------------------------------------------------------------
#
# All with λ_a = 1, so that M_t = F_t.


class FollowOn:
    """F_t = c_t F_{t−1} + i_t (Sutton, Mahmood and White 2016)."""

    def __init__(self, stream):
        self.f = mpf(0)

    def decay(self, s):
        return s.c

    def weight(self, s):
        return s.interest

    def step(self, s):
        self.f = self.decay(s) * self.f + self.weight(s)
        return {"emphasis": self.f}


class Normalised(FollowOn):
    """F_t = c_t F_{t−1} + (1 − γ_t) i_t (Graves, Imani, Kumaraswamy and White 2023)."""

    def weight(self, s):
        return (1 - s.gamma) * s.interest


class Decayed(FollowOn):
    """F_t = β ρ_{t−1} F_{t−1} + i_t, and i_t at the start of an episode (Hallak, Tamar, Munos and Mannor
    2016)."""

    def __init__(self, stream, beta):
        super().__init__(stream)
        self.beta = exact(beta)

    def decay(self, s):
        return self.beta * s.before.rho if s.gamma > 0 else mpf(0)


class Clipped(FollowOn):
    """F_t = γ_t min(ρ̄, ρ_{t−1}) F_{t−1} + i_t (Espeholt et al. 2018, for the ratios of a trace)."""

    def __init__(self, stream, rho_max):
        super().__init__(stream)
        self.rho_max = exact(rho_max)

    def decay(self, s):
        return s.gamma * min(self.rho_max, s.before.rho)


class Truncated:
    """F_t = Σ_{j=0..n} (Π_{k=1..j} c_{t−k+1}) i_{t−j} (Zhang and Whiteson 2022)."""

    def __init__(self, stream, n):
        self.n = n
        self.c, self.interest = [], []

    def step(self, s):
        self.c.append(s.c)
        self.interest.append(s.interest)
        f, weight = mpf(0), mpf(1)
        for c, interest in list(zip(self.c, self.interest, strict=True))[: -self.n - 2 : -1]:
            f += weight * interest
            weight *= c
        return {"emphasis": f}


class Periodic:
    """F restarts as i_t every b steps, and only the last step of a period counts (PER-ETD: Guan, Xu and Liang
    2022).

    Periods are counted from the first step of the stream on; they take no notice of episodes."""

    def __init__(self, stream, period):
        self.period = period
        self.f, self.t = mpf(0), 0

    def step(self, s):
        k = self.t % self.period
        self.f = s.interest if k == 0 else s.c * self.f + s.interest
        self.t += 1
        return {"emphasis": self.f if k == self.period - 1 else mpf(0)}


class Past:
    """What was at earlier steps, and Π_{k=1..n} c_{t−k+1}."""

    def __init__(self, n):
        self.n, self.c, self.values = n, [], []

    def look_back(self, s):
        """The product of the last n c's, this step's included, and the value n steps ago (None if there is
        none)."""
        self.c.append(s.c)
        if len(self.values) < self.n:
            return mpf(0), None
        product_of_c = mpf(1)
        for c in self.c[-self.n :]:
            product_of_c *= c
        return product_of_c, self.values[-self.n]


class NStep:
    """F_t = (Π_{k=1..n} c_{t−k+1}) F_{t−n} + i_t, and i_t if t < n (NETD: Jiang et al. 2021)."""

    def __init__(self, stream, n):
        self.past = Past(n)

    def step(self, s):
        weight, f_past = self.past.look_back(s)
        f = s.interest if f_past is None else weight * f_past + s.interest
        self.past.values.append(f)
        return {"emphasis": f}


# Emphases: learned ------------------------------------------------------------------------------------------
#
# In S_t: form F_t, learn u from x_t, read. A start state is learned too, also the first one: its F_t is i_t.


def read(s, estimate, f, r):
    """M_t = max(i_t, (1 − r) û_t + r F_t), û_t after the update."""
    return max(s.interest, (1 - r) * estimate + r * f)


class Direct:
    """F_t = i_t + c_t [(1 − λ_e) û_{t−1} + λ_e F_{t−1}] and u += α∘(F_t − u·x_t) x_t.

    The time-reversed TD of Graves, Imani, Kumaraswamy and White 2023 with a λ-return; û_{t−1} is u·x_{t−1}
    with the u after step t−1."""

    def __init__(self, stream, lambda_e, read, alpha, schedule, initial=None):
        self.lambda_e, self.r = exact(lambda_e), exact(read)
        self.schedule = schedule_of(stream, alpha, **schedule)
        self.u = zeros(stream.features) if initial is None else initial
        self.f = mpf(0)

    def step(self, s):
        estimate_prev = self.u @ s.before.x
        self.f = s.interest + s.c * ((1 - self.lambda_e) * estimate_prev + self.lambda_e * self.f)
        self.u = self.u + self.schedule.sizes(s.x) * ((self.f - self.u @ s.x) * s.x)
        return {"emphasis": read(s, self.u @ s.x, self.f, self.r), "follow_on": self.f, "u": self.u}


class XEtd:
    """F_t = i_t + (Π_{k=1..n} c_{t−k+1}) [(1 − β) û_{t−n} + β F_{t−n}], i_t if t < n, and u as `Direct`
    (X-ETD: Jiang et al. 2022). û_{t−n} is what was known at the end of step t−n."""

    def __init__(self, stream, n, beta, read, alpha, schedule):
        self.beta, self.r = exact(beta), exact(read)
        self.schedule = schedule_of(stream, alpha, **schedule)
        self.u = zeros(stream.features)
        self.past = Past(n)

    def step(self, s):
        weight, past = self.past.look_back(s)
        f = s.interest
        if past is not None:
            estimate_past, f_past = past
            f += weight * ((1 - self.beta) * estimate_past + self.beta * f_past)
        self.u = self.u + self.schedule.sizes(s.x) * ((f - self.u @ s.x) * s.x)
        estimate = self.u @ s.x
        self.past.values.append((estimate, f))
        return {"emphasis": read(s, estimate, f, self.r), "follow_on": f, "u": self.u}


class VectorForm:
    """F_t = c̃_t + y_t·u, the λ-return as a function of u:
    c̃_t = i_t + c_t λ_e c̃_{t−1} and y_t = c_t [(1 − λ_e) x_{t−1} + λ_e y_{t−1}]."""

    def __init__(self, stream, lambda_e):
        self.lambda_e = exact(lambda_e)
        self.c, self.y = mpf(0), zeros(stream.features)

    def step(self, s):
        self.c = s.interest + s.c * self.lambda_e * self.c
        self.y = s.c * ((1 - self.lambda_e) * s.before.x + self.lambda_e * self.y)
        return self.c, self.y


class Tderc:
    """δ̄ = c̃_t + (y_t − x_t)·u; u += α∘[δ̄ x_t − (x_t·κ) y_t]; κ += ηα∘[(δ̄ − x_t·κ) x_t − β_r κ]
    (TDERC: Cao et al. 2023).

    F_t is c̃_t + y_t·u with the u before the update. With step-sizes per feature only the κ_j of active
    features decay, and entries of y_t whose feature is not active in x_t have the step-size of their own
    count."""

    def __init__(self, stream, lambda_e, beta, eta, read, alpha, schedule):
        self.form = VectorForm(stream, lambda_e)
        self.beta, self.eta, self.r = exact(beta), exact(eta), exact(read)
        self.schedule = schedule_of(stream, alpha, **schedule)
        self.u = self.kappa = zeros(stream.features)

    def step(self, s):
        x, u, kappa = s.x, self.u, self.kappa
        c, y = self.form.step(s)
        alpha = self.schedule.sizes(x)
        f = c + y @ u
        delta = f - u @ x
        self.u = u + alpha * (delta * x - (x @ kappa) * y)
        decay = self.beta * self.schedule.regularised(x) * kappa
        self.kappa = kappa + self.eta * alpha * ((delta - x @ kappa) * x - decay)
        m = read(s, self.u @ x, f, self.r)
        return {"emphasis": m, "follow_on": f, "u": self.u, "kappa": self.kappa}


class Gem:
    """δ̄ as `Tderc`; κ += ηα (δ̄ − x_t·κ) x_t; u += α [(x_t − y_t)(x_t·κ) − ridge u] (Zhang, Liu, Yao and
    Whiteson 2020).

    Both are from the old values, and the step-size is constant."""

    def __init__(self, stream, lambda_e, ridge, eta, read, alpha):
        self.form = VectorForm(stream, lambda_e)
        self.ridge, self.eta, self.r = exact(ridge), exact(eta), exact(read)
        self.alpha = exact(alpha) / stream.active
        self.u = self.kappa = zeros(stream.features)

    def step(self, s):
        x, u, kappa = s.x, self.u, self.kappa
        c, y = self.form.step(s)
        f = c + y @ u
        delta = f - u @ x
        self.kappa = kappa + self.eta * self.alpha * (delta - x @ kappa) * x
        self.u = u + self.alpha * ((x @ kappa) * (x - y) - self.ridge * u)
        m = read(s, self.u @ x, f, self.r)
        return {"emphasis": m, "follow_on": f, "u": self.u, "kappa": self.kappa}


class EmphasisLstd:
    """A ← (1 − φ) A + x_t (x_t − y_t)ᵀ, b ← (1 − φ) b + c̃_t x_t, (A + εI) u = b + ε1, ε = 10⁻³ (after Boyan
    2002).

    It is solved before this step's A and b, when an episode starts, and when `solve_every` steps have passed
    since it was last solved; the first step of the stream counts as solved, with u = 1."""

    EPSILON = exact(1e-3)

    def __init__(self, stream, lambda_e, forgetting, solve_every, read):
        n = stream.features
        self.form = VectorForm(stream, lambda_e)
        self.forgetting, self.solve_every, self.r = exact(forgetting), solve_every, exact(read)
        self.a, self.b, self.u = Matrix.identity(n, 0), zeros(n), ones(n)
        self.t = self.solved_at = 0
        self.conditions = []

    def solve(self):
        n = len(self.u)
        system = self.a + Matrix.identity(n, self.EPSILON)
        self.conditions.append(system.condition())
        self.u = system.solve(self.b + self.EPSILON * ones(n))
        self.solved_at = self.t

    def step(self, s):
        if self.t > 0 and (s.gamma == 0 or self.t - self.solved_at >= self.solve_every):
            self.solve()
        x, keep = s.x, 1 - self.forgetting
        c, y = self.form.step(s)
        self.a = keep * self.a + outer(x, x - y)
        self.b = keep * self.b + c * x
        self.t += 1
        f = c + y @ self.u
        return {"emphasis": read(s, self.u @ x, f, self.r), "follow_on": f, "u": self.u}


class CopTd:
    """g_t = γ̂ ρ_{t−1} û_{t−1} + 1 − γ̂, and 1 − γ̂ at the start of an episode;
    u += α [g_t − û_t − penalty (ν − 1)] x_t
    (COP-TD: Hallak and Mannor 2017; with γ̂: Gelada and Bellemare 2019).

    ν is a running mean of û_t before its update, and is updated before it is used: ν += α_ν (û_t − ν), ν_0 =
    1. The weights start at 1/A, so that û = 1 for binary features; û(after)/(1 − γ̂), at least i_t, is the
    emphasis."""

    def __init__(self, stream, gamma_hat, penalty, alpha, alpha_nu):
        self.gamma_hat, self.penalty, self.alpha_nu = exact(gamma_hat), exact(penalty), exact(alpha_nu)
        self.alpha = exact(alpha) / stream.active
        self.u = mpf(1) / stream.active * ones(stream.features)
        self.nu = mpf(1)

    def step(self, s):
        estimate_prev, estimate = self.u @ s.before.x, self.u @ s.x
        target = 1 - self.gamma_hat
        if s.gamma > 0:
            target += self.gamma_hat * s.before.rho * estimate_prev
        self.nu += self.alpha_nu * (estimate - self.nu)
        self.u = self.u + self.alpha * (target - estimate - self.penalty * (self.nu - 1)) * s.x
        scale = 1 if self.gamma_hat == 1 else 1 - self.gamma_hat
        return {"emphasis": max(s.interest, self.u @ s.x / scale), "u": self.u, "nu": self.nu}


class GradientDice:
    """max over f, η and min over τ of (Zhang, Liu and Whiteson 2020, with one ratio for a state)

        (1 − γ̂) E[i f] + E[τ (γρ f′ − f)] − ½ E[f²] + penalty (E[ητ − ηi] − ½ η²)

    with τ = u·x and f = κ·x. The pair of states is S_{t−1}, S_t. With δ̄ = (1 − γ̂) i_t + (c_t x_{t−1} −
    x_t)·u its sampled slopes are

        in κ: (δ̄ − x_t·κ) x_t,  in u: (x_t·κ)(c_t x_{t−1} − x_t) + penalty η x_t,  in η: penalty (τ_t − i_t −
        η);

    κ and η climb, u descends, all from the old values. max(i_t, û_t(after)/(1 − γ̂)) is the emphasis."""

    def __init__(self, stream, gamma_hat, penalty, alpha, eta, alpha_eta):
        self.gamma_hat, self.penalty = exact(gamma_hat), exact(penalty)
        self.alpha, self.alpha_eta = exact(alpha) / stream.active, exact(alpha_eta)
        self.alpha_kappa = exact(eta) * self.alpha
        self.u = self.kappa = zeros(stream.features)
        self.eta = mpf(0)

    def step(self, s):
        x, u, kappa, eta = s.x, self.u, self.kappa, self.eta
        y = s.c * s.before.x
        delta = (1 - self.gamma_hat) * s.interest + (y - x) @ u
        self.kappa = kappa + self.alpha_kappa * (delta - x @ kappa) * x
        self.u = u - self.alpha * ((x @ kappa) * (y - x) + self.penalty * eta * x)
        self.eta = eta + self.alpha_eta * self.penalty * (u @ x - s.interest - eta)
        m = max(s.interest, self.u @ x / (1 - self.gamma_hat))
        return {"emphasis": m, "u": self.u, "kappa": self.kappa, "eta": self.eta}


EMPHASES = {
    "follow-on": FollowOn,
    "normalised": Normalised,
    "truncated": Truncated,
    "periodic": Periodic,
    "n-step": NStep,
    "decayed": Decayed,
    "clipped": Clipped,
    "direct": Direct,
    "tderc": Tderc,
    "gem": Gem,
    "lstd": EmphasisLstd,
    "x-etd": XEtd,
    "cop-td": CopTd,
    "gradient-dice": GradientDice,
}


# Critics of the values of states ----------------------------------------------------------------------------


class Td:
    """z_t = ρ_t (γ_t λ z_{t−1} + x_t), w += α δ z (Precup, Sutton and Dasgupta 2001)."""

    def __init__(self, stream, lambda_, alpha):
        self.lambda_, self.alpha = exact(lambda_), exact(alpha) / stream.active
        self.w = self.z = zeros(stream.features)

    def trace(self, s):
        return s.rho * (s.gamma * self.lambda_ * self.z + s.x)

    def factor(self, s):
        """What δ is multiplied with."""
        return 1

    def step(self, s):
        delta = s.delta(self.w)
        self.z = self.trace(s)
        self.w = self.w + self.alpha * self.factor(s) * delta * self.z
        return {"delta": delta, "w": self.w}


class VTrace(Td):
    """z_t = x_t + γ_t λ min(1, ρ_{t−1}) z_{t−1}, w += α min(ρ̄, ρ_t) δ z (Espeholt et al. 2018)."""

    def __init__(self, stream, lambda_, rho_max, alpha):
        super().__init__(stream, lambda_, alpha)
        self.rho_max = exact(rho_max)

    def trace(self, s):
        return s.x + s.gamma * self.lambda_ * min(1, s.before.rho) * self.z

    def factor(self, s):
        return min(self.rho_max, s.rho)


class TreeBackup(Td):
    """z_t = x_t + γ_t λ π_{t−1} z_{t−1}, w += α ρ_t δ z (Precup, Sutton and Singh 2000)."""

    def trace(self, s):
        return s.x + s.gamma * self.lambda_ * s.before.pi_taken * self.z

    def factor(self, s):
        return s.rho


class Abtd(TreeBackup):
    """z_t = x_t + γ_t ν_{t−1} π_{t−1} z_{t−1}, w += α ρ_t δ z (Mahmood, Yu and Sutton 2017), with
    ν_t = min(ξ_ζ, 1/max(μ_t, π_t)) and ξ_ζ = 2ζ ξ_0 + max(0, 2ζ − 1)(ξ_max − 2ξ_0)."""

    def __init__(self, stream, zeta, xi_0, xi_max, alpha):
        super().__init__(stream, 0, alpha)
        zeta, xi_0, xi_max = exact(zeta), exact(xi_0), exact(xi_max)
        self.xi = 2 * zeta * xi_0 + max(0, 2 * zeta - 1) * (xi_max - 2 * xi_0)

    def trace(self, s):
        if s.gamma == 0:
            return s.x
        nu = min(self.xi, 1 / max(s.before.mu, s.before.pi_taken))
        return s.x + s.gamma * nu * s.before.pi_taken * self.z


class Tdc(Td):
    """w += α [δ z − γ′(1 − λ)(z·h) x′], h += ηα [δ z − (x·h) x] (TDC(λ), also GTD(λ): Maei 2011)."""

    def __init__(self, stream, lambda_, eta, alpha):
        super().__init__(stream, lambda_, alpha)
        self.alpha_h = exact(eta) * self.alpha
        self.h = zeros(stream.features)

    def correction(self, s, z, h):
        """γ′(1 − λ)(z·h) x′"""
        return s.gamma_next * (1 - self.lambda_) * (z @ h) * s.x_next

    def w_direction(self, s, delta, z, h):
        return delta * z - self.correction(s, z, h)

    def h_direction(self, s, delta, z, h):
        return delta * z - (s.x @ h) * s.x

    def step(self, s):
        delta = s.delta(self.w)
        self.z = self.trace(s)
        w = self.w + self.alpha * self.w_direction(s, delta, self.z, self.h)
        h = self.h + self.alpha_h * self.h_direction(s, delta, self.z, self.h)
        self.w, self.h = w, h
        return {"delta": delta, "w": w, "h": h}


class Gtd2(Tdc):
    """w += α [(x·h) x − γ′(1 − λ)(z·h) x′], h as `Tdc` (Sutton et al. 2009; with λ: Maei 2011)."""

    def w_direction(self, s, delta, z, h):
        return (s.x @ h) * s.x - self.correction(s, z, h)


class Tdrc(Tdc):
    """`Tdc`, and h −= ηα β h, from the old h (Ghiassian et al. 2020)."""

    def __init__(self, stream, lambda_, beta, eta, alpha):
        super().__init__(stream, lambda_, eta, alpha)
        self.beta = exact(beta)

    def h_direction(self, s, delta, z, h):
        return super().h_direction(s, delta, z, h) - self.beta * h


class ProximalGtd2(Gtd2):
    """GTD2 as an extragradient method (GTD2-MP: Liu et al. 2015): a whole step of `Gtd2` leads to (w̃, h̃),
    and the step from the old (w, h) is made with δ̃ and h̃ of there. The trace is that of the step in
    both."""

    def step(self, s):
        old_w, old_h = self.w, self.h
        delta = s.delta(old_w)
        self.z = self.trace(s)
        middle_w = old_w + self.alpha * self.w_direction(s, delta, self.z, old_h)
        middle_h = old_h + self.alpha_h * self.h_direction(s, delta, self.z, old_h)
        middle_delta = s.delta(middle_w)
        self.w = old_w + self.alpha * self.w_direction(s, middle_delta, self.z, middle_h)
        self.h = old_h + self.alpha_h * self.h_direction(s, middle_delta, self.z, middle_h)
        return {"delta": delta, "w": self.w, "h": self.h}


class Htd(Tdc):
    """z^μ_t = γ_t λ z^μ_{t−1} + x_t; w += α [δ z + (x − γ′x′)((z − z^μ)·h)] and
    h += ηα [δ z − (x − γ′x′)(z^μ·h)] (HTD(λ): Hackman 2012; White and White 2016)."""

    def __init__(self, stream, lambda_, eta, alpha):
        super().__init__(stream, lambda_, eta, alpha)
        self.z_mu = zeros(stream.features)

    def step(self, s):
        self.z_mu = s.gamma * self.lambda_ * self.z_mu + s.x
        return super().step(s)

    def w_direction(self, s, delta, z, h):
        return delta * z + ((z - self.z_mu) @ h) * (s.x - s.gamma_next * s.x_next)

    def h_direction(self, s, delta, z, h):
        return delta * z - (self.z_mu @ h) * (s.x - s.gamma_next * s.x_next)


def emphasis_of(stream, kind, **settings):
    return EMPHASES[kind](stream, **settings)


class Etd(Td):
    """M_t = λ i_t + (1 − λ) F_t; z_t = ρ_t (γ_t λ z_{t−1} + M_t x_t); w += α δ z (Sutton, Mahmood and White
    2016).

    F is the follow-on trace; or decayed by β (Hallak et al. 2016); or truncated (Zhang and Whiteson 2022)."""

    def __init__(self, stream, lambda_, emphasis, alpha):
        super().__init__(stream, lambda_, alpha)
        self.emphasis = emphasis_of(stream, **emphasis)

    def m(self, s):
        return self.lambda_ * s.interest + (1 - self.lambda_) * self.emphasis.step(s)["emphasis"]

    def trace(self, s):
        return s.rho * (s.gamma * self.lambda_ * self.z + self.m(s) * s.x)


class TrueOnlineEtd(Etd):
    """True-online ETD(λ) (Sutton 2015, "True Online Emphatic TD(λ): Quick Reference and Implementation
    Guide"):

        e_t = ρ_t γ_t λ e_{t−1} + ρ_t α M_t (1 − ρ_t γ_t λ e_{t−1}·x_t) x_t
        w_{t+1} = w_t + δ_t e_t + (e_t − ρ_t α M_t x_t)((w_t − w_{t−1})·x_t)

    At the start of an episode γ_t = 0, so e_t = ρ_t α M_t x_t and the last term is 0: nothing else has to be
    reset, also after a truncation. The part of F that comes from the past has the discount into S_t, not the
    one out of S_{t−1}: after a truncation the latter is positive, and F would be carried into the next
    episode."""

    def __init__(self, stream, lambda_, alpha):
        super().__init__(stream, lambda_, {"kind": "follow-on"}, alpha)
        self.w_prev, self.e = self.w, self.z

    def step(self, s):
        delta = s.delta(self.w)
        step = self.alpha * self.m(s)
        decay = s.rho * s.gamma * self.lambda_
        e = decay * self.e + s.rho * step * (1 - decay * (self.e @ s.x)) * s.x
        change = delta * e + ((self.w - self.w_prev) @ s.x) * (e - s.rho * step * s.x)
        self.w_prev, self.w, self.e = self.w, self.w + change, e
        return {"delta": delta, "w": self.w}


class Lstd(Td):
    """A += z (x − γ′x′)ᵀ, b += R z, w = A⁻¹ b at the end of each step; A_0 = εI, ε = 10⁻³ (Boyan 2002;
    off-policy: Yu 2010).

    The trace is that of `Td`. δ is from the w before the step."""

    EPSILON = exact(1e-3)

    def __init__(self, stream, lambda_):
        super().__init__(stream, lambda_, 1.0)
        self.a, self.b = Matrix.identity(stream.features, self.EPSILON), zeros(stream.features)
        self.conditions = []

    def step(self, s):
        delta = s.delta(self.w)
        self.z = self.trace(s)
        self.a = self.a + outer(self.z, s.x - s.gamma_next * s.x_next)
        self.b = self.b + s.reward * self.z
        self.w = self.a.solve(self.b)
        self.conditions.append(self.a.condition())
        return {"delta": delta, "w": self.w}


class Elstd(Lstd):
    """`Lstd` with the trace of ETD(λ) (Yu 2015)."""

    def __init__(self, stream, lambda_):
        super().__init__(stream, lambda_)
        self.emphasis = FollowOn(stream)

    m, trace = Etd.m, Etd.trace


CRITICS = {
    "td": Td,
    "tdc": Tdc,
    "gtd2": Gtd2,
    "tdrc": Tdrc,
    "proximal-gtd2": ProximalGtd2,
    "htd": Htd,
    "v-trace": VTrace,
    "tree-backup": TreeBackup,
    "abtd": Abtd,
    "etd": Etd,
    "true-online-etd": TrueOnlineEtd,
    "lstd": Lstd,
    "elstd": Elstd,
}


# Critics of the values of actions ---------------------------------------------------------------------------
#
# q̂(s, a) = w·φ(s, a), with x(s) in the block of a; step-sizes are divided by the active features of a state.


class Retrace:
    """z_t = φ_t + γ_t λ min(1, ρ_t) z_{t−1}, w += α δ z (Retrace(λ): Munos et al. 2016, as an online
    algorithm)."""

    def __init__(self, stream, lambda_, alpha):
        self.lambda_, self.alpha = exact(lambda_), exact(alpha) / stream.active
        self.w = self.z = zeros(stream.features * stream.actions)

    def ratio(self, s):
        return min(1, s.rho)

    def trace(self, s):
        return s.phi + s.gamma * self.lambda_ * self.ratio(s) * self.z

    def step(self, s):
        delta = s.action_delta(self.w)
        self.z = self.trace(s)
        self.w = self.w + self.alpha * delta * self.z
        return {"delta": delta, "w": self.w}


class Gq(Retrace):
    """z_t = φ_t + γ_t λ ρ_t z_{t−1}; w += α [δ z − γ′(1 − λ)(z·h) φ̄′], h += ηα [δ z − (φ·h) φ] (Maei and
    Sutton 2010)."""

    def __init__(self, stream, lambda_, eta, alpha, beta=0):
        super().__init__(stream, lambda_, alpha)
        self.alpha_h, self.beta = exact(eta) * self.alpha, exact(beta)
        self.h = zeros(len(self.w))

    def ratio(self, s):
        return s.rho

    def step(self, s):
        delta, h = s.action_delta(self.w), self.h
        self.z = self.trace(s)
        correction = s.gamma_next * (1 - self.lambda_) * (self.z @ h) * s.phi_next
        self.w = self.w + self.alpha * (delta * self.z - correction)
        self.h = h + self.alpha_h * (delta * self.z - (s.phi @ h) * s.phi - self.beta * h)
        return {"delta": delta, "w": self.w, "h": self.h}


class ExpectedTdrc(Gq):
    """`Gq`, and h −= ηα β h, from the old h (after Ghiassian et al. 2020).

    All entries of h decay at each step, also those of other actions."""


class LstdQ(Gq):
    """A += z (φ − γ′φ̄′)ᵀ, b += R z, w = A⁻¹ b at the end of each step; A_0 = εI, ε = 10⁻³; z as `Gq`
    (Lagoudakis and Parr 2003)."""

    def __init__(self, stream, lambda_, epsilon=1e-3):
        super().__init__(stream, lambda_, 1.0, 1.0)
        self.a, self.b = Matrix.identity(len(self.w), exact(epsilon)), zeros(len(self.w))
        self.conditions = []

    def step(self, s):
        delta = s.action_delta(self.w)
        self.z = self.trace(s)
        self.a = self.a + outer(self.z, s.phi - s.gamma_next * s.phi_next)
        self.b = self.b + s.reward * self.z
        self.w = self.a.solve(self.b)
        self.conditions.append(self.a.condition())
        return {"delta": delta, "w": self.w}


class OneStepModel:
    """r̂(s, a) = x(s)·r_a and B̂(s, a) = B_a x(s) by recursive least squares, one regression for each action
    on the steps on which it was taken, and the values that follow from them (linear Dyna: Sutton et al. 2008;
    Parr et al. 2008).

    After a step with action a: k = P_a x/(1 + xᵀP_a x), P_a ← P_a − k xᵀP_a from P_a = 100 I; r_a += k (R −
    r̂), B_a += (γ′x′ − B̂) kᵀ. For one-hot features x(s)·v is v(s), and v is the solution of

        v(s) = Σ_b π(b|s) [r̂(s, b) + B̂(s, b)·v],    q̂(s, b) = r̂(s, b) + B̂(s, b)·v

    over all states, with the model after the step. An action that was never taken in s has r̂ = 0 and B̂ = 0.
    B̂ is between 0 and 1 without clipping: it is Σ γ′x′/(n + 1/100) over the n times that a was taken in s. δ
    is R + γ′v(S′) − q̂(S_t, A_t), with v and q̂ from before the step. What comes out is r̂, B̂ and q̂ at s ·
    actions + a, and v."""

    def __init__(self, stream, prior=100.0):
        n, self.actions = stream.features, stream.actions
        self.p = [Matrix.identity(n, exact(prior)) for _ in range(self.actions)]
        self.r = [zeros(n) for _ in range(self.actions)]
        self.b = [Matrix.identity(n, 0) for _ in range(self.actions)]
        self.states = [(Vector(x), Vector(pi)) for x, pi, _ in stream.states]
        self.v, self.q = zeros(n), zeros(n * self.actions)
        self.conditions = []

    def learn(self, s):
        a, x = s.action, s.x
        px = self.p[a] @ x
        k = 1 / (1 + x @ px) * px
        self.p[a] = self.p[a] - outer(k, px)  # P is symmetric
        self.r[a] = self.r[a] + (s.reward - self.r[a] @ x) * k
        self.b[a] = self.b[a] + outer(s.gamma_next * s.x_next - self.b[a] @ x, k)

    def solve(self):
        all_actions = range(self.actions)
        reward, leads_to = [], []
        for x, pi in self.states:
            reward.append(sum(pi[b] * (self.r[b] @ x) for b in all_actions))
            expected = zeros(len(x))
            for b in all_actions:
                expected = expected + pi[b] * (self.b[b] @ x)
            leads_to.append(expected)
        system = Matrix.identity(len(self.states)) - Matrix(leads_to)
        self.conditions.append(system.condition())
        self.v = system.solve(Vector(reward))
        self.q = Vector(self.r[b] @ x + (self.b[b] @ x) @ self.v for x, _ in self.states for b in all_actions)

    def step(self, s):
        delta = s.reward + s.gamma_next * (self.v @ s.x_next) - self.q @ s.phi
        self.learn(s)
        self.solve()
        of_pairs = [(self.r[a] @ x, self.b[a] @ x) for x, _ in self.states for a in range(self.actions)]
        r, b = zip(*of_pairs, strict=True)
        return {"delta": delta, "r": Vector(r), "b": list(b), "v": self.v, "q": self.q}


ACTION_CRITICS = {
    "gq": Gq,
    "expected-tdrc": ExpectedTdrc,
    "retrace": Retrace,
    "lstd-q": LstdQ,
    "one-step-model": OneStepModel,
}


# Actors -----------------------------------------------------------------------------------------------------
#
# A softmax policy learns, so π and ρ are those of the weights θ before the step; a critic learns beside it, and
# its δ or q̂ is also from before the step. Without an emphasis M_t = i_t. θ += α · (what `gradient` returns).


class Actor:
    critic_parts = CRITICS

    def __init__(self, stream, alpha, critic, emphasis):
        self.theta, self.alpha = Vector(stream.theta), exact(alpha) / stream.policy_active
        self.features = [Vector(y) for y in stream.policy]
        self.actions = stream.actions
        self.critic = build(self.critic_parts, critic["kind"], stream, without_kind(critic))
        self.emphasis = emphasis_of(stream, **emphasis) if emphasis["kind"] != "none" else None
        self.before = Nothing(stream.features)

    def pi(self, state):
        return softmax(self.theta, self.features[state], self.actions)

    def psi(self, state, action):
        """ψ(s, a) = ∇ ln π(a|s)"""
        return block(self.features[state], unit(self.actions, action) - self.pi(state))

    def step(self, s):
        """A step as the present policy sees it."""
        pi = self.pi(s.state)
        now = {"pi": pi, "pi_next": self.pi(s.state_next), "rho": pi[s.action] / s.mu}
        s = self.before = Step(s.stream, {**s.row, **now}, self.before)
        m = self.emphasis.step(s)["emphasis"] if self.emphasis else s.interest
        self.theta = self.theta + self.alpha * self.gradient(s, m)
        return {"theta": self.theta}


class ActorTrace(Actor):
    """e_t = ρ_t (γ_t λ e_{t−1} + M_t ψ_t), θ += α δ e (OffPAC: Degris, White and Sutton 2012, with M_t = i_t)."""

    def __init__(self, stream, lambda_, **settings):
        super().__init__(stream, **settings)
        self.lambda_, self.e = exact(lambda_), zeros(len(self.theta))

    def gradient(self, s, m):
        self.e = s.rho * (s.gamma * self.lambda_ * self.e + m * self.psi(s.state, s.action))
        return self.critic.step(s)["delta"] * self.e


def combined(rows, weights):
    """Gᵀφ: the rows of G, each with its weight."""
    return sum(
        (weight * row for weight, row in zip(weights, rows.rows, strict=True)), zeros(len(rows.rows[0]))
    )


class Gradients(Actor):
    """An actor with an estimate Gᵀφ of a gradient, and second weights H."""

    def __init__(self, stream, length, alpha_g, eta, beta, **settings):
        super().__init__(stream, **settings)
        self.alpha_g, self.eta, self.beta = exact(alpha_g) / stream.active, exact(eta), exact(beta)
        self.g = self.h = Matrix(zeros(len(self.theta)) for _ in range(length))

    def learn(self, phi, phi_next, error, c=1):
        """G += α c [φ εᵀ − γ′φ′ (φᵀH)], H += ηα [c φ (ε − Hᵀφ)ᵀ − β H]"""
        second = combined(self.h, phi)
        self.g = self.g + self.alpha_g * c * (outer(phi, error) - outer(phi_next, second))
        self.h = self.h + self.eta * self.alpha_g * (c * outer(phi, error - second) - self.beta * self.h)


class GradientCritic(Gradients):
    """Γ̂(s, a) = Gᵀφ(s, a) learns ∇q(s, a):

        ε = γ′ Σ_b π(b|S′)(ψ(S′, b) q̂(S′, b) + Γ̂(S′, b)) − Γ̂(S, A)

    by TDRC, and θ += α M Σ_b π(b|S)(ψ(S, b) q̂(S, b) + λ_a Γ̂(S, b)) (TDRCΓ: Tosatto, Patterson, White and
    Mahmood 2022, with a sum over the actions in place of one that is drawn)."""

    def __init__(self, stream, lambda_a, **settings):
        self.critic_parts = ACTION_CRITICS
        super().__init__(stream, stream.features * stream.actions, **settings)
        self.lambda_a = exact(lambda_a)

    def semi_gradient(self, state, x, pi):
        """Σ_b π(b|s) ψ(s, b) q̂(s, b)"""
        total = zeros(len(self.theta))
        for b in range(self.actions):
            q = self.critic.w @ block(x, unit(self.actions, b))
            total = total + pi[b] * q * self.psi(state, b)
        return total

    def gradient(self, s, m):
        after = self.semi_gradient(s.state_next, s.x_next, s.pi_next) + combined(self.g, s.phi_next)
        error = s.gamma_next * after - combined(self.g, s.phi)
        here = block(s.x, s.pi)  # φ̄
        whole = self.semi_gradient(s.state, s.x, s.pi) + self.lambda_a * combined(self.g, here)
        self.learn(s.phi, s.gamma_next * s.phi_next, error)
        self.critic.step(s)
        return m * whole


class GradientValues(Gradients):
    """Ĝ(s) = Gᵀx(s) learns ∇v(s): ε = δ ψ + γ′Ĝ(S′) − Ĝ(S), all of it weighted by ρ; θ += α M Ĝ(S). With η = 0
    it is G += α ρ x εᵀ. (ρ is on the whole of what H learns from, as in the textbook's TDC.)"""

    def __init__(self, stream, **settings):
        super().__init__(stream, stream.features, **settings)

    def gradient(self, s, m):
        here = combined(self.g, s.x)
        delta = self.critic.step(s)["delta"]
        error = delta * self.psi(s.state, s.action) + s.gamma_next * combined(self.g, s.x_next) - here
        self.learn(s.x, s.gamma_next * s.x_next, error, s.rho)
        return m * here


class GeoffPac(Actor):
    """With ĉ as `CopTd` learns it, read after its update at the step:

        F¹_t = γ_t ρ_{t−1} F¹_{t−1} + i_t ĉ_t,  M¹_t = (1 − λ¹) i_t ĉ_t + λ¹ F¹_t
        I_t = ĉ_{t−1} ρ_{t−1} ψ_{t−1},  F²_t = γ̂ ρ_{t−1} F²_{t−1} + I_t,  M²_t = (1 − λ²) I_t + λ² F²_t
        θ += α [ρ_t M¹_t δ_t ψ_t + γ̂ i_t v̂(S_t) M²_t]

    (Zhang, Boehmer and Whiteson 2019). At the start of an episode ĉ learns 1 − γ̂, which does not depend on θ, so
    I_t and F²_t are 0."""

    def __init__(self, stream, gamma_hat, lambda_1, lambda_2, alpha_c, penalty, **settings):
        super().__init__(stream, **settings)
        self.gamma_hat, self.lambda_1, self.lambda_2 = exact(gamma_hat), exact(lambda_1), exact(lambda_2)
        self.ratio = CopTd(stream, gamma_hat, penalty, alpha_c, 0.01)
        self.f_1, self.f_2 = mpf(0), zeros(len(self.theta))
        self.score = zeros(len(self.theta))  # ĉ_{t−1} ρ_{t−1} ψ_{t−1}

    def gradient(self, s, m):
        self.ratio.step(s)
        c, value, delta = self.ratio.u @ s.x, self.critic.w @ s.x, self.critic.step(s)["delta"]
        self.f_1 = s.c * self.f_1 + s.interest * c
        m_1 = (1 - self.lambda_1) * s.interest * c + self.lambda_1 * self.f_1
        start = s.gamma == 0
        i_2 = zeros(len(self.theta)) if start else self.score
        self.f_2 = i_2 if start else self.gamma_hat * s.before.rho * self.f_2 + i_2
        m_2 = (1 - self.lambda_2) * i_2 + self.lambda_2 * self.f_2
        psi = self.psi(s.state, s.action)
        self.score = c * s.rho * psi
        return s.rho * m_1 * delta * psi + self.gamma_hat * s.interest * value * m_2


class ModelGradient(GradientCritic):
    """B̂(s, b) = W_b x(s) is a regression of γ′x′ on x over the steps with action b, each weighted by 1/μ, with a
    ridge of 10⁻⁶. Ĝ(s) = Gᵀx(s) is the solution, with a ridge of 10⁻³, of

        Σ_s N(s) x(s)(x(s) − Σ_b π(b|s) B̂(s, b))ᵀ G = Σ_s N(s) x(s) g(s)ᵀ,  g(s) = Σ_b π(b|s) ψ(s, b) q̂(s, b)

    with N(s) the number of visits; for one-hot features this is (I − P̂) G = g. It is solved before the step where an
    episode starts, and `solve_every` steps after it was solved last, from all steps before; θ += α M Ĝ(S)."""

    def __init__(self, stream, solve_every, **settings):
        super().__init__(stream, 1.0, alpha_g=0.0, eta=0.0, beta=0.0, **settings)
        n = stream.features
        self.solve_every, self.since, self.conditions = solve_every, 0, []
        self.states = [Vector(x) for x, _, _ in stream.states]
        self.n = [0] * len(self.states)
        self.gram = [Matrix.identity(n, exact(1e-6)) for _ in range(self.actions)]
        self.next = [Matrix.identity(n, 0) for _ in range(self.actions)]  # Σ x (γ′x′)ᵀ/μ
        self.g = Matrix(zeros(len(self.theta)) for _ in range(n))

    def solve(self):
        n, size = len(self.states[0]), len(self.theta)
        models = [gram.solve_rows(right) for gram, right in zip(self.gram, self.next, strict=True)]  # W_bᵀ
        left, right = Matrix.identity(n, exact(1e-3)), Matrix(zeros(size) for _ in range(n))
        for state, (x, visits) in enumerate(zip(self.states, self.n, strict=True)):
            pi = self.pi(state)
            expected = sum((pi[b] * combined(models[b], x) for b in range(self.actions)), zeros(n))
            left = left + visits * outer(x, x - expected)
            right = right + visits * outer(x, self.semi_gradient(state, x, pi))
        self.conditions.append(left.condition())
        self.g = left.solve_rows(right)

    def gradient(self, s, m):
        if self.since > 0 and (s.gamma == 0 or self.since >= self.solve_every):
            self.solve()
            self.since = 0
        self.since += 1
        self.n[s.state] += 1
        weight = 1 / s.mu
        self.gram[s.action] = self.gram[s.action] + weight * outer(s.x, s.x)
        self.next[s.action] = self.next[s.action] + weight * outer(s.x, s.gamma_next * s.x_next)
        self.critic.step(s)
        return m * combined(self.g, s.x)


ACTORS = {
    "trace": ActorTrace,
    "gradient-critic": GradientCritic,
    "gradient-values": GradientValues,
    "geoff-pac": GeoffPac,
    "model-gradient": ModelGradient,
}


# Cases ------------------------------------------------------------------------------------------------------

CONSTANT = {"kind": "constant"}
LAMBDAS = [0, 0.6]


def per_feature(floor):
    return {"kind": "per-feature", "power": 0.5, "floor": floor}


def polynomial(floor):
    return {"kind": "polynomial", "scale": 4, "power": 0.75, "floor": floor}


# α and the schedule; a low floor that is never reached, and a high one that is.
LEARNING = {
    "dense": [(0.5, CONSTANT), (1, per_feature(0.02)), (1, per_feature(0.3)), (0.5, polynomial(0.1))],
    "one-hot": [(0.5, CONSTANT), (1, per_feature(0.02)), (1, per_feature(0.6)), (0.5, polynomial(0.5))],
    "sparse": [(0.5, CONSTANT), (1, per_feature(0.3)), (1, per_feature(0.5)), (0.5, polynomial(0.5))],
}


def emphasis_cases():
    """(part, stream, settings, schedule); `read` and `eta` take turns, so that each meets every other
    setting."""
    traces = [
        ("follow-on", {}),
        ("normalised", {}),
        *(("truncated", {"n": n}) for n in [0, 1, 3]),
        *(("periodic", {"period": period}) for period in [1, 3]),
        *(("n-step", {"n": n}) for n in [1, 2, 3]),
        *(("decayed", {"beta": beta}) for beta in [0.5, 0.9]),
        *(("clipped", {"rho_max": rho_max}) for rho_max in [1, 2]),
    ]
    for part, settings in traces:
        for name in STREAMS:
            yield part, name, settings, None

    reads = cycle([0, 1, 0.25])
    for name, turn, lambda_e in product(STREAMS, range(4), [0, 0.5, 1]):
        alpha, schedule = LEARNING[name][turn]
        yield "direct", name, {"lambda_e": lambda_e, "read": next(reads), "alpha": alpha}, schedule
        if lambda_e == 1:
            next(reads)

    reads = cycle([0, 1, 0.25, 1, 0.25])
    kinds = cycle(product([0, 1], [1, 0.5]))
    for turn, lambda_e, name in product(range(4), [0, 0.5], STREAMS):
        alpha, schedule = LEARNING[name][turn]
        beta, eta = next(kinds)
        settings = {"lambda_e": lambda_e, "beta": beta, "eta": eta, "read": next(reads), "alpha": alpha}
        yield "tderc", name, settings, schedule

    for name, lambda_e, (ridge, eta) in product(STREAMS, [0, 0.5], [(0, 1), (0.1, 0.5)]):
        settings = {"lambda_e": lambda_e, "ridge": ridge, "eta": eta, "read": next(reads), "alpha": 0.5}
        yield "gem", name, settings, CONSTANT

    for name, lambda_e, forgetting, solve_every in product(STREAMS, [0, 0.5], [0, 0.125], [4, 1000]):
        settings = {"lambda_e": lambda_e, "forgetting": forgetting, "solve_every": solve_every}
        yield "lstd", name, {**settings, "read": next(reads)}, None

    turns = cycle([0, 1, 3, 1, 2])
    for n, beta, name in product([1, 2], [0, 0.5], STREAMS):
        alpha, schedule = LEARNING[name][next(turns)]
        yield "x-etd", name, {"n": n, "beta": beta, "read": next(reads), "alpha": alpha}, schedule

    for name, gamma_hat, penalty in product(STREAMS, [0.5, 0.9], [0, 0.5]):
        settings = {"gamma_hat": gamma_hat, "penalty": penalty}
        yield "cop-td", name, {**settings, "alpha": 0.5, "alpha_nu": 0.125}, CONSTANT
        step_sizes = {"alpha": 0.5, "eta": 0.5, "alpha_eta": 0.25}
        yield "gradient-dice", name, {**settings, **step_sizes}, CONSTANT


def critic_cases():
    etd = [{"kind": "follow-on"}, {"kind": "decayed", "beta": 0.5}, {"kind": "truncated", "n": 1}]
    for lambda_, name in product(LAMBDAS, STREAMS):
        learns = {"lambda": lambda_, "alpha": 0.5}
        for part, settings in [
            ("td", {}),
            ("tdc", {"eta": 0.5}),
            ("gtd2", {"eta": 0.5}),
            ("tdrc", {"eta": 1, "beta": 1}),
            ("proximal-gtd2", {"eta": 0.5}),
            ("htd", {"eta": 0.5}),
            ("v-trace", {"rho_max": 1}),
            ("tree-backup", {}),
            *(("etd", {"emphasis": emphasis}) for emphasis in etd),
            ("true-online-etd", {}),
        ]:
            yield part, name, {**learns, **settings}
        yield "lstd", name, {"lambda": lambda_}
        yield "elstd", name, {"lambda": lambda_}
    for (zeta, xi_max), name in product([(0.25, 2), (0.75, 2), (0.75, 4)], STREAMS):
        yield "abtd", name, {"zeta": zeta, "xi_0": 1, "xi_max": xi_max, "alpha": 0.5}


def action_critic_cases():
    for lambda_, name in product(LAMBDAS, STREAMS):
        learns = {"lambda": lambda_, "alpha": 0.5}
        yield "gq", name, {**learns, "eta": 0.5}
        yield "expected-tdrc", name, {**learns, "eta": 1, "beta": 1}
        yield "retrace", name, learns
        yield "lstd-q", name, {"lambda": lambda_}
    yield "one-step-model", "one-hot", {"prior": 100}


TD = {"kind": "td", "lambda": 0, "alpha": 0.5}


def actor_cases():
    """(part, stream, settings): each with the critic and the emphasis beside it."""
    follow_on, none = {"kind": "follow-on"}, {"kind": "none"}
    by_values = {"alpha": 0.25, "critic": TD}
    tdrc = {"kind": "expected-tdrc", "lambda": 0, "alpha": 0.5, "eta": 1, "beta": 1}
    by_actions = {"alpha": 0.25, "critic": tdrc}
    for name, lambda_, emphasis in product(ACTOR_STREAMS, [0, 0.5, 1], [none, follow_on]):
        yield "trace", name, {**by_values, "emphasis": emphasis, "lambda": lambda_}
    emphases = cycle([none, none, none, follow_on, none])
    for name, eta, beta, lambda_a in product(ACTOR_STREAMS, [0, 1], [0, 1], [0, 0.5, 1]):
        learns = {"alpha_g": 0.5, "eta": eta, "beta": beta, "lambda_a": lambda_a}
        yield "gradient-critic", name, {**by_actions, "emphasis": next(emphases), **learns}
    for name, eta, beta in product(ACTOR_STREAMS, [0, 1], [0, 1]):
        learns = {"alpha_g": 0.5, "eta": eta, "beta": beta}
        yield "gradient-values", name, {**by_values, "emphasis": next(emphases), **learns}
    for name, gamma_hat, penalty in product(ACTOR_STREAMS, [0, 0.5], [0, 0.1]):
        for lambda_1, lambda_2 in product([0, 0.5, 1], repeat=2):
            learns = {"gamma_hat": gamma_hat, "lambda_1": lambda_1, "lambda_2": lambda_2}
            step_sizes = {"alpha_c": 0.5, "penalty": penalty}
            yield "geoff-pac", name, {**by_values, "emphasis": none, **learns, **step_sizes}
    for name, solve_every in product(ACTOR_STREAMS, [1, 3, 1000]):
        yield "model-gradient", name, {**by_actions, "emphasis": next(emphases), "solve_every": solve_every}


def without_kind(settings):
    return {name: value for name, value in settings.items() if name != "kind"}


def build(parts, part, stream, settings, schedule=None):
    """The rule of a case."""
    settings = {"lambda_" if name == "lambda" else name: value for name, value in settings.items()}
    if parts is EMPHASES and schedule is not None and part not in ("gem", "cop-td", "gradient-dice"):
        settings["schedule"] = schedule
    return parts[part](stream, **settings)


def run(rule, stream, rows=None):
    return [rule.step(s) for s in stream.steps(rows)]


def worked(parts, part, name, settings, schedule=None):
    case = {"part": part, "stream": name}
    case["settings"] = {"lambda_a": 1, **settings} if parts is EMPHASES else settings
    if schedule is not None:
        case["schedule"] = schedule
    stream = streams_of(parts)[name]
    case["steps"] = run(build(parts, part, stream, settings, schedule), stream)
    return case


def streams_of(parts):
    return ACTOR_STREAMS if parts is ACTORS else STREAMS


FILES = {
    "emphases.json": (EMPHASES, emphasis_cases),
    "critics.json": (CRITICS, critic_cases),
    "action_critics.json": (ACTION_CRITICS, action_critic_cases),
    "actors.json": (ACTORS, actor_cases),
}


def plain(value):
    """What JSON can hold: numbers as the nearest double, and without a fraction if they have none."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, Vector)):
        return [plain(inner) for inner in value]
    if isinstance(value, (str, int)):
        return value
    value = float(value)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def compact(value):
    return json.dumps(plain(value), separators=(",", ":"))


def text_of(parts, cases):
    """A line for each step of a stream, and for each case."""
    streams = []
    for name, stream in streams_of(parts).items():
        described = stream.described()
        steps = ",\n".join(compact(step) for step in described.pop("steps"))
        streams.append(f'"{name}":{compact(described)[:-1]},"steps":[\n{steps}\n]}}')
    lines = ",\n".join(compact(worked(parts, *case)) for case in cases())
    return '{"streams":{\n' + ",\n".join(streams) + '\n},"cases":[\n' + lines + "\n]}\n"


def write():
    for file, (parts, cases) in FILES.items():
        (HERE / file).write_text(text_of(parts, cases), encoding="utf-8")


# Checks -----------------------------------------------------------------------------------------------------

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def numbers(value):
    """All numbers in what a rule returned."""
    if isinstance(value, dict):
        return [number for inner in value.values() for number in numbers(inner)]
    if isinstance(value, (list, tuple, Vector)):
        return [number for inner in value for number in numbers(inner)]
    return [mpf(value)]


def same(ours, theirs, *names):
    """Are two runs the same, in what is named?"""
    ours = numbers([{name: step[name] for name in names} for step in ours])
    theirs = numbers([{name: step[name] for name in names} for step in theirs])
    assert len(ours) == len(theirs) > 0
    for a, b in zip(ours, theirs, strict=True):
        assert abs(a - b) <= mpf(10) ** -45 * max(1, abs(b)), (a, b)


def differ(ours, theirs, name):
    assert any(
        abs(a - b) > 1e-6
        for a, b in zip(numbers([s[name] for s in ours]), numbers([s[name] for s in theirs]), strict=True)
    )


def with_gamma(stream, gamma):
    """The stream with one discount wherever it is not 0."""
    rows = stream.rows()
    change = ["gamma", "gamma_next"]
    return [{**row, **{name: gamma if row[name] else 0.0 for name in change}} for row in rows]


def on_policy(stream):
    return [{**row, "rho": 1.0} for row in stream.rows()]


def ratios_below_one(stream):
    return [{**row, "rho": min(1.0, row["rho"])} for row in stream.rows()]


def interest_of_one(stream):
    return [{**row, "interest": 1.0} for row in stream.rows()]


def each_stream(function):
    """A check that holds for every stream."""

    def on_all():
        for stream in STREAMS.values():
            function(stream)

    on_all.__name__ = function.__name__
    return check(on_all)


def direct(stream, **settings):
    return Direct(stream, **{"lambda_e": 0.5, "read": 1, "alpha": 0.5, "schedule": CONSTANT, **settings})


def tderc(stream, **settings):
    defaults = {"lambda_e": 0, "beta": 0, "eta": 1.0, "read": 1, "alpha": 0.5, "schedule": CONSTANT}
    return Tderc(stream, **{**defaults, **settings})


@each_stream
def streams_cover_what_matters(stream):
    rows = stream.rows()
    assert 13 <= len(rows) <= 15 and len(stream.episodes) == 3
    assert sum(row["rho"] == 0 for row in rows) >= 2
    assert any(row["rho"] > 1 for row in rows) and any(0 < row["rho"] < 1 for row in rows)
    assert {0.5, 0.90625, 0.953125, 1.0} <= {row["gamma"] for row in rows}
    assert any(row["interest"] == 0 for row in rows) and len({row["interest"] for row in rows}) > 3
    assert any(len(episode) == 1 for episode in stream.episodes)
    between = stream.episodes[:-1]
    assert any(episode[-1]["gamma_next"] == 0 for episode in between)
    assert any(episode[-1]["gamma_next"] > 0 for episode in between)
    # What a forgotten reset would carry over is not 0; the state after a truncation is not the next start.
    for now, after in zip(between, stream.episodes[1:], strict=False):
        terminated = now[-1]["gamma_next"] == 0
        assert now[-1]["rho"] > 0 and (now[-1]["state_next"] == after[0]["state"]) == terminated
    for row in rows:
        assert row["rho"] * row["mu"] == row["pi"][row["action"]]
        for value in numbers(row):
            assert value * 64 == int(value * 64)
    for _, pi, behaviour in stream.states:
        assert sum(pi) == 1 and sum(behaviour) == 1


@check
def traces_as_worked_by_hand():
    f = [step["emphasis"] for step in run(FollowOn(ONE_HOT), ONE_HOT)]
    assert f[:4] == [1, 3.21875, 7.4375, 1.859375]
    assert f[5:9] == [1.25, 1, 1.8125 * 1, 1.8125 * 0.5 + 1]
    assert f[9] == 0.75  # ρ_{t−1} = 0
    w = [step["w"] for step in run(Td(ONE_HOT, 0, 0.5), ONE_HOT)]
    assert list(w[1]) == [1.5, -1, 0, 0]
    first = run(Etd(DENSE, 0, {"kind": "follow-on"}, 0.5), DENSE)[0]
    assert first["delta"] == 1
    assert numbers(first["w"]) == [mpf(1) / 3, -mpf(1) / 6, mpf(1) / 12]


@each_stream
def episodes_alone_have_the_same_traces(stream):
    makers = [
        lambda: FollowOn(stream),
        lambda: Normalised(stream),
        lambda: Decayed(stream, 0.5),
        lambda: Clipped(stream, 1),
        lambda: Truncated(stream, 3),
        lambda: NStep(stream, 2),
    ]
    for make in makers:
        alone = [step for episode in stream.episodes for step in run(make(), stream, episode)]
        same(run(make(), stream), alone, "emphasis")


@each_stream
def relatives_of_the_follow_on_trace(stream):
    follow_on = run(FollowOn(stream), stream)
    same(run(Truncated(stream, 100), stream), follow_on, "emphasis")
    same(run(NStep(stream, 1), stream), follow_on, "emphasis")
    same(run(Clipped(stream, inf), stream), follow_on, "emphasis")
    floored = [
        {"emphasis": max(s.interest, f["emphasis"])} for s, f in zip(stream.steps(), follow_on, strict=True)
    ]
    same(run(direct(stream, lambda_e=1, read=1), stream), floored, "emphasis")
    interest = [{"emphasis": s.interest} for s in stream.steps()]
    same(run(Truncated(stream, 0), stream), interest, "emphasis")
    same(run(Periodic(stream, 1), stream), interest, "emphasis")
    same(run(Decayed(stream, 0.0), stream), interest, "emphasis")
    rows = with_gamma(stream, 0.875)
    same(run(Decayed(stream, 0.875), stream, rows), run(FollowOn(stream), stream, rows), "emphasis")
    # Within a period, what counts is the trace truncated to it.
    b = 3
    truncated = run(Truncated(stream, b - 1), stream)
    same(run(Periodic(stream, b), stream)[b - 1 :: b], truncated[b - 1 :: b], "emphasis")


@each_stream
def follow_on_of_the_target_itself(stream):
    """With π = μ, i = 1 and one γ, F_t = (1 − γ^{k+1})/(1 − γ) at step k of an episode."""
    rows = [{**row, "rho": 1.0, "interest": 1.0} for row in with_gamma(stream, 0.875)]
    k, gamma = -1, mpf(0.875)
    for row, step in zip(rows, run(FollowOn(stream), stream, rows), strict=True):
        k = 0 if row["gamma"] == 0 else k + 1
        assert abs(step["emphasis"] - (1 - gamma ** (k + 1)) / (1 - gamma)) < 1e-50


@each_stream
def relatives_of_direct(stream):
    for (alpha, schedule), beta in product(LEARNING["sparse"], [0, 0.5]):
        settings = {"read": 0.25, "alpha": alpha, "schedule": schedule}
        ours = run(XEtd(stream, n=1, beta=beta, **settings), stream)
        theirs = run(Direct(stream, lambda_e=beta, **settings), stream)
        same(ours, theirs, "emphasis", "follow_on", "u")
        # Without second weights TDERC(0) is direct(0).
        ours = run(Tderc(stream, lambda_e=0, beta=1, eta=0.0, **settings), stream)
        same(ours, run(Direct(stream, lambda_e=0, **settings), stream), "emphasis", "follow_on", "u")
    # COP-TD without its penalty is direct(0) with γ̂ for γ and 1 − γ̂ for the interest, divided by 1 − γ̂.
    gamma_hat = 0.5
    rows = [{**row, "interest": 1 - gamma_hat} for row in with_gamma(stream, gamma_hat)]
    theirs = run(direct(stream, lambda_e=0, initial=CopTd(stream, gamma_hat, 0, 0.5, 0.125).u), stream, rows)
    same(run(CopTd(stream, gamma_hat, 0, 0.5, 0.125), stream), theirs, "u")


@each_stream
def relatives_of_gem(stream):
    """GradientDICE without its penalty is GEM(0) with the interest times 1 − γ̂."""
    ours = run(GradientDice(stream, 0.75, 0, alpha=0.5, eta=0.5, alpha_eta=0.25), stream)
    theirs = run(Gem(stream, lambda_e=0, ridge=0, eta=0.5, read=0, alpha=0.5), stream)
    same([{"u": 4 * step["u"]} for step in ours], theirs, "u")


@each_stream
def slopes_of_gradient_dice(stream):
    """The update is the slope of the sampled objective, by differences (which are exact for a quadratic
    form)."""

    def objective(s, u, kappa, eta):
        tau, tau_prev, f = u @ s.x, u @ s.before.x, kappa @ s.x
        return (
            (1 - gamma_hat) * s.interest * f
            + s.c * tau_prev * f
            - tau * f
            - f * f / 2
            + penalty * (eta * tau - eta * s.interest - eta * eta / 2)
        )

    def slope(function, at):
        n = len(at)
        return Vector((function(at + unit(n, j)) - function(at - unit(n, j))) / 2 for j in range(n))

    gamma_hat, penalty = mpf(0.9), mpf(0.5)
    rule = GradientDice(stream, 0.9, 0.5, alpha=0.5, eta=0.5, alpha_eta=0.25)
    for s in stream.steps():
        u, kappa, eta = rule.u, rule.kappa, rule.eta
        down = slope(lambda u: objective(s, u, kappa, eta), u)
        up = slope(lambda kappa: objective(s, u, kappa, eta), kappa)
        up_eta = slope(lambda eta: objective(s, u, kappa, eta[0]), Vector([eta]))
        rule.step(s)
        alpha = mpf(0.5) / stream.active
        expected = {
            "u": u - alpha * down,
            "kappa": kappa + alpha / 2 * up,
            "eta": Vector([eta]) + mpf(0.25) * up_eta,
        }
        same([{"u": rule.u, "kappa": rule.kappa, "eta": rule.eta}], [expected], "u", "kappa", "eta")


@each_stream
def gem_and_tderc_have_the_same_expectation(stream):
    """Summed over a stream, with the κ that solves Σ xxᵀ κ = Σ δ̄ x, TDERC (β_r = 0) and GEM point to the
    same side."""
    form, u = VectorForm(stream, 0.5), ones(stream.features)
    samples = [(s.x, *form.step(s)) for s in stream.steps()]
    covariance, right = Matrix.identity(stream.features, 0), zeros(stream.features)
    for x, c, y in samples:
        covariance = covariance + outer(x, x)
        right = right + (c + (y - x) @ u) * x
    kappa = covariance.solve(right)
    ours = theirs = zeros(stream.features)
    for x, c, y in samples:
        ours = ours + (c + (y - x) @ u) * x - (x @ kappa) * y
        theirs = theirs + (x @ kappa) * (x - y)
    same([{"u": ours}], [{"u": theirs}], "u")


@each_stream
def vector_form_is_the_return(stream):
    """c̃_t + y_t·u is the λ-return of a u that does not change."""
    u, f, form = Vector(range(1, stream.features + 1)), mpf(0), VectorForm(stream, 0.5)
    for s in stream.steps():
        f = s.interest + s.c * (u @ s.before.x + f) / 2
        c, y = form.step(s)
        assert abs(f - (c + y @ u)) < 1e-50


@check
def lstd_of_the_trace_is_its_mean():
    """One-hot features and λ_e = 1: u is the mean of F in each state (and ε more), over the episodes that are
    over."""
    rule, epsilon = EmphasisLstd(ONE_HOT, 1, 0, 1000, 0), exact(1e-3)
    totals, counts = zeros(4), zeros(4)
    follow_on = run(FollowOn(ONE_HOT), ONE_HOT)
    expected = ones(4)
    for t, (s, f) in enumerate(zip(ONE_HOT.steps(), follow_on, strict=True)):
        if s.gamma == 0 and t > 0:
            expected = Vector((a + epsilon) / (n + epsilon) for a, n in zip(totals, counts, strict=True))
        same([rule.step(s)], [{"u": expected, "follow_on": f["emphasis"]}], "u", "follow_on")
        totals, counts = totals + f["emphasis"] * s.x, counts + s.x


@each_stream
def schedules(stream):
    """A power of 0 is constant; per-feature steps of one-hot features with p = 1 are a mean."""
    flat = {"kind": "polynomial", "scale": 4, "power": 0.0, "floor": 0.1}
    same(run(direct(stream, schedule=flat), stream), run(direct(stream), stream), "u")
    if stream is ONE_HOT:
        mean = {"kind": "per-feature", "power": 1.0, "floor": 0.0}
        u = run(direct(stream, lambda_e=1, alpha=1, schedule=mean), stream)[-1]["u"]
        f = [step["emphasis"] for step in run(FollowOn(stream), stream)]
        for state in range(4):
            seen = [value for value, row in zip(f, stream.rows(), strict=True) if row["state"] == state]
            assert abs(u[state] - sum(seen) / len(seen)) < 1e-50
    # A floor makes a difference where it is meant to be reached.
    for name, turn in [("dense", 2), ("one-hot", 2), ("one-hot", 3), ("sparse", 2), ("sparse", 3)]:
        alpha, schedule = LEARNING[name][turn]
        high, low = (
            {"alpha": alpha, "schedule": {**schedule, "floor": f}} for f in [schedule["floor"], 0.02]
        )
        stream = STREAMS[name]
        differ(run(direct(stream, **high), stream), run(direct(stream, **low), stream), "u")


@each_stream
def relatives_of_tdc(stream):
    for lambda_ in LAMBDAS:
        tdc = run(Tdc(stream, lambda_, 0.5, 0.5), stream)
        same(run(Tdrc(stream, lambda_, 0, 0.5, 0.5), stream), tdc, "delta", "w", "h")
        same(run(Tdc(stream, lambda_, 0.0, 0.5), stream), run(Td(stream, lambda_, 0.5), stream), "w")
        rows = on_policy(stream)
        same(
            run(Htd(stream, lambda_, 0.5, 0.5), stream, rows),
            run(Td(stream, lambda_, 0.5), stream, rows),
            "w",
        )
    same(run(Tdc(stream, 1, 0.5, 0.5), stream), run(Td(stream, 1, 0.5), stream), "w")


@each_stream
def gtd2_and_tdc_have_the_same_expectation(stream):
    """Summed over a stream, at one w and the h that solves Σ xxᵀ h = Σ δz."""
    tdc, gtd2, w = Tdc(stream, 0.6, 1, 1), Gtd2(stream, 0.6, 1, 1), ones(stream.features)
    samples = []
    for s in stream.steps():
        tdc.z = tdc.trace(s)
        samples.append((s, s.delta(w), tdc.z))
    covariance, right = Matrix.identity(stream.features, 0), zeros(stream.features)
    for s, delta, z in samples:
        covariance, right = covariance + outer(s.x, s.x), right + delta * z
    h = covariance.solve(right)
    ours = theirs = zeros(stream.features)
    for s, delta, z in samples:
        ours = ours + tdc.w_direction(s, delta, z, h)
        theirs = theirs + gtd2.w_direction(s, delta, z, h)
    same([{"w": ours}], [{"w": theirs}], "w")


@each_stream
def proximal_gtd2_solves_for_the_middle(stream):
    """From h = 0 the middle has the old w and h̃ = α_h δ z, so w moves at the first step, where GTD2 does
    not."""
    proximal, gtd2 = (rule(stream, 0, 0.5, 0.5) for rule in [ProximalGtd2, Gtd2])
    s = next(stream.steps())
    middle = proximal.alpha_h * s.reward * s.rho * s.x
    expected = proximal.alpha * (middle @ s.x * s.x - s.gamma_next * s.rho * (s.x @ middle) * s.x_next)
    same([proximal.step(s)], [{"w": expected}], "w")
    same([gtd2.step(s)], [{"w": zeros(stream.features)}], "w")


@each_stream
def td_without_a_trace(stream):
    """λ = 0 and ρ ≤ 1: V-trace, tree backup, ABTD and TD are one rule."""
    rows = ratios_below_one(stream)
    td = run(Td(stream, 0, 0.5), stream, rows)
    same(run(VTrace(stream, 0, 1, 0.5), stream, rows), td, "delta", "w")
    same(run(TreeBackup(stream, 0, 0.5), stream, rows), td, "delta", "w")
    same(run(Abtd(stream, 0.0, 1, 2, 0.5), stream, rows), td, "delta", "w")
    same(run(Td(stream, 0, 0.5), stream), run(TreeBackup(stream, 0, 0.5), stream), "delta", "w")
    differ(run(VTrace(stream, 0, 1, 0.5), stream), run(Td(stream, 0, 0.5), stream), "w")
    # With a trace, V-trace of such ratios is TD(λ): its trace is z_t/ρ_t.
    same(
        run(VTrace(stream, 0.6, 1, 0.5), stream, rows), run(Td(stream, 0.6, 0.5), stream, rows), "delta", "w"
    )


@each_stream
def relatives_of_abtd(stream):
    """ν = 2ζ up to ζ = ½ if ξ_0 = 1: tree backup with λ = 2ζ. Without a bound on ν: νπ = min(1, ρ), as in
    V-trace."""
    same(run(Abtd(stream, 0.25, 1, 2, 0.5), stream), run(TreeBackup(stream, 0.5, 0.5), stream), "w")
    same(run(Abtd(stream, 1.0, 1, 1000, 0.5), stream), run(VTrace(stream, 1, inf, 0.5), stream), "w")


@each_stream
def relatives_of_etd(stream):
    follow_on = {"kind": "follow-on"}
    for lambda_ in LAMBDAS:
        etd = run(Etd(stream, lambda_, follow_on, 0.5), stream)
        same(run(Etd(stream, lambda_, {"kind": "truncated", "n": 100}, 0.5), stream), etd, "w")
        rows = interest_of_one(stream)
        td = run(Td(stream, lambda_, 0.5), stream, rows)
        same(run(Etd(stream, lambda_, {"kind": "decayed", "beta": 0.0}, 0.5), stream, rows), td, "w")
        rows = with_gamma(stream, 0.875)
        decayed = run(Etd(stream, lambda_, {"kind": "decayed", "beta": 0.875}, 0.5), stream, rows)
        same(decayed, run(Etd(stream, lambda_, follow_on, 0.5), stream, rows), "w")
        true_online = run(TrueOnlineEtd(stream, lambda_, 0.5), stream)
        same(true_online[:1], etd[:1], "w")
    same(run(TrueOnlineEtd(stream, 0, 0.5), stream), run(Etd(stream, 0, follow_on, 0.5), stream), "w")
    differ(true_online, etd, "w")


@each_stream
def true_online_etd_is_the_online_return(stream):
    """True-online ETD(λ) has the weights of its forward view at every horizon: all updates of the episode so
    far done anew, w_{k+1} = w_k + α ρ_k M_k (G_k − w_k·x_k) x_k, with the returns that end at the horizon,
    G_k = R_{k+1} + γ_{k+1} [w^k·x_{k+1} + λ ρ_{k+1} (G_{k+1} − w^k·x_{k+1})]. w^k is what was known at time k
    (van Hasselt, Mahmood and Sutton 2014)."""
    lambda_, alpha = mpf(0.6), mpf(0.5) / stream.active
    known = [zeros(stream.features)]  # w^t
    follow_on, steps, start = FollowOn(stream), [], 0
    rule = TrueOnlineEtd(stream, 0.6, 0.5)
    for t, s in enumerate(stream.steps()):
        f = follow_on.step(s)["emphasis"]
        steps.append((s, lambda_ * s.interest + (1 - lambda_) * f))
        if s.gamma == 0:
            start = t
        returns, g = {}, None
        for k in range(t, start - 1, -1):
            step_k = steps[k][0]
            value = known[k] @ step_k.x_next
            further = 0 if g is None else lambda_ * steps[k + 1][0].rho * (g - value)
            g = returns[k] = step_k.reward + step_k.gamma_next * (value + further)
        w = known[start]
        for k in range(start, t + 1):
            step_k, m = steps[k]
            w = w + alpha * step_k.rho * m * (returns[k] - w @ step_k.x) * step_k.x
        known.append(w)
        same([rule.step(s)], [{"w": w}], "w")


@check
def lstd_finds_the_values():
    """Every action of every state once, as one stream of one-hot features: LSTD(0) has the values of the
    target in this deterministic problem, but for ε; ELSTD(0) and the one-step model with little prior have
    the same."""
    after = {0: [1, 2, 3], 1: [2, 0, 3], 2: [3, 3, 0], 3: [0, 1, 2]}
    rows = []
    for _ in range(2):
        for state in range(4):
            for action in range(3):
                end = after[state][action]
                row = ONE_HOT.row((state, action, 1.0 + state - action / 2, 1.0, 0.875), end, 0.0)
                # All pairs weigh the same: ρ = π up to a factor.
                rows.append({**row, "rho": row["pi"][action]})
    system, rewards = Matrix.identity(4), []
    for state in range(4):
        _, pi, _ = ONE_HOT.states[state]
        rewards.append(sum(pi[a] * (1 + state - mpf(a) / 2) for a in range(3)))
        for a in range(3):
            system = system - mpf(0.875) * mpf(pi[a]) * outer(unit(4, state), unit(4, after[state][a]))
    v = system.solve(Vector(rewards))
    found = run(Lstd(ONE_HOT, 0), ONE_HOT, rows)[-1]["w"]
    assert max(abs(a - b) for a, b in zip(v, found, strict=True)) < 0.1
    model = run(OneStepModel(ONE_HOT, 1e30), ONE_HOT, rows)[-1]["v"]
    assert max(abs(a - b) for a, b in zip(v, model, strict=True)) < 1e-25
    Lstd_ = type("", (Lstd,), {"EPSILON": mpf(10) ** -40})
    found = run(Lstd_(ONE_HOT, 0), ONE_HOT, rows)[-1]["w"]
    assert max(abs(a - b) for a, b in zip(v, found, strict=True)) < 1e-30


@each_stream
def relatives_of_lstd(stream):
    rows = [{**row, "interest": 1.0} for row in stream.rows()]
    same(run(Elstd(stream, 1), stream, rows), run(Lstd(stream, 1), stream, rows), "w")
    # (A_0 + Σ z (x − γ′x′)ᵀ)⁻¹ by Sherman and Morrison.
    rule, inverse, b = (
        Lstd(stream, 0.6),
        Matrix.identity(stream.features, 1 / Lstd.EPSILON),
        zeros(stream.features),
    )
    for s in stream.steps():
        w, d = rule.step(s)["w"], s.x - s.gamma_next * s.x_next
        column = inverse @ rule.z
        row = Vector(d @ Vector(r[j] for r in inverse.rows) for j in range(stream.features))
        inverse = inverse - 1 / (1 + d @ column) * outer(column, row)
        b = b + s.reward * rule.z
        same([{"w": inverse @ b}], [{"w": w}], "w")


@each_stream
def relatives_of_gq(stream):
    for lambda_ in LAMBDAS:
        gq = run(Gq(stream, lambda_, 0.5, 0.5), stream)
        same(run(ExpectedTdrc(stream, lambda_, 0.5, 0.5, 0), stream), gq, "w", "h")
        rows = ratios_below_one(stream)
        retrace = run(Retrace(stream, lambda_, 0.5), stream, rows)
        same(run(Gq(stream, lambda_, 0.0, 0.5), stream, rows), retrace, "w")
    same(run(Gq(stream, 0, 0.0, 0.5), stream), run(Retrace(stream, 0, 0.5), stream), "w")
    differ(run(Gq(stream, 0.6, 0.0, 0.5), stream), run(Retrace(stream, 0.6, 0.5), stream), "w")


@check
def one_step_model_is_lstd_q():
    """For one-hot features the model with P_0 = I/ε has the q̂ of LSTD-Q(0) with A_0 = εI."""
    model = run(OneStepModel(ONE_HOT, 64.0), ONE_HOT)
    lstd = run(LstdQ(ONE_HOT, 0, 1 / 64), ONE_HOT)
    same([{"w": step["q"]} for step in model], lstd, "w")
    same(model, lstd, "delta")
    for step in model:
        assert all(0 <= entry <= 1 for row in step["b"] for entry in row)


@check
def actor_streams_cover_what_matters():
    densities = []
    for name, stream in ACTOR_STREAMS.items():
        trace = ActorTrace(stream, 0.5, alpha=0.25, critic=TD, emphasis={"kind": "follow-on"})
        ratios = []
        for s in stream.steps():
            trace.step(s)
            ratios.append(trace.before.rho)
        assert sum(rho < 1e-300 for rho in ratios) == 1, name
        assert any(rho > 1 for rho in ratios) and any(1e-3 < rho < 1 for rho in ratios), name
        rows, ends = stream.rows(), [episode[-1]["gamma_next"] for episode in stream.episodes]
        assert any(ends[:-1]) and not all(ends), name
        assert {0.5, 0.90625, 0.953125, 1.0} <= {row["gamma"] for row in rows}, name
        assert any(row["interest"] == 0 for row in rows) and len({row["interest"] for row in rows}) > 3, name
        # Neither a value nor a density ratio of one sign would tell everything.
        geoff = GeoffPac(stream, 0.5, 1, 1, 0.5, 0, alpha=0.25, critic=TD, emphasis={"kind": "none"})
        values = []
        for s in stream.steps():
            values.append(geoff.critic.w @ s.x)
            geoff.step(s)
            densities.append(geoff.ratio.u @ s.x)
        assert min(values) < 0 < max(values), name
    assert min(densities) < 0 < max(densities)


@check
def scores_are_slopes():
    actor = ActorTrace(THREE_ACTIONS, 0, alpha=0.25, critic=TD, emphasis={"kind": "none"})
    theta, h = actor.theta, mpf(10) ** -25
    for state, action in product(range(3), range(3)):
        score = actor.psi(state, action)
        for k in range(len(theta)):
            logs = []
            for sign in [1, -1]:
                actor.theta = theta + sign * h * unit(len(theta), k)
                logs.append(log(actor.pi(state)[action]))
            assert abs((logs[0] - logs[1]) / (2 * h) - score[k]) < 1e-30
        actor.theta = theta


@check
def relatives_of_actors():
    for stream in ACTOR_STREAMS.values():
        none = {"alpha": 0.25, "emphasis": {"kind": "none"}}
        tdrc = {"kind": "expected-tdrc", "lambda": 0, "alpha": 0.5, "eta": 1, "beta": 1}
        g = {"alpha_g": 0.5, "eta": 1, "beta": 1}
        # Without its share a gradient critic tells nothing.
        without = run(GradientCritic(stream, 0, critic=tdrc, **g, **none), stream)
        same(
            without,
            run(GradientCritic(stream, 0, critic=tdrc, **{**g, "alpha_g": 0.0}, **none), stream),
            "theta",
        )
        differ(without, run(GradientCritic(stream, 1, critic=tdrc, **g, **none), stream), "theta")
        # γ̂ = 0 leaves the second trace out.
        geoff = [run(GeoffPac(stream, 0, 1, l, 0.5, 0, critic=TD, **none), stream) for l in [0, 1]]
        same(*geoff, "theta")
        geoff = [run(GeoffPac(stream, 0.5, 1, l, 0.5, 0, critic=TD, **none), stream) for l in [0, 1]]
        differ(*geoff, "theta")


def all_cases():
    for parts, cases in FILES.values():
        for case in cases():
            yield parts, case


@check
def every_rule_has_cases():
    for parts, cases in FILES.values():
        assert {case[0] for case in cases()} == set(parts)


@check
def systems_are_well_conditioned():
    for parts, (part, name, *settings) in all_cases():
        rule = build(parts, part, streams_of(parts)[name], *settings)
        if hasattr(rule, "conditions"):
            run(rule, streams_of(parts)[name])
            assert max(rule.conditions, default=0) < 1e5, (part, name, settings, max(rule.conditions))


@check
def doubles_would_do():
    """How far rules with 53 bits would be from this, relative to the number or to 1: what a test has to
    allow."""
    worst = mpf(0), ""
    for parts, case in all_cases():
        fine = numbers(worked(parts, *case)["steps"])
        mp.prec = 53
        coarse = numbers(worked(parts, *case)["steps"])
        mp.dps = 60
        errors = [abs(a - b) / max(1, abs(b)) for a, b in zip(coarse, fine, strict=True)]
        worst = max(worst, (max(errors), str(case)))
        assert max(abs(number) for number in fine) < 1e4, case
    print(f"with doubles the largest error would be 10^{float(log10(worst[0])):.1f}, in {worst[1]}")
    assert worst[0] < 1e-10


@check
def files_are_what_the_rules_say():
    for file, (parts, cases) in FILES.items():
        text = (HERE / file).read_text(encoding="utf-8")
        assert text == text_of(parts, cases), f"{file} is not what this script writes"
        json.loads(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        for function in CHECKS:
            function()
            print(f"{function.__name__.replace('_', ' ')}: holds")
    elif len(sys.argv) == 1:
        write()
    else:
        sys.exit(__doc__)
