"""An emphasis of your own: the follow-on trace, cut off after a few steps.

F_t sums what the interest of every earlier state of the episode is worth now, and that sum can grow without bound. Cut off, it sums only
those of the last few steps: n = 0 is no emphasis at all, and a large n is the follow-on trace itself.
"""

# %%
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import emphatic
from emphatic import PartStep

Floats = npt.NDArray[np.float64]


# %% One number for each learner, in everything: `steps` is an array here, `rho` and what is returned, too.
@dataclass
class Truncated(emphatic.PythonEmphasis):
    """F_t = Σ_{k ≤ n} i_{t−k} Π_{j=t−k+1}^{t} γ_j ρ_{j−1}, with n = `steps`."""

    steps: float = 5.0

    state = ("carried", "rho")
    LONGEST = 32

    def reset(self, learners: int) -> None:
        # What the interest of k steps ago is worth, for each learner and k.
        self.carried = np.zeros((learners, self.LONGEST))
        self.rho = np.zeros(learners)

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        self.carried[:, 1:] = self.carried[:, :-1] * (step.gamma * self.rho)[:, None]
        self.carried[:, 0] = step.interest
        self.rho = rho
        counted: Any = np.arange(self.LONGEST) <= np.asarray(self.steps)[:, None]
        return np.asarray(np.where(counted, self.carried, 0.0).sum(axis=1))


# %% It goes wherever an emphasis goes. In a sweep, one call serves sixteen learners.
problem = emphatic.Problem.open("counterexample")
batch = problem.stream(4_000, seed=1)
critic = emphatic.ExactCritic(problem)
lengths = [0, 1, 2, 20]
agents = [
    emphatic.ActorCritic(problem.softmax(), critic, Truncated(float(steps)), alpha=0.05) for steps in lengths
]
swept = emphatic.sweep(agents, batch)
for steps, agent in zip(lengths, swept):
    print(f"n = {steps:2}: objective {problem.objective(agent.weights):.4f}")

# %% In this problem an episode has two steps, so one step back is all there is.
trace = emphatic.ACE(problem.softmax(), critic, alpha=0.05, emphasis=emphatic.FollowOn(lambda_a=1.0))
trace.learn(batch)
np.testing.assert_allclose(swept[1].weights, trace.weights)
np.testing.assert_allclose(swept[3].weights, trace.weights)

# %% A file runs no code: whoever loads it gives the class.
swept[1].save("agent.safetensors")
again = emphatic.load("agent.safetensors", parts=[Truncated])
np.testing.assert_array_equal(again.weights, swept[1].weights)
