"""Files of format 1, which earlier versions wrote, can still be read, and go on to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, SINCE_FORMAT_2, experience, step
from test_safetensors import fuzzed

FORMAT_1 = Path(__file__).parent / "format_1"
# The numbers that the version that wrote a file computed from thirty more steps.
AFTER: dict[str, Any] = json.loads((FORMAT_1 / "after.json").read_text())


def hexes(numbers: Any) -> list[str]:
    return [number.hex() for number in np.ravel(numbers).tolist()]


def test_there_is_a_file_of_every_kind_of_learner() -> None:
    assert set(AGENTS) - SINCE_FORMAT_2 <= set(AFTER)


@pytest.mark.filterwarnings("ignore:.*diverged:RuntimeWarning")
@pytest.mark.parametrize("name", AFTER)
def test_a_file_of_format_1_goes_on_to_the_bit(name: str, tmp_path: Path) -> None:
    after = AFTER[name]
    agent = emphatic.load(FORMAT_1 / after["file"])
    if name in AGENTS:
        made = AGENTS[name]()
        assert repr(agent) == repr(made).replace("after 0 steps", "after 40 steps")
    agent.save(tmp_path / "again")
    again = emphatic.load(tmp_path / "again")
    more = experience(agent, 30, seed=2)
    for each in (agent, again):
        assert hexes(list(step(each, more, 0))) == after["update"]
        each.learn(more[1:])
        assert hexes(each.weights) == after["weights"]
        assert {key: hexes(weights) for key, weights in each.critic_weights.items()} == after["critic"]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_in_a_file_of_format_1_it_is_refused_or_can_be_used(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    for after in AFTER.values():
        for _ in fuzzed(FORMAT_1 / after["file"], tmp_path / "agent", rng, ["settings", None] * 6):
            pass
