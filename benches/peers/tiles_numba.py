"""ACE on tiles over a grid of settings, in Numba on one core."""

import numpy as np
import sweep
import tiles
import with_numba
from numba import njit
from tiles import ACTIONS, ACTIVE, FEATURES, LAMBDA_E, MU


@njit
def plain(settings, x, x_next, action, reward, gamma, gamma_next):
    theta_out = np.empty((settings.shape[0], FEATURES * ACTIONS))
    for k in range(settings.shape[0]):
        alpha, alpha_v, alpha_u, lam = settings[k]
        theta = np.zeros((FEATURES, ACTIONS))
        v, w, e, u = np.zeros(FEATURES), np.zeros(FEATURES), np.zeros(FEATURES), np.zeros(FEATURES)
        p = np.empty(ACTIONS)
        carried = 0.0
        for t in range(action.size):
            s, s2, a = x[t], x_next[t], action[t]
            p[:] = 0.0
            u_x = v_x = v_x_next = x_dot_w = 0.0
            for j in s:
                u_x += u[j]
                v_x += v[j]
                x_dot_w += w[j]
                for b in range(ACTIONS):
                    p[b] += theta[j, b]
            for j in s2:
                v_x_next += v[j]
            p -= p.max()
            p[:] = np.exp(p)
            p /= p.sum()
            rho = p[a] / MU

            f = 1.0 + gamma[t] * carried
            for j in s:
                u[j] += alpha_u * (f - u_x)
            u_x += ACTIVE * alpha_u * (f - u_x)
            carried = rho * ((1 - LAMBDA_E) * u_x + LAMBDA_E * f)

            delta = reward[t] + gamma_next[t] * v_x_next - v_x
            e *= rho * gamma[t] * lam
            for j in s:
                e[j] += rho
            e_dot_w = 0.0
            for j in range(FEATURES):
                e_dot_w += e[j] * w[j]
            for j in range(FEATURES):
                v[j] += alpha_v * delta * e[j]
                w[j] += alpha_v * (delta * e[j] - w[j])
            correction = gamma_next[t] * (1 - lam) * e_dot_w
            for j in s2:
                v[j] -= alpha_v * correction
            for j in s:
                w[j] -= alpha_v * x_dot_w

            scale = alpha * rho * max(1.0, f) * delta
            for j in s:
                for b in range(ACTIONS):
                    theta[j, b] += scale * ((b == a) - p[b])
        theta_out[k] = theta.ravel()
    return theta_out


if __name__ == "__main__":
    for name, settings in tiles.grids().items():
        sweep.main(name, settings, with_numba, load=tiles.load, plain=plain)
