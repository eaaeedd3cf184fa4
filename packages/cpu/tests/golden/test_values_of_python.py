"""What Python holds, variables and variants, on its way through functions and native kernels."""

import native_ops
import numpy as np
import pytest

from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64, VARIANT
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr


def square() -> FunctionDef:
    """``x @ x`` of one argument."""
    proto = FunctionDef()
    proto.signature.name = "square"
    proto.signature.input_arg.add(name="x", type=FLOAT32.number)
    proto.signature.output_arg.add(name="y", type=FLOAT32.number)
    product = NodeDef(name="product", op="MatMul", input=["x", "x"])
    product.attr["T"].CopyFrom(encode_attr(FLOAT32))
    proto.node_def.append(product)
    proto.ret["y"] = "product:product:0"
    return proto


def calling(name: str) -> FunctionDef:
    """What another function of one argument gives."""
    proto = FunctionDef()
    proto.signature.name = "caller"
    proto.signature.input_arg.add(name="x", type=FLOAT32.number)
    proto.signature.output_arg.add(name="y", type=FLOAT32.number)
    proto.node_def.append(NodeDef(name="inner", op=name, input=["x"]))
    proto.ret["y"] = "inner:y:0"
    return proto


@pytest.mark.parametrize("native_around", [True, False])
def test_a_function_takes_the_value_of_a_reference_variable(native_around: bool) -> None:
    """Also where only the function, or one that it calls, has nodes that run natively."""
    native_ops.load()
    graph = Graph()
    graph.functions.add(square())
    graph.functions.add(calling("square"))
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": (2, 2)})
    variable = graph.add("VariableV2", "variable", attrs={"dtype": FLOAT32, "shape": (2, 2)})
    graph.add("Assign", "assign", [(variable, 0), (value, 0)], attrs={"T": FLOAT32})
    attrs = {"Tin": [FLOAT32], "Tout": [FLOAT32], "f": FunctionRef("caller", {})}
    graph.add("PartitionedCall", "called", [(variable, 0)], attrs=attrs)
    outside = graph.add("Identity", "outside", [(variable, 0)], attrs={"T": FLOAT32})
    if native_around:
        graph.set_op(outside, "Neg")
    with Session(graph, SessionConfig(optimizer="off")) as session:
        for scale in (1, 2, 3):
            x = scale * np.array([[1, 2], [3, 4]], np.float32)
            session.run("assign:0", {"value:0": x})
            for _ in range(2):
                called, found = session.run(["called:0", "outside:0"])
                np.testing.assert_array_equal(called, x @ x)
                np.testing.assert_array_equal(found, -x if native_around else x)


@pytest.mark.parametrize("op", ["Switch", "Merge"])
def test_branches_take_the_value_of_a_reference_variable(op: str) -> None:
    native_ops.load()
    graph = Graph()
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": (2,)})
    chosen = graph.add("Placeholder", "chosen", attrs={"dtype": BOOL, "shape": ()})
    variable = graph.add("VariableV2", "variable", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Assign", "assign", [(variable, 0), (value, 0)], attrs={"T": FLOAT32})
    source = graph.add("Switch", "switch", [variable, chosen], attrs={"T": FLOAT32})
    if op == "Merge":
        other = graph.add("Neg", "other", [(source, 1)], attrs={"T": FLOAT32})
        source = graph.add("Merge", "merge", [variable, other], attrs={"T": FLOAT32, "N": 2})
    graph.add("Neg", "y", [(source, 0)], attrs={"T": FLOAT32})
    with Session(graph, SessionConfig(optimizer="off")) as session:
        for scale in (1, 2):
            x = np.full(2, scale, np.float32)
            session.run("assign:0", {"value:0": x})
            np.testing.assert_array_equal(session.run("y:0", {"chosen:0": False}), -x)


def test_variants_that_only_python_knows_have_the_shape_that_a_kernel_gave_them() -> None:
    native_ops.load()
    graph = Graph()
    parts = {
        "indices": TensorAttr(array=np.array([[0, 1], [1, 0]], np.int64)),
        "values": TensorAttr(array=np.ones(2, np.float32)),
        "dims": TensorAttr(array=np.array([2, 2], np.int64)),
    }
    types = {"indices": INT64, "values": FLOAT32, "dims": INT64}
    nodes = [
        graph.add("Const", name, attrs={"dtype": types[name], "value": value})
        for name, value in parts.items()
    ]
    sizes = TensorAttr(array=np.array([1, 3, 1], np.int32))
    sizes_node = graph.add("Const", "sizes", attrs={"dtype": INT32, "value": sizes})
    one = graph.add(
        "SerializeSparse", "one", [(n, 0) for n in nodes], attrs={"T": FLOAT32, "out_type": VARIANT}
    )
    graph.add(
        "Reshape", "shaped", [(one, 0), (sizes_node, 0)], attrs={"T": VARIANT, "Tshape": INT32}
    )
    with Session(graph, SessionConfig(optimizer="off")) as session:
        flat, shaped = session.run(["one:0", "shaped:0"])
    assert flat.shape == (3,)
    assert shaped.shape == (1, 3, 1)
    assert all(a is b for a, b in zip(flat, shaped.ravel(), strict=True))
