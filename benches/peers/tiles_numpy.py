"""ACE on tiles as it is written first: a loop in NumPy, one setting after the other. Only the settings that are compared are learned."""

import json
import sys
import time

import numpy as np
import sweep
import tiles
from tiles import ACTIONS, FEATURES, LAMBDA_E, MU

def plain(settings, x, x_next, action, reward, gamma, gamma_next):
    theta_out = np.zeros((settings.shape[0], FEATURES * ACTIONS))
    for k in sweep.probes(settings.shape[0]):
        alpha, alpha_v, alpha_u, lam = settings[k]
        theta = np.zeros((FEATURES, ACTIONS))
        v, w, e, u = np.zeros(FEATURES), np.zeros(FEATURES), np.zeros(FEATURES), np.zeros(FEATURES)
        carried = 0.0
        for t in range(action.size):
            s, s2, a = x[t], x_next[t], action[t]
            preferences = theta[s].sum(0)
            p = np.exp(preferences - preferences.max())
            p /= p.sum()
            rho = p[a] / MU

            f = 1.0 + gamma[t] * carried
            u[s] += alpha_u * (f - u[s].sum())
            carried = rho * ((1 - LAMBDA_E) * u[s].sum() + LAMBDA_E * f)

            delta = reward[t] + gamma_next[t] * v[s2].sum() - v[s].sum()
            e *= rho * gamma[t] * lam
            e[s] += rho
            x_dot_w, correction = w[s].sum(), gamma_next[t] * (1 - lam) * (e @ w)
            v += alpha_v * delta * e
            v[s2] -= alpha_v * correction
            w += alpha_v * (delta * e - w)
            w[s] -= alpha_v * x_dot_w

            score = -p
            score[a] += 1
            theta[s] += alpha * rho * max(1.0, f) * delta * score
        theta_out[k] = theta.ravel()
    return theta_out


if __name__ == "__main__":
    steps, settings = tiles.load(sys.argv[1]), tiles.grid()
    compared = sweep.probes(len(settings))
    start = time.perf_counter()
    weights = plain(settings, *steps)
    nanoseconds = (time.perf_counter() - start) * 1e9 / (len(compared) * len(steps[0]))
    probe = {str(k): weights[k].tolist() for k in compared}
    print(json.dumps({"workload": tiles.NAME, "by": "numpy", "time": nanoseconds, "probe": probe}))
