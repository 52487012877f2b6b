"""TDRC(lambda) over a grid of settings, in Numba on one core."""

import numpy as np
import sweep
import tdrc
import with_numba
from numba import njit
from tdrc import FEATURES, TARGET


# As the equations are written: every vector operation allocates its result.
@njit
def vectors(settings, state, action, mu, reward, next_state, gamma, gamma_next, interest):
    v_out = np.empty((settings.shape[0], 6))
    for k in range(settings.shape[0]):
        alpha, lam = settings[k]
        v, w, e = np.zeros(6), np.zeros(6), np.zeros(6)
        for t in range(state.size):
            x, x_next = FEATURES[state[t]], FEATURES[next_state[t]]
            rho = TARGET[action[t]] / mu[t]
            delta = reward[t] + gamma_next[t] * np.sum(v * x_next) - np.sum(v * x)
            e = rho * (gamma[t] * lam * e + x)
            correction = gamma_next[t] * (1.0 - lam) * np.sum(e * w)
            v += alpha * (delta * e - correction * x_next)
            w += alpha * (delta * e - np.sum(x * w) * x - w)
        v_out[k] = v
    return v_out


# The same in loops over all six features. Loops over the three that are active took a fifth longer.
@njit
def plain(settings, state, action, mu, reward, next_state, gamma, gamma_next, interest):
    v_out = np.empty((settings.shape[0], 6))
    for k in range(settings.shape[0]):
        alpha, lam = settings[k]
        v = np.zeros(6)
        w = np.zeros(6)
        e = np.zeros(6)

        for t in range(state.size):
            x, x_next = FEATURES[state[t]], FEATURES[next_state[t]]
            rho = TARGET[action[t]] / mu[t]

            v_x = v_x_next = x_dot_w = e_dot_w = 0.0
            for j in range(6):
                v_x += v[j] * x[j]
                v_x_next += v[j] * x_next[j]
                x_dot_w += x[j] * w[j]
                e[j] = rho * (gamma[t] * lam * e[j] + x[j])
                e_dot_w += e[j] * w[j]
            delta = reward[t] + gamma_next[t] * v_x_next - v_x
            correction = gamma_next[t] * (1.0 - lam) * e_dot_w
            for j in range(6):
                v[j] += alpha * (delta * e[j] - correction * x_next[j])
                w[j] += alpha * (delta * e[j] - x_dot_w * x[j] - w[j])

        v_out[k] = v
    return v_out


# Settings learn in blocks whose weights stay in the first-level cache, all settings of a
# block at each step, so that the arithmetic is done in SIMD lanes.
BLOCK = 128


# The "numpy" error model has no check for division by zero, which would keep the loops scalar.
@njit(error_model="numpy")
def tuned(settings, state, action, mu, reward, next_state, gamma, gamma_next, interest):
    count = settings.shape[0]
    v_out = np.empty((count, 6))
    # Rows: 0-1 the setting, 2-7 v, 8-13 w, 14-19 e. One array with constant rows: for
    # separate arrays the compiler cannot rule out overlap, and gives up on SIMD.
    a = np.empty((20, BLOCK))
    for start in range(0, count, BLOCK):
        n = min(BLOCK, count - start)
        a[:] = 0.0
        a[:2, :n] = settings[start : start + n].T

        for t in range(state.size):
            x0, x1, x2, x3, x4, x5 = FEATURES[state[t]]
            y0, y1, y2, y3, y4, y5 = FEATURES[next_state[t]]
            rho = TARGET[action[t]] / mu[t]
            r, g, gn = reward[t], gamma[t], gamma_next[t]

            for k in range(BLOCK):
                alpha, lam = a[0, k], a[1, k]
                v0, v1, v2, v3, v4, v5 = a[2, k], a[3, k], a[4, k], a[5, k], a[6, k], a[7, k]
                w0, w1, w2, w3, w4, w5 = a[8, k], a[9, k], a[10, k], a[11, k], a[12, k], a[13, k]

                v_x = v0 * x0 + v1 * x1 + v2 * x2 + v3 * x3 + v4 * x4 + v5 * x5
                v_y = v0 * y0 + v1 * y1 + v2 * y2 + v3 * y3 + v4 * y4 + v5 * y5
                delta = r + gn * v_y - v_x

                decay = g * lam
                e0 = rho * (decay * a[14, k] + x0)
                e1 = rho * (decay * a[15, k] + x1)
                e2 = rho * (decay * a[16, k] + x2)
                e3 = rho * (decay * a[17, k] + x3)
                e4 = rho * (decay * a[18, k] + x4)
                e5 = rho * (decay * a[19, k] + x5)
                w_e = e0 * w0 + e1 * w1 + e2 * w2 + e3 * w3 + e4 * w4 + e5 * w5
                w_x = x0 * w0 + x1 * w1 + x2 * w2 + x3 * w3 + x4 * w4 + x5 * w5

                step, keep = alpha * delta, 1.0 - alpha
                to_y = alpha * gn * (1.0 - lam) * w_e
                to_x = alpha * w_x
                a[2, k] = v0 + step * e0 - to_y * y0
                a[3, k] = v1 + step * e1 - to_y * y1
                a[4, k] = v2 + step * e2 - to_y * y2
                a[5, k] = v3 + step * e3 - to_y * y3
                a[6, k] = v4 + step * e4 - to_y * y4
                a[7, k] = v5 + step * e5 - to_y * y5
                a[8, k] = keep * w0 + step * e0 - to_x * x0
                a[9, k] = keep * w1 + step * e1 - to_x * x1
                a[10, k] = keep * w2 + step * e2 - to_x * x2
                a[11, k] = keep * w3 + step * e3 - to_x * x3
                a[12, k] = keep * w4 + step * e4 - to_x * x4
                a[13, k] = keep * w5 + step * e5 - to_x * x5
                a[14, k], a[15, k], a[16, k] = e0, e1, e2
                a[17, k], a[18, k], a[19, k] = e3, e4, e5

        v_out[start : start + n] = a[2:8, :n].T
    return v_out


if __name__ == "__main__":
    sweep.main(tdrc.NAME, tdrc.grid(), with_numba, vectors=vectors, plain=plain, tuned=tuned)
