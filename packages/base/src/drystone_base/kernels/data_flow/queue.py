"""Queues that live as long as the session."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import INT64
from drystone_base.kernels._handles import as_reference, object_of, shared_handle
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.data_flow._queues import PaddingQueue, PriorityQueue, Queue, ShuffleQueue
from drystone_base.kernels.random._philox import seeded
from drystone_base.state.variables import Variable

_KIND: Final = "queue"


def _handle(call: Call, create: Callable[[str], Queue]) -> Any:
    """A handle to the session's queue of that name, made when there is none."""
    return shared_handle(
        call,
        _KIND,
        create,
        lambda queue: f"{type(queue).__name__} of {queue.types}",
        reference=not call.op.endswith("V2"),
    )


@kernel("FIFOQueue", "FIFOQueueV2")
def fifo_queue(call: Call) -> Any:
    """A handle to a queue, first in, first out."""
    a = call.attrs
    return _handle(call, lambda n: Queue(n, a["component_types"], a["shapes"], a["capacity"]))


@kernel("PaddingFIFOQueue", "PaddingFIFOQueueV2")
def padding_fifo_queue(call: Call) -> Any:
    """A handle to a queue that pads what is taken together."""
    a = call.attrs
    return _handle(
        call, lambda n: PaddingQueue(n, a["component_types"], a["shapes"], a["capacity"])
    )


@kernel("RandomShuffleQueue", "RandomShuffleQueueV2")
def random_shuffle_queue(call: Call) -> Any:
    """A handle to a queue in random order: TensorFlow's for the same seeds."""
    a = call.attrs
    seeds = (a["seed"], a["seed2"])
    if not any(seeds):
        seeds = (secrets.randbits(64), secrets.randbits(64))
    return _handle(
        call,
        lambda n: ShuffleQueue(
            n,
            a["component_types"],
            a["shapes"],
            a["capacity"],
            a["min_after_dequeue"],
            seeded(*seeds),
        ),
    )


@kernel("PriorityQueue", "PriorityQueueV2")
def priority_queue(call: Call) -> Any:
    """A handle to a queue ordered by an int64 that stands before the declared components."""
    a = call.attrs
    types = [INT64, *a["component_types"]]
    shapes = [(), *a["shapes"]] if a["shapes"] or not a["component_types"] else []
    return _handle(call, lambda n: PriorityQueue(n, types, shapes, a["capacity"]))


@kernel("QueueEnqueue", "QueueEnqueueV2")
def enqueue(call: Call, handle: Any, *components: Array) -> tuple[()]:
    """Add one element, a tensor for each component; waits while the queue is full.

    Raises ``KernelError`` for other dtypes or shapes, and CANCELLED for a closed queue.
    """
    queue = object_of(handle, Queue)
    queue.check(call, components, 0)
    queue.enqueue(call, [components])
    return ()


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2")
def enqueue_many(call: Call, handle: Any, *components: Array) -> tuple[()]:
    """Add one element for each row of the components."""
    queue = object_of(handle, Queue)
    sizes = {c.shape[0] if c.ndim else -1 for c in components}
    call.require(
        len(sizes) == 1 and -1 not in sizes,
        "components must have the same number of rows",
        found=[list(c.shape) for c in components],
        needed="equal first dimensions",
    )
    queue.check(call, components, 1)
    rows = [tuple(c[k, ...] for c in components) for k in range(sizes.pop())]
    queue.enqueue(call, rows)
    return ()


def _queue(call: Call, handle: Any) -> Queue:
    queue = object_of(handle, Queue)
    call.require(
        call.attrs["component_types"] == queue.types,
        "the node must expect the queue's types",
        found=queue.types,
        needed=call.attrs["component_types"],
    )
    return queue


@kernel("QueueDequeue", "QueueDequeueV2")
def dequeue(call: Call, handle: Any) -> tuple[Array, ...]:
    """Take one element; OUT_OF_RANGE from a closed, empty queue."""
    return _queue(call, handle).dequeue(call, 1)[0]


@kernel("QueueDequeueMany", "QueueDequeueManyV2")
def dequeue_many(call: Call, handle: Any, n: Array) -> list[Array]:
    """Take ``n`` elements, each component stacked."""
    return _queue(call, handle).dequeue_stacked(call, int(n.item()))


@kernel("QueueDequeueUpTo", "QueueDequeueUpToV2")
def dequeue_up_to(call: Call, handle: Any, n: Array) -> list[Array]:
    """As QueueDequeueMany; the last elements of a closed queue may be fewer."""
    return _queue(call, handle).dequeue_stacked(call, int(n.item()), fewer=True)


@kernel("QueueSize", "QueueSizeV2")
def size(_: Call, handle: Any) -> Array:
    """The number of elements, int32."""
    return np.array(len(object_of(handle, Queue)), np.int32)


@kernel("QueueClose", "QueueCloseV2")
def close(call: Call, handle: Any) -> tuple[()]:
    """Refuse further elements; those there can still be taken."""
    object_of(handle, Queue).close(call.attrs["cancel_pending_enqueues"])
    return ()


@kernel("FakeQueue")
def fake_queue(_: Call, resource: Array) -> Variable:
    """The queue of a handle of the second generation, for ops of the first."""
    return as_reference(resource.item())


@kernel("QueueIsClosed", "QueueIsClosedV2")
def is_closed(_: Call, handle: Any) -> Array:
    """Whether the queue is closed."""
    return np.array(object_of(handle, Queue).closed)
