"""Learn a policy from experience that another policy generated, and follow the true gradient while doing so.

| what | where |
|---|---|
| learners | `ACE`, `OffPAC`, `TrueACE`, `COFPAC`, `GeoffPAC`, `DPG`, `TrueDPGE`; `ActorCritic`, `AllActions`, `DeterministicActorCritic`; `load`; `sweep` with `Curves` and `EvaluationError` |
| policies | `Softmax`, `Gaussian`, `DeterministicLinear` |
| critics | of values: `TD`, `GTD`, `GTD2`, `ProximalGTD2`, `TDRC`, `HTD`, `VTrace`, `TreeBackup`, `ABTD`, `ETD`, `TrueOnlineETD`, `LSTD`, `ELSTD`; of actions: `GQ`, `Advantage`, `Retrace`, `ExpectedTDRC`, `LSTDQ`, `ModelCritic`; of ∂q/∂a: `Compatible`; `ExactCritic` |
| emphases | `LambdaReturn`, the default of `ACE`; `FollowOn`, the paper's; `Ideal`, `Normalised`, `Truncated`, `Periodic`, `NStep`, `Decayed`, `LC`, `Clipped`; `Direct`, `TDERC`, `GEM`, `LSTDEmphasis`, `XETD`, `ModelEmphasis`, `GradientDICE`, `COPTD`; `NoEmphasis`, `ExactEmphasis`; `PythonEmphasis` with `PartStep` |
| actors, in place of a learner's own | with a critic of values: `ActorTrace`, `GradientValues`, `CounterfactualGradient`; of actions: `GradientCritic`, `ModelGradient` |
| schedules of step-sizes inside other parts | `Constant`, `Polynomial`, `PerFeature` |
| what they see | `Dense`, `Active`, `OneHot`, `Table`; of observations: `TileCoder`, `FourierBasis`, `RadialBasis`, `PolynomialBasis`, `OneHotBasis`, `ObservationBasis` |
| data | `Batch`, `collect`; what it tells: `diagnose`, `SampledDiagnosis`; behaviours that are made of others: `EpsilonGreedy`, `Mixture`; `EpisodeError` |
| what a policy earns | `evaluate`, `Evaluation` |
| simulators | `make_vec`; in Gymnasium `emphatic/MountainCar-v0`, `PuddleWorld`, `VirtualOffice`, `CartPole`, `Acrobot`, `Pendulum`, `LinearQuadratic` |
| functions over arrays [time, batch] | `rho`, `gamma_into`, `follow_on`, `emphasis`, `lambda_returns` |
| exact theory | `Problem`, `problems`; what it says: `Solution`, `Diagnosis` with `Flows`, `Spread`, `CriticStability`, `Suggestion` |
| experiments | `run`, `Results`, `check` |
"""

from contextlib import suppress as _suppress

from . import catalogue as _catalogue
from ._native import DivergedError, FileError, PartStep, Update, __version__
from .arrays import emphasis, follow_on, gamma_into, lambda_returns, rho
from .batch import Batch
from .catalogue import *  # noqa: F403
from .collect import collect
from .diagnosis import CriticStability, Diagnosis, Flows, Spread, Suggestion
from .environments import register as _register
from .evaluate import Evaluation, evaluate
from .experiments import Results, check, run
from .in_python import PythonEmphasis
from .learners import (
    ACE,
    COFPAC,
    DPG,
    ActorCritic,
    AllActions,
    DeterministicActorCritic,
    GeoffPAC,
    Learner,
    OffPAC,
    TrueACE,
    TrueDPGE,
    UnevenEmphasisWarning,
    load,
)
from .mixture import EpsilonGreedy, Mixture
from .parts import Active, Dense, OneHot, Table
from .problem import Problem, Transitions, problems
from .rollout import EpisodeError
from .sampled_diagnosis import SampledDiagnosis, diagnose
from .simulators import make_vec
from .solution import Solution
from .sweep import Curves, EvaluationError, sweep

__all__ = [
    "ACE",
    "COFPAC",
    "DPG",
    "Active",
    "ActorCritic",
    "AllActions",
    "Batch",
    "CriticStability",
    "Curves",
    "Dense",
    "DeterministicActorCritic",
    "Diagnosis",
    "DivergedError",
    "EpisodeError",
    "EpsilonGreedy",
    "Evaluation",
    "EvaluationError",
    "FileError",
    "Flows",
    "GeoffPAC",
    "Learner",
    "Mixture",
    "OffPAC",
    "OneHot",
    "PartStep",
    "Problem",
    "PythonEmphasis",
    "Results",
    "SampledDiagnosis",
    "Solution",
    "Spread",
    "Suggestion",
    "Table",
    "Transitions",
    "TrueACE",
    "TrueDPGE",
    "UnevenEmphasisWarning",
    "Update",
    "__version__",
    "check",
    "collect",
    "diagnose",
    "emphasis",
    "evaluate",
    "follow_on",
    "gamma_into",
    "lambda_returns",
    "load",
    "make_vec",
    "problems",
    "rho",
    "run",
    "sweep",
]
__all__ += _catalogue.__all__

with _suppress(ImportError):  # Gymnasium is optional.
    _register()
