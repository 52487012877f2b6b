"""The bases, policies, critics, emphases, actors and schedules that there are. Written by `cargo xtask generate` from the catalogue: change that, not this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Union

from numpy.typing import ArrayLike

from .bases import Basis, Setting
from .parts import REQUIRED, Features, Inner, Part
from .tiles import TileCoding

if TYPE_CHECKING:
    from .problem import Problem

__all__ = [
    "ABTD",
    "ActorTrace",
    "Advantage",
    "COPTD",
    "Clipped",
    "Compatible",
    "Constant",
    "CounterfactualGradient",
    "Decayed",
    "DeterministicLinear",
    "Direct",
    "ELSTD",
    "ETD",
    "ExactCritic",
    "ExactEmphasis",
    "ExpectedTDRC",
    "FollowOn",
    "FourierBasis",
    "GEM",
    "GQ",
    "GTD",
    "GTD2",
    "Gaussian",
    "GradientCritic",
    "GradientDICE",
    "GradientValues",
    "HTD",
    "Ideal",
    "LC",
    "LSTD",
    "LSTDEmphasis",
    "LSTDQ",
    "LambdaReturn",
    "ModelCritic",
    "ModelEmphasis",
    "ModelGradient",
    "NStep",
    "NoEmphasis",
    "Normalised",
    "ObservationBasis",
    "OneHotBasis",
    "PerFeature",
    "Periodic",
    "Polynomial",
    "PolynomialBasis",
    "ProximalGTD2",
    "RadialBasis",
    "Retrace",
    "Softmax",
    "TD",
    "TDERC",
    "TDRC",
    "TileCoder",
    "TreeBackup",
    "TrueOnlineETD",
    "Truncated",
    "VTrace",
    "XETD",
]

# --- Bases: features of observations ---


class TileCoder(TileCoding):
    """Tile coding: the tiles in which an observation lies, one of each tiling.

    Source: Sutton and Barto 2018, section 9.5.4.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `tiles`: how many tiles span the bounds.
    `tilings`: how many grids, each displaced by a part of a tile.
    `bias`: whether the last feature is one in every state.
    `displacement`: by how many parts of a tile a tiling is displaced from the one before; left out, [1, 3, 5, …].
    `wraps`: whether `high` is `low` again, as with angles.
    `outside`: what happens out of bounds: `clip` moves an observation to the edge, `refuse` is an error, `go-on` has more tiles there (and needs `memory`).
    `edge_tile`: whether an observation exactly at the upper bound has the tile beyond the last.
    `memory`: by how many features tiles are represented, through hashing; 0 is one for each tile.
    """

    tiles: tuple[int, ...]
    tilings: int
    bias: bool
    displacement: tuple[int, ...] | None
    wraps: tuple[bool, ...]
    outside: Literal["clip", "refuse", "go-on"]
    edge_tile: bool
    memory: int

    _kind: ClassVar[str] = "tiles"
    _settings: ClassVar[dict[str, Setting]] = {
        "tiles": ("counts", None),
        "tilings": ("count", None),
        "bias": ("flag", False),
        "displacement": ("counts", None),
        "wraps": ("flags", False),
        "outside": ("word", "clip"),
        "edge_tile": ("flag", False),
        "memory": ("whole", 0),
    }

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        tiles: int | Sequence[int],
        tilings: int,
        *,
        bias: bool = False,
        displacement: int | Sequence[int] | None = None,
        wraps: bool | Sequence[bool] = False,
        outside: Literal["clip", "refuse", "go-on"] = "clip",
        edge_tile: bool = False,
        memory: int = 0,
    ) -> None:
        self._set(
            low=low,
            high=high,
            tiles=tiles,
            tilings=tilings,
            bias=bias,
            displacement=displacement,
            wraps=wraps,
            outside=outside,
            edge_tile=edge_tile,
            memory=memory,
        )


class FourierBasis(Basis):
    """Cosines of growing frequency, of the observation scaled to [0, 1].

    Source: Konidaris, Osentoski and Thomas 2011.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `order`: the largest frequency, in half waves across the bounds.
    `coupled`: whether a cosine may depend on several dimensions at once.
    """

    order: int
    coupled: bool

    _kind: ClassVar[str] = "fourier"
    _settings: ClassVar[dict[str, Setting]] = {"order": ("count", None), "coupled": ("flag", True)}

    def __init__(self, low: ArrayLike, high: ArrayLike, order: int, *, coupled: bool = True) -> None:
        self._set(low=low, high=high, order=order, coupled=coupled)


class RadialBasis(Basis):
    """Radial basis functions: Gaussian bumps around the points of a grid.

    Source: Sutton and Barto 2018, section 9.5.5.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `centres`: how many centres each dimension has, the first and the last at its bounds.
    `width`: the standard deviation of a bump, in distances between centres.
    `normalised`: whether the bumps are divided by their sum.
    `bias`: whether the last feature is one in every state.
    `wraps`: whether `high` is `low` again, as with angles.
    """

    centres: tuple[int, ...]
    width: float
    normalised: bool
    bias: bool
    wraps: tuple[bool, ...]

    _kind: ClassVar[str] = "radial"
    _settings: ClassVar[dict[str, Setting]] = {
        "centres": ("counts", None),
        "width": ("positive", 1.0),
        "normalised": ("flag", False),
        "bias": ("flag", False),
        "wraps": ("flags", False),
    }

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        centres: int | Sequence[int],
        *,
        width: float = 1.0,
        normalised: bool = False,
        bias: bool = False,
        wraps: bool | Sequence[bool] = False,
    ) -> None:
        self._set(
            low=low,
            high=high,
            centres=centres,
            width=width,
            normalised=normalised,
            bias=bias,
            wraps=wraps,
        )


class PolynomialBasis(Basis):
    """Products of powers up to a degree, of the observation scaled to [−1, 1].

    Source: Sutton and Barto 2018, section 9.5.1.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `degree`: the largest sum of the exponents.
    """

    degree: int

    _kind: ClassVar[str] = "polynomial"
    _settings: ClassVar[dict[str, Setting]] = {"degree": ("count", None)}

    def __init__(self, low: ArrayLike, high: ArrayLike, degree: int) -> None:
        self._set(low=low, high=high, degree=degree)


class OneHotBasis(Basis):
    """One feature for each value, of an observation of whole numbers.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `bias`: whether the last feature is one in every state.
    """

    bias: bool

    _kind: ClassVar[str] = "one-hot"
    _settings: ClassVar[dict[str, Setting]] = {"bias": ("flag", False)}

    def __init__(self, low: ArrayLike, high: ArrayLike, *, bias: bool = False) -> None:
        self._set(low=low, high=high, bias=bias)


class ObservationBasis(Basis):
    """The observation itself, scaled.

    `low`: the least value of each dimension.
    `high`: the largest value of each dimension.
    `scale`: `range` scales the bounds to −1 and 1, `norm` the whole observation to a length of one, `none` leaves it as it is.
    `bias`: whether the last feature is one in every state.
    """

    scale: Literal["range", "norm", "none"]
    bias: bool

    _kind: ClassVar[str] = "observation"
    _settings: ClassVar[dict[str, Setting]] = {"scale": ("word", "range"), "bias": ("flag", False)}

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        *,
        scale: Literal["range", "norm", "none"] = "range",
        bias: bool = False,
    ) -> None:
        self._set(low=low, high=high, scale=scale, bias=bias)


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

    _role: ClassVar[str] = "policy"
    _kind: ClassVar[str] = "softmax"
    _acts: ClassVar[str] = "finite"


@dataclass(frozen=True, repr=False)
class Gaussian(Part):
    """A real action with mean x·θ₀ and standard deviation softplus(x·θ₁).

    Source: Degris, White and Sutton 2012.

    `features`: what it sees of a state.
    """

    features: Features

    _role: ClassVar[str] = "policy"
    _kind: ClassVar[str] = "gaussian"
    _acts: ClassVar[str] = "real"


@dataclass(frozen=True, repr=False)
class DeterministicLinear(Part):
    """The action x·θ.

    Source: Silver et al. 2014.

    `features`: what it sees of a state.
    """

    features: Features

    _role: ClassVar[str] = "policy"
    _kind: ClassVar[str] = "deterministic"
    _acts: ClassVar[str] = "deterministic"


# --- Schedules: how large is a step? ---


@dataclass(frozen=True, repr=False)
class Constant(Part):
    """The same step-size at every step, divided by the number of active features."""

    _role: ClassVar[str] = "schedule"
    _kind: ClassVar[str] = "constant"


@dataclass(frozen=True, repr=False)
class Polynomial(Part):
    """Falls with the steps: max(floor, (1 + t/T)^−p), divided by the number of active features.

    `power`: p: 0 is constant, 1 falls fastest.
    `over`: T: after this many steps the step-size has fallen to 2^−p of what it was.
    `floor`: the share of the step-size that is never fallen below.
    """

    power: float = 0.5
    over: int = 1000
    floor: float = 0.0

    _role: ClassVar[str] = "schedule"
    _kind: ClassVar[str] = "polynomial"


@dataclass(frozen=True, repr=False)
class PerFeature(Part):
    """Falls with how often each feature was active: max(floor, n_j^−p), divided by the square of the features' length.

    `power`: p: 0 is constant, 1 is the mean of all that was seen.
    `floor`: the share of the step-size that is never fallen below.
    """

    power: float = 0.5
    floor: float = 0.02

    _role: ClassVar[str] = "schedule"
    _kind: ClassVar[str] = "per-feature"


# --- Emphases: how much does a state count? ---


@dataclass(frozen=True, repr=False)
class NoEmphasis(Part):
    """Every state counts by its interest: the semi-gradient of OffPAC and DPG.

    Source: Degris, White and Sutton 2012.
    """

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "none"


@dataclass(frozen=True, repr=False)
class FollowOn(Part):
    """The follow-on trace: F_t = γ_t ρ_{t−1} F_{t−1} + i_t and M_t = (1 − λ_a) i_t + λ_a F_t.

    Source: Sutton, Mahmood and White 2016; Imani, Graves and White 2018.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    lambda_a: float = 0.9

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "follow-on"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Ideal(Part):
    """The follow-on trace, recomputed at every step from the episode's start with the ratios of the current policy.

    Source: Graves, Imani, Kumaraswamy and White 2023.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `most`: how many steps of an episode are remembered at most; each costs a probability at every step.
    """

    lambda_a: float = 1.0
    most: int = 1000

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "ideal"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Normalised(Part):
    """The follow-on trace with less interest: F_t = γ_t ρ_{t−1} F_{t−1} + (1 − γ_t) i_t.

    Source: Graves, Imani, Kumaraswamy and White 2023.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    lambda_a: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "normalised"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Truncated(Part):
    """The follow-on trace, truncated to the last n steps.

    Source: Zhang and Whiteson 2022.

    `n`: how many steps it looks back.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    n: int
    lambda_a: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "truncated"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Periodic(Part):
    """The follow-on trace, restarted every few steps; only the last step of each period counts.

    Source: Guan, Xu and Liang 2022 (PER-ETD).

    `period`: after how many steps the trace starts anew; 1 is no emphasis.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    period: int
    lambda_a: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "periodic"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class NStep(Part):
    """The n-step trace: F_t = γ_t ρ_{t−1} ⋯ γ_{t−n+1} ρ_{t−n} F_{t−n} + i_t.

    Source: Jiang, Zahavy, Xu, White, Hessel, Blundell and van Hasselt 2021 (NETD).

    `n`: how many steps lie between a trace and the one it is made from; 1 is the follow-on trace.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    n: int
    lambda_a: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "n-step"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Decayed(Part):
    """The follow-on trace that decays by β: F_t = β ρ_{t−1} F_{t−1} + i_t, anew where an episode starts.

    Source: Hallak, Tamar, Munos and Mannor 2016.

    `beta`: β: by what the trace decays in place of γ; 0 is no emphasis.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    """

    beta: float
    lambda_a: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "decayed"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class LC(Part):
    """The trace of LC-ETD: F_t = (1 − c_t) ρ_{t−1} F_{t−1} + c_t i_t, with c_t that falls, toward the target's own states.

    Source: He, Che, Wan and Mahmood 2023.

    `beta`: β: how fast c_t, the share of what is new, falls.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `variant`: which c_t: 1 is (1 − β) t^−β, 2 is t^−β, 3 is (1 − β)/t.
    """

    beta: float
    lambda_a: float = 1.0
    variant: int = 1

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "lc"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class Clipped(Part):
    """The follow-on trace with clipped ratios: F_t = γ_t min(ρ_{t−1}, ρ_max) F_{t−1} + i_t.

    Source: Jiang, Zahavy, Xu, White, Hessel, Blundell and van Hasselt 2021.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `rho_max`: the largest ratio; larger ones are clipped to it.
    """

    lambda_a: float = 1.0
    rho_max: float = 1.0

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "clipped"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class LambdaReturn(Part):
    """The emphasis learned through its λ-return, which falls back to TDERC where that is not stable: the default.

    Source: here; after Graves, Imani, Kumaraswamy and White 2023, and Cao, Feng, Wang and Li 2023.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `lambda_e`: λ_e of the return: its variance is finite exactly for λ_e below 1/√r, with the r that `emphatic diagnose` shows.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `alpha_u`: step-size of u.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    lambda_a: float = 1.0
    lambda_e: float = 0.5
    read: float = 1.0
    alpha_u: float = 1.0
    features: Features | None = None
    schedule: Schedule = PerFeature()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "lambda-return"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class Direct(Part):
    """û(s) = u·x(s) regressed on its return, F_t = i_t + γ_t ρ_{t−1} ((1 − λ_e) û(S_{t−1}) + λ_e F_{t−1}).

    Source: Graves, Imani, Kumaraswamy and White 2023.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `lambda_e`: λ_e of the return: 1 is the follow-on trace, 0 looks one step back.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `least`: the share that is at least the interest; 0 reads estimates as they are, also negative ones.
    `alpha_u`: step-size of u.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    lambda_a: float = 1.0
    lambda_e: float = 0.5
    read: float = 1.0
    least: float = 1.0
    alpha_u: float = 1.0
    features: Features | None = None
    schedule: Schedule = PerFeature()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "direct"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class TDERC(Part):
    """û(s) = u·x(s) by time-reversed TD with a regularised gradient correction.

    Source: Cao, Feng, Wang and Li 2023.

    `alpha_u`: step-size of u.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `lambda_e`: λ_e of the return: 1 is the follow-on trace, 0 looks one step back.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `eta`: the step-size of κ, the second weights, as a multiple of that of u.
    `beta`: how strongly κ is drawn to zero: 0 is TDEC, much is `direct`.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_u: float
    lambda_a: float = 1.0
    lambda_e: float = 0.0
    read: float = 1.0
    eta: float = 1.0
    beta: float = 1.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "tderc"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class GEM(Part):
    """û(s) = u·x(s) by gradient emphasis learning: GTD2 on the time-reversed chain.

    Source: Zhang, Liu, Yao and Whiteson 2020.

    `alpha_u`: step-size of u.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `lambda_e`: λ_e of the return: 1 is the follow-on trace, 0 looks one step back.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `eta`: the step-size of κ, the second weights, as a multiple of that of u.
    `ridge`: how strongly u is drawn to zero, for a policy that changes.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_u: float
    lambda_a: float = 1.0
    lambda_e: float = 0.0
    read: float = 0.0
    eta: float = 1.0
    ridge: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "gem"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class LSTDEmphasis(Part):
    """û(s) = u·x(s) by least squares on the time-reversed chain, with forgetting.

    Source: after Bradtke and Barto 1996, on the time-reversed chain.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `lambda_e`: λ_e of the return: 1 is the follow-on trace, 0 looks one step back.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `forgetting`: the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays.
    `solve_every`: after how many steps u is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    lambda_a: float = 1.0
    lambda_e: float = 0.5
    read: float = 1.0
    forgetting: float = 0.0
    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "lstd"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)


@dataclass(frozen=True, repr=False)
class XETD(Part):
    """û(s) = u·x(s) by time-reversed n-step TD, with a share β of the sampled trace.

    Source: Jiang, Zhang, Chelu, White and van Hasselt 2022.

    `n`: how many steps lie between a trace and what it is made from.
    `alpha_u`: step-size of u.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `beta`: β: the share of the sampled trace; 0 is the learned one alone.
    `read`: the share of the trace F_t in what is read; 0 reads û(S_t).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    n: int
    alpha_u: float
    lambda_a: float = 1.0
    beta: float = 0.0
    read: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "x-etd"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ModelEmphasis(Part):
    """û(s) = u·x(s), solved for from a learned model of γ_{t+1} x_{t+1} and the current policy, without ratios.

    Source: here.

    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `solve_every`: after how many steps u is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    lambda_a: float = 1.0
    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "model"
    _needs: ClassVar[tuple[str, ...]] = ("finite",)


@dataclass(frozen=True, repr=False)
class GradientDICE(Part):
    """The discounted density ratio (1 − γ̂) m/d_μ, linear in features, by GradientDICE.

    Source: Zhang, Liu and Whiteson 2020.

    `gamma`: the discount γ̂ by which the ratio is normalised.
    `alpha_u`: step-size of u.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `read`: the share of the return F_t in what is read; 0 reads û(S_t).
    `penalty`: how strongly the ratio's mean is drawn to that of the interest; 0 where discounts vary or episodes end.
    `eta`: the step-size of κ, the second weights, and of the multiplier of the mean, as a multiple of that of u.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    gamma: float
    alpha_u: float
    lambda_a: float = 1.0
    read: float = 0.0
    penalty: float = 1.0
    eta: float = 1.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "gradient-dice"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class COPTD(Part):
    """The discounted density ratio ĉ(s) = u·x(s), learned toward γ̂ ρ_{t−1} ĉ(S_{t−1}) + 1 − γ̂.

    Source: Hallak and Mannor 2017; Gelada and Bellemare 2019.

    `gamma`: the discount γ̂ of the ratio; 1 is COP-TD, the ratio of d_π to d_μ, for tasks that never end.
    `alpha_u`: step-size of u.
    `lambda_a`: λ_a: 1 is full emphasis, 0 none.
    `read`: the share of the return in what is read; 0 reads ĉ(S_t).
    `penalty`: how strongly the ratio's mean is drawn to 1: γ̂ near 1 needs it.
    `alpha_n`: step-size of ν, the running mean of the ratio.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    gamma: float
    alpha_u: float
    lambda_a: float = 1.0
    read: float = 0.0
    penalty: float = 0.0
    alpha_n: float = 0.01
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "cop-td"
    _needs: ClassVar[tuple[str, ...]] = ("ratio",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ExactEmphasis(Part):
    """m(S_t)/d_μ(S_t) of the current policy, computed from the problem itself.

    Source: Imani, Graves and White 2018 (True-ACE, True-DPGE).

    `problem`: the problem that it knows.
    """

    problem: Problem

    _role: ClassVar[str] = "emphasis"
    _kind: ClassVar[str] = "exact"
    _needs: ClassVar[tuple[str, ...]] = ("problem",)


# --- Critics: how good was it? ---


@dataclass(frozen=True, repr=False)
class TD(Part):
    """off-policy TD(λ): the semi-gradient, which can diverge with function approximation.

    Source: Precup, Sutton and Dasgupta 2001.

    `alpha_v`: step-size of v, the weights of the values.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "td"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class GTD(Part):
    """GTD(λ): gradient temporal-difference learning of v̂.

    Source: Maei 2011.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_w`: step-size of w, the second weights.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    alpha_w: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "gtd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class GTD2(Part):
    """GTD2(λ): as GTD(λ), but v learns from its second weights alone.

    Source: Sutton et al. 2009; Maei 2011.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_w`: step-size of w, the second weights.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    alpha_w: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "gtd2"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ProximalGTD2(Part):
    """Proximal GTD2(λ): GTD2(λ) with the gradient at the point that a first step leads to.

    Source: Liu et al. 2015 (GTD2-MP).

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_w`: step-size of w, the second weights.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    alpha_w: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "proximal-gtd2"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class TDRC(Part):
    """TDRC(λ): TD with a regularised gradient correction; its defaults need no tuning.

    Source: Ghiassian et al. 2020.

    `alpha_v`: step-size of v, the weights of the values.
    `eta`: η: the step-size of w, the second weights, as a multiple of that of v.
    `beta`: β: how strongly w is drawn to zero; 0 is GTD(λ), much is TD(λ).
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    eta: float = 1.0
    beta: float = 1.0
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "tdrc"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class HTD(Part):
    """HTD(λ): gradient temporal-difference learning that is TD(λ) where the target acts like the behaviour.

    Source: Hackman 2012; White and White 2016.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_w`: step-size of w, the second weights.
    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    alpha_w: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "htd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class VTrace(Part):
    """V-trace, by a trace: ratios are cut, so that the variance is bounded and the values are biased.

    Source: Espeholt et al. 2018.

    `alpha_v`: step-size of v, the weights of the values.
    `rho_max`: ρ̄: the ratio of δ is cut at this; if it cuts, the values are those of a policy between μ and π.
    `c_max`: c̄: the ratios in the trace are cut at this.
    `lambda_`: λ of the trace: 1 is the longest trace (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    rho_max: float = 1.0
    c_max: float = 1.0
    lambda_: float = 1.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "v-trace"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class TreeBackup(Part):
    """Tree backup: the trace decays by π in place of ρ.

    Source: Precup, Sutton and Singh 2000.

    `alpha_v`: step-size of v, the weights of the values.
    `lambda_`: λ of the trace: 1 is the longest trace (it has nothing to do with λ_a).
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "tree-backup"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ABTD(Part):
    """ABTD(ζ): a trace without ratios, by a λ that depends on the action.

    Source: Mahmood, Yu and Sutton 2017.

    `alpha_v`: step-size of v, the weights of the values.
    `zeta`: ζ: how much is bootstrapped; 0 is everything, 1 as little as ξ_max allows.
    `xi_0`: ξ_0: the bound on ν at ζ = ½.
    `xi_max`: ξ_max: the bound on ν at ζ = 1.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    zeta: float
    xi_0: float = 1.0
    xi_max: float = 2.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "abtd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ETD(Part):
    """ETD(λ): emphatic TD, stable off-policy with the follow-on trace as its F; any other emphasis may take its place.

    Source: Sutton, Mahmood and White 2016.

    `alpha_v`: step-size of v, the weights of the values.
    `lambda_`: λ of the trace: 1 means full returns, and that only the interest counts, not the emphasis.
    `features`: what it sees of a state; left out, what the policy sees.
    `emphasis`: the emphasis that gives F_t. Its `lambda_a`, if it has one, is 1: no other can be given.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    lambda_: float = 0.0
    features: Features | None = None
    emphasis: Emphasis = FollowOn(lambda_a=1.0)
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "etd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("emphasis", "emphasis", None), ("schedule", "schedule", None))


@dataclass(frozen=True, repr=False)
class TrueOnlineETD(Part):
    """true-online ETD(λ): what ETD(λ) approximates, exactly, with the follow-on trace.

    Source: Sutton 2015.

    `alpha_v`: step-size of v, the weights of the values.
    `lambda_`: λ of the trace: 1 means full returns, and that only the interest counts, not the follow-on trace.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    lambda_: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "true-online-etd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class LSTD(Part):
    """LSTD(λ): v̂ by least squares, without a step-size, with forgetting.

    Source: Bradtke and Barto 1996; Boyan 2002; Yu 2010.

    `lambda_`: λ of the trace: 1 means full returns (it has nothing to do with λ_a).
    `forgetting`: the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays.
    `solve_every`: after how many steps v is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    lambda_: float = 0.0
    forgetting: float = 0.0
    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "lstd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)


@dataclass(frozen=True, repr=False)
class ELSTD(Part):
    """ELSTD(λ): the solution of ETD(λ) by least squares, without a step-size, with forgetting.

    Source: Yu 2015.

    `lambda_`: λ of the trace: 1 means full returns, and that only the interest counts, not the emphasis.
    `forgetting`: the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays.
    `solve_every`: after how many steps v is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    `emphasis`: the emphasis that gives F_t. Its `lambda_a`, if it has one, is 1: no other can be given.
    """

    lambda_: float = 0.0
    forgetting: float = 0.0
    solve_every: int = 100
    features: Features | None = None
    emphasis: Emphasis = FollowOn(lambda_a=1.0)

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "elstd"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _inner: ClassVar[tuple[Inner, ...]] = (("emphasis", "emphasis", None),)


@dataclass(frozen=True, repr=False)
class GQ(Part):
    """q̂(s,b) by GQ(λ), less the v̂ of another critic.

    Source: Maei and Sutton 2010.

    `alpha_q`: step-size of the action-values.
    `alpha_h`: step-size of h, the second weights.
    `lambda_q`: λ of the trace of the action-values.
    `values`: the critic of values that gives the baseline v̂.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_q: float
    alpha_h: float
    lambda_q: float = 0.0
    values: ValueCritic = REQUIRED
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "gq"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[Inner, ...]] = (("values", "critic", "delta"), ("schedule", "schedule", None))


@dataclass(frozen=True, repr=False)
class Advantage(Part):
    """The advantage of each action, regressed on the δ of another critic.

    Source: Imani, Graves and White 2018.

    `alpha_u`: step-size of u, the weights of the advantage.
    `values`: the critic of values whose δ is learned from.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_u: float
    values: ValueCritic
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "advantage"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[Inner, ...]] = (("values", "critic", "delta"), ("schedule", "schedule", None))


@dataclass(frozen=True, repr=False)
class Retrace(Part):
    """q̂(s,b) by Retrace(λ): ratios in the trace are cut at 1, and all actions are expected.

    Source: Munos, Stepleton, Harutyunyan and Bellemare 2016.

    `alpha_q`: step-size of the action-values.
    `lambda_q`: λ of the trace of the action-values: 1 means the longest.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_q: float
    lambda_q: float = 1.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "retrace"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ExpectedTDRC(Part):
    """q̂(s,b) by GQ(λ) with a regularised gradient correction; its defaults need no tuning.

    Source: after Ghiassian et al. 2020.

    `alpha_q`: step-size of the action-values.
    `eta`: η: the step-size of h, the second weights, as a multiple of that of the action-values.
    `beta`: β: how strongly h is drawn to zero; 0 is GQ(λ).
    `lambda_q`: λ of the trace of the action-values.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_q: float
    eta: float = 1.0
    beta: float = 1.0
    lambda_q: float = 0.0
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "expected-tdrc"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class LSTDQ(Part):
    """q̂(s,b) by least squares, without a step-size, with forgetting.

    Source: Lagoudakis and Parr 2003.

    `lambda_q`: λ of the trace of the action-values.
    `forgetting`: the share of the past that each step forgets: old policies are stale; 0 for a policy that stays.
    `solve_every`: after how many steps the weights are solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    lambda_q: float = 0.0
    forgetting: float = 0.0
    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "lstd-q"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)


@dataclass(frozen=True, repr=False)
class ModelCritic(Part):
    """q̂(s,b) from a learned one-step model, with the policy as it was when a feature was last active: no ratio, no step-size; for one-hot features or tiles.

    Source: Sutton, Szepesvári, Geramifard and Bowling 2008; Parr et al. 2008.

    `solve_every`: after how many steps v is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "model"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)


@dataclass(frozen=True, repr=False)
class Compatible(Part):
    """q̂(s,a) = v·x + (a − π(s)) u·x by GQ(0), for deterministic policies.

    Source: Silver et al. 2014 (COPDAC-GQ), with second weights for all features.

    `alpha_v`: step-size of v, the weights of the values.
    `alpha_u`: step-size of u, the weights of the slope.
    `alpha_h`: step-size of h, the second weights.
    `features`: what it sees of a state; left out, what the policy sees.
    `schedule`: the schedule that multiplies the step-sizes.
    """

    alpha_v: float
    alpha_u: float
    alpha_h: float
    features: Features | None = None
    schedule: Schedule = Constant()

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "compatible"
    _tells: ClassVar[tuple[str, ...]] = ("slope",)
    _inner: ClassVar[tuple[Inner, ...]] = (("schedule", "schedule", None),)


@dataclass(frozen=True, repr=False)
class ExactCritic(Part):
    """v, q or ∂q/∂a of the current policy, computed from the problem itself.

    Source: Imani, Graves and White 2018.

    `problem`: the problem that it knows.
    """

    problem: Problem

    _role: ClassVar[str] = "critic"
    _kind: ClassVar[str] = "exact"
    _tells: ClassVar[tuple[str, ...]] = ("delta", "advantages", "slope")
    _needs: ClassVar[tuple[str, ...]] = ("problem",)


# --- Actors: how does the policy learn? ---


@dataclass(frozen=True, repr=False)
class ActorTrace(Part):
    """θ follows δ_t e_t, with the trace e_t = ρ_t (γ_t λ e_{t−1} + M_t ∇ ln π(A_t|S_t)).

    Source: Degris, White and Sutton 2012.

    `lambda_`: λ of the actor's trace; 0 is the actor without one.
    """

    lambda_: float

    _role: ClassVar[str] = "actor"
    _kind: ClassVar[str] = "trace"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)


@dataclass(frozen=True, repr=False)
class GradientCritic(Part):
    """θ follows Σ_b π(b|S_t) (∇ ln π(b|S_t) q̂(S_t,b) + Γ̂(S_t,b)), where Γ̂ learns ∇q_π without ratios (TDRCΓ).

    Source: Tosatto, Patterson, White and Mahmood 2022.

    `alpha_g`: step-size of G.
    `eta`: step-size of the second weights as a multiple of alpha_g; 0 is TD.
    `beta`: how strongly the second weights are drawn to zero.
    `lambda_a`: how much of the gradient critic counts: 1 is the whole gradient, 0 the semi-gradient.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_g: float
    eta: float = 1.0
    beta: float = 1.0
    lambda_a: float = 1.0
    features: Features | None = None

    _role: ClassVar[str] = "actor"
    _kind: ClassVar[str] = "gradient-critic"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _needs: ClassVar[tuple[str, ...]] = ("finite",)


@dataclass(frozen=True, repr=False)
class GradientValues(Part):
    """θ follows an estimate Ĝ(S_t) of ∇v_π(S_t), learned by TD from ρ_t δ_t ∇ ln π(A_t|S_t).

    Source: here; after Tosatto, Patterson, White and Mahmood 2022.

    `alpha_g`: step-size of G.
    `eta`: step-size of the second weights as a multiple of alpha_g; 0 is TD.
    `beta`: how strongly the second weights are drawn to zero.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    alpha_g: float
    eta: float = 1.0
    beta: float = 1.0
    features: Features | None = None

    _role: ClassVar[str] = "actor"
    _kind: ClassVar[str] = "gradient-values"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)


@dataclass(frozen=True, repr=False)
class ModelGradient(Part):
    """θ follows Ĝ(S_t) = ∇v_π(S_t), solved for from a learned model of γ_{t+1} x_{t+1}, the critic and the current policy, without ratios.

    Source: here.

    `solve_every`: after how many steps G is solved for anew; also where an episode starts.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    solve_every: int = 100
    features: Features | None = None

    _role: ClassVar[str] = "actor"
    _kind: ClassVar[str] = "model-gradient"
    _tells: ClassVar[tuple[str, ...]] = ("advantages",)
    _needs: ClassVar[tuple[str, ...]] = ("finite", "table")


@dataclass(frozen=True, repr=False)
class CounterfactualGradient(Part):
    """θ follows the gradient of the counterfactual objective: an emphasis of states weighted by ĉ, and the gradient of that weighting.

    Source: Zhang, Boehmer and Whiteson 2019.

    `gamma_hat`: γ̂ of the counterfactual objective: 0 is the excursion objective, near 1 that of a life of the target policy.
    `alpha_c`: step-size of the density ratio ĉ.
    `lambda_1`: λ¹, of the emphasis of states: 1 is full emphasis, 0 none.
    `lambda_2`: λ², of the gradient of the state weighting: 1 is all of it, 0 its last step alone.
    `penalty`: how strongly the ratio's mean is drawn to 1.
    `features`: what it sees of a state; left out, what the policy sees.
    """

    gamma_hat: float
    alpha_c: float
    lambda_1: float = 1.0
    lambda_2: float = 1.0
    penalty: float = 0.0
    features: Features | None = None

    _role: ClassVar[str] = "actor"
    _kind: ClassVar[str] = "geoff-pac"
    _tells: ClassVar[tuple[str, ...]] = ("delta",)
    _needs: ClassVar[tuple[str, ...]] = ("no_emphasis",)


# --- What each kind of learner takes ---

Policy = Union[Softmax, Gaussian, DeterministicLinear]
StochasticPolicy = Union[Softmax, Gaussian]
FinitePolicy = Softmax
DeterministicPolicy = DeterministicLinear
Critic = Union[
    TD,
    GTD,
    GTD2,
    ProximalGTD2,
    TDRC,
    HTD,
    VTrace,
    TreeBackup,
    ABTD,
    ETD,
    TrueOnlineETD,
    LSTD,
    ELSTD,
    GQ,
    Advantage,
    Retrace,
    ExpectedTDRC,
    LSTDQ,
    ModelCritic,
    Compatible,
    ExactCritic,
]
ValueCritic = Union[
    TD,
    GTD,
    GTD2,
    ProximalGTD2,
    TDRC,
    HTD,
    VTrace,
    TreeBackup,
    ABTD,
    ETD,
    TrueOnlineETD,
    LSTD,
    ELSTD,
    ExactCritic,
]
ActionCritic = Union[GQ, Advantage, Retrace, ExpectedTDRC, LSTDQ, ModelCritic, ExactCritic]
SlopeCritic = Union[Compatible, ExactCritic]
Emphasis = Union[
    NoEmphasis,
    FollowOn,
    Ideal,
    Normalised,
    Truncated,
    Periodic,
    NStep,
    Decayed,
    LC,
    Clipped,
    LambdaReturn,
    Direct,
    TDERC,
    GEM,
    LSTDEmphasis,
    XETD,
    ModelEmphasis,
    GradientDICE,
    COPTD,
    ExactEmphasis,
]
RatioFreeEmphasis = Union[NoEmphasis, ExactEmphasis]
Actor = Union[ActorTrace, GradientCritic, GradientValues, ModelGradient, CounterfactualGradient]
ValueActor = Union[ActorTrace, GradientValues, CounterfactualGradient]
ActionActor = Union[GradientCritic, ModelGradient]
Schedule = Union[Constant, Polynomial, PerFeature]

# By role and by name in files.
PARTS: dict[str, dict[str, type[Part]]] = {
    "policy": {
        "softmax": Softmax,
        "gaussian": Gaussian,
        "deterministic": DeterministicLinear,
    },
    "critic": {
        "td": TD,
        "gtd": GTD,
        "gtd2": GTD2,
        "proximal-gtd2": ProximalGTD2,
        "tdrc": TDRC,
        "htd": HTD,
        "v-trace": VTrace,
        "tree-backup": TreeBackup,
        "abtd": ABTD,
        "etd": ETD,
        "true-online-etd": TrueOnlineETD,
        "lstd": LSTD,
        "elstd": ELSTD,
        "gq": GQ,
        "advantage": Advantage,
        "retrace": Retrace,
        "expected-tdrc": ExpectedTDRC,
        "lstd-q": LSTDQ,
        "model": ModelCritic,
        "compatible": Compatible,
        "exact": ExactCritic,
    },
    "emphasis": {
        "none": NoEmphasis,
        "follow-on": FollowOn,
        "ideal": Ideal,
        "normalised": Normalised,
        "truncated": Truncated,
        "periodic": Periodic,
        "n-step": NStep,
        "decayed": Decayed,
        "lc": LC,
        "clipped": Clipped,
        "lambda-return": LambdaReturn,
        "direct": Direct,
        "tderc": TDERC,
        "gem": GEM,
        "lstd": LSTDEmphasis,
        "x-etd": XETD,
        "model": ModelEmphasis,
        "gradient-dice": GradientDICE,
        "cop-td": COPTD,
        "exact": ExactEmphasis,
    },
    "actor": {
        "trace": ActorTrace,
        "gradient-critic": GradientCritic,
        "gradient-values": GradientValues,
        "model-gradient": ModelGradient,
        "geoff-pac": CounterfactualGradient,
    },
    "schedule": {
        "constant": Constant,
        "polynomial": Polynomial,
        "per-feature": PerFeature,
    },
}

BASES: dict[str, type[Basis]] = {
    "tiles": TileCoder,
    "fourier": FourierBasis,
    "radial": RadialBasis,
    "polynomial": PolynomialBasis,
    "one-hot": OneHotBasis,
    "observation": ObservationBasis,
}
