"""Every legal encoding of a tensor is decoded alike by Python and by the host, or refused."""

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensor_encodings import bytes_of, listed, same, tensors

from drystone_abi.protos import FunctionDef, GraphDef, TensorProto, TensorShapeProto
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import DrystoneError, GraphError, HostError
from drystone_base.core.tensor import from_proto, to_proto
from drystone_base.core.time_limits import OutOfTime, until
from drystone_base.graph import Graph, held_tensor
from drystone_base.host import _lib, available
from drystone_base.host.buffer import filled
from drystone_base.host.status import Status
from drystone_base.host.tensors import HostTensor
from drystone_base.ops.attrs import TensorAttr

EXECUTORS = ["reference", *(["native"] if available() else [])]


def by_host(proto: TensorProto) -> np.ndarray[Any, Any]:
    """What TensorFlow's C function makes of it in the host library."""
    call = _lib.declare("TF_TensorFromProto", None, *[ctypes.c_void_p] * 3)
    tensor = HostTensor.from_numpy(np.zeros((), np.float32))
    with filled(proto.SerializeToString()) as buffer, Status("decoding") as status:
        call(buffer, tensor.handle, status.pointer)
    return tensor.numpy()


@given(tensors())
@settings(max_examples=250, deadline=None)
def test_legal_encodings(drawn: tuple[TensorProto, np.ndarray[Any, Any]]) -> None:
    proto, expected = drawn
    assert same(from_proto(proto), expected)
    again = to_proto(from_proto(proto), from_number(proto.dtype))
    assert same(from_proto(again), expected)
    if available():
        assert same(by_host(proto), expected)


@given(tensors(), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_too_many_values_are_refused(drawn: Any, more: int) -> None:
    proto, expected = drawn
    dtype = from_number(proto.dtype)
    proto.ClearField("tensor_content")
    extra = np.zeros(expected.size + more, dtype.np)
    if dtype is dtypes.STRING:
        extra[:] = b"x"
    whole = TensorProto(dtype=proto.dtype, tensor_shape=proto.tensor_shape)
    listed(whole, dtype, extra)
    with pytest.raises(GraphError, match="too many values"):
        from_proto(whole)
    if available():
        with pytest.raises(HostError, match="lists more values"):
            by_host(whole)


@pytest.mark.parametrize(
    ("size", "content", "what"),
    [
        (2, b"\xff\xff\xff\xff\x0f", "ends in their lengths"),
        (2, b"\x01", "ends in their lengths"),
        (1 << 40, b"\x01", "ends in their lengths"),
        (1, b"\x02a", "must fill its content"),
        (1, b"\x01ab", "must fill its content"),
        (1, b"\xff\xff\xff\xff\x0fa", "must fill its content"),
        (0, b"a", "must fill its content"),
    ],
)
def test_damaged_strings(size: int, content: bytes, what: str) -> None:
    proto = TensorProto(dtype=dtypes.STRING.number, tensor_content=content)  # type: ignore[arg-type]
    proto.tensor_shape.dim.add(size=size)
    with pytest.raises(GraphError, match=what) as error:
        from_proto(proto)
    assert error.value.code == "bad-tensor"
    if available():
        with pytest.raises(HostError, match=r"content ends in the lengths|do not fill its content"):
            by_host(proto)


@pytest.mark.parametrize("length", [2, 9, 200_000])  # large contents are left in their file
def test_a_truth_value_is_one_or_none(length: int) -> None:
    """TensorFlow refuses other bytes; NumPy would take 2 for true, and not for equal to true."""
    content = bytes([1, *bytes(length - 2), 2])
    proto = TensorProto(dtype=dtypes.BOOL.number, tensor_content=content)  # type: ignore[arg-type]
    proto.tensor_shape.dim.add(size=length)
    with pytest.raises(GraphError, match="bytes that are neither") as error:
        Session(graph_of(proto, dtypes.BOOL.number)).run("y:0")
    assert (error.value.code, error.value.found) == ("bad-tensor", "2")
    if available():
        with pytest.raises(HostError, match="bytes that are neither 0 nor 1"):
            by_host(proto)
    proto.tensor_content = content[:-1] + b"\1"
    assert from_proto(proto).sum() == 2


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("kind", [dtypes.FLOAT32, dtypes.STRING, dtypes.BFLOAT16])
@pytest.mark.parametrize(
    ("shape", "what"),
    [
        ((0, 1 << 62, 1 << 62), "absurdly large"),  # nothing, in an array that NumPy refuses
        ((1 << 62, 0), "absurdly large"),
        ((1 << 62, 4), "absurdly large"),
        ((1,) * 65, "a rank that no array has"),
    ],
)
def test_shapes_that_no_array_has(executor: str, kind: DType, shape: Any, what: str) -> None:
    proto = TensorProto(dtype=kind.number)  # type: ignore[arg-type]
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    with pytest.raises(GraphError, match=what) as error:
        Session(graph_of(proto, kind.number), SessionConfig(executor=executor)).run("y:0")
    assert error.value.code == "bad-tensor"


def graph_of(proto: TensorProto, dtype: int, op: str = "Const") -> Graph:
    graph = GraphDef()
    node = graph.node.add(name="out", op=op)
    node.attr["dtype"].type = dtype  # type: ignore[assignment]
    node.attr["value"].tensor.CopyFrom(proto)
    user = graph.node.add(name="y", op="Identity", input=["out"])
    user.attr["T"].type = dtype  # type: ignore[assignment]
    return Graph.from_bytes(graph.SerializeToString())


def strings(*texts: bytes) -> TensorProto:
    content = bytes_of([*texts])
    proto = TensorProto(dtype=dtypes.STRING.number, tensor_content=content)  # type: ignore[arg-type]
    proto.tensor_shape.dim.add(size=len(texts))
    return proto


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("length", [1, 200_000])  # large contents are left in their file
def test_string_constants_of_the_c_api(executor: str, length: int) -> None:
    texts = [b"a", b"bc\0", b"x" * length]
    session = Session(graph_of(strings(*texts), 7), SessionConfig(executor=executor))
    assert session.run("y:0").tolist() == texts


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("optimizer", ["off", "default"])
@pytest.mark.parametrize(("held", "stated"), [(1, 3), (3, 1), (7, 1), (1, 7), (3, 11), (11, 6)])
def test_a_value_of_another_dtype_is_refused(
    executor: str, optimizer: Any, held: int, stated: int
) -> None:
    proto = TensorProto(dtype=held)  # type: ignore[arg-type]
    graph = graph_of(proto, stated)
    assert held_tensor(graph["out"]) is None
    with pytest.raises(GraphError, match="a constant must be of the dtype that its node") as error:
        Session(graph, SessionConfig(executor=executor, optimizer=optimizer)).run("y:0")
    assert error.value.code == "dtype-mismatch"


def test_quantized_constants_are_written_with_their_dtype() -> None:
    graph = Graph()
    value = TensorAttr(array=np.array([1, 2], np.int8))
    graph.add("Const", "q", attrs={"dtype": dtypes.QINT8, "value": value})
    written = GraphDef.FromString(graph.to_bytes())
    assert written.node[0].attr["value"].tensor.dtype == dtypes.QINT8.number
    assert Session(Graph.from_bytes(graph.to_bytes())).run("q:0").tolist() == [1, 2]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_constants_in_functions(executor: str) -> None:
    graph = GraphDef()
    function: FunctionDef = graph.library.function.add()
    function.signature.name = "f"
    function.signature.output_arg.add(name="o", type=7)  # type: ignore[arg-type]
    node = function.node_def.add(name="c", op="Const")
    node.attr["dtype"].type = 7  # type: ignore[assignment]
    node.attr["value"].tensor.CopyFrom(strings(b"in", b"side"))
    function.ret["o"] = "c:output:0"
    call = graph.node.add(name="y", op="StatefulPartitionedCall")
    call.attr["Tin"].list.SetInParent()
    call.attr["Tout"].list.type.append(7)  # type: ignore[arg-type]
    call.attr["f"].func.name = "f"
    session = Session(Graph.from_bytes(graph.SerializeToString()), SessionConfig(executor=executor))
    assert session.run("y:0").tolist() == [b"in", b"side"]


def test_damage_is_told_where_it_is_read() -> None:
    proto = TensorProto(dtype=7, tensor_content=b"\xff\xff\xff\xff\x0f")  # type: ignore[arg-type]
    proto.tensor_shape.dim.add(size=2)
    for executor in EXECUTORS:
        with pytest.raises(DrystoneError, match="ends in their lengths"):
            Session(graph_of(proto, 7), SessionConfig(executor=executor)).run("y:0")


@pytest.mark.parametrize(
    ("number", "field"),
    [(14, "half_val"), (19, "half_val"), (5, "int_val"), (6, "int_val"), (4, "int_val")],
)
def test_numbers_beyond_a_narrow_dtype_lose_their_upper_bits(number: int, field: str) -> None:
    """The fields hold int32, of which TensorFlow casts each to the dtype."""
    given = [-1, 127, -(2**31), 2**31 - 1, 65536 + 3]
    dims = [TensorShapeProto.Dim(size=len(given))]
    proto = TensorProto(dtype=number, tensor_shape=TensorShapeProto(dim=dims))  # type: ignore[arg-type]
    getattr(proto, field).extend(given)
    dtype = from_number(number).np
    bits = np.dtype(f"u{dtype.itemsize}")
    want = [v % (1 << 8 * dtype.itemsize) for v in given]
    assert from_proto(proto).view(bits).tolist() == want
    if available():
        assert by_host(proto).view(bits).tolist() == want


@pytest.mark.parametrize("dtype", [dtypes.BOOL, dtypes.STRING])
def test_checks_of_contents_look_at_the_time(dtype: DType) -> None:
    """A gigabyte of them takes seconds on a busy machine: a deadline ends it between pieces."""
    proto = TensorProto(dtype=dtype.number, tensor_content=bytes(9))  # type: ignore[arg-type]
    proto.tensor_shape.dim.add(size=9)
    with until(0.0), pytest.raises(OutOfTime):
        from_proto(proto)
    assert from_proto(proto).shape == (9,)
