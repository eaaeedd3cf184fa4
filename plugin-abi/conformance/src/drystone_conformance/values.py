"""Whether a graph gives the values that it gave before a plugin changed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import GraphDef
from drystone_base import Graph, Session, SessionConfig, validate, write_graph
from drystone_base.kernels import find_kernel
from drystone_conformance.graphs import Case
from drystone_conformance.optimizing import PLAIN, REFERENCE
from drystone_conformance.progress import doing
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.core.rules import Numeric

__all__ = ["check_values", "numeric_of"]


def numeric_of(config: pytest.Config) -> Numeric:
    """The class that the author states with ``--plugin-numeric``, else ``reassociates``."""
    return Numeric[str(config.getoption("--plugin-numeric") or "reassociates").upper()]


def check_values(case: Case, changed: bytes, name: str, numeric: Numeric, folder: Path) -> None:
    """Fail the test where the changed graph is none, or gives other values than the case.

    ``name`` says which graph it is; what differs is written into ``folder`` for the author.
    """
    after = Graph.from_proto(GraphDef.FromString(changed))
    validate(after)
    config = _config_for(after)
    before = _run(case.graph, case, REFERENCE, name)
    found = _run(after, case, config, f"{name} as it was changed")
    exact = config is REFERENCE
    what = first_difference(case.fetches, before, found, numeric, to_the_bit=exact)
    if not what:
        return
    write_graph(case.graph, folder / "before.pbtxt")
    write_graph(after, folder / "after.pbtxt")
    feeds: dict[str, Any] = dict(case.feeds)
    np.savez(folder / "feeds.npz", **feeds)
    pytest.fail(
        f"graph {name}: {what}, which is more than the class {numeric.name.lower()} allows; "
        f"before.pbtxt, after.pbtxt and feeds.npz are in {folder}"
    )


def _config_for(graph: Graph) -> SessionConfig:
    """Reference kernels, and those of the plugin where it made ops of its own."""
    known = all(node.op == "Placeholder" or find_kernel(node.op) for node in graph)
    return REFERENCE if known else PLAIN


def _run(graph: Graph, case: Case, config: SessionConfig, name: str) -> list[Any]:
    with doing(f"running graph {name}"), np.errstate(all="ignore"):
        found: list[Any] = Session(graph, config).run(case.fetches, case.feeds)
    return found
