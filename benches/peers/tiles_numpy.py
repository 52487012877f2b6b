"""ACE on tiles as it is written first: a loop in NumPy, one setting after the other. Only the settings that are compared are learned."""

import json
import sys
import time

import numpy as np
import sweep
import tiles
from tiles import ACTIONS, FEATURES, LAMBDA_E, MU


class Learner:
    def __init__(self, setting):
        self.setting = setting
        self.theta = np.zeros((FEATURES, ACTIONS))
        self.v, self.w, self.e, self.u = (np.zeros(FEATURES) for _ in range(4))
        self.carried = 0.0

    def probabilities(self, s):
        preferences = self.theta[s].sum(0)
        p = np.exp(preferences - preferences.max())
        return p / p.sum()

    def learn(self, s, s2, a, reward, gamma, gamma_next):
        alpha, alpha_v, alpha_u, lam = self.setting
        v, w, e, u = self.v, self.w, self.e, self.u
        p = self.probabilities(s)
        rho = p[a] / MU

        f = 1.0 + gamma * self.carried
        u[s] += alpha_u * (f - u[s].sum())
        self.carried = rho * ((1 - LAMBDA_E) * u[s].sum() + LAMBDA_E * f)

        delta = reward + gamma_next * v[s2].sum() - v[s].sum()
        e *= rho * gamma * lam
        e[s] += rho
        x_dot_w, correction = w[s].sum(), gamma_next * (1 - lam) * (e @ w)
        v += alpha_v * delta * e
        v[s2] -= alpha_v * correction
        w += alpha_v * (delta * e - w)
        w[s] -= alpha_v * x_dot_w

        score = -p
        score[a] += 1
        self.theta[s] += alpha * rho * max(1.0, f) * delta * score


if __name__ == "__main__":
    x, x_next, *numbers = tiles.load(sys.argv[1])
    steps = list(zip(x, x_next, *(column.tolist() for column in numbers)))
    for name, settings in tiles.grids().items():
        learners = {k: Learner(settings[k]) for k in sweep.probes(len(settings))}
        start = time.perf_counter()
        for learner in learners.values():
            for step in steps:
                learner.learn(*step)
        nanoseconds = (time.perf_counter() - start) * 1e9 / (len(learners) * len(steps))
        probe = {str(k): learner.theta.ravel().tolist() for k, learner in learners.items()}
        print(json.dumps({"workload": name, "by": "numpy", "time": nanoseconds, "probe": probe}), flush=True)
