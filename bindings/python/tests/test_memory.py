"""Too little memory is a `MemoryError`, after which everything is as it was; and nothing takes much more than it must."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command import python

pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are not kept")

# A learner of 160 MB whose trace lists every feature, and how to leave little memory.
PRELUDE = """
import copy, os, pickle, resource, sys
import numpy as np
import emphatic
from emphatic import *

def used(what):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(what)) / 2**10

def limit(megabytes):
    size = int((used("VmSize") + megabytes) * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (size, -1))

def refused(call):
    try:
        call()
    except MemoryError:
        return True
    return False

N = 2_000_000
CRITIC = GTD(0.1, 0.1, 0.9)

def learned(agent):
    # It has touched all of its memory.
    features = agent.policy.features
    if isinstance(features, Dense):
        x = np.ones(features.len)
        agent.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.9)
    else:
        x = np.arange(features.len).reshape(-1, 2)
        for action in range(agent.policy.actions):
            agent.learn(Batch(x, np.full(len(x), action), np.ones(len(x)), x, mu=0.5, gamma_next=0.9))
    return agent

def learner(n=N):
    return learned(ACE(Softmax(Dense(n), 2), CRITIC, alpha=0.1, emphasis=FollowOn()))
"""


def run(code: str, directory: Path) -> str:
    return python(PRELUDE + code, directory)


@pytest.mark.parametrize(
    ("needs", "call"),
    [
        (150, "agent.copy()"),
        (150, "copy.deepcopy(agent)"),
        (150, "pickle.dumps(agent)"),
        (90, "agent.save('agent')"),
        (250, "load('agent')"),
        (150, "pickle.loads(pickled)"),
        (150, "ACE(Softmax(Dense(N), 2), CRITIC, alpha=0.1, emphasis=FollowOn())"),
        (300, "sweep([fresh] * 2, batch)"),
        (300, "sweep([small] * 2, two)"),  # In lanes.
        (30, "agent.weights"),
        (30, "agent.critic_weights"),
        (150, "setattr(agent, 'weights', weights)"),
        (30, "emphasis(rho, 0.5)"),
        (30, "lambda_returns(rho, 0.5, rho, rho, rho, 0.5)"),
        (100, "many.probabilities(states)"),
        (100, "Problem.open('counterexample').stream(2_000_000, seed=1)"),
    ],
)
def test_too_little_memory_is_an_exception(needs: float, call: str, tmp_path: Path) -> None:
    """Regression: the interpreter was ended. Whatever is missing, from nearly everything to nearly nothing, it is an exception; the
    learner and the file stay what they were."""
    code = f"""
agent = learner()
agent.save("agent")
before = os.stat("agent")
pickled, weights, rho = pickle.dumps(agent), np.ones((N, 2)), np.ones((N, 1))
fresh = ACE(Softmax(Dense(N), 2), CRITIC, alpha=0.1, emphasis=FollowOn())
batch = Batch(np.ones((1, N)), [0], [1.0], np.ones((1, N)), mu=0.5, gamma_next=0.9)
small = ACE(Softmax(Dense(N // 20), 2), CRITIC, alpha=0.1, emphasis=FollowOn())
two = np.ones((2, N // 20))
two = Batch(two, [0, 1], [1.0, 1.0], two, mu=0.5, gamma_next=0.9)
many, states = ACE(Softmax(OneHot(1), 1_000), CRITIC, alpha=0.1), np.zeros(10_000, int)
for share in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
    limit(20 + share * {needs})
    was = refused(lambda: {call})
    assert was or share > 0, share
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(share, was)
now = os.stat("agent")
assert "save" in {call!r} or (now.st_mtime_ns, now.st_ino) == (before.st_mtime_ns, before.st_ino)
assert os.listdir(".") == ["agent"]
assert load("agent")._state() == agent._state() or "weights" in {call!r}
{call}
x = np.ones(N)
agent.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.9)
assert agent.steps == 2
"""
    assert "0.0 True" in run(code, tmp_path)


def test_a_save_without_memory_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    code = """
agent = learner()
with open("agent", "w") as file:
    file.write("there before")
limit(60)
assert refused(lambda: agent.save("agent"))
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert open("agent").read() == "there before" and os.listdir(".") == ["agent"]
"""
    run(code, tmp_path)


@pytest.mark.parametrize(
    "make",
    [
        "learner()",
        "learned(AllActions(Softmax(Active(100_000, 2), 18), GQ(0.1, 0.1, 0.9, CRITIC), NoEmphasis(), alpha=0.1))",
        "learned(DPG(DeterministicLinear(Dense(N)), Compatible(0.1, 0.1, 0.1), alpha=0.1))",
        "learned(ACE(Softmax(Dense(N), 2), CRITIC, alpha=0.1))",
    ],
)
def test_a_save_takes_no_more_than_the_learner_once_more(make: str, tmp_path: Path) -> None:
    """Regression: it took seven times as much as the learner."""
    code = f"""
learner(10).save("agent")
start = used("VmRSS")
agent = {make}
held = used("VmRSS") - start
agent.save("agent")
print(used("VmHWM") - start, held)
"""
    peak, held = map(float, run(code, tmp_path).split())
    assert held > 50 and peak < 2.1 * held


def test_a_part_in_python_holds_much(tmp_path: Path) -> None:
    """Once the process was ended by a copy of it."""
    assert run(
        """
from dataclasses import dataclass

@dataclass
class Large(PythonEmphasis):
    state = ("much",)

    def reset(self, learners):
        self.much = np.zeros((learners, 20_000_000))

    def weigh(self, step, rho):
        return np.ones(len(rho))

agent = ActorCritic(Softmax(OneHot(2), 2), CRITIC, Large(), alpha=0.1)
limit(200)
print(refused(agent.copy), refused(lambda: agent.save("a")), os.path.exists("a"))
""",
        tmp_path,
    ).split() == ["True", "True", "False"]


def test_many_active_features_of_few_take_no_room(tmp_path: Path) -> None:
    """Once room was made for as many as could be active at once, and the process was ended."""
    assert run("print(ACE(Softmax(Active(3, 2**62), 2), CRITIC, alpha=0.1).steps)", tmp_path).split() == ["0"]
