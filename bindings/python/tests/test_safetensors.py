"""Copies, pickles and files go on to the bit; files that are no learners are refused."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import signal
import stat
import struct
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emphatic
from agents import AGENTS, FINITE, VALUES, experience
from emphatic import ACE, Dense, ExactCritic, Learner, OneHot, Softmax, Table, TrueACE
from emphatic.learners import _restore

every_agent = pytest.mark.parametrize("name", AGENTS)


def pickled(protocol: int) -> Callable[[Any], Any]:
    return lambda agent: pickle.loads(pickle.dumps(agent, protocol))


WAYS: dict[str, Callable[[Any], Any]] = {
    "copy()": lambda agent: agent.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    **{f"pickle {protocol}": pickled(protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)},
}
every_way = pytest.mark.parametrize("way", WAYS)


def learned(name: str) -> Learner:
    """A learner in the middle of an episode."""
    agent = AGENTS[name]()
    agent.learn(experience(agent))
    return agent


def assert_goes_on(agent: Learner, other: Learner) -> None:
    """Both are the same and stay so."""
    assert other is not agent
    assert type(other) is type(agent)
    assert other._state() == agent._state()
    assert repr(other) == repr(agent)
    more = experience(agent, 30, seed=2)
    more.gamma[0] = 0.9
    other.learn(more)
    assert other._state() != agent._state()
    agent.learn(more)
    assert other._state() == agent._state()
    np.testing.assert_array_equal(other.weights, agent.weights)


@every_way
@every_agent
def test_a_copy_goes_on(name: str, way: str) -> None:
    agent = learned(name)
    assert_goes_on(agent, WAYS[way](agent))


@every_way
def test_a_copy_remembers_gamma(way: str) -> None:
    agent = ACE(Softmax(OneHot(1), 2), VALUES, alpha=0.1, emphasis=emphatic.FollowOn(1.0))
    agent.step(0, 0, 0.0, 0, mu=0.5, gamma_next=0.25)
    assert WAYS[way](agent).step(0, 0, 0.0, 0, mu=0.5, gamma_next=0.25).emphasis == 1.25


class Mine(ACE):
    """A user's own class."""

    notes: list[Any]

    def double(self) -> float:
        return 2 * self.alpha


@every_way
def test_a_users_class_keeps_its_attributes(way: str) -> None:
    agent = Mine(Softmax(Dense(4), 3), VALUES, alpha=0.25)
    agent.notes = [[1]]
    other = WAYS[way](agent)
    assert_goes_on(agent, other)
    assert (other.double(), other.notes) == (0.5, [[1]])
    assert (other.notes is agent.notes) == (way in ("copy()", "copy.copy"))


def test_a_deep_copy_of_what_refers_to_itself() -> None:
    agent = Mine(Softmax(Dense(4), 3), VALUES, alpha=0.25)
    agent.notes = [agent]
    other = copy.deepcopy(agent)
    assert other.notes == [other]
    first, second = copy.deepcopy([agent, agent])
    assert first is second


def test_a_sweep_keeps_class_and_attributes() -> None:
    agent = Mine(Softmax(Dense(4), 3), VALUES, alpha=0.25)
    agent.notes = [1]
    (other,) = emphatic.sweep([agent], experience(agent))
    assert (type(other), other.notes, other.steps) == (Mine, [1], 40)


def test_a_pickled_problem_goes_along() -> None:
    agent = pickle.loads(pickle.dumps(TrueACE(FINITE, alpha=0.1)))
    assert isinstance(agent.critic, ExactCritic)
    assert agent.critic.problem.text == FINITE.text
    assert agent.critic.problem is agent.emphasis.problem


def learn_more(agent: Learner) -> Learner:
    agent.learn(experience(agent, 30, seed=2))
    return agent


def test_learners_in_other_processes() -> None:
    agents = [learned(name) for name in ("ACE", "AllActions subset", "TrueDPGE")]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        others = pool.map(learn_more, agents)
    assert [other._state() for other in others] == [learn_more(agent)._state() for agent in agents]


def restored(name: str, state: bytes) -> Learner:
    agent = AGENTS[name]()
    settings, problems, _ = agent._composition()
    return _restore(type(agent), settings, problems, state)


def test_the_same_learner_is_the_same_file(tmp_path: Path) -> None:
    """Regression: the metadata came in another order every time."""
    agent, other = learned("ACE"), learned("ACE")
    saved = set()
    for k, each in enumerate([agent, agent, other, agent.copy()] * 5):
        each.save(tmp_path / str(k))
        saved.add((tmp_path / str(k)).read_bytes())
    assert len(saved) == 1


def test_a_pickle_carries_no_caches() -> None:
    agent = TrueACE(FINITE, alpha=0.1)
    size = len(pickle.dumps(agent))
    assert agent.critic and agent.policy and len(pickle.dumps(agent)) == size


@pytest.mark.parametrize("bad", [b"", b"x", b"\xa0", b"\xff" * 20, pickle.dumps(3)])
def test_a_state_that_is_none(bad: bytes) -> None:
    with pytest.raises(ValueError, match="state"):
        restored("ACE", bad)
    with pytest.raises(ValueError):
        restored("ACE", learned("DPG")._state())
    assert restored("ACE", learned("ACE")._state()).steps == 40


# --- Files ---


@every_agent
def test_a_saved_learner_goes_on(name: str, tmp_path: Path) -> None:
    agent, path = learned(name), tmp_path / "agent.safetensors"
    agent.save(path)
    assert_goes_on(agent, emphatic.load(str(path)))
    assert os.listdir(tmp_path) == ["agent.safetensors"]
    fresh = AGENTS[name]()
    fresh.save(path)
    assert_goes_on(fresh, emphatic.load(path))


def test_numbers_are_saved_to_the_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for alpha in [*rng.random(100), 5e-324, 1e308, 0.1 + 0.2]:
        agent = ACE(Softmax(emphatic.Table(rng.normal(size=(3, 2))), 2), VALUES, alpha=float(alpha))
        agent.save(tmp_path / "a")
        loaded = emphatic.load(tmp_path / "a")
        assert loaded.alpha == alpha
        assert loaded.policy == agent.policy


def test_a_learner_that_diverged_can_be_saved(tmp_path: Path) -> None:
    agent = ACE(Softmax(OneHot(1), 2), emphatic.GTD(1e300, 1e300, 1), alpha=1e300)
    agent.step(0, 0, 1e300, 0, mu=1e-300, gamma_next=1)
    agent.step(0, 0, 1e300, 0, mu=1e-300, gamma_next=1)
    agent.save(tmp_path / "a")
    loaded = emphatic.load(tmp_path / "a")
    assert loaded.diverged == agent.diverged == 1
    assert loaded._state() == agent._state()


def test_a_file_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    learned("ACE").save(path)
    learned("DPG").save(path)
    assert isinstance(emphatic.load(path), emphatic.DPG)


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header of a file, and its tensors."""
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:end]), data[end:]


def metadata(path: Path, name: str) -> Any:
    return json.loads(read(path)[0]["__metadata__"][name])


def test_the_metadata_has_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    learned("TrueACE").save(path)
    settings = metadata(path, "settings")
    assert (settings["class"], settings["rule"], settings["alpha"]) == ("TrueACE", "taken", 0.1)
    assert settings["critic"] == settings["emphasis"] == {"kind": "exact", "problem": 0}
    assert metadata(path, "problems") == [["counterexample", FINITE.text]]


def test_the_safetensors_package_reads_it(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    agent, path = learned("ACE"), tmp_path / "agent"
    agent.save(path)
    tensors = numpy.load_file(path)
    np.testing.assert_array_equal(tensors["weights"], agent.weights.ravel())
    np.testing.assert_array_equal(tensors["critic.v"], agent.critic_weights["v"])
    assert tensors["steps"].tolist() == [40]
    names = ["critic.e", "critic.e.features", "critic.steps", "critic.v", "critic.w"]
    assert sorted(tensors) == [
        *names,
        "diverged",
        "effective_sample",
        "emphasis.rho_f",
        "gamma",
        "steps",
        "weights",
    ]


# --- Files that are no learners ---


def write(path: Path, head: dict[str, Any], body: bytes) -> None:
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "agent"
    learned("ACE one-hot").save(path)
    return path


def test_a_file_cut_anywhere_or_with_more_at_its_end(saved: Path) -> None:
    data = saved.read_bytes()
    lengths = [*range(0, len(data), 41), len(data) - 1]
    for wrong in [*(data[:length] for length in lengths), data + b"x"]:
        saved.write_bytes(wrong)
        with pytest.raises(ValueError, match="this is not a saved learner"):
            emphatic.load(saved)


def refused_or_used(path: Path) -> Learner | None:
    """Loads a learner and uses it. Returns None if the file is refused; all exceptions but these are defects."""
    try:
        agent = emphatic.load(path)
    except (ValueError, MemoryError) as error:
        assert str(path) in str(error) or isinstance(error, MemoryError)
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It may diverge.
        agent.learn(experience(agent))
    assert repr(agent) and agent.critic_weights is not None and agent.weights.size
    return agent


def test_bits_that_flip_are_refused_or_harmless(saved: Path) -> None:
    data, rng = saved.read_bytes(), np.random.default_rng(0)
    for _ in range(500):
        changed = bytearray(data)
        for place in rng.integers(len(data), size=3):
            changed[place] = rng.integers(256)
        saved.write_bytes(changed)
        refused_or_used(saved)


Change = Callable[[Any], Any]


def settings(change: Change) -> Change:
    """Changes the settings in a header."""

    def changed(head: dict[str, Any]) -> None:
        data = json.loads(head["__metadata__"]["settings"])
        change(data)
        head["__metadata__"]["settings"] = json.dumps(data)

    return changed


def rewrite(path: Path, *changes: Change) -> None:
    """Changes the header of a file."""
    head, body = read(path)
    for change in changes:
        change(head)
    write(path, head, body)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda h: h.pop("__metadata__"), "it has no settings"),
        (lambda h: h["__metadata__"].pop("format"), "no `format`"),
        (
            lambda h: h["__metadata__"].update(format="emphatic learner 9"),
            "its format is `emphatic learner 9`",
        ),
        (lambda h: h["__metadata__"].update(settings="{"), "EOF"),
        (lambda h: h["__metadata__"].update(settings="[]"), "invalid"),
        (lambda h: h["__metadata__"].update(problems="3"), "invalid"),
        (lambda h: h["__metadata__"].update(problems='[["a", "b"]]'), "a, line 1"),
        (settings(lambda s: s.update({"class": "Other"})), "is a Other, which this version does not know"),
        (settings(lambda s: s.update({"class": "DPG"})), "DPG and learns by the rule `taken`"),
        (settings(lambda s: s.update(alpha=-1)), "alpha is -1"),
        (settings(lambda s: s.pop("alpha")), "missing field `alpha`"),
        (settings(lambda s: s["critic"]["numbers"].clear()), "`gtd` needs `alpha_v`"),
        (settings(lambda s: s["critic"]["numbers"].update(more=1)), "no setting `more`"),
        (settings(lambda s: s["critic"].update(kind="more")), "there is no critic `more`"),
        # Regression: an IndexError.
        (
            settings(lambda s: s["critic"]["features"]["rows"][0][0].__setitem__(0, 7)),
            "feature 7 does not exist",
        ),
        # Regression: they came to light when somebody asked for them.
        (settings(lambda s: s.update(emphasis={"kind": "none"})), "no `emphasis.rho_f`"),
        (settings(lambda s: s.update(actions=3)), "`weights` has 6 numbers; this learner's has 9"),
        (settings(lambda s: s.update(emphasis={"kind": "exact", "problem": 0})), "problem 0"),
        (settings(lambda s: s.update(more=1)), "unknown field"),
        (lambda h: h["weights"].update(dtype="U64"), "`weights` are of another kind"),
        (lambda h: h["weights"].update(dtype="I64"), "weights is I64; it must be F64 or U64"),
        (lambda h: h["weights"].update(dtype="F32", shape=[12]), "weights is F32"),
        (lambda h: h["weights"].update(shape=[5]), "not a saved learner"),
        (lambda h: h.pop("weights"), "not a saved learner"),
        (lambda h: h.update(more=h.pop("weights")), "there is no `weights`"),
        (lambda h: h.update({"critic.more": h.pop("emphasis.rho_f")}), "there is no `emphasis.rho_f`"),
        (lambda h: h.update(more=h.pop("gamma")), "no number `gamma`"),
        (lambda h: h["gamma"].update(dtype="U64"), "no number `gamma`"),
    ],
)
def test_a_file_that_makes_no_sense(saved: Path, change: Change, match: str) -> None:
    rewrite(saved, change)
    with pytest.raises(ValueError, match=match) as caught:
        emphatic.load(saved)
    assert str(caught.value).startswith(f"{saved}: ")


def test_a_file_of_another_class(saved: Path) -> None:
    """Regression: it came to light when somebody asked for what another class has."""
    learned("ACE").save(saved)
    rewrite(saved, settings(lambda s: s.update({"class": "OffPAC"})))
    with pytest.raises(ValueError, match="OffPAC with FollowOn"):
        emphatic.load(saved)


@pytest.mark.parametrize(
    "agent",
    [
        lambda: emphatic.AllActions(
            Softmax(OneHot(200), 2), emphatic.ModelCritic(), emphatic.NoEmphasis(), alpha=0.1
        ),
        lambda: emphatic.ActorCritic(
            Softmax(Table(np.ones((20_000, 1))), 2),
            emphatic.GTD(0.1, 0.1),
            emphatic.ModelEmphasis(),
            alpha=0.1,
        ),
    ],
)
def test_a_model_can_be_loaded(agent: Callable[[], Learner], tmp_path: Path) -> None:
    """Regression: the file was refused for being longer than its settings allow. What all lanes share is larger than what each has, or
    there are many more states than features."""
    made = agent()
    made.save(tmp_path / "agent")
    assert emphatic.load(tmp_path / "agent")._state() == made._state()


def test_each_part_has_its_own_numbers(tmp_path: Path) -> None:
    critic = emphatic.GQ(0.1, 0.2, 0.3, emphatic.GTD(0.4, 0.5, 0.6))
    agent = emphatic.AllActions(Softmax(Dense(4), 3), critic, emphatic.FollowOn(0.7), alpha=0.8)
    agent.save(tmp_path / "a")
    said = metadata(tmp_path / "a", "settings")
    assert said["critic"]["numbers"] == {"alpha_h": 0.2, "alpha_q": 0.1, "lambda_q": 0.3}
    assert said["critic"]["inner"]["values"]["numbers"] == {"alpha_v": 0.4, "alpha_w": 0.5, "lambda": 0.6}
    assert (said["emphasis"]["numbers"], said["alpha"]) == ({"lambda_a": 0.7}, 0.8)
    assert emphatic.load(tmp_path / "a").critic == critic


def test_a_file_from_before_there_were_several_parts_inside_one(tmp_path: Path) -> None:
    """It has the critic of values itself in the place of the parts by name, and no warm-up."""
    values = emphatic.GTD(0.4, 0.5, 0.6, Dense(4))
    critic = emphatic.Advantage(0.1, values)
    agent = emphatic.AllActions(Softmax(Dense(4), 3), critic, emphatic.FollowOn(0.7), alpha=0.8)
    agent.learn(experience(agent))
    agent.save(tmp_path / "a")
    assert "warm_up" not in metadata(tmp_path / "a", "settings")
    rewrite(tmp_path / "a", settings(lambda s: s["critic"].update(inner=s["critic"]["inner"]["values"])))
    again = emphatic.load(tmp_path / "a")
    assert again.critic == critic and again.warm_up == 0
    assert again._state() == agent._state()
    for change, match in [
        (lambda s: s["critic"]["inner"].update(more=s["critic"]["inner"].copy()), "more"),
        (lambda s: s["critic"]["inner"].pop("kind"), "kind"),
    ]:
        agent.save(tmp_path / "b")
        flatten = settings(lambda s: s["critic"].update(inner=s["critic"]["inner"]["values"]))
        rewrite(tmp_path / "b", flatten, settings(change))
        with pytest.raises(ValueError, match=match):
            emphatic.load(tmp_path / "b")


def test_a_file_that_is_not_of_the_size_that_its_settings_say(saved: Path) -> None:
    """Before anything of such a size is made, and before the file is read to its end."""
    head, body = read(saved)
    more = {"dtype": "F64", "shape": [10**6], "data_offsets": [len(body), len(body) + 8 * 10**6]}
    write(saved, head | {"more": more}, body + bytes(8 * 10**6))
    with pytest.raises(
        ValueError, match="its tensors have 8000[0-9]* bytes; with its settings it would have"
    ):
        emphatic.load(saved)
    for part in ("policy", "critic"):
        # It would fit into memory, but it is not there.
        write(saved, head, body)
        large = settings(lambda s: s[part].update(features={"kind": "one_hot", "states": 10**7}))
        rewrite(saved, settings(lambda s: s["policy"]["features"].update(states=10**7)), large)
        with pytest.raises(ValueError, match="this is not a saved learner"):
            emphatic.load(saved)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no endless file")
def test_a_file_that_never_ends() -> None:
    """Regression: it was read until memory was full."""
    with pytest.raises(ValueError, match="/dev/zero: this is not a saved learner"):
        emphatic.load("/dev/zero")


def mutated(data: Any, rng: np.random.Generator) -> Any:
    """Data with one thing changed, somewhere in it."""
    values: list[Any] = [None, True, 0, 1, -1, 3, 2**64, 1e300, 0.5, "", "exact", "I64", [], {}, [[7, 1.0]]]
    if isinstance(data, (dict, list)) and data and rng.random() < 0.85:
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        key, copied = keys[rng.integers(len(keys))], copy.copy(data)
        if rng.random() < 0.8:
            copied[key] = mutated(data[key], rng)
        else:
            del copied[key]
        return copied
    if isinstance(data, list) and rng.random() < 0.5:
        return [*data, values[rng.integers(len(values))]]
    if isinstance(data, (int, float)) and rng.random() < 0.5:
        return data + 1 if rng.random() < 0.5 else data - 1
    return values[rng.integers(len(values))]


def fuzzed(file: Path, path: Path, rng: np.random.Generator, whats: list[str | None]) -> Iterator[Learner]:
    """The learners that can be used though something was changed in their file: an entry of its metadata, or (None) anything."""
    good, body = read(file)
    for what in whats:
        head = copy.deepcopy(good)
        if what is None:
            head = mutated(head, rng)
        else:
            changed = mutated(json.loads(head["__metadata__"][what]), rng)
            head["__metadata__"][what] = json.dumps(changed)
        write(path, head, body)
        agent = refused_or_used(path)
        if agent is not None:
            yield agent


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_in_a_file_it_is_refused_or_can_be_used(seed: int, tmp_path: Path) -> None:
    """Whatever was changed in a file, it is refused, or all parts of the learner can be used."""
    rng, path, loaded = np.random.default_rng(seed), tmp_path / "agent", 0
    for name in AGENTS:
        learned(name).save(path)
        for agent in fuzzed(path, path, rng, ["settings", "problems", None] * 16):
            loaded += 1
            assert getattr(agent, "lambda_a", 0.0) >= 0.0
            assert agent.copy()._state() == agent._state()
    assert loaded > 10


def test_other_safetensors(saved: Path) -> None:
    write(saved, {"w": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(8))
    with pytest.raises(ValueError, match="it has no settings"):
        emphatic.load(saved)


def test_paths_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    agent = learned("ACE")
    with pytest.raises(FileNotFoundError, match="nothing: No such file"):
        emphatic.load(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match="directory"):
        emphatic.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        agent.save(tmp_path / "nowhere" / "agent")
    for bad in (None, 3, ["a"]):
        with pytest.raises(TypeError):
            agent.save(bad)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            emphatic.load(bad)  # type: ignore[arg-type]


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    agent, path = learned("ACE"), tmp_path / "agent"
    agent.save(path)
    old = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))  # As if the disk were full.
    try:
        with pytest.raises(OSError, match="agent"):
            learned("DPG").save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == old and os.listdir(tmp_path) == ["agent"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")
def test_only_files_are_replaced_and_they_stay_what_they_were(tmp_path: Path) -> None:
    """Regression: devices and pipes became files, private files public ones, and links that led nowhere files."""
    agent, private = learned("ACE"), tmp_path / "private"
    private.touch()
    private.chmod(0o600)
    agent.save(private)
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "there")
    for _ in range(2):  # It leads nowhere, and then to a file.
        agent.save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there").is_file()
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        received = pool.submit((tmp_path / "pipe").read_bytes)
        agent.save(tmp_path / "pipe")
    assert received.result() == private.read_bytes() and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    agent.save(tmp_path / ("a" * 255))


def test_a_save_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    with pytest.raises(OSError, match="agent"):
        learned("ACE").save(tmp_path / "agent")
    assert os.listdir(tmp_path) == ["agent"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="may do everything")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "agent"
    learned("ACE").save(path)
    path.chmod(0)
    with pytest.raises(OSError, match="agent"):
        emphatic.load(path)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(OSError, match="agent"):
            learned("DPG").save(path)
    finally:
        tmp_path.chmod(stat.S_IRWXU)
