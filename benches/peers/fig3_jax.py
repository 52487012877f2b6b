"""ACE with a GTD(lambda) critic over a grid of settings, in JAX on one CPU core."""

import fig3
import sweep
import with_jax
from with_jax import jax, jnp


# One setting, as the documentation of JAX teaches it, and vmap for the rest.
@jax.jit
def plain(settings, steps):
    def learn(setting):
        lambda_a, alpha, alpha_v, alpha_w, lam = setting

        def step(carry, x):
            theta, v, w, e, f, rho = carry
            s, a, mu, reward, s2, gamma, gamma_next, interest = x
            feature = jnp.minimum(s, 1)

            pi = jax.nn.softmax(theta[feature])
            delta = reward + gamma_next * v[s2] - v[s]
            f = gamma * rho * f + interest
            emphasis = (1 - lambda_a) * interest + lambda_a * f
            rho = pi[a] / mu
            theta = theta.at[feature].add(alpha * rho * emphasis * delta * (jax.nn.one_hot(a, 2) - pi))

            e = rho * (gamma * lam * e).at[s].add(1.0)
            correction = gamma_next * (1 - lam) * jnp.dot(e, w)
            v = (v + alpha_v * delta * e).at[s2].add(-alpha_v * correction)
            w = (w + alpha_w * delta * e).at[s].add(-alpha_w * w[s])
            return (theta, v, w, e, f, rho), None

        start = (jnp.zeros((2, 2)), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3), 0.0, 1.0)
        (theta, *_), _ = jax.lax.scan(step, start, steps)
        return theta.ravel()

    return jax.vmap(learn)(settings)


# One scan over the steps, of arrays whose last axis is the setting: the fastest form found.
# Unrolling the scan, or mapping it over blocks of settings, did not help.
@jax.jit
def tuned(settings, steps):
    lambda_a, alpha, alpha_v, alpha_w, lam = settings.T
    zero = jnp.zeros(len(settings))

    def at(rows, s):
        return jnp.where(s == 0, rows[0], jnp.where(s == 1, rows[1], rows[2]))

    def step(carry, now):
        theta, v, w, e, f, rho = carry
        s, a, mu, reward, s2, gamma, gamma_next, interest = now
        feature = jnp.minimum(s, 1)

        # The softmax over two actions; both by sigmoid, as 1 - pi loses the small one's digits.
        preference = theta[feature, a] - theta[feature, 1 - a]
        pi_taken, pi_other = jax.nn.sigmoid(preference), jax.nn.sigmoid(-preference)
        delta = reward + gamma_next * at(v, s2) - at(v, s)
        f = gamma * rho * f + interest
        emphasis = (1 - lambda_a) * interest + lambda_a * f
        rho = pi_taken / mu
        push = alpha * rho * emphasis * delta
        taken = jnp.arange(2)[:, None] == a
        theta = theta.at[feature].add(push * jnp.where(taken, 1 - pi_taken, -pi_other))

        # The critic's rows are arrays of their own: XLA fuses them better than one (3, n) array.
        e = [rho * (gamma * lam * e[j] + (s == j)) for j in range(3)]
        correction = gamma_next * (1 - lam) * (e[0] * w[0] + e[1] * w[1] + e[2] * w[2])
        v = [v[j] + alpha_v * (delta * e[j] - correction * (s2 == j)) for j in range(3)]
        w = [w[j] + alpha_w * (delta * e[j] - w[j] * (s == j)) for j in range(3)]
        return (theta, v, w, e, f, rho), None

    start = (jnp.zeros((2, 2, len(settings))), [zero] * 3, [zero] * 3, [zero] * 3, zero, zero + 1)
    (theta, *_), _ = jax.lax.scan(step, start, steps)
    return theta.reshape(4, -1).T


if __name__ == "__main__":
    sweep.main(fig3.NAME, fig3.grid(), with_jax, plain=plain, tuned=tuned)
