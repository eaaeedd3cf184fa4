"""Ragged tensors packed into variants, whole or row by row, and unpacked again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import register_variant
from drystone_base.kernels.sparse._sparse import check_splits
from drystone_base.state.variables import handle_array

__all__ = ["Ragged"]


@dataclass(frozen=True)
class Ragged:
    """What a variant of a ragged tensor holds: nested row splits, outermost first, and values."""

    splits: tuple[Array, ...]
    values: Array


register_variant(
    Ragged,
    zeros_like=lambda x: Ragged(x.splits, np.zeros_like(x.values)),
    add=lambda a, b: Ragged(a.splits, a.values + b.values),
)


def _rows(call: Call, whole: Ragged) -> list[Ragged]:
    """The rows of a ragged tensor, or of a plain one that has no splits."""
    if not whole.splits:
        call.require(whole.values.ndim, "a batch must not be a scalar", found=[], needed="rank 1+")
        return [Ragged((), whole.values[k, ...]) for k in range(len(whole.values))]
    out = []
    for low, high in itertools.pairwise(whole.splits[0].tolist()):
        inner = []
        for splits in whole.splits[1:]:
            part = splits[low : high + 1]
            inner.append(part - part[0])
            low, high = int(part[0]), int(part[-1])
        out.append(Ragged(tuple(inner), whole.values[low:high]))
    return out


@kernel("RaggedTensorToVariant")
def ragged_to_variant(call: Call, *args: Array) -> Array:
    """A scalar variant of a ragged tensor, or with ``batched_input`` a vector of one per row."""
    nested, values = args[:-1], args[-1]
    sizes = [splits.size - 1 for splits in nested[1:]] + [len(values) if values.ndim else 0]
    for splits, size in zip(nested, sizes, strict=False):
        check_splits(call, splits, size)
    whole = Ragged(tuple(nested), values)
    if not call.attrs["batched_input"]:
        return handle_array(whole)
    rows = _rows(call, whole)
    out = np.empty(len(rows), dtype=object)
    for k, row in enumerate(rows):
        out[k] = row
    return out


def _stacked(call: Call, parts: Sequence[Ragged], depth: int) -> tuple[list[Array], Array]:
    """Ragged tensors of one depth as the rows of another one."""
    dtype = call.attrs["Tsplits"].np
    kind = call.attrs["Tvalues"].np
    counts = [p.splits[0].size - 1 if p.splits else len(p.values) for p in parts]
    out = [np.array([0, *itertools.accumulate(counts)], dtype)]
    for level in range(depth):
        ends = np.array([0, *itertools.accumulate(int(p.splits[level][-1]) for p in parts)], dtype)
        shifted = [p.splits[level][1:] + e for p, e in zip(parts, ends[:-1], strict=True)]
        out.append(np.concatenate([np.zeros(1, dtype), *shifted]).astype(dtype))
    values = np.concatenate([p.values for p in parts]) if parts else np.empty(0, kind)
    return out, values


@kernel("RaggedTensorFromVariant")
def ragged_from_variant(call: Call, encoded: Array) -> list[Array]:
    """The ragged tensor of a scalar variant; an array of variants adds its dimensions as splits."""
    parts = list(encoded.reshape(-1))
    call.require(
        all(isinstance(p, Ragged) for p in parts),
        "the variants must hold ragged tensors",
        found=sorted({type(p).__name__ for p in parts}),
        needed="the output of RaggedTensorToVariant",
    )
    total = call.attrs["output_ragged_rank"]
    depth = total - encoded.ndim
    call.require(
        depth >= 0
        and call.attrs["input_ragged_rank"] in (-1, depth)
        and all(len(p.splits) == depth for p in parts),
        "the ragged ranks must add up",
        found=f"variants of rank {sorted({len(p.splits) for p in parts})}, in {encoded.ndim} dims",
        needed=f"rank {depth} for output_ragged_rank {total}",
    )
    if not encoded.ndim:
        return [*parts[0].splits, parts[0].values]
    call.require(
        all(p.values.ndim and p.values.shape[1:] == parts[0].values.shape[1:] for p in parts),
        "the values must have one shape but for their number",
        found=[list(p.values.shape) for p in parts[:5]],
        needed="rank 1 or more, equal inner dimensions",
    )
    splits, values = _stacked(call, parts, depth)
    outer = [
        np.arange(int(np.prod(encoded.shape[:k])) + 1, dtype=call.attrs["Tsplits"].np)
        * encoded.shape[k]
        for k in range(1, encoded.ndim)
    ]
    return [*outer, *splits, values]


@kernel("RaggedTensorToVariantGradient")
def ragged_to_variant_grad(call: Call, encoded: Array, splits: Array, shape: Array) -> Array:
    """The gradients of all rows put together to the shape of the values."""
    dtype = call.attrs["Tvalues"].np
    rows = [r.values if isinstance(r, Ragged) else None for r in encoded.reshape(-1)]
    counts = np.diff(splits).tolist() if splits.size else [1] * len(rows)
    call.require(
        len(counts) == len(rows),
        "there must be one gradient for each row",
        found=len(rows),
        needed=len(counts),
    )
    dims = tuple(shape.tolist())
    inner = dims[1:]
    parts = [
        np.zeros((n, *inner), dtype) if row is None else row.reshape(n, *inner)
        for row, n in zip(rows, counts, strict=True)
    ]
    joined = np.concatenate(parts) if parts else np.zeros((0, *inner), dtype)
    call.require(
        joined.shape == dims,
        "the gradients must fill the values",
        found=list(joined.shape),
        needed=list(dims),
    )
    return joined
