"""Conditional accumulators: gradients are summed until enough came, then taken all at once.

A gradient of an older step than the accumulator's is dropped. Each taking is a step.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.kernels._handles import object_of, shared_handle
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._waiting import wait_for
from drystone_base.ops.attrs import Shape


class Accumulator:
    """Sums dense gradients of one dtype and (partly) known shape. Safe to use from threads."""

    def __init__(self, name: str, dtype: DType, shape: Shape, mean: bool) -> None:
        self.name, self.dtype, self.shape, self.mean = name, dtype, shape, mean
        self.step = self.count = 0
        self.changed = threading.Condition()
        self.total: Array = np.empty(0)

    def declared(self) -> tuple[str, str, Shape]:
        """What a second node of the same name must declare, too."""
        return type(self).__name__, str(self.dtype), self.shape

    def apply(self, call: Call, step: int, gradient: Array) -> None:
        """Add a gradient unless it is stale."""
        with self.changed:
            if step < self.step:
                return
            expected = self.shape if self.count == 0 else self.total.shape
            for shape in (expected, self.shape):
                _require_shape(call, gradient.shape, shape)
            self.total = gradient + self.total if self.count else gradient
            self.count += 1
            self.changed.notify_all()

    def wait(self, call: Call, required: int) -> None:
        """Wait for as many gradients; ``changed`` must be held."""
        call.require(required > 0, "the number must be positive", found=required, needed="> 0")
        wait_for(
            call,
            self.changed,
            lambda: self.count >= required,
            "an accumulator must have as many gradients as are asked for",
            lambda: f"accumulator {self.name!r}: {self.count} of {required}",
        )
        self.step += 1

    def take(self, call: Call, required: int) -> list[Array]:
        """The mean or sum of all gradients, once there are ``required``."""
        with self.changed:
            self.wait(call, required)
            total = _divide(self.total, np.array(self.count)) if self.mean else self.total
            self.count = 0
            return [total]


class SparseAccumulator(Accumulator):
    """Sums rows by index; the mean of a row is over the gradients that have it.

    Indices must ascend, as TensorFlow assumes: sums are merged in one pass over both.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.indices: list[int] = []
        self.counts = np.empty(0, np.int64)

    def apply_rows(self, call: Call, step: int, indices: Array, rows: Array, dims: Array) -> None:
        """Add rows unless they are stale; ``dims``: the full shape, or empty."""
        with self.changed:
            if step < self.step:
                return
            _check_rows(call, indices, rows)
            self._check_fit(call, indices, rows, dims)
            if self.count == 0:
                self.indices, self.total = indices.tolist(), rows
                self.counts = np.ones(len(rows), np.int64)
            else:
                self._merge(indices.tolist(), rows)
            self.count += 1
            self.changed.notify_all()

    def _check_fit(self, call: Call, indices: Array, rows: Array, dims: Array) -> None:
        shape = self.shape or ()
        if call.attrs["has_known_shape"]:
            call.require(
                dims.size >= len(shape), "the rank must fit", found=dims.size, needed=len(shape)
            )
            _require_shape(call, tuple(map(int, dims.ravel()[: len(shape)])), shape)
        if shape and shape[0] >= 0:
            call.require(
                indices.max(initial=-1) < shape[0],
                "indices must lie in the accumulator's shape",
                found=int(indices.max(initial=-1)),
                needed=f"below {shape[0]}",
            )
        if self.count:
            _require_shape(call, rows.shape[1:], self.total.shape[1:])
            return
        call.require(
            rows.ndim >= len(shape), "the rank must fit", found=rows.ndim, needed=len(shape)
        )
        _require_shape(call, rows.shape[1 : max(len(shape), 1)], shape[1:])

    def _merge(self, indices: list[int], rows: Array) -> None:
        """One pass over both lists of indices; rows of equal indices are added."""
        ours, theirs = _merge_order(self.indices, indices)
        has_ours, has_theirs = ours >= 0, theirs >= 0
        both = has_ours & has_theirs
        total = np.empty((len(ours), *rows.shape[1:]), rows.dtype)
        counts = has_theirs.astype(np.int64)
        total[has_theirs] = rows[theirs[has_theirs]]
        total[both] = rows[theirs[both]] + self.total[ours[both]]
        alone = has_ours & ~has_theirs
        total[alone] = self.total[ours[alone]]
        counts[has_ours] += self.counts[ours[has_ours]]
        self.indices = [
            self.indices[a] if a >= 0 else indices[b]
            for a, b in zip(ours.tolist(), theirs.tolist(), strict=True)
        ]
        self.total, self.counts = total, counts

    def take(self, call: Call, required: int) -> list[Array]:
        """Indices, rows and full shape."""
        with self.changed:
            self.wait(call, required)
            rows = self.total
            if self.mean:
                rows = _divide(rows, self.counts.reshape(-1, *(1,) * (rows.ndim - 1)))
            self.count = 0
            first = self.shape[0] if self.shape else -1
            shape = np.array([first, *rows.shape[1:]], np.int64)
            return [np.array(self.indices, np.int64), rows, shape]


def _merge_order(a: list[int], b: list[int]) -> tuple[Array, Array]:
    """Positions in ``a`` and in ``b`` of each merged index, -1 where one lacks it."""
    i = j = 0
    pairs: list[tuple[int, int]] = []
    while i < len(a) or j < len(b):
        takes_a = j >= len(b) or (i < len(a) and a[i] <= b[j])
        takes_b = i >= len(a) or (j < len(b) and b[j] <= a[i])
        pairs.append((i if takes_a else -1, j if takes_b else -1))
        i, j = i + takes_a, j + takes_b
    order = np.array(pairs, np.int64).reshape(-1, 2)
    return order[:, 0], order[:, 1]


def _divide(total: Array, count: Array) -> Array:
    quotient: Array = total / count.astype(total.dtype)
    return quotient


def _require_shape(call: Call, found: tuple[int, ...], needed: Shape) -> None:
    fits = needed is None or (
        len(found) == len(needed)
        and all(n < 0 or n == d for d, n in zip(found, needed, strict=True))
    )
    call.require(
        fits,
        "a gradient must have the accumulator's shape",
        found=list(found),
        needed="" if needed is None else list(needed),
    )


def _check_rows(call: Call, indices: Array, rows: Array) -> None:
    call.require(
        indices.ndim == 1 and rows.ndim > 0 and len(rows) == len(indices),
        "there must be a row for each index",
        found=f"indices {list(indices.shape)}, values {list(rows.shape)}",
        needed="a vector, and as many rows",
    )


@kernel("ConditionalAccumulator", "ResourceConditionalAccumulator", "SparseConditionalAccumulator")
def accumulator(call: Call) -> Any:
    """A handle to an accumulator, which gives the sum or the mean of what is applied.

    Raises ``KernelError`` for a dtype that is not float16, float32 or float64.
    """
    a = call.attrs
    call.require(
        a["dtype"].label in ("float16", "float32", "float64"),
        "an accumulator must be of real numbers",
        found=a["dtype"],
        needed="float16, float32 or float64",
    )
    kind = SparseAccumulator if call.op.startswith("Sparse") else Accumulator
    return shared_handle(
        call,
        "accumulator",
        lambda name: kind(name, a["dtype"], a["shape"], a["reduction_type"] == "MEAN"),
        lambda found: found.declared(),
        reference=not call.op.startswith("Resource"),
    )


def _of_dtype(call: Call, handle: Any, kind: type[Accumulator] = Accumulator) -> Any:
    found = object_of(handle, kind)
    call.require(
        call.attrs["dtype"] is found.dtype,
        "the node must have the accumulator's dtype",
        found=call.attrs["dtype"],
        needed=found.dtype,
    )
    return found


def _scalar(call: Call, value: Array) -> int:
    call.require(value.ndim == 0, "it must be a scalar", found=list(value.shape), needed="rank 0")
    return int(value.item())


@kernel("AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient")
def apply_gradient(call: Call, handle: Any, local_step: Array, gradient: Array) -> tuple[()]:
    """Add a gradient; a stale one is dropped."""
    _of_dtype(call, handle).apply(call, _scalar(call, local_step), gradient)
    return ()


@kernel("SparseAccumulatorApplyGradient")
def apply_sparse(
    call: Call, handle: Any, local_step: Array, indices: Array, rows: Array, shape: Array
) -> tuple[()]:
    """Add rows by index; stale ones are dropped."""
    found = _of_dtype(call, handle, SparseAccumulator)
    found.apply_rows(call, _scalar(call, local_step), indices, rows, shape)
    return ()


@kernel(
    "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient"
)
def take_gradient(call: Call, handle: Any, num_required: Array) -> list[Array]:
    """The mean or sum of the gradients, once there are enough; a step begins."""
    kind = SparseAccumulator if call.op.startswith("Sparse") else Accumulator
    found: list[Array] = _of_dtype(call, handle, kind).take(call, _scalar(call, num_required))
    return found


@kernel("AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated")
def num_accumulated(_: Call, handle: Any) -> Array:
    """How many gradients were added since the last were taken, int32."""
    return np.array(object_of(handle, Accumulator).count, np.int32)


@kernel("AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep")
def set_global_step(call: Call, handle: Any, new_global_step: Array) -> tuple[()]:
    """Set the step: gradients of earlier ones are stale."""
    object_of(handle, Accumulator).step = _scalar(call, new_global_step)
    return ()
