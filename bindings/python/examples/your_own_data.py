# %% [markdown]
# # Your own data
#
# You have transitions that another policy generated: logs, or a simulator that you ran once. All it takes to learn a better policy from them is the
# probability with which each action was taken. Run it as a script, or cell by cell.

# %%
import csv

import gymnasium
import numpy as np

import emphatic

# %% [markdown]
# ## A log file
#
# A shop has logged on which page a visitor was, what was recommended, what was earned, and where the visitor went. (A simulator writes
# the file here, so that the script runs anywhere and what is learned can be judged exactly.)

# %%
shop = emphatic.Problem.open("shop")
with open("log.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["page", "recommended", "earned", "next_page", "left"])
    simulated = shop.stream(20_000, seed=1)
    columns = (simulated.x, simulated.action, simulated.reward, simulated.x_next, simulated.terminated)
    writer.writerows(zip(*(column.tolist() for column in columns)))

# %% [markdown]
# A batch is only columns: from the `csv` module, NumPy, pandas, Polars, Arrow. `gamma_next` is 0 where an episode ended.
#
# The probabilities with which the recommender chose were not logged here. How often it chose each action on each page is an estimate of them;
# if they are in your log, use those.

# %%
with open("log.csv", newline="") as file:
    log = list(csv.DictReader(file))
page = np.array([int(row["page"]) for row in log])
recommended = np.array([int(row["recommended"]) for row in log])
left = np.array([row["left"] == "True" for row in log])

counts = np.zeros((3, 2))
np.add.at(counts, (page, recommended), 1)
mu = counts / counts.sum(axis=1, keepdims=True)
print("the recommender, as it was:", mu.round(2).tolist())

batch = emphatic.Batch(
    x=page,
    action=recommended,
    reward=[float(row["earned"]) for row in log],
    x_next=[int(row["next_page"]) for row in log],
    mu=mu[page, recommended],
    gamma_next=np.where(left, 0.0, 0.95),
)
print(batch)

recommender = emphatic.ACE(
    emphatic.Softmax(emphatic.OneHot(3), actions=2),
    emphatic.GTD(0.1, 1e-3, 0.0),
    alpha=0.1,
    emphasis=emphatic.FollowOn(lambda_a=1.0),
)
recommender.learn(batch)
new = recommender.probabilities(np.arange(3))
print("and as it should be:       ", new.round(2).tolist())

was, is_now = (shop.solve(probabilities=pi).objective for pi in (mu, new))
print(f"the objective was {was:.2f} and would be {is_now:.2f}")
assert is_now > 2 * was

# %% [markdown]
# ## From Gymnasium
#
# CartPole's state as active features (tile coding), and a behaviour that pushes the way the pole falls six times out of ten. `collect` marks
# apart what terminated and what a time limit truncated.

# %%
env = gymnasium.make("CartPole-v1")
coder = emphatic.TileCoder(low=[-2.4, -3, -0.21, -3], high=[2.4, 3, 0.21, 3], tiles=4, tilings=8)


def behaviour(observation: np.ndarray, rng: np.random.Generator) -> tuple[int, float]:
    """Push the way the pole falls, with probability 0.6."""
    towards = int(observation[2] + 0.5 * observation[3] > 0)
    return (towards, 0.6) if rng.random() < 0.6 else (1 - towards, 0.4)


logged = emphatic.collect(env, behaviour, steps=40_000, seed=1, gamma=0.99, features=coder)
print(logged)

# %% [markdown]
# ## Learn
#
# The features are those of the tile coder. Step-sizes are divided by the number of tilings for you. Settings are cheap: sixteen learn side by side.
# (With a larger `lambda_a` a few steps would count for all, and a warning would say so.)

# %%
policy = emphatic.Softmax(coder.features, actions=2)
settings = [
    emphatic.ACE(policy, emphatic.GTD(alpha_v, 1e-3, 0.0), alpha=alpha, emphasis=emphatic.FollowOn(lambda_a))
    for alpha_v in (0.1, 0.5)
    for lambda_a in (0.0, 0.01, 0.02)
    for alpha in (0.1, 0.3, 1.0)
]
trained = emphatic.sweep(settings, logged)

# %% [markdown]
# ## Try it
#
# How long does the pole stay up? A step is worth 1, so the return is the length of an episode. The best setting is chosen on some episodes and
# judged on others.

# %%
best = max(
    trained, key=lambda agent: emphatic.evaluate(env, agent, episodes=5, seed=100, features=coder).mean
)
before = emphatic.evaluate(env, behaviour, episodes=20, seed=200)
after = emphatic.evaluate(env, best, episodes=20, seed=200, features=coder)
print(f"the behaviour: {before}")
print(f"the learned policy: {after}")
print(best)
assert after.mean > before.mean

# %% [markdown]
# ## Keep it
#
# The file is safetensors: the weights by name, the settings in the metadata. What was loaded goes on as if it had never stopped.

# %%
best.save("cartpole.safetensors")
again = emphatic.load("cartpole.safetensors")
assert np.array_equal(again.weights, best.weights)
x = coder(env.reset(seed=7)[0])
print("push right with probability", again.probabilities(x)[1].round(3))
