"""Collective ops of a group that is this process alone: what one member gives, it gets.

Source: TensorFlow ops Collective*. Groups of several processes would need a network.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._indices import scalar_int
from drystone_base.kernels._registry import Array, Call, kernel


def _alone(call: Call, size: int) -> None:
    call.require(
        size == 1,
        "a group must be this process alone",
        found=f"a group of {size}",
        needed="group_size 1",
        remedy="export the model without a distribution strategy",
        status="UNIMPLEMENTED",
    )


@kernel("CollectiveReduce", "CollectiveGather", "CollectiveBcastSend")
def collective(call: Call, value: Array) -> Array:
    """The value, as the group has one member."""
    _alone(call, int(call.attrs["group_size"]))
    return value


@kernel(
    "CollectiveReduceV2", "CollectiveGatherV2", "CollectiveBcastSendV2",
    "CollectiveReduceScatterV2", "CollectiveAllToAllV2",
)  # fmt: skip
def collective_v2(call: Call, value: Array, group_size: Array, *_: Array) -> Array:
    """The value, as the group has one member."""
    _alone(call, scalar_int(call, group_size, "group_size"))
    return value


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
