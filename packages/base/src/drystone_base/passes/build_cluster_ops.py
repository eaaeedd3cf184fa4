"""Calls of clusters become: compile, run what was compiled, or else call the function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from drystone_base.core import dtypes
from drystone_base.core.errors import BadRequest
from drystone_base.graph import FunctionLibrary, Node, Output
from drystone_base.graph.calls import BACKEND_ATTR
from drystone_base.ops.attrs import FunctionRef
from drystone_base.passes._bodies import with_bodies
from drystone_base.passes._cluster_state import without_state
from drystone_base.passes._clusters import CALL
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside, become_identity
from drystone_base.passes._types import Grouping, PassOptions
from drystone_base.passes.partitioning import check_backend
from drystone_base.state.compilers import find_compiler

__all__ = ["build_cluster_ops"]

_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


@graph_pass(Grouping.POST_REWRITE_FOR_EXEC, 50, name="BuildClusterOpsPass", is_default=False)
@with_bodies
def build_cluster_ops(options: PassOptions) -> bool:
    """Give the function of each cluster to a backend of drystone-subgraph, or to a compiler.

    Settings: ``backend``, the name of one that compiles: each call becomes an operator of it, which
    leaves to the host executor what the backend cannot do (``SessionConfig(subgraphs=...)`` says
    how long to wait). Or ``compiler``, the name under which a function was registered: a call
    becomes ``_XlaCompile``, which asks for what is compiled, and a Switch by its answer to
    ``_XlaRun`` or to the call; ``must_compile``: wait for it, and fail where it fails. Numeric
    class: theirs. Variables are read before a call and written after it; clusters in which that is
    another order stay calls. Raises ``BadRequest``: ``bad-pass-setting`` for a compiler that is not
    there, ``unknown-subgraph-backend``, ``no-subgraph-module``. Source: TensorFlow's
    ``BuildXlaOpsPass``.
    """
    assert options.graph is not None
    compiler = str(options.settings.get("compiler", ""))
    fed = {options.graph.output(name)[0] for name in options.feeds}
    found = [n for n in options.graph if n.op in _CALLS and n.states(CALL) and n not in fed]
    if not found:
        return False
    calls = [n for n in map(_without_state, found) if n is not None]
    backend = options.settings.get("backend")
    if backend is not None:
        check_backend(str(backend))
        for node in calls:
            options.graph.set_attr(node, BACKEND_ATTR, str(backend))
        return bool(calls)
    _check(compiler)
    attrs = {
        "_compiler": compiler,
        "_library": _fingerprint(options.library),
        "must_compile": bool(options.settings.get("must_compile", False)),
    }
    for node in calls:
        _apply(node, attrs)
    return bool(calls)


def _without_state(node: Node) -> Node | None:
    """A call that may be made once more where what was compiled fails; None: leave it alone."""
    return node if node.op == "PartitionedCall" else without_state(node)


def _fingerprint(library: FunctionLibrary) -> str:
    """Tells functions of one name in several libraries of a session apart."""
    found = hashlib.sha256()
    for function in library:
        found.update(function.proto.SerializeToString(deterministic=True))
    return found.hexdigest()


def _check(compiler: str) -> None:
    if find_compiler(compiler) is not None:
        return
    raise BadRequest(
        f"there is no compiler {compiler!r} for clusters",
        check="the setting 'compiler' must name one that was registered",
        found=repr(compiler),
        needed="a name that drystone_base.state.compilers.register_compiler was given",
        remedy='SessionConfig(passes={"BuildClusterOpsPass": {"compiler": NAME}})',
        code="bad-pass-setting",
    )


def _apply(node: Node, attrs: dict[str, Any]) -> None:
    graph, beside, function = node.graph, Beside(node.graph, node), node.attrs["f"]
    inputs, tin, tout = list(node.inputs), list(node.attrs["Tin"]), list(node.attrs["Tout"])
    asked = beside.add(
        "_XlaCompile", "compile", inputs, node.controls, Tconstants=[], Targs=tin, Nresources=0,
        function=function, **attrs,
    )  # fmt: skip
    ready: Output = (asked, 1)
    key = beside.add("Switch", "key", [(asked, 0), ready], T=dtypes.STRING)
    pivot = beside.add("Identity", "not_yet", [(key, 0)], T=dtypes.STRING)
    switches = [
        beside.add("Switch", f"input_{k}", [value, ready], T=dtype)
        for k, (value, dtype) in enumerate(zip(inputs, tin, strict=True))
    ]
    called = _call(beside, node.op, switches, pivot, function, (tin, tout))
    run = beside.add(
        "_XlaRun", "run", [*((s, 1) for s in switches), (key, 1)],
        Targs=tin, Tresults=tout, _function=function,
    )  # fmt: skip
    merges = [
        beside.add("Merge", f"output_{k}", [(called, k), (run, k)], T=dtype, N=2)
        for k, dtype in enumerate(tout)
    ]
    done = [beside.add("Identity", f"done_{k}", [value], [ran], T=dtypes.STRING)
            for k, (value, ran) in enumerate([((pivot, 0), called), ((key, 1), run)])]  # fmt: skip
    end = beside.add("Merge", "done", done, T=dtypes.STRING, N=2)
    become_identity(graph, node, [(merge, 0) for merge in merges], tout, [end])


def _call(
    beside: Beside, op: str, switches: Sequence[Node], pivot: Node, function: FunctionRef,
    types: tuple[list[Any], list[Any]],
) -> Node:  # fmt: skip
    inputs = [(switch, 0) for switch in switches]
    return beside.add(op, "call", inputs, [pivot], f=function, Tin=types[0], Tout=types[1])
