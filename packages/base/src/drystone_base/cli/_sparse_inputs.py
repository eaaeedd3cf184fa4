"""Which inputs of a signature are the indices, the values and the shape of one sparse tensor.

Names say it: TensorFlow 1 writes `x/indices`, `x/values`, `x/shape`, `tf.function` writes `x`,
`x_1`, `x_2`, people write `indices_of_x` or `xIndices`. What no name says the graph does: an op
reads the three as one tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from drystone_base.cli._readers import arrivals
from drystone_base.core.dtypes import INT64
from drystone_base.graph import Graph, Node
from drystone_base.loaders import TensorSpec
from drystone_base.ops.defs import find

__all__ = ["SparseInputs", "sparse_inputs"]

_WORDS: Final = (
    ("indices", "values", ("dense_shape", "shape")),
    ("Indices", "Values", ("DenseShape", "Shape")),
    ("INDICES", "VALUES", ("DENSE_SHAPE", "SHAPE")),
)
_SHAPES_OF_OPS: Final = ("shape", "shapes", "dense_shape", "output_shape")


class SparseInputs(NamedTuple):
    """The names of the three parts."""

    indices: str
    values: str
    shape: str


def sparse_inputs(
    inputs: Mapping[str, TensorSpec], graph: Callable[[], Graph]
) -> dict[str, SparseInputs]:
    """The parts by the name of each; ``graph`` is asked for where names leave it open."""
    found: dict[str, SparseInputs] = {}
    for parts in (*_named(inputs), *_numbered(inputs)):
        if _fit(inputs, parts) and not found.keys() & set(parts):
            found.update(dict.fromkeys(parts, parts))
    left = {name: spec for name, spec in inputs.items() if name not in found}
    if _can_have_parts(left):
        for parts in _read_together(left, graph()):
            if _fit(left, parts) and not found.keys() & set(parts):
                found.update(dict.fromkeys(parts, parts))
    return found


def _named(inputs: Mapping[str, TensorSpec]) -> Iterator[SparseInputs]:
    for name in inputs:
        for indices, values, shapes in _WORDS:
            head, word, tail = name.rpartition(indices)
            if word:
                others = (f"{head}{shape}{tail}" for shape in shapes)
                shape = next((other for other in others if other in inputs), "")
                yield SparseInputs(name, f"{head}{values}{tail}", shape)


def _numbered(inputs: Mapping[str, TensorSpec]) -> Iterator[SparseInputs]:
    """The names that ``tf.function`` gives: those of one argument, with numbers behind."""
    for name in inputs:
        parts = SparseInputs(name, f"{name}_1", f"{name}_2")
        ranks = [len(spec.shape or ()) for n in parts if (spec := inputs.get(n))]
        if ranks == [2, 1, 1]:
            yield parts


def _fit(inputs: Mapping[str, TensorSpec], parts: SparseInputs) -> bool:
    """Whether all names are inputs, with dtypes and shapes that one sparse tensor can have."""
    if len(set(parts)) < 3 or not inputs.keys() >= set(parts):
        return False
    indices, values, shape = (inputs[name] for name in parts)
    if not indices.dtype is INT64 is shape.dtype:
        return False
    ranks = zip((indices.shape, values.shape, shape.shape), (2, 1, 1), strict=True)
    if any(dims is not None and len(dims) != rank for dims, rank in ranks):
        return False
    stated = {d for dims in (indices.shape and indices.shape[1:], shape.shape) for d in dims or ()}
    return len({d for d in stated if d >= 0}) < 2


# ---- by use ------------------------------------------------------------------------------------


def _can_have_parts(inputs: Mapping[str, TensorSpec]) -> bool:
    """Whether some dtypes and shapes may be those of indices and of a shape."""
    whole = [spec.shape for spec in inputs.values() if spec.dtype is INT64]
    two = sum(dims is None or len(dims) == 2 for dims in whole)
    one = sum(dims is None or len(dims) == 1 for dims in whole)
    return len(inputs) >= 3 and len(whole) >= 2 and two > 0 and one > 0


def _read_together(inputs: Mapping[str, TensorSpec], graph: Graph) -> Iterator[SparseInputs]:
    """What an op reads as its arguments of one sparse tensor."""
    at: dict[tuple[Node, int], str] = {}
    for name, spec in inputs.items():
        for place in arrivals(graph, spec.tensor):
            at.setdefault(place, name)
    for node, slot in list(at):
        for values, shape in _siblings(node, slot):
            if (node, values) in at and (node, shape) in at:
                yield SparseInputs(at[node, slot], at[node, values], at[node, shape])


def _siblings(node: Node, slot: int) -> Iterator[tuple[int, int]]:
    """Where the values and the shape lie of the sparse tensor whose indices are at ``slot``."""
    definition = find(node.op)
    if definition is None:
        return
    slices = definition.input_slices(node.full_attrs())
    for name, place in slices.items():
        if not name.endswith("indices") or not place.start <= slot < place.stop:
            continue
        stem, several = name.removesuffix("indices"), slot - place.start
        values = slices.get(f"{stem}values")
        for word in _SHAPES_OF_OPS:
            shape = slices.get(f"{stem}{word}") or slices.get(word)
            if values and shape:
                yield values.start + several, shape.start + several
