"""Rows J8 and J22: the same bytes whatever the hash seed, and opting out by pass and by node."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import random_arithmetic
from pass_checks import only, run_pass

from drystone_optimizer import OptimizerConfig, optimize, optimize_with_report
from drystone_optimizer.core.config import OWN, PASSES
from drystone_optimizer.core.preserve import MARK

SWITCHES = [name for name in (*PASSES, *OWN) if name != "disable_model_pruning"]
SEEDS = range(12)


def digest() -> str:
    """Of the optimized graphs of some seeds."""
    found = hashlib.sha256()
    for seed in SEEDS:
        made, fetches = random_arithmetic.draw(seed)
        config = OptimizerConfig(min_graph_nodes=-1, arithmetic_optimization="aggressive")
        found.update(optimize(made.m.graph, fetches, list(made.feeds), config).to_bytes())
    return found.hexdigest()


def test_the_same_bytes_whatever_the_hash_seed() -> None:
    """Row J8."""
    here = Path(__file__).resolve()
    folders = [str(here.parent), str(here.parents[2])]
    code = (
        f"import sys; sys.path[:0] = {folders!r}; from {here.stem} import digest; print(digest())"
    )
    told = []
    for seed in ("1", "77"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True
        )
        told.append(done.stdout.strip())
    assert told == [digest()] * 2


@pytest.mark.parametrize("name", SWITCHES)
def test_a_pass_that_is_off_does_not_run(name: str) -> None:
    """Row J22."""
    made, fetches = random_arithmetic.draw(1)
    config = OptimizerConfig.from_options({name: "off", "min_graph_nodes": -1})
    _, report = optimize_with_report(made.m.graph, fetches, list(made.feeds), config, ())
    assert name not in {step.name for step in report.steps}
    assert report.steps


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("name", ["model_pruning", *SWITCHES])
def test_every_pass_leaves_a_marked_node_its_name_and_value(name: str) -> None:
    """Row J22."""
    for seed in SEEDS:
        made, fetches = random_arithmetic.draw(seed)
        rng = np.random.default_rng(seed)
        marked = []
        for node in made.m.graph:
            if node.op not in ("Const", "Placeholder", "Split") and rng.random() < 0.3:
                made.m.graph.set_attr(node, MARK, True)
                marked.append(f"{node.name}:0")
        more = {"numeric": "approximate"} | ({name: "aggressive"} if name in SWITCHES else {})
        after, _ = run_pass(made.m.graph, name, fetches, list(made.feeds), **more)
        wanted = [*fetches, *marked]
        assert not [tensor for tensor in wanted if tensor.partition(":")[0] not in after]
        if "mixed_precision" in name:
            continue
        plain = random_arithmetic.run(made, wanted, "off")
        made.m.graph = after
        for one, other in zip(plain, random_arithmetic.run(made, wanted, "off"), strict=True):
            finite = np.isfinite(one)
            np.testing.assert_allclose(one[finite], other[finite], rtol=1e-3, atol=1e-3)


def test_nothing_runs_where_everything_is_off() -> None:
    """Row J22."""
    made, fetches = random_arithmetic.draw(2)
    after, report = optimize_with_report(made.m.graph, fetches, list(made.feeds), only(), ())
    assert after is made.m.graph
    assert not report.steps
