"""Iterators that deal the elements of one dataset out to several devices, in turn."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Final

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.data._datasets.base import Dataset, Element, dataset_of
from drystone_base.kernels.data.iterator import Iterator, check_spec, taken
from drystone_base.state.variables import ResourceHandle, handle_array, resource_of

_KIND: Final = "multi_device_iterator"
_NAMES: Final = "multi_device_iterator_name"
_serial: Final = itertools.count(1)


class MultiIterator(Iterator):
    """A place in a dataset; element ``k`` goes to shard ``k`` modulo their number."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.shards: list[deque[Element]] = [deque() for _ in call.attrs["devices"]]
        self.incarnation = 0
        self.turn = 0

    def restart(self, call: Call, dataset: Dataset) -> int:
        """Go to the first element; a number that tells this start from others."""
        self.start(call, dataset)
        for shard in self.shards:
            shard.clear()
        self.turn, self.incarnation = 0, self.incarnation + 1
        return self.incarnation

    def of_shard(self, call: Call, shard: int) -> Element | None:
        """The shard's next element; those of others that come before it are kept for them."""
        while not self.shards[shard]:
            element = self.following(call)
            if element is None:
                return None
            self.shards[self.turn].append(element)
            self.turn = (self.turn + 1) % len(self.shards)
        return self.shards[shard].popleft()


def _devices(call: Call) -> MultiIterator:
    call.require(call.attrs["devices"], "there must be a device", found="none", needed="1 or more")
    return MultiIterator(call)


@kernel("MultiDeviceIterator")
def multi_device_iterator(call: Call) -> Array:
    """A handle to the session's iterator of that name."""
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]
    fresh = _devices(call)
    found = call.runtime.resources.get_or_create(container, _KIND, name, lambda: fresh)
    check_spec(call, found, fresh)
    return handle_array(ResourceHandle(_KIND, name, container, found))


@kernel("AnonymousMultiDeviceIteratorV3")
def anonymous_v3(call: Call) -> Array:
    """A handle, a scalar resource, to a new iterator that no name leads to."""
    name = f"{call.node}_{next(_serial)}"
    return handle_array(ResourceHandle(_KIND, name, "", _devices(call)))


@kernel("AnonymousMultiDeviceIterator")
def anonymous(call: Call) -> tuple[Array, Array]:
    """A handle to a new iterator, and what deletes it."""
    made = anonymous_v3(call)
    return made, handle_array(made.item())


@kernel("DeleteMultiDeviceIterator")
def delete(call: Call, handle: Array, *_: Array) -> tuple[()]:
    """Delete an iterator by its handle, a scalar resource; its name is free again."""
    held = handle.item()
    call.runtime.resources.delete(held.container, _KIND, held.name)
    held.resource = None
    return ()


@kernel("MultiDeviceIteratorInit")
def init(call: Call, dataset: Array, handle: Array, max_buffer_size: Array) -> Array:
    """Set an iterator to the first element of a dataset; the number of this start."""
    del max_buffer_size  # nothing is read ahead
    return np.array(resource_of(handle, MultiIterator).restart(call, dataset_of(dataset)), np.int64)


@kernel("MultiDeviceIteratorGetNextFromShard")
def get_next_from_shard(call: Call, handle: Array, shard: Array, incarnation: Array) -> Element:
    """The next element of a shard; OUT_OF_RANGE at the end."""
    held = resource_of(handle, MultiIterator)
    index = int(shard)
    call.require(
        int(incarnation) == held.incarnation and 0 <= index < len(held.shards),
        "the shard must be one of the iterator, and of its present start",
        found=f"shard {index}, start {int(incarnation)}",
        needed=f"0 <= shard < {len(held.shards)}, start {held.incarnation}",
    )
    return taken(call, held.of_shard(call, index))


@kernel("MultiDeviceIteratorToStringHandle")
def to_string_handle(call: Call, handle: Array) -> Array:
    """A text that stands for an iterator in this session."""
    resource_of(handle, MultiIterator)
    held = handle.item()
    name = f"{held.container}/{held.name}"
    call.runtime.resources.get_or_create("", _NAMES, name, lambda: held)
    return string_array([name.encode("utf-8", "surrogateescape")], ())


@kernel("MultiDeviceIteratorFromStringHandle")
def from_string_handle(call: Call, text: Array) -> Array:
    """The iterator that a text stands for."""
    name = scalar_string(call, text, "the handle").decode("utf-8", "surrogateescape")
    held = call.runtime.resources.find("", _NAMES, name)
    call.require(
        held is not None,
        "the text must be one that MultiDeviceIteratorToStringHandle gave in this session",
        found=repr(name[:80]),
        needed="the handle of an iterator",
    )
    return handle_array(held)
