"""Graphs on devices of a plugin: the strict device, which finds what real ones would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from device_graphs import ON, Build, both, settled, x_of
from drystone_conformance.strict_device import StrictDevice
from google.protobuf import text_format
from hypothesis import given, settings

from drystone_abi.protos import FunctionDefLibrary
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64
from drystone_base.core.errors import BadRequest, GraphError, KernelError
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.ops.attrs import FunctionRef

pytestmark = pytest.mark.cases_in_gate(3)

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)


def network() -> Graph:
    """Ops that the device has and one that it lacks, and shapes in host memory."""
    b = Build()
    x, w = b.feed("x"), b.const("w", np.arange(12).reshape(3, 4) / 7)
    m = b.op("MatMul", "m", x, w)
    r = b.op("Relu", "r", b.op("BiasAdd", "biased", m, b.const("b", [1, -2, 3, -40])))
    floor = b.op("Floor", "floor", r)  # the device has none
    total = b.op("AddV2", "total", floor, r)
    size = b.op("Shape", "size", total, out_type=INT32)
    twice = b.op("Mul", "twice", size, b.const("two", [1, 1], INT32), T=INT32)
    b.op("Reshape", "again", total, twice, Tshape=INT32)
    b.op("Sum", "sum", b.graph["again"], b.const("axis", [1], INT32), Tidx=INT32, keep_dims=True)
    return b.graph


def test_a_graph_runs_on_the_device_and_gives_the_hosts_values(strict: StrictDevice) -> None:
    """S2-accelerators: kernels of a device run the nodes that are placed there."""
    fetches = ["sum:0", "total:0", "size:0", "m:0"]
    there, here = both(network(), fetches, {"x:0": x_of()})
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    assert strict.counted()["kernels"] == 7
    plan = {
        d.node: d.device
        for d in Session(network(), SessionConfig(**ON)).placement(fetches, ["x:0"])
    }
    assert plan["m"].endswith("/device:STRICT:0")
    assert plan["floor"].endswith("/device:CPU:0")


def test_a_constant_is_copied_once_and_fetches_are_waited_for_once(strict: StrictDevice) -> None:
    b = Build()
    out = b.op("MatMul", "y", b.feed("x"), b.const("w", np.ones((3, 2))))
    for k in range(20):
        out = b.op("Relu", f"r{k}", out)
    session = Session(b.graph, SessionConfig(**ON))
    session.run("r19:0", {"x:0": x_of()})
    strict.counted()
    for k in range(3):
        session.run(["r19:0", "r3:0"], {"x:0": x_of(k + 1)})
    found = strict.counted()
    assert found["kernels"] == 3 * 21
    assert (found["copies_in"], found["copies_out"]) == (4, 6)  # w for another plan, and x
    assert found["waits"] == 4


def test_nothing_is_placed_where_no_device_is_seen(
    strict: StrictDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "none")
    Session(network(), SessionConfig(**ON)).run("sum:0", {"x:0": x_of()})
    assert strict.counted()["kernels"] == 0
    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "STRICT:1")
    found = Session(network(), SessionConfig(**ON)).placement(["sum:0"], ["x:0"])
    assert {d.device.rpartition("/")[2] for d in found} == {"device:CPU:0", "device:STRICT:1"}
    monkeypatch.setenv("DRYSTONE_VISIBLE_DEVICES", "strict:x")
    with pytest.raises(BadRequest, match=r"'strict:x' is not a value of DRYSTONE_VISIBLE_DEVICES"):
        Session(network(), SessionConfig(**ON)).run("sum:0", {"x:0": x_of()})


def test_two_devices_exchange_values_over_the_host(strict: StrictDevice) -> None:
    b = Build()
    one = b.op("Neg", "one", b.feed("x"), device="/device:STRICT:0")
    two = b.op("Exp", "two", one, device="/device:STRICT:1")
    b.op("Add", "y", two, one, device="/device:STRICT:0")
    there, here = both(b.graph, "y:0", {"x:0": x_of()}, allow_soft_placement=False)
    np.testing.assert_allclose(there, here, rtol=1e-6)
    assert strict.counted()["kernels"] == 3


def idle(device: str = "/device:STRICT:0") -> Graph:
    """What hands values on and looks at shapes there, between ops that the device lacks."""
    b = Build()
    same = b.op("Identity", "same", b.feed("x"), device=device)
    flat = b.op("Reshape", "flat", same, b.const("all", [-1], INT32), Tshape=INT32, device=device)
    floor = b.op("Floor", "floor", flat)
    again = b.op("Identity", "again", floor, device=device)
    b.op("Shape", "size", again, out_type=INT32, device=device)
    b.op("Identity", "last", again)
    b.op("Neg", "y", b.op("Identity", "there", floor, device=device), device=device)
    return b.graph


def test_nothing_goes_to_a_device_and_comes_back_as_it_was(strict: StrictDevice) -> None:
    fetches = ["floor:0", "again:0", "size:0", "last:0", "same:0"]
    there, here = both(idle(), fetches, {"x:0": x_of()}, allow_soft_placement=True)
    for one, other in zip(there, here, strict=True):
        np.testing.assert_array_equal(one, other)
    found = strict.counted()
    assert [found[k] for k in ("copies_in", "copies_out", "kernels", "waits")] == [0, 0, 0, 0]
    session = Session(idle(), SessionConfig(**ON))
    np.testing.assert_array_equal(session.run("y:0", {"x:0": x_of()}), -here[0])
    found = strict.counted()
    assert [found[k] for k in ("copies_in", "copies_out", "kernels")] == [1, 1, 2]


def test_a_fetch_that_is_to_stay_on_a_device_goes_there(strict: StrictDevice) -> None:
    session = Session(idle(), SessionConfig(**ON, fetches_on_devices=True))
    same, last = session.run(["same:0", "last:0"], {"x:0": x_of()})
    assert strict.counted()["copies_in"] == 2
    np.testing.assert_array_equal(np.asarray(same), x_of())
    np.testing.assert_array_equal(np.asarray(last), np.floor(x_of()).reshape(-1))


def test_a_node_that_cannot_run_there_is_an_error_unless_placement_is_soft(
    strict: StrictDevice,
) -> None:
    b = Build()
    b.op("Floor", "y", b.feed("x"), device="/device:STRICT:0")
    hard = SessionConfig(optimizer="off", allow_soft_placement=False)
    with pytest.raises(GraphError) as error:
        Session(b.graph, hard).run("y:0", {"x:0": x_of()})
    assert error.value.code == "no-kernel-on-device"
    assert "node 'y' (Floor) has no kernel on /device:STRICT:0" in str(error.value)
    (found,) = [
        d
        for d in Session(b.graph, SessionConfig(**ON)).placement(["y:0"], ["x:0"])
        if d.node == "y"
    ]
    assert found.device.endswith("CPU:0")
    assert found.why == "soft placement: what was asked for cannot be had"


def test_the_reference_executor_has_no_devices(strict: StrictDevice) -> None:
    b = Build()
    b.op("Relu", "y", b.feed("x"), device="/device:STRICT:0")
    config = SessionConfig(executor="reference", allow_soft_placement=False)
    with pytest.raises(GraphError) as error:
        Session(b.graph, config).run("y:0", {"x:0": x_of()})
    assert error.value.code == "no-such-device"
    soft = Session(b.graph, SessionConfig(executor="reference"))
    assert soft.run("y:0", {"x:0": x_of()}).shape == (5, 3)
    assert strict.counted()["kernels"] == 0


def test_parts_of_virtual_devices_use_the_device_as_well(strict: StrictDevice) -> None:
    b = Build()
    left = b.op("Exp", "left", b.feed("x"), device="/cpu:1")
    right = b.op("Relu", "right", left, device="/device:STRICT:0")
    b.op("Floor", "y", right, device="/cpu:1")
    there, here = both(b.graph, ["y:0", "right:0"], {"x:0": x_of()}, device_count={"CPU": 2})
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert strict.counted()["kernels"] == 1


def test_empty_values_and_scalars(strict: StrictDevice) -> None:
    b = Build()
    b.op("Relu", "r", b.op("Add", "y", b.feed("x"), b.const("c", 2)))
    b.op("Cast", "z", b.graph["r"], SrcT=FLOAT32, DstT=INT64)
    for x in (np.zeros((0, 3), np.float32), np.float32(-5), np.ones((2, 1, 3), np.float32)):
        there, here = both(b.graph, ["r:0", "z:0"], {"x:0": x})
        assert [a.tolist() for a in there] == [a.tolist() for a in here]
        assert [a.shape for a in there] == [a.shape for a in here]


def test_a_failing_kernel_names_its_node_and_leaves_nothing(strict: StrictDevice) -> None:
    b = Build()
    b.op("Add", "sums", b.op("Relu", "r", b.feed("x")), b.feed("z"))
    session = Session(b.graph, SessionConfig(**ON))
    with pytest.raises(KernelError, match=r"(?s)node 'sums'.*shapes that do not fit each other"):
        session.run("sums:0", {"x:0": x_of(), "z:0": np.ones((4, 4), np.float32)})
    assert session.run("sums:0", {"x:0": x_of(), "z:0": x_of()}).shape == (5, 3)


# ---- functions and loops -----------------------------------------------------------------------

FUNCTIONS = """
function {
  signature {
    name: "body"
    input_arg { name: "i" type: DT_INT32 } input_arg { name: "a" type: DT_FLOAT }
    input_arg { name: "b" type: DT_FLOAT } input_arg { name: "c" type: DT_FLOAT }
    output_arg { name: "j" type: DT_INT32 } output_arg { name: "d" type: DT_FLOAT }
    output_arg { name: "e" type: DT_FLOAT } output_arg { name: "f" type: DT_FLOAT }
  }
  node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
  node_def { name: "next" op: "Add" input: "i" input: "one:output:0"
    attr { key: "T" value { type: DT_INT32 } } }
  node_def { name: "tanh" op: "Tanh" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "more" op: "AddV2" input: "tanh:y:0" input: "c"
    attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "j" value: "next:z:0" } ret { key: "d" value: "more:z:0" }
  ret { key: "e" value: "a" } ret { key: "f" value: "b" }
}
function {
  signature {
    name: "goes_on"
    input_arg { name: "i" type: DT_INT32 } input_arg { name: "a" type: DT_FLOAT }
    input_arg { name: "b" type: DT_FLOAT } input_arg { name: "c" type: DT_FLOAT }
    output_arg { name: "yes" type: DT_BOOL }
  }
  node_def { name: "end" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 7 } } } }
  node_def { name: "less" op: "Less" input: "i" input: "end:output:0"
    attr { key: "T" value { type: DT_INT32 } } }
  ret { key: "yes" value: "less:z:0" }
}
function {
  signature { name: "up" input_arg { name: "x" type: DT_FLOAT }
    output_arg { name: "y" type: DT_FLOAT } output_arg { name: "z" type: DT_FLOAT } }
  node_def { name: "exp" op: "Exp" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "ceil" op: "Ceil" input: "exp:y:0" attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "y" value: "exp:y:0" } ret { key: "z" value: "ceil:y:0" }
}
function {
  signature { name: "same" input_arg { name: "x" type: DT_FLOAT }
    output_arg { name: "y" type: DT_FLOAT } output_arg { name: "z" type: DT_FLOAT } }
  ret { key: "y" value: "x" } ret { key: "z" value: "x" }
}
"""


def with_functions() -> Build:
    b = Build()
    for proto in text_format.Parse(FUNCTIONS, FunctionDefLibrary()).function:
        b.graph.functions.add(proto)
    return b


def test_a_loop_keeps_its_variables_where_its_body_makes_them(strict: StrictDevice) -> None:
    """One of them is handed on to one that the host has, which is handed on as well."""
    b = with_functions()
    x = b.feed("x")
    types = [INT32, FLOAT32, FLOAT32, FLOAT32]
    attrs = {"T": types, "cond": FunctionRef("goes_on"), "body": FunctionRef("body")}
    loop = b.graph.add("While", "loop", [b.const("zero", 0, INT32), x, x, x], attrs=attrs)
    b.op("Relu", "y", (loop, 1))
    there, here = both(b.graph, ["y:0", "loop:0", "loop:1", "loop:2", "loop:3"], {"x:0": x_of()})
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert strict.counted()["kernels"] == 2 * 7 + 1


@pytest.mark.parametrize("yes", [True, False])
def test_branches_that_have_values_at_other_places(strict: StrictDevice, yes: bool) -> None:
    b = with_functions()
    p = b.graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
    attrs = {
        "Tcond": BOOL, "Tin": [FLOAT32], "Tout": [FLOAT32, FLOAT32],
        "then_branch": FunctionRef("up"), "else_branch": FunctionRef("same"),
    }  # fmt: skip
    chosen = b.graph.add("If", "chosen", [p, b.op("Neg", "minus", b.feed("x"))], attrs=attrs)
    b.op("Relu", "y", (chosen, 0))
    there, here = both(b.graph, ["y:0", "chosen:0", "chosen:1"], {"x:0": x_of(), "p:0": yes})
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert strict.counted()["kernels"] == 2 + yes


def test_placement_inside_of_functions_is_told(
    strict: StrictDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    b = with_functions()
    b.graph.add("up", "call", [b.feed("x")])
    Session(b.graph, SessionConfig(log_device_placement=True, **ON)).run("call:1", {"x:0": x_of()})
    told = capsys.readouterr().err
    assert "up/exp: (Exp): /job:localhost/replica:0/task:0/device:STRICT:0  " in told
    assert "up/ceil: (Ceil): /job:localhost/replica:0/task:0/device:CPU:0  " in told


def test_a_call_takes_and_gives_values_on_the_device(strict: StrictDevice) -> None:
    b = with_functions()
    call = b.graph.add("up", "call", [b.op("Neg", "minus", b.feed("x"))])
    b.op("Relu", "y", (call, 0))
    session = Session(b.graph, SessionConfig(**ON))
    session.run("y:0", {"x:0": x_of()})
    strict.counted()
    session.run("y:0", {"x:0": x_of()})
    found = strict.counted()
    assert found["kernels"] == 3
    assert (found["copies_in"], found["copies_out"]) == (1, 2)  # Ceil is the host's


OPS = st.sampled_from(
    ["Relu", "Exp", "Neg", "Floor", "Tanh", "Ceil", "Identity", "Stop", "Add", "Mul", "Maximum"]
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(OPS, st.integers(0, 99), st.integers(0, 99), st.integers(0, 2)),
        min_size=1,
        max_size=14,
    )
)
def test_random_graphs_over_devices_agree_with_the_host(
    strict_device: StrictDevice, rows: list[Any]
) -> None:
    """Any mixture of places: values that are fetched, constants, shared, crossing both ways."""
    b = Build()
    nodes = [b.feed("x"), b.const("c", [[0.5, -1, 2]])]
    for k, (op, i, j, place) in enumerate(rows):
        one, other = nodes[i % len(nodes)], nodes[j % len(nodes)]
        device = ["", "/device:STRICT:0", "/device:STRICT:1"][place]
        inputs = [one, other] if op in ("Add", "Mul", "Maximum") else [one]
        nodes.append(b.op("StopGradient" if op == "Stop" else op, f"n{k}", *inputs, device=device))
    fetches = [f"{node.name}:0" for node in nodes]
    before = os.environ["DRYSTONE_VISIBLE_DEVICES"]
    os.environ["DRYSTONE_VISIBLE_DEVICES"] = "STRICT"
    try:
        with np.errstate(all="ignore"):
            there, here = both(b.graph, fetches, {"x:0": x_of(2)})
    finally:
        os.environ["DRYSTONE_VISIBLE_DEVICES"] = before
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert settled(strict_device) == (0, [])


# ---- faults that are planted in a kernel, each in a process of its own ---------------------------

PROGRAM = """
import sys
sys.path[:0] = {path!r}
import numpy as np
import device_graphs
from device_graphs import Build
strict = device_graphs.loaded()
strict.watch_host()
from drystone_base.api.session import Session, SessionConfig
b = Build()
b.op("Relu", "last", b.op("Neg", "bad", b.op("Exp", "first", b.feed("x"))))
session = Session(b.graph, SessionConfig(optimizer="off"))
try:
    session.run("last:0", {{"x:0": np.ones((2, 3), np.float32)}})
except Exception as error:
    print("error:", error)
del session
print("faults:", *device_graphs.settled(strict)[1], sep="\\n")
"""
FOUND = {
    "host_read": "the host touched device memory that node 'first' used last, in the kernel of "
    "node 'bad'",
    "other_stream": "node 'bad': it (reads memory to which nothing has been written yet"
    "|uses memory that another stream may be using still)",
    "early_free": "memory is freed while work of node 'bad' that uses it has not been done",
    "write_outside": "node 'bad': it wrote outside of its memory",
}


@pytest.mark.parametrize("fault", FOUND)
def test_a_planted_fault_is_found_and_names_its_node(
    strict_device: StrictDevice, fault: str
) -> None:
    here = Path(__file__).resolve()
    contract = here.parents[5] / "plugin-abi"
    path = [str(here.parents[2]), str(contract / "tests"), str(contract / "conformance" / "src")]
    env = os.environ | {"STRICT_PLANT": f"{fault}:bad", "DRYSTONE_VISIBLE_DEVICES": "STRICT"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(path=path)],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert re.search(FOUND[fault], done.stdout + done.stderr)
    assert done.returncode == (86 if fault == "host_read" else 0), done.stderr
    if fault == "write_outside":
        assert "error: node 'bad'" in done.stdout
