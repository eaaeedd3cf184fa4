"""The index of rewrites says what modules hold; only those for a graph's ops are imported."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import random_arithmetic
from random_images import draw_images
from random_layers import draw_layers

from drystone_base.graph import Node
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.core import rules as engine
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes import (
    arithmetic_optimization,
    constant_folding,
    layer_fusion,
    remapping,
)
from drystone_optimizer.passes._late_rules import ANY, LateRules, index, rules_of

ALL = {
    "arithmetic": arithmetic_optimization.RULES,
    "folding": constant_folding.RULES,
    "remapping": remapping.RULES,
    "layers": layer_fusion.RULES,
    "convolutions": layer_fusion.CONVOLUTIONS,
}
LOADED = """
import sys
import drystone_base as ds
from drystone_optimizer.pipeline.pipeline import optimize
graph = ds.Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": ds.as_dtype("float32")})
for k in range(8):
    x = graph.add("Sign", f"y{k}", [(x, 0)], attrs={"T": ds.as_dtype("float32")})
optimize(graph, ["y7:0"], ["x:0"])
print(*sorted(m for m in sys.modules if m.count(".") == 3 and m.startswith("drystone_optimizer")))
"""


@pytest.mark.parametrize("rules", ALL.values(), ids=list(ALL))
def test_the_index_is_what_the_modules_hold(rules: LateRules) -> None:
    for module in rules.modules:
        held: dict[frozenset[str], set[str]] = {}
        for rule in rules_of(module):
            held.setdefault(frozenset(rule.reads), set()).update(rule.ops or (ANY,))
        found = {line.reads: line.ops for line in index()[module]}
        assert found == held, "run python -m ci.scripts.families_index"


@pytest.mark.parametrize(
    "package", [arithmetic_optimization, constant_folding, layer_fusion, remapping]
)
def test_every_module_with_rules_is_one_of_its_pass(package: object) -> None:
    listed = {module for rules in ALL.values() for module in rules.modules}
    assert set(index()) == listed
    for found in pkgutil.iter_modules(package.__path__):  # type: ignore[attr-defined]
        name = f"{package.__name__}.{found.name}"  # type: ignore[attr-defined]
        module = import_module(name)
        assert (name in listed) == (hasattr(module, "RULES") or hasattr(module, "RULE"))


@pytest.mark.parametrize("rules", ALL.values(), ids=list(ALL))
def test_the_rules_for_an_op_come_in_their_order(rules: LateRules) -> None:
    everything = list(rules)
    read = {op for rule in everything for op in rule.reads}
    for op in {op for rule in everything for op in rule.ops} | {"NoSuchOp"}:
        wanted = [r for r in everything if (not r.ops or op in r.ops) and op not in r.no_ops]
        assert [r for r in rules.of(op, frozenset(read)) if r in wanted] == wanted
        for one in read | {"NoSuchOp"}:
            some = [r for r in wanted if not r.reads or one in r.reads]
            assert [r for r in rules.of(op, frozenset((one,))) if r in some] == some


def test_a_module_that_the_index_lacks_is_imported() -> None:
    rules = LateRules("drystone_optimizer.passes", ("dependency_optimization",))
    assert list(rules.of("NoSuchOp", frozenset())) == list(rules) == list(rules.of_any())


DRAWN: list[Callable[[int], tuple[Any, list[str]]]] = [
    random_arithmetic.draw, draw_layers, lambda seed: draw_images(seed, last=seed % 2 == 0),
]  # fmt: skip


@pytest.mark.parametrize("draw", DRAWN, ids=["arithmetic", "layers", "images"])
def test_a_rule_matches_no_node_that_reads_none_of_what_it_names(
    draw: Callable[[int], tuple[Any, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all rules tried on all nodes, at each look at a graph."""
    strays: list[str] = []
    stated = [rule for rules in ALL.values() for rule in rules if rule.reads]

    def scan(ctx: Context, chosen: Any, nodes: list[Node], limit: int) -> None:
        for node in ctx.graph:
            read = {source.op for source, _ in node.inputs}
            for rule in stated:
                fits = node.op not in rule.no_ops if not rule.ops else node.op in rule.ops
                if fits and read.isdisjoint(rule.reads) and rule.match(ctx, node) is not None:
                    strays.append(f"{rule.name}: {node.op} reads {sorted(read)}")
        plain(ctx, chosen, nodes, limit)

    plain = engine._scan
    monkeypatch.setattr(engine, "_scan", scan)
    config = OptimizerConfig(numeric="approximate", min_graph_nodes=-1)
    for seed in range(20):
        made, fetches = draw(seed)
        optimize_with_report(made.m.graph, fetches, list(made.feeds), config, available=())
    assert not strays


def test_optimizing_imports_the_modules_for_ops_that_are_there() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [name.partition(".passes.")[2] for name in done.stdout.split()] == [
        "arithmetic_optimization.involutions", "constant_folding.fold",
        "layout_optimizer.direction",
    ]  # fmt: skip
