"""Sweeps in Mountain Car as they are written first: NumPy for each setting, Gymnasium's simulator for evaluations, a process on each core.

`whole_sweep.py WORKLOAD PAIRS` does so many pairs of a setting and a run, spread over the grid, and prints what all pairs
would take. Experience is drawn before the clock starts: all settings share it.
"""

import itertools
import json
import multiprocessing
import os
import sys
import time

# Before NumPy is loaded, which reads them: there is a process on each core already.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import gymnasium
import numpy as np
import tiles
from tiles_numpy import Learner

STEPS, GAMMA, CAP = 100_000, 0.95, 1000
TILINGS, TILES, STORED = 8, 4, 5
LOW, HIGH = np.array([-1.2, -0.07]), np.array([0.6, 0.07])
TILING = np.arange(TILINGS)
OFFSETS = np.outer(TILING, [1, 3]) / TILINGS % 1


def powers(*exponents):
    return [2.0**-k / tiles.ACTIVE for k in range(*exponents)]


# The grid, runs of each setting, evaluations of each run, episodes of each evaluation. The second has the numbers of the study's own scripts.
WORKLOADS = {
    "sweep": ([powers(2, 12), powers(1, 11), powers(2, 12), [0.0]], 5, 11, 5),
    "study": ([powers(15), powers(15), powers(15), [1 - 2.0**-k for k in range(6)]], 10, 101, 10),
}


def code(observation):
    cells = ((observation - LOW) / (HIGH - LOW) * TILES + OFFSETS).astype(np.int64)
    return np.append(TILING * STORED**2 + cells[:, 0] + STORED * cells[:, 1], TILINGS * STORED**2)


def experience(seed):
    env, random = gymnasium.make("MountainCar-v0").unwrapped, np.random.default_rng(seed)
    s, gamma = code(env.reset(seed=seed)[0]), 0.0
    for _ in range(STEPS):
        action = int(random.integers(tiles.ACTIONS))
        observation, reward, is_over, _, _ = env.step(action)
        s2, gamma_next = code(observation), 0.0 if is_over else GAMMA
        yield s, s2, action, reward, gamma, gamma_next
        s, gamma = code(env.reset()[0]) if is_over else s2, gamma_next


def evaluate(learner, env, random, episodes):
    total = 0.0
    for _ in range(episodes):
        observation, is_over = env.reset()[0], False
        while not is_over:
            p = learner.probabilities(code(observation))
            # Where weights have diverged, the last action.
            action = min(int(np.searchsorted(p.cumsum(), random.random())), tiles.ACTIONS - 1)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += reward
            is_over = terminated or truncated
    return total / episodes


def run(setting, evaluations, episodes):
    learner, random = Learner(setting), np.random.default_rng(2)
    env = gymnasium.make("MountainCar-v0", max_episode_steps=CAP)
    env.reset(seed=2)
    every = STEPS // (evaluations - 1)
    returns = []
    for t, step in enumerate(steps):
        if t % every == 0:
            returns.append(evaluate(learner, env, random, episodes))
        learner.learn(*step)
    returns.append(evaluate(learner, env, random, episodes))
    return returns


if __name__ == "__main__":
    workload, pairs = sys.argv[1], int(sys.argv[2])
    grid, runs, evaluations, episodes = WORKLOADS[workload]
    np.seterr(all="ignore")
    settings = list(itertools.product(*grid))
    part = np.random.default_rng(3).permutation(len(settings))[:pairs]
    # Known to the processes that are forked.
    steps = list(experience(1))
    with multiprocessing.get_context("fork").Pool() as pool:
        start = time.perf_counter()
        returns = pool.starmap(run, [(settings[k], evaluations, episodes) for k in part], chunksize=1)
        seconds = (time.perf_counter() - start) * len(settings) * runs / pairs
    print(json.dumps({"workload": workload, "by": "Python, from a part", "time": seconds}))
    print(f"{pairs} pairs, mean return {np.mean(returns)}", file=sys.stderr)
