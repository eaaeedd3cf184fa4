"""Passes go by the devices that are there; what nodes ask for is a preference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_unchanged, define, node, only, run_pass, told, unary_function

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_optimizer import OptimizerConfig, graph_optimizer, optimize_with_report
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import types_there

GPU = "/job:localhost/replica:0/task:0/device:GPU:0"
F = {"T": FLOAT32}


def small_products(device: str = GPU, **hints: Any) -> Maker:
    """Integers and a large product, all of which ask for a GPU."""
    m = Maker()
    m.op("Mul", "small", m.x("i", (2,), INT32), m.const("two", [2, 2]), T=INT32, device=device)
    wide = {"device": device, "transpose_a": False, "transpose_b": False, **F}
    m.op("MatMul", "large", m.x(shape=(64, 64)), "x", **wide)
    m.op("Relu", "between", "large", device=device, **F)
    m.op("MatMul", "again", "between", "large", **wide, **hints)
    return m


@pytest.mark.parametrize(
    ("name", "more", "reason"),
    [
        ("auto_mixed_precision", {}, "no node is for a GPU that is there"),
        ("pin_to_host_optimization", {}, "no node is for an accelerator that is there"),
        ("memory_optimization", {"memory_mode": "manual"}, "a value is on the host already"),
    ],
)
def test_a_pass_for_accelerators_leaves_a_machine_without_them_alone(
    name: str, more: dict[str, Any], reason: str
) -> None:
    m = small_products(_swap_to_host=[1])
    fetches = ["small:0", "again:0"]
    report = assert_unchanged(small_products(), name, fetches, ["i:0", "x:0"], devices=(), **more)
    after, report = run_pass(m.graph, name, fetches, ["i:0", "x:0"], devices=(), **more)
    assert reason in told(report, name)
    assert not any(step.rewrites for step in report.steps)
    moved, _ = run_pass(m.graph, name, ["again:0"], ["i:0", "x:0"], devices=("CPU", "GPU"), **more)
    if name != "pin_to_host_optimization":
        assert len(moved) > len(after), "where there is a GPU it has something to do"


def test_memory_of_a_device_that_is_not_there_is_not_short() -> None:
    tight: dict[str, Any] = {"memory_mode": "heuristics", "device_memory": {"GPU": 16}}
    m = small_products()
    report = assert_unchanged(
        m, "memory_optimization", ["again:0"], ["x:0"], devices=("CPU",), **tight
    )
    assert "no device is short of memory" in told(report, "memory_optimization")


def test_a_call_takes_the_implementation_for_the_device_that_runs_it() -> None:
    m = Maker()
    for name, op, kind in (("slow", "Neg", "CPU"), ("quick", "Square", "GPU")):
        m.graph.functions.add(
            unary_function(name, op, api_implements="f", api_preferred_device=kind)
        )
    call = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("slow", {}), "device": GPU}
    m.op("StatefulPartitionedCall", "y", m.x(), **call)
    assert_unchanged(m, "implementation_selector", ["y:0"], ["x:0"], devices=())
    after, _ = run_pass(m.graph, "implementation_selector", ["y:0"], ["x:0"])
    assert after["y"].attrs["f"].name == "quick"


@pytest.mark.parametrize(("devices", "index"), [((), 0), (("CPU", "GPU"), 1)])
def test_the_index_of_a_device_is_of_the_one_that_is_there(devices: Any, index: int) -> None:
    m = Maker()
    for name, op in (("on_cpu", "Neg"), ("on_gpu", "Square")):
        args = [("a", FLOAT32)], [("b", FLOAT32, "n:y:0")]
        define(m, name, *args, node(op, "n", "a", T=FLOAT32))
    branches = [FunctionRef(name, {}) for name in ("on_cpu", "on_gpu")]
    where = m.op("DeviceIndex", "i", device_names=["CPU", "GPU"])
    m.op("StatelessCase", "y", where, m.x(), Tin=[FLOAT32], Tout=[FLOAT32], branches=branches,
         output_shapes=[], device=GPU)  # fmt: skip
    after, _ = run_pass(
        m.graph, "implementation_selector", ["y:0"], ["x:0"], devices=devices, keep=("i",)
    )
    held = after["i"]
    assert held.op == "Const"
    assert int(np.asarray(held.attrs["value"].array)) == index


def test_replicas_are_for_gpus_that_are_there_however_they_are_spelled() -> None:
    m = Maker()
    m.op("VariableV2", "v", shape=(), dtype=FLOAT32, shared_name="", container="")
    m.op("Neg", "grad", m.x(shape=()), device="/gpu:0", **F)
    m.op("Neg", "same", "x", device="/device:GPU:0", **F)
    m.op("ApplyGradientDescent", "train", "v", m.const("rate", 0.1), "grad", use_locking=False, **F)
    fetches = ["train", "same:0"]
    for devices in ((), ("CPU", "GPU")):
        report = assert_unchanged(m, "auto_parallel", fetches, ["x:0"], devices=devices)
        assert told(report, "auto_parallel").startswith("there is one replica")
    m.op("Neg", "other", "x", device="/job:localhost/device:GPU:1", **F)
    report = assert_unchanged(m, "auto_parallel", [*fetches, "other:0"], ["x:0"], devices=())
    assert told(report, "auto_parallel").startswith("there is one replica")
    config = only("auto_parallel", devices=("CPU", "GPU"))
    after, _ = optimize_with_report(m.graph, [*fetches, "other:0"], ["x:0"], config, available=())
    assert any(one.name.startswith("AutoParallel-Replica-1") for one in after)


@pytest.mark.parametrize(("platforms", "runs"), [
    ([], True), ([{"type": "XPU", "device_count": 0}], False), ([{"type": "XPU"}], False),
    ([{"type": "XPU", "device_count": 2}], True), ([{"type": "NPU", "device_count": 0}], True),
])  # fmt: skip
def test_an_optimizer_whose_platform_has_no_device_is_not_asked(
    platforms: list[dict[str, Any]], runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a platform it is asked: another library may bring the device, or none is needed."""
    from drystone_base.core.registered import ENTRY_FUNCTIONS
    from drystone_base.host import device

    ENTRY_FUNCTIONS.note("SE_InitPlugin")
    monkeypatch.setattr(device, "list_platforms", lambda: platforms)
    seen: list[int] = []

    @graph_optimizer(name="looks", device_type="XPU", takes="graph")
    def looks(graph: Graph, *_more: Any) -> Graph:
        seen.append(len(graph))
        return graph

    m = small_products("/device:XPU:0")
    optimize_with_report(m.graph, ["again:0"], ["x:0"], OptimizerConfig(min_graph_nodes=-1))
    assert bool(seen) is runs
    seen.clear()
    stated = OptimizerConfig(min_graph_nodes=-1, devices=("CPU",))
    optimize_with_report(m.graph, ["again:0"], ["x:0"], stated)
    assert not seen
    ENTRY_FUNCTIONS.forget("SE_InitPlugin")


def test_what_there_is_is_asked_of_the_host_once_it_has_libraries() -> None:
    assert "CPU" in types_there()
    m = small_products("/device:NONSENSE:4")
    ctx = Context(m.graph, frozenset(), frozenset(), {})
    assert ctx.device_type(m.graph["large"]) == "CPU"
    config = OptimizerConfig(devices=("CPU", "NONSENSE"))
    ctx = Context(m.graph, frozenset(), frozenset(), {}, config=config)
    assert ctx.device_type(m.graph["large"]) == "NONSENSE"


@pytest.mark.parametrize("devices", ["GPU", ("GPU", 1), ("/gpu:0",), ("",)])
def test_devices_are_names_of_types(devices: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig(devices=devices)
    assert "OptimizerConfig.devices is not understood" in str(caught.value)
    assert "names of types, such as ('CPU', 'GPU')" in str(caught.value)
