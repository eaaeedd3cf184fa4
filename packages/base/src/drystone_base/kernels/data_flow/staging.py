"""Staging areas: tuples kept between steps, in a row or by key, within a number or memory limit."""

from __future__ import annotations

import threading
from typing import Any, Final, Generic, TypeVar

import numpy as np

from drystone_base.kernels._handles import shared_object
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._waiting import wait_for

T = TypeVar("T")
_HAVE: Final = "a staging area must have what is taken from it"
_BYTES_OF_A_STRING: Final = 24  # what TensorFlow counts beside the bytes of a long string


class Area(Generic[T]):
    """What several staging areas share: the limits, and waiting for room and for tuples."""

    def __init__(self, name: str, capacity: int, memory_limit: int, items: T) -> None:
        self.name, self.capacity, self.memory_limit = name, capacity, memory_limit
        self.items = items
        self.count = self.bytes = 0
        self.changed = threading.Condition()

    def wait_for_room(self, call: Call, size: int, whole: bool = True) -> None:
        """Wait until ``size`` bytes may be added, and a tuple if they are ``whole``."""
        limit = self.memory_limit
        call.require(
            not 0 < limit < size,
            "a tuple must fit in the staging area",
            found=f"{size} bytes",
            needed=f"at most {limit}",
            status="RESOURCE_EXHAUSTED",
        )
        wait_for(
            call,
            self.changed,
            lambda: (
                not (
                    (limit > 0 and self.bytes + size > limit)
                    or (whole and 0 < self.capacity <= self.count)
                )
            ),
            "a staging area must have room",
            lambda: f"area {self.name!r}: {self.count} tuples of {self.bytes} bytes",
        )

    def grew(self, count: int, size: int) -> None:
        """Note that tuples came (or went: negative numbers)."""
        self.count, self.bytes = self.count + count, self.bytes + size
        self.changed.notify_all()


class Row(Area[list[list[Array]]]):
    """Tuples in the order in which they came."""

    def put(self, call: Call, values: list[Array]) -> None:
        """Add a tuple at the end."""
        size = sum(map(_bytes, values))
        with self.changed:
            self.wait_for_room(call, size)
            self.items.append(values)
            self.grew(1, size)

    def get(self, call: Call, index: int, remove: bool) -> list[Array]:
        """The tuple at a place."""
        with self.changed:
            wait_for(
                call,
                self.changed,
                lambda: 0 <= index < len(self.items),
                _HAVE,
                lambda: f"area {self.name!r}: {len(self.items)} tuples, number {index} asked for",
            )
            found = self.items[index]
            if remove:
                del self.items[index]
                self.grew(-1, -sum(map(_bytes, found)))
            return found

    def clear(self) -> None:
        """Forget everything."""
        with self.changed:
            self.items.clear()
            self.grew(-self.count, -self.bytes)


class ByKey(Area[dict[int, dict[int, Array]]]):
    """Tuples of ``width`` by an int64; components may come and go apart.

    Those of an incomplete tuple count for the memory limit, the tuple not for the capacity. What is
    staged for a key that is there is dropped. (The limit holds for all components; TensorFlow 2.21
    counts the last one only.)
    """

    def __init__(self, name: str, capacity: int, memory_limit: int, width: int) -> None:
        super().__init__(name, capacity, memory_limit, {})
        self.width = width
        self.incomplete: dict[int, dict[int, Array]] = {}

    def put(self, call: Call, key: int, parts: dict[int, Array]) -> None:
        """Add components of a tuple."""
        size = sum(map(_bytes, parts.values()))
        with self.changed:
            self._check_indices(call, list(parts))
            there = {} if len(parts) == self.width else self.incomplete.get(key, {})
            call.require(
                not there.keys() & parts.keys(),
                "a component may be staged once",
                found=f"key {key} has {sorted(there)}",
                needed=f"a tuple without {sorted(parts)}",
            )
            self.wait_for_room(call, size, whole=len(parts) == self.width)
            if len(there) + len(parts) < self.width:
                self.incomplete[key] = there | parts
                self.grew(0, size)
                return
            if there:
                del self.incomplete[key]
            dropped = key in self.items
            self.items.setdefault(key, there | parts)
            self.grew(int(not dropped), 0 if dropped else size)

    def _check_indices(self, call: Call, indices: list[int]) -> None:
        call.require(
            all(0 <= k < self.width for k in indices),
            "indices must name components",
            found=indices,
            needed=f"0 to {self.width - 1}",
        )

    def get(self, call: Call, key: int | None, indices: list[int], remove: bool) -> Any:
        """The key with components of its tuple; any tuple's where ``key`` is None."""
        with self.changed:
            wait_for(
                call,
                self.changed,
                lambda: self.items if key is None else key in self.items,
                _HAVE,
                lambda: f"area {self.name!r}: keys {sorted(self.items)[:9]}, {key} asked for",
            )
            key = self.first() if key is None else key
            there = self.items[key]
            self._check_indices(call, indices)
            call.require(
                there.keys() >= set(indices),
                "the components must be there",
                found=f"key {key} has {sorted(there)}",
                needed=indices,
            )
            found = [there[k] for k in indices]
            if remove:
                self._remove(key, indices)
            return key, found

    def first(self) -> int:
        """The key that leaves when none is asked for: the first that came."""
        return next(iter(self.items))

    def _remove(self, key: int, indices: list[int]) -> None:
        there = self.items[key]
        size = sum(_bytes(there.pop(k)) for k in indices)
        if not there:
            del self.items[key]
        self.grew(-int(not there), -size)

    def clear(self) -> None:
        """Forget everything."""
        with self.changed:
            self.items.clear()
            self.incomplete.clear()
            self.grew(-self.count, -self.bytes)


class Ordered(ByKey):
    """As its base; without a key, the smallest leaves."""

    def first(self) -> int:
        """The smallest key."""
        return min(self.items)


def _bytes(value: Array) -> int:
    """The size of a tensor as TensorFlow counts it."""
    if not value.dtype.hasobject:
        return value.nbytes
    return sum(
        _BYTES_OF_A_STRING + len(v) if isinstance(v, bytes) else 8 for v in value.ravel().tolist()
    )


def _as_declared(call: Call, values: list[Array]) -> list[Array]:
    """What was staged, which must be what the node expects; it is gone otherwise, too."""
    dtypes = call.attrs["dtypes"]
    call.require(
        len(values) == len(dtypes),
        "the node must expect the tuple that was staged",
        found=f"{len(values)} components",
        needed=len(dtypes),
    )
    wrong = [v.dtype for v, d in zip(values, dtypes, strict=True) if v.dtype != d.np]
    call.require(
        not wrong,
        "the node must expect the types that were staged",
        found=wrong,
        needed=dtypes,
        status="INTERNAL",
    )
    return values


def _row(call: Call) -> Row:
    a = call.attrs
    return shared_object(
        call, "staging area", lambda name: Row(name, a["capacity"], a["memory_limit"], [])
    )[1]


def _by_key(call: Call) -> ByKey:
    a, kind = call.attrs, Ordered if call.op.startswith("Ordered") else ByKey
    width = len(a["dtypes"])
    return shared_object(
        call,
        f"staging area {kind.__name__}",
        lambda name: kind(name, a["capacity"], a["memory_limit"], width),
    )[1]


@kernel("Stage")
def stage(call: Call, *values: Array) -> tuple[()]:
    """Add a tuple of tensors at the end; waits while the area is full.

    The area holds ``capacity`` tuples and ``memory_limit`` bytes; 0: any number.
    """
    _row(call).put(call, list(values))
    return ()


@kernel("Unstage")
def unstage(call: Call) -> list[Array]:
    """Take the tuple that came first."""
    return _as_declared(call, _row(call).get(call, 0, remove=True))


@kernel("StagePeek")
def stage_peek(call: Call, index: Array) -> list[Array]:
    """The tuple at a place, which stays."""
    _require_scalar(call, index)
    return _as_declared(call, _row(call).get(call, int(index.item()), remove=False))


@kernel("StageSize")
def stage_size(call: Call) -> Array:
    """The number of tuples, int32."""
    return np.array(_row(call).count, np.int32)


@kernel("StageClear")
def stage_clear(call: Call) -> tuple[()]:
    """Remove all tuples from the area."""
    _row(call).clear()
    return ()


def _require_scalar(call: Call, value: Array) -> None:
    call.require(value.ndim == 0, "it must be a scalar", found=list(value.shape), needed="rank 0")


def _indices(call: Call, indices: Array) -> list[int]:
    found = [int(k) for k in indices.ravel()]
    call.require(
        found == sorted(set(found)),
        "indices must be strictly ordered",
        found=found,
        needed="each larger than the one before",
    )
    return found


@kernel("MapStage", "OrderedMapStage")
def map_stage(call: Call, key: Array, indices: Array, *values: Array) -> tuple[()]:
    """Add components of the tuple of a key; it can be taken once it has them all."""
    _require_scalar(call, key)
    at = _indices(call, indices)
    call.require(
        len(at) == len(values),
        "there must be an index for each component",
        found=f"{len(at)} indices, {len(values)} components",
        needed="as many",
    )
    _by_key(call).put(call, int(key.item()), dict(zip(at, values, strict=True)))
    return ()


@kernel("MapUnstage", "OrderedMapUnstage", "MapPeek", "OrderedMapPeek")
def map_get(call: Call, key: Array, indices: Array) -> list[Array]:
    """Components of the tuple of a key; Unstage takes them away."""
    _require_scalar(call, key)
    remove = call.op.endswith("Unstage")
    found = _by_key(call).get(call, int(key.item()), _indices(call, indices), remove)[1]
    return _as_declared(call, found)


@kernel("MapUnstageNoKey", "OrderedMapUnstageNoKey")
def map_unstage_no_key(call: Call, indices: Array) -> list[Array]:
    """Take components of any tuple, of the smallest key where it is ordered; the key first."""
    key, found = _by_key(call).get(call, None, _indices(call, indices), remove=True)
    return [np.array(key, np.int64), *_as_declared(call, found)]


@kernel("MapSize", "OrderedMapSize")
def map_size(call: Call) -> Array:
    """The number of whole tuples, int32."""
    return np.array(len(_by_key(call).items), np.int32)


@kernel("MapIncompleteSize", "OrderedMapIncompleteSize")
def map_incomplete_size(call: Call) -> Array:
    """The number of tuples that lack a component, int32."""
    return np.array(len(_by_key(call).incomplete), np.int32)


@kernel("MapClear", "OrderedMapClear")
def map_clear(call: Call) -> tuple[()]:
    """Remove all keys with their tuples from the area."""
    _by_key(call).clear()
    return ()
