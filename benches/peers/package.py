"""The Python package against Rust, and against loops in NumPy and Numba: ACE with a GTD(lambda) critic and a softmax of
three actions.

`package.py KIND STEPS WEIGHTS [--no-numba]` learns from the steps that `emphatic-bench python` wrote, compares what was
learned with its final weights (the package's to the bit, the loops' to rounding) and prints a line of JSON for each measurement.
"""

import argparse
import functools
import json
import time
from pathlib import Path

import numpy as np

import emphatic

ALPHA, LAMBDA_A, ALPHA_V, ALPHA_W, LAMBDA = 0.001, 0.9, 0.05, 0.0001, 0.5
WIDTH, ACTIONS = 8, 3
WORKLOADS = {"dense": "ACE, 8 numbers, 3 actions", "active": "ACE, 8 of 968 tiles, 3 actions"}
FEATURES = {"dense": emphatic.Dense(WIDTH), "active": emphatic.Active(WIDTH * 11 * 11, WIDTH)}


def load(kind, path):
    rows = np.frombuffer(Path(path).read_bytes(), "<f8").reshape(-1, 2 * WIDTH + 4)
    x, x_next = rows[:, :WIDTH], rows[:, WIDTH : 2 * WIDTH]
    if kind == "active":
        x, x_next = x.astype(np.int64), x_next.astype(np.int64)
    action, mu, reward, gamma_next = rows[:, 2 * WIDTH :].T
    return emphatic.Batch(x, action.astype(np.int64), reward, x_next, mu=mu, gamma_next=gamma_next)


def agent(kind):
    policy = emphatic.Softmax(FEATURES[kind], ACTIONS)
    return emphatic.ACE(policy, emphatic.GTD(ALPHA_V, ALPHA_W, LAMBDA), lambda_a=LAMBDA_A, alpha=ALPHA)


def timed(learn, *arguments):
    start = time.perf_counter()
    result = learn(*arguments)
    return time.perf_counter() - start, result


def one_by_one(batch, *names):
    """Steps as a program that gets one at a time has them: rows of features, and numbers of Python."""
    numbers = (getattr(batch, name).tolist() for name in names)
    return list(zip(batch.x, batch.x_next, *numbers))


def package_step(kind, batch):
    learner = agent(kind)
    steps = one_by_one(batch, "action", "reward", "mu", "gamma_next")

    def loop():
        for x, x_next, action, reward, mu, gamma_next in steps:
            learner.step(x, action, reward, x_next, mu=mu, gamma_next=gamma_next)

    seconds, _ = timed(loop)
    return seconds, learner.weights.ravel(), learner.critic_weights["v"]


def package_learn(kind, batch):
    learner = agent(kind)
    seconds, _ = timed(learner.learn, batch)
    return seconds, learner.weights.ravel(), learner.critic_weights["v"]


class NumPyDense:
    """What one would write first."""

    def __init__(self, n):
        self.theta, self.v, self.w, self.e = np.zeros((n, ACTIONS)), np.zeros(n), np.zeros(n), np.zeros(n)
        self.carried = 0.0

    def step(self, x, action, reward, x_next, mu, gamma, gamma_next):
        pi = np.exp(x @ self.theta)
        pi /= pi.sum()
        rho = pi[action] / mu
        delta = reward + gamma_next * (x_next @ self.v) - x @ self.v
        follow_on = gamma * self.carried + 1.0
        self.carried = rho * follow_on
        score = -pi
        score[action] += 1.0
        emphasis = 1.0 - LAMBDA_A + LAMBDA_A * follow_on
        self.theta += np.outer(x, ALPHA / WIDTH * rho * emphasis * delta * score)
        self.e = rho * (gamma * LAMBDA * self.e + x)
        correction = gamma_next * (1.0 - LAMBDA) * (self.e @ self.w)
        self.v += ALPHA_V / WIDTH * (delta * self.e - correction * x_next)
        self.w += ALPHA_W / WIDTH * (delta * self.e - (x @ self.w) * x)


class NumPyActive(NumPyDense):
    def step(self, x, action, reward, x_next, mu, gamma, gamma_next):
        pi = np.exp(self.theta[x].sum(axis=0))
        pi /= pi.sum()
        rho = pi[action] / mu
        delta = reward + gamma_next * self.v[x_next].sum() - self.v[x].sum()
        follow_on = gamma * self.carried + 1.0
        self.carried = rho * follow_on
        score = -pi
        score[action] += 1.0
        emphasis = 1.0 - LAMBDA_A + LAMBDA_A * follow_on
        self.theta[x] += ALPHA / WIDTH * rho * emphasis * delta * score
        self.e *= rho * gamma * LAMBDA
        self.e[x] += rho
        correction = gamma_next * (1.0 - LAMBDA) * (self.e @ self.w)
        x_w = self.w[x].sum()
        self.v += ALPHA_V / WIDTH * delta * self.e
        self.v[x_next] -= ALPHA_V / WIDTH * correction
        self.w += ALPHA_W / WIDTH * delta * self.e
        self.w[x] -= ALPHA_W / WIDTH * x_w


def numpy_loop(kind, batch):
    learner = (NumPyDense if kind == "dense" else NumPyActive)(FEATURES[kind].len)
    steps = one_by_one(batch, "action", "reward", "mu", "gamma", "gamma_next")

    def loop():
        for x, x_next, action, reward, mu, gamma, gamma_next in steps:
            learner.step(x, action, reward, x_next, mu, gamma, gamma_next)

    seconds, _ = timed(loop)
    return seconds, learner.theta.ravel(), learner.v


def dense_loop(n, xs, actions, rewards, xs_next, mus, gammas, gammas_next):
    theta, v, w, e = np.zeros((n, ACTIONS)), np.zeros(n), np.zeros(n), np.zeros(n)
    pi = np.empty(ACTIONS)
    carried = 0.0
    for t in range(len(actions)):
        x, x_next = xs[t], xs_next[t]
        a, gamma, gamma_next = actions[t], gammas[t], gammas_next[t]
        pi[:] = 0.0
        v_x = v_next = x_w = 0.0
        for k in range(n):
            for b in range(ACTIONS):
                pi[b] += x[k] * theta[k, b]
            v_x += v[k] * x[k]
            v_next += v[k] * x_next[k]
            x_w += w[k] * x[k]
        total = 0.0
        for b in range(ACTIONS):
            pi[b] = np.exp(pi[b])
            total += pi[b]
        for b in range(ACTIONS):
            pi[b] /= total
        rho = pi[a] / mus[t]
        delta = rewards[t] + gamma_next * v_next - v_x
        follow_on = gamma * carried + 1.0
        carried = rho * follow_on
        scale = ALPHA / WIDTH * rho * (1.0 - LAMBDA_A + LAMBDA_A * follow_on) * delta
        e_w = 0.0
        for k in range(n):
            for b in range(ACTIONS):
                theta[k, b] += scale * ((b == a) - pi[b]) * x[k]
            e[k] = rho * (gamma * LAMBDA * e[k] + x[k])
            e_w += e[k] * w[k]
        correction = gamma_next * (1.0 - LAMBDA) * e_w
        for k in range(n):
            v[k] += ALPHA_V / WIDTH * (delta * e[k] - correction * x_next[k])
            w[k] += ALPHA_W / WIDTH * (delta * e[k] - x_w * x[k])
    return theta.ravel(), v


def active_loop(n, xs, actions, rewards, xs_next, mus, gammas, gammas_next):
    theta, v, w, e = np.zeros((n, ACTIONS)), np.zeros(n), np.zeros(n), np.zeros(n)
    pi = np.empty(ACTIONS)
    carried = 0.0
    for t in range(len(actions)):
        x, x_next = xs[t], xs_next[t]
        a, gamma, gamma_next = actions[t], gammas[t], gammas_next[t]
        pi[:] = 0.0
        v_x = v_next = x_w = 0.0
        for k in x:
            for b in range(ACTIONS):
                pi[b] += theta[k, b]
            v_x += v[k]
            x_w += w[k]
        for k in x_next:
            v_next += v[k]
        total = 0.0
        for b in range(ACTIONS):
            pi[b] = np.exp(pi[b])
            total += pi[b]
        for b in range(ACTIONS):
            pi[b] /= total
        rho = pi[a] / mus[t]
        delta = rewards[t] + gamma_next * v_next - v_x
        follow_on = gamma * carried + 1.0
        carried = rho * follow_on
        scale = ALPHA / WIDTH * rho * (1.0 - LAMBDA_A + LAMBDA_A * follow_on) * delta
        for k in range(n):
            e[k] *= rho * gamma * LAMBDA
        for k in x:
            for b in range(ACTIONS):
                theta[k, b] += scale * ((b == a) - pi[b])
            e[k] += rho
        e_w = 0.0
        for k in range(n):
            e_w += e[k] * w[k]
            v[k] += ALPHA_V / WIDTH * delta * e[k]
            w[k] += ALPHA_W / WIDTH * delta * e[k]
        correction = gamma_next * (1.0 - LAMBDA) * e_w
        for k in x:
            w[k] -= ALPHA_W / WIDTH * x_w
        for k in x_next:
            v[k] -= ALPHA_V / WIDTH * correction
    return theta.ravel(), v


@functools.cache
def compiled(kind):
    from numba import njit

    return njit(dense_loop if kind == "dense" else active_loop)


def numba_loop(kind, batch):
    names = ("x", "action", "reward", "x_next", "mu", "gamma", "gamma_next")
    columns = [getattr(batch, name) for name in names]
    loop, n = compiled(kind), FEATURES[kind].len
    loop(n, *(column[:1] for column in columns))  # compiles
    seconds, (theta, v) = timed(loop, n, *columns)
    return seconds, theta, v


# Who learns, how often it is timed, and whether it must learn the same bits as Rust.
ALL = {
    "package, step": (package_step, 20, True),
    "package, learn": (package_learn, 20, True),
    "NumPy loop": (numpy_loop, 2, False),
    "Numba loop": (numba_loop, 20, False),
}


def main():
    parser = argparse.ArgumentParser(prog="package.py")
    parser.add_argument("kind", metavar="KIND", choices=FEATURES)
    parser.add_argument("steps", metavar="STEPS", help="steps as little-endian float64")
    parser.add_argument("weights", metavar="WEIGHTS", help="the final theta and v as little-endian float64")
    parser.add_argument("--no-numba", action="store_true", help="leave Numba out")
    args = parser.parse_args()
    batch = load(args.kind, args.steps)
    theirs = np.frombuffer(Path(args.weights).read_bytes(), "<f8")
    for by, (learn, repeat, to_the_bit) in ALL.items():
        if by == "Numba loop" and args.no_numba:
            continue
        results = [learn(args.kind, batch) for _ in range(repeat)]
        ours = np.concatenate(results[0][1:])
        deviation = float(np.max(np.abs(ours - theirs) / (1.0 + np.abs(theirs))))
        same = ours.tobytes() == theirs.tobytes() if to_the_bit else deviation <= 1e-9
        if not same:
            parser.exit(1, f"{parser.prog}: {args.kind}: {by} deviates from Rust by {deviation}\n")
        seconds = min(result[0] for result in results)
        nanoseconds = seconds * 1e9 / len(batch)
        report = {"workload": WORKLOADS[args.kind], "by": by, "time": nanoseconds, "deviation": deviation}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
