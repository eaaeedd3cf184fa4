"""Passes over graphs: a graph gives the values that it gave before, whatever the graph.

Random graphs run on the reference kernels before and after the pass. Values may differ as far as
the numeric class says that ``--plugin-numeric`` states; where it states none, nothing is compared,
because a pass may be there to change values.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from drystone_conformance.graphs import GRAPHS, build
from drystone_conformance.passing import run_pass
from drystone_conformance.plugin import needs
from drystone_conformance.random_cases import random_case, with_special_values
from drystone_conformance.values import check_values, numeric_of

pytestmark = pytest.mark.module("passes")
GRAPHS_EACH = 10


@pytest.fixture(autouse=True)
def stated(request: pytest.FixtureRequest) -> None:
    """Compare only what the author says that should be equal."""
    if request.config.getoption("--plugin-numeric") is None:
        pytest.skip("say --plugin-numeric CLASS where the passes are to keep values")


@needs("passes.exact")
@pytest.mark.parametrize("graph", GRAPHS)
def test_values_stay(
    request: pytest.FixtureRequest, pass_name: str, graph: str, tmp_path: Path
) -> None:
    case = build(graph)
    changed = run_pass(pass_name, case, graph)
    check_values(case, changed, graph, numeric_of(request.config), tmp_path)


@needs("passes.exact")
@pytest.mark.parametrize("block", range(8))
def test_random_graphs_keep_their_values(
    request: pytest.FixtureRequest, pass_name: str, block: int, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case, name = random_case(seed), f"of seed {seed}"
        changed = run_pass(pass_name, case, name)
        check_values(case, changed, name, numeric_of(request.config), tmp_path)


@needs("passes.non-finite")
@pytest.mark.parametrize("block", range(4))
def test_nan_and_infinities_come_out_where_they_did(
    request: pytest.FixtureRequest, pass_name: str, block: int, tmp_path: Path
) -> None:
    for seed in range(block * GRAPHS_EACH, (block + 1) * GRAPHS_EACH):
        case, name = with_special_values(random_case(seed), seed), f"of seed {seed} with NaN"
        changed = run_pass(pass_name, case, name)
        check_values(case, changed, name, numeric_of(request.config), tmp_path)
