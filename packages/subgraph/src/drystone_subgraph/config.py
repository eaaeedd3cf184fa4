"""How a graph is partitioned: by whom, and what is left out."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from drystone_base.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from drystone_subgraph.subgraph import Subgraph

__all__ = ["VARIABLE", "PartitionConfig"]

VARIABLE: Final = "DRYSTONE_SUBGRAPH_BACKEND"


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
    ``DRYSTONE_EXECUTABLE_CACHE`` is its folder, or ``off``.
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

    @classmethod
    def of(cls, wish: Any) -> PartitionConfig:
        """What ``SessionConfig.subgraphs`` says: a config, ``"off"``, None, or names.

        None is what ``DRYSTONE_SUBGRAPH_BACKEND`` says: names with commas between, or
        ``NONE``. ``policy:max-performance`` and the like stand for the backends that the policy
        chooses. Raises ``BadRequest`` (``bad-subgraph-option``, ``unknown-subgraph-policy``).
        """
        if isinstance(wish, PartitionConfig):
            return wish
        if wish is None:
            wish = os.environ.get(VARIABLE, "")
        if isinstance(wish, str):
            names = [name.strip() for name in wish.split(",") if name.strip()]
            if [n.lower() for n in names] in (["none"], ["off"]):
                return cls()
            return cls(tuple(dict.fromkeys(n for name in names for n in _meant(name))))
        raise BadRequest(
            "SessionConfig.subgraphs is not understood",
            check="it says which backends run regions of a graph",
            found=repr(wish),
            needed="None, 'off', names of backends with commas between, or a PartitionConfig",
            remedy='SessionConfig(subgraphs="openvino,default")',
            code="bad-subgraph-option",
        )


def _meant(name: str) -> tuple[str, ...]:
    """The backend of that name, or those that a policy chooses."""
    from drystone_subgraph.policy import PREFIX, backends_by_policy

    if not name.startswith(PREFIX):
        return (name,)
    return backends_by_policy(name.removeprefix(PREFIX))
