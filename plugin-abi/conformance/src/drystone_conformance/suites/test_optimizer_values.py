"""Graph optimizers: a graph gives the values that it gave before, whatever the graph.

Random graphs run on the reference kernels before and after the plugin's optimizer. Values may
differ as far as the numeric class says that ``--plugin-numeric`` states.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from drystone_abi.protos import GraphDef
from drystone_conformance.graphs import Case
from drystone_conformance.optimizing import optimize
from drystone_conformance.plugin import needs
from drystone_conformance.random_cases import random_case, with_special_values
from drystone_conformance.values import check_values, numeric_of

pytestmark = pytest.mark.module("optimizer")
GRAPHS_EACH = 10


def check(request: pytest.FixtureRequest, device: str, case: Case, name: str, folder: Path) -> None:
    """Optimize and compare."""
    changed = optimize(device, case, name)
    check_values(case, changed, name, numeric_of(request.config), folder)


@needs("optimizer.exact")
@pytest.mark.parametrize("block", range(12))
def test_random_graphs_keep_their_values(
    request: pytest.FixtureRequest, optimizer_type: str, block: int, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        check(request, optimizer_type, random_case(seed), f"of seed {seed}", tmp_path)


@needs("optimizer.non-finite")
@pytest.mark.parametrize("block", range(6))
def test_nan_and_infinities_come_out_where_they_did(
    request: pytest.FixtureRequest, optimizer_type: str, block: int, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case = with_special_values(random_case(seed), seed)
        name = f"of seed {seed} with NaN and infinities"
        check(request, optimizer_type, case, name, tmp_path)


@pytest.mark.parametrize("block", range(4))
def test_nodes_that_must_stay_do(optimizer_type: str, block: int) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case = random_case(seed)
        after = GraphDef.FromString(optimize(optimizer_type, case, f"of seed {seed}"))
        gone = set(case.kept) - {node.name for node in after.node}
        assert not gone, f"graph of seed {seed}: {', '.join(sorted(gone))} must be preserved"
