"""How a graph is partitioned: by whom, and what is left out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

from drystone_base.errors import BadRequest

if TYPE_CHECKING:
    from drystone_subgraph.subgraph import Subgraph

__all__ = ["OFF", "PREFIX", "VARIABLE", "PartitionConfig"]

VARIABLE: Final = "DRYSTONE_SUBGRAPH_BACKEND"

OFF: Final = ("none", "off")
"""What is said, in letters of any case, where no backend is wanted; no backend has such a name."""

PREFIX: Final = "policy:"
"""What the name of a policy begins with where names of backends are expected."""

_MOST_THREADS: Final = 1024


def _is_number(value: Any, least: int, most: float = float("inf")) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, Integral) and least <= int(value) <= most


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_patience(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return value is None
    return isinstance(value, Real) and not math.isnan(value)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(v and isinstance(v, str) for v in value)


_NAMES: Final = "a tuple of texts"
_FLAG: Final = "True or False"
_RULES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "backends": (_are_names, f'{_NAMES}, such as ("openvino", "default")'),
    "minimum_size": (lambda v: v is None or _is_number(v, 1), "None, or a whole number from 1"),
    "exclude": (_are_names, f'{_NAMES}, such as ("head/*", "Softmax")'),
    "functions": (_is_flag, _FLAG),
    "why": (_is_flag, _FLAG),
    "gate": (lambda v: v is None or callable(v), "None, or a function of a subgraph"),
    "specialisations": (lambda v: _is_number(v, 1), "a whole number from 1"),
    "patience": (_is_patience, "None, or a number of seconds"),
    "threads": (lambda v: _is_number(v, 0, _MOST_THREADS), f"0 (one a core) to {_MOST_THREADS}"),
    "artefacts": (lambda v: isinstance(v, str | os.PathLike), 'the path of a folder, or ""'),
    "writes_artefacts": (_is_flag, _FLAG),
}
"""What each setting may be, and how that is said."""


@dataclass(frozen=True)
class PartitionConfig:
    """``backends``: by name, the first has the first choice. ``minimum_size``: regions of fewer
    nodes stay as they are (None: as each property has it). ``exclude``: nodes that stay outside:
    patterns of names such as ``"head/*"``, or ops. ``functions``: whether bodies of functions are
    partitioned, too. ``why``: keep for each node why each backend did not take it. ``gate``: told
    each region before its operator is made; gives why it is not worth one, or "".

    Of backends that compile: ``specialisations`` is how many executables for different shapes
    an operator keeps. ``patience`` is how many seconds a run waits for a compilation (None:
    until it is done, 0: not at all, below 0: nothing is compiled); meanwhile the host executor
    runs the region. ``threads`` is how many an executable may use (0: one a core). A run with a
    deadline waits for half of what is left of it, at most. ``artefacts`` is a folder of executables
    that were compiled ahead of time (``drystone partition --compile``); with ``writes_artefacts``
    new ones go there. Otherwise they go to the user's cache, if the backend can keep them:
    ``DRYSTONE_EXECUTABLE_CACHE`` is its folder, or ``off``. Raises ``BadRequest``
    (``bad-subgraph-option``) for what a setting cannot be.
    """

    backends: tuple[str, ...] = ()
    minimum_size: int | None = None
    exclude: tuple[str, ...] = ()
    functions: bool = True
    why: bool = False
    gate: Callable[[Subgraph], str] | None = None
    specialisations: int = 8
    patience: float | None = None
    threads: int = 0
    artefacts: str = ""
    writes_artefacts: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            accepts, needed = _RULES[field.name]
            value = getattr(self, field.name)
            if not accepts(value):
                remedy = f"leave it out: by default it is {field.default!r}"
                raise _bad(field.name, value, needed, remedy)
        if self.writes_artefacts and not self.artefacts:
            needed = "a folder in artefacts, too"
            raise _bad("writes_artefacts", True, needed, 'artefacts="executables/"')
        for name in ("backends", "exclude"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))
        object.__setattr__(self, "artefacts", os.fspath(self.artefacts))

    @classmethod
    def of(cls, wish: Any) -> PartitionConfig:
        """What ``SessionConfig.subgraphs`` says: a config, ``"off"``, None, or names.

        None is what ``DRYSTONE_SUBGRAPH_BACKEND`` says: names with commas between, or
        ``NONE``. ``policy:max-performance`` and the like stand for the backends that the policy
        chooses. Raises ``BadRequest`` (``bad-subgraph-option``, ``unknown-subgraph-policy``).
        """
        if isinstance(wish, PartitionConfig):
            chosen = _chosen(wish.backends)
            return wish if chosen == wish.backends else replace(wish, backends=chosen)
        if wish is None:
            wish = os.environ.get(VARIABLE, "")
        if isinstance(wish, str):
            names = [name.strip() for name in wish.split(",") if name.strip()]
            if len(names) == 1 and names[0].lower() in OFF:
                return cls()
            return cls(_chosen(names))
        raise BadRequest(
            "SessionConfig.subgraphs is not understood",
            check="it says which backends run regions of a graph",
            found=repr(wish),
            needed="None, 'off', names of backends with commas between, or a PartitionConfig",
            remedy='SessionConfig(subgraphs="openvino,default")',
            code="bad-subgraph-option",
        )


def _bad(name: str, found: Any, needed: str, remedy: str) -> BadRequest:
    return BadRequest(
        f"PartitionConfig.{name} is not understood",
        check="a setting is of its own kind and range",
        found=repr(found),
        needed=needed,
        remedy=remedy,
        code="bad-subgraph-option",
    )


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The backends of these names, and those that policies among them choose, each once."""
    return tuple(dict.fromkeys(n for name in names for n in _meant(name)))


def _meant(name: str) -> tuple[str, ...]:
    """The backend of that name, or those that a policy chooses."""
    from drystone_subgraph.policy import backends_by_policy

    if not name.startswith(PREFIX):
        return (name,)
    return backends_by_policy(name.removeprefix(PREFIX))
