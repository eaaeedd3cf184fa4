"""One op run by drystone-cpu's kernel through a session: what the tests hold against TensorFlow."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import pytest

from drystone_base import plugins
from drystone_base._prepared import Prepared
from drystone_base.dtypes import as_dtype, from_numpy
from drystone_base.graph import Graph
from drystone_base.kernels._testing import _infer_attrs, as_array
from drystone_base.kernels.selection import registered
from drystone_base.ops.defs import op_def
from drystone_base.policy import Access
from drystone_base.session import Session, SessionConfig
from drystone_base.state import Variable

__all__ = ["NoNativeKernel", "load", "native_ops", "needs_onednn", "run_native"]


class NoNativeKernel(BaseException):
    """No kernel of drystone-cpu fits the node. No `except Exception` catches it."""


@cache
def load() -> None:
    """Load the plugin: the one that `$DRYSTONE_CPU_PLUGIN` names, else the installed one."""
    built = os.environ.get("DRYSTONE_CPU_PLUGIN")
    if built:
        plugins.load_library(built, policy="allow_unverified")
    else:
        plugins.ensure_loaded()


def native_ops() -> set[str]:
    """Ops that drystone-cpu has a kernel for."""
    load()
    return {
        op for op, rows in registered().items() if any("drystone_cpu" in r.library for r in rows)
    }


def needs_onednn() -> pytest.MarkDecorator:
    """A mark for tests of what is left out of a plugin that is built without oneDNN."""
    return pytest.mark.skipif(
        "Conv2D" not in native_ops(), reason="drystone-cpu was built without oneDNN"
    )


def run_native(op: str, *inputs: Any, **attrs: Any) -> list[Any]:
    """Outputs of one op, as :func:`drystone_base.kernels._testing.run_op` gives them.

    Raises ``NoNativeKernel`` when drystone-cpu has no kernel for these dtypes.
    """
    load()
    definition = op_def(op)
    values = [as_array(v) for v in inputs]
    types = {n for n, a in definition.attrs.items() if a.type == "type"}
    given = {k: as_dtype(v) if k in types else v for k, v in attrs.items()}
    for arg, value in zip(definition.inputs, values, strict=False):
        if arg.is_list:
            break
        if arg.type_attr and not isinstance(value, Variable):  # also where the op has a default
            given.setdefault(arg.type_attr, from_numpy(value.dtype))
    filled = _infer_attrs(definition, values, given)
    graph = Graph()
    wanted = definition.input_types(filled)
    feeds: dict[str, Any] = {}
    placeholders = []
    for k, (value, dtype) in enumerate(zip(values, wanted, strict=True)):
        held = dtype.base
        if not held.is_object and not isinstance(value, Variable) and value.dtype != held.np:
            held = from_numpy(value.dtype)
        placeholders.append(
            graph.add("Placeholder", f"in{k}", attrs={"dtype": held, "shape": None})
        )
        feeds[f"in{k}:0"] = value
    graph.add(op, "node", placeholders, attrs=filled)
    config = SessionConfig(executor="native", optimizer="off", access=Access.anywhere())
    session = Session(graph, config)
    count = len(definition.output_types(filled))
    fetches = [f"node:{k}" for k in range(count)] or ["node"]
    prepared = session._prepare(fetches, list(feeds))
    assert isinstance(prepared, Prepared)
    assert prepared.native is not None
    if not _is_native(prepared.native.describe()):
        raise NoNativeKernel(op)
    found = session.run(fetches, feeds)
    return [v for v in found if v is not None] if count else []


def _is_native(described: bytes) -> bool:
    instructions = json.loads(described)["blocks"][0]["instructions"]
    libraries = [i.get("library", "") for i in instructions if i["node"] == "node"]
    return any("drystone_cpu" in library for library in libraries)
