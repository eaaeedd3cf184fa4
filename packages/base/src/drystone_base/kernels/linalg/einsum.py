"""Einsum of one or two operands, reduced to batched matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.ops.einsum_labels import Label, expand, parse

__all__ = ["einsum"]

Labels: TypeAlias = Sequence[Label]


@kernel("Einsum")
@quiet
def einsum(call: Call, *operands: Array) -> Array:
    """Sums of products by index labels, ``...`` and repeated labels included; TF ``Einsum``."""
    equation = parse(call.attrs["equation"], len(operands), call.fail)
    terms, output = expand(equation, [x.ndim for x in operands], call.fail)
    sizes = _label_sizes(call, terms, operands)
    unique = list(dict.fromkeys(output))
    dtype = operands[0].dtype
    wide = [widen(x) for x in operands]
    if len(operands) == 1:
        result = _reduced(wide[0], terms[0], unique)
    else:
        result = _pair(wide, terms, unique)
    result = np.broadcast_to(result, [sizes[label] for label in unique])
    return _spread(result, unique, output).astype(dtype)


def _label_sizes(
    call: Call, terms: Sequence[Labels], operands: Sequence[Array]
) -> dict[Label, int]:
    sizes: dict[Label, int] = {}
    for labels, x in zip(terms, operands, strict=True):
        for label, size in zip(labels, x.shape, strict=True):
            known = sizes.setdefault(label, size)
            fits = known == size or (isinstance(label, int) and 1 in (known, size))
            call.require(
                fits,
                "a label must stand for one size",
                found=f"label {label!r}: {known} and {size}",
                needed="equal sizes",
            )
            sizes[label] = size if known == 1 else known
    return sizes


def _reduced(x: Array, labels: Labels, keep: Labels) -> Array:
    """``x`` with repeated labels taken on the diagonal and labels outside ``keep`` summed away."""
    if list(labels) == list(keep):
        return x
    numbers = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    wanted = [numbers[label] for label in keep]
    return np.asarray(np.einsum(x, [numbers[label] for label in labels], wanted))


def _pair(operands: Sequence[Array], terms: Sequence[Labels], output: Labels) -> Array:
    """The product of two operands over their shared labels, in the order of ``output``."""
    first, second = terms
    both = set(first) & set(second)
    batch = [label for label in output if label in both]
    inner = [label for label in dict.fromkeys(first) if label in both and label not in output]
    left = [label for label in output if label in first and label not in both]
    right = [label for label in output if label in second and label not in both]
    x = _reduced(operands[0], first, [*batch, *left, *inner])
    y = _reduced(operands[1], second, [*batch, *inner, *right])
    depth = len(batch)
    lead_x, lead_y = x.shape[:depth], y.shape[:depth]
    split = depth + len(left)
    rows, columns = x.shape[depth:split], y.shape[depth + len(inner) :]
    shared = np.broadcast_shapes(x.shape[split:], y.shape[depth : depth + len(inner)])
    x = np.broadcast_to(x, (*lead_x, *rows, *shared))
    y = np.broadcast_to(y, (*lead_y, *shared, *columns))
    size = math.prod(shared)
    flat = np.matmul(
        x.reshape((*lead_x, math.prod(rows), size)),
        y.reshape((*lead_y, size, math.prod(columns))),
    )
    whole = flat.reshape((*flat.shape[:depth], *rows, *columns))
    order = [*batch, *left, *right]
    return np.transpose(whole, [order.index(label) for label in output])


def _spread(x: Array, unique: Labels, output: Labels) -> Array:
    """``x`` on the diagonals of a zero array where ``output`` repeats labels."""
    if len(unique) == len(output):
        return x
    sizes = dict(zip(unique, x.shape, strict=True))
    whole = np.zeros([sizes[label] for label in output], x.dtype)
    grids = dict(zip(unique, np.ogrid[tuple(slice(n) for n in x.shape)], strict=True))
    whole[tuple(grids[label] for label in output)] = x
    return whole
