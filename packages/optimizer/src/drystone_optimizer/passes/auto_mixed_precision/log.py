"""What the pass saw, painted and made, as files, where the environment names a folder for them.

``$TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LOG_PATH``: the graph before and after as GraphDef, binary
and as text, and the nodes by list with those that are computed in 16 bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Final

from drystone_base.graph.pbtxt import to_text
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.auto_mixed_precision.lists import KINDS, PREFIX
from drystone_optimizer.passes.auto_mixed_precision.type_graph import Vertex

__all__ = ["Log"]

_SERIAL: Final = count()


class Log:
    """The files of one run of the pass; none where no folder is named."""

    def __init__(self, label: str) -> None:
        folder = os.environ.get(f"{PREFIX}LOG_PATH", "")
        self._folder = Path(folder) if folder else None
        self._name = f"{label}_{os.getpid()}_{next(_SERIAL)}"

    def graph(self, ctx: Context, when: str) -> None:
        """The graph, ``when`` being ``"preop"`` or ``"after"``."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"graphdef_{when}_{self._name}.pb"
        file.write_bytes(ctx.graph.to_bytes())
        file.with_suffix(".pb.txt").write_text(to_text(ctx.graph), "utf-8")

    def paint(self, vertices: Iterable[Vertex], painted: set[Vertex]) -> None:
        """The nodes by list, and those that are painted."""
        if self._folder is None:
            return
        lines = []
        for kind in (*KINDS, ""):
            names = {f"{node.op} {node.name}" for v in vertices if v.kind == kind
                     for node, _ in v.members}  # fmt: skip
            lines += [f"{kind or 'no'} list:", *(f"  {name}" for name in sorted(names))]
        chosen = {f"{node.op} {node.name}" for v in painted for node, _ in v.members}
        lines += ["painted:", *(f"  {name}" for name in sorted(chosen))]
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"paintbuckets_{self._name}.txt"
        file.write_text("\n".join([*lines, ""]), "utf-8")
