from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import Self

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

__version__: str

class DivergedError(ArithmeticError): ...
class FileError(ValueError): ...

class Update:
    """What one step did, all from the weights before it."""

    @property
    def rho(self) -> float:
        """ρ_t = π/μ of the action taken; 1 for a deterministic policy, which has no ratio."""
    @property
    def emphasis(self) -> float:
        """M_t."""
    @property
    def delta(self) -> float:
        """What the critic said of the action: δ_t, the advantage of the action taken, or ∂q/∂a."""

class Learner:
    def __new__(
        cls,
        settings: str,
        problems: Sequence[Problem],
        state: bytes | Ready | None = None,
    ) -> Self: ...
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
    def critic_weights(self) -> dict[str, Floats]:
        """Copies of what the critic has learned, flat, by the names of the equations: `v`; `q` (of feature f and action a: number
        f · actions + a); `u`, of a learned advantage likewise, of a compatible critic [features]. Nothing for an exact critic."""
    @property
    def steps(self) -> int:
        """How many steps it has learned from."""
    @property
    def diverged(self) -> int | None:
        """The number of the step (the first is 1) after which the weights were no longer finite."""
    def check(self) -> None:
        """Raises `DivergedError` if the weights have left the finite numbers."""
    def _learn(self, batch: Any, last_truncated: bool, progress: Callable[..., None]) -> None: ...
    def _distribution(self, x: Any) -> Floats: ...
    def _distributions(self, x: Any) -> Floats: ...
    def _sample(self, x: Any, rng: np.random.Generator) -> Any: ...
    def _weights(self) -> Floats: ...
    def _set_weights(self, weights: Floats) -> None: ...
    def _settings_json(self) -> str: ...
    def _state(self) -> bytes: ...
    def _twin(self) -> Ready: ...
    def _save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def _read(path: str | PathLike[str]) -> tuple[str, list[tuple[str, str]], bytes]: ...

def sweep(
    learners: Sequence[Learner],
    batch: Any,
    last_truncated: bool,
    threads: int | None,
    progress: Callable[..., None],
) -> list[Ready]: ...

class Ready: ...

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
    def behaviour(self) -> Floats:
        """μ(a|s) [S, A]; with a real action, mean and standard deviation [S, 2]."""
    @property
    def start(self) -> Floats:
        """With what probability episodes start in each state."""
    @property
    def interest(self) -> Floats:
        """i, by state."""
    @property
    def stationary(self) -> Floats:
        """d_μ, by state."""
    def _target(self) -> tuple[str, Floats | None]: ...
    def _actor_len(self) -> int: ...
    def _features(self, critic: bool) -> tuple[int, list[list[tuple[int, float]]]]: ...
    def _transitions(self) -> tuple[list[Ints], list[Floats]]: ...
    def _solve(
        self, lambda_a: float, weights: Floats | None, outputs: int, probabilities: Floats | None
    ) -> dict[str, Any]: ...
    def _objective(self, weights: Floats, outputs: int) -> float: ...
    def _diagnose(
        self, starts: int | None, seed: int, threads: int | None, progress: Callable[..., None]
    ) -> tuple[str, str, str | None, str | None]: ...
    def _experience(self, steps: int, seed: int, run: int) -> dict[str, Any]: ...

def shipped_problems() -> list[tuple[str, str]]: ...
def png(svg: str) -> bytes: ...
def run(
    file: PathLike[str],
    out: PathLike[str],
    runs: int | None,
    threads: int | None,
    progress: Callable[[int, int, int, float], None],
) -> int: ...
def summary(directory: PathLike[str], select: str | None) -> tuple[str, str]: ...
def read_table(path: PathLike[str]) -> dict[str, Any]: ...
def rho(log_pi: Floats, log_mu: Floats, clip: float) -> Floats: ...
def emphasis(rho: Floats, gamma: Floats, interest: Floats, lambda_a: float, initial: Floats) -> Floats: ...
def lambda_returns(
    reward: Floats, gamma_next: Floats, value: Floats, value_next: Floats, rho: Floats, lambda_next: Floats
) -> Floats: ...
