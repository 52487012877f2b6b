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


# Settings learn in blocks, all settings of a block at each step, so that the arithmetic is done in SIMD lanes.
BLOCK = 16


@njit(error_model="numpy")
def tuned(settings, x, x_next, action, reward, gamma, gamma_next):
    count = settings.shape[0]
    theta_out = np.empty((count, FEATURES * ACTIONS))
    # Rows of one array: for separate arrays the compiler cannot rule out overlap, and gives up on SIMD.
    V, W, E, U, THETA = 0, FEATURES, 2 * FEATURES, 3 * FEATURES, 4 * FEATURES
    m = np.empty((7 * FEATURES, BLOCK))
    f, rho, delta, carried = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    w_e, w_x, u_x = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    p0, p1, p2 = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, count, BLOCK):
        block = settings[start : start + BLOCK].T.copy()
        alpha, alpha_v, alpha_u, lam = block[0], block[1], block[2], block[3]
        m[:] = 0.0
        carried[:] = 0.0
        for t in range(action.size):
            s, s2, a = x[t], x_next[t], action[t]
            p0[:] = 0.0
            p1[:] = 0.0
            p2[:] = 0.0
            u_x[:] = 0.0
            w_x[:] = 0.0
            delta[:] = reward[t]
            w_e[:] = 0.0
            for j in s:
                for k in range(BLOCK):
                    p0[k] += m[THETA + 3 * j, k]
                    p1[k] += m[THETA + 3 * j + 1, k]
                    p2[k] += m[THETA + 3 * j + 2, k]
                    u_x[k] += m[U + j, k]
                    w_x[k] += m[W + j, k]
                    delta[k] -= m[V + j, k]
            for j in s2:
                for k in range(BLOCK):
                    delta[k] += gamma_next[t] * m[V + j, k]
            for k in range(BLOCK):
                most = max(p0[k], p1[k], p2[k])
                e0, e1, e2 = np.exp(p0[k] - most), np.exp(p1[k] - most), np.exp(p2[k] - most)
                total = 1.0 / (e0 + e1 + e2)
                p0[k], p1[k], p2[k] = e0 * total, e1 * total, e2 * total
                rho[k] = (p0[k] if a == 0 else p1[k] if a == 1 else p2[k]) / MU
                f[k] = 1.0 + gamma[t] * carried[k]
                error = alpha_u[k] * (f[k] - u_x[k])
                carried[k] = rho[k] * ((1 - LAMBDA_E) * (u_x[k] + ACTIVE * error) + LAMBDA_E * f[k])
                u_x[k] = error
            for j in range(FEATURES):
                for k in range(BLOCK):
                    m[E + j, k] *= rho[k] * gamma[t] * lam[k]
            for j in s:
                for k in range(BLOCK):
                    m[E + j, k] += rho[k]
                    m[U + j, k] += u_x[k]
            for j in range(FEATURES):
                for k in range(BLOCK):
                    w_e[k] += m[E + j, k] * m[W + j, k]
            for j in range(FEATURES):
                for k in range(BLOCK):
                    change = alpha_v[k] * delta[k] * m[E + j, k]
                    m[V + j, k] += change
                    m[W + j, k] += change - alpha_v[k] * m[W + j, k]
            for j in s2:
                for k in range(BLOCK):
                    m[V + j, k] -= alpha_v[k] * gamma_next[t] * (1 - lam[k]) * w_e[k]
            for k in range(BLOCK):
                delta[k] *= alpha[k] * rho[k] * max(1.0, f[k])
            for j in s:
                for k in range(BLOCK):
                    m[W + j, k] -= alpha_v[k] * w_x[k]
                    m[THETA + 3 * j, k] += delta[k] * ((a == 0) - p0[k])
                    m[THETA + 3 * j + 1, k] += delta[k] * ((a == 1) - p1[k])
                    m[THETA + 3 * j + 2, k] += delta[k] * ((a == 2) - p2[k])
        theta_out[start : start + BLOCK] = m[THETA:].T
    return theta_out


if __name__ == "__main__":
    sweep.main(tiles.NAME, tiles.grid(), with_numba, load=tiles.load, plain=plain, tuned=tuned)
