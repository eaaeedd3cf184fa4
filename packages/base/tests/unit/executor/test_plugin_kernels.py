"""Kernels of a plugin in C, run by sessions: beside the reference kernels, or in their place."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given, settings

from drystone_abi.protos import FunctionDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32, STRING, as_dtype, from_number
from drystone_base.core.errors import GraphError, KernelError, UnsupportedOp
from drystone_base.executor.plan import can_run
from drystone_base.executor.selection import explain, select
from drystone_base.graph import Graph, Node
from drystone_base.host import available, tensors
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.live import live_objects
from drystone_base.inference.plugin_ops import sync
from drystone_base.ops.attrs import FunctionRef, TensorAttr

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

CREATED, DELETED, COMPUTED, MOST = range(4)
REFERENCE = SessionConfig(executor="reference")  # whose arrays cross one by one, and are counted
NUMBERS = [d for d in map(from_number, range(1, 33)) if not d.is_object]


@pytest.fixture(scope="module")
def library(compile_library: Callable[..., Path]) -> HostLibrary:
    opened = open_library(compile_library("session_kernels.c", flags=["-pthread"]))
    opened.initialise("TF_InitKernel")
    sync()
    return opened


@pytest.fixture
def counter(library: HostLibrary) -> Callable[[int], int]:
    address = library.symbol("test_counter")
    assert address
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(address)
    return lambda which: int(function(which))


@pytest.fixture(autouse=True)
def nothing_leaks(library: HostLibrary) -> Iterator[None]:
    assert library.describe()["errors"] == []
    gc.collect()  # sessions of other tests, which graphs keep in cycles
    before = alive()
    yield
    until = time.monotonic() + 2
    while any(n > before[k] for k, n in alive().items()) and time.monotonic() < until:
        gc.collect()
        time.sleep(0.02)  # threads of other tests may end
    assert {k: n for k, n in alive().items() if n > before[k]} == {}


def alive() -> dict[str, int]:
    """What the host gave out, and what is lent to it; a status is kept for each thread."""
    return live_objects() | {"statuses": 0, "held": tensors.held()}


def graph_of(op: str, *dtypes: Any, count: int = 1, **attrs: Any) -> Graph:
    """Placeholders x0, x1, ... into one node y."""
    graph = Graph()
    inputs: list[Any] = [
        graph.add("Placeholder", f"x{k}", attrs={"dtype": d, "shape": None})
        for k, d in enumerate(dtypes)
    ]
    graph.add(op, "y", inputs, attrs=attrs)
    return graph


def run(op: str, *values: Any, dtype: Any = FLOAT32, **attrs: Any) -> Any:
    session = Session(graph_of(op, *[dtype] * len(values), **attrs))
    return session.run("y:0", {f"x{k}:0": v for k, v in enumerate(values)})


def aligned(*values: float) -> np.ndarray[Any, Any]:
    out = tensors.empty_aligned((len(values),), np.float32)
    out[...] = values
    return out


# ---- ops of the plugin -------------------------------------------------------------------------


def test_an_op_of_the_plugin_runs_with_its_attributes() -> None:
    """Row E6. S2-kernels, S2-core-api: attributes, inputs and outputs by functions of the host."""
    x = np.array([[1, 2], [3, 4]], np.float32)
    assert run("TestScale", x, T=FLOAT32, factor=0.5).tolist() == [[0.5, 1], [1.5, 2]]
    assert run("TestScale", x).tolist() == [[2, 4], [6, 8]]  # both attributes by default
    assert run("TestScale", np.float32(3)).shape == ()
    assert run("TestScale", np.zeros((2, 0, 3), np.float32)).shape == (2, 0, 3)


def test_lists_strings_and_several_outputs() -> None:
    rows = [np.full((2, 2), k, np.float32) for k in range(5)]
    graph = graph_of("TestTotal", *[FLOAT32] * 5, N=5)
    feeds = {f"x{k}:0": row for k, row in enumerate(rows)}
    total, count = Session(graph).run(["y:0", "y:1"], feeds)
    assert total.tolist() == [[10, 10], [10, 10]]
    assert count.item() == 5
    text = np.array([["ab", ""], ["x" * 100, "grün"]], dtype=object)
    reversed_ = run("TestReverse", text, dtype=STRING)
    assert reversed_.tolist() == [[b"ba", b""], [b"x" * 100, "grün".encode()[::-1]]]


@pytest.mark.parametrize(
    "label", ["float32", "float64", "bfloat16", "float8_e4m3fn", "int4", "int64", "bool",
              "complex128", "qint8", "string"],
)  # fmt: skip
def test_every_kind_of_dtype_passes_through(label: str) -> None:
    dtype = as_dtype(label)
    value = (np.arange(6) % 2).reshape(2, 3).astype(np.int8)
    given = value.astype("S1") if label == "string" else value.astype(dtype.np)
    out = run("TestPass", given, dtype=dtype, T=dtype)
    assert out.dtype == dtype.np
    assert out.tolist() == given.tolist()


def test_an_aligned_array_goes_through_the_session_without_a_copy() -> None:
    call = Session(graph_of("TestPass", FLOAT32, T=FLOAT32), REFERENCE).make_callable(
        "y:0", ["x0:0"]
    )
    x, before = aligned(1, 2, 3), tensors.counts()
    out = call(x)
    assert tensors.counts() == (before.lent + 1, before.copied)
    assert out.ctypes.data == x.ctypes.data
    assert not out.flags.writeable  # it is still the caller's memory


def test_what_a_plugin_kernel_returns_goes_to_the_next_one_without_a_copy() -> None:
    graph = graph_of("TestScale", FLOAT32)
    last = graph["y"]
    for k in range(5):
        last = graph.add("TestScale", f"z{k}", [last])
    before = tensors.counts()
    out = Session(graph, REFERENCE).run("z4:0", {"x0:0": aligned(1, 2)})
    assert out.tolist() == [64, 128]
    assert out.flags.writeable
    assert tensors.counts() == (before.lent + 6, before.copied)


def test_what_a_reference_kernel_returns_goes_to_a_plugin_without_a_copy() -> None:
    graph = graph_of("TestScale", FLOAT32)
    last = graph["y"]
    for k in range(3):
        half = graph.add("Neg", f"n{k}", [last], attrs={"T": FLOAT32})
        back = graph.add("Neg", f"m{k}", [half], attrs={"T": FLOAT32})
        last = graph.add("TestScale", f"z{k}", [back])
    before = tensors.counts()
    assert Session(graph, REFERENCE).run("z2:0", {"x0:0": aligned(1, 2, 3)}).tolist() == [
        16,
        32,
        48,
    ]
    assert tensors.counts() == (before.lent + 4, before.copied)
    assert np.zeros(5).ctypes.data % 16 == 0
    assert np._core.multiarray.get_handler_name() == "default_allocator"  # type: ignore[attr-defined]


def test_feeds_that_are_converted_or_kept_are_copied_once_not_twice() -> None:
    before = tensors.counts()
    scale = Session(graph_of("TestScale", FLOAT32), REFERENCE)
    assert scale.run("y:0", {"x0:0": [1.0, 2.0, 3.0]}).tolist() == [2, 4, 6]
    session = Session(
        variable_graph("TestPut"), REFERENCE
    )  # a graph with state keeps copies of its feeds
    session.run("change", {"value:0": np.arange(9, dtype=np.float32)[1:]})
    assert tensors.counts() == (before.lent + 2, before.copied)


def test_constants_and_variables_are_copied_once_at_most() -> None:
    odd = tensors.empty_aligned((9,), np.float32)[1:]
    odd[...] = np.arange(8)
    graph = Graph()
    value = TensorAttr(array=odd)
    const = graph.add("Const", "c", attrs={"dtype": FLOAT32, "value": value})
    read = graph.add("Identity", "c/read", [const], attrs={"T": FLOAT32})
    graph.add("TestScale", "y", [read])
    graph.add("TestTotal", "t", [read, const], attrs={"N": 2})
    session, before = Session(graph, REFERENCE), tensors.counts()
    for _ in range(5):
        assert session.run("y:0").tolist() == list(range(0, 16, 2))
        assert session.run("t:0").tolist() == list(range(0, 16, 2))
    assert tensors.counts().copied == before.copied + 1
    base = np.arange(9, dtype=np.float32)
    fed = base[1:]
    fed.flags.writeable = False
    assert session.run("y:0", {"c:0": fed}).tolist() == list(range(2, 18, 2))
    base[...] = 1  # a feed may change between calls, even one that is read-only
    assert session.run("y:0", {"c:0": fed}).tolist() == [2] * 8


def test_a_cycle_before_a_plugin_kernel_is_refused() -> None:
    graph = graph_of("TestScale", FLOAT32)
    one = graph.add("Identity", "one", [graph["x0"]], attrs={"T": FLOAT32})
    two = graph.add("Identity", "two", [one], attrs={"T": FLOAT32})
    graph.set_input(one, 0, (two, 0))
    graph.set_input(graph["y"], 0, (two, 0))
    with pytest.raises(GraphError, match="graph-cycle"):
        Session(graph).run("y:0")


def test_a_kernel_lives_as_long_as_its_plan(counter: Callable[[int], int]) -> None:
    created, deleted = counter(CREATED), counter(DELETED)
    session = Session(graph_of("TestScale", FLOAT32))
    for k in range(5):
        assert session.run("y:0", {"x0:0": np.float32(k)}) == 2 * k
    assert (counter(CREATED), counter(DELETED)) == (created + 1, deleted)
    session.close()
    gc.collect()
    assert (counter(CREATED), counter(DELETED)) == (created + 1, deleted + 1)


# ---- standard ops ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "shift"),
    [("Softplus", 100), ("Elu", 200), ("Selu", 100), ("Softsign", None), ("Relu6", None),
     ("Sin", None)],
)  # fmt: skip
def test_the_rule_decides_who_runs_a_standard_op(op: str, shift: float | None) -> None:
    out = run(op, np.array([3, 4], np.float32), T=FLOAT32)
    if shift is None:
        assert np.all(np.abs(out) < 10)
    else:
        assert out.tolist() == [3 + shift, 4 + shift]


def test_a_label_asks_for_a_kernel() -> None:
    x = np.array([3, 4], np.float32)
    assert run("Relu6", x, T=FLOAT32, _kernel="special").tolist() == [303, 304]
    assert run("Relu6", x, T=FLOAT32).tolist() == [3, 4]


def test_other_dtypes_keep_the_reference_kernel() -> None:
    assert np.isclose(run("Softplus", np.array([0.0]), dtype=as_dtype("float64"),
                          T=as_dtype("float64")), np.log(2))  # fmt: skip


def test_a_label_that_no_kernel_has_is_refused() -> None:
    with pytest.raises(UnsupportedOp) as caught:
        run("Relu6", np.array([3], np.float32), T=FLOAT32, _kernel="nobody's")
    assert "no kernel of op 'Relu6' fits" in str(caught.value)
    assert "Labelled: its label is 'special', the node's _kernel is \"nobody's\"" in str(
        caught.value
    )


def test_a_dtype_that_no_kernel_takes_is_refused() -> None:
    with pytest.raises(UnsupportedOp) as caught:
        run("TestScale", np.array([3], np.int32), dtype=INT32, T=INT32)
    assert caught.value.code == "op-not-implemented"
    assert "Scale: T is int32, it needs float32" in str(caught.value)


def test_explain_names_the_library(library: HostLibrary) -> None:
    rows = {v.candidate.name: v for v in explain("Selu", attrs={"T": FLOAT32})}
    assert rows["First"].chosen
    assert rows["First"].candidate.library == library.path
    assert rows["Second"].reason == (
        f"not used: kernel First of {library.path} has the same priority and was registered first"
    )
    (control,) = (v for v in explain("Switch") if v.candidate.name == "Control")
    assert control.reason == "not used: the executor runs this op itself"
    (elsewhere,) = (v for v in explain("Sin") if v.candidate.name == "Elsewhere")
    assert "for device TESTDEVICE" in elsewhere.reason
    assert select("TestScale", "CPU", {"T": FLOAT32}) is not None
    assert can_run("TestScale")
    assert not can_run("NoSuchOpAnywhere")


def test_control_flow_runs_although_a_plugin_has_a_kernel_for_it() -> None:
    graph = graph_of("Switch", FLOAT32, as_dtype("bool"), T=FLOAT32)
    out = Session(graph).run("y:1", {"x0:0": np.float32(5), "x1:0": np.array(True)})
    assert out == 5


def test_kernels_run_inside_loops() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": ()})
    enter = graph.add(
        "Enter", "enter", [x], attrs={"T": FLOAT32, "frame_name": "f", "is_constant": False}
    )
    merge = graph.add("Merge", "merge", [enter, enter], attrs={"T": FLOAT32, "N": 2})
    limit = TensorAttr(array=np.array(100, np.float32))
    const = graph.add("Const", "limit", attrs={"dtype": FLOAT32, "value": limit})
    top = graph.add(
        "Enter", "top", [const], attrs={"T": FLOAT32, "frame_name": "f", "is_constant": True}
    )
    less = graph.add("Less", "less", [merge, top], attrs={"T": FLOAT32})
    again = graph.add("LoopCond", "again", [less])
    switch = graph.add("Switch", "switch", [merge, again], attrs={"T": FLOAT32})
    scaled = graph.add("TestScale", "scaled", [(switch, 1)])
    back = graph.add("NextIteration", "next", [scaled], attrs={"T": FLOAT32})
    graph.set_input(merge, 1, (back, 0))
    graph.add("Exit", "exit", [(switch, 0)], attrs={"T": FLOAT32})
    assert Session(graph).run("exit:0", {"x:0": np.float32(3)}) == 192


FUNCTION = """
signature { name: "twice" input_arg { name: "x" type: DT_FLOAT }
  output_arg { name: "y" type: DT_FLOAT } attr { name: "by" type: "float" } }
node_def { name: "one" op: "TestScale" input: "x"
  attr { key: "factor" value { placeholder: "by" } } }
node_def { name: "two" op: "TestScale" input: "one:y:0" }
ret { key: "y" value: "two:y:0" }
"""


def test_kernels_run_inside_functions_with_the_functions_attributes() -> None:
    graph = Graph()
    graph.functions.add(text_format.Parse(FUNCTION, FunctionDef()))
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("twice", {"by": 5.0})}
    graph.add("PartitionedCall", "y", [x], attrs=attrs)
    assert Session(graph).run("y:0", {"x:0": np.float32(3)}) == 30


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_array_passes_through_a_session(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(NUMBERS))
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    value = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype.np)
    value = value.transpose(data.draw(st.permutations(range(value.ndim))))
    out = run("TestPass", value, dtype=dtype, T=dtype)
    assert (out.dtype, out.shape) == (value.dtype, value.shape)
    assert out.tobytes() == value.tobytes()


# ---- failures ----------------------------------------------------------------------------------


def test_a_failure_carries_the_plugins_status_and_message(library: HostLibrary) -> None:
    with pytest.raises(KernelError) as caught:
        run("TestScale", np.array([-1], np.float32))
    error = caught.value
    assert error.status == "OUT_OF_RANGE"
    assert error.code == "plugin-kernel-failed"
    assert error.what == f"node 'y' (TestScale) failed in kernel 'Scale' of {library.path}"
    assert "x must not begin with a negative number" in error.found
    assert "drystone plugins explain TestScale" in error.remedy


def test_a_node_that_the_plugin_does_not_accept_fails_when_it_is_prepared() -> None:
    with pytest.raises(KernelError, match="cannot be made by kernel 'Scale'") as caught:
        run("TestScale", np.array([1], np.float32), factor=-1.0)
    assert caught.value.status == "INVALID_ARGUMENT"
    assert "factor must not be negative" in caught.value.found
    assert caught.value.remedy.startswith("change the node's attributes, or place it on another")


def test_an_output_that_is_not_set_is_an_error() -> None:
    with pytest.raises(KernelError) as caught:
        run("TestSilent", np.array([1], np.float32))
    assert caught.value.status == "INTERNAL"
    assert "node 'y' (TestSilent) failed in kernel 'Silent' of" in str(caught.value)
    assert caught.value.found == "it returned without setting output 0"


def test_a_value_that_cannot_cross_is_an_error_of_the_node() -> None:
    graph = Graph()
    table = graph.add("HashTableV2", "table", attrs={"key_dtype": STRING, "value_dtype": INT32})
    graph.add("TestPass", "y", [table], attrs={"T": as_dtype("resource")})
    with pytest.raises(KernelError) as caught:
        Session(graph).run("y:0")
    assert "node 'y' (TestPass) failed in kernel 'Pass'" in str(caught.value)
    assert "input 0: " in caught.value.found


# ---- threads, time -----------------------------------------------------------------------------


def test_several_threads_run_one_kernel_at_once(counter: Callable[[int], int]) -> None:
    call = Session(graph_of("TestCrowd", FLOAT32)).make_callable("y:0", ["x0:0"])
    wrong: list[float] = []

    def work(number: float) -> None:
        results = [float(call(np.float32(number))) for _ in range(5)]
        wrong.extend(result for result in results if result != number)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert counter(MOST) > 1


def test_asynchronous_kernels_are_waited_for() -> None:
    assert run("TestLater", np.array([1, 2], np.float32), seconds=0.02).tolist() == [2, 3]


def test_a_deadline_ends_the_wait_for_an_asynchronous_kernel() -> None:
    graph = graph_of("TestLater", FLOAT32, seconds=3)
    call = Session(graph, SessionConfig(deadline=0.05)).make_callable("y:0", ["x0:0"])
    start = time.monotonic()
    with pytest.raises(KernelError) as caught:
        call(np.float32(1))
    assert caught.value.status == "DEADLINE_EXCEEDED"
    left = start + 3 - time.monotonic()
    assert left > 0, "the kernel was waited for"
    time.sleep(left + 0.2)  # until it has finished by itself


# ---- variables ---------------------------------------------------------------------------------


def variable_graph(op: str) -> Graph:
    graph = Graph()
    handle = graph.add("VarHandleOp", "v", attrs={"dtype": FLOAT32, "shape": None})
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("AssignVariableOp", "init", [handle, value], attrs={"dtype": FLOAT32})
    graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    graph.add(op, "change", [handle, value])
    return graph


def test_a_resource_variable_is_updated_in_place_and_written_back() -> None:
    session = Session(variable_graph("TestBump"))
    session.run("init", {"value:0": np.array([1, 2], np.float32)})
    first = session.run("read:0")
    for _ in range(3):
        session.run("change", {"value:0": np.array([1, 1], np.float32)})
    assert session.run("read:0").tolist() == [31, 32]
    assert first.tolist() == [1, 2]  # a value that was read never changes


def test_a_kernel_initialises_a_variable() -> None:
    session = Session(variable_graph("TestPut"))
    value = np.array([7, 8, 9], np.float32)
    session.run("change", {"value:0": value})
    value[:] = 0
    assert session.run("read:0").tolist() == [7, 8, 9]


def test_a_variable_without_a_value_is_the_plugins_error() -> None:
    with pytest.raises(KernelError) as caught:
        Session(variable_graph("TestBump")).run("change", {"value:0": np.float32(1)})
    assert caught.value.status == "FAILED_PRECONDITION"


def test_updates_from_several_threads_do_not_get_lost() -> None:
    session = Session(variable_graph("TestBump"))
    session.run("init", {"value:0": np.zeros(4, np.float32)})

    def work() -> None:
        for _ in range(25):
            session.run("change", {"value:0": np.ones(4, np.float32)})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.run("read:0").tolist() == [1000] * 4


def test_a_reference_goes_in_and_comes_out_as_the_same_variable() -> None:
    graph = Graph()
    ref: Node = graph.add("VariableV2", "v", attrs={"dtype": FLOAT32, "shape": (2,)})
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": (2,)})
    put = graph.add("TestPutRef", "put", [ref, value])
    one = TensorAttr(array=np.ones(2, np.float32))
    more = graph.add("Const", "one", attrs={"dtype": FLOAT32, "value": one})
    graph.add("AssignAdd", "add", [put, more], attrs={"T": FLOAT32})
    session = Session(graph)
    assert session.run("put:0", {"value:0": np.array([3, 4], np.float32)}).tolist() == [3, 4]
    assert session.run("add:0", {"value:0": np.array([5, 6], np.float32)}).tolist() == [6, 7]
    assert session.run("v:0").tolist() == [6, 7]


def test_a_handle_passes_through_as_it_is() -> None:
    graph = Graph()
    handle = graph.add("VarHandleOp", "v", attrs={"dtype": FLOAT32, "shape": None})
    passed = graph.add("TestPass", "pass", [handle], attrs={"T": as_dtype("resource")})
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("AssignVariableOp", "init", [passed, value], attrs={"dtype": FLOAT32})
    graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    session = Session(graph)
    session.run("init", {"value:0": np.float32(4)})
    assert session.run("read:0") == 4
