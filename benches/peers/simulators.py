"""What a step of Gymnasium's simulators takes, alone and as a vector, of ours from Python, and of a loop in Numba. Actions are drawn beforehand."""

import json
import math
import time

import gymnasium
import numpy as np
from numba import njit

import emphatic

SIMULATORS = {
    "mountain-car": ("MountainCar-v0", 3),
    "cart-pole": ("CartPole-v1", 2),
    "acrobot": ("Acrobot-v1", 3),
}
STEPS, WIDTH = 4_000, 64


def alone(env, actions):
    env.reset(seed=1)
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def together(envs, actions):
    envs.reset(seed=1)
    for action in actions:
        envs.step(action)


@njit
def mountain_car(actions, starts):
    episode = ends = 0
    position, velocity = starts[0], 0.0
    for action in actions:
        velocity += 0.001 * (action - 1) - 0.0025 * math.cos(3 * position)
        velocity = min(max(velocity, -0.07), 0.07)
        position = min(max(position + velocity, -1.2), 0.6)
        if position == -1.2 and velocity < 0:
            velocity = 0.0
        if position >= 0.5 and velocity >= 0:
            ends += 1
            episode = (episode + 1) % starts.size
            position, velocity = starts[episode], 0.0
    return ends


def report(workload, by, work, count):
    """Prints the nanoseconds per step of the best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e9 / count)
    print(json.dumps({"workload": workload, "by": by, "time": min(times)}), flush=True)


if __name__ == "__main__":
    random = np.random.default_rng(1)
    for name, (theirs, count) in SIMULATORS.items():
        actions = random.integers(count, size=STEPS)
        rows = random.integers(count, size=(STEPS // WIDTH, WIDTH))
        env = gymnasium.make(theirs)
        report(name, "Gymnasium", lambda: alone(env, actions), STEPS)
        envs = gymnasium.make_vec(theirs, WIDTH, vectorization_mode="sync")
        report(name, f"Gymnasium, {WIDTH}", lambda: together(envs, rows), rows.size)
        ours = emphatic.make_vec(name, WIDTH)
        many = np.tile(rows, (20, 1))
        report(name, f"package, {WIDTH}", lambda: together(ours, many), many.size)
    actions, starts = random.integers(3, size=1_000_000), random.uniform(-0.6, -0.4, 1000)
    mountain_car(actions[:10], starts)  # compiles
    report("mountain-car", "numba", lambda: mountain_car(actions, starts), actions.size)
