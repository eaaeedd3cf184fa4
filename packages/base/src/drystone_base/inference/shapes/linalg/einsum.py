"""Shape of Einsum."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.ops.einsum_labels import Label, expand, parse

__all__: list[str] = []


@shape("Einsum")
def einsum(c: ShapeCall) -> list[Shape]:
    """One dimension per output label; unknown while ``...`` covers an operand of unknown rank."""
    equation = parse(c.attrs["equation"], len(c.shapes), c.fail)
    terms, output = equation
    known = [(t, s) for t, s in zip(terms, c.shapes, strict=True) if s is not None]
    hidden = len(known) < len(terms)
    if hidden and "..." in output:
        return [None]
    labels, out = expand(([t for t, _ in known], output), [len(s) for _, s in known], c.fail)
    sizes: dict[Label, int] = {}
    for names, (_, dims) in zip(labels, known, strict=True):
        for label, dim in zip(names, dims, strict=True):
            sizes[label] = _join(c, label, sizes.get(label), dim)
    return [tuple(sizes.get(label, UNKNOWN) for label in out)]


def _join(c: ShapeCall, label: Label, known: int | None, dim: int) -> int:
    if known is None:
        return dim
    if isinstance(label, str):
        return c.merge_dim(known, dim)
    joined = c.broadcast((known,), (dim,))
    return UNKNOWN if joined is None else joined[0]
