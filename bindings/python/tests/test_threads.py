"""Learning lets other threads run, one thread at a time uses a learner, and Ctrl-C is heard."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, FINITE, VALUES, experience
from command import python
from emphatic import ACE, Batch, Dense, Learner, Softmax


def large(steps: int = 2000) -> tuple[ACE, Batch]:
    """About a fifth of a second of work in one piece."""
    agent = ACE(Softmax(Dense(2000), 10), VALUES, alpha=0.01)
    x = np.random.default_rng(0).normal(size=(steps, 2000))
    action = np.zeros(steps, int)
    return agent, Batch(x, action, np.ones(steps), x, mu=0.1, gamma_next=0.9)


def busy(agent: Learner) -> bool:
    try:
        agent.steps
    except RuntimeError as error:
        assert "in use by another thread" in str(error)
        return True
    return False


def test_another_thread_runs_while_one_learns() -> None:
    agent, batch = large()
    thread = threading.Thread(target=agent.learn, args=(batch,))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += busy(agent)
    # Without the lock released there would be none: it is all one piece.
    assert turns > 10
    assert agent.steps == 2000


def test_a_learner_in_use_is_refused_and_stays_usable() -> None:
    agent, batch = large(4000)
    alone = agent.copy()
    thread = threading.Thread(target=agent.learn, args=(batch,))
    thread.start()
    while not busy(agent):
        time.sleep(0)
    x = batch.x[0]
    calls: list[Any] = [
        lambda: agent.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.5),
        lambda: agent.learn(batch),
        lambda: agent.probabilities(x),
        lambda: agent.sample(x, np.random.default_rng(0)),
        lambda: agent.weights,
        lambda: setattr(agent, "weights", np.zeros((2000, 10))),
        lambda: agent.new_episode(),
        lambda: agent.copy(),
        lambda: agent.check(),
        lambda: agent.critic_weights,
        lambda: emphatic.sweep([agent], batch),
        lambda: agent.save("nowhere"),
    ]
    assert repr(agent).endswith(" in use by another thread>")
    refusals = 0
    for call in calls:
        try:
            call()
        except RuntimeError as error:
            assert "let each thread have its own: learner.copy()" in str(error)
            refusals += 1
    thread.join()
    assert refusals == len(calls)
    alone.learn(batch)
    assert agent._state() == alone._state()


@pytest.mark.parametrize("name", AGENTS)
def test_learners_in_threads_of_their_own_are_as_alone(name: str) -> None:
    alone = AGENTS[name]()
    batch = experience(alone, 3000)
    alone.learn(batch)

    def learned(_: int) -> bytes:
        agent = AGENTS[name]()
        for first in range(0, 3000, 500):
            agent.learn(batch[first : first + 500])
        return agent._state()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(learned, range(4))) == {alone._state()}


def test_sweeps_in_threads_of_their_own() -> None:
    batch = experience(AGENTS["ACE"](), 2000)
    agents = [ACE(Softmax(Dense(4), 3), VALUES, alpha=0.01 * k) for k in range(20)]
    alone = [agent._state() for agent in emphatic.sweep(agents, batch, threads=1)]
    with ThreadPoolExecutor(3) as pool:
        for swept in pool.map(lambda n: emphatic.sweep(agents, batch, threads=n), (1, 2, 50)):
            assert [agent._state() for agent in swept] == alone


def interrupted(work: str, timeout: float = 60) -> float:
    """How long it takes until Ctrl-C stops some work, in another process."""
    code = f"""
import signal, threading, time
from test_threads import *
agents, batch = {work}
before = agents[0].steps
threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
start = time.monotonic()
try:
    agents[0].learn(batch) if len(agents) == 1 else emphatic.sweep(agents, batch)
    raise SystemExit("it was not interrupted")
except KeyboardInterrupt:
    print(time.monotonic() - start - 0.5)
assert len(agents) > 1 or 0 < agents[0].steps < len(batch)
agents[0].learn(batch[:10])
agents[0].copy()
"""
    return float(python(code, timeout=timeout))


def long_work(count: int) -> tuple[list[Learner], Batch]:
    """Many quick steps."""
    batch = FINITE.stream(1_000_000, seed=1)
    return [emphatic.TrueACE(FINITE, alpha=1e-4 * k) for k in range(count)], Batch.concatenate([batch] * 20)


def slow_work(count: int) -> tuple[list[Learner], Batch]:
    """Few slow steps."""
    agents: list[Learner] = [
        ACE(Softmax(emphatic.OneHot(1), 100_000), VALUES, alpha=0.1) for _ in range(count)
    ]
    zero = np.zeros(50_000, int)
    return agents, Batch(zero, zero, zero, zero, mu=0.5, gamma_next=0.9)


def many_small_groups(count: int) -> tuple[list[Learner], Batch]:
    """Each is done in a few hundredths of a second."""
    return [ACE(FINITE.softmax(), VALUES, alpha=1e-4) for _ in range(count)], FINITE.stream(20_000, seed=1)


def many_large_groups(count: int) -> tuple[list[Learner], Batch]:
    """Little to learn, but much to put together."""
    agents: list[Learner] = [ACE(Softmax(Dense(20_000), 3), VALUES, alpha=0.01) for _ in range(count)]
    x = np.ones((200, 20_000))
    return agents, Batch(x, [0] * 200, [1.0] * 200, x, mu=0.5, gamma_next=0.9)


@pytest.mark.parametrize("work", ["many_small_groups(8000)", "many_large_groups(320)"])
def test_ctrl_c_stops_sweeps_of_many(work: str) -> None:
    """Regression: it was heard only when all groups were done."""
    assert interrupted(work) < 2


def test_a_batch_that_is_changed_meanwhile(capfd: pytest.CaptureFixture[str]) -> None:
    """Regression: it was a panic. Not every race is lost, so it is tried until one is."""
    broke = False
    for attempt in range(50):
        agent = ACE(Softmax(emphatic.Active(100_000, 8), 2), VALUES, alpha=0.1)
        x = np.zeros((20_000, 8), int)
        batch = Batch(x, [0] * len(x), [0.0] * len(x), x, mu=0.5, gamma_next=0.9)
        thread = threading.Thread(target=spoil, args=(batch.x,))
        thread.start()
        try:
            agent.learn(batch)
        except IndexError:
            pass  # It was seen in time.
        except RuntimeError as error:
            assert "the batch was changed while it was learned from" in str(error)
            assert "left half-way" in repr(agent)
            broke = True
        thread.join()
        if broke:
            break
    assert broke


def spoil(x: Any) -> None:
    for _ in range(200):
        x[:, 3] = 10**9
        x[:, 3] = 0


@pytest.mark.parametrize("count", [1, 40])
def test_ctrl_c_stops_long_work(count: int) -> None:
    assert interrupted(f"long_work({count})") < 2


@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_stops_slow_work(count: int) -> None:
    assert interrupted(f"slow_work({count})", timeout=10) < 2


def test_a_progress_that_fails_stops_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise KeyError("progress")

    monkeypatch.setattr("emphatic.progress.Bar.__call__", fail)
    agent = AGENTS["ACE"]()
    with pytest.raises(KeyError):
        agent.learn(experience(agent))
    assert agent.steps < 40, "it stopped at once, and can be used"
    assert agent.copy()._state() == agent._state()
