"""Ops that write or accumulate elements by index, into tensors and variables.

``Scatter*`` take row numbers, ``*Nd*`` index vectors. Where an index repeats, accumulation sees
every update; for ``Update`` the last one stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_base.kernels._indices import bad_rows, check_below, int_vector
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._pieces import elements
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.state.variables import Variable, resource_of

__all__: list[str] = []

Write: TypeAlias = Callable[[Array, Array, Array], None]
"""Changes ``target`` [m, k] in place at ``rows`` [n] by ``updates`` [n, k]."""


def _update(target: Array, rows: Array, updates: Array) -> None:
    target[rows] = updates


def _divide(target: Array, rows: Array, updates: Array) -> None:
    if target.dtype.kind not in "iu":
        np.divide.at(target, rows, updates)
        return
    for row, update in zip(elements(rows), updates, strict=True):
        # Integers divide towards zero.
        quotient = np.abs(target[row]) // np.abs(update)
        target[row] = np.where((target[row] < 0) == (update < 0), quotient, -quotient)


def _add(target: Array, rows: Array, updates: Array) -> None:
    if target.dtype == object:
        for row, update in zip(elements(rows), updates, strict=True):
            target[row] = target[row] + update
        return
    np.add.at(target, rows, updates)


def _extreme(better: Any, whole: Any) -> Write:
    """The smaller or larger one; of numbers of which one is NaN the one that is there stays."""

    def write(target: Array, rows: Array, updates: Array) -> None:
        if target.dtype.kind in "iu":
            whole.at(target, rows, updates)
            return
        for row, update in zip(elements(rows), updates, strict=True):
            target[row] = np.where(better(update, target[row]), update, target[row])

    return write


_WRITES: Final[dict[str, Write]] = {
    "Update": _update,
    "Add": _add,
    "Sub": np.subtract.at,
    "Mul": np.multiply.at,
    "Div": _divide,
    "Min": _extreme(np.less, np.minimum),
    "Max": _extreme(np.greater, np.maximum),
}


def _write_of(call: Call, dtype: np.dtype[Any]) -> Write:
    """The operation that the op's name ends with; what is not a number can only be replaced."""
    name = next(name for name in _WRITES if call.op.endswith(name))
    call.require(
        dtype.kind not in "Ob" or name == "Update",
        "only numbers can be accumulated",
        found=dtype,
        needed="a numeric type",
        status="INVALID_ARGUMENT" if call.op.startswith("Inplace") else "UNIMPLEMENTED",
    )
    return _WRITES[name]


@quiet
def _into_rows(call: Call, value: Array, indices: Array, updates: Array) -> Array:
    """A copy of ``value`` with rows changed; a scalar update stands for every element."""
    call.require(value.ndim >= 1, "the variable must not be a scalar", found=[], needed="rank 1+")
    wanted = indices.shape + value.shape[1:]
    call.require(
        updates.ndim == 0 or updates.shape == wanted,
        "updates must have the shape of the indices, then that of a row",
        found=list(updates.shape),
        needed=list(wanted),
    )
    check_below(call, indices, value.shape[0])
    write = _write_of(call, value.dtype)
    if call.op == "ResourceScatterDiv" or (call.op == "ScatterDiv" and value.dtype.kind in "iu"):
        call.require(updates.all(), "updates must not contain 0", found=0, needed="not 0")
    out = value.copy()
    inner = math.prod(value.shape[1:])
    flat_updates = np.broadcast_to(updates, wanted).reshape(indices.size, inner)
    write(out.reshape(value.shape[0], inner), indices.reshape(-1), flat_updates)
    return out


@kernel(
    "ScatterUpdate", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterMin",
    "ScatterMax",
)  # fmt: skip
def scatter(call: Call, ref: Variable, indices: Array, updates: Array) -> Variable:
    """Change rows of a reference variable; returns it."""
    with ref.lock:
        ref.write(_into_rows(call, ref.read(), indices, updates))
    return ref


@kernel(
    "ResourceScatterUpdate", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterMul",
    "ResourceScatterDiv", "ResourceScatterMin", "ResourceScatterMax",
)  # fmt: skip
def resource_scatter(call: Call, handle: Array, indices: Array, updates: Array) -> tuple[()]:
    """Change rows of a resource variable."""
    scatter(call, resource_of(handle, Variable), indices, updates)
    return ()


@quiet
def _into_places(call: Call, out: Array, indices: Array, updates: Array, write: Write) -> Array:
    """``out`` (owned by the caller) changed at index vectors."""
    call.require(
        indices.ndim >= 2 and (indices.size or not updates.size),
        "indices must hold at least one index vector, in rank 2 or more",
        found=list(indices.shape),
        needed="[..., n, k]",
    )
    depth = indices.shape[-1]
    call.require(
        out.size or not (indices.size or updates.size),
        "a tensor without elements takes no indices",
        found=f"{list(indices.shape)} indices for {list(out.shape)}",
        needed="no indices",
    )
    call.require(
        depth <= out.ndim,
        "an index must not be longer than the rank of the tensor",
        found=depth,
        needed=f"at most {out.ndim}",
    )
    limits, inner = out.shape[:depth], out.shape[depth:]
    call.require(
        updates.shape == indices.shape[:-1] + inner,
        "updates must have the shape of the indices, then that of a slice",
        found=list(updates.shape),
        needed=list(indices.shape[:-1] + inner),
    )
    ignore = call.attrs.get("bad_indices_policy") == "IGNORE"
    good = ~bad_rows(call, indices, limits, ignore=ignore).reshape(-1)
    places = np.zeros(indices.shape[:-1], np.int64)
    for k, size in enumerate(limits):
        places = places * size + indices[..., k]
    width = math.prod(inner)
    flat_updates = updates.reshape(places.size, width)
    target = out.reshape(math.prod(limits), width)
    write(target, places.reshape(-1)[good], flat_updates[good])
    return out


@kernel("ScatterNd")
def scatter_nd(call: Call, indices: Array, updates: Array, shape: Array) -> Array:
    """Zeros of ``shape`` with the updates added at index vectors."""
    dims = check_size(call, int_vector(call, shape, "shape"), updates.dtype)
    out = np.zeros(dims, updates.dtype)
    if out.dtype == object:
        out[...] = b""
    return _into_places(call, out, indices, updates, _add)


@kernel(
    "TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMin",
    "TensorScatterMax",
)  # fmt: skip
def tensor_scatter(call: Call, tensor: Array, indices: Array, updates: Array) -> Array:
    """A copy of ``tensor`` changed at index vectors."""
    return _into_places(call, tensor.copy(), indices, updates, _write_of(call, tensor.dtype))


@kernel("ScatterNdNonAliasingAdd")
def scatter_nd_non_aliasing_add(call: Call, x: Array, indices: Array, updates: Array) -> Array:
    """A copy of ``x`` with the updates added at index vectors."""
    return _into_places(call, x.copy(), indices, updates, _add)


@kernel("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdSub", "ScatterNdMin", "ScatterNdMax")
def ref_scatter_nd(call: Call, ref: Variable, indices: Array, updates: Array) -> Variable:
    """Change a reference variable at index vectors; returns it."""
    with ref.lock:
        value = ref.read().copy()
        ref.write(_into_places(call, value, indices, updates, _write_of(call, value.dtype)))
    return ref


@kernel(
    "ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceScatterNdSub",
    "ResourceScatterNdMin", "ResourceScatterNdMax",
)  # fmt: skip
def resource_scatter_nd(call: Call, handle: Array, indices: Array, updates: Array) -> tuple[()]:
    """Change a resource variable at index vectors."""
    ref_scatter_nd(call, resource_of(handle, Variable), indices, updates)
    return ()


@kernel("InplaceUpdate", "InplaceAdd", "InplaceSub")
def inplace(call: Call, x: Array, rows: Array, values: Array) -> Array:
    """``x`` with rows replaced, raised or lowered by ``values``; a new tensor, despite the name.

    Row numbers are taken modulo the number of rows.
    """
    numbers = np.array(int_vector(call, rows, "i"), np.int64)
    call.require(
        x.ndim >= 1 and values.shape == (numbers.size, *x.shape[1:]),
        "v must hold one row of x for each row number",
        found=list(values.shape),
        needed=[numbers.size, *x.shape[1:]],
    )
    call.require(
        x.shape[0] or not numbers.size, "x must have rows to change", found=0, needed="1 or more"
    )
    out = x.copy()
    width = math.prod(x.shape[1:])
    wrapped = numbers % max(x.shape[0], 1)
    write = _write_of(call, x.dtype)
    write(out.reshape(x.shape[0], width), wrapped, values.reshape(numbers.size, width))
    return out
