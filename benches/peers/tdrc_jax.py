"""TDRC(lambda) over a grid of settings, in JAX on one CPU core."""

import sweep
import tdrc
import with_jax
from with_jax import jax, jnp


# One setting, as the documentation of JAX teaches it, and vmap for the rest.
@jax.jit
def plain(settings, steps):
    features, target = jnp.asarray(tdrc.FEATURES), jnp.asarray(tdrc.TARGET)

    def learn(setting):
        alpha, lam = setting

        def step(carry, now):
            v, w, e = carry
            s, a, mu, reward, s2, gamma, gamma_next, interest = now
            x, x_next = features[s], features[s2]

            rho = target[a] / mu
            delta = reward + gamma_next * jnp.dot(v, x_next) - jnp.dot(v, x)
            e = rho * (gamma * lam * e + x)
            correction = gamma_next * (1 - lam) * jnp.dot(e, w)
            v = v + alpha * (delta * e - correction * x_next)
            w = w + alpha * (delta * e - jnp.dot(x, w) * x - w)
            return (v, w, e), None

        (v, *_), _ = jax.lax.scan(step, (jnp.zeros(6),) * 3, steps)
        return v

    return jax.vmap(learn)(settings)


# A scan over the steps for each block of settings, of arrays whose last axis is the setting: the
# fastest form found. All settings at once do not fit in the cache and took twice as long.
BLOCK = 512


@jax.jit
def tuned(settings, steps):
    features, target = jnp.asarray(tdrc.FEATURES), jnp.asarray(tdrc.TARGET)

    def learn(block):
        alpha, lam = block.T

        def step(carry, now):
            v, w, e = carry
            s, a, mu, reward, s2, gamma, gamma_next, interest = now
            x, x_next = features[s][:, None], features[s2][:, None]

            rho = target[a] / mu
            delta = reward + gamma_next * (v * x_next).sum(0) - (v * x).sum(0)
            e = rho * (gamma * lam * e + x)
            correction = gamma_next * (1 - lam) * (e * w).sum(0)
            v = v + alpha * (delta * e - correction * x_next)
            w = w + alpha * (delta * e - (w * x).sum(0) * x - w)
            return (v, w, e), None

        (v, *_), _ = jax.lax.scan(step, (jnp.zeros((6, BLOCK)),) * 3, steps)
        return v.T

    return jax.lax.map(learn, settings.reshape(-1, BLOCK, 2)).reshape(-1, 6)


if __name__ == "__main__":
    sweep.main(tdrc.NAME, tdrc.grid(), with_jax, plain=plain, tuned=tuned)
