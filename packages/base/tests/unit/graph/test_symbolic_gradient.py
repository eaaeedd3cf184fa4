"""SymbolicGradient: nested and registered functions, agreement with differences, refusals."""

from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef, GraphDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT64, INT32, QUINT8
from drystone_base.core.errors import GraphError, KernelError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

Spec = tuple[str, str, list[str], dict[str, Any]]


def function(name: str, args: list[str], results: dict[str, str], *nodes: Spec) -> FunctionDef:
    """A function of float64 tensors; a node is (name, op, inputs, attrs)."""
    proto = FunctionDef()
    proto.signature.name = name
    for arg in args:
        proto.signature.input_arg.add(name=arg, type=FLOAT64.number)  # type: ignore[arg-type]
    for result, source in results.items():
        proto.signature.output_arg.add(name=result, type=FLOAT64.number)  # type: ignore[arg-type]
        proto.ret[result] = source
    for label, op, inputs, attrs in nodes:
        node = proto.node_def.add(name=label, op=op, input=inputs)
        for key, value in attrs.items():
            node.attr[key].CopyFrom(encode_attr(value))
    return proto


T = {"T": FLOAT64}
INNER = function(
    "inner", ["a", "b"], {"p": "m:z:0", "s": "n:y:0"},
    ("m", "Mul", ["a", "b"], T), ("n", "Sin", ["a"], T),
)  # fmt: skip
OUTER = function(
    "outer", ["x", "y"], {"z": "sum:sum:0"},
    ("c", "inner", ["x", "y"], {}),
    ("d", "PartitionedCall", ["c:p:0", "c:s:0"],
     {"Tin": [FLOAT64] * 2, "Tout": [FLOAT64] * 2, "f": FunctionRef("inner")}),
    ("sum", "AddN", ["d:output:0", "d:output:1", "x"], T | {"N": 3}),
)  # fmt: skip


def graph(*functions: FunctionDef) -> Graph:
    proto = GraphDef()
    proto.library.function.extend(functions)
    return Graph.from_proto(proto)


def gradients(g: Graph, name: str, xs: list[Any], dys: list[Any]) -> list[Any]:
    """What the node gives for these arguments and gradients of results."""
    given = [np.asarray(v, np.float64) for v in (*xs, *dys)]
    nodes = [
        g.add("Const", f"c{k}", attrs={"dtype": FLOAT64, "value": TensorAttr(array=v)})
        for k, v in enumerate(given)
    ]
    attrs = {"Tin": [FLOAT64] * len(given), "Tout": [FLOAT64] * len(xs), "f": FunctionRef(name)}
    g.add("SymbolicGradient", "gradient", nodes, attrs=attrs)
    found: list[Any] = Session(g).run([f"gradient:{k}" for k in range(len(xs))])
    return found


def value(x: Any, y: Any) -> Any:
    p, s = x * y, np.sin(x)
    return p * s + np.sin(p) + x


def test_through_functions_of_functions() -> None:
    x, y, d = np.array([0.3, -1.2]), np.array([2.0, 0.5]), 1e-6
    dx, dy = gradients(graph(INNER, OUTER), "outer", [x, y], [[1, 1]])
    np.testing.assert_allclose(dx, (value(x + d, y) - value(x - d, y)) / (2 * d), rtol=1e-6)
    np.testing.assert_allclose(dy, (value(x, y + d) - value(x, y - d)) / (2 * d), rtol=1e-6)


@pytest.mark.parametrize(("op", "sign"), [("Acosh", -1), ("Asinh", 1)])
def test_where_tensorflow_is_wrong(op: str, sign: int) -> None:
    """It multiplies by what the derivative divides by."""
    proto = function("f", ["x"], {"z": "n:y:0"}, ("n", op, ["x"], T))
    x = np.array([1.1, 2, 5])
    (dx,) = gradients(graph(proto), "f", [x], [[1, 1, 1]])
    np.testing.assert_allclose(dx, 1 / np.sqrt(x**2 + sign))


def test_a_registered_gradient_comes_first() -> None:
    own = function(
        "own", ["a", "b", "dp", "ds"], {"da": "k:y:0", "db": "b"}, ("k", "Neg", ["dp"], T)
    )
    proto = GraphDef()
    proto.library.function.extend([INNER, own])
    proto.library.gradient.add(function_name="inner", gradient_func="own")
    found = gradients(Graph.from_proto(proto), "inner", [[1], [2]], [[3], [4]])
    assert [v.tolist() for v in found] == [[-3], [2]]


def test_what_no_result_depends_on_gets_zeros() -> None:
    only = function("only", ["x", "y"], {"z": "n:y:0"}, ("n", "Neg", ["x"], T))
    dx, dy = gradients(graph(only), "only", [[1, 2], [[3]]], [[5, 6]])
    assert (dx.tolist(), dy.tolist()) == ([-5, -6], [[0]])


def test_an_op_without_a_rule_is_named() -> None:
    proto = function("f", ["x"], {"z": "n:output:0"}, ("n", "GuaranteeConst", ["x"], T))
    with pytest.raises(GraphError, match="function 'f' has no gradient") as caught:
        gradients(graph(proto), "f", [[1]], [[1]])
    assert caught.value.found == "node 'n' (GuaranteeConst)"
    assert caught.value.status == "NOT_FOUND"
    with pytest.raises(GraphError, match="there is no function 'g'"):
        gradients(graph(proto), "g", [[1]], [[1]])


def test_gradients_are_not_kept_in_the_library() -> None:
    g = graph(INNER, OUTER)
    gradients(g, "outer", [[1], [2]], [[1]])
    assert [f.name for f in g.functions] == ["inner", "outer"]


@pytest.mark.parametrize("axes", [[-1], [0, -1], []])
def test_axes_from_the_end(axes: list[int]) -> None:
    where = {"dtype": INT32, "value": TensorAttr(array=np.array(axes, np.int32))}
    proto = function(
        "f", ["x"], {"z": "s:output:0"},
        ("axes", "Const", [], where),
        ("s", "Mean", ["x", "axes:output:0"], T | {"Tidx": INT32, "keep_dims": True}),
    )  # fmt: skip
    x = np.arange(6.0).reshape(2, 3)
    total = np.mean(x, axis=tuple(axes), keepdims=True)
    (dx,) = gradients(graph(proto), "f", [x], [np.ones_like(total)])
    np.testing.assert_allclose(dx, np.full((2, 3), total.size / x.size))


@pytest.mark.parametrize("executor", ["reference", "native"])
def test_a_gradient_of_another_type_than_the_node_says_is_refused(executor: Any) -> None:
    graph = Graph()
    graph.functions.add(INNER)
    attrs = {"dtype": FLOAT64, "value": TensorAttr(array=np.ones((2, 3)))}
    inputs = [graph.add("Const", f"c{k}", attrs=attrs) for k in range(4)]
    attrs = {"Tin": [FLOAT64] * 4, "Tout": [FLOAT64, QUINT8], "f": FunctionRef("inner")}
    graph.add("SymbolicGradient", "gradient", inputs, attrs=attrs)
    with Session(graph, SessionConfig(executor=executor, optimizer="off")) as session:
        with pytest.raises(KernelError) as caught:
            session.run(["gradient:0", "gradient:1"])
        assert "a function must return what the node that calls it gives" in str(caught.value)
        assert "found: values of float64, float64" in str(caught.value)
        assert session.run("c0:0").sum() == 6
