# %% [markdown]
# # Your own data
#
# You have transitions that another policy generated: logs, or a simulator that you ran once. All it takes to learn a better policy from them is the
# probability with which each action was taken. Run it as a script, or cell by cell.

# %%
import tempfile
from pathlib import Path

import gymnasium
import numpy as np

import emphatic

# %% [markdown]
# ## From Gymnasium
#
# CartPole's state as active features (tile coding), and a behaviour that pushes against the pole's fall three times out of four.

# %%
env = gymnasium.make("CartPole-v1")
coder = emphatic.TileCoder(low=[-2.4, -3, -0.21, -3], high=[2.4, 3, 0.21, 3], tiles=6, tilings=8)


def behaviour(observation: np.ndarray, rng: np.random.Generator) -> tuple[int, float]:
    """Push towards the side to which the pole falls, with probability 3/4."""
    towards = int(observation[2] + 0.5 * observation[3] > 0)
    keeps = rng.random() < 0.75
    return (towards, 0.75) if keeps else (1 - towards, 0.25)


logged = emphatic.collect(env, behaviour, steps=20_000, seed=1, gamma=0.99, features=coder)
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
    emphatic.ACE(policy, emphatic.GTD(alpha_v, 1e-3, 0.9), lambda_a=lambda_a, alpha=alpha)
    for alpha_v in (0.1, 0.5)
    for lambda_a in (0.0, 0.1)
    for alpha in (0.01, 0.05, 0.1)
]
trained = emphatic.sweep(settings, batch)

# %% [markdown]
# ## Try it
#
# How long does the pole stay up? The behaviour first, then the learners.


# %%
def length(act, episodes: int = 20) -> float:  # type: ignore[no-untyped-def]
    """The mean length of an episode."""
    steps = 0
    for episode in range(episodes):
        observation, _ = env.reset(seed=1000 + episode)
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(act(observation))
            over = terminated or truncated
            steps += 1
    return steps / episodes


rng = np.random.default_rng(1)
before = length(lambda observation: behaviour(observation, rng)[0])
lengths = [length(lambda observation: agent.sample(coder(observation), rng)) for agent in trained]
best = trained[int(np.argmax(lengths))]
print(f"behaviour: {before:.0f} steps; best of {len(trained)} learners: {max(lengths):.0f} steps")
print(best)
assert max(lengths) > before

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
