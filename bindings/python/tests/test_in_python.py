"""Emphases that are written in Python."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import emphatic
from agents import AGENTS, FINITE, REAL, SLOPE, VALUES, experience, step
from command import python
from emphatic import (
    GQ,
    GTD,
    Active,
    ActorCritic,
    AllActions,
    Dense,
    DeterministicActorCritic,
    DeterministicLinear,
    FollowOn,
    Learner,
    OneHot,
    PartStep,
    PythonEmphasis,
    Softmax,
)

Floats = npt.NDArray[np.float64]


@dataclass
class Trace(PythonEmphasis):
    """The follow-on trace, in the order of operations of the library."""

    lambda_a: float = 0.9

    state = ("carried",)

    def reset(self, learners: int) -> None:
        self.carried = np.zeros(learners)

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        follow_on = step.gamma * self.carried + step.interest
        self.carried = rho * follow_on
        return np.asarray((1 - self.lambda_a) * step.interest + self.lambda_a * follow_on)


def agent(lambda_a: float = 0.9, alpha: float = 0.1) -> ActorCritic:
    return ActorCritic(Softmax(Dense(4), 3), VALUES, Trace(lambda_a), alpha=alpha)


def same(lambda_a: float = 0.9, alpha: float = 0.1) -> ActorCritic:
    return ActorCritic(Softmax(Dense(4), 3), VALUES, FollowOn(lambda_a), alpha=alpha)


def test_a_trace_in_python_is_the_trace_to_the_bit() -> None:
    mine, other = agent(), same()
    batch = experience(mine)
    for t in range(20):
        assert step(mine, batch, t) == step(other, batch, t)
    for each in (mine, other):
        each.learn(batch[20:])
    np.testing.assert_array_equal(mine.weights, other.weights)
    np.testing.assert_array_equal(mine.critic_weights["v"], other.critic_weights["v"])


@pytest.mark.parametrize("count", [1, 5, 18])
def test_a_sweep_is_learn_to_the_bit(count: int) -> None:
    agents = [agent(k / count, 0.01 * k) for k in range(count)]
    batch = experience(agents[0])
    swept = emphatic.sweep(agents, batch)
    for k, each in enumerate(agents):
        each.learn(batch)
        assert swept[k]._state() == each._state()
        other = same(k / count, 0.01 * k)
        other.learn(batch)
        np.testing.assert_array_equal(swept[k].weights, other.weights)


@dataclass
class Ones(PythonEmphasis):
    """Every step counts the same."""

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        return np.ones(len(rho))


def alone(emphasis: PythonEmphasis) -> ActorCritic:
    """A learner that is always in the same state."""
    return ActorCritic(Softmax(OneHot(1), 2), VALUES, emphasis, alpha=0.1)


def weight(learner: Learner) -> float:
    """The emphasis of its next step."""
    return learner.step(0, 0, 1.0, 0, mu=0.5, gamma_next=0.5).emphasis


CALLS: list[int] = []


@dataclass
class Counting(Ones):
    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        CALLS.append(len(rho))
        return super().weigh(step, rho)


def test_one_call_serves_all_lanes() -> None:
    CALLS.clear()
    agents = [ActorCritic(Softmax(OneHot(3), 2), VALUES, Counting(), alpha=0.1 * k) for k in range(20)]
    batch = experience(agents[0], 40)
    emphatic.sweep(agents + [AGENTS["ACE one-hot"]()], batch)
    assert sorted(set(CALLS)) == [4, 16] and len(CALLS) == 80


def test_settings_of_two_parts_that_are_called_alike_keep_their_own_values(tmp_path: Path) -> None:
    """Once all parts had one list of numbers, and of two of a name the last one's counted."""

    @dataclass
    class Alike(PythonEmphasis):
        alpha_v: float = 1.0

        def weigh(self, step: PartStep, rho: Floats) -> Floats:
            return np.asarray(self.alpha_v * np.ones(len(rho)))

    critic = GTD(0.25, 1e-3)
    mine = ActorCritic(Softmax(OneHot(1), 2), critic, Alike(0.75), alpha=0.1)
    assert mine.step(0, 0, 1.0, 0, mu=0.5, gamma_next=0.0).emphasis == 0.75
    assert mine.critic_weights["v"] == [0.25]
    mine.save(tmp_path / "a")
    again = emphatic.load(tmp_path / "a", parts=[Alike])
    assert (again.critic, again.emphasis) == (critic, Alike(0.75))


def ways(agent: Any, tmp_path: Path) -> list[Any]:
    agent.save(tmp_path / "a")
    loaded = emphatic.load(tmp_path / "a", parts=[Counting, Trace])
    return [agent.copy(), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), loaded]


def test_copies_pickles_and_files_go_on(tmp_path: Path) -> None:
    mine = agent(0.5)
    batch = experience(mine)
    mine.learn(batch[:20])
    others = ways(mine, tmp_path)
    mine.learn(batch[20:])
    for other in others:
        assert other.emphasis == Trace(0.5) and "Trace(lambda_a=0.5)" in repr(other)
        other.learn(batch[20:])
        assert other._state() == mine._state()


def test_a_file_runs_no_code_of_its_own(tmp_path: Path) -> None:
    agent().save(tmp_path / "a")
    with pytest.raises(
        ValueError, match=r"the class Trace, written in Python: load\(path, parts=\[Trace\]\)"
    ):
        emphatic.load(tmp_path / "a")
    with pytest.raises(ValueError, match="the class Trace"):
        emphatic.load(tmp_path / "a", parts=[Counting])


@dataclass
class Seeing(Ones):
    features: Any = None

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        SEEN.append((step.x, step.x_next, step.reward, step.gamma, step.gamma_next, step.interest))
        return super().weigh(step, rho)


SEEN: list[Any] = []


def test_what_a_part_sees() -> None:
    SEEN.clear()
    dense = ActorCritic(Softmax(Dense(2), 2), VALUES, Seeing(Dense(2)), alpha=0.1)
    dense.step([1, 2], 0, 3.0, [4, 5], mu=0.5, gamma_next=0.5, interest=2)
    tiles = ActorCritic(Softmax(Active(6, 2), 2), VALUES, Seeing(Active(6, 2)), alpha=0.1)
    tiles.step([5, 1], 0, 3.0, None, mu=0.5, gamma_next=0)
    nothing = ActorCritic(Softmax(OneHot(3), 2), VALUES, Seeing(), alpha=0.1)
    nothing.step(1, 0, 3.0, 2, mu=0.5, gamma_next=1)
    (x, x_next, *numbers), ((at, values), (after, _), *_), (none, none_next, *_) = SEEN
    assert (x.tolist(), x_next.tolist(), numbers) == ([1, 2], [4, 5], [3.0, 0.0, 0.5, 2.0])
    assert (at.tolist(), values.tolist(), after.tolist()) == ([5, 1], [1, 1], [])
    assert none is None and none_next is None


@dataclass
class Learning(PythonEmphasis):
    """Learns how often it was called."""

    state = ("count",)

    def reset(self, learners: int) -> None:
        self.count = np.zeros((learners, 2))

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        return np.array(self.count[:, 0])

    def learn(self, step: PartStep, rho: Floats) -> None:
        self.count[:, 0] += 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: ActorCritic(Softmax(Dense(4), 2), VALUES, Learning(), alpha=0.1),
        lambda: AllActions(Softmax(Dense(4), 2), GQ(0.1, 0.1, 0.5, VALUES), Learning(), alpha=0.1),
    ],
)
def test_a_part_that_learns_does_so_after_it_has_weighed(make: Any) -> None:
    mine = make()
    x = np.ones(4)
    updates = [mine.step(x, 0, 1.0, x, mu=0.5, gamma_next=0.5).emphasis for _ in range(3)]
    assert updates == [0, 1, 2]
    assert mine.copy().step(x, 0, 1.0, x, mu=0.5, gamma_next=0.5).emphasis == 3


@dataclass
class Free(Counting):
    needs_ratio = False


def test_beside_a_deterministic_policy_only_without_ratio() -> None:
    with pytest.raises(TypeError, match="no ratio"):
        DeterministicActorCritic(DeterministicLinear(Dense(4)), SLOPE, Counting(), alpha=0.1)
    mine = DeterministicActorCritic(DeterministicLinear(Dense(4)), SLOPE, Free(), alpha=0.1)
    mine.learn(experience(mine))
    assert mine.weights.any()


def test_a_problem_may_be_known_beside_it() -> None:
    for problem, policy in ((FINITE, FINITE.softmax()), (REAL, REAL.gaussian())):
        mine = ActorCritic(policy, emphatic.ExactCritic(problem), Trace(1.0), alpha=0.01)
        other = ActorCritic(policy, emphatic.ExactCritic(problem), FollowOn(1.0), alpha=0.01)
        for each in (mine, other):
            each.learn(problem.stream(300, seed=1))
        np.testing.assert_array_equal(mine.weights, other.weights)


# --- What goes wrong ---


@dataclass
class Failing(Ones):
    after: float = 3.0

    def reset(self, learners: int) -> None:
        self.seen = 0

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        self.seen += 1
        if self.seen > np.min(self.after):
            raise KeyError("mine")
        return super().weigh(step, rho)


def failing() -> ActorCritic:
    return ActorCritic(Softmax(Dense(4), 3), VALUES, Failing(), alpha=0.1)


def test_an_exception_comes_out_as_it_is() -> None:
    mine = failing()
    batch = experience(mine, 1000)
    for t in range(3):
        step(mine, batch, t)
    with pytest.raises(KeyError, match="mine"):
        step(mine, batch, 3)
    with pytest.raises(RuntimeError, match="left half-way"):
        step(mine, batch, 4)
    mine = failing()
    with pytest.raises(KeyError, match="mine"):
        mine.learn(batch)
    with pytest.raises(RuntimeError, match="left half-way"):
        mine.save("nowhere")
    with pytest.raises(KeyError, match="mine"):
        emphatic.sweep([failing() for _ in range(20)], batch)


def returning(value: Any) -> Learner:
    @dataclass
    class Returning(PythonEmphasis):
        def weigh(self, step: PartStep, rho: Floats) -> Floats:
            return value  # type: ignore[no-any-return]

    return alone(Returning())


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (None, TypeError, "weigh of Returning returned None; it must be a NumPy array of 1 float64"),
        (1.0, TypeError, "returned 1.0"),
        (np.float64(1), TypeError, "float64"),
        (np.ones(1, np.float32), TypeError, "float64"),
        (np.ones(1, int), TypeError, "float64"),
        (np.ones((1, 1)), TypeError, "float64"),
        ([1.0], TypeError, "float64"),
        (np.ones(2), ValueError, "returned 2 numbers; there are 1 learners"),
        (np.ones(0), ValueError, "returned 0 numbers"),
    ],
)
def test_what_is_no_emphasis(value: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        weight(returning(value))


def test_what_is_not_a_number_diverges_the_learner() -> None:
    mine = returning(np.array([np.nan]))
    weight(mine)
    assert mine.diverged == 1
    with pytest.raises(emphatic.DivergedError):
        mine.check()


@dataclass
class Wrong(Ones):
    state = ("missing",)


@dataclass
class Text(PythonEmphasis):
    words: str = "no float"


def test_classes_that_make_no_sense() -> None:
    with pytest.raises(TypeError, match="`words` of Text is of type 'str'; settings are floats"):
        Text()
    with pytest.raises(TypeError, match="lambda_a is 'x'"):
        Trace("x")  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="missing"):
        alone(Wrong())
    unwritten = alone(PythonEmphasis())
    with pytest.raises(NotImplementedError, match="PythonEmphasis has no method weigh"):
        weight(unwritten)
    with pytest.raises(TypeError, match="same form"):
        alone(Seeing(Dense(1)))


@dataclass
class Derived(PythonEmphasis):
    lambda_a: float = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        self.rest = 1 - self.lambda_a

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        return np.full(len(rho), self.rest)


def test_what_is_made_of_one_learners_settings_is_refused() -> None:
    """Once every learner of a sweep had the first one's."""
    with pytest.raises(
        TypeError, match=r"`rest` of Derived is set before there are learners: set it in\s+reset"
    ):
        alone(Derived(0.5))


@dataclass
class Large(Ones):
    state = ("much",)

    def reset(self, learners: int) -> None:
        self.much = np.arange(learners * 20_000.0).reshape(learners, -1)


def test_the_learner_has_settings_of_its_own() -> None:
    """Once it shared them with the object it was given, and copies learned otherwise than the learner."""
    given = Trace(0.9)
    mine = ActorCritic(Softmax(Dense(4), 3), VALUES, given, alpha=0.1)
    given.lambda_a = 0.0
    setattr(mine.emphasis, "lambda_a", 0.5)
    batch, right = experience(mine), same(0.9)
    right.learn(batch)
    for again in (mine.copy(), pickle.loads(pickle.dumps(mine)), emphatic.sweep([mine], batch)[0]):
        if again.steps == 0:
            again.learn(batch)
        assert np.array_equal(again.weights, right.weights)
    assert mine.emphasis == Trace(0.9)


@dataclass
class Doubling(PythonEmphasis):
    factor: float = 1.0

    def __post_init__(self) -> None:
        self.factor *= 2  # And no call of super().__post_init__().

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        return np.asarray(self.factor * np.ones(len(rho)))


@dataclass
class Unchecked(Doubling):
    count: int = 3


def test_settings_come_back_as_they_were(tmp_path: Path) -> None:
    """Once what __post_init__ makes of them was made of them again."""
    mine = alone(Doubling(3.0))
    mine.save(tmp_path / "a")
    again = emphatic.load(tmp_path / "a", parts=[Doubling])
    assert weight(again) == 6.0
    with pytest.raises(TypeError, match="`count` of Unchecked is of type 'int'; settings are floats"):
        alone(Unchecked())


@dataclass
class Views(PythonEmphasis):
    state = ("first",)

    def reset(self, learners: int) -> None:
        self.both = np.zeros((learners, 2))
        self.first = self.both[:, 0]

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        self.both += 1
        return np.array(self.both[:, 0])


def test_a_view_is_restored_in_its_place() -> None:
    """Once it became an array of its own, and what it was a view of stayed behind."""
    mine = alone(Views())
    for _ in range(3):
        weight(mine)
    assert weight(mine.copy()) == 4.0


@dataclass
class Growing(Ones):
    state = ("seen",)

    def reset(self, learners: int) -> None:
        self.seen = np.zeros((learners, 0))

    def weigh(self, step: PartStep, rho: Floats) -> Floats:
        self.seen = np.concatenate([self.seen, rho[:, None]], axis=1)
        return super().weigh(step, rho)


def test_what_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    """Once an array that had grown was saved, and refused when it was loaded."""
    mine = alone(Growing())
    weight(mine)
    with pytest.raises(
        ValueError, match=r"`seen` of Growing has the shape \[1, 1\]; `reset` made it \[1, 0\]"
    ):
        mine.save(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def with_state(names: Any, array: Any, returned: Any = None) -> Any:
    """A class with this state."""

    @dataclass
    class Odd(PythonEmphasis):
        state = names

        def reset(self, learners: int) -> None:
            self.a = array

        def weigh(self, step: PartStep, rho: Floats) -> Any:
            return returned

    return Odd


@pytest.mark.parametrize(
    ("names", "array", "match"),
    [
        ("a", np.zeros(1), "it must be a tuple of names"),
        (None, np.zeros(1), "it must be a tuple of names"),
        (("a", "a"), np.zeros(1), "names `a` twice"),
        (("a",), np.zeros(1, int), "must be a NumPy array of float64"),
        (("a",), [0.0], "must be a NumPy array of float64"),
        (("a",), np.ma.masked_array([1.0], [True]), "must be a NumPy array of float64"),
        (("a",), np.zeros(2), "its first dimension must be that of the 1 learners"),
    ],
)
def test_a_wrong_state_is_refused_when_the_learner_is_made(names: Any, array: Any, match: str) -> None:
    """Once only when it was saved."""
    with pytest.raises(TypeError, match=match):
        alone(with_state(names, array)())


def test_a_masked_array_is_no_emphasis() -> None:
    masked = with_state((), None, np.ma.masked_array([1.0], [True]))()
    mine = alone(masked)
    with pytest.raises(TypeError, match="it must be a NumPy array of 1 float64"):
        weight(mine)


@pytest.mark.parametrize("parts", [Trace, [Trace()], ["Trace"], [int]])
def test_parts_of_a_file_are_classes(parts: Any, tmp_path: Path) -> None:
    agent().save(tmp_path / "a")
    with pytest.raises(TypeError, match="they must be a list of classes of PythonEmphasis"):
        emphatic.load(tmp_path / "a", parts=parts)


def test_a_large_state_comes_back(tmp_path: Path) -> None:
    """Once it was written, and refused when it was read: larger than what the settings said."""
    large = alone(Large())
    weight(large)
    large.save(tmp_path / "large")
    again = emphatic.load(tmp_path / "large", parts=[Large])
    assert again._state() == large._state()


def test_learners_and_sweeps_in_threads_of_their_own() -> None:
    """All of them call Python, which does one thing at a time: none may wait for another for ever."""
    batch = experience(agent(), 500)
    alone = [same(k / 20) for k in range(20)]
    for each in alone:
        each.learn(batch)

    def learned(k: int) -> list[ActorCritic]:
        if k % 2:
            return emphatic.sweep([agent(j / 20) for j in range(20)], batch)
        mine = [agent(j / 20) for j in range(20)]
        for each in mine:
            each.learn(batch)
        return mine

    with ThreadPoolExecutor(4) as pool:
        for agents in pool.map(learned, range(8)):
            for mine, other in zip(agents, alone, strict=True):
                np.testing.assert_array_equal(mine.weights, other.weights)


def test_a_part_that_uses_its_own_learner_is_refused() -> None:
    @dataclass
    class Meddling(PythonEmphasis):
        def weigh(self, step: PartStep, rho: Floats) -> Floats:
            return np.array([weight(mine)])

    mine = alone(Meddling())
    with pytest.raises(RuntimeError, match="in use"):
        weight(mine)


@pytest.mark.parametrize("count", [1, 20])
def test_ctrl_c_stops_it(count: int) -> None:
    code = f"""
import signal, threading, time
from test_in_python import *
agents = [agent(k / 20) for k in range({count})]
batch = experience(agents[0], 1_000_000)
threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()
start = time.monotonic()
try:
    agents[0].learn(batch) if len(agents) == 1 else emphatic.sweep(agents, batch)
    raise SystemExit("it was not interrupted")
except KeyboardInterrupt:
    print(time.monotonic() - start)
"""
    assert float(python(code, timeout=60)) < 3
