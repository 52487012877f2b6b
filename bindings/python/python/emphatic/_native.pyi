from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, TypedDict, final, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import Self, disjoint_base

from .catalogue import Actor, Critic, Emphasis, Policy
from .in_python import PythonEmphasis
from .problem import Problem as _Problem
from .sessions import Environments

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]

__all__ = [
    "__version__",
    "DivergedError",
    "FileError",
    "Learner",
    "Update",
    "PartStep",
    "Problem",
    "Basis",
    "Simulator",
    "simulators",
    "rho",
    "emphasis",
    "lambda_returns",
    "sweep",
    "shipped_problems",
    "png",
    "read_learner",
    "write_file",
    "run",
    "workload",
    "summary",
    "check_table",
    "read_table",
    "diagnose_batch",
]
__version__: str

class DivergedError(ArithmeticError): ...
class FileError(ValueError): ...

@final
class Update:
    """What one step did, all from the weights before it: `rho, emphasis, delta = agent.step(...)`."""

    def __new__(cls, rho: float, emphasis: float, delta: float) -> Self: ...
    def __iter__(self) -> Iterator[float]: ...
    def __getnewargs__(self) -> tuple[float, float, float]: ...
    @property
    def rho(self) -> float:
        """ρ_t = π/μ of the action taken; 1 for a deterministic policy, which has no ratio."""
    @property
    def emphasis(self) -> float:
        """M_t."""
    @property
    def delta(self) -> float:
        """What the critic said of the action: δ_t, the advantage of the action taken, or ∂q/∂a."""

@final
class PartStep:
    """A step as a part in Python sees it."""

    @property
    def gamma(self) -> float:
        """γ_t: the discount of the transition into the state."""
    @property
    def gamma_next(self) -> float:
        """γ_{t+1}: the discount of the transition out of it."""
    @property
    def interest(self) -> float:
        """i(S_t)."""
    @property
    def reward(self) -> float:
        """R_{t+1}."""
    @property
    def x(self) -> Any:
        """The part's features of S_t: a vector, or the numbers of the active ones and their values. `None` if the part has no `features`."""
    @property
    def x_next(self) -> Any:
        """The same of S_{t+1}; beyond an end none are active, and a vector is zero."""

@disjoint_base
class Learner:
    def __new__(cls, learner: Learner) -> Self: ...
    @staticmethod
    def _composed(
        class_name: str,
        rule: str,
        policy: Policy,
        critic: Critic,
        emphasis: Emphasis | PythonEmphasis,
        actor: Actor | None,
        alpha: float,
        warm_up: int,
        subset: tuple[int, int] | None,
    ) -> Learner: ...
    @staticmethod
    def _restored(
        settings: str,
        problems: Sequence[Problem],
        state: bytes,
        python_emphasis: type[PythonEmphasis] | None,
    ) -> Learner: ...
    @property
    def policy(self) -> Policy:
        """The form of the policy."""
    @property
    def critic(self) -> Critic:
        """What the critic is made of; `critic_weights` has what it has learned."""
    @property
    def emphasis(self) -> Emphasis | PythonEmphasis:
        """How states are weighted; `emphasis_weights` has what it has learned."""
    @property
    def actor(self) -> Actor | None:
        """How the policy learns; `None` if by the learner's own rule."""
    @property
    def alpha(self) -> float:
        """The actor's step-size, before it is divided by the number of active features."""
    @property
    def warm_up(self) -> int:
        """In how many steps the actor waits at first, while critic and emphasis learn."""
    def step(
        self,
        x: Any,
        action: Any,
        reward: float,
        x_next: Any,
        *,
        mu: float,
        gamma_next: float,
        interest: float | None = None,
        gamma: float | None = None,
    ) -> Update:
        """Learns from one step: in a state seen as `x` the behaviour took `action` with probability (or density) `mu`, got `reward` and came to a
        state seen as `x_next`. A step that makes no sense raises an error and changes nothing.

        `gamma_next` is the discount out of the state: 0 ends the episode, and `x_next` is not looked at then. `gamma`, the discount
        into it, is remembered from the step before unless it is given. `interest` left out is 1."""
    def new_episode(self) -> None:
        """The next step is the first of an episode, whatever came before: for time limits."""
    def probability(self, x: Any, action: Any) -> float:
        """π(a|x): the probability, or the density, of an action."""
    @property
    def steps(self) -> int:
        """How many steps it has learned from."""
    @property
    def diverged(self) -> int | None:
        """The number of the step (the first is 1) after which the weights were no longer finite."""
    @property
    def effective_sample(self) -> float | None:
        """How many of the steps at which the actor learned the updates count like, as a share of them: (Σ|M|)² / (n Σ M²), estimated from one step in
        sixteen. 1: all count alike; near 0: the emphasis of a few outweighs all others. `None` before the actor has learned, and after
        it has diverged."""
    @property
    def _uneven_emphasis(self) -> str | None: ...
    def check(self) -> None:
        """Raises `DivergedError` if the weights have left the finite numbers."""
    def save(self, path: str | PathLike[str]) -> None:
        """Writes the whole learner, traces included, to a safetensors file; `emphatic.load` reads it. The tensors are its numbers,
        the metadata its settings."""
    def _learn(self, batch: Any, progress: Callable[..., None]) -> None: ...
    def _distribution(self, x: Any) -> _Floats: ...
    def _distributions(self, x: Any) -> _Floats: ...
    def _sample(self, x: Any, rng: np.random.Generator) -> Any: ...
    def _weights(self) -> _Floats: ...
    def _estimates(self) -> dict[str, _Floats]: ...
    def _set_weights(self, weights: _Floats) -> None: ...
    def _composition(self) -> tuple[str, list[_Problem], type[PythonEmphasis] | None]: ...
    def _state(self) -> bytes: ...
    def _copy(self) -> Learner: ...
    @property
    def _outputs(self) -> int: ...

def diagnose_batch(
    batch: Any, features: Any, actions: int, target: npt.NDArray[np.float64] | None
) -> tuple[str, str]: ...
def sweep(
    learners: Sequence[Learner],
    batch: Any,
    begin: int,
    end: int,
    threads: int | None,
    progress: Callable[..., None],
) -> list[Learner]: ...

@type_check_only
class _SavedLearner(TypedDict):
    class_name: str
    rule: str
    python_emphasis: str | None
    settings: str
    problems: list[tuple[str, str]]
    state: bytes

@type_check_only
class _Transitions(TypedDict):
    state: _Ints
    action: _Ints
    next: _Ints
    probability: _Floats
    reward: _Floats
    gamma: _Floats

@type_check_only
class _Diagnosis(TypedDict):
    json: str
    text: str
    svg: str | None
    experiment: str | None

@disjoint_base
class Problem:
    def __new__(cls, name: str | PathLike[str], text: str | None = None) -> Self: ...
    @property
    def name(self) -> str:
        """What it is called: a name or a path."""
    @property
    def text(self) -> str:
        """The text of its file."""
    @property
    def states(self) -> list[str]:
        """The names of the states."""
    @property
    def actions(self) -> list[str]:
        """The names of the actions; none where the action is a real number."""
    @property
    def behaviour(self) -> _Floats:
        """μ(a|s) [S, A]; with a real action, mean and standard deviation [S, 2]."""
    @property
    def start(self) -> _Floats:
        """With what probability episodes start in each state."""
    @property
    def interest(self) -> _Floats:
        """i, by state."""
    @property
    def stationary(self) -> _Floats:
        """d_μ, by state."""
    def _target(self) -> tuple[str, _Floats | None]: ...
    def _actor_len(self) -> int: ...
    def _features(self, critic: bool) -> tuple[int, list[list[tuple[int, float]]]]: ...
    def _transitions(self) -> _Transitions: ...
    def _solve(
        self, lambda_a: float, weights: _Floats | None, outputs: int, probabilities: _Floats | None
    ) -> dict[str, Any]: ...
    def _objective(self, weights: _Floats, outputs: int) -> float: ...
    def _diagnose(
        self, starts: int | None, seed: int, threads: int | None, progress: Callable[..., None]
    ) -> _Diagnosis: ...
    def _experience(self, steps: int, seed: int, run: int) -> dict[str, Any]: ...

@final
class Basis:
    def __new__(cls, recipe: str) -> Self: ...
    @property
    def len(self) -> int:
        """The number of features."""
    @property
    def most_active(self) -> int:
        """The most features that are active at once."""
    def active(self, observations: Any) -> _Ints:
        """Returns the numbers of the active features of observations [..., dimensions]."""
    def values(self, observations: Any) -> _Floats:
        """Returns all features of observations [..., dimensions]."""
    def collisions(self, observations: Any) -> tuple[int, int]:
        """Returns how many tiles these observations lie in, and how many of them share their feature with another."""

@type_check_only
class _Described(TypedDict):
    name: str
    about: str
    source: str
    state: int
    observations: list[tuple[str, float, float, bool, bool]]
    actions: list[str] | None
    range: tuple[float, float] | None
    limit: int | None
    gymnasium: str | None

def simulators() -> list[_Described]: ...

@final
class Simulator:
    def __new__(cls, name: str, count: int, limit: int | None) -> Self: ...
    def __deepcopy__(self, _memo: Any) -> Simulator: ...
    def seed(self, seeds: Sequence[int | None]) -> None:
        """Begins new random streams, keyed by these seeds; those without one go on."""
    def begin(self, chosen: npt.NDArray[np.bool_], states: _Floats | None) -> None:
        """Begins an episode in these environments, in a state that is drawn or in the given one."""
    def observations(self) -> _Floats:
        """What is observed of all states."""
    @property
    def states(self) -> _Floats:
        """A copy of all states."""
    def set_states(self, states: _Floats) -> None:
        """Puts all environments into these states. Episodes go on from there."""
    @property
    def right_action(self) -> str:
        """What an action must be, in words."""
    def step(
        self, actions: Any, resets: npt.NDArray[np.bool_]
    ) -> tuple[_Floats, _Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Takes a step in every environment; where `resets` says so, begins an episode instead. An action that does not exist raises
        Gymnasium's `InvalidAction`, and nothing has been done."""

def shipped_problems() -> list[tuple[str, str]]: ...
def png(svg: str) -> bytes: ...
def read_learner(path: str | PathLike[str]) -> _SavedLearner: ...
def write_file(path: str | PathLike[str], bytes: bytes) -> None: ...
def run(
    file: PathLike[str],
    out: PathLike[str],
    runs: int | None,
    threads: int | None,
    environments: Environments,
    progress: Callable[[int, int, int, float], None],
) -> int: ...
def summary(
    directory: PathLike[str], select: str | None, select_by: str | None, quantity: str | None
) -> tuple[str, str]: ...
def workload(
    file: PathLike[str], runs: int | None, threads: int | None, environments: Environments
) -> str: ...
def check_table(directory: PathLike[str], path: PathLike[str]) -> None: ...
def read_table(path: PathLike[str]) -> dict[str, Any]: ...
def rho(log_pi: _Floats, log_mu: _Floats, clip: float) -> _Floats: ...
def emphasis(
    rho: _Floats, gamma: _Floats, interest: _Floats, lambda_a: float, initial: _Floats
) -> _Floats: ...
def lambda_returns(
    reward: _Floats,
    gamma_next: _Floats,
    value: _Floats,
    value_next: _Floats,
    rho: _Floats,
    lambda_next: _Floats,
) -> _Floats: ...
