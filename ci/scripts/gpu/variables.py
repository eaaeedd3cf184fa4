"""Rows of variables on the device ``GPU``: read by indices, and changed."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu.check import differs
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

__all__ = ["VARIABLES"]

Array = np.ndarray[Any, Any]
_FLOAT: Final = ds.as_dtype("float32")
_WHOLE: Final = ds.as_dtype("int32")
_FIRST: Final = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
_PLACES: Final = np.array([2, 0, 2], np.int32)


def _graph(op: str) -> Graph:
    """``init``, ``step`` by ``op``, and ``rows`` of what the variable is then."""
    graph = Graph()
    is_ref = op.startswith("Scatter")
    whole = {"dtype": _FLOAT, "shape": (4, 3), "container": "", "shared_name": "v"}
    variable = graph.add("VariableV2" if is_ref else "VarHandleOp", "v", attrs=whole)
    first = graph.add("Const", "first", attrs={"dtype": _FLOAT, "value": TensorAttr(array=_FIRST)})
    places = _fed(graph, "places", _WHOLE)
    by = _fed(graph, "by", _FLOAT)
    if is_ref:
        graph.add("Assign", "init", [variable, first], attrs={"T": _FLOAT})
        attrs = {"T": _FLOAT, "Tindices": _WHOLE}
        graph.add(op, "step", [variable, places, by], attrs=attrs)
        read = graph.add("Identity", "now", [variable], attrs={"T": _FLOAT})
        kinds = {"Tparams": _FLOAT, "Tindices": _WHOLE}
        graph.add("Gather", "rows", [read, places], attrs=kinds)
        return graph
    graph.add("AssignVariableOp", "init", [variable, first], attrs={"dtype": _FLOAT})
    attrs = {"dtype": _FLOAT, "Tindices": _WHOLE}
    graph.add(op, "step", [variable, places, by], attrs=attrs)
    graph.add("ResourceGather", "rows", [variable, places], attrs=attrs)
    graph.add("ReadVariableOp", "now", [variable], attrs={"dtype": _FLOAT})
    return graph


def _fed(graph: Graph, name: str, dtype: Any) -> Node:
    return graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": None})


def _scattered(op: str) -> str:
    """What the op leaves, and its rows; one place comes twice, and a number stands for all rows."""
    wants: list[Any] = []
    gots: list[Any] = []
    for is_here, found in ((True, wants), (False, gots)):
        config = ds.SessionConfig(
            optimizer="off", subgraphs="off", executor="reference" if is_here else "native"
        )
        session = ds.Session(_graph(op), config)
        session.run("init")
        for by in (np.full((3, 3), 0.5, np.float32), np.float32(2.0)):
            feeds = {"places:0": _PLACES, "by:0": np.asarray(by)}
            session.run("step", feeds)
            found += session.run(["now:0", "rows:0"], feeds)
        if is_here:
            continue
        with session.record() as record:
            session.run(["step", "rows:0"], feeds)
        ran = {node.op for node in record.nodes if node.on_device is not None}
        if op not in ran or not ran & {"ResourceGather", "Gather"}:
            return f"on the device: {sorted(ran)}"
    pairs = zip(gots, wants, strict=True)
    return next(filter(None, (differs(np.asarray(a), np.asarray(b), 1e-5) for a, b in pairs)), "")


def _out_of_range(op: str) -> str:
    """A row that there is not is an error, of the node; a step does not leave it out."""
    for place in (-1, 4):
        session = ds.Session(_graph(op), ds.SessionConfig(optimizer="off", subgraphs="off"))
        session.run("init")
        by = np.ones((1, 3), np.float32)
        feeds = {"places:0": np.array([place], np.int32), "by:0": by}
        for fetch, node in (("rows:0", "rows"), ("step", "step")):
            try:
                session.run(fetch, feeds)
            except DrystoneError as error:
                if node not in str(error):
                    return f"of {fetch} at {place} it says {error}"
            else:
                return f"no error of {fetch} at {place}"
    return ""


VARIABLES: Final = {
    f"variables: {op}{what}": partial(check, op)
    for op in ("ResourceScatterAdd", "ResourceScatterSub", "ScatterAdd", "ScatterSub")
    for what, check in (("", _scattered), (" out of range", _out_of_range))
}
"""What is checked, by title; each gives what is wrong."""
