"""Every learner of the package, written from the equations in plain NumPy: dense vectors, whole traces, a
linear system for everything exact. Slow and obvious, to hold the package against.

A step leads from S_t to S_{t+1}. Three indices matter: F_t has ρ_{t−1} and the discount into S_t (`gamma`), a
trace has ρ_t and the discount into S_t, δ_t has the discount out of S_t (`gamma_next`). All of ρ_t, M_t, δ_t
come from the weights before the step. Step-sizes are divided by the number of active features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Union

import numpy as np
import numpy.typing as npt

import emphatic
from emphatic import catalogue
from emphatic.parts import Features

Array = npt.NDArray[Any]


class Step(NamedTuple):
    x: Any
    action: Any
    reward: float
    x_next: Any
    mu: float
    gamma: float
    gamma_next: float
    interest: float


class Seen:
    """What features show of a state, as a vector; and by how many active features step-sizes are divided."""

    def __init__(self, features: Features) -> None:
        self.len = features.len
        if isinstance(features, emphatic.Dense):
            self.active = features.len
            self.vector: Callable[[Any], Array] = lambda x: np.asarray(x, dtype=np.float64)
        elif isinstance(features, emphatic.Active):
            self.active = features.most_active
            self.vector = lambda x: np.bincount(x, minlength=features.len).astype(np.float64)
        else:
            rows = features.array() if isinstance(features, emphatic.Table) else np.eye(features.len)
            self.active = int(np.count_nonzero(rows, axis=1).max())
            self.vector = lambda x: rows[x]


def sigmoid(y: Any) -> Any:
    return 1 / (1 + np.exp(-y))


# --- Policies ---


class Softmax:
    """π(a|s) = exp(x·θ_a) / Σ_b exp(x·θ_b)."""

    def __init__(self, features: Features, actions: int) -> None:
        self.seen = Seen(features)
        self.theta = np.zeros((self.seen.len, actions))

    def pi(self, x: Any) -> Array:
        y = np.exp(self.seen.vector(x) @ self.theta)
        return np.asarray(y / y.sum(axis=-1, keepdims=True))

    def density(self, x: Any, a: int) -> float:
        return float(self.pi(x)[a])

    def score(self, x: Any, a: int) -> Array:
        """∂ ln π(a|s) / ∂θ_b = (1[a = b] − π(b|s)) x."""
        return np.outer(self.seen.vector(x), np.eye(self.theta.shape[1])[a] - self.pi(x))


class Gaussian:
    """Mean x·θ₀ and standard deviation ln(1 + exp(x·θ₁))."""

    def __init__(self, features: Features) -> None:
        self.seen = Seen(features)
        self.theta = np.zeros((self.seen.len, 2))

    def normal(self, x: Any) -> tuple[float, float]:
        mean, y = self.seen.vector(x) @ self.theta
        return float(mean), float(np.log1p(np.exp(y)))

    def density(self, x: Any, a: float) -> float:
        mean, sd = self.normal(x)
        return float(np.exp(-(((a - mean) / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi)))

    def score(self, x: Any, a: float) -> Array:
        """ln π = −(a − mean)²/(2 sd²) − ln sd, derived by the mean and by sd, whose own derivative is σ."""
        mean, sd = self.normal(x)
        by_y = ((a - mean) ** 2 / sd**3 - 1 / sd) * sigmoid(self.seen.vector(x) @ self.theta[:, 1])
        return np.outer(self.seen.vector(x), [(a - mean) / sd**2, by_y])


class Deterministic:
    """π(s) = x·θ."""

    def __init__(self, features: Features) -> None:
        self.seen = Seen(features)
        self.theta = np.zeros(self.seen.len)

    def action(self, x: Any) -> float:
        return float(self.seen.vector(x) @ self.theta)


Policy = Union[Softmax, Gaussian, Deterministic]

# --- What is exactly true of a policy: v = r + P v and mᵀ = (d i)ᵀ + mᵀ P, with the discounts in P ---


class Truth(NamedTuple):
    v: Array
    #: q(s, a), or ∂q/∂a at the action of a deterministic policy
    q: Array
    #: m/d_μ
    density: Array


def truth(p: Array, r: Array, q: Callable[[Array], Array], d: Array, i: Array) -> Truth:
    v = np.linalg.solve(np.eye(len(r)) - p, r)
    return Truth(v, q(v), np.linalg.solve(np.eye(len(r)) - p.T, d * i) / d)


def stationary(chain: Array) -> Array:
    """d = d P and Σ d = 1."""
    n = len(chain)
    equations = np.vstack([np.eye(n) - chain.T, np.ones(n)])
    return np.asarray(np.linalg.lstsq(equations, np.eye(n + 1)[n], rcond=None)[0])


class Finite:
    """A problem with finitely many actions, from the list of its transitions."""

    def __init__(self, problem: emphatic.Problem) -> None:
        way = problem.transitions
        n, actions = len(problem.states), len(problem.actions)
        self.p, self.p_gamma = np.zeros((2, n, actions, n))
        self.r = np.zeros((n, actions))
        np.add.at(self.p, (way.state, way.action, way.next), way.probability)
        np.add.at(self.p_gamma, (way.state, way.action, way.next), way.probability * way.gamma)
        np.add.at(self.r, (way.state, way.action), way.probability * way.reward)
        self.d = stationary(np.einsum("sa,san->sn", problem.behaviour, self.p))
        self.i = problem.interest

    def of(self, policy: Policy) -> Truth:
        assert isinstance(policy, Softmax)
        pi = policy.pi(np.arange(len(self.d)))
        p, r = np.einsum("sa,san->sn", pi, self.p_gamma), (pi * self.r).sum(axis=1)
        return truth(p, r, lambda v: self.r + self.p_gamma @ v, self.d, self.i)


NODES, SHARES = np.polynomial.hermite.hermgauss(100)


def mean_sigmoid(mean: float, sd: float) -> float:
    """E[σ(a)] with a ~ N(mean, sd²), by Gauss-Hermite quadrature."""
    return float(SHARES @ sigmoid(mean + np.sqrt(2) * sd * NODES) / np.sqrt(np.pi))


class Continuous:
    """The continuous counterexample: S0 leads to S2 with probability σ(a), else to S1; S1 ends with reward
    2σ(−a), S2 with σ(a)."""

    def __init__(self, problem: emphatic.Problem) -> None:
        chain = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
        chain[0, 2] = mean_sigmoid(*problem.behaviour[0])
        chain[0, 1] = 1 - chain[0, 2]
        self.d, self.i = stationary(chain), problem.interest

    def of(self, policy: Policy) -> Truth:
        if isinstance(policy, Gaussian):
            up = [mean_sigmoid(*policy.normal(s)) for s in range(3)]
        else:
            assert isinstance(policy, Deterministic)
            up = [sigmoid(policy.action(s)) for s in range(3)]
        p = np.array([[0, 1 - up[0], up[0]], [0, 0, 0], [0, 0, 0]])
        # q is linear in σ(a), whose derivative is σ(a) σ(−a).
        slope = lambda v: np.array([v[2] - v[1], -2, 1]) * up * (1 - np.array(up))  # noqa: E731
        return truth(p, np.array([0, 2 * (1 - up[1]), up[2]]), slope, self.d, self.i)


Model = Union[Finite, Continuous]

# --- Emphases ---


class Emphasis(Protocol):
    def weigh(self, step: Step, rho: float) -> float: ...


class NoEmphasis:
    """M_t = i_t."""

    def weigh(self, step: Step, rho: float) -> float:
        return step.interest


class FollowOn:
    """F_t = γ_t ρ_{t−1} F_{t−1} + i_t, M_t = (1 − λ_a) i_t + λ_a F_t."""

    def __init__(self, lambda_a: float) -> None:
        self.lambda_a, self.f, self.rho_before = lambda_a, 0.0, 1.0

    def weigh(self, step: Step, rho: float) -> float:
        self.f = step.gamma * self.rho_before * self.f + step.interest
        self.rho_before = rho
        return (1 - self.lambda_a) * step.interest + self.lambda_a * self.f


class Exact:
    """What is computed from the problem itself, for the current policy."""

    def __init__(self, model: Model, policy: Policy) -> None:
        self.model, self.policy = model, policy
        self.weights: dict[str, Array] = {}

    def truth(self) -> Truth:
        return self.model.of(self.policy)

    def learn(self, *_: Any) -> None:
        pass


class ExactEmphasis(Exact):
    """M_t = m(S_t)/d_μ(S_t)."""

    def weigh(self, step: Step, rho: float) -> float:
        return float(self.truth().density[step.x])


# --- Critics of values: δ_t ---


class GTD:
    """GTD(λ): v̂ = v·x."""

    def __init__(self, features: Features, alpha_v: float, alpha_w: float, lambda_: float) -> None:
        self.seen, self.lambda_ = Seen(features), lambda_
        self.alpha_v, self.alpha_w = alpha_v / self.seen.active, alpha_w / self.seen.active
        self.v, self.w, self.e = np.zeros((3, self.seen.len))

    @property
    def weights(self) -> dict[str, Array]:
        return {"v": self.v}

    def value(self, x: Any) -> float:
        return float(self.v @ self.seen.vector(x))

    def delta(self, step: Step) -> float:
        return step.reward + step.gamma_next * self.value(step.x_next) - self.value(step.x)

    def learn(self, step: Step, rho: float) -> None:
        x, x_next, delta = self.seen.vector(step.x), self.seen.vector(step.x_next), self.delta(step)
        self.e = rho * (step.gamma * self.lambda_ * self.e + x)
        correction = step.gamma_next * (1 - self.lambda_) * (self.e @ self.w) * x_next
        self.v = self.v + self.alpha_v * (delta * self.e - correction)
        self.w = self.w + self.alpha_w * (delta * self.e - (x @ self.w) * x)


class ExactValues(Exact):
    """v of the current policy."""

    def value(self, x: Any) -> float:
        return float(self.truth().v[x])

    def delta(self, step: Step) -> float:
        v = self.truth().v
        return float(step.reward + step.gamma_next * v[step.x_next] - v[step.x])


Values = Union[GTD, ExactValues]

# --- Critics that compare actions: the advantage of each ---


class GQ:
    """GQ(λ): q̂(s, a) = w·φ(s, a), where φ(s, a) has x in the column of a; less the v̂ of another critic."""

    def __init__(
        self,
        policy: Softmax,
        features: Features,
        alpha_q: float,
        alpha_h: float,
        lambda_: float,
        values: Values,
    ) -> None:
        self.policy, self.seen, self.lambda_, self.values = policy, Seen(features), lambda_, values
        self.alpha_q, self.alpha_h = alpha_q / self.seen.active, alpha_h / self.seen.active
        self.w, self.h, self.z = np.zeros((3, self.seen.len, policy.theta.shape[1]))

    @property
    def weights(self) -> dict[str, Array]:
        return {"q": self.w.ravel(), **self.values.weights}

    def advantages(self, x: Any) -> Array:
        return self.seen.vector(x) @ self.w - self.values.value(x)

    def learn(self, step: Step, rho: float) -> None:
        phi = np.outer(self.seen.vector(step.x), np.eye(self.w.shape[1])[step.action])
        mean = np.outer(self.seen.vector(step.x_next), self.policy.pi(step.x_next))
        delta = step.reward + step.gamma_next * (self.w * mean).sum() - (self.w * phi).sum()
        self.z = phi + step.gamma * self.lambda_ * rho * self.z
        correction = step.gamma_next * (1 - self.lambda_) * (self.z * self.h).sum() * mean
        self.w = self.w + self.alpha_q * (delta * self.z - correction)
        self.h = self.h + self.alpha_h * (delta * self.z - (phi * self.h).sum() * phi)
        self.values.learn(step, rho)


class Advantage:
    """â(s, a) = u·φ(s, a), regressed on the δ of another critic."""

    def __init__(self, policy: Softmax, features: Features, alpha_u: float, values: Values) -> None:
        self.seen, self.values = Seen(features), values
        self.alpha_u = alpha_u / self.seen.active
        self.u = np.zeros((self.seen.len, policy.theta.shape[1]))

    @property
    def weights(self) -> dict[str, Array]:
        return {"u": self.u.ravel(), **self.values.weights}

    def advantages(self, x: Any) -> Array:
        return self.seen.vector(x) @ self.u

    def learn(self, step: Step, rho: float) -> None:
        phi = np.outer(self.seen.vector(step.x), np.eye(self.u.shape[1])[step.action])
        self.u = self.u + self.alpha_u * (self.values.delta(step) - (self.u * phi).sum()) * phi
        self.values.learn(step, rho)


class ExactAdvantages(Exact):
    """q − v of the current policy."""

    def advantages(self, x: Any) -> Array:
        true = self.truth()
        return np.asarray(true.q[x] - true.v[x])


# --- Critics of slopes: ∂q/∂a at π(s) ---


class Compatible:
    """GQ(0) with the features x and (a − π(s)) x, side by side: q̂ = v·x + (a − π(s)) u·x."""

    def __init__(
        self, policy: Deterministic, features: Features, alpha_v: float, alpha_u: float, alpha_h: float
    ) -> None:
        self.policy, self.seen = policy, Seen(features)
        n = self.seen.len
        self.alpha = np.repeat([alpha_v, alpha_u], n) / self.seen.active
        self.alpha_h = alpha_h / self.seen.active
        self.w, self.h = np.zeros((2, 2 * n))

    @property
    def weights(self) -> dict[str, Array]:
        v, u = self.w.reshape(2, -1)
        return {"v": v, "u": u}

    def slope(self, x: Any) -> float:
        return float(self.weights["u"] @ self.seen.vector(x))

    def learn(self, step: Step) -> None:
        x, x_next = self.seen.vector(step.x), self.seen.vector(step.x_next)
        phi = np.concatenate([x, (step.action - self.policy.action(step.x)) * x])
        mean = np.concatenate([x_next, 0 * x_next])  # what the target would do is π(s) itself
        delta = step.reward + step.gamma_next * self.w @ mean - self.w @ phi
        self.w = self.w + self.alpha * (delta * phi - step.gamma_next * (phi @ self.h) * mean)
        self.h = self.h + self.alpha_h * (delta - phi @ self.h) * phi


class ExactSlopes(Exact):
    """∂q/∂a of the current policy."""

    def slope(self, x: Any) -> float:
        return float(self.truth().q[x])


# --- Actors: the step of θ before α. They see the weights before the critic learns, ψ is ∇ ln π ---


class Taken:
    """ρ_t M_t δ_t ψ_t."""

    weights: dict[str, Array] = {}

    def ascent(self, step: Step, rho: float, emphasis: float, critic: Values, score: Array) -> Array:
        return rho * emphasis * critic.delta(step) * score


class Trace(Taken):
    """δ_t e_t, with e_t = ρ_t (γ_t λ e_{t−1} + M_t ψ_t)."""

    def __init__(self, lambda_: float) -> None:
        self.lambda_, self.e = lambda_, np.zeros(())

    def ascent(self, step: Step, rho: float, emphasis: float, critic: Values, score: Array) -> Array:
        self.e = rho * (step.gamma * self.lambda_ * self.e + emphasis * score)
        return np.asarray(critic.delta(step) * self.e)


class GradientWeights:
    """Gᵀφ by TDRC: G ← G + α c (φ εᵀ − γ_{t+1} φ̄_{t+1} (φᵀH)), H ← H + α η (c φ (ε − Hᵀφ)ᵀ − β H). φ may have several axes."""

    def __init__(
        self, phi: tuple[int, ...], theta: tuple[int, ...], alpha: float, eta: float, beta: float
    ) -> None:
        self.axes, self.alpha, self.eta, self.beta = len(phi), alpha, eta, beta
        self.g, self.h = np.zeros((2, *phi, *theta))

    @property
    def weights(self) -> dict[str, Array]:
        return {"g": self.g}

    def of(self, phi: Array) -> Array:
        return np.tensordot(phi, self.g, self.axes)

    def learn(self, c: float, phi: Array, back: Array, error: Array) -> None:
        outer, correction = np.multiply.outer, np.tensordot(phi, self.h, self.axes)
        self.g = self.g + self.alpha * c * (outer(phi, error) - outer(back, correction))
        self.h = self.h + self.alpha * self.eta * (c * outer(phi, error - correction) - self.beta * self.h)


class GradientValues(Taken):
    """M_t Ĝ(S_t), where ε_t = δ_t ψ_t + γ_{t+1} Ĝ(S_{t+1}) − Ĝ(S_t), weighted by ρ_t."""

    def __init__(
        self, actor: catalogue.GradientValues, form: catalogue.Policy, theta: tuple[int, ...]
    ) -> None:
        self.seen = Seen(actor.features or form.features)
        alpha = actor.alpha_g / self.seen.active
        self.estimate = GradientWeights((self.seen.len,), theta, alpha, actor.eta, actor.beta)

    @property
    def weights(self) -> dict[str, Array]:  # type: ignore[override]
        return self.estimate.weights

    def ascent(self, step: Step, rho: float, emphasis: float, critic: Values, score: Array) -> Array:
        x, back = self.seen.vector(step.x), step.gamma_next * self.seen.vector(step.x_next)
        now = self.estimate.of(x)
        error = critic.delta(step) * score + self.estimate.of(back) - now
        self.estimate.learn(rho, x, back, error)
        return emphasis * now


class Counterfactual(Taken):
    """ρ_t M¹_t δ_t ψ_t + γ̂ i_t v̂(S_t) M²_t, with ĉ = u·x by COP-TD."""

    def __init__(self, actor: catalogue.CounterfactualGradient, form: catalogue.Policy) -> None:
        self.seen, self.actor = Seen(actor.features or form.features), actor
        self.u, self.mean = np.full(self.seen.len, 1 / self.seen.active), np.float64(1)
        # ρ, ĉ, F¹, F² and ψ of the step before.
        self.rho, self.c, self.f1 = 0.0, 0.0, 0.0
        self.f2: Array = np.zeros(())
        self.score: Array = np.zeros(())

    @property
    def weights(self) -> dict[str, Array]:  # type: ignore[override]
        return {"u": self.u}

    def ascent(self, step: Step, rho: float, emphasis: float, critic: Values, score: Array) -> Array:
        actor, x, goes_on = self.actor, self.seen.vector(step.x), step.gamma > 0
        target = goes_on * actor.gamma_hat * self.rho * self.c + 1 - actor.gamma_hat
        old = self.u @ x
        self.mean += 0.01 * (old - self.mean)
        error = target - old - actor.penalty * (self.mean - 1)
        self.u = self.u + actor.alpha_c / self.seen.active * error * x
        c = float(self.u @ x)

        i, first = step.interest * c, goes_on * self.c * self.rho * self.score
        self.f1 = step.gamma * self.rho * self.f1 + i
        self.f2 = goes_on * actor.gamma_hat * self.rho * self.f2 + first
        m1 = (1 - actor.lambda_1) * i + actor.lambda_1 * self.f1
        m2 = (1 - actor.lambda_2) * first + actor.lambda_2 * self.f2
        self.rho, self.c, self.score = rho, c, score
        value = critic.value(step.x)
        return rho * m1 * critic.delta(step) * score + actor.gamma_hat * step.interest * value * m2


ActionCritic = Union[GQ, Advantage, ExactAdvantages]


class EveryAction:
    """M_t g(S_t), with g(s) = Σ_b π(b|s) (q̂(s, b) − v̂(s)) ψ(s, b)."""

    weights: dict[str, Array] = {}

    def gradient(self, x: Any, policy: Softmax, critic: ActionCritic) -> Array:
        pi, advantages = policy.pi(x), critic.advantages(x)
        return np.asarray(sum(pi[b] * advantages[b] * policy.score(x, b) for b in range(len(pi))))

    def ascent(self, step: Step, emphasis: float, policy: Softmax, critic: ActionCritic) -> Array:
        return emphasis * self.gradient(step.x, policy, critic)


class GradientCritic(EveryAction):
    """M_t (g(S_t) + λ_a Γ̂(S_t, π)), where ε_t = γ_{t+1} (g(S_{t+1}) + Γ̂(S_{t+1}, π)) − Γ̂(S_t, A_t)."""

    def __init__(
        self, actor: catalogue.GradientCritic, form: catalogue.Policy, theta: tuple[int, ...]
    ) -> None:
        self.seen, self.lambda_a, self.actions = (
            Seen(actor.features or form.features),
            actor.lambda_a,
            theta[1],
        )
        alpha = actor.alpha_g / self.seen.active
        self.estimate = GradientWeights((self.seen.len, self.actions), theta, alpha, actor.eta, actor.beta)

    @property
    def weights(self) -> dict[str, Array]:  # type: ignore[override]
        return self.estimate.weights

    def ascent(self, step: Step, emphasis: float, policy: Softmax, critic: ActionCritic) -> Array:
        def mean(x: Any) -> Array:
            return np.outer(self.seen.vector(x), policy.pi(x))

        phi = np.outer(self.seen.vector(step.x), np.eye(self.actions)[step.action])
        after = self.gradient(step.x_next, policy, critic) + self.estimate.of(mean(step.x_next))
        error = step.gamma_next * after - self.estimate.of(phi)
        ascent = self.gradient(step.x, policy, critic) + self.lambda_a * self.estimate.of(mean(step.x))
        self.estimate.learn(1.0, phi, step.gamma_next * mean(step.x_next), error)
        return emphasis * ascent


# --- Learners. Each step gives (ρ_t, M_t, what the critic said of the action) ---

Told = tuple[float, float, float]


class ActorCritic:
    """θ ← θ + α times what the actor says, by default ρ_t M_t δ_t ∇ ln π(A_t|S_t)."""

    def __init__(
        self, policy: Softmax | Gaussian, critic: Values, emphasis: Emphasis, alpha: float, actor: Taken
    ) -> None:
        self.policy, self.critic, self.emphasis, self.actor = policy, critic, emphasis, actor
        self.alpha = alpha / policy.seen.active

    def step(self, step: Step) -> Told:
        policy = self.policy
        rho = policy.density(step.x, step.action) / step.mu
        emphasis, delta = self.emphasis.weigh(step, rho), self.critic.delta(step)
        score = policy.score(step.x, step.action)
        ascent = self.actor.ascent(step, rho, emphasis, self.critic, score)
        self.critic.learn(step, rho)
        policy.theta = policy.theta + self.alpha * ascent
        return rho, emphasis, delta


class AllActions:
    """θ ← θ + α times what the actor says, by default M_t Σ_b π(b|S_t) (q̂(S_t, b) − v̂(S_t)) ∇ ln π(b|S_t)."""

    def __init__(
        self, policy: Softmax, critic: ActionCritic, emphasis: Emphasis, alpha: float, actor: EveryAction
    ) -> None:
        self.policy, self.critic, self.emphasis, self.actor = policy, critic, emphasis, actor
        self.alpha = alpha / policy.seen.active

    def step(self, step: Step) -> Told:
        policy = self.policy
        pi, advantages = policy.pi(step.x), self.critic.advantages(step.x)
        rho = float(pi[step.action]) / step.mu
        emphasis = self.emphasis.weigh(step, rho)
        ascent = self.actor.ascent(step, emphasis, policy, self.critic)
        self.critic.learn(step, rho)
        policy.theta = policy.theta + self.alpha * ascent
        return rho, emphasis, float(advantages[step.action])


class DeterministicActorCritic:
    """θ ← θ + α M_t ∂q/∂a ∇π(S_t)."""

    def __init__(
        self, policy: Deterministic, critic: Compatible | ExactSlopes, emphasis: Emphasis, alpha: float
    ) -> None:
        self.policy, self.critic, self.emphasis = policy, critic, emphasis
        self.alpha = alpha / policy.seen.active

    def step(self, step: Step) -> Told:
        policy = self.policy
        emphasis, slope = self.emphasis.weigh(step, 1.0), self.critic.slope(step.x)
        self.critic.learn(step)
        policy.theta = policy.theta + self.alpha * emphasis * slope * policy.seen.vector(step.x)
        return 1.0, emphasis, slope


# --- From the parts of which the package makes a learner ---

Learner = Union[ActorCritic, AllActions, DeterministicActorCritic]


def learner(
    kind: Callable[..., emphatic.Learner],
    policy: catalogue.Policy,
    critic: catalogue.Critic,
    emphasis: catalogue.Emphasis,
    alpha: float,
    actor: catalogue.Actor | None,
) -> Learner:
    if isinstance(policy, catalogue.DeterministicLinear):
        action = Deterministic(policy.features)
        slopes = _slopes(critic, action, policy)
        return DeterministicActorCritic(action, slopes, _emphasis(emphasis, action), alpha)
    if isinstance(policy, catalogue.Gaussian):
        normal = Gaussian(policy.features)
        values, by_values = _values(critic, normal, policy), _by_values(actor, policy, normal.theta.shape)
        return ActorCritic(normal, values, _emphasis(emphasis, normal), alpha, by_values)
    softmax = Softmax(policy.features, policy.actions)
    if kind is emphatic.AllActions:
        every = _by_actions(actor, policy, softmax.theta.shape)
        return AllActions(
            softmax, _advantages(critic, softmax, policy), _emphasis(emphasis, softmax), alpha, every
        )
    values, by_values = _values(critic, softmax, policy), _by_values(actor, policy, softmax.theta.shape)
    return ActorCritic(softmax, values, _emphasis(emphasis, softmax), alpha, by_values)


def _by_values(actor: catalogue.Actor | None, form: catalogue.Policy, theta: tuple[int, ...]) -> Taken:
    if isinstance(actor, catalogue.ActorTrace):
        return Trace(actor.lambda_)
    if isinstance(actor, catalogue.GradientValues):
        return GradientValues(actor, form, theta)
    if isinstance(actor, catalogue.CounterfactualGradient):
        return Counterfactual(actor, form)
    assert actor is None
    return Taken()


def _by_actions(actor: catalogue.Actor | None, form: catalogue.Policy, theta: tuple[int, ...]) -> EveryAction:
    if isinstance(actor, catalogue.GradientCritic):
        return GradientCritic(actor, form, theta)
    assert actor is None
    return EveryAction()


def _emphasis(emphasis: catalogue.Emphasis, policy: Policy) -> Emphasis:
    if isinstance(emphasis, catalogue.ExactEmphasis):
        return ExactEmphasis(_model(emphasis.problem), policy)
    return FollowOn(emphasis.lambda_a) if isinstance(emphasis, catalogue.FollowOn) else NoEmphasis()


def _model(problem: emphatic.Problem) -> Model:
    return Finite(problem) if problem.actions else Continuous(problem)


def _values(critic: catalogue.Critic, policy: Policy, form: catalogue.Policy) -> Values:
    if isinstance(critic, catalogue.ExactCritic):
        return ExactValues(_model(critic.problem), policy)
    assert isinstance(critic, catalogue.GTD)
    return GTD(critic.features or form.features, critic.alpha_v, critic.alpha_w, critic.lambda_)


def _advantages(critic: catalogue.Critic, policy: Softmax, form: catalogue.Policy) -> ActionCritic:
    if isinstance(critic, catalogue.ExactCritic):
        return ExactAdvantages(Finite(critic.problem), policy)
    if isinstance(critic, catalogue.Advantage):
        values = _values(critic.values, policy, form)
        return Advantage(policy, critic.features or form.features, critic.alpha_u, values)
    assert isinstance(critic, catalogue.GQ)
    step_sizes, values = (critic.alpha_q, critic.alpha_h), _values(critic.values, policy, form)
    return GQ(policy, critic.features or form.features, *step_sizes, critic.lambda_q, values)


def _slopes(
    critic: catalogue.Critic, policy: Deterministic, form: catalogue.Policy
) -> Compatible | ExactSlopes:
    if isinstance(critic, catalogue.ExactCritic):
        return ExactSlopes(Continuous(critic.problem), policy)
    assert isinstance(critic, catalogue.Compatible)
    step_sizes = (critic.alpha_v, critic.alpha_u, critic.alpha_h)
    return Compatible(policy, critic.features or form.features, *step_sizes)
