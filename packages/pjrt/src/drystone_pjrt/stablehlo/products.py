"""Matrix products, as ``dot_general``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.graph import Node
from drystone_pjrt.stablehlo.complex_numbers import conjugate
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer

__all__ = ["HIGHEST", "product"]

HIGHEST = "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"
"""Products in the operands' own type, not in a shorter one that a device has."""


def product(
    w: Writer,
    left: Value,
    right: Value,
    over: tuple[Sequence[int], Sequence[int]],
    batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Value:
    """Sums of products over pairs of dimensions: first those of ``batch``, then what is left."""
    rest = [
        [size for k, size in enumerate(value.shape) if k not in (*gone, *kept)]
        for value, gone, kept in zip((left, right), over, batch, strict=True)
    ]
    shape = (*(left.shape[k] for k in batch[0]), *rest[0], *rest[1])
    named = zip(
        ("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
         "rhs_contracting_dimensions"),
        (*batch, *over),
        strict=True,
    )  # fmt: skip
    parts = [f"{name} = [{', '.join(map(str, axes))}]" for name, axes in named if len(axes)]
    attrs = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(parts)}>, {HIGHEST}"
    return w.op("stablehlo.dot_general", [left, right], shape, attrs=attrs)


@emits("MatMul")
def matmul(w: Writer, s: Site) -> Value:
    """The product of two matrices, each as it is or transposed."""
    a, b = s.inputs
    return product(
        w, a, b, ([0 if s.attr("transpose_a") else 1], [1 if s.attr("transpose_b") else 0])
    )


def _one_type(node: Node) -> str:
    types = {str(t) for name in ("T", "Ta", "Tb", "Tout") if (t := node.attr(name)) is not None}
    return "" if len(types) == 1 else f"it is of {', '.join(sorted(types))}"


@emits("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", check=_one_type)
def batch_matmul(w: Writer, s: Site) -> Value:
    """Products of matrices, with dimensions in front that are brought to one shape."""
    a, b = s.inputs
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if not batch:
        left, right = a, b
    else:
        left, right = (w.broadcast(v, (*batch, *v.shape[-2:])) for v in (a, b))
    n = len(batch)
    over = [n if s.attr("adj_x") else n + 1], [n + 1 if s.attr("adj_y") else n]
    left = conjugate(w, left) if s.attr("adj_x") else left
    right = conjugate(w, right) if s.attr("adj_y") else right
    return product(w, left, right, over, (range(n), range(n)))


@emits("Einsum")
def einsum(w: Writer, s: Site) -> Value:
    """A product of two operands whose labels are letters, each once in an operand."""
    equation = s.attr("equation")
    text = equation.decode() if isinstance(equation, bytes) else equation
    terms, _, out = text.replace(" ", "").partition("->")
    labels = terms.split(",")
    if len(labels) != 2 or "." in text or any(len(set(t)) != len(t) for t in (*labels, out)):
        raise Refused(f"its equation is {text!r}")
    left, right = labels
    if any(t not in right + out for t in left) or any(t not in left + out for t in right):
        raise Refused(f"its equation is {text!r}")
    batch = [t for t in left if t in right and t in out]
    over = [t for t in left if t in right and t not in out]
    pairs = ([left.index(t) for t in over], [right.index(t) for t in over])
    kept = ([left.index(t) for t in batch], [right.index(t) for t in batch])
    made = product(w, s.inputs[0], s.inputs[1], pairs, kept)
    order = [*batch, *(t for t in left if t not in right), *(t for t in right if t not in left)]
    return w.transpose(made, [order.index(t) for t in out])
