# %% [markdown]
# # Your own data
#
# You have transitions that another policy generated: logs, or a simulator that you ran once. All it takes to learn a better policy from them is the
# probability with which each action was taken. Run it as a script, or cell by cell.

# %%
import tempfile
from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np

import emphatic

# %% [markdown]
# ## From Gymnasium
#
# CartPole's state as active features (tile coding), and a behaviour that pushes to the right side six times out of ten.

# %%
env = gymnasium.make("CartPole-v1")
coder = emphatic.TileCoder(low=[-2.4, -3, -0.21, -3], high=[2.4, 3, 0.21, 3], tiles=4, tilings=8)


def behaviour(observation: np.ndarray, rng: np.random.Generator) -> tuple[int, float]:
    """Push towards the side to which the pole falls, with probability 0.6."""
    towards = int(observation[2] + 0.5 * observation[3] > 0)
    return (towards, 0.6) if rng.random() < 0.6 else (1 - towards, 0.4)


logged = emphatic.collect(env, behaviour, steps=40_000, seed=1, gamma=0.99, features=coder)
print(logged)

# %% [markdown]
# ## From arrays
#
# Whatever wrote the logs, a batch is only columns. `gamma_next` is 0 where an episode ended; a time limit is not an end, so it is marked apart.

# %%
batch = emphatic.Batch(
    logged.x,
    logged.action,
    logged.reward,
    logged.x_next,
    mu=logged.mu,
    gamma_next=np.where(logged.terminated, 0.0, 0.99),
    truncated=logged.truncated,
    gamma=logged.gamma,
)

# %% [markdown]
# ## Learn
#
# The features are those of the tile coder. Step-sizes are divided by the number of tilings for you. Settings are cheap: sixteen learn side by side.

# %%
policy = emphatic.Softmax(coder.features, actions=2)
settings = [
    emphatic.ACE(policy, emphatic.GTD(alpha_v, 1e-3, 0.0), lambda_a=lambda_a, alpha=alpha)
    for alpha_v in (0.1, 0.5)
    for lambda_a in (0.0, 0.1, 0.5)
    for alpha in (0.1, 0.3, 1.0)
]
trained = emphatic.sweep(settings, batch)

# %% [markdown]
# ## Try it
#
# How long does the pole stay up? The best setting is chosen on some episodes and judged on others.


# %%
def length(act: Callable[[np.ndarray], int], seeds: range) -> float:
    """The mean length of an episode."""
    steps = 0
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(act(observation))
            over = terminated or truncated
            steps += 1
    return steps / len(seeds)


rng = np.random.default_rng(1)


def acting(agent: emphatic.ACE) -> Callable[[np.ndarray], int]:
    return lambda observation: int(agent.sample(coder(observation), rng))


best = max(trained, key=lambda agent: length(acting(agent), range(100, 105)))
before = length(lambda observation: behaviour(observation, rng)[0], range(200, 220))
after = length(acting(best), range(200, 220))
print(f"the behaviour: {before:.0f} steps; the learned policy: {after:.0f} steps")
print(best)
assert after > before

# %% [markdown]
# ## Keep it
#
# The file is safetensors: the weights by name, the settings in the metadata. What was loaded goes on as if it had never stopped.

# %%
with tempfile.TemporaryDirectory() as directory:
    path = Path(directory) / "cartpole.safetensors"
    best.save(path)
    again = emphatic.load(path)
assert np.array_equal(again.weights, best.weights)
x = coder(env.reset(seed=7)[0])
print("push right with probability", again.probabilities(x)[1].round(3))
