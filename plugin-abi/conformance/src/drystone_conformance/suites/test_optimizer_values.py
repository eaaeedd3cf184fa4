"""Graph optimizers: a graph gives the values that it gave before, whatever the graph.

Random graphs run on the reference kernels before and after the plugin's optimizer. Values may
differ as far as the numeric class says that ``--plugin-numeric`` states.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import GraphDef
from drystone_base import Graph, Session, SessionConfig, validate, write_graph
from drystone_base.kernels import find_kernel
from drystone_conformance.graphs import Case
from drystone_conformance.optimizing import PLAIN, REFERENCE, optimize
from drystone_conformance.plugin import needs
from drystone_conformance.progress import doing
from drystone_conformance.random_cases import random_case, with_special_values
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.rules import Numeric

pytestmark = pytest.mark.module("optimizer")
GRAPHS_EACH = 10


def executor_for(graph: Graph) -> SessionConfig:
    """Reference kernels, and those of the plugin where it made ops of its own."""
    known = all(node.op == "Placeholder" or find_kernel(node.op) for node in graph)
    return REFERENCE if known else PLAIN


def values(graph: Graph, case: Case, config: SessionConfig, name: str) -> list[Any]:
    with doing(f"running graph {name}"), np.errstate(all="ignore"):
        found: list[Any] = Session(graph, config).run(case.fetches, case.feeds)
    return found


def check(device: str, case: Case, name: str, numeric: Numeric, folder: Path) -> None:
    """Optimize and compare; what differs is written down for the author."""
    after = Graph.from_proto(GraphDef.FromString(optimize(device, case, name)))
    validate(after)
    before = values(case.graph, case, REFERENCE, name)
    found = values(after, case, executor_for(after), f"{name} as it was optimized")
    to_the_bit = executor_for(after) is REFERENCE
    what = first_difference(case.fetches, before, found, numeric, to_the_bit=to_the_bit)
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


@pytest.fixture
def numeric(request: pytest.FixtureRequest) -> Numeric:
    """The class that the author states."""
    return Numeric[str(request.config.getoption("--plugin-numeric")).upper()]


@needs("optimizer.exact")
@pytest.mark.parametrize("block", range(12))
def test_random_graphs_keep_their_values(
    optimizer_type: str, block: int, numeric: Numeric, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        check(optimizer_type, random_case(seed), f"of seed {seed}", numeric, tmp_path)


@needs("optimizer.non-finite")
@pytest.mark.parametrize("block", range(6))
def test_nan_and_infinities_come_out_where_they_did(
    optimizer_type: str, block: int, numeric: Numeric, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case = with_special_values(random_case(seed), seed)
        name = f"of seed {seed} with NaN and infinities"
        check(optimizer_type, case, name, numeric, tmp_path)


@pytest.mark.parametrize("block", range(4))
def test_nodes_that_must_stay_do(optimizer_type: str, block: int) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case = random_case(seed)
        after = GraphDef.FromString(optimize(optimizer_type, case, f"of seed {seed}"))
        gone = set(case.kept) - {node.name for node in after.node}
        assert not gone, f"graph of seed {seed}: {', '.join(sorted(gone))} must be preserved"
