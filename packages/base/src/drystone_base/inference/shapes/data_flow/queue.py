"""Shapes of queue ops: a queue's handle does not carry the shapes of its components."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "RandomShuffleQueue",
    "RandomShuffleQueueV2", "PriorityQueue", "PriorityQueueV2", "QueueSize", "QueueSizeV2",
    "QueueIsClosed", "QueueIsClosedV2", "FakeQueue",
)  # fmt: skip
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape(
    "QueueEnqueue", "QueueEnqueueV2", "QueueEnqueueMany", "QueueEnqueueManyV2", "QueueClose",
    "QueueCloseV2",
)  # fmt: skip
def nothing(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []


@shape(
    "QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2",
    "QueueDequeueUpTo", "QueueDequeueUpToV2",
)  # fmt: skip
def dequeue(c: ShapeCall) -> list[Shape]:
    """Unknown: the queue says it."""
    return [None] * c.output_count
