"""How a graph is partitioned: by whom, and what is left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.arguments import explaining
from drystone_base.core.environment import SUBGRAPH_BACKEND
from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described
from drystone_base.core.settings import Kind, Schema, Setting, flag, names, path, whole

if TYPE_CHECKING:
    from drystone_subgraph.contract.subgraph import Subgraph

__all__ = ["OFF", "PREFIX", "SETTINGS", "PartitionConfig"]

OFF: Final = ("none", "off")
"""What is said, in letters of any case, where no backend is wanted; no backend has such a name."""

PREFIX: Final = "policy:"
"""What the name of a policy begins with where names of backends are expected."""

_MOST_THREADS: Final = 1024


def _patience(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise ValueError
    return value


def _gate(value: Any) -> Any:
    if value is not None and not callable(value):
        raise ValueError
    return value


def _distinct(example: str) -> Kind:
    """Names in an order, each once; a set has none."""
    kind = names(example)

    def take(value: Any) -> tuple[str, ...]:
        if isinstance(value, set | frozenset):
            raise ValueError
        return tuple(dict.fromkeys(kind.take(value)))

    return kind._replace(take=take)


SETTINGS: Final = Schema(
    "PartitionConfig",
    "bad-subgraph-option",
    Setting(
        "backends",
        _distinct('("openvino", "default")'),
        "by name, the first has the first choice.",
        remedy='PartitionConfig(backends=("default",))',
    ),
    Setting(
        "minimum_size",
        whole(1, 1 << 31, none="as each property has it"),
        "regions of fewer nodes stay as they are.",
    ),
    Setting(
        "exclude",
        _distinct('("head/*", "Softmax")'),
        "nodes that stay outside: patterns of names, or ops.",
    ),
    Setting("functions", flag(), "whether bodies of functions are partitioned, too."),
    Setting("why", flag(), "keep for each node why each backend did not take it."),
    Setting(
        "gate",
        Kind(_gate, "None, or a function of a subgraph"),
        'told each region before its operator is made; gives why it is not worth one, or "".',
    ),
    Setting(
        "specialisations",
        whole(1, 1 << 31),
        "how many executables for different shapes an operator keeps.",
    ),
    Setting(
        "patience",
        Kind(_patience, "None, or a number of seconds"),
        "how many seconds a run waits for a compilation (None: until it is done, 0: not at all, "
        "below 0: nothing is compiled); meanwhile the host executor runs the region. A run with a "
        "deadline waits for half of what is left of it, at most.",
    ),
    Setting(
        "threads",
        whole(0, _MOST_THREADS, zero="one a core"),
        "how many threads an executable may use.",
    ),
    Setting(
        "artefacts",
        path('the path of a folder, or ""'),
        "a folder of executables that were compiled ahead of time (``drystone partition "
        "--compile``). Without it they go to the user's cache, if the backend can keep them: "
        "``$DRYSTONE_EXECUTABLE_CACHE`` is its folder, or ``off``.",
    ),
    Setting("writes_artefacts", flag(), "whether new executables go to ``artefacts``."),
)


@explaining("of")
@dataclass(frozen=True)
class PartitionConfig:
    """How a graph is partitioned: by which backends, and what is left out.

    Raises ``BadRequest`` (``bad-subgraph-option``) for what a setting cannot be.
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
        SETTINGS.settle(self)
        if self.writes_artefacts and not self.artefacts:
            raise BadRequest(
                "PartitionConfig.writes_artefacts is not understood",
                check="executables are written where there is a folder for them",
                found="True",
                needed="a folder in artefacts, too",
                remedy='artefacts="executables/"',
                code="bad-subgraph-option",
            )

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
            wish = SUBGRAPH_BACKEND.value()
        if isinstance(wish, str):
            names = [name.strip() for name in wish.split(",") if name.strip()]
            if len(names) == 1 and names[0].lower() in OFF:
                return cls()
            return cls(_chosen(names))
        raise BadRequest(
            "SessionConfig.subgraphs is not understood",
            check="it says which backends run regions of a graph",
            found=described(wish),
            needed="None, 'off', names of backends with commas between, or a PartitionConfig",
            remedy='SessionConfig(subgraphs="openvino,default")',
            code="bad-subgraph-option",
        )


PartitionConfig.__doc__ = SETTINGS.document(PartitionConfig.__doc__)


def _chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The backends of these names, and those that policies among them choose, each once."""
    return tuple(dict.fromkeys(n for name in names for n in _meant(name)))


def _meant(name: str) -> tuple[str, ...]:
    """The backend of that name, or those that a policy chooses."""
    from drystone_subgraph.contract.policy import backends_by_policy

    if not name.startswith(PREFIX):
        return (name,)
    return backends_by_policy(name.removeprefix(PREFIX))
