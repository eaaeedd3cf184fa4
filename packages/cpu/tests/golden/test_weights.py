"""Weights that a plan does not change: kept in order for the kernel, also in loops and functions.

How many tensors are held after a run tells what kernels keep: each order holds the weights.
"""

from __future__ import annotations

import gc
import threading
from typing import Any

import native_ops
import numpy as np

from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, RESOURCE, DType
from drystone_base.graph import Graph, Node
from drystone_base.host.live import live_objects
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

pytestmark = native_ops.needs_onednn()
INNER = 40  # of the products: wide enough that a kernel wants weights in an order of its own
STEPS = 5


def weights(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((INNER, INNER)) / INNER).astype(np.float32)


X = np.random.default_rng(0).standard_normal((2, INNER)).astype(np.float32)


def node(op: str, name: str, inputs: list[str], **attrs: Any) -> NodeDef:
    proto = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    return proto


def function(
    graph: Graph, name: str, args: dict[str, DType], nodes: list[NodeDef],
    results: dict[str, tuple[DType, str]],
) -> FunctionRef:  # fmt: skip
    proto = FunctionDef()
    proto.signature.name = name
    for arg, dtype in args.items():
        proto.signature.input_arg.add(name=arg, type=dtype.number)
    for result, (dtype, value) in results.items():
        proto.signature.output_arg.add(name=result, type=dtype.number)
        proto.ret[result] = value
    proto.node_def.extend(nodes)
    graph.functions.add(proto)
    return FunctionRef(name, {})


def const(value: Any, dtype: DType) -> TensorAttr:
    return TensorAttr(array=np.asarray(value, dtype.np))


def product_loop(graph: Graph, name: str, weight: DType = FLOAT32, inner: str = "") -> FunctionRef:
    """The body of a loop over (k, x, w): x w, or what ``inner`` (another such loop) makes of x."""
    args = {"k": INT32, "x": FLOAT32, "w": weight}
    one = node("Const", "one", [], dtype=INT32, value=const(1, INT32))
    nodes = [one, node("AddV2", "next", ["k", "one:output:0"], T=INT32)]
    matrix, after = "w", "product:product:0"
    if weight is RESOURCE:
        nodes.append(node("ReadVariableOp", "read", ["w"], dtype=FLOAT32))
        matrix = "read:value:0"
    if inner:
        zero = node("Const", "zero", [], dtype=INT32, value=const(0, INT32))
        refs = {"cond": FunctionRef("goes on", {}), "body": FunctionRef(inner, {})}
        types = [INT32, FLOAT32, weight]
        loop = node("StatelessWhile", "inner", ["zero:output:0", "x", "w"], T=types, **refs)
        nodes += [zero, loop]
        after = "inner:output:1"
    else:
        nodes.append(node("MatMul", "product", ["x", matrix], T=FLOAT32))
    results = {"a": (INT32, "next:z:0"), "b": (FLOAT32, after), "c": (weight, "w")}
    return function(graph, name, args, nodes, results)


def condition(graph: Graph, weight: DType = FLOAT32) -> FunctionRef:
    args = {"k": INT32, "x": FLOAT32, "w": weight}
    nodes = [
        node("Const", "end", [], dtype=INT32, value=const(STEPS, INT32)),
        node("Less", "less", ["k", "end:output:0"], T=INT32),
    ]
    return function(graph, "goes on", args, nodes, {"y": (BOOL, "less:z:0")})


def placeholder(graph: Graph, name: str) -> Node:
    return graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": None})


def loop(graph: Graph, name: str, w: tuple[Node, int], body: FunctionRef, cond: FunctionRef) -> Any:
    """Add the loop from x; ``name:1`` is what it gives."""
    x = graph["x"] if "x" in graph else placeholder(graph, "x")
    zero = graph.add("Const", f"{name} from", attrs={"dtype": INT32, "value": const(0, INT32)})
    weight = RESOURCE if w[0].op == "VarHandleOp" else FLOAT32
    attrs = {"T": [INT32, FLOAT32, weight], "cond": cond, "body": body}
    return graph.add("While", name, [(zero, 0), (x, 0), w], attrs=attrs)


def variable(graph: Graph) -> tuple[Node, int]:
    attrs = {"dtype": FLOAT32, "shape": (INNER, INNER), "shared_name": "v"}
    handle = (graph.add("VarHandleOp", "v", attrs=attrs), 0)
    value = (placeholder(graph, "value"), 0)
    graph.add("AssignVariableOp", "assign", [handle, value], attrs={"dtype": FLOAT32})
    return handle


def constant(graph: Graph, name: str, value: Any) -> tuple[Node, int]:
    attrs = {"dtype": FLOAT32, "value": TensorAttr(array=value)}
    return graph.add("Const", name, attrs=attrs), 0


def opened(graph: Graph) -> Session:
    native_ops.load()
    return Session(graph, SessionConfig(executor="native", optimizer="off"))


def kept_by(session: Session, fetch: Any, times: int = 3) -> tuple[Any, int]:
    """What the fetch gives every time, and how many more tensors are held after that."""
    session.make_callable(fetch, ["x:0"])  # the plan, which holds constants
    gc.collect()
    before = live_objects()["tensors"]
    found = [session.run(fetch, {"x:0": X}) for _ in range(times)]
    for value in found[1:]:
        np.testing.assert_array_equal(value, found[0])
    first = np.array(found[0])
    del found
    gc.collect()
    return first, live_objects()["tensors"] - before


def power(w: Any, times: int) -> Any:
    """X w^times, as the float32 products of the reference round it."""
    out = X
    for _ in range(times):
        out = out @ w
    return out


def close(found: Any, want: Any) -> None:
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-6)


def test_a_loop_keeps_a_constant_that_it_takes() -> None:
    graph = Graph()
    loop(graph, "y", constant(graph, "w", weights(1)), product_loop(graph, "b"), condition(graph))
    found, kept = kept_by(opened(graph), "y:1")
    close(found, power(weights(1), STEPS))
    assert kept == 1


def test_nested_loops_keep_it_once() -> None:
    graph = Graph()
    cond = condition(graph)
    product_loop(graph, "inner")
    body = product_loop(graph, "outer", inner="inner")
    loop(graph, "y", constant(graph, "w", weights(1)), body, cond)
    found, kept = kept_by(opened(graph), "y:1")
    close(found, power(weights(1), STEPS * STEPS))
    assert kept == 1


def test_callers_of_one_body_have_constants_of_their_own() -> None:
    graph = Graph()
    body, cond = product_loop(graph, "b"), condition(graph)
    for k in range(4):
        loop(graph, f"y{k}", constant(graph, f"w{k}", weights(k)), body, cond)
    session = opened(graph)
    for _ in range(3):
        found = session.run([f"y{k}:1" for k in range(4)], {"x:0": X})
        for k in range(4):
            close(found[k], power(weights(k), STEPS))
    _, kept = kept_by(session, [f"y{k}:1" for k in range(4)])
    assert kept <= 0  # few are kept, the last ones


def test_a_variable_that_the_plan_does_not_change_is_kept() -> None:
    graph = Graph()
    handle = variable(graph)
    read = (graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32}), 0)
    loop(graph, "y", read, product_loop(graph, "b"), condition(graph))
    assert kept_of_variables(opened(graph)) == [1, 0, 0]


def kept_of_variables(session: Session) -> list[int]:
    """What is kept of the second value and of later ones, which take the place of the oldest."""
    out = []
    for seed in (1, 2, 3, 4):
        session.run("assign", {"value:0": weights(seed)})
        found, kept = kept_by(session, "y:1")
        close(found, power(weights(seed), STEPS))
        out.append(kept)
    return out[1:]  # with the first one the plan keeps the variable's handle, too


def test_a_variable_that_is_read_within_the_loop_is_kept() -> None:
    graph = Graph()
    body = product_loop(graph, "b", RESOURCE)
    loop(graph, "y", variable(graph), body, condition(graph, RESOURCE))
    assert kept_of_variables(opened(graph)) == [1, 0, 0]


def test_a_variable_that_the_plan_changes_is_not_kept() -> None:
    graph = Graph()
    handle = variable(graph)
    read = (graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32}), 0)
    out = loop(graph, "y", read, product_loop(graph, "b"), condition(graph))
    delta = constant(graph, "delta", weights(9))
    attrs = {"dtype": FLOAT32}
    graph.add("AssignAddVariableOp", "add", [handle, delta], controls=[out], attrs=attrs)
    session = opened(graph)
    session.run("assign", {"value:0": weights(1)})
    before = 0
    w = weights(1)
    for step in range(4):
        gc.collect()
        held = live_objects()["tensors"]
        found, _ = session.run(["y:1", "add"], {"x:0": X})
        close(found, power(w, STEPS))
        w = w + weights(9)
        del found
        gc.collect()
        before += (live_objects()["tensors"] - held) if step else 0
    assert before == 0


def test_runs_beside_changes_see_one_value_or_another() -> None:
    graph = Graph()
    handle = variable(graph)
    read = (graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32}), 0)
    loop(graph, "y", read, product_loop(graph, "b"), condition(graph))
    delta = constant(graph, "delta", np.zeros((INNER, INNER), np.float32))
    graph.add("AssignAddVariableOp", "add", [handle, delta], attrs={"dtype": FLOAT32})
    session = opened(graph)
    session.run("assign", {"value:0": weights(0)})
    answers = [np.array(power(weights(seed), STEPS)) for seed in range(3)]
    wrong: list[Any] = []

    def read_on() -> None:
        for _ in range(60):
            found = session.run("y:1", {"x:0": X})
            if not any(np.allclose(found, answer, rtol=1e-4, atol=1e-6) for answer in answers):
                wrong.append(found)

    threads = [threading.Thread(target=read_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(60):
        session.run("assign", {"value:0": weights(k % 3)})
        session.run("add")
    for thread in threads:
        thread.join()
    assert wrong == []
