"""One op as a program of its own, beside the reference kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.graph import Body, Graph
from drystone_base.graph.validate import definition_of
from drystone_base.kernels.evaluate import evaluate
from drystone_pjrt.api.client import Client
from drystone_pjrt.backend.executable import RegionExecutable
from drystone_pjrt.stablehlo.region import write_program
from drystone_subgraph import CompileInput, CompileRequest

__all__ = ["beside", "request"]

Array = np.ndarray[Any, Any]


def request(
    op: str, inputs: Sequence[Array], attrs: Mapping[str, Any], known: Sequence[int], outputs: int
) -> CompileRequest:
    """A region of one node; ``known``: inputs that are constants."""
    graph = Graph()
    args = [
        graph.add("_Arg", f"a{k}", attrs={"T": from_numpy(x.dtype), "index": k})
        for k, x in enumerate(inputs)
    ]
    node = graph.add(op, "y", args, attrs=dict(attrs))
    definition = definition_of(node)
    assert definition is not None
    types = definition.output_types(node.full_attrs())[:outputs]
    results = [
        graph.add("_Retval", f"r{k}", [(node, k)], attrs={"T": t, "index": k})
        for k, t in enumerate(types)
    ]
    given = [
        CompileInput(from_numpy(x.dtype), x.shape, x if k in known else None)
        for k, x in enumerate(inputs)
    ]
    return CompileRequest("one", Body(graph, args, results, []), given, types)


def beside(
    client: Client,
    op: str,
    inputs: Sequence[Any],
    attrs: Mapping[str, Any],
    known: Sequence[int] = (),
    outputs: int = 1,
) -> tuple[list[Array], list[Array]]:
    """What the program computes, and what the reference kernel does."""
    arrays = [np.asarray(x) for x in inputs]
    known = [k % len(arrays) for k in known]
    asked = request(op, arrays, attrs, known, outputs)
    node = asked.body.graph["y"]
    definition, full = definition_of(node), node.full_attrs()
    assert definition is not None
    count = len(definition.output_types(full))
    expected = evaluate("y", op, full, arrays, definition.input_slices(full), count)
    program = write_program(asked)
    made = RegionExecutable(client, client.compile(program.text.encode()), program, asked)
    found = made(arrays)
    for a, b in zip(found, expected, strict=False):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
    return found, expected[:outputs]
