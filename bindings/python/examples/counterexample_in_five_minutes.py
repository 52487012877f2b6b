# %% [markdown]
# # The counterexample in five minutes
#
# A problem with three states in which the usual off-policy methods walk away from a near-optimal policy, and the emphasis mends it.
# The cells run in any editor that knows `# %%`, or as a script: `python counterexample_in_five_minutes.py`.

# %%
import numpy as np

import emphatic

# %% [markdown]
# From S0 the action A0 leads to S1 and A1 to S2. In S1 the action A0 earns 2, in S2 the action A1 earns 1; all else earns nothing. S1 and S2 look the same
# to the actor. The behaviour takes A1 three times out of four, so it sees S2 three times as often as S1.

# %%
problem = emphatic.Problem.open("counterexample")
print(problem.solve())

# %% [markdown]
# The best policy takes A0 everywhere (J = 1.25). Where both actions are alike, the gradient says: more of A0 in S1+S2. The semi-gradient, which OffPAC and
# DPG follow, says the opposite, since it weights S1 and S2 by how often the *behaviour* sees them.

# %%
solution = problem.solve()
assert solution.gradient is not None and solution.semi_gradient is not None
print("gradient of the weights of A0:     ", solution.gradient[:, 0])
print("semi-gradient of the weights of A0:", solution.semi_gradient[:, 0])
assert solution.gradient[1, 0] > 0 > solution.semi_gradient[1, 0]

# %% [markdown]
# What does that do to a policy that is nearly optimal? Both follow the same experience, with the exact critic: all that differs is the emphasis.

# %%
near_optimal = emphatic.Problem.open("near-optimal")
start = near_optimal.target_weights
assert start is not None
critic = emphatic.ExactCritic(near_optimal)
agents = {
    "OffPAC": emphatic.OffPAC(near_optimal.softmax(), critic, alpha=0.1),
    "ACE(1)": emphatic.ACE(near_optimal.softmax(), critic, alpha=0.1, emphasis=emphatic.FollowOn(1.0)),
}
curves: dict[str, list[float]] = {}
for name, agent in agents.items():
    agent.weights = start
    curves[name] = [near_optimal.objective(agent.weights)]
    for run in range(20):
        agent.learn(near_optimal.stream(500, seed=1, run=run))
        curves[name].append(near_optimal.objective(agent.weights))

print("steps      " + "".join(f"{name:>10}" for name in curves))
for k, row in enumerate(zip(*curves.values())):
    if k % 4 == 0:
        print(f"{500 * k:>5}      " + "".join(f"{objective:>10.3f}" for objective in row))

assert curves["OffPAC"][-1] < curves["OffPAC"][0] < curves["ACE(1)"][-1]

# %% [markdown]
# How much emphasis does it take? Many settings learn from the same experience side by side, each to the bit what it would be alone.

# %%
lambdas = np.linspace(0, 1, 9)
settings = [
    emphatic.ACE(
        problem.softmax(), emphatic.ExactCritic(problem), alpha=0.05, emphasis=emphatic.FollowOn(lambda_a)
    )
    for lambda_a in lambdas
]
trained = emphatic.sweep(settings, problem.stream(20_000, seed=1))
for lambda_a, agent in zip(lambdas, trained):
    objective = problem.objective(agent.weights)
    print(f"λ_a = {lambda_a:5.3f}   J = {objective:.3f}   {'#' * round(40 * objective)}")

# %% [markdown]
# Is the semi-gradient safe in *your* problem? Can the emphasis be estimated there? `diagnose` says so in words, and draws it.

# %%
diagnosis = near_optimal.diagnose()
print(diagnosis)

# %%
# The objective over all policies, with the flows of gradient and semi-gradient.
diagnosis.figure("near_optimal.svg")
diagnosis  # in a notebook: the verdict and the picture
