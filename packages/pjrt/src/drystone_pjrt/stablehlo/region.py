"""A region as a program: its nodes in order, each by the emitter of its op."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.errors import DrystoneError, UnsupportedOp
from drystone_base.graph import Node, topological_order
from drystone_base.graph.validate import definition_of
from drystone_base.kernels.evaluate import evaluate
from drystone_pjrt.stablehlo.ops import EMITTERS, Emitter, Site, complex_use
from drystone_pjrt.stablehlo.writer import Argument, Refused, Value, Writer
from drystone_subgraph import CompileRequest

__all__ = ["Program", "emitters", "write_program"]

Array = np.ndarray[Any, Any]
_FAMILIES: Final = (
    "casts", "complex_numbers", "convolutions", "elementwise", "gathers", "gradients",
    "normalization", "pooling", "products", "reductions", "resizing", "scans", "scatters", "shapes",
    "softmaxes",
)  # fmt: skip
_LARGE: Final = 1 << 16
"""Bytes of a constant that the program rather computes, if it is much larger than what it is of."""


class Program(NamedTuple):
    """A program. ``arguments``: what it takes; ``results``: how many of its outputs are the
    region's; the others are conditions of a run, each with the ``checks``' text."""

    text: str
    arguments: list[Argument]
    results: list[tuple[tuple[int, ...], np.dtype[Any]]]
    checks: list[str]


def emitters() -> dict[str, Emitter]:
    """Every op that can be written."""
    for family in _FAMILIES:
        import_module(f"drystone_pjrt.stablehlo.{family}")
    return EMITTERS


def write_program(request: CompileRequest) -> Program:
    """The program of a region; raises ``UnsupportedOp`` that names the op that it cannot express.

    The region's graph is used up.
    """
    writer, values, known = Writer(), dict[Node, list[Value]](), emitters()
    for number, (node, given) in enumerate(zip(request.body.args, request.inputs, strict=True)):
        fixed = given.value is not None and not given.is_weight
        value = (
            writer.known(given.value)
            if fixed
            else writer.given(number, given.shape, given.dtype.np)
        )
        values[node] = [value]
    for node in topological_order(request.body.graph):
        if node not in values and node.op not in ("_Retval", "NoOp"):
            values[node] = _written(writer, node, values, known, request.name)
    results = [writer.named(_input(node, 0, values)) for node in request.body.results]
    text = writer.module(results)
    arguments = [argument for argument, _ in writer.arguments]
    types = [(value.shape, value.dtype) for value in results]
    return Program(text, arguments, types, [text for _, text in writer.checks])


def _input(node: Node, k: int, values: dict[Node, list[Value]]) -> Value:
    source, output = node.inputs[k]
    outputs = values[source]
    if output >= len(outputs):
        raise Refused(f"output {output} of {source.op} is not computed")
    return outputs[output]


def _written(
    w: Writer, node: Node, values: dict[Node, list[Value]], known: dict[str, Emitter], region: str
) -> list[Value]:
    """The outputs of a node; raises ``UnsupportedOp``."""
    if node.op == "Const":
        return [w.known(node.attr("value").array)]
    try:
        inputs = [_input(node, k, values) for k in range(len(node.inputs))]
        emitter = known.get(node.op)
        if inputs and all(value.known is not None for value in inputs):
            arrays = [value.known for value in inputs if value.known is not None]
            found = _folded(node, arrays)
            if emitter is None or not _is_spread(found, arrays):
                return [w.known(array) for array in found]
        if emitter is None:
            raise Refused("there is no way to write it")
        why = emitter.check(node) or complex_use(node.op, [value.dtype for value in inputs])
        if why:
            raise Refused(why)
        made = emitter.write(w, Site(w, node, inputs))
        return [made] if isinstance(made, Value) else list(made)
    except Refused as error:
        raise _unsupported(region, node, str(error)) from error


def _folded(node: Node, arrays: Sequence[Array]) -> list[Array]:
    """What the reference kernel computes of constants."""
    definition, attrs = definition_of(node), node.full_attrs()
    if definition is None:
        raise Refused("it is not known")
    count = len(definition.output_types(attrs))
    try:
        return evaluate(node.name, node.op, attrs, arrays, definition.input_slices(attrs), count)
    except DrystoneError as error:
        raise Refused(error.what) from error


def _is_spread(found: Sequence[Array], arrays: Sequence[Array]) -> bool:
    """Whether much was made of little."""
    size = sum(array.nbytes for array in found)
    return size > _LARGE and size > 2 * sum(array.nbytes for array in arrays)


def _unsupported(region: str, node: Node, why: str) -> UnsupportedOp:
    return UnsupportedOp(
        f"region {region!r} cannot be written as StableHLO",
        check="every op of a region must be one that StableHLO can express here",
        found=f"{node.op} (node {node.name!r}): {why}",
        needed=", ".join(sorted(EMITTERS)),
        remedy="leave the op out of the backend's regions: PartitionConfig(backends=('pjrt',), "
        f"exclude=({node.op!r},))",
        code="pjrt-op-not-expressed",
    )
