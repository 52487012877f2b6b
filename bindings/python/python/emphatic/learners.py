"""Learners: a policy, a critic, an emphasis and perhaps an actor, put together. The caller drives the loop."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native, convert, parts
from .bases import Basis
from .batch import Batch
from .catalogue import (
    GEM,
    ActionActor,
    ActionCritic,
    Actor,
    ActorTrace,
    CounterfactualGradient,
    Critic,
    DeterministicPolicy,
    Emphasis,
    ExactCritic,
    ExactEmphasis,
    FinitePolicy,
    Gaussian,
    LambdaReturn,
    NoEmphasis,
    Policy,
    RatioFreeEmphasis,
    SlopeCritic,
    StochasticPolicy,
    ValueActor,
    ValueCritic,
)
from .in_python import PythonEmphasis
from .problem import Problem
from .progress import Bar

_L = TypeVar("_L", bound="Learner")

# The rule by which the actor learns.
Rule = Literal["taken", "all", "deterministic"]

# The parts that each rule needs.
_POLICIES: dict[Rule, Any] = {
    "taken": StochasticPolicy,
    "all": FinitePolicy,
    "deterministic": DeterministicPolicy,
}
_CRITICS: dict[Rule, Any] = {"taken": ValueCritic, "all": ActionCritic, "deterministic": SlopeCritic}

# Whole numbers up to this are exact as floats.
_MOST_WARM_UP = 2**53


class UnevenEmphasisWarning(RuntimeWarning):
    """The emphasis of a few steps outweighs that of all others, so that the updates are theirs."""


class Learner(_native.Learner):
    """What all learners can do.

    `warm_up`: in so many steps at first the actor waits while critic and emphasis learn. Off-policy it costs no experience.

    The discounts: `gamma_next` is that of the transition out of the state, 0 at the end of an episode. The discount *into*
    the state is remembered from the step before; the first step starts afresh, and so does the step after `new_episode()`. After a time limit
    (Gymnasium's `truncated`), which is not an end, give the step its usual `gamma_next` and then call `new_episode()`.
    """

    _rule: ClassVar[Rule]
    _emphases: ClassVar[tuple[type, ...]] = (*parts.kinds(Emphasis), PythonEmphasis)
    # `None` stands for the rule's own actor.
    _actors: ClassVar[tuple[type, ...]] = (NoneType,)

    def __init__(self, *_: Any, **__: Any) -> None:
        """Does nothing: `__new__` makes the learner. A subclass can call `super().__init__` as usual."""

    @classmethod
    def _compose(
        cls: type[_L],
        policy: Policy,
        critic: Critic,
        emphasis: Emphasis | PythonEmphasis,
        alpha: float,
        warm_up: int,
        subset: tuple[int, int] | None = None,
        actor: Actor | None = None,
    ) -> _L:
        _check_part(policy, Policy, "the policy")
        _check_part(critic, Critic, "the critic")
        if isinstance(emphasis, PythonEmphasis):
            emphasis = copy.copy(emphasis)  # The caller may change theirs.
        else:
            _check_part(emphasis, Emphasis, "the emphasis")
        cls._check_actor(actor)
        cls._check_rule(policy, critic, emphasis)
        # Also for a subclass of the user's, the name of the class in this package.
        name = next(base.__name__ for base in cls.__mro__ if base in _CLASSES.values())
        alpha = convert.number(alpha, "alpha")
        warm_up = convert.count(warm_up, "warm_up", least=0, most=_MOST_WARM_UP)
        return cls._of(
            _native.Learner._composed(
                name, cls._rule, policy, critic, emphasis, actor, alpha, warm_up, subset
            )
        )

    @classmethod
    def _of(cls: type[_L], learner: _native.Learner) -> _L:
        """Gives a native learner this class."""
        return _native.Learner.__new__(cls, learner)

    @classmethod
    def _check_actor(cls, actor: Actor | None) -> None:
        """Refuses an actor that the learner cannot have."""
        if isinstance(actor, cls._actors):
            return
        right = parts.either([kind for kind in cls._actors if kind is not NoneType])
        message = f"the actor is {actor!r}; this learner needs {right}"
        if isinstance(actor, parts.kinds(Actor)):
            home = AllActions if isinstance(actor, parts.kinds(ActionActor)) else ActorCritic
            message += f"; {type(actor).__name__} is an actor of {home.__name__}"
        raise TypeError(message)

    @classmethod
    def _check_rule(cls, policy: Policy, critic: Critic, emphasis: Emphasis | PythonEmphasis) -> None:
        """Refuses parts that the rule cannot use."""
        policies, critics = parts.kinds(_POLICIES[cls._rule]), parts.kinds(_CRITICS[cls._rule])
        if not isinstance(policy, policies):
            raise TypeError(f"the policy is {policy!r}; this learner needs a {parts.either(policies)} policy")
        if not isinstance(critic, critics):
            raise TypeError(f"the critic is {critic!r}; this learner needs {parts.either(critics)}")
        ratio_free = parts.kinds(RatioFreeEmphasis)
        if cls._rule == "deterministic" and not isinstance(emphasis, (*ratio_free, PythonEmphasis)):
            raise TypeError(
                "a deterministic policy has no ratio, which this emphasis needs:"
                f" use {parts.either(ratio_free)}, not {emphasis!r}"
            )
        if policy._acts != "finite" and "finite" in getattr(emphasis, "_needs", ()):
            finite = parts.either(parts.kinds(FinitePolicy))
            raise TypeError(f"the emphasis {emphasis!r} needs finitely many actions: use a {finite} policy")

    # --- Learning ---

    def learn(self, batch: Batch, *, progress: bool | None = None) -> None:
        """Learns from all steps of a batch, to the bit as if each were given to `step`, at the speed of Rust. Other threads
        run meanwhile, but must not write to the batch. A step that makes no sense raises an error that names it; the steps
        before it have been learned. If the weights leave the finite numbers, there is a warning; and one, once, if the emphasis is so uneven that a
        few steps count for all (see `effective_sample`)."""
        _check_batch(batch, self)
        before, was_uneven = self.diverged, self._is_uneven()
        with Bar("learning", progress) as bar:
            self._learn(batch, bar)
        if self.diverged is not None and before is None:
            warnings.warn(
                f"{type(self).__name__} diverged at step {self.diverged}: its weights are no longer finite;"
                " try smaller step-sizes",
                RuntimeWarning,
                stacklevel=2,
            )
        if not was_uneven and self._is_uneven():
            warnings.warn(
                f"{type(self).__name__}: {self._uneven_emphasis}", UnevenEmphasisWarning, stacklevel=2
            )

    def _is_uneven(self) -> bool:
        """Whether a few steps count for all, by an emphasis and not by the interest alone."""
        return not isinstance(self.emphasis, NoEmphasis) and self._uneven_emphasis is not None

    # --- The policy ---

    def probabilities(self, x: Any) -> convert.Floats:
        """π(·|x) of a policy with finitely many actions: [actions], or [n, actions] for n states at once."""
        if self.policy._acts != "finite":
            raise TypeError(
                "only a Softmax policy has probabilities; see `probability`, `normal` and `action`"
            )
        return self._distribution_at(x)

    def normal(self, x: Any) -> convert.Floats:
        """Mean and standard deviation of a Gaussian: [2], or [n, 2] for n states at once."""
        if not isinstance(self.policy, Gaussian):
            raise TypeError(
                "only a Gaussian policy has a mean and a deviation; see `probabilities` and `action`"
            )
        return self._distribution_at(x)

    def action(self, x: Any) -> float:
        """The action of a deterministic policy."""
        if self.policy._acts != "deterministic":
            raise TypeError("only a DeterministicLinear policy computes its action; see `sample`")
        return float(self._distribution(x)[0])

    def _distribution_at(self, x: Any) -> convert.Floats:
        numbers_of_states = isinstance(self.policy.features, (parts.OneHot, parts.Table))
        if convert.array(x, "x").ndim <= (0 if numbers_of_states else 1):
            return self._distribution(x)
        want = 1 if numbers_of_states else 2
        dense = isinstance(self.policy.features, (parts.Dense, Basis))
        states = convert.floats(x, "x", want) if dense else convert.ints(x, "x", want)
        return self._distributions(states).reshape(len(states), self._outputs)

    def sample(self, x: Any, rng: np.random.Generator) -> Any:
        """Draws an action: an int from a softmax (one uniform number of `rng`), a float from a Gaussian (one normal number). A
        deterministic policy returns its action."""
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng is {rng!r}; it must be a NumPy generator: np.random.default_rng(seed)")
        return self._sample(x, rng)

    # --- Weights ---

    @property
    def weights(self) -> convert.Floats:
        """A copy of the policy's weights θ, read-only: [features, actions] of a softmax, [features, 2] of a Gaussian (mean,
        deviation), [features] of a deterministic policy. To change them, assign a whole array; the traces stay."""
        return _read_only(self._weights().reshape(self._shape()))

    @weights.setter
    def weights(self, weights: npt.ArrayLike) -> None:
        shape = self._shape()
        new = convert.floats(weights, "weights", len(shape))
        if new.shape != shape:
            raise ValueError(f"weights have the shape {new.shape}; they must have {shape}")
        self._set_weights(new.ravel())

    def _shape(self) -> tuple[int, ...]:
        len = self.policy.features.len
        return (len,) if self.policy._acts == "deterministic" else (len, self._outputs)

    @property
    def critic_weights(self) -> dict[str, convert.Floats]:
        """Copies of what the critic has learned, read-only, by the names of the equations: `v` [features] of values, `q` of action
        values and `u` of an advantage [features, actions], `u` of a compatible critic [features]. Empty for an exact critic."""
        by_action = "advantages" in self.critic._tells
        return self._learned(
            "critic", lambda weights: weights.reshape(-1, self._outputs) if by_action else weights
        )

    @property
    def emphasis_weights(self) -> dict[str, convert.Floats]:
        """Copies of what the emphasis has learned, read-only, by the names of the equations: `u` [features] of an estimate of the
        emphatic density. Empty for a trace, and for an exact emphasis."""
        return self._learned("emphasis", lambda weights: weights)

    @property
    def actor_weights(self) -> dict[str, convert.Floats]:
        """Copies of what the actor has learned, read-only, by the names of the equations: `g` of an estimate of a gradient, which has the
        shape of `weights` for each feature (or feature and action); `u` [features] of the density ratio of `CounterfactualGradient`. Empty
        for a trace, and where there is no actor."""
        return self._learned("actor", lambda weights: weights.reshape(-1, *self._shape()))

    def _learned(
        self, role: str, shaped: Callable[[convert.Floats], convert.Floats]
    ) -> dict[str, convert.Floats]:
        """What a part has learned, by short names. Weights of its own are `shaped`."""
        found: dict[str, convert.Floats] = {}
        for name, weights in self._estimates().items():
            part, _, inner = name.partition(".")
            if part == role:
                # Weights of a part inside it have names such as `values.v`.
                short = inner.rpartition(".")[2]
                found[inner if short in found else short] = _read_only(
                    weights if "." in inner else shaped(weights)
                )
        return found

    def __repr__(self) -> str:
        words = [repr(self.policy), repr(self.critic), *self._shown_emphasis(), f"alpha={self.alpha}"]
        if self.actor is not None:
            words.append(f"actor={self.actor!r}")
        if self.warm_up:
            words.append(f"warm_up={self.warm_up}")
        try:
            after = f"after {self.steps} step{'' if self.steps == 1 else 's'}"
        except RuntimeError as error:  # It is in use, or was left half-way.
            after = str(error).partition(";")[0].removeprefix("this learner ")
        return f"<{type(self).__name__}({', '.join(words)}) {after}>"

    def _shown_emphasis(self) -> list[str]:
        """What `repr` says of the emphasis: nothing if the class can have no other."""
        return [] if len(self._emphases) == 1 else [repr(self.emphasis)]

    # --- Copies and files ---

    def copy(self: _L) -> _L:
        """Another learner in the same state."""
        return self._like(self._copy())

    def _like(self: _L, learner: _native.Learner) -> _L:
        """Gives a native learner the class and the attributes of this one."""
        other = self._of(learner)
        other.__dict__.update(self.__dict__)
        return other

    def __copy__(self: _L) -> _L:
        return self.copy()

    def __deepcopy__(self: _L, memo: dict[int, Any]) -> _L:
        other = memo[id(self)] = self.copy()
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        settings, problems, python_emphasis = self._composition()
        return _restore, (type(self), settings, problems, self._state(), python_emphasis), self.__dict__


def _restore(
    cls: type[_L],
    settings: str,
    problems: Sequence[Problem],
    state: bytes,
    python_emphasis: type[PythonEmphasis] | None = None,
) -> _L:
    """Makes a learner from a pickle or a file."""
    return cls._of(_native.Learner._restored(settings, problems, state, python_emphasis))


def _read_only(array: convert.Floats) -> convert.Floats:
    # What is written to a copy would be lost.
    array.flags.writeable = False
    return array


def _check_part(part: object, union: Any, what: str) -> None:
    if not isinstance(part, parts.kinds(union)):
        raise TypeError(f"{what} is {part!r}; it must be {parts.either(parts.kinds(union))}")


def _check_problem(problem: object) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"the problem is {problem!r}; it must be a Problem")


def _check_batch(batch: object, learner: Learner) -> None:
    if not isinstance(batch, Batch):
        raise TypeError(f"the batch is a {type(batch).__name__}; it must be an emphatic.Batch")
    policy = learner.policy
    if isinstance(policy.features, (parts.Dense, Basis)):
        needs = "features"
    else:
        needs = "active features" if isinstance(policy.features, parts.Active) else "state numbers"
    if batch.x.dtype.kind == "f":
        has = "features"
    else:
        has = "state numbers" if batch.x.ndim == 1 else "active features"
    finite = policy._acts == "finite"
    if has != needs or finite != (batch.action.dtype.kind != "f"):
        actions = "action numbers" if finite else "real actions"
        lists = needs == "features" and has == "active features"
        help = "; whole numbers are read as active features: x.astype(float)" if lists else ""
        raise TypeError(
            f"the batch has {batch._kinds()}; a learner with {policy} needs {needs}, {actions}{help}"
        )


class ActorCritic(Learner):
    """θ ← θ + α ρ_t M_t δ_t ∇ ln π(A_t|S_t): OffPAC, ACE or True-ACE, depending on the emphasis. An `actor` learns in another way.

    >>> import emphatic
    >>> policy, critic = emphatic.Softmax(emphatic.Dense(3), actions=2), emphatic.GTD(0.05, 1e-4, 0.5)
    >>> actor = emphatic.GradientValues(alpha_g=0.1)
    >>> agent = emphatic.ActorCritic(policy, critic, emphatic.NoEmphasis(), alpha=0.1, actor=actor)
    >>> agent.step([1, 0.2, 0], 1, 2.0, [1, 0, 0.4], mu=0.5, gamma_next=0.9)
    Update(rho=1.0, emphasis=1.0, delta=2.0)
    >>> agent.actor_weights["g"].shape  # an estimate of the gradient for each of three features
    (3, 3, 2)
    """

    _rule = "taken"
    _actors = (NoneType, *parts.kinds(ValueActor))

    def __new__(
        cls: type[_L],
        policy: StochasticPolicy,
        critic: ValueCritic,
        emphasis: Emphasis | PythonEmphasis,
        *,
        alpha: float,
        actor: ValueActor | None = None,
        warm_up: int = 0,
    ) -> _L:
        return cls._compose(policy, critic, emphasis, alpha, warm_up, actor=actor)


class AllActions(Learner):
    """θ ← θ + α M_t Σ_b π(b|S_t) (q̂(S_t, b) − v̂(S_t)) ∇ ln π(b|S_t), over all actions or a random `subset` of that size,
    drawn by `seed`. An `actor` learns in another way, always from all actions."""

    _rule = "all"
    _actors = (NoneType, *parts.kinds(ActionActor))

    def __new__(
        cls: type[_L],
        policy: FinitePolicy,
        critic: ActionCritic,
        emphasis: Emphasis | PythonEmphasis,
        *,
        alpha: float,
        actor: ActionActor | None = None,
        warm_up: int = 0,
        subset: int | None = None,
        seed: int = 0,
    ) -> _L:
        drawn = None
        if subset is not None:
            if actor is not None:
                raise TypeError(
                    f"subset is {subset!r} and the actor {actor!r}, which learns from all actions: give one, not both"
                )
            drawn = convert.count(subset, "subset"), convert.count(seed, "seed", least=0)
        return cls._compose(policy, critic, emphasis, alpha, warm_up, drawn, actor)


class DeterministicActorCritic(Learner):
    """θ ← θ + α M_t ∂q(S_t, a)/∂a ∇π(S_t) at a = π(S_t): DPG or True-DPGE, depending on the emphasis. It has no ratio,
    so the emphasis cannot be a follow-on trace."""

    _rule = "deterministic"

    def __new__(
        cls: type[_L],
        policy: DeterministicPolicy,
        critic: SlopeCritic,
        emphasis: RatioFreeEmphasis | PythonEmphasis,
        *,
        alpha: float,
        warm_up: int = 0,
    ) -> _L:
        return cls._compose(policy, critic, emphasis, alpha, warm_up)


class ACE(Learner):
    """ACE: an emphasis that is learned or traced. λ_a = 1 is the gradient, λ_a = 0 is OffPAC.

    With no `emphasis` it is `LambdaReturn`, with λ_a = 1 unless `lambda_a` is given. It sees what the critic sees if that has features of
    its own, otherwise what the policy sees. `emphasis=FollowOn(lambda_a=0.9)` is the paper's ACE(0.9); any other has its own `lambda_a`.

    >>> import emphatic
    >>> policy, critic = emphatic.Softmax(emphatic.Dense(3), actions=2), emphatic.GTD(0.05, 1e-4, 0.5)
    >>> agent = emphatic.ACE(policy, critic, alpha=0.1)
    >>> agent.step([1, 0.2, 0], 1, 2.0, [1, 0, 0.4], mu=0.5, gamma_next=0.9)
    Update(rho=1.0, emphasis=1.0, delta=2.0)
    >>> emphatic.ACE(policy, critic, alpha=0.1, emphasis=emphatic.FollowOn(lambda_a=0.9)).lambda_a
    0.9
    """

    _rule = "taken"

    def __new__(
        cls: type[_L],
        policy: StochasticPolicy,
        critic: ValueCritic,
        *,
        alpha: float,
        lambda_a: float | None = None,
        emphasis: Emphasis | PythonEmphasis | None = None,
        warm_up: int = 0,
    ) -> _L:
        if emphasis is None:
            emphasis = _default_emphasis(critic, 1.0 if lambda_a is None else lambda_a)
        elif lambda_a is not None:
            raise TypeError(
                f"lambda_a is {lambda_a!r} and the emphasis {emphasis!r}; give the emphasis its own `lambda_a`, not both"
            )
        return cls._compose(policy, critic, emphasis, alpha, warm_up)

    @property
    def lambda_a(self) -> float:
        """λ_a: 1 is full emphasis, 0 none. An emphasis may have none."""
        found = getattr(self.emphasis, "lambda_a", None)
        if found is None:
            raise AttributeError(f"the emphasis {self.emphasis!r} has no `lambda_a`")
        return float(found)

    def _shown_emphasis(self) -> list[str]:
        emphasis = self.emphasis
        if isinstance(emphasis, LambdaReturn):
            if emphasis == _default_emphasis(self.critic, emphasis.lambda_a):
                return [f"lambda_a={emphasis.lambda_a}"]
        return [f"emphasis={emphasis!r}"]


def _default_emphasis(critic: Critic, lambda_a: float) -> LambdaReturn:
    """The emphasis of ACE if none is given."""
    return LambdaReturn(lambda_a=lambda_a, features=getattr(critic, "features", None))


class OffPAC(Learner):
    """OffPAC: the semi-gradient, every state weighted by its interest. `actor=ActorTrace(λ)` is its trace; without one, λ is zero."""

    _rule = "taken"
    _emphases = (NoEmphasis,)
    _actors = (NoneType, ActorTrace)

    def __new__(
        cls: type[_L],
        policy: StochasticPolicy,
        critic: ValueCritic,
        *,
        alpha: float,
        actor: ActorTrace | None = None,
        warm_up: int = 0,
    ) -> _L:
        return cls._compose(policy, critic, NoEmphasis(), alpha, warm_up, actor=actor)


class TrueACE(Learner):
    """True-ACE: the exact emphatic density m/d_μ of a problem that is known. `policy` left out: a softmax (or a Gaussian) over what
    the problem lets the actor see. `critic` left out: the exact one."""

    _rule = "taken"
    _emphases = (ExactEmphasis,)

    def __new__(
        cls: type[_L],
        problem: Problem,
        policy: StochasticPolicy | None = None,
        critic: ValueCritic | None = None,
        *,
        alpha: float,
        warm_up: int = 0,
    ) -> _L:
        _check_problem(problem)
        if policy is None:
            policy = problem.softmax() if problem.actions else problem.gaussian()
        if critic is None:
            critic = ExactCritic(problem)
        return cls._compose(policy, critic, ExactEmphasis(problem), alpha, warm_up)


class COFPAC(Learner):
    """COF-PAC: ACE with an emphasis that is learned by gradient emphasis learning."""

    _rule = "taken"
    _emphases = (GEM,)

    def __new__(
        cls: type[_L],
        policy: StochasticPolicy,
        critic: ValueCritic,
        emphasis: GEM,
        *,
        alpha: float,
        warm_up: int = 0,
    ) -> _L:
        if not isinstance(emphasis, GEM):
            raise TypeError(f"the emphasis is {emphasis!r}; COFPAC needs GEM, ACE takes any")
        return cls._compose(policy, critic, emphasis, alpha, warm_up)

    def _shown_emphasis(self) -> list[str]:
        return [repr(self.emphasis)]


class GeoffPAC(Learner):
    """Geoff-PAC: the counterfactual objective, between the excursion objective (γ̂ = 0, where it is ACE) and that of a life of the target
    policy (γ̂ near 1). The actor weights the states itself, so there is no emphasis."""

    _rule = "taken"
    _emphases = (NoEmphasis,)
    _actors = (CounterfactualGradient,)

    def __new__(
        cls: type[_L],
        policy: StochasticPolicy,
        critic: ValueCritic,
        actor: CounterfactualGradient,
        *,
        alpha: float,
        warm_up: int = 0,
    ) -> _L:
        return cls._compose(policy, critic, NoEmphasis(), alpha, warm_up, actor=actor)


class DPG(Learner):
    """Deterministic policy gradients: the semi-gradient, every state weighted by its interest. The critic is `Compatible`, or
    `ExactCritic` where the problem is known."""

    _rule = "deterministic"
    _emphases = (NoEmphasis,)

    def __new__(
        cls: type[_L], policy: DeterministicPolicy, critic: SlopeCritic, *, alpha: float, warm_up: int = 0
    ) -> _L:
        return cls._compose(policy, critic, NoEmphasis(), alpha, warm_up)


class TrueDPGE(Learner):
    """True-DPGE: DPG with the exact emphatic density of a problem that is known. `policy` and `critic` left out: what the problem
    lets the actor see, and the exact one."""

    _rule = "deterministic"
    _emphases = (ExactEmphasis,)

    def __new__(
        cls: type[_L],
        problem: Problem,
        policy: DeterministicPolicy | None = None,
        critic: SlopeCritic | None = None,
        *,
        alpha: float,
        warm_up: int = 0,
    ) -> _L:
        _check_problem(problem)
        if policy is None:
            policy = problem.deterministic()
        if critic is None:
            critic = ExactCritic(problem)
        return cls._compose(policy, critic, ExactEmphasis(problem), alpha, warm_up)


_CLASSES: dict[str, type[Learner]] = {
    cls.__name__: cls
    for cls in (
        *(ActorCritic, AllActions, DeterministicActorCritic),
        *(ACE, OffPAC, TrueACE, COFPAC, GeoffPAC, DPG, TrueDPGE),
    )
}


def load(path: str | os.PathLike[str], *, parts: Sequence[type[PythonEmphasis]] = ()) -> Learner:
    """The learner that `save` wrote, to go on as if it had never stopped. A file that is none, or is damaged, raises `ValueError`.

    A file runs no code: for a learner with a part of your own, give its class in `parts`."""
    if isinstance(parts, type) or not all(
        isinstance(part, type) and issubclass(part, PythonEmphasis) for part in parts
    ):
        raise TypeError(f"parts are {parts!r}; they must be a list of classes of PythonEmphasis")
    saved = _native.read_learner(path)
    file, name, own = os.fspath(path), saved["class_name"], saved["python_emphasis"]
    if name not in _CLASSES:
        raise ValueError(f"{file}: the saved learner is a {name}, which this version does not know")
    cls, python_emphasis = _CLASSES[name], next((part for part in parts if part.__name__ == own), None)
    if own is not None and python_emphasis is None:
        raise ValueError(
            f"{file}: its emphasis is the class {own}, written in Python: load(path, parts=[{own}])"
        )
    try:
        if saved["rule"] != cls._rule:
            raise ValueError(
                f"it is a {name} and learns by the rule `{saved['rule']}`, which do not go together"
            )
        problems = [Problem.parse(text, problem) for problem, text in saved["problems"]]
        learner = _restore(cls, saved["settings"], problems, saved["state"], python_emphasis)
        for part, right in ((learner.emphasis, cls._emphases), (learner.actor, cls._actors)):
            if not isinstance(part, right):
                raise ValueError(
                    f"it is a {name} with {'no actor' if part is None else part}, which do not go together"
                )
        return learner
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: this is not a saved learner: {error}") from error
