"""Row C10, pin_to_host: small work that asks for an accelerator goes to the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_same_natively, assert_unchanged, check, run_pass, told

from drystone_base.core.dtypes import FLOAT32, INT32, STRING
from drystone_optimizer import OptimizerConfig, optimize_with_report

GPU = "/job:w/task:1/device:GPU:3"
CPU = "/job:w/task:1/device:CPU:0"
PASS = "pin_to_host_optimization"
X = {"x:0": np.arange(6, dtype=np.float32).reshape(2, 3)}


def sizes(**more: Any) -> Maker:
    """Two numbers of a shape are multiplied on the GPU."""
    m = Maker()
    m.op("Shape", "s", m.x(shape=(2, 3)), T=FLOAT32, out_type=INT32, device="/device:CPU:0")
    m.op("Mul", "y", "s", m.const("two", [2, 2], device=GPU), T=INT32, **{"device": GPU} | more)
    return m


def test_c10_small_integer_work_goes_to_the_host_of_its_task() -> None:
    m = sizes()
    lines = ["x = Placeholder()", "s = Shape(x)", "two = Const([2, 2])", "y = Mul(s, two)"]
    report = check(m, PASS, ["y:0"], lines, X)
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].device == after["two"].device == CPU
    assert report.steps[0].rewrites == {"pin-to-host": 2}
    assert report.steps[0].numeric == "exact"
    assert_same_natively(m.graph, after, ["y:0"], X)


def test_c10_a_constant_stays_beside_a_consumer_that_stays() -> None:
    m = sizes()
    m.op("Reshape", "big", m.x("z", (-1,)), "two", T=FLOAT32, Tshape=INT32, device=GPU)
    after, report = run_pass(m.graph, PASS, ["y:0", "big:0"], ["x:0", "z:0"])
    assert [after[name].device for name in ("y", "two", "big")] == [CPU, GPU, GPU]
    assert "a constant stays beside its consumer" in told(report, PASS)


def test_c10_strings_are_always_small() -> None:
    m = Maker()
    m.op("Identity", "y", m.x("x", (-1,), STRING), T=STRING, device=GPU)
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].device == CPU


def alone(op: str, shape: Any, dtype: Any = FLOAT32, **attrs: Any) -> Maker:
    m = Maker()
    m.op(op, "y", m.x("x", shape, dtype), T=dtype, **{"device": GPU} | attrs)
    return m


@pytest.mark.parametrize(("op", "shape"), [("Neg", (5, 13)), ("Neg", (-1,)), ("Neg", None)])
def test_c10_large_and_unknown_tensors_stay(op: str, shape: Any) -> None:
    report = assert_unchanged(alone(op, shape), PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "a tensor is large, or of unknown size"
    after, _ = run_pass(alone(op, (8, 8)).graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].device == CPU


@pytest.mark.parametrize("device", ["", "/device:CPU:0", "/cpu:1"])
def test_c10_nodes_of_the_host_are_left_alone(device: str) -> None:
    report = assert_unchanged(alone("Neg", (2,), device=device), PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "no node is for an accelerator that is there"


def test_c10_graphs_for_a_tpu_are_left_alone() -> None:
    report = assert_unchanged(alone("Neg", (2,), device="/device:TPU:0"), PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "the graph is for a TPU"


def test_c10_other_dtypes_effects_loops_and_colocated_nodes_stay() -> None:
    from drystone_base.core.dtypes import BOOL, FLOAT64

    assert_unchanged(alone("Neg", (2,), FLOAT64), PASS, ["y:0"], ["x:0"])
    m = Maker()
    m.op("Switch", "y", m.x(shape=(2,)), m.x("p", (), BOOL), T=FLOAT32, device=GPU)
    m.op("NoOp", "n", device=GPU)
    m.op("RandomUniform", "r", m.const("k", [2]), T=INT32, dtype=FLOAT32, device=GPU)
    m.op("Neg", "a", "x", T=FLOAT32, device=GPU, _class=[b"loc:@b"])
    m.op("Neg", "b", "x", T=FLOAT32, device=GPU)
    assert_unchanged(m, PASS, ["y:0", "n", "r:0", "a:0", "b:0"], ["x:0", "p:0"])


@pytest.mark.parametrize("named", [b"loc:@gone", b"loc:@y"])
def test_c10_a_node_that_is_to_be_with_no_other_one_moves(named: bytes) -> None:
    m = alone("Neg", (2,), _class=[named])
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].device.endswith("CPU:0")


def test_c10_is_off_unless_asked_for() -> None:
    m = sizes()
    _, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], OptimizerConfig())
    assert PASS not in {step.name for step in report.steps}
    assert not report.passes[PASS]
