"""C plugins through the pipeline and on the way of a session's run (S0-optimize). S2-optimizers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh_process import run_program

from drystone_abi.protos import DataType, FunctionDef
from drystone_base import Session, SessionConfig, modules
from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.plugins import isolation
from drystone_optimizer import (
    OptimizerConfig,
    OptimizerWarning,
    optimize,
    optimize_with_report,
    set_experimental_options,
)
from drystone_optimizer import register as register_plainly
from drystone_optimizer.session.module import MODULE

needs_host = pytest.mark.skipif(not available(), reason="the host library is not built")
FLOAT = from_number(1)
ABS_FOR_NEG = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Abs", optimized)'


@pytest.fixture(autouse=True, scope="module")
def installed() -> Iterator[None]:
    """The package's module is registered, as its entry point does when it is installed."""
    modules.register(MODULE, "tests")
    yield
    isolation.stop_workers()


@pytest.fixture(scope="module")
def plugin(compile_library: Callable[..., Path]) -> Callable[..., HostLibrary]:
    """``plugin("DEVICE", "statements")``: register an optimizer of that body here."""

    def make(device: str, optimize: str = ABS_FOR_NEG, **macros: str) -> HostLibrary:
        flags = [f'-DDEVICE="{device}"', f"-DOPTIMIZE={optimize}"]
        flags += [f"-D{macro}={text}" for macro, text in macros.items()]
        library = open_library(compile_library("optimizer_variants.c", flags=flags))
        library.initialise("TF_InitGraph")
        return library

    return make


def register(function: Any) -> None:
    """With a phase, because libraries that other tests opened may hold the CPU."""
    function.phase = "end"
    register_plainly(function)


def negation(device: str) -> Graph:
    """``y = -x`` on a device, with a node beside that nothing needs."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT}, device=device)
    graph.add("OpOfNobody", "aside", [x])
    return graph


@needs_host
def test_plugin_optimizes_a_graph_for_its_device(plugin: Callable[..., HostLibrary]) -> None:
    """S0-optimize: each plugin can register its own graph optimizer."""
    plugin("PIPE")
    graph = negation("/device:PIPE:0")
    assert optimize(graph, ["y:0"], ["x:0"])["y"].op == "Abs"
    assert graph["y"].op == "Neg"
    assert optimize(negation(""), ["y:0"])["y"].op == "Neg"
    off = OptimizerConfig(use_plugin_optimizers=False)
    assert optimize(graph, ["y:0"], ["x:0"], off) is graph


@needs_host
def test_plugins_for_different_devices_run_together(plugin: Callable[..., HostLibrary]) -> None:
    """Row B17. S0-device-match: a mixed graph."""
    for device in ("MIX_B", "MIX_A"):
        plugin(device, f'append_node(graph, "{device}", "NoOp", optimized)')
    graph = negation("/device:MIX_A:0")
    graph.add("NoOp", "other", device="/device:MIX_B:0")
    after, report = optimize_with_report(graph, ["y:0"])
    assert {"MIX_A", "MIX_B"} <= {node.name for node in after}
    assert [run.device for run in report.runs] == ["MIX_A", "MIX_B"]


@needs_host
def test_failing_plugin_costs_one_warning_with_its_file(
    plugin: Callable[..., HostLibrary],
) -> None:
    library = plugin("FAILS", 'TF_SetStatus(status, TF_UNIMPLEMENTED, "not this one")')
    graph = negation("/device:FAILS:0")
    with pytest.warns(OptimizerWarning) as warned:
        assert optimize(graph, ["y:0"]) is graph
    (warning,) = warned
    assert library.path in str(warning.message)
    assert "not this one" in str(warning.message)


@needs_host
def test_isolated_plugin_that_crashes_costs_one_warning(
    plugin: Callable[..., HostLibrary],
) -> None:
    library = plugin("CRASHES", "abort()")
    graph = negation("/device:CRASHES:0")
    config = OptimizerConfig(isolation="process")
    with pytest.warns(OptimizerWarning) as warned:
        assert optimize(graph, ["y:0"], (), config) is graph
    (warning,) = warned
    text = str(warning.message)
    assert library.path in text
    assert "isolated-plugin-crashed" in text
    assert "ended by SIGABRT" in text


@needs_host
def test_deadline_and_isolation_by_name_come_from_the_config(
    plugin: Callable[..., HostLibrary],
) -> None:
    plugin("HANGS", "for (volatile int k = 0;; ++k) {}")
    graph = negation("/device:HANGS:0")
    (found,) = [p for p in isolation.optimizer_plugins() if p.device == "HANGS"]
    config = OptimizerConfig(isolation={found.name: "process"}, deadline=0.5)
    with pytest.warns(OptimizerWarning, match="no answer within 0.5 s"):
        assert optimize(graph, ["y:0"], (), config) is graph


# ---- sessions ----------------------------------------------------------------------------------


@needs_host
def test_session_runs_the_optimized_graph(plugin: Callable[..., HostLibrary]) -> None:
    """S0-discovery: an installed plugin is used without the user doing anything."""
    plugin("SESS")
    graph = negation("/device:SESS:0")
    assert run_y(graph, times=3) == [2, 3]
    assert run_y(graph, "off") == [2, -3]


def neg_to_abs(data: bytes) -> bytes:
    return data.replace(b"\x12\x03Neg", b"\x12\x03Abs")


def count_calls(calls: list[int]) -> Callable[[bytes], bytes]:
    def counted(data: bytes) -> bytes:
        calls.append(len(data))
        return neg_to_abs(data)

    return counted


def run_y(graph: Graph, optimizer: Any = "default", times: int = 1) -> list[float]:
    with Session(graph, SessionConfig(optimizer=optimizer)) as session:
        for _ in range(times):
            value = session.run("y:0", {"x:0": np.array([-2, 3], np.float32)})
        found: list[float] = value.tolist()
        return found


def test_session_asks_an_optimizer_once_per_signature() -> None:
    """Row B26. S0-round-trip: once per session or function instance."""
    calls: list[int] = []
    register(count_calls(calls))
    assert run_y(negation(""), times=3) == [2, 3]
    assert len(calls) == 1


def test_session_hands_over_only_what_the_fetches_reach() -> None:
    seen: list[bytes] = []

    def look(data: bytes) -> bytes:
        seen.append(data)
        return data

    register(look)
    assert run_y(negation("")) == [2, -3]
    assert [node.name for node in Graph.from_bytes(seen[0])] == ["x", "y"]


@pytest.mark.parametrize("off", ["off", OptimizerConfig(use_plugin_optimizers=False)])
def test_session_without_optimizers(off: Any) -> None:
    """S0-switch, from the session's config."""
    calls: list[int] = []
    register(count_calls(calls))
    assert run_y(negation(""), off) == [2, -3]
    assert calls == []


def test_options_call_switches_sessions_without_a_config() -> None:
    """S0-switch, from the options call; a config of its own wins."""
    calls: list[int] = []
    register(count_calls(calls))
    set_experimental_options({"use_plugin_optimizers": False})
    assert run_y(negation("")) == [2, -3]
    assert run_y(negation(""), OptimizerConfig()) == [2, 3]
    assert len(calls) == 1


def test_wrong_kind_of_config_is_an_error() -> None:
    register(neg_to_abs)
    with pytest.raises(BadRequest) as caught:
        run_y(negation(""), "fast")
    assert caught.value.code == "bad-optimizer-option"


def test_failing_optimizer_leaves_the_session_running() -> None:
    def fails(_data: bytes) -> bytes:
        raise RuntimeError("deliberate")

    register(fails)
    with pytest.warns(OptimizerWarning, match="RuntimeError: deliberate"):
        assert run_y(negation("")) == [2, -3]


def test_device_that_cannot_be_understood_leaves_the_session_running() -> None:
    register(neg_to_abs)
    with pytest.warns(OptimizerWarning, match="bad-device"):
        assert run_y(negation("/nonsense")) == [2, -3]


def test_kept_nodes_count_where_the_fetches_reach_them() -> None:
    register(neg_to_abs)
    assert run_y(negation(""), OptimizerConfig(keep=("aside", "x:0"))) == [2, 3]
    with pytest.raises(BadRequest, match="node 'gone' is to be kept"):
        run_y(negation(""), OptimizerConfig(keep=("gone",)))


def test_state_and_feeds_work_in_an_optimized_session() -> None:
    register(neg_to_abs)
    graph = Graph()
    attrs = {"dtype": FLOAT, "shape": ()}
    handle = graph.add("VarHandleOp", "v", attrs=attrs)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": ()})
    graph.add("AssignVariableOp", "set", [handle, x], attrs={"dtype": FLOAT})
    read = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT})
    graph.add("Neg", "y", [read], attrs={"T": FLOAT})
    with Session(graph) as session:
        assert session.run("set", {"x": np.float32(-5)}) is None
        assert session.run("read") == -5
        assert session.run(["y", "read"]) == [5, -5]
        assert session.run("y", {"read": np.float32(-7)}) == 7


def test_optimized_functions_are_run() -> None:
    register(neg_to_abs)
    proto = FunctionDef()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="a", type=1)
    proto.signature.output_arg.add(name="r", type=1)
    node = proto.node_def.add(name="inner", op="Neg", input=["a"])
    node.attr["T"].type = DataType.DT_FLOAT
    proto.ret["r"] = "inner:y:0"
    graph = Graph()
    graph.functions.add(proto)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    graph.add("f", "y", [x])
    assert run_y(graph) == [2, 3]
    assert run_y(graph, OptimizerConfig(optimize_functions=False)) == [2, 3]
    assert run_y(graph, "off") == [2, -3]


def test_without_optimizers_the_module_costs_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """S0-impact: nothing is serialised where there is no optimizer."""
    monkeypatch.setattr("drystone_optimizer.pipeline.pipeline._installed", list)
    monkeypatch.setattr(Graph, "to_bytes", lambda _: pytest.fail("the graph was serialised"))
    assert run_y(negation("")) == [2, -3]


def test_base_without_the_package_does_not_look_for_it() -> None:
    """Row B29. S0-impact, S0-discovery: discovery is transparent, and absence costs nothing."""
    code = (
        "import sys\n"
        "from drystone_base import Graph, Session\n"
        "from drystone_base.core import installed\n"
        "installed._of_metadata = lambda _: installed._Installed([], {})\n"
        "g = Graph(); g.add('NoOp', 'n')\n"
        "Session(g).run('n')\n"
        "print('drystone_optimizer' in sys.modules)\n"
    )
    assert run_program(code) == "False\n"


@needs_host
def test_installed_plugins_are_there_before_any_session(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """S0-optimize: a program that optimizes and makes no session gets what a session would."""
    flags = ['-DDEVICE="SITE"', f"-DOPTIMIZE={ABS_FOR_NEG}"]
    folder = tmp_path / "site-packages" / "drystone-plugins"
    folder.mkdir(parents=True)
    shutil.copy(compile_library("optimizer_variants.c", flags=flags), folder / "libsite.so")
    (tmp_path / "graph.pb").write_bytes(negation("/device:SITE:0").to_bytes())
    code = (
        "import sys\n"
        f"sys.path.append({str(folder.parent)!r})\n"
        "from pathlib import Path\n"
        "from drystone_base.graph import Graph\n"
        "from drystone_optimizer import optimize\n"
        "graph = Graph.from_bytes(Path('graph.pb').read_bytes())\n"
        "print(optimize(graph, ['y:0'], ['x:0'])['y'].op)\n"
    )
    settings = {"DRYSTONE_PLUGIN_POLICY": "allow_unverified", "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    assert run_program(code, tmp_path, **settings) == "Abs\n"
