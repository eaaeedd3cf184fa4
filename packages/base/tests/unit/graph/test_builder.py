"""Building graphs: what a builder reads off inputs, and what it refuses without leaving it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_abi.protos import FunctionDef, GraphDef
from drystone_base.core.errors import DrystoneError, GraphError, UnsupportedOp
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find, names

Build = Callable[[ds.Builder], Any]


def placeholder(b: ds.Builder, dtype: str = "float32", name: str = "") -> Any:
    return b("Placeholder", dtype=dtype, shape=[-1, 3], name=name)


def test_dtypes_and_lengths_are_read_off_the_inputs() -> None:
    b = ds.Builder(ds.Graph(), "net")
    x = placeholder(b, name="x")
    joined = b("ConcatV2", [x, x, x], b.const(1))
    packed = b.node("IdentityN", [joined, b.const("text")])
    assert joined[0].attrs == {"N": 3, "T": ds.as_dtype("float32"), "Tidx": ds.as_dtype("int32")}
    assert packed.attrs == {"T": [ds.as_dtype("float32"), ds.as_dtype("string")]}
    assert [n.name for n in b.graph] == [
        "x",
        "net/Const",
        "net/ConcatV2",
        "net/Const_1",
        "net/IdentityN",
    ]
    ds.validate(b.graph)
    assert ds.Session(b.graph).run(joined[0].name, {"x": [[1.0, 2.0, 3.0]]}).shape == (1, 9)


def test_a_node_stands_for_its_first_output_and_may_wait_for_others() -> None:
    b = ds.Builder(ds.Graph())
    x = placeholder(b)[0]
    done = b.node("Relu", x, name="done", controls=[x], device="/device:CPU:0", _tag="kept")
    assert (done.name, done.controls, done.device) == ("done", (x,), "/device:CPU:0")
    assert done.attrs["_tag"] == "kept"
    assert b.dtype(done) == b.dtype((x, 0)) == ds.as_dtype("float32")


def test_attributes_are_taken_in_the_forms_of_python() -> None:
    b = ds.Builder(ds.Graph())
    const = b.node("Const", dtype=np.int64, value=np.array([2, 3], np.int64))
    cast = b.node("Cast", const, DstT="float64")
    assert const.attrs["value"].array.tolist() == [2, 3]
    assert cast.attrs == {"SrcT": ds.as_dtype("int64"), "DstT": ds.as_dtype("float64")}
    lists = b.node("Unbatch", placeholder(b), *[b.const(0, "int64")] * 2, timeout_micros=1)
    assert b.node("PlaceholderWithDefault", cast, shape=[2]).attrs["shape"] == (2,)
    assert lists.attrs["T"] == ds.as_dtype("float32")


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, "int32"), (1.5, "float32"), ([1, 2.5], "float32"), (True, "bool"), ("a", "string"),
        ([b"a", "longer"], "string"), (1j, "complex128"), ([], "float32"), (np.int8(3), "int8"),
        (np.float64(1.5), "float64"), (np.arange(3, dtype=np.uint16), "uint16"),
    ],
)  # fmt: skip
def test_constants_are_of_the_dtype_of_their_value(value: object, dtype: str) -> None:
    b = ds.Builder(ds.Graph())
    constant = b.const(value)
    assert b.dtype(constant) == ds.as_dtype(dtype)
    ds.validate(b.graph)
    held = constant[0].attrs["value"].array
    assert np.array_equal(held, np.asarray(value, object)) or dtype == "string"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (300, "uint8"), (-1, "uint8"), (2.5, "int32"), (float("nan"), "int64"), (1 << 40, None),
        (np.array([1 << 40]), "int32"), (1j, "float32"), ("a", "float32"), (3, "string"),
        (2, "bool"), (None, None), ([[1], [2, 3]], None), (1, "resource"), (object(), "variant"),
        (200, "qint8"), (9, "int4"), (np.zeros(2, "M8[s]"), None),
    ],
)  # fmt: skip
def test_a_constant_of_a_value_that_its_dtype_cannot_hold_is_refused(
    value: object, dtype: str | None
) -> None:
    b = ds.Builder(ds.Graph())
    with pytest.raises(GraphError) as info:
        b.const(value, dtype)
    assert info.value.code in ("bad-attr", "bad-dtype")
    assert all((info.value.found, info.value.needed, info.value.remedy))
    assert len(b.graph) == 0


@pytest.mark.parametrize("shape", [(None, 3), [None, 3], [-1, np.int64(3)]])
def test_an_unknown_size_may_be_none(shape: Any) -> None:
    node = ds.Builder(ds.Graph()).node("Placeholder", dtype="float32", shape=shape)
    assert node.attrs["shape"] == (-1, 3)
    assert all(isinstance(size, int | np.integer) for size in node.attrs["shape"])


NO_SHAPES = [(2.5,), (True,), ("3",), ((1,),), (1 << 63,), (np.float32(2),), (float("nan"), 3)]


@pytest.mark.parametrize("shape", [*NO_SHAPES, (None, 3)])
def test_a_shape_of_what_is_no_size_is_refused(shape: Any) -> None:
    """Here, and not as a bare TypeError by whoever saves or runs the graph."""
    graph, dtype = ds.Graph(), ds.as_dtype("float32")
    held = graph.add("Placeholder", "held", attrs={"dtype": dtype})
    calls: list[Callable[[], Any]] = [
        lambda: graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": shape}),
        lambda: graph.add("QueueV2", "q", attrs={"shapes": [(2,), shape]}),
        lambda: graph.set_attr(held, "shape", shape),
        lambda: graph.set_attr(held, "_output_shapes", [shape]),
    ]
    if shape in NO_SHAPES:
        calls.append(lambda: ds.Builder(graph).node("Placeholder", dtype=dtype, shape=shape))
    for call in calls:
        with pytest.raises(GraphError, match="sizes of a shape must be whole numbers") as info:
            call()
        assert info.value.code == "bad-attr"
    assert [node.name for node in graph] == ["held"]
    assert set(held.attrs) == {"dtype"}


REFUSED: list[tuple[str, Build, str]] = [
    ("wrong-fan-in", lambda b: b("AddV2", b.const(1)), "1 inputs"),
    ("wrong-fan-in", lambda b: b("Neg", b.const(1), b.const(2)), "2 inputs"),
    ("wrong-fan-in", lambda b: b("AddN", b.const(1)), "a list of nodes and outputs"),
    ("wrong-fan-in", lambda b: b("Neg", [b.const(1)]), "a node, or (node, index)"),
    ("wrong-fan-in", lambda b: b("Neg", 3.0), "3.0"),
    ("wrong-fan-in", lambda b: b("AddN", [b.const(1), "x"]), "a list of nodes"),  # type: ignore[list-item]
    ("wrong-fan-in", lambda b: b("AddN", [b.const(1)] * 2, N=3), "2 inputs"),
    ("bad-attr", lambda b: b("AddN", []), "N"),
    ("missing-attr", lambda b: b("Placeholder"), "'dtype' is missing"),
    ("bad-attr", lambda b: b("MatMul", *[b.const(1.0)] * 2, transpose_x=1), "transpose_"),
    ("bad-attr", lambda b: b("Neg", b.const("text")), "string"),
    ("bad-dtype", lambda b: b("Cast", b.const(1), DstT=2.5), "2.5"),
    ("bad-dtype", lambda b: b("Cast", b.const(1), DstT="float33"), "float33"),
    ("dtype-mismatch", lambda b: b("AddV2", b.const(1), b.const(1.0)), "float32 from"),
    ("bad-output-index", lambda b: b("Neg", (b.const(1)[0], 1)), "1 outputs"),
    ("bad-output-index", lambda b: b("Neg", (b.const(1)[0], -1)), "1 outputs"),
    ("bad-output-index", lambda b: b("ReadFile", (b.const("a")[0], -1)), "1 outputs"),
    ("duplicate-node", lambda b: b("Neg", b.const(1, name="a"), name="a"), "'a' twice"),
    ("bad-node-name", lambda b: b("NoOp", name="^a"), "'^a'"),
    ("foreign-node", lambda b: b("Neg", ds.Builder(ds.Graph()).const(1)), "another graph"),
    (
        "bad-function-call",
        lambda b: b("PartitionedCall", [b.const(1)], Tout=["int32"], f="twice"),
        "float64",
    ),
]  # fmt: skip


def with_function() -> ds.Graph:
    proto = GraphDef()
    function = FunctionDef()
    function.signature.name = "twice"
    function.signature.input_arg.add(name="a", type=2)
    function.signature.output_arg.add(name="b", type=2)
    node = function.node_def.add(name="sum", op="AddV2", input=["a", "a"])
    node.attr["T"].type = ds.as_dtype("float64").number  # type: ignore[assignment]
    function.ret["b"] = "sum:z:0"
    proto.library.function.append(function)
    return ds.Graph.from_proto(proto)


@pytest.mark.parametrize(("code", "build", "text"), REFUSED)
def test_a_node_that_does_not_fit_is_refused_and_not_left(
    code: str, build: Build, text: str
) -> None:
    b = ds.Builder(with_function(), "s")
    with pytest.raises(GraphError) as info:
        build(b)
    assert info.value.code == code
    assert text in str(info.value)
    assert "it is called as" in str(info.value) or code not in ("wrong-fan-in", "bad-attr")
    assert {node.op for node in b.graph} <= {"Const"}


def test_a_refusal_says_how_the_op_is_called() -> None:
    b = ds.Builder(ds.Graph())
    with pytest.raises(GraphError) as info:
        b("ConcatV2", b.const(1))
    assert str(info.value) == (
        "a node of ConcatV2 cannot be added [wrong-fan-in]\n"
        "  check: there must be an input for each argument; what takes a list is given one\n"
        "  found: 1 inputs\n"
        "  needed: 2\n"
        "  remedy: it is called as ConcatV2([values], axis, N=..., T=..., Tidx=...)"
    )


def test_an_unknown_op_names_near_ones() -> None:
    with pytest.raises(UnsupportedOp, match="did you mean MatMul") as info:
        ds.Builder(ds.Graph())("MatMull")
    assert info.value.code == "op-unknown"


def test_a_function_of_the_graph_is_called_by_its_name_or_by_an_attribute() -> None:
    b = ds.Builder(with_function())
    two = b.const(2.0, "float64")
    called = b("twice", two)
    passed = b("PartitionedCall", [two], Tout=["float64"], f="twice")
    assert passed[0].attrs["f"] == FunctionRef("twice")
    assert ds.Session(b.graph).run([called[0].name, passed[0].name]) == [4.0, 4.0]


def test_every_op_of_fixed_dtypes_or_of_one_is_built_from_its_inputs_alone() -> None:
    """Whatever is added passes validation; what is refused leaves nothing."""
    built = 0
    for op in names()[::7]:
        b = ds.Builder(ds.Graph())
        definition = find(op)
        assert definition is not None
        inputs = [
            [one, one] if arg.is_list else one
            for arg in definition.inputs
            for one in [b("Placeholder", dtype=(arg.type or ds.as_dtype("float32")).base)]
        ]
        before = len(b.graph)
        try:
            b(op, *inputs)
        except DrystoneError:
            assert len(b.graph) == before
        else:
            ds.validate(b.graph)
            built += 1
    assert built > 80


@pytest.mark.parametrize(
    "call",
    [
        lambda: ds.Builder(None),  # type: ignore[arg-type]
        lambda: ds.Builder(ds.Graph(), 3),  # type: ignore[arg-type]
        lambda: ds.Builder(ds.Graph())(3),  # type: ignore[arg-type]
        lambda: ds.Builder(ds.Graph())("NoOp", name=3),
        lambda: ds.Builder(ds.Graph())("NoOp", controls=3),
        lambda: ds.Builder(ds.Graph())("NoOp", device=3),
        lambda: ds.Builder(ds.Graph()).dtype("x"),  # type: ignore[arg-type]
        lambda: ds.Builder(ds.Graph()).like(1, 2),  # type: ignore[arg-type]
        lambda: ds.Builder(ds.Graph()).shape((1, 2)),  # type: ignore[arg-type]
        lambda: ds.Shapes(3),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph(), 3),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).shape("x"),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).known(3),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).value(None),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).items("x"),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).refresh(3),  # type: ignore[arg-type]
        lambda: ds.Shapes(ds.Graph()).refresh(["x"]),  # type: ignore[list-item]
        lambda: ds.Shapes(ds.Graph()).forget(3),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_other_types_are_named(call: Callable[[], Any]) -> None:
    with pytest.raises(DrystoneError) as info:
        call()
    assert info.value.remedy
