"""Saved policies as behaviours of experiment files: they act with the probabilities that Python's own have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from emphatic import ACE, TDRC, EpsilonGreedy, FileError, FollowOn, Mixture, Softmax, TileCoder, run

pytest.importorskip("gymnasium")
import gymnasium
from gymnasium.spaces import Box, Discrete

EXPERIMENT = """
problem = "gymnasium:hill"
gamma = 0.9
features = {{ kind = "tiles", tilings = 2, tiles = 3 }}
behaviour = {behaviour}
runs = 1
steps = 500
evaluations = 1
record = ["rho"]

[[method]]
algorithm = "offpac"
alpha = 0
critic = {{ kind = "td", alpha_v = 0.1 }}
"""


class Hill(gymnasium.Env[Any, Any]):
    """A walk on a square that remembers what was done in it."""

    observation_space = Box(-1.0, 1.0, (2,), np.float64)
    action_space = Discrete(3)
    taken: list[tuple[list[float], int]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-1.0, 1.0, 2)
        return self.place.copy(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        Hill.taken.append((self.place.tolist(), int(action)))
        move = self.np_random.uniform(-0.5, 0.5, 2) + 0.2 * (int(action) - 1)
        self.place = np.clip(self.place + move, -1.0, 1.0)
        return self.place.copy(), -1.0, bool(self.place[0] > 0.9), False, {}


def climber() -> ACE:
    """Returns an agent that has learned a little."""
    tiles = TileCoder([-1.0, -1.0], [1.0, 1.0], tilings=2, tiles=3)
    agent = ACE(
        Softmax(tiles, actions=3),
        TDRC(alpha_v=0.1, features=tiles),
        emphasis=FollowOn(lambda_a=0.1),
        alpha=0.5,
    )
    agent.learn(emphatic.collect(Hill(), "uniform", steps=2000, gamma=0.9, seed=3))
    return agent


def greedy(agent: ACE, observation: list[float], epsilon: float) -> list[float]:
    p = agent.probabilities(np.array(observation))
    best = [x == max(p) for x in p]
    return [epsilon / 3 + (1 - epsilon) * is_best / sum(best) for is_best in best]


@pytest.mark.parametrize("kind", ["policy", "greedy", "mixture"])
def test_the_probabilities_are_those_of_python(tmp_path: Path, kind: str) -> None:
    agent = climber()
    agent.save(tmp_path / "climber.safetensors")
    saved = 'policy = "climber.safetensors"'
    behaviour = {
        "policy": f"{{ {saved} }}",
        "greedy": f"{{ {saved}, epsilon = 0.3 }}",
        "mixture": f'{{ mixture = [{{ share = 0.25, behaviour = "uniform" }}, {{ share = 0.75, behaviour = {{ {saved}, epsilon = 0.1 }} }}] }}',
    }
    file = tmp_path / "x.toml"
    file.write_text(EXPERIMENT.format(behaviour=behaviour[kind]))
    Hill.taken = []
    results = run(file, env=Hill, out=tmp_path / "out")

    def mu(observation: list[float], action: int) -> float:
        if kind == "policy":
            return float(agent.probabilities(np.array(observation))[action])
        if kind == "greedy":
            return greedy(agent, observation, 0.3)[action]
        return 0.25 / 3 + 0.75 * greedy(agent, observation, 0.1)[action]

    assert len(Hill.taken) == 500
    ratios = [1 / 3 / mu(observation, action) for observation, action in Hill.taken]
    # The learner stays uniform.
    assert recorded(results) == pytest.approx(np.mean(ratios), abs=1e-12)
    # And as often as they say.
    likely = sum(mu(observation, action) for observation, action in Hill.taken) / 500
    assert likely > 0.35


def recorded(results: emphatic.Results) -> float:
    import pyarrow.parquet as parquet

    table = parquet.read_table(results.directory / "results.parquet")
    return float(table["rho"].to_pylist()[-1])


def test_collect_has_the_same_probabilities() -> None:
    agent = climber()
    own = Mixture([(0.25, "uniform"), (0.75, EpsilonGreedy(agent, epsilon=0.1))])
    Hill.taken = []
    batch = emphatic.collect(Hill(), own, steps=300, gamma=0.9, seed=1)
    for (observation, action), mu in zip(Hill.taken, batch.mu, strict=True):
        assert mu == pytest.approx(0.25 / 3 + 0.75 * greedy(agent, observation, 0.1)[action], abs=1e-12)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    climber().save(tmp_path / "climber.safetensors")
    file = tmp_path / "x.toml"
    file.write_text(EXPERIMENT.format(behaviour='{ policy = "climber.safetensors" }'))

    class Line(Hill):
        observation_space = Box(-1.0, 1.0, (1,), np.float64)

    with pytest.raises(FileError, match="observations of 2 numbers"):
        run(file, env=Line, out=tmp_path / "out")
    (tmp_path / "climber.safetensors").write_bytes(b"cut")
    with pytest.raises(FileError, match="no policy can be read"):
        run(file, env=Hill, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
