"""Ops that TensorFlow puts in itself when it optimizes a graph, and a few that stand alone.

Source: TensorFlow ops ToBool, Fingerprint, Abort, _UnaryOpsComposition, ...
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UINT8,
)
from drystone_base.core.fingerprint import fingerprint64
from drystone_base.core.tensor import string_array
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, find_kernel, kernel
from drystone_base.kernels.array.cast import cast
from drystone_base.kernels.string.string_hash import fast
from drystone_base.ops.truth import truth
from drystone_base.state.variables import ResourceHandle, handle_array

__all__: list[str] = []

_COMPOSED: Final = frozenset(
    (
        "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu",
        "Exp", "Expm1", "Floor", "Inv", "Log", "Log1p", "Neg", "Reciprocal", "Relu", "Relu6",
        "Rint", "Round", "Rsqrt", "Selu", "Sigmoid", "Sin", "Sinh", "Sqrt", "Square", "Tan",
        "Tanh",
    )
)  # fmt: skip

_TRUE_OR_FALSE: Final = frozenset(
    (BOOL, STRING, FLOAT32, FLOAT64, INT8, UINT8, INT16, INT32, INT64)
)

_STARTED: Final = "parallel concatenation"

kernel("_HostCast")(cast)


@kernel("ToBool")
def to_bool(call: Call, x: Array) -> Array:
    """A bool scalar: whether a scalar is not zero or not empty, or a tensor has elements."""
    call.require(
        x.ndim or call.attrs["T"] in _TRUE_OR_FALSE,
        "this type cannot be true or false",
        found=x.dtype,
        needed="a number or a string",
    )
    return np.array(truth(x))


@kernel("Fingerprint")
def fingerprint(call: Call, data: Array, method: Array) -> Array:
    """Farm fingerprint of each row's bytes, uint8 [rows, 8]; of strings, that of theirs."""
    call.require(method.ndim == 0, "method must be a scalar", found=list(method.shape))
    name = method.item()
    call.require(name == b"farmhash64", "only one method is known", found=name, needed="farmhash64")
    call.require(data.ndim > 0, "data must have rows", found=list(data.shape), needed="rank 1")
    rows = data.reshape(len(data), int(np.prod(data.shape[1:])))
    if data.dtype == object and rows.shape[1] != 1:
        hashes = fingerprint64(rows.reshape(-1).tolist())
        rows = hashes.astype("<u8").reshape(rows.shape)
    texts = rows[:, 0].tolist() if rows.dtype == object else [row.tobytes() for row in rows]
    out: Array = fingerprint64(texts).astype("<u8").view(np.uint8).reshape(-1, 8)
    return out


@kernel("Abort")
def abort(call: Call) -> tuple[()]:
    """Always fails with ABORTED; TensorFlow ends the process, which a graph may not do here."""
    call.fail(
        "the graph aborts the run",
        found=call.attrs["error_msg"] or "no message",
        needed="a run that does not reach this node",
        status="ABORTED",
    )


@kernel("GraphDefVersion")
def graph_def_version(call: Call) -> Array:
    """The version that the graph was written with, int32 scalar."""
    return np.array(call.runtime.producer, np.int32)


@kernel("IsTensorFloat32Enabled")
def is_tensor_float_32_enabled(_: Call) -> Array:
    """True, TensorFlow's default; there is nothing here that would round to that type."""
    return np.array(True)


@kernel("_UnaryOpsComposition")
def unary_ops_composition(call: Call, x: Array) -> Array:
    """The input through each of the ops in ``op_names``."""
    names = call.attrs["op_names"]
    call.require(
        names and _COMPOSED.issuperset(names),
        "a composition is made of known ops",
        found=names,
        needed=", ".join(sorted(_COMPOSED)),
    )
    for name in names:
        function = find_kernel(name)
        assert function is not None
        step = Call(call.node, name, {"T": call.attrs["T"]}, call.runtime)
        x = function(step, x)
    return x


@kernel("_TensorToHashBucketFast")
def tensor_to_hash_bucket_fast(call: Call, x: Array) -> Array:
    """``StringToHashBucketFast`` of integers written in decimal."""
    texts = [b"%d" % value for value in x.reshape(-1).tolist()]
    buckets: Array = fast(call, string_array(texts, x.shape))
    return buckets


@kernel("_ParallelConcatStart")
def parallel_concat_start(call: Call) -> Array:
    """A tensor that ``_ParallelConcatUpdate`` fills, row by row."""
    dtype, shape = call.attrs["dtype"], call.attrs["shape"]
    dims = check_size(call, shape or (), dtype.np)
    empty = string_array([b""] * math.prod(dims), dims) if dtype is STRING else None
    made = np.zeros(dims, dtype.np) if empty is None else empty
    call.runtime.step.resources[_STARTED, id(made)] = made
    return made


@kernel("_ParallelConcatUpdate")
def parallel_concat_update(call: Call, value: Array, update: Array) -> Array:
    """``value`` with row ``loc`` replaced: in place where a start made it for all its updates."""
    rows = len(value) if value.ndim else 0
    call.require(rows, "there must be rows", found=list(value.shape), needed="rank 1 or more")
    call.require(
        update.shape == (1, *value.shape[1:]),
        "an update must be one row",
        found=list(update.shape),
        needed=[1, *value.shape[1:]],
    )
    started = call.runtime.step.resources.get((_STARTED, id(value))) is value
    whole = value if started else value.copy()
    whole[call.attrs["loc"] % rows] = update[0]
    return whole


class _WeakHandle(ResourceHandle):
    """A handle that TensorFlow would not count as a reference."""

    __slots__ = ()


@kernel("IsResourceHandleRefCounting")
def is_resource_handle_ref_counting(call: Call, handle: Array) -> Array:
    """Whether the resource lives by its handles alone, not under a name in the session."""
    found: Any = handle.item()
    call.require(isinstance(found, ResourceHandle), "the input must be a handle", found=found)
    named = call.runtime.resources.find(found.container, found.kind, found.name)
    return np.array(named is not found.resource and not isinstance(found, _WeakHandle))


@kernel("MakeWeakResourceHandle")
def make_weak_resource_handle(call: Call, handle: Array) -> Array:
    """The same resource by a handle that does not count as a reference to it."""
    found: Any = handle.item()
    call.require(isinstance(found, ResourceHandle), "the input must be a handle", found=found)
    return handle_array(_WeakHandle(found.kind, found.name, found.container, found.resource))
