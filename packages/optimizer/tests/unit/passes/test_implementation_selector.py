"""Row C2, implementation_selector: the function for the device is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    run_pass,
    told,
    unary_function,
)

from drystone_abi.protos import DataType
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.ops.attrs import FunctionRef

PASS = "implementation_selector"
X = {"x:0": np.array([[1, -2, 3]], np.float32)}
GPU = "/device:GPU:0"


def calls(device: str = GPU, op: str = "StatefulPartitionedCall", **more: Any) -> Maker:
    """A call of what the CPU prefers, beside what the GPU prefers."""
    m = Maker()
    m.graph.functions.add(
        unary_function("slow", "Neg", api_implements="f", api_preferred_device="CPU")
    )
    made = {"api_implements": "f", "api_preferred_device": "GPU"} | more
    m.graph.functions.add(unary_function("fast", made.pop("body", "Neg"), **made))
    if op == "slow":
        m.op("slow", "y", m.x(), device=device)
    else:
        ref = FunctionRef("slow", {})
        m.op(op, "y", m.x(), f=ref, Tin=[FLOAT32], Tout=[FLOAT32], device=device)
    return m


@pytest.mark.parametrize("op", ["PartitionedCall", "StatefulPartitionedCall"])
def test_c2_a_call_goes_to_the_function_for_its_device(op: str) -> None:
    m = calls(op=op)
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].attrs["f"].name == "fast"
    assert m.graph["y"].attrs["f"].name == "slow"
    assert report.steps[0].rewrites == {"implementation-for-device": 1}
    assert_same_values(m.graph, after, ["y:0"], X, exact=True)
    assert_same_natively(m.graph, after, ["y:0"], X)
    again, _ = run_pass(after, PASS, ["y:0"], ["x:0"])
    assert again is after


def test_c2_a_node_of_a_function_becomes_one_of_the_other() -> None:
    m = calls(op="slow")
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["y"].op == "fast"


@pytest.mark.parametrize("device", ["", "/device:CPU:0", "/job:a/cpu:1"])
def test_c2_the_right_function_stays(device: str) -> None:
    assert_unchanged(calls(device), PASS, ["y:0"], ["x:0"])


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"api_preferred_device": "XPU"}, "no implementation prefers the device of a call"),
        ({"backward_function_name": "g"}, "an implementation belongs to a gradient"),
        ({"body": "CudnnRNNCanonicalToParams"}, "has an op without a kernel"),
    ],
)
def test_c2_functions_that_do_not_fit_stay(more: dict[str, str], why: str) -> None:
    report = assert_unchanged(calls(**more), PASS, ["y:0"], ["x:0"])
    assert why in told(report, PASS)


def test_c2_of_several_for_one_device_none_is_taken() -> None:
    m = calls()
    third = unary_function("third", "Abs", api_implements="f", api_preferred_device="GPU")
    m.graph.functions.add(third)
    report = assert_unchanged(m, PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "several implementations prefer the device of a call"


def test_c2_functions_of_other_interfaces_or_types_are_not_taken() -> None:
    assert_unchanged(calls(api_implements="g"), PASS, ["y:0"], ["x:0"])
    m = calls()
    other = unary_function("fast", "Neg", api_implements="f", api_preferred_device="GPU")
    del other.signature.input_arg[:]
    other.signature.input_arg.add(name="a", type=DataType.DT_DOUBLE)
    m.graph.functions.add(other, replace=True)
    report = assert_unchanged(m, PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "implementations differ in arguments or results"


def cases(device: str, names: list[str]) -> Maker:
    """A Case on a device that a DeviceIndex decides."""
    m = Maker()
    for name, op in (("on_cpu", "Neg"), ("on_gpu", "Square"), ("elsewhere", "Abs")):
        m.graph.functions.add(unary_function(name, op))
    branches = [FunctionRef(name, {}) for name in ("on_cpu", "on_gpu", "elsewhere")]
    index = m.op("DeviceIndex", "i", device_names=names)
    m.op("StatelessCase", "y", index, m.x(), branches=branches, Tin=[FLOAT32], Tout=[FLOAT32],
         output_shapes=[None], device=device)  # fmt: skip
    return m


@pytest.mark.parametrize(
    ("device", "index", "value"),
    [("/cpu:0", 0, [-1, 2, -3]), (GPU, 1, [1, 4, 9]), ("/device:XPU:0", 2, [1, 2, 3])],
)
def test_c2_an_index_of_a_device_becomes_a_constant(
    device: str, index: int, value: list[int]
) -> None:
    from drystone_base.api.session import Session, SessionConfig

    m = cases(device, ["CPU", "GPU"])
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert after["i"].op == "Const"
    assert after["i"].attrs["value"].array == index
    assert report.steps[0].rewrites == {"device-index": 1}
    config = SessionConfig(executor="native", optimizer="off")
    np.testing.assert_array_equal(Session(after, config).run("y:0", X), [value])
    again, _ = run_pass(after, PASS, ["y:0"], ["x:0"])
    assert again is after


def test_c2_an_index_stays_where_the_device_is_open_or_something_else_reads_it() -> None:
    report = assert_unchanged(cases("", ["CPU", "GPU"]), PASS, ["y:0"], ["x:0"])
    assert told(report, PASS) == "the Case of a DeviceIndex states no device"
    m = cases(GPU, ["CPU", "GPU"])
    m.op("Neg", "other", "i", T=INT32)
    report = assert_unchanged(m, PASS, ["y:0", "other:0"], ["x:0"])
    assert "something else than a Case" in told(report, PASS)
    assert_unchanged(cases(GPU, ["CPU", "GPU"]), PASS, ["y:0"], ["x:0", "i:0"])
