"""The value behind a tensor list variant: immutable to its holders, cheap to push to and pop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import KernelError
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call
from drystone_base.kernels._variants import (
    add_variants,
    blank,
    register_variant,
    zeros_like_variants,
)
from drystone_base.state.variables import resource_of

if TYPE_CHECKING:
    from drystone_base.ops.attrs import Shape

__all__ = [
    "TensorList",
    "add",
    "check_index",
    "check_item",
    "element_shape",
    "item_of",
    "known_shape",
    "list_of",
    "merge_shapes",
    "stacked",
    "zeros_like",
]


class TensorList:
    """The first ``length`` items of a shared, append-only store. An unset item is None.

    ``shape`` is the declared shape of elements; ``limit`` the most elements, -1 for any number.
    """

    __slots__ = ("_store", "dtype", "length", "limit", "shape")

    def __init__(
        self,
        dtype: DType,
        shape: Shape,
        items: Sequence[Array | None] = (),
        limit: int = -1,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.limit = limit
        self._store: list[Array | None] = list(items)
        self.length = len(self._store)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Array | None:
        return self._store[index]

    def __repr__(self) -> str:
        return f"TensorList({self.dtype}, {self.shape}, {self.length} elements)"

    def items(self) -> list[Array | None]:
        """A new list of the items."""
        return self._store[: self.length]

    def replaced(self, items: Sequence[Array | None]) -> TensorList:
        """A list of the same kind with other items."""
        return TensorList(self.dtype, self.shape, items, self.limit)

    def _sharing(self, length: int) -> TensorList:
        new = TensorList.__new__(TensorList)
        new.dtype, new.shape, new.limit = self.dtype, self.shape, self.limit
        new._store, new.length = self._store, length
        return new

    def pushed(self, item: Array) -> TensorList:
        """With ``item`` at the end: shares the store when this list is its newest holder."""
        store = self._store
        if len(store) == self.length:
            store.append(item)
            if store[self.length] is item:  # else another thread was first: go separate ways
                return self._sharing(self.length + 1)
        return self.replaced([*self.items(), item])

    def popped(self) -> TensorList:
        """Without the last item; shares the store."""
        return self._sharing(self.length - 1)


def zeros_like(value: TensorList) -> TensorList:
    """The list with every element zeroed; unset elements stay unset."""
    return value.replaced([None if v is None else _zeros(v) for v in value.items()])


def _zeros(value: Array) -> Array:
    return zeros_like_variants(value) if value.dtype.hasobject else np.zeros_like(value)


def add(a: TensorList, b: TensorList) -> TensorList:
    """Element by element sums; an unset element counts as zero.

    Raises ``KernelError`` for lists of unequal length or dtype.
    """
    if a.length != b.length or a.dtype is not b.dtype:
        raise KernelError(
            "two tensor lists cannot be added",
            check="tensor lists must have the same length and dtype",
            found=f"{a} and {b}",
            needed="equal length and dtype",
            remedy="build both lists by loops of the same length",
        )
    pairs = zip(a.items(), b.items(), strict=True)
    return a.replaced([_sum(x, y) for x, y in pairs])


def _sum(x: Array | None, y: Array | None) -> Array | None:
    if x is None or y is None:
        return y if x is None else x
    return add_variants(x, y) if x.dtype.hasobject else np.asarray(x + y)


def list_of(call: Call, handle: Array) -> TensorList:
    """The list in a variant scalar, whose dtype must be the node's ``element_dtype``."""
    found = resource_of(handle, TensorList)
    dtype = call.attrs.get("element_dtype")
    call.require(
        dtype is None or dtype is found.dtype,
        "the dtype of a list's elements must be the node's",
        found=found.dtype,
        needed=dtype,
    )
    return found


def element_shape(call: Call, given: Array) -> Shape:
    """The shape that a tensor of dims names; a scalar -1 is an unknown rank."""
    call.require(
        given.ndim == 1 or (given.ndim == 0 and given.item() == -1),
        "an element shape must be a vector of dims or the scalar -1",
        found=given.tolist(),
        needed="a vector, or -1",
    )
    return None if given.ndim == 0 else tuple(int(d) for d in given)


def _fits(want: Shape, got: tuple[int, ...]) -> bool:
    if want is None:
        return True
    return len(want) == len(got) and all(w < 0 or w == g for w, g in zip(want, got, strict=True))


def merge_shapes(call: Call, a: Shape, b: Shape) -> Shape:
    if a is None or b is None:
        return b if a is None else a
    call.require(
        len(a) == len(b) and all(x == y or min(x, y) < 0 for x, y in zip(a, b, strict=True)),
        "the element shapes of list and node must agree",
        found=f"{list(a)} and {list(b)}",
        needed="compatible shapes",
    )
    return tuple(max(x, y) for x, y in zip(a, b, strict=True))


def check_item(call: Call, into: TensorList, shape: tuple[int, ...]) -> None:
    call.require(
        _fits(into.shape, shape),
        "an element must have the list's element shape",
        found=list(shape),
        needed=list(into.shape or ()),
    )


def known_shape(call: Call, source: TensorList, wanted: Shape) -> tuple[int, ...]:
    """The shape of unset elements: declared, or else that of the elements that are set."""
    merged = merge_shapes(call, source.shape, wanted)
    if merged is None or min(merged, default=0) < 0:
        for item in source.items():
            if item is not None:
                merged = merge_shapes(call, merged, item.shape)
    if merged is None or min(merged, default=0) < 0:
        call.fail(
            "unset elements need a fully known element shape",
            found=merged if merged is None else list(merged),
            needed="a shape without unknown dims",
            remedy="give the list its element_shape, or set the element first",
        )
    return check_size(call, merged, source.dtype.np)


def item_of(call: Call, source: TensorList, index: int, wanted: Shape) -> Array:
    value = source[index]
    return blank(known_shape(call, source, wanted), source.dtype) if value is None else value


def stacked(call: Call, source: TensorList, items: list[Array | None], wanted: Shape) -> Array:
    one = known_shape(call, source, wanted)
    check_size(call, (len(items), *one), source.dtype.np)
    for item in items:
        call.require(
            item is None or item.shape == one,
            "elements to be stacked must have equal shapes",
            found=list(item.shape) if item is not None else "",
            needed=list(one),
        )
    out = blank((len(items), *one), source.dtype)
    for k, item in enumerate(items):
        if item is not None:
            out[k, ...] = item
    return out


def check_index(call: Call, source: TensorList, index: int) -> None:
    call.require(
        0 <= index < len(source),
        "an index must lie in the list",
        found=index,
        needed=f"0 <= index < {len(source)}",
    )


register_variant(TensorList, zeros_like=zeros_like, add=add)
