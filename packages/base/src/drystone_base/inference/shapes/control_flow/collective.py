"""Shapes of collective ops."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("CollectiveReduce", "CollectiveReduceV2")
def reduce(c: ShapeCall) -> list[Shape]:
    """The value's shape."""
    return [c.shape(0)]


@shape("CollectiveGather", "CollectiveBcastSend", "CollectiveBcastRecv")
def declared(c: ShapeCall) -> list[Shape]:
    """The shape that the node declares."""
    return [c.attrs["shape"]]


@shape("CollectiveGatherV2", "CollectiveReduceScatterV2")
def gather(c: ShapeCall) -> list[Shape]:
    """The value's shape; the first dimension depends on the group."""
    given = c.with_rank_at_least(c.shape(0), 1)
    return [None if given is None else (UNKNOWN, *given[1:])]


@shape("CollectiveBcastSendV2", "CollectiveAllToAllV2")
def same(c: ShapeCall) -> list[Shape]:
    """The value's shape."""
    return [c.shape(0)]


@shape("CollectiveBcastRecvV2")
def received(c: ShapeCall) -> list[Shape]:
    """The shape that is asked for."""
    return [c.value_as_shape(3)]


@shape("CollectiveAssignGroupV2")
def assign_group(_: ShapeCall) -> list[Shape]:
    """Two scalars."""
    return [(), ()]


@shape("SyncDevice")
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
