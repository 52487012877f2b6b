# %% [markdown]
# # Emphasis in your own PyTorch loss
#
# Off-policy actor-critic methods weight states by how often the *behaviour* visits them. That is a
# semi-gradient, and it can lead away from the best policy. The gradient weights each step by its *emphasis*
# instead. With a network and a loss of your own that is one factor:
#
# ```python
# actor_loss = -(emphasis * advantage * log_pi).mean()
# ```
#
# This script learns the counterexample of Imani, Graves and White (2018) with and without that factor. It
# needs `torch` and takes a few seconds.

# %%
from __future__ import annotations

import math
from typing import NamedTuple

import torch

import emphatic

torch.set_num_threads(1)  # for networks as small as these, threads only cost

# %% [markdown]
# ## The problem
#
# Three states and two actions. From S0, A0 leads to S1 and A1 to S2, where any action ends the episode. S1
# pays 2 for A0, S2 pays 1 for A1. S1 and S2 look the same to the actor, so it can do right in one of them
# only. Always A0 is best: it leads to S1 and takes the 2. But the behaviour takes A1 three times out of four,
# so S2 is seen three times as often as S1.

# %%
GAMMA = 1.0
BEHAVIOUR = torch.tensor([0.25, 0.75])  # of A0 and A1, in every state
REWARD = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])  # [state, action]
ACTOR_SEES = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # S1 and S2 look alike
CRITIC_SEES = torch.eye(3)


class Rollout(NamedTuple):
    """What the behaviour did: arrays [time, batch]."""

    state: torch.Tensor
    action: torch.Tensor
    log_mu: torch.Tensor
    reward: torch.Tensor
    gamma_next: torch.Tensor
    state_next: torch.Tensor


def roll_out(episodes: int, batch: int, generator: torch.Generator) -> Rollout:
    """Episodes one after the other in each of `batch` streams. Every episode has two steps."""
    size = 2 * episodes * batch
    action = torch.multinomial(BEHAVIOUR, size, replacement=True, generator=generator).view(-1, batch)
    state = torch.zeros_like(action)
    state[1::2] = 1 + action[0::2]
    gamma_next = torch.full(action.shape, GAMMA)
    gamma_next[1::2] = 0.0  # the episode ends
    state_next = torch.cat([state[1:], torch.zeros(1, batch, dtype=torch.int64)])
    return Rollout(state, action, BEHAVIOUR[action].log(), REWARD[state, action], gamma_next, state_next)


# %% [markdown]
# The objective is the value of the policy in the states that the behaviour visits: half of the time S0, an
# eighth S1, three eighths S2. Here it can be computed exactly.


# %%
def objective(actor: torch.nn.Linear) -> float:
    """J = sum over s of d_mu(s) v_pi(s)."""
    with torch.no_grad():
        pi = actor(ACTOR_SEES).softmax(-1)
    v1, v2 = (pi[1] * REWARD[1]).sum(), (pi[2] * REWARD[2]).sum()
    v0 = GAMMA * (pi[0, 0] * v1 + pi[0, 1] * v2)
    return float(0.5 * v0 + 0.125 * v1 + 0.375 * v2)


# %% [markdown]
# ## Learning
#
# The only difference between the two learners is `lambda_a`: 0 weights all steps alike, as usual; 1 is full
# emphasis. Actor and critic are linear layers here; any network that gives `log_pi` and `value` will do.
# `returns - value` has the factor rho already.


# %%
def learn(lambda_a: float, updates: int, seed: int) -> list[float]:
    """The objective before each tenth of the updates, and at the end."""
    generator = torch.Generator().manual_seed(seed)
    actor = torch.nn.Linear(2, 2, bias=False)
    critic = torch.nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        # Near the best policy: A0 with probability 0.9.
        actor.weight.copy_(torch.tensor([[math.log(9.0)] * 2, [0.0] * 2]))
        critic.weight.zero_()
    optimiser = torch.optim.SGD(
        [{"params": actor.parameters(), "lr": 1.0}, {"params": critic.parameters(), "lr": 0.2}]
    )

    objectives = []
    for update in range(updates):
        if update % (updates // 10) == 0:
            objectives.append(objective(actor))
        batch = roll_out(episodes=4, batch=32, generator=generator)
        log_pi = actor(ACTOR_SEES[batch.state]).log_softmax(-1)
        log_pi = log_pi.gather(-1, batch.action[..., None])[..., 0]
        value = critic(CRITIC_SEES[batch.state])[..., 0]
        with torch.no_grad():
            value_next = critic(CRITIC_SEES[batch.state_next])[..., 0]

        # Weights and targets: not differentiated through.
        rho = emphatic.rho(log_pi.detach(), batch.log_mu)
        gamma = emphatic.gamma_into(batch.gamma_next)
        emphasis = emphatic.emphasis(rho, gamma, lambda_a=lambda_a)
        returns = emphatic.lambda_returns(
            batch.reward, batch.gamma_next, value.detach(), value_next, rho, lambda_=0.5
        )

        actor_loss = -(emphasis * (returns - value.detach()) * log_pi).mean()
        critic_loss = 0.5 * ((returns - value) ** 2).mean()
        optimiser.zero_grad()
        (actor_loss + critic_loss).backward()
        optimiser.step()
    return [*objectives, objective(actor)]


# %% [markdown]
# ## What happens
#
# From the same near-optimal policy and the same experience, the weighted loss climbs to the best policy
# (1.25). The unweighted one first learns what is right in S2, as it is seen more, though the policy still
# goes to S1; the objective falls. Then S0 follows, and it ends at "always A1" (0.875).

# %%
UPDATES = 1000
without, with_emphasis = (learn(lambda_a, UPDATES, seed=1) for lambda_a in (0.0, 1.0))

print("The objective J; always A1 has 0.875, the best policy 1.25.\n")
print("  update   without emphasis   with emphasis")
for tenth, row in enumerate(zip(without, with_emphasis, strict=True)):
    print(f"  {tenth * UPDATES // 10:>6}   {row[0]:>16.3f}   {row[1]:>13.3f}")

start = without[0]
assert without[-1] < start and abs(without[-1] - 0.875) < 0.02
assert with_emphasis[-1] > start and abs(with_emphasis[-1] - 1.25) < 0.02

# %% [markdown]
# ## Your own rollouts
#
# - A time limit is not an end: leave `gamma_next` as it is and pass `truncated` to `gamma_into` and
#   `lambda_returns`.
# - If a rollout goes on where the last one stopped, pass `first` to `gamma_into` and `initial` to `emphasis`.
# - In long episodes products of ratios vary a lot. `clip` in `rho` and a `lambda_a` below 1 lower the
#   variance, for some bias.

# %%
gamma = emphatic.gamma_into([0.99, 0.99, 0.99, 0.99], truncated=[False, True, False, False])
emphasis = emphatic.emphasis([0.8, 2.0, 1.5, 0.6], gamma, lambda_a=0.9)
print("\nAfter a truncation the trace starts afresh:", emphasis.round(3))
