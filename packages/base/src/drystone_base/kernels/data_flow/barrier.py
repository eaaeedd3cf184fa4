"""Barriers: tuples by key, filled component by component, taken once they are whole."""

from __future__ import annotations

import heapq
import itertools
import threading
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.tensor import string_array
from drystone_base.kernels._handles import object_of, shared_handle
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.kernels._waiting import wait_for

_FIRST: Final = -(1 << 63)
_Ready = tuple[int, int, bytes, list[Array]]


class Barrier:
    """Elements wait by key until they have all components; whole ones leave by age.

    The age of a key is the number of the insertion that first brought it. Safe to use from threads.
    """

    def __init__(self, name: str, types: list[DType], shapes: list[tuple[int, ...]]) -> None:
        self.name, self.types, self.shapes = name, types, shapes
        self.changed = threading.Condition()
        self.incomplete: dict[bytes, tuple[int, list[Array | None]]] = {}
        self.ready: list[_Ready] = []
        self._order = itertools.count()
        self._index = _FIRST
        self._closed = self._cancelled = False

    def insert(self, call: Call, keys: list[bytes], values: Array, component: int) -> None:
        """Set one component of several elements."""
        with self.changed:
            self._require_open(call, not keys or bool(self.incomplete))
            whole = [self._set(call, k, v, component) for k, v in zip(keys, values, strict=True)]
            self._index += any(new for new, _ in whole)
            for _, element in whole:
                if element is not None:
                    heapq.heappush(self.ready, element)
            self.changed.notify_all()

    def _require_open(self, call: Call, pending: bool) -> None:
        call.require(
            not self._closed or (pending and not self._cancelled),
            "a closed barrier takes only what completes its elements",
            found=f"{self.name!r} is closed and has {len(self.incomplete)} incomplete elements",
            needed="an open barrier, or the key of an incomplete element",
            status="CANCELLED",
        )

    def _set(
        self, call: Call, key: bytes, value: Array, component: int
    ) -> tuple[bool, _Ready | None]:
        """Whether the key is new, and its element once that is whole."""
        new = key not in self.incomplete
        self._require_open(call, not new)
        index, parts = self.incomplete.setdefault(key, (self._index, [None] * len(self.types)))
        call.require(
            parts[component] is None,
            "a component may be set once",
            found=f"key {key!r} has component {component}",
            needed="another key or component",
        )
        parts[component] = value
        found = [p for p in parts if p is not None]
        if len(found) < len(parts):
            return new, None
        del self.incomplete[key]
        shapes = [p.shape for p in found]
        call.require(
            shapes == self.shapes,
            "components must have the barrier's shapes",
            found=shapes,
            needed=self.shapes,
        )
        return new, (index, next(self._order), key, found)

    def take(self, call: Call, count: int, small: bool) -> list[_Ready]:
        """The ``count`` oldest whole elements; ``small``: fewer will do once it is closed."""
        with self.changed:
            wait_for(
                call,
                self.changed,
                lambda: self._settled(count, small),
                "a barrier must have whole elements to take",
                lambda: f"barrier {self.name!r}: {len(self.ready)} are ready, {count} asked for",
            )
            if self._closed and small:
                count = min(count, len(self.ready))
            call.require(
                not self._closed or len(self.ready) >= max(count, 1),
                "a closed barrier must have enough elements",
                found=f"{self.name!r} is closed, {len(self.ready)} are ready",
                needed=max(count, 1),
                status="OUT_OF_RANGE",
            )
            return [heapq.heappop(self.ready) for _ in range(count)]

    def _settled(self, count: int, small: bool) -> bool:
        """Whether the elements are there, or never will be."""
        if not self._closed:
            return len(self.ready) >= count
        possible = len(self.ready) + len(self.incomplete)
        return small or len(self.ready) >= count or possible < count

    def close(self, call: Call, cancel: bool) -> None:
        """Take no new keys; ``cancel``: nor what is missing of those there."""
        with self.changed:
            call.require(
                not self._closed or (cancel and not self._cancelled),
                "a barrier may be closed once",
                found=f"{self.name!r} is closed",
                needed="an open barrier",
                status="CANCELLED",
            )
            self._closed, self._cancelled = True, cancel
            if cancel:
                self.incomplete.clear()
            self.changed.notify_all()


@kernel("Barrier")
def barrier(call: Call) -> Any:
    """A handle to a barrier, which joins the components of a key.

    Raises ``KernelError`` for shapes that are not fully known, and for a capacity.
    """
    types, shapes = call.attrs["component_types"], call.attrs["shapes"]
    full = all(s is not None and min(s, default=0) >= 0 for s in shapes)
    call.require(
        len(shapes) == len(types) and full,
        "a barrier must declare the full shape of every component",
        found=shapes,
        needed=f"{len(types)} shapes",
    )
    call.require(
        call.attrs["capacity"] == -1,
        "a barrier has no capacity; a queue before it may have one",
        found=call.attrs["capacity"],
        needed=-1,
    )
    return shared_handle(
        call,
        "barrier",
        lambda name: Barrier(name, types, shapes),
        lambda b: (b.types, b.shapes),
        reference=True,
    )


@kernel("BarrierInsertMany")
def insert_many(call: Call, handle: Any, keys: Array, values: Array) -> tuple[()]:
    """Set one component of the elements of these keys."""
    found, component = object_of(handle, Barrier), call.attrs["component_index"]
    call.require(
        0 <= component < len(found.types),
        "the component must be one that the barrier has",
        found=component,
        needed=f"0 to {len(found.types) - 1}",
    )
    call.require(
        call.attrs["T"] is found.types[component],
        "the values must have the component's type",
        found=call.attrs["T"],
        needed=found.types[component],
    )
    call.require(
        keys.ndim == 1 and values.ndim > 0 and len(keys) == len(values),
        "there must be a value for each key",
        found=f"keys {list(keys.shape)}, values {list(values.shape)}",
        needed="a vector of keys, and as many values",
    )
    call.require(
        not keys.size or values.size,
        "values must have elements",
        found=list(values.shape),
        needed="no dimension of 0",
    )
    found.insert(call, keys.tolist(), values, component)
    return ()


@kernel("BarrierTakeMany")
def take_many(call: Call, handle: Any, num_elements: Array) -> list[Array]:
    """The oldest whole elements: their ages, their keys, their components."""
    found, count = object_of(handle, Barrier), int(num_elements.item())
    call.require(
        call.attrs["timeout_ms"] == -1,
        "a timeout is not supported, nor is it by TensorFlow",
        found=call.attrs["timeout_ms"],
        needed=-1,
        remedy="a session's deadline ends a wait",
    )
    call.require(
        call.attrs["component_types"] == found.types,
        "the node must expect the barrier's types",
        found=found.types,
        needed=call.attrs["component_types"],
    )
    call.require(count >= 0, "the number must not be negative", found=count, needed="0 or more")
    rows = found.take(call, count, call.attrs["allow_small_batch"])
    indices = np.array([index for index, _, _, _ in rows], np.int64)
    keys = string_array([key for _, _, key, _ in rows], (len(rows),))
    return [indices, keys, *(_stack(found, k, rows) for k in range(len(found.types)))]


def _stack(found: Barrier, component: int, rows: list[_Ready]) -> Array:
    out = blank((len(rows), *found.shapes[component]), found.types[component])
    for k, (_, _, _, parts) in enumerate(rows):
        out[k] = parts[component]
    return out


@kernel("BarrierClose")
def close(call: Call, handle: Any) -> tuple[()]:
    """Close a barrier: no new keys are taken, those begun may be completed.

    With ``cancel_pending_enqueues`` they may not, and who waits gets CANCELLED.
    """
    object_of(handle, Barrier).close(call, call.attrs["cancel_pending_enqueues"])
    return ()


@kernel("BarrierReadySize")
def ready_size(_: Call, handle: Any) -> Array:
    """The number of whole elements, int32."""
    return np.array(len(object_of(handle, Barrier).ready), np.int32)


@kernel("BarrierIncompleteSize")
def incomplete_size(_: Call, handle: Any) -> Array:
    """The number of elements that lack a component, int32."""
    return np.array(len(object_of(handle, Barrier).incomplete), np.int32)
