"""Collective ops: of a group that is this process alone, or of the processes that it has joined.

Source: TensorFlow ops Collective*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._indices import int_vector, scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.collectives import Collectives, find_collectives


def _group(call: Call, size: int) -> Collectives | None:
    """The process's group; None where this process alone is meant."""
    if size == 1:
        return None
    found = find_collectives()
    call.require(
        found is not None and found.size == size,
        "the group must be this process alone, or the one that it has joined",
        found=f"a group of {size}, "
        f"and {'no group was joined' if found is None else f'one of {found.size} was joined'}",
        needed="group_size 1, or the size of the joined group",
        remedy="ds.distributed.join(...) before the run, or export without a distribution strategy",
        status="UNIMPLEMENTED",
    )
    return found


def _merge(call: Call) -> str:
    merge: str = call.attrs["merge_op"]
    call.require(
        merge in ("Add", "Mul", "Max", "Min"),
        "values are merged by a function that is known",
        found=merge,
        needed="Add, Mul, Max or Min",
    )
    return merge


def _computed(call: Call, value: Array, group: Collectives | None) -> Array:
    """What the op gives in the group."""
    if group is None:
        return value
    if "Gather" in call.op:
        found: Array = group.gather(value)
    else:
        mean = call.attrs.get("final_op") == "Div"
        reduce = group.reduce_scatter if "Scatter" in call.op else group.reduce
        found = reduce(value, _merge(call), mean=mean)
    return found


@kernel("CollectiveReduce", "CollectiveGather")
def collective(call: Call, value: Array) -> Array:
    """What the group computes of the values of its members."""
    return _computed(call, value, _group(call, int(call.attrs["group_size"])))


@kernel("CollectiveReduceV2", "CollectiveGatherV2", "CollectiveReduceScatterV2")
def collective_v2(call: Call, value: Array, group_size: Array, *_: Array) -> Array:
    """The same, of a group whose size is an input."""
    return _computed(call, value, _group(call, scalar_int(call, group_size, "group_size")))


@kernel("CollectiveBcastSend")
def send(call: Call, value: Array) -> Array:
    """The value, which the others of the group receive."""
    return _broadcast(call, value, _group(call, int(call.attrs["group_size"])), sends=True)


@kernel("CollectiveBcastSendV2")
def send_v2(call: Call, value: Array, group_size: Array, *_: Array) -> Array:
    """The same, of a group whose size is an input."""
    group = _group(call, scalar_int(call, group_size, "group_size"))
    return _broadcast(call, value, group, sends=True)


@kernel("CollectiveBcastRecv")
def receive(call: Call) -> Array:
    """The value that one of the group sends."""
    room = _room(call, call.attrs["shape"])
    return _broadcast(call, room, _group(call, int(call.attrs["group_size"])), sends=False)


@kernel("CollectiveBcastRecvV2")
def receive_v2(
    call: Call, group_size: Array, _group_key: Array, _key: Array, shape: Array
) -> Array:
    """The same, of a group whose size is an input."""
    room = _room(call, int_vector(call, shape, "shape"))
    group = _group(call, scalar_int(call, group_size, "group_size"))
    return _broadcast(call, room, group, sends=False)


def _room(call: Call, shape: Sequence[int] | None) -> Array:
    """Zeros, in the place of which a value comes."""
    call.require(
        shape is not None and all(dim >= 0 for dim in shape),
        "what is received has a shape that is known",
        found="none" if shape is None else list(shape),
        needed="a dimension for each",
    )
    dtype = call.attrs["T"].np
    return np.zeros(check_size(call, tuple(shape or ()), dtype), dtype)


def _broadcast(call: Call, value: Array, group: Collectives | None, *, sends: bool) -> Array:
    """The one value that is sent: all others are zeros, which no byte is less than."""
    senders = int(sends)
    if group is not None:
        senders = int(group.reduce(np.array([sends], np.int32), "Add", mean=False)[0])
    call.require(
        senders == 1,
        "one process of a group sends, and the others receive",
        found=senders,
        needed=1,
    )
    if group is None:
        return value
    data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
    found: Array = np.asarray(group.reduce(data, "Max", mean=False))
    return found.view(value.dtype).reshape(value.shape)


@kernel("CollectiveAllToAllV2")
def all_to_all(call: Call, value: Array, group_size: Array, *_: Array) -> Array:
    """Of each process of the group the share, along the first axis, that is for this one."""
    group = _group(call, scalar_int(call, group_size, "group_size"))
    if group is None:
        return value
    call.require(
        value.ndim > 0 and value.shape[0] % group.size == 0,
        "the first axis is divided among the processes",
        found=list(value.shape),
        needed=f"a multiple of {group.size}",
    )
    every = np.asarray(group.gather(value)).reshape(group.size, group.size, -1)
    return np.array(every[:, group.rank]).reshape(value.shape)


@kernel("CollectiveAssignGroupV2")
def assign_group(
    call: Call, groups: Array, device_index: Array, base_key: Array
) -> tuple[Array, Array]:
    """Size and key of the group, a row of ``groups``, that holds a device."""
    call.require(groups.ndim == 2, "groups must be a matrix", found=list(groups.shape), needed="2")
    for name, value in (("device_index", device_index), ("base_key", base_key)):
        call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape))
    flat, index = groups.reshape(-1), int(device_index)
    places = np.flatnonzero(flat == index)
    read = flat[: places[0] + 1] if places.size else flat  # no more is looked at
    call.require(
        bool(((read >= 0) & (read < flat.size)).all()),
        "groups must name devices",
        found=groups.tolist(),
        needed=f"numbers from 0 to {flat.size - 1}",
    )
    call.require(places.size, "the device must be in a group", found=index, needed=groups.tolist())
    row = int(places[0]) // groups.shape[1]
    keys = base_key + np.arange(row + 1, dtype=np.int32)  # which wrap, as TensorFlow's do
    call.require(
        bool(keys.all()),
        "the key 0 is reserved",
        found=f"base_key {int(base_key)}, groups from {int(keys[0])} on",
        needed="a base_key from which no group gets 0",
    )
    return np.array(groups.shape[1], np.int32), np.array(keys[row], np.int32)


@kernel("SyncDevice")
def sync_device(_: Call) -> tuple[()]:
    """Nothing: kernels are done when they return."""
    return ()
