"""Emphases that are written in Python, to try out an idea."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from . import convert, parts

if TYPE_CHECKING:
    from ._native import PartStep

_E = TypeVar("_E", bound="PythonEmphasis")


@dataclass(repr=False)
class PythonEmphasis(parts._Checked):
    """An emphasis of your own, for any learner and for `sweep`: a dataclass with a method `weigh`.

    Its fields are settings, each a float. While it learns they are arrays with one number for each learner, as are `rho` and what `weigh`
    returns: one call serves all learners that learn side by side. `reset` makes its arrays; those that `state` names are saved, copied and
    restored with the learner (others are not). Give it a field `features` to see the state: `step.x`. A `step` has `gamma`, `gamma_next`,
    `interest`, `reward`, `x` and `x_next`; `rho` is a new array at each call. A class that does not use `rho` sets `needs_ratio = False`,
    and can then weigh a deterministic policy.

    If a method raises an exception, or Ctrl-C comes while it runs, the learner is left half-way and cannot be used any more.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import emphatic
    >>> @dataclass
    ... class Interest(emphatic.PythonEmphasis):
    ...     factor: float = 1.0
    ...
    ...     def weigh(self, step, rho):
    ...         return self.factor * np.full(len(rho), step.interest)
    >>> policy, critic = emphatic.Softmax(emphatic.OneHot(3), 2), emphatic.GTD(0.1, 1e-3)
    >>> agent = emphatic.ActorCritic(policy, critic, Interest(2.0), alpha=0.1)
    >>> agent.step(0, 1, 1.0, 2, mu=0.5, gamma_next=0.9).emphasis
    2.0
    """

    _kind: ClassVar[str] = "python"
    # The names of its arrays that change, each float64 with the learners as its first dimension.
    state: ClassVar[tuple[str, ...]] = ()
    # Whether it uses `rho`, which a deterministic policy does not have.
    needs_ratio: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()

    def _check(self) -> None:
        """Refuses a class that makes no sense."""
        kind, names = type(self).__name__, self.state
        own = vars(type(self))
        if own.get("__annotations__") and "__dataclass_fields__" not in own:
            raise TypeError(f"{kind} has settings and is no dataclass: write @dataclass above it")
        for field in fields(self):
            if field.name != "features" and not _is_float(field.type):
                raise TypeError(f"`{field.name}` of {kind} is of type {field.type!r}; settings are floats")
        if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
            raise TypeError(
                f'`state` of {kind} is {names!r}; it must be a tuple of names, such as ("trace",)'
            )
        for name in names:
            if names.count(name) > 1:
                raise TypeError(f"`state` of {kind} names `{name}` twice")
        if not isinstance(self.needs_ratio, bool):
            raise TypeError(f"`needs_ratio` of {kind} is {self.needs_ratio!r}; it must be True or False")

    def reset(self, learners: int) -> None:
        """Makes its arrays, for this many learners."""

    def weigh(self, step: PartStep, rho: convert.Floats) -> convert.Floats:
        """M_t of each learner. `rho` is ρ_t of each; it counts for the steps after this one."""
        raise NotImplementedError(f"{type(self).__name__} has no method weigh(self, step, rho)")

    def learn(self, step: PartStep, rho: convert.Floats) -> None:
        """Learns from the step, after the actor has."""

    @property
    def _learns(self) -> bool:
        return type(self).learn is not PythonEmphasis.learn

    @classmethod
    def _setting_names(cls) -> list[str]:
        return [field.name for field in fields(cls) if _is_float(field.type)]

    @classmethod
    def _restored(cls: type[_E], settings: dict[str, float], features: parts.Features | None) -> _E:
        """Returns an emphasis with saved settings. `__init__` is not called: it may have changed the settings already."""
        names = cls._setting_names()
        if set(settings) != set(names):
            raise ValueError(f"it has the settings {sorted(settings)}; {cls.__name__} has {sorted(names)}")
        part, values = cls.__new__(cls), dict[str, Any](settings)
        if any(field.name == "features" for field in fields(cls)):
            values["features"] = features
        for name, value in values.items():
            object.__setattr__(part, name, value)
        return part


def _is_float(kind: Any) -> bool:
    return kind in ("float", float)


def side_by_side(each: Sequence[PythonEmphasis]) -> PythonEmphasis:
    """Returns one part for many learners, whose settings are arrays."""
    part = copy.copy(each[0])
    part._check()
    own = {field.name for field in fields(part)}
    for name in vars(part):
        if name not in own:
            # It was computed from the settings of one learner, and would be used for all.
            raise TypeError(
                f"`{name}` of {type(part).__name__} is set before there are learners: set it in"
                " reset(self, learners), where settings are arrays, or make it a property"
            )
    for name in part._setting_names():
        numbers = np.array([getattr(one, name) for one in each], np.float64)
        object.__setattr__(part, name, numbers)
    part.reset(len(each))
    return part
