"""The policies, critics and emphases that there are. Written by `cargo xtask generate` from the catalogue: change that, not this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Union

from .parts import REQUIRED, Features, Part

if TYPE_CHECKING:
    from .problem import Problem

__all__ = [
    "Advantage",
    "Compatible",
    "DeterministicLinear",
    "ExactCritic",
    "ExactEmphasis",
    "FollowOn",
    "GQ",
    "GTD",
    "Gaussian",
    "NoEmphasis",
    "Softmax",
]

# --- Policies: how to act ---


@dataclass(frozen=True, repr=False)
class Softmax(Part):
    """Finitely many actions, with probabilities proportional to exp(x·θ_a).

    Source: Degris, White and Sutton 2012.

    `features`: what it sees of a state.
    `actions`: the number of actions.
    """

    features: Features
    actions: int

    _kind: ClassVar[str] = "softmax"
    _acts: ClassVar[str] = "finite"


@dataclass(frozen=True, repr=False)
class Gaussian(Part):
    """A real action with mean x·θ₀ and standard deviation softplus(x·θ₁).

    Source: Degris, White and Sutton 2012.

    `features`: what it sees of a state.
    """

    features: Features

    _kind: ClassVar[str] = "gaussian"
    _acts: ClassVar[str] = "real"


@dataclass(frozen=True, repr=False)
class DeterministicLinear(Part):
    """The action x·θ.

    Source: Silver et al. 2014.

    `features`: what it sees of a state.
    """

    features: Features

    _kind: ClassVar[str] = "deterministic"
    _acts: ClassVar[str] = "deterministic"


# --- Critics: how good was it? ---


@dataclass(frozen=True, repr=False)
class GTD(Part):
    """GTD(λ): gradient temporal-difference learning of v̂.

    Source: Maei 2011.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_w`: step-size of w, the second weights.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_v: float
    alpha_w: float
    lambda_: float = 0.0
    features: Features | None = None

    _kind: ClassVar[str] = "gtd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)


@dataclass(frozen=True, repr=False)
class GQ(Part):
    """q̂(s,b) by GQ(λ), less the v̂ of another critic.

    Source: Maei and Sutton 2010.

    `alpha_q`: step-size of the action-values.
    `alpha_h`: step-size of h, the second weights.
    `lambda_q`: λ of the trace of the action-values.
    `values`: the critic of values that gives the baseline v̂.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_q: float
    alpha_h: float
    lambda_q: float = 0.0
    values: ValueCritic = REQUIRED
    features: Features | None = None

    _kind: ClassVar[str] = "gq"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[str, str] | None] = ("values", "delta")


@dataclass(frozen=True, repr=False)
class Advantage(Part):
    """The advantage of each action, regressed on the δ of another critic.

    Source: Imani, Graves and White 2018.

    `alpha_u`: step-size of u, the weights of the advantage.
    `values`: the critic of values whose δ is learned from.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_u: float
    values: ValueCritic
    features: Features | None = None

    _kind: ClassVar[str] = "advantage"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[str, str] | None] = ("values", "delta")


@dataclass(frozen=True, repr=False)
class Compatible(Part):
    """q̂(s,a) = v·x + (a − π(s)) u·x by GQ(0), for deterministic policies.

    Source: Silver et al. 2014 (COPDAC-GQ), with second weights for all features.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_u`: step-size of u, the weights of the slope.
    `alpha_h`: step-size of h, the second weights.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_v: float
    alpha_u: float
    alpha_h: float
    features: Features | None = None

    _kind: ClassVar[str] = "compatible"
    _tells: ClassVar[tuple[str, ...]] = ("slope",)


@dataclass(frozen=True, repr=False)
class ExactCritic(Part):
    """v, q or ∂q/∂a of the current policy, computed from the problem itself.

    Source: Imani, Graves and White 2018.

    `problem`: the problem that it knows.
    """

    problem: Problem

    _kind: ClassVar[str] = "exact"
    _tells: ClassVar[tuple[str, ...]] = ("delta", "advantages", "slope")


# --- Emphases: how much does a state count? ---


@dataclass(frozen=True, repr=False)
class NoEmphasis(Part):
    """Every state counts by its interest: the semi-gradient of OffPAC and DPG.

    Source: Degris, White and Sutton 2012.
    """

    _kind: ClassVar[str] = "none"


@dataclass(frozen=True, repr=False)
class FollowOn(Part):
    """The follow-on trace: F_t = γ_t ρ_{t−1} F_{t−1} + i_t and M_t = (1 − λ_a) i_t + λ_a F_t.

    Source: Sutton, Mahmood and White 2016; Imani, Graves and White 2018.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    lambda_a: float = 0.9

    _kind: ClassVar[str] = "follow-on"


@dataclass(frozen=True, repr=False)
class ExactEmphasis(Part):
    """m(S_t)/d_μ(S_t) of the current policy, computed from the problem itself.

    Source: Imani, Graves and White 2018 (True-ACE, True-DPGE).

    `problem`: the problem that it knows.
    """

    problem: Problem

    _kind: ClassVar[str] = "exact"


# --- What each kind of learner takes ---

Policy = Union[Softmax, Gaussian, DeterministicLinear]
StochasticPolicy = Union[Softmax, Gaussian]
FinitePolicy = Softmax
DeterministicPolicy = DeterministicLinear
Critic = Union[GTD, GQ, Advantage, Compatible, ExactCritic]
ValueCritic = Union[GTD, ExactCritic]
ActionCritic = Union[GQ, Advantage, ExactCritic]
SlopeCritic = Union[Compatible, ExactCritic]
Emphasis = Union[NoEmphasis, FollowOn, ExactEmphasis]
RatioFreeEmphasis = Union[NoEmphasis, ExactEmphasis]

# By role and by name in files.
PARTS: dict[str, dict[str, type[Part]]] = {
    "policy": {
        "softmax": Softmax,
        "gaussian": Gaussian,
        "deterministic": DeterministicLinear,
    },
    "critic": {
        "gtd": GTD,
        "gq": GQ,
        "advantage": Advantage,
        "compatible": Compatible,
        "exact": ExactCritic,
    },
    "emphasis": {
        "none": NoEmphasis,
        "follow-on": FollowOn,
        "exact": ExactEmphasis,
    },
}
