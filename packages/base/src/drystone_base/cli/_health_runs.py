"""What ``drystone doctor`` runs: a tiny graph on each executor, and a kernel of each plugin."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from drystone_base.host._lib import is_left_out

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.ops.defs import OpDef
    from drystone_base.plugins import Plugin

__all__ = ["check", "loop_graph", "run_checks"]

_LAST: Final = 10
_TOTAL: Final = _LAST * (_LAST + 1) // 2
_MOST_TRIED: Final = 40
_FIRST: Final = ("AddV2", "Mul", "Sub", "Relu", "Neg", "MatMul", "Square", "Identity")
"""Ops that are tried before the others of a plugin: they take any numbers."""


def check(name: str, ok: bool, found: str, seconds: float | None = None) -> dict[str, Any]:
    """One line of the report; ``seconds`` is how long a run took."""
    return {"name": name, "ok": ok, "found": found, "seconds": seconds}


def run_checks() -> list[dict[str, Any]]:
    """A run on each executor, and one of a kernel of each plugin."""
    from drystone_base.cli._plugins import loaded

    plugins = loaded().plugins
    return [*map(_executor, ("native", "reference")), *map(_plugin, plugins)]


def _executor(executor: Any) -> dict[str, Any]:
    """A small graph with a loop must give what it gives on paper: 1 + 2 + ... + 10."""
    name = f"a small graph runs on the {executor} executor"
    if executor == "native" and is_left_out():
        return check(name, True, "not there: this wheel of drystone-base is Python alone")
    start = time.perf_counter()
    try:
        total = _loop_total(executor)
    except Exception as error:
        return check(name, False, _said(error))
    found = f"1 + 2 + ... + {_LAST} = {total}"
    return check(name, total == _TOTAL, found, time.perf_counter() - start)


def _loop_total(executor: Any) -> int:
    from drystone_base.api.session import Session, SessionConfig

    config = SessionConfig(executor=executor, optimizer="off")
    return int(Session(loop_graph(_LAST), config).run("result"))


_LOADED: Final = "loaded, no kernels for the CPU"


def _plugin(plugin: Plugin) -> dict[str, Any]:
    """Whether a plugin is loaded, and one of its kernels computes what the reference does."""
    name = f"plugin {plugin.name}"
    if plugin.state != "loaded":
        text = f"{plugin.state}: {plugin.reason}" if plugin.reason else plugin.state
        return check(name, plugin.state == "skipped", text)
    tried = 0
    for op, library in _kernels(plugin.path):
        found = _run_kernel(op, library)
        if found is not None:
            return check(name, *found)
        tried += 1
        if tried == _MOST_TRIED:
            break
    text = f"loaded; none of {tried} kernels takes plain numbers" if tried else _LOADED
    return check(name, True, text)


def _kernels(path: str) -> Iterator[tuple[OpDef, str]]:
    """Ops for which a library has kernels for the CPU, those that take any numbers first."""
    from drystone_base.host.kernels import list_kernels
    from drystone_base.ops.defs import find

    rows = [row for row in list_kernels() if row["library"] == path and row["device"] == "CPU"]
    ops = sorted({row["op"] for row in rows}, key=lambda op: (op not in _FIRST, op))
    for op in ops:
        definition = find(op)
        if definition is not None and not definition.is_stateful:
            yield definition, path


def _run_kernel(op: OpDef, library: str) -> tuple[bool, str, float] | None:
    """Whether a kernel gives what the reference does, as text, and its seconds; None: not tried.

    Inputs are matrices of ones; ops that take something else are not tried.
    """
    from drystone_base.core.errors import DrystoneError, UnsupportedOp
    from drystone_base.executor.selection import chosen_kernel

    graph = _graph_of(op)
    try:
        chosen = None if graph is None else chosen_kernel(graph["y"])
        if graph is None or chosen is None or chosen.library != library:
            return None
        expected, _ = _timed(graph, "reference")
        found, seconds = _timed(graph, "native")
    except UnsupportedOp:
        return None
    except DrystoneError as error:
        if error.code != "plugin-kernel-failed":
            return None  # it wants other values than ones
        return False, f"kernel of {op.name}: {error.what}: {error.found}", 0.0
    same = _alike(found, expected)
    return same, f"kernel of {op.name}: {'ran' if same else f'{found}, not {expected}'}", seconds


def _timed(graph: Graph, executor: Any) -> tuple[Any, float]:
    from drystone_base.api.session import Session, SessionConfig

    session = Session(graph, SessionConfig(executor=executor, optimizer="off"))
    session.run("y:0")  # which prepares it
    start = time.perf_counter()
    found = session.run("y:0")
    return found, time.perf_counter() - start


def _alike(found: Any, expected: Any) -> bool:
    import numpy as np

    same = np.shape(found) == np.shape(expected)
    return same and bool(np.allclose(found, expected, rtol=1e-3, atol=1e-3, equal_nan=True))


def _graph_of(op: OpDef) -> Graph | None:
    """A graph whose node ``y`` is of the op, of matrices of ones; None where that cannot be."""
    import numpy as np

    from drystone_base.core.dtypes import FLOAT32
    from drystone_base.graph import Graph
    from drystone_base.graph.validate import validate
    from drystone_base.ops.attrs import TensorAttr

    attrs: dict[str, Any] = {}
    for name, one in op.attrs.items():
        if one.type == "type":
            attrs[name] = FLOAT32
        elif not one.has_default:
            return None
    if not op.inputs or len(op.outputs) != 1:
        return None
    graph = Graph()
    value = TensorAttr(array=np.ones((2, 2), np.float32))
    x = graph.add("Const", "x", attrs={"dtype": FLOAT32, "value": value})
    graph.add(op.name, "y", [(x, 0)] * len(op.inputs), attrs=attrs)
    return graph if not _errors(validate, graph) else None


def _errors(validate: Any, graph: Graph) -> bool:
    from drystone_base.core.errors import DrystoneError

    try:
        validate(graph)
    except DrystoneError:
        return True
    return False


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def loop_graph(last: int, frame: str = "loop") -> Graph:
    """A graph whose node ``result`` is the sum of 1..last, by a loop of frames."""
    import numpy as np

    from drystone_base.core.dtypes import INT32
    from drystone_base.graph import Graph
    from drystone_base.ops.attrs import TensorAttr

    graph = Graph()
    typed = {"T": INT32}

    def constant(name: str, value: int, *controls: Any) -> Any:
        tensor = TensorAttr(array=np.array(value, np.int32))
        attrs = {"dtype": INT32, "value": tensor}
        return graph.add("Const", name, controls=controls, attrs=attrs)

    def entered(name: str, value: int) -> Any:
        stated = typed | {"frame_name": frame}
        return graph.add("Enter", f"{name}/enter", [constant(name, value)], attrs=stated)

    starts = {"k": entered("k", 0), "sum": entered("sum", 0)}
    merges = {
        n: graph.add("Merge", f"{n}/merge", [e, e], attrs=typed | {"N": 2})
        for n, e in starts.items()
    }
    limit = constant("limit", last, merges["k"])
    more = graph.add("Less", "less", [merges["k"], limit], attrs=typed)
    going = graph.add("LoopCond", "going", [more])
    switches = {
        n: graph.add("Switch", f"{n}/switch", [m, going], attrs=typed) for n, m in merges.items()
    }
    one = constant("one", 1, switches["k"])
    following = graph.add("AddV2", "k/add", [(switches["k"], 1), one], attrs=typed)
    total = graph.add("AddV2", "sum/add", [(switches["sum"], 1), following], attrs=typed)
    for name, value in (("k", following), ("sum", total)):
        back = graph.add("NextIteration", f"{name}/next", [value], attrs=typed)
        graph.set_input(merges[name], 1, (back, 0))
    graph.add("Exit", "result", [(switches["sum"], 0)], attrs=typed)
    return graph
