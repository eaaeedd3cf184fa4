"""What regions of the backend ``gpu`` do beside computing: weights, shapes, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu.cases import OpCase
from ci.scripts.gpu.ceiling import ceiling_problems
from ci.scripts.gpu.networks import Network
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Output
from drystone_subgraph import PartitionConfig, executables, partition_with_report

__all__ = ["behaviour_problems"]

Array = np.ndarray[Any, Any]
_FLOAT: Final = ds.as_dtype("float32")
_X: Final = np.random.default_rng(3).standard_normal((4, 6)).astype(np.float32)


def _session(graph: Graph) -> ds.Session:
    """With regions on the GPU, and all else on the processor."""
    config = ds.SessionConfig(optimizer="off", subgraphs="gpu", device_count={"GPU": 0})
    return ds.Session(graph, config)


def _far(got: Any, want: Any) -> bool:
    return not np.allclose(got, want, rtol=1e-5, atol=1e-5)


def _weights() -> str:
    """A variable is packed again when it changes, and only then."""
    n = Network("float32")
    x = n.fed("x", "float32", 4, 6)
    handle = (n.graph.add("VarHandleOp", "v", attrs={"dtype": _FLOAT, "shape": (6, 3)}), 0)
    new = n.fed("new", "float32", 6, 3)
    n.graph.add("AssignVariableOp", "set", [handle, new], attrs={"dtype": _FLOAT})
    read = n.op("ReadVariableOp", handle, dtype=_FLOAT)
    scaled = n.typed("Mul", read, n.const(2.0))  # computed once for each value of the variable
    end = n.typed("Relu", n.typed("MatMul", x, scaled))
    session = _session(n.graph)
    fetch = f"{end[0].name}:0"
    for value in (1.0, -0.5, 3.0):
        weights = np.full((6, 3), value, np.float32)
        session.run("set", {"new:0": weights})
        for _ in range(2):
            if _far(session.run(fetch, {"x:0": _X}), np.maximum(_X @ (2 * weights), 0)):
                return f"other values with weights of {value}"
    states = executables(session)
    return "" if [s.packs for s in states] == [3] else f"packed {[s.packs for s in states]} times"


def _shapes() -> str:
    """Each set of shapes has an executable of its own."""
    n = Network("float32")
    x = (n.graph.add("Placeholder", "x", attrs={"dtype": _FLOAT, "shape": (-1, 6)}), 0)
    weights = n.normal(6, 5, scale=1.0)
    end = n.typed("Tanh", n.typed("MatMul", x, weights))
    plain, session = ds.Session(n.graph.copy()), _session(n.graph)
    for rows in (1, 4, 0, 7, 4):
        feeds = {"x:0": np.resize(_X, (rows, 6))}
        fetch = f"{end[0].name}:0"
        got, want = session.run(fetch, feeds), plain.run(fetch, feeds)
        if np.shape(got) != np.shape(want) or _far(got, want):
            return f"other values of {rows} rows"
    ready = [s.state for s in executables(session)]
    return "" if ready == ["ready"] * 4 else f"executables: {ready}"


def _index_out_of_range() -> str:
    """The host says what is wrong with an index."""
    n = Network("float32")
    at = n.fed("at", "int32", 2)
    kinds = {"Tparams": _FLOAT, "Tindices": ds.as_dtype("int32"), "Taxis": ds.as_dtype("int32")}
    rows = n.op("GatherV2", n.normal(5, 6, scale=1.0), at, n.const(0, "int32"), **kinds)
    end = n.typed("MatMul", rows, n.normal(6, 2, scale=1.0))
    session = _session(n.graph)
    fetch = f"{end[0].name}:0"
    session.run(fetch, {"at:0": np.array([4, 0], np.int32)})
    try:
        session.run(fetch, {"at:0": np.array([5, 0], np.int32)})
    except DrystoneError as error:
        return "" if "5" in str(error) else f"it says only: {error}"
    return "an index out of range is no error"


def _handed_through() -> str:
    """Inputs, constants and shapes can be results."""
    n = Network("float32")
    x = (n.graph.add("Placeholder", "x", attrs={"dtype": _FLOAT, "shape": (-1, 6)}), 0)
    same = n.typed("Identity", x)
    flat = n.typed("Reshape", x, n.const([-1], "int32"), Tshape=ds.as_dtype("int32"))
    size = n.typed("Size", x, out_type=ds.as_dtype("int32"))
    end = n.typed("MatMul", same, n.normal(6, 2, scale=1.0))
    fetches = [f"{o[0].name}:0" for o in (same, flat, size, end)]
    got = _session(n.graph.copy()).run(fetches, {"x:0": _X})
    want = ds.Session(n.graph).run(fetches, {"x:0": _X})
    wrong = [f for f, a, b in zip(fetches, got, want, strict=True)
             if np.shape(a) != np.shape(b) or _far(a, b)]  # fmt: skip
    return f"other values of {wrong}" if wrong else ""


def _taken(build: Callable[[Network, Output], Output], **config: Any) -> list[tuple[str, ...]]:
    """The ops of each region."""
    n = Network("float32")
    end = build(n, n.fed("x", "float32", 4, 6))
    _, report = partition_with_report(
        n.graph, [end[0].name], ["x"], PartitionConfig(("gpu",), **config)
    )
    return [tuple(n.graph[name].op for name in s.nodes) for s in report.taken]


def _left_out() -> str:
    """What a region cannot have stays with the host, and the rest is taken."""

    def build(n: Network, x: Output) -> Output:
        y = n.typed("MatMul", x, n.normal(6, 6, scale=1.0))
        return n.typed("MatMul", n.typed("Digamma", y), n.normal(6, 2, scale=1.0))

    def by_values(n: Network, x: Output) -> Output:
        whole = ds.as_dtype("int32")
        y = n.typed("MatMul", x, n.normal(6, 6, scale=1.0))
        most = n.op("ArgMax", y, n.const(1, "int32"), T=_FLOAT, Tidx=whole, output_type=whole)
        shape = n.op("Mul", most, n.const([0, 0, 0, 0], "int32"), T=whole)
        return n.typed("Reshape", y, shape, Tshape=whole)

    alone = [op for region in _taken(build) for op in region]
    if sorted(set(alone)) != ["MatMul"]:
        return f"beside Digamma it takes {alone}"
    ops = [op for region in _taken(by_values) for op in region]
    return f"takes a shape that values decide: {ops}" if "Reshape" in ops else ""


def _nonsense() -> str:
    """What no tensor can have is refused as the host refuses it, and nothing ends the process."""
    x, whole = _X, np.int32
    cases: tuple[tuple[str, list[Array], dict[str, Any]], ...] = (
        ("Reshape", [x, np.array([-2, 3], whole)], {}),
        ("Reshape", [x, np.array([5, 5], whole)], {}),
        ("Tile", [x, np.array([-1, 2], whole)], {}),
        ("Pad", [x, np.array([[-1, 0], [0, 0]], whole)], {}),
        ("PadV2", [x, np.array([[1, 0], [0, 0]], whole), np.ones(9, np.float32)], {}),
        ("MirrorPad", [x, np.array([[-1, 0], [0, 9]], whole)], {"mode": "REFLECT"}),
        ("BroadcastTo", [x, np.array([3, 6], whole)], {}),
        ("Transpose", [x, np.array([0, 7], whole)], {}),
        ("Slice", [x, np.array([0, 9], whole), np.array([1, 1], whole)],
         {"Index": ds.as_dtype("int32")}),
        ("Sum", [x, np.array([5], whole)], {}),
    )  # fmt: skip
    wrong = []
    for op, inputs, attrs in cases:
        fixed = range(1, len(inputs))
        case = OpCase(op, inputs, list(fixed), {"T": _FLOAT, **attrs})
        graph, fetches, feeds = case.graph()
        for subgraphs in ("off", "gpu"):
            config = ds.SessionConfig(optimizer="off", subgraphs=subgraphs)
            try:
                ds.Session(graph.copy(), config).run(fetches, feeds)
                wrong.append(f"{op} {inputs[1].tolist()} with subgraphs={subgraphs}")
            except DrystoneError:
                continue
    return f"accepted: {wrong}" if wrong else ""


def _many_threads() -> str:
    """Runs from many threads, of one session and of several."""
    n = Network("float32")
    x = n.fed("x", "float32", 4, 6)
    end = n.typed("Softmax", n.typed("MatMul", x, n.normal(6, 6, scale=1.0)))
    fetch = f"{end[0].name}:0"
    sessions = [_session(n.graph.copy()) for _ in range(3)]
    want = [ds.Session(n.graph).run(fetch, {"x:0": _X + k}) for k in range(8)]

    def run(k: int) -> bool:
        got = sessions[k % 3].run(fetch, {"x:0": _X + k % 8})
        return _far(got, want[k % 8])

    with ThreadPoolExecutor(8) as pool:
        wrong = sum(pool.map(run, range(240)))
    return f"{wrong} of 240 runs give other values" if wrong else ""


_CHECKS: Final[Mapping[str, Callable[[], str]]] = {
    "weights": _weights, "shapes": _shapes, "an index out of range": _index_out_of_range,
    "handed through": _handed_through, "left out": _left_out, "nonsense": _nonsense,
    "many threads": _many_threads,
    "TF32 by the ceiling": partial(ceiling_problems, subgraphs="gpu", device_count={"GPU": 0}),
}  # fmt: skip


def behaviour_problems() -> Iterator[tuple[str, str]]:
    """Each check's name, and what is wrong: "" for nothing."""
    for title, check in _CHECKS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield title, check()
            except Exception as error:
                yield title, f"{type(error).__name__}: {error}"
