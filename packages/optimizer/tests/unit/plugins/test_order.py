"""Several optimizers for a device type: phases, priorities, and the RFC's rule for the others.

Row J7. S0-one-per-type, S0-last, S0-device-match, S0-no-device.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fresh_process import run_program
from pass_checks import Maker

from drystone_abi.protos import DataType, FunctionDef
from drystone_base import modules
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import HostError, PluginError
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.plugins import isolation
from drystone_optimizer import (
    OptimizerConfig,
    OptimizerWarning,
    graph_optimizer,
    optimize_with_report,
    optimizers,
    register,
)
from drystone_optimizer.core.config import OptimizerConfig as Config
from drystone_optimizer.core.devices import all_device_types, body_types
from drystone_optimizer.plugins.sources import failures
from drystone_optimizer.session.module import MODULE

needs_host = pytest.mark.skipif(not available(), reason="the host library is not built")
Seen = list[tuple[str, list[str]]]


@pytest.fixture(autouse=True, scope="module")
def installed() -> Iterator[None]:
    modules.register(MODULE, "tests")
    yield
    isolation.stop_workers()


def watcher(
    seen: Seen, name: str, phase: str | None = None, priority: int = 0, device: str = "ORDER"
) -> None:
    """An optimizer that notes that it ran, and on which ops."""

    @graph_optimizer(name=name, device_type=device, phase=phase, priority=priority)
    def look(graph: Graph) -> Graph:
        seen.append((name, sorted({node.op for node in graph})))
        return graph


def model(device: str = "/device:ORDER:0") -> Graph:
    m = Maker()
    m.op("Mul", "one", m.x(), m.const("c", 1.0), T=FLOAT32, device=device)
    m.op("Tanh", "t", "one", T=FLOAT32, device=device)
    m.op("Neg", "y", "t", T=FLOAT32, device=device)
    return m.graph


def names(graph: Graph, seen: Seen, **more: Any) -> list[str]:
    chosen = [one for one in optimizers(load=False) if one.device.startswith("ORDER")]
    optimize_with_report(graph, ["y:0"], ["x:0"], Config(**more), chosen)
    return [name for name, _ in seen]


def test_phases_and_priorities_order_the_optimizers() -> None:
    """Row B21."""
    seen: Seen = []
    watcher(seen, "last", "end", -1)
    watcher(seen, "undeclared")
    watcher(seen, "first", "start")
    watcher(seen, "before", "before constant_folding")
    watcher(seen, "after", "after constant_folding")
    watcher(seen, "sooner", "end", 5)
    assert names(model(), seen) == ["first", "before", "after", "sooner", "undeclared", "last"]
    ops = dict(seen)
    assert "Mul" in ops["before"]
    assert "Mul" not in ops["after"], "constant folding took out the multiplication by one"


def test_phase_at_a_pass_that_is_off_is_kept() -> None:
    seen: Seen = []
    watcher(seen, "after", "after remapping")
    watcher(seen, "before", "before remapping")
    assert names(model(), seen, remapping=False) == ["before", "after"]


def test_phase_at_a_pass_runs_once_whatever_the_iterations() -> None:
    seen: Seen = []
    watcher(seen, "after", "after constant_folding")
    assert names(model(), seen, meta_optimizer_iterations=4, min_graph_nodes=-1) == ["after"]


def test_what_a_plugin_changes_between_passes_is_optimized_on() -> None:
    @graph_optimizer(name="mid", device_type="ORDER", phase="after constant_folding")
    def twice(graph: Graph) -> Graph:
        y = graph["y"]
        inner = graph.add("Neg", "inner", y.inputs, device=y.device, attrs={"T": FLOAT32})
        graph.set_inputs(y, [(inner, 0)])
        return graph

    chosen = [one for one in optimizers(load=False) if one.name == "mid"]
    after, report = optimize_with_report(model(), ["y:0"], ["x:0"], None, chosen)
    assert [run.outcome for run in report.runs] == ["changed"]
    assert [n.op for n in after] == ["Placeholder", "Tanh", "Identity"], "two Neg cancel out"


def test_second_without_a_phase_is_refused_naming_both() -> None:
    """RFC 318: a conflict; the first stays active."""
    watcher([], "one")
    with pytest.raises(PluginError) as caught:
        watcher([], "two")
    text = str(caught.value)
    assert caught.value.code == "already-registered"
    assert f"graph optimizer 'two' ({__name__}) was refused" in text
    assert "ORDER has 'one'" in text
    assert [o.name for o in optimizers(load=False) if o.device == "ORDER"] == ["one"]
    watcher([], "two", device="ORDER_B")
    watcher([], "one")  # the newest of a name counts


def test_phase_that_is_none_is_refused() -> None:
    with pytest.raises(PluginError) as caught:
        watcher([], "odd", "before constant_foldin")
    assert caught.value.code == "bad-graph-optimizer"
    assert "phase='before constant_foldin'" in str(caught.value)
    assert "did you mean constant_folding" in str(caught.value)


# ---- devices -----------------------------------------------------------------------------------


def calling(device: str, inner: str = "") -> Graph:
    """``y = f(x)``, called on a device; ``inner`` is the device of a node of the body."""
    proto = FunctionDef()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="a", type=DataType.DT_FLOAT)
    proto.signature.output_arg.add(name="r", type=DataType.DT_FLOAT)
    node = proto.node_def.add(name="h", op="Tanh", input=["a"], device=inner)
    node.attr["T"].type = DataType.DT_FLOAT
    proto.ret["r"] = "h:y:0"
    m = Maker()
    m.graph.functions.add(proto)
    m.x()
    m.op("f", "y", "x", device=device)
    return m.graph


@pytest.mark.parametrize(("call", "inner", "types"), [
    ("", "", {"CPU"}),
    ("/device:ORDER:0", "", {"ORDER"}),
    ("", "/device:ORDER:0", {"ORDER"}),
    ("/device:ORDER:0", "/device:GPU:0", {"GPU"}),
])  # fmt: skip
def test_unplaced_body_runs_where_it_is_called(call: str, inner: str, types: set[str]) -> None:
    """Row B14. S0-device-match, inside functions and for nodes that ask for no device."""
    graph = calling(call, inner)
    assert body_types(graph) == {"f": types}
    assert all_device_types(graph) >= types


@pytest.mark.parametrize("phase", ["start", "end", "before constant_folding"])
@pytest.mark.parametrize(("call", "inner", "where"), [
    ("/device:ORDER:0", "", ["", "f"]),
    ("", "/device:ORDER:0", ["f"]),
    ("/device:ORDER:0", "/device:CPU:0", [""]),
    ("", "", []),
])  # fmt: skip
def test_optimizer_sees_graph_and_bodies_of_its_device(
    phase: str, call: str, inner: str, where: list[str]
) -> None:
    """Row B14."""
    seen: Seen = []
    watcher(seen, "look", phase)
    chosen = [one for one in optimizers(load=False) if one.name == "look"]
    config = OptimizerConfig(function_optimization=False, min_graph_nodes=-1)
    _, report = optimize_with_report(calling(call, inner), ["y:0"], ["x:0"], config, chosen)
    assert [run.where for run in report.runs] == where


# ---- libraries ---------------------------------------------------------------------------------

ORDER = (
    "-DBEFORE_OPTIMIZE=TF_CAPI_EXPORT void DS_OrderOptimizer(DS_OptimizerOrder* order, "
    'TF_Status* s) {{ (void)s; order->phase = "{phase}"; order->priority = {priority}; }}'
)
Library = Callable[..., Path]


def compiled(
    compile_library: Library, name: str, device: str, phase: str = "", priority: int = 0
) -> Path:
    flags = [f'-DDEVICE="{device}"']
    flags += [f'-DOPTIMIZE=append_node(graph, "{name}", "NoOp", optimized)']
    if phase:
        flags.append(ORDER.format(phase=phase, priority=priority))
    found: Path = compile_library("optimizer_variants.c", flags=flags)
    return found


def opened(path: Path) -> HostLibrary:
    library = open_library(path)
    library.initialise("TF_InitGraph")
    return library


def ran(device: str) -> list[str]:
    chosen = [one for one in optimizers(load=False) if one.device == device]
    graph = model(f"/device:{device}:0")
    _, report = optimize_with_report(graph, ["y:0"], ["x:0"], None, chosen)
    assert [run.outcome for run in report.runs] == ["changed"] * len(chosen)
    return [Path(run.path).name for run in report.runs]


@needs_host
def test_libraries_that_declare_an_order_share_a_device_type(compile_library: Library) -> None:
    late = compiled(compile_library, "a", "ORDER_C", "end", -3)
    early = compiled(compile_library, "b", "ORDER_C", "end", 7)
    plain = compiled(compile_library, "c", "ORDER_C")
    first = compiled(compile_library, "d", "ORDER_C", "before remapping")
    for path in (late, early, plain, first):
        opened(path)
    expected = [first, early, plain, late]
    assert ran("ORDER_C") == [path.name for path in expected]
    found = {o.path: (o.phase, o.priority, o.ordered) for o in optimizers(load=False)}
    assert found[str(first)] == ("before remapping", 0, True)
    assert found[str(plain)] == ("end", 0, False)


@needs_host
def test_second_library_without_an_order_is_refused_naming_both(compile_library: Library) -> None:
    """Row B16."""
    one, two = (compiled(compile_library, name, "ORDER_D") for name in ("e", "f"))
    opened(one)
    with pytest.raises(HostError) as caught:
        opened(two)
    assert str(one) in str(caught.value)
    assert str(two) in str(caught.value)
    assert "DS_OrderOptimizer" in str(caught.value)
    assert ran("ORDER_D") == [one.name]


@needs_host
def test_isolated_libraries_that_declare_an_order_share_a_device_type(
    compile_library: Library,
) -> None:
    late = compiled(compile_library, "g", "ORDER_E", "end", 1)
    early = compiled(compile_library, "h", "ORDER_E", "start", 0)
    for path in (late, early):
        (made,) = isolation.load_isolated(path)
        assert made.only_isolated
    assert ran("ORDER_E") == [early.name, late.name]


@needs_host
def test_order_that_makes_no_sense_is_refused(compile_library: Library) -> None:
    with pytest.raises(HostError) as caught:
        opened(compiled(compile_library, "i", "ORDER_F", "sometimes"))
    assert 'DS_OptimizerOrder.phase is "sometimes"' in str(caught.value)
    assert not [one for one in optimizers(load=False) if one.device == "ORDER_F"]


@needs_host
def test_order_at_a_pass_that_is_not_there_is_the_end(compile_library: Library) -> None:
    """In a process of its own: the host forgets no library, and lists would show this one."""
    path = compiled(compile_library, "j", "ORDER_G", "after frobnication")
    program = f"""
import warnings
from pathlib import Path
import test_order

test_order.opened(Path({str(path)!r}))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(*test_order.ran("ORDER_G"))
print(*(one.message for one in caught))
"""
    names, said = run_program(program, Path(__file__).parent).split("\n", 1)
    assert names == path.name
    assert "it runs at the end: " in said


@needs_host
def test_python_without_a_phase_gives_way_to_a_library_without_one(
    compile_library: Library,
) -> None:
    path = compiled(compile_library, "k", "ORDER_H")
    opened(path)
    watcher([], "python", device="ORDER_H")
    with pytest.warns(OptimizerWarning, match="graph optimizer 'python' .* was refused"):
        assert ran("ORDER_H") == [path.name]
    assert str(path) in str(failures()["python"])


@needs_host
def test_order_from_the_sdk(compile_library: Library) -> None:
    path = compile_library("sdk_ordered.cc", flags=["-std=c++17"])
    opened(path)
    (one,) = [o for o in optimizers(load=False) if o.device == "ORDER_SDK"]
    assert (one.phase, one.priority) == ("before arithmetic_optimization", 4)
    graph = model("/device:ORDER_SDK:0")
    after, _ = optimize_with_report(graph, ["y:0"], ["x:0"], None, [one])
    assert [node.op for node in after] == ["Placeholder", "Identity"], "the Neg cancel out"


# ---- the list ----------------------------------------------------------------------------------


def test_list_of_plugins_shows_python_optimizers() -> None:
    watcher([], "mine", "before remapping", 3)
    done = CliRunner().invoke(app, ["plugins", "list"], prog_name="drystone")
    assert "mine" in done.output
    found = json.loads(CliRunner().invoke(app, ["plugins", "list", "--json"]).stdout)
    (one,) = [row for row in found["python"] if row["name"] == "mine"]
    assert one["state"] == "loaded"
    assert one["text"] == "optimizer in Python for ORDER, before remapping with priority 3"


def test_plain_callable_declares_by_attributes() -> None:
    def late(data: bytes) -> bytes:
        return data

    late.phase, late.priority = "end", 2  # type: ignore[attr-defined]
    made = register(late, name="late")
    assert (made.phase, made.priority, made.ordered) == ("end", 2, True)
