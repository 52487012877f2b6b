"""Learn a policy from experience that another policy generated, and follow the true gradient while doing so.

| what | where |
|---|---|
| learners | `ACE`, `OffPAC`, `TrueACE`, `DPG`, `TrueDPGE`; `ActorCritic`, `AllActions`, `DeterministicActorCritic`; `load`, `sweep` |
| their parts | `Softmax`, `Gaussian`, `DeterministicLinear`; `GTD`, `ActionValues`, `LearnedAdvantage`, `Compatible`, `ExactCritic`; `FollowOn`, `NoEmphasis`, `ExactEmphasis` |
| what they see | `Dense`, `Active`, `OneHot`, `Table`, `TileCoder` |
| data | `Batch`, `collect` |
| functions over arrays [time, batch] | `rho`, `gamma_into`, `follow_on`, `emphasis`, `lambda_returns` |
| exact theory | `Problem`, `problems`; what it says: `Solution`, `Diagnosis` with `Flows`, `Spread`, `CriticStability`, `Suggestion` |
| experiments | `run`, `Results` |
"""

from contextlib import suppress as _suppress

from ._native import DivergedError, FileError, Update, __version__
from .arrays import emphasis, follow_on, gamma_into, lambda_returns, rho
from .batch import Batch
from .collect import collect
from .diagnosis import CriticStability, Diagnosis, Flows, Spread, Suggestion
from .environments import register as _register
from .experiments import Results, run
from .learners import (
    ACE,
    DPG,
    ActorCritic,
    AllActions,
    DeterministicActorCritic,
    Learner,
    OffPAC,
    TrueACE,
    TrueDPGE,
    load,
    sweep,
)
from .parts import (
    GTD,
    ActionValues,
    Active,
    Compatible,
    Dense,
    DeterministicLinear,
    ExactCritic,
    ExactEmphasis,
    FollowOn,
    Gaussian,
    LearnedAdvantage,
    NoEmphasis,
    OneHot,
    Softmax,
    Table,
)
from .problem import Problem, Transitions, problems
from .solution import Solution
from .tiles import TileCoder

__all__ = [
    "ACE",
    "DPG",
    "GTD",
    "ActionValues",
    "Active",
    "ActorCritic",
    "AllActions",
    "Batch",
    "Compatible",
    "CriticStability",
    "Dense",
    "DeterministicActorCritic",
    "DeterministicLinear",
    "Diagnosis",
    "DivergedError",
    "ExactCritic",
    "ExactEmphasis",
    "FileError",
    "Flows",
    "FollowOn",
    "Gaussian",
    "Learner",
    "LearnedAdvantage",
    "NoEmphasis",
    "OffPAC",
    "OneHot",
    "Problem",
    "Results",
    "Softmax",
    "Solution",
    "Spread",
    "Suggestion",
    "Table",
    "TileCoder",
    "Transitions",
    "TrueACE",
    "TrueDPGE",
    "Update",
    "__version__",
    "collect",
    "emphasis",
    "follow_on",
    "gamma_into",
    "lambda_returns",
    "load",
    "problems",
    "rho",
    "run",
    "sweep",
]

with _suppress(ImportError):  # Gymnasium is optional.
    _register()
