"""Ops that carry axes and vectors from one data format to another."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import check_below
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


def _formats(call: Call) -> tuple[str, str]:
    source, target = call.attrs["src_format"], call.attrs["dst_format"]
    call.require(
        len(source) in (4, 5) and sorted(source) == sorted(target) == sorted(set(source)),
        "formats must be permutations of each other, of 4 or 5 letters",
        found=f"{source} and {target}",
        needed="for example NHWC and NCHW",
    )
    return source, target


@kernel("DataFormatDimMap")
def data_format_dim_map(call: Call, x: Array) -> Array:
    """Axes of a tensor in ``src_format`` as axes of the same in ``dst_format``; -1 is the last."""
    source, target = _formats(call)
    rank = len(source)
    check_below(call, x + rank, 2 * rank, "axes plus the rank")
    places = np.array([target.index(letter) for letter in source], x.dtype)
    return np.asarray(places[x])


@kernel("DataFormatVecPermute")
def data_format_vec_permute(call: Call, x: Array) -> Array:
    """A vector [rank] or matrix [rank, 2] of one entry for each dimension, in the other order.

    Without entries for batch and channel it is as long as the space dimensions.
    """
    source, target = _formats(call)
    rows = len(x) if x.ndim else 0
    call.require(
        x.ndim in (1, 2)
        and rows in (len(source), len(source) - 2)
        and (x.ndim == 1 or x.shape[1] == 2),
        "the input must hold one number (or two) for each dimension",
        found=list(x.shape),
        needed=f"[{len(source)}] or [{len(source) - 2}], perhaps by 2",
    )
    if rows == len(source) - 2:
        source, target = (
            "".join(letter for letter in form if letter not in "NC") for form in (source, target)
        )
        call.require(
            len(source) == rows, "formats must name N and C", found=source, needed="N and C"
        )
    return x[[source.index(letter) for letter in target]]
