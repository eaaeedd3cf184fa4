"""What every test of a pass asks: the graph that it leaves, equal values, and nothing twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drystone_abi.protos import DataType, FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32, DType, from_numpy
from drystone_base.graph import Graph, Node, Output, output_name
from drystone_base.ops.attrs import TensorAttr, encode_attr
from drystone_optimizer import OptimizerConfig, Report, optimize_with_report
from drystone_optimizer.core.config import OWN, PASSES

__all__ = [
    "DEVICES",
    "Maker",
    "as_lines",
    "assert_same_natively",
    "assert_same_values",
    "assert_unchanged",
    "check",
    "define",
    "node",
    "only",
    "run_pass",
    "told",
    "unary_function",
]  # fmt: skip

Feeds = Mapping[str, Any]
DEVICES = ("CPU", "GPU", "TPU", "XPU")


class Maker:
    """Builds a graph; every method gives an output."""

    def __init__(self) -> None:
        self.graph = Graph()

    def op(
        self, op: str, name: str, *inputs: Any, controls: Sequence[Any] = (), **attrs: Any
    ) -> Output:
        """A node of that op; inputs are outputs or nodes' names."""
        found = [self.graph.output(i) if isinstance(i, str) else i for i in inputs]
        waits = [self.graph[c] if isinstance(c, str) else c[0] for c in controls]
        device = attrs.pop("device", "")
        return (self.graph.add(op, name, found, controls=waits, device=device, attrs=attrs), 0)

    def x(self, name: str = "x", shape: Any = (-1, 3), dtype: DType = FLOAT32) -> Output:
        """A placeholder."""
        return self.op("Placeholder", name, dtype=dtype, shape=shape)

    def const(self, name: str, value: Any, dtype: DType | None = None, **more: Any) -> Output:
        """A constant; Python floats are float32 and ints int32."""
        array = np.asarray(value)
        if dtype is None:
            dtype = {"f": FLOAT32, "i": INT32}.get(array.dtype.kind, from_numpy(array.dtype))
        tensor = TensorAttr(array=array.astype(dtype.np))
        return self.op("Const", name, dtype=dtype, value=tensor, **more)


def unary_function(name: str, op: str, **attrs: str) -> FunctionDef:
    """``name(a) = op(a)``, float32, with these attributes."""
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=DataType.DT_FLOAT)
    proto.signature.output_arg.add(name="b", type=DataType.DT_FLOAT)
    node = proto.node_def.add(name="n", op=op, input=["a"])
    node.attr["T"].type = DataType.DT_FLOAT
    proto.ret["b"] = f"n:{'activations' if op == 'Relu' else 'y'}:0"
    for key, value in attrs.items():
        proto.attr[key].s = value.encode()
    return proto


def node(op: str, name: str, *inputs: str, **attrs: Any) -> NodeDef:
    """A node of a function's body."""
    proto = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    return proto


def define(m: Maker, name: str, args: Any, results: Any, *nodes: NodeDef, **attrs: Any) -> None:
    """Add a function: arguments with their dtypes, results with theirs and their sources."""
    proto = FunctionDef()
    proto.signature.name = name
    for arg, dtype in args:
        proto.signature.input_arg.add(name=arg, type=dtype.number)
    for arg, dtype, source in results:
        proto.signature.output_arg.add(name=arg, type=dtype.number)
        proto.ret[arg] = source
    proto.node_def.extend(nodes)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    m.graph.functions.add(proto)


def only(*names: str, **more: Any) -> OptimizerConfig:
    """A config in which these passes run, and no others."""
    toggles: dict[str, Any] = dict.fromkeys((*PASSES, *OWN), "off")
    toggles["disable_model_pruning"] = "off" if "model_pruning" in names else "on"
    toggles |= {name: "on" for name in names if name != "model_pruning"}
    if "common_subgraph_elimination" in names:
        toggles["arithmetic_optimization"] = "default"
    return OptimizerConfig(
        **(toggles | {"min_graph_nodes": -1, "fail_on_optimizer_errors": True} | more)
    )


def run_pass(
    graph: Graph,
    name: str,
    fetches: Sequence[str],
    feeds: Sequence[str] = (),
    *,
    twice: bool = True,
    **more: Any,
) -> tuple[Graph, Report]:
    """The graph after one pass, to its end: a second time (``twice``) it finds nothing.

    The machine has every type of device of ``DEVICES``, unless ``devices`` says otherwise.
    """
    config = only(name, **({"meta_optimizer_iterations": 4, "devices": DEVICES} | more))
    after, report = optimize_with_report(graph, fetches, feeds, config, available=())
    if after is not graph and twice:
        again, _ = optimize_with_report(after, fetches, feeds, config, available=())
        assert again is after, as_lines(again)
    return after, report


def as_lines(graph: Graph) -> list[str]:
    """One line per node, sorted by name: ``y = Add(x, c:1, ^z)``, constants with their value."""
    return sorted(_line(node) for node in graph)


def _line(node: Node) -> str:
    if node.op == "Const":
        value = node.attrs["value"].array
        held = [str(value.tolist()) if value.size < 10 else f"{value.dtype}{list(value.shape)}"]
    else:
        held = [output_name(o) for o in node.inputs]
    return f"{node.name} = {node.op}({', '.join([*held, *('^' + c.name for c in node.controls)])})"


def assert_same_values(
    a: Graph,
    b: Graph,
    fetches: Sequence[str],
    feeds: Feeds,
    exact: bool,
    tolerance: float = 1e-5,
) -> None:
    """Both graphs give equal values, bit for bit or nearly."""
    off = SessionConfig(executor="reference", optimizer="off", seed=1)
    one, other = (Session(g, off).run(list(fetches), feeds) for g in (a, b))
    for name, left, right in zip(fetches, one, other, strict=True):
        if left is None:
            assert right is None
            continue
        left, right = np.asarray(left), np.asarray(right)
        assert left.dtype == right.dtype, name
        assert left.shape == right.shape, name
        if exact:
            np.testing.assert_array_equal(left, right, name)
            if left.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(left), np.signbit(right), name)
        else:
            np.testing.assert_allclose(
                left, right, rtol=tolerance, atol=tolerance / 10, err_msg=name
            )


def assert_same_natively(
    before: Graph, after: Graph, fetches: Sequence[str], feeds: Feeds, tolerance: float = 1e-5
) -> None:
    """The native executor gives for ``after`` what the reference gives for ``before``."""
    plain = Session(before, SessionConfig(executor="reference", optimizer="off"))
    native = Session(after, SessionConfig(executor="native", optimizer="off"))
    one, other = (session.run(list(fetches), feeds) for session in (plain, native))
    for name, left, right in zip(fetches, one, other, strict=True):
        assert np.asarray(left).dtype == np.asarray(right).dtype, name
        np.testing.assert_allclose(left, right, rtol=tolerance, atol=tolerance, err_msg=name)


def told(report: Report, name: str) -> str:
    """Why a pass left alone what it did, as the report has it."""
    return "; ".join(step.reason for step in report.steps if step.name == name and step.reason)


def check(
    made: Maker,
    name: str,
    fetches: Sequence[str],
    expected: Sequence[str],
    feeds: Feeds | None = None,
    exact: bool = True,
    **more: Any,
) -> Report:
    """The pass leaves exactly these lines, with equal values, and then nothing more to do."""
    feeds = feeds or {}
    before = made.graph.to_bytes()
    after, report = run_pass(made.graph, name, fetches, list(feeds), **more)
    assert as_lines(after) == sorted(expected)
    assert made.graph.to_bytes() == before, "the given graph was changed"
    assert_same_values(made.graph, after, fetches, feeds, exact)
    again, _ = run_pass(after, name, fetches, list(feeds), **more)
    assert again is after, as_lines(again)
    return report


def assert_unchanged(
    made: Maker, name: str, fetches: Sequence[str], feeds: Sequence[str] = (), **more: Any
) -> Report:
    """The pass finds nothing: the graph comes back as it is."""
    before = made.graph.to_bytes()
    after, report = run_pass(made.graph, name, fetches, feeds, **more)
    assert after is made.graph, as_lines(after)
    assert made.graph.to_bytes() == before
    assert all(step.outcome == "unchanged" for step in report.steps)
    return report
