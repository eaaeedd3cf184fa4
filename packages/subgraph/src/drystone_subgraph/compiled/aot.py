"""Compiling ahead of time: one run of a model, whose executables go to a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from drystone_base import SessionConfig, load
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.graph.node import placeholder_shape
from drystone_base.graph.validate import output_dtypes
from drystone_subgraph.compiled.compiled import ExecutableStatus
from drystone_subgraph.compiled.status import executables
from drystone_subgraph.contract.config import PartitionConfig

__all__ = ["compile_ahead"]


def compile_ahead(
    model: Path,
    fetches: Sequence[str],
    feeds: Sequence[str],
    config: PartitionConfig,
    size: int,
    optimizer: str = "default",
) -> list[ExecutableStatus]:
    """Run a model once on zeros; dimensions that are not known have ``size`` elements.

    Gives what was compiled, or found in the folder ``config.artefacts``. Raises ``BadRequest``
    (``unknown-feed-shape``) for a feed whose rank is not known, and as ``load`` and a run do.
    """
    loaded = load(model, config=SessionConfig(subgraphs=config, optimizer=optimizer))
    graph = loaded.session.graph
    loaded.session.run(list(fetches), {name: _zeros(graph, name, size) for name in feeds})
    return executables(loaded.session)


def _zeros(graph: Graph, feed: str, size: int) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    node, slot = graph.output(feed)
    shape = placeholder_shape(node)
    types: list[DType] = output_dtypes(node) or []
    if shape is None or slot >= len(types):
        raise BadRequest(
            f"feed {feed!r} has no shape to compile for",
            check="executables are compiled for shapes; of a feed at least the rank is known",
            found="an unknown rank",
            needed="a shape in the model",
            remedy="feed another tensor with --feed, or let the session compile as it runs",
            code="unknown-feed-shape",
        )
    found = np.zeros([size if k < 0 else k for k in shape], types[slot].np)
    if found.dtype.hasobject:
        found.fill(b"")
    return found
