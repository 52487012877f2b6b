"""ACE with a GTD(lambda) critic over a grid of settings, in Numba on one core."""

import math

import fig3
import numpy as np
import sweep
import with_numba
from numba import njit


@njit
def plain(settings, state, action, mu, reward, next_state, gamma, gamma_next, interest):
    theta_out = np.empty((settings.shape[0], 4))
    pi = np.empty(2)
    for k in range(settings.shape[0]):
        lambda_a, alpha, alpha_v, alpha_w, lam = settings[k]
        theta = np.zeros((2, 2))
        v = np.zeros(3)
        w = np.zeros(3)
        e = np.zeros(3)
        f = 0.0
        rho = 1.0

        for t in range(state.size):
            s, a, s2 = state[t], action[t], next_state[t]
            feature = min(s, 1)

            largest = max(theta[feature, 0], theta[feature, 1])
            for b in range(2):
                pi[b] = np.exp(theta[feature, b] - largest)
            total = pi[0] + pi[1]
            for b in range(2):
                pi[b] /= total

            delta = reward[t] + gamma_next[t] * v[s2] - v[s]
            f = gamma[t] * rho * f + interest[t]
            emphasis = (1.0 - lambda_a) * interest[t] + lambda_a * f
            rho = pi[a] / mu[t]
            for b in range(2):
                theta[feature, b] += alpha * rho * emphasis * delta * ((b == a) - pi[b])

            e_dot_w = 0.0
            for j in range(3):
                e[j] = rho * (gamma[t] * lam * e[j] + (j == s))
                e_dot_w += e[j] * w[j]
            w_s = w[s]
            for j in range(3):
                v[j] += alpha_v * delta * e[j]
                w[j] += alpha_w * delta * e[j]
            v[s2] -= alpha_v * gamma_next[t] * (1.0 - lam) * e_dot_w
            w[s] -= alpha_w * w_s

        theta_out[k] = theta.ravel()
    return theta_out


# Settings learn in blocks whose weights stay in the first-level cache, all settings of a
# block at each step, so that the arithmetic is done in SIMD lanes. One setting at a time
# with its weights in registers took about twice as long.
BLOCK = 128


# The "numpy" error model has no check for division by zero, which would keep the loops scalar.
@njit(error_model="numpy")
def tuned(settings, state, action, mu, reward, next_state, gamma, gamma_next, interest):
    count = settings.shape[0]
    theta_out = np.empty((count, 4))
    # Rows: 0-4 the setting, 5-7 v, 8-10 w, 11-13 e, 14 F, 15 rho. One array with constant
    # rows: for separate arrays the compiler cannot rule out overlap, and gives up on SIMD.
    x = np.empty((16, BLOCK))
    theta = np.empty((2, 2, BLOCK))
    z = np.empty(BLOCK)
    pi_taken = np.empty(BLOCK)
    pi_other = np.empty(BLOCK)
    for start in range(0, count, BLOCK):
        n = min(BLOCK, count - start)
        theta[:] = 0.0
        x[:] = 0.0
        x[:5, :n] = settings[start : start + n].T
        x[15] = 1.0

        for t in range(state.size):
            s, a, s2 = state[t], action[t], next_state[t]
            m, r, g, gn, i = mu[t], reward[t], gamma[t], gamma_next[t], interest[t]
            s_is0, s_is1, s_is2 = 1.0 * (s == 0), 1.0 * (s == 1), 1.0 * (s == 2)
            s2_is0, s2_is1, s2_is2 = 1.0 * (s2 == 0), 1.0 * (s2 == 1), 1.0 * (s2 == 2)
            taken = theta[min(s, 1), a]
            other = theta[min(s, 1), 1 - a]

            # In a loop of its own, because exp is a scalar call.
            for k in range(BLOCK):
                z[k] = math.exp(-abs(taken[k] - other[k]))

            # The softmax over two actions: the preferred one has exp(0) = 1.
            for k in range(BLOCK):
                more, less = 1.0 / (1.0 + z[k]), z[k] / (1.0 + z[k])
                prefers = taken[k] >= other[k]
                pi_taken[k] = more if prefers else less
                pi_other[k] = less if prefers else more

            for k in range(BLOCK):
                lambda_a, alpha, alpha_v, alpha_w, lam = x[0, k], x[1, k], x[2, k], x[3, k], x[4, k]
                v0, v1, v2 = x[5, k], x[6, k], x[7, k]
                w0, w1, w2 = x[8, k], x[9, k], x[10, k]

                rho = pi_taken[k] / m
                v_s = v0 if s == 0 else (v1 if s == 1 else v2)
                v_s2 = v0 if s2 == 0 else (v1 if s2 == 1 else v2)
                delta = r + gn * v_s2 - v_s
                f = g * x[15, k] * x[14, k] + i
                emphasis = (1.0 - lambda_a) * i + lambda_a * f
                z[k] = alpha * rho * emphasis * delta

                decay = g * lam
                e0 = rho * (decay * x[11, k] + s_is0)
                e1 = rho * (decay * x[12, k] + s_is1)
                e2 = rho * (decay * x[13, k] + s_is2)
                correction = gn * (1.0 - lam) * (e0 * w0 + e1 * w1 + e2 * w2)

                x[5, k] = v0 + alpha_v * (delta * e0 - correction * s2_is0)
                x[6, k] = v1 + alpha_v * (delta * e1 - correction * s2_is1)
                x[7, k] = v2 + alpha_v * (delta * e2 - correction * s2_is2)
                x[8, k] = w0 + alpha_w * (delta * e0 - w0 * s_is0)
                x[9, k] = w1 + alpha_w * (delta * e1 - w1 * s_is1)
                x[10, k] = w2 + alpha_w * (delta * e2 - w2 * s_is2)
                x[11, k] = e0
                x[12, k] = e1
                x[13, k] = e2
                x[14, k] = f
                x[15, k] = rho

            # Separate from the loop above, so that no row there has a variable index.
            for k in range(BLOCK):
                taken[k] += z[k] * (1.0 - pi_taken[k])
                other[k] -= z[k] * pi_other[k]

        for k in range(n):
            for j in range(4):
                theta_out[start + k, j] = theta[j // 2, j % 2, k]
    return theta_out


if __name__ == "__main__":
    sweep.main(fig3.NAME, fig3.grid(), with_numba, plain=plain, tuned=tuned)
