"""The index of rewrites says what modules hold; only those for a graph's ops are imported."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

from drystone_optimizer.late_rules import ANY, LateRules, index, rules_of
from drystone_optimizer.passes import (
    arithmetic_optimization,
    constant_folding,
    layer_fusion,
    remapping,
)

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
from drystone_optimizer.pipeline import optimize
graph = ds.Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": ds.dtypes.as_dtype("float32")})
for k in range(8):
    x = graph.add("Sign", f"y{k}", [(x, 0)], attrs={"T": ds.dtypes.as_dtype("float32")})
optimize(graph, ["y7:0"], ["x:0"])
print(*sorted(m for m in sys.modules if m.count(".") == 3 and m.startswith("drystone_optimizer")))
"""


@pytest.mark.parametrize("rules", ALL.values(), ids=list(ALL))
def test_the_index_is_what_the_modules_hold(rules: LateRules) -> None:
    held = {
        module: {op for rule in rules_of(module) for op in rule.ops or (ANY,)}
        for module in rules.modules
    }
    found = {module: index()[module] for module in rules.modules}
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
    for op in {op for rule in everything for op in rule.ops} | {"NoSuchOp"}:
        wanted = [r for r in everything if (not r.ops or op in r.ops) and op not in r.no_ops]
        assert [r for r in rules.of(op) if r in wanted] == wanted


def test_a_module_that_the_index_lacks_is_imported() -> None:
    rules = LateRules("drystone_optimizer.passes", ("dependency_optimization",))
    assert list(rules.of("NoSuchOp")) == list(rules)


def test_optimizing_imports_the_modules_for_ops_that_are_there() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [name.partition(".passes.")[2] for name in done.stdout.split()] == [
        "arithmetic_optimization.inverses", "constant_folding.fold", "layout_optimizer.direction",
    ]  # fmt: skip
