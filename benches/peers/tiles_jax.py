"""ACE on tiles over a grid of settings, in JAX on one CPU core."""

import sweep
import tiles
import with_jax
from tiles import ACTIONS, ACTIVE, FEATURES, LAMBDA_E, MU
from with_jax import jax, jnp


# One setting, as the documentation of JAX teaches it, and vmap for the rest.
@jax.jit
def plain(settings, steps):
    def learn(setting):
        alpha, alpha_v, alpha_u, lam = setting

        def step(carry, now):
            theta, v, w, e, u, carried = carry
            s, s2, a, reward, gamma, gamma_next = now
            p = jax.nn.softmax(theta[s].sum(0))
            rho = p[a] / MU
            f = 1 + gamma * carried
            u = u.at[s].add(alpha_u * (f - u[s].sum()))
            carried = rho * ((1 - LAMBDA_E) * u[s].sum() + LAMBDA_E * f)
            delta = reward + gamma_next * v[s2].sum() - v[s].sum()
            e = (rho * gamma * lam * e).at[s].add(rho)
            correction = gamma_next * (1 - lam) * jnp.dot(e, w)
            v = (v + alpha_v * delta * e).at[s2].add(-alpha_v * correction)
            w = (w + alpha_v * (delta * e - w)).at[s].add(-alpha_v * w[s].sum())
            score = (jnp.arange(ACTIONS) == a) - p
            theta = theta.at[s].add(alpha * rho * jnp.maximum(1, f) * delta * score)
            return (theta, v, w, e, u, carried), None

        start = (jnp.zeros((FEATURES, ACTIONS)), *(jnp.zeros(FEATURES),) * 4, 0.0)
        (theta, *_), _ = jax.lax.scan(step, start, steps)
        return theta.ravel()

    return jax.vmap(learn)(settings)


# A scan over the steps for each block of settings, of arrays whose last axis is the setting.
BLOCK = 64


@jax.jit
def tuned(settings, steps):
    def learn(block):
        alpha, alpha_v, alpha_u, lam = block.T

        def step(carry, now):
            theta, v, w, e, u, carried = carry
            s, s2, a, reward, gamma, gamma_next = now
            p = jax.nn.softmax(theta[s].sum(0), axis=0)
            rho = p[a] / MU
            f = 1 + gamma * carried
            u_x = u[s].sum(0)
            error = alpha_u * (f - u_x)
            u = u.at[s].add(error)
            carried = rho * ((1 - LAMBDA_E) * (u_x + ACTIVE * error) + LAMBDA_E * f)
            delta = reward + gamma_next * v[s2].sum(0) - v[s].sum(0)
            e = (rho * gamma * lam * e).at[s].add(rho)
            correction = gamma_next * (1 - lam) * (e * w).sum(0)
            v = (v + alpha_v * delta * e).at[s2].add(-alpha_v * correction)
            w = (w + alpha_v * (delta * e - w)).at[s].add(-alpha_v * w[s].sum(0))
            score = (jnp.arange(ACTIONS) == a)[:, None] - p
            theta = theta.at[s].add(alpha * rho * jnp.maximum(1, f) * delta * score)
            return (theta, v, w, e, u, carried), None

        weights = jnp.zeros((FEATURES, BLOCK))
        start = (jnp.zeros((FEATURES, ACTIONS, BLOCK)), *(weights,) * 4, jnp.zeros(BLOCK))
        (theta, *_), _ = jax.lax.scan(step, start, steps)
        return theta.reshape(-1, BLOCK).T

    return jax.lax.map(learn, settings.reshape(-1, BLOCK, 4)).reshape(-1, FEATURES * ACTIONS)


if __name__ == "__main__":
    for name, settings in tiles.grids().items():
        sweep.main(name, settings, with_jax, load=tiles.load, plain=plain, tuned=tuned)
