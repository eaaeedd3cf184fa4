"""``drystone_tvm.compile``: a function, or a region of a graph, as a library."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import drystone_base as ds
from drystone_base import Graph, Node
from drystone_base.graph import Output
from drystone_base.graph.validate import output_dtypes
from drystone_tvm.compiling.building import build, checked_target, require_tvm
from drystone_tvm.compiling.emission import Argument
from drystone_tvm.compiling.rules import Refusal
from drystone_tvm.module import CompiledFunction

__all__ = ["Region", "compile_region", "refused"]


class Region(NamedTuple):
    """What computes ``outputs`` from ``inputs`` in a graph: tensors, as text or outputs."""

    graph: Graph
    inputs: Sequence[Output | Node | str]
    outputs: Sequence[Output | Node | str]


def compile_region(
    function: Callable[..., Any] | ds.Function | ds.Traced | Region,
    *specs: Any,
    path: str | os.PathLike[str],
    target: str = "llvm",
    name: str = "main",
) -> CompiledFunction:
    """Compile a function, or a region of a graph, to a library of one function.

    ``function`` is traced for ``specs``, a :class:`drystone.Spec` or an array for each argument;
    a ``Region`` has its own inputs. Sizes that are not known may be any in a call. ``path`` is the
    shared object to write, which states names, dtypes and shapes, and is called where TVM is not
    installed. ``target``: ``"llvm"`` for every processor of this architecture, ``"native"`` for
    this very one, ``"cuda"`` for GPUs of NVIDIA, which needs nvcc. Element-wise steps leave no
    tensor behind; an index of ``Gather`` that is out of range gives 0. Raises ``BadRequest``:
    ``not-compiled`` that names the op which has no rule, ``package-missing`` without TVM (``pip
    install drystone-tvm[compile]``), a C compiler or nvcc, ``unknown-target``. Source: TVM's
    tensor expressions and TIR.
    """
    checked_target(target)
    require_tvm()
    graph, inputs, outputs = _parts(function, specs)
    known = ds.infer(graph)
    arguments = [_argument(name, output, known) for name, output in inputs]
    where = Path(os.path.abspath(os.fspath(path)))
    try:
        form = build(graph, arguments, outputs, where, function=name, target=target)
    except Refusal as error:
        raise refused(error) from error
    return CompiledFunction(str(where), name, form)


def refused(error: Refusal) -> ds.BadRequest:
    """The error that says which op has no rule."""
    return ds.BadRequest(
        "a region cannot be compiled",
        check="each op of a region must have a rule, for sizes that are known or an argument's",
        found=str(error),
        needed="ops that drystone_tvm has rules for (docs/how-to/tvm.md lists them)",
        remedy="leave that node out of the region: drystone runs it beside compiled functions",
        code="not-compiled",
        status="UNIMPLEMENTED",
        inner=error,
    )


_Named = list[tuple[str, Output]]


def _parts(function: Any, specs: Sequence[Any]) -> tuple[Graph, _Named, _Named]:
    """The graph with named inputs and outputs."""
    if isinstance(function, Region):
        graph = function.graph
        ends = [_named(graph, given) for given in (function.inputs, function.outputs)]
        return graph, ends[0], ends[1]
    traced = function
    if not isinstance(function, ds.Traced):
        traceable = function if isinstance(function, ds.Function) else ds.function(function)
        traced = traceable.trace(*specs) if specs else traceable.only()
    graph = traced.graph
    given, results = traced.signature()
    return graph, *([(n, graph.output(t)) for n, t in part.items()] for part in (given, results))


def _named(graph: Graph, given: Sequence[Output | Node | str]) -> _Named:
    found = [
        graph.output(one) if isinstance(one, str) else (one, 0) if isinstance(one, Node) else one
        for one in given
    ]
    return [(node.name if not k else f"{node.name}:{k}", (node, k)) for node, k in found]


def _argument(name: str, output: Output, known: ds.Inference) -> Argument:
    dims, types = known.shape(output), output_dtypes(output[0])
    if dims is None:
        raise refused(Refusal(output[0], "the rank of an input is not known"))
    dtype = str(types[output[1]].base) if types is not None else "an unknown dtype"
    return Argument(output, name, dtype, tuple(dims))
