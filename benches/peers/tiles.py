"""ACE with a directly learned emphasis and TDRC(lambda), beta = 1, on tiles of Mountain Car: 9 of 201 features are one in each state."""

import itertools

import numpy as np

FEATURES, ACTIVE, ACTIONS = 201, 9, 3
MU, LAMBDA_E = 1 / 3, 0.5


def grids():
    """The settings of each workload, one per row: the step-sizes of actor, critic and emphasis, divided by the number of active features, and lambda."""
    alphas = [[2.0**-k / ACTIVE for k in powers] for powers in (range(6, 14), range(3, 7), range(6, 14))]
    workloads = {"ACE on tiles, no trace": 0.0, "ACE on tiles, traces": 0.5}
    return {name: np.array(list(itertools.product(*alphas, [lam]))) for name, lam in workloads.items()}


def load(path):
    """The active features of each state and of the next, the action, the reward, the discounts into and out of the state."""
    rows = np.fromfile(path, "<f8").reshape(-1, 2 * ACTIVE + 4)
    x, x_next, action = rows[:, :ACTIVE], rows[:, ACTIVE : 2 * ACTIVE], rows[:, 2 * ACTIVE]
    numbers = [np.ascontiguousarray(column) for column in rows[:, 2 * ACTIVE + 1 :].T]
    return [np.ascontiguousarray(part.astype(np.int64)) for part in (x, x_next, action)] + numbers
