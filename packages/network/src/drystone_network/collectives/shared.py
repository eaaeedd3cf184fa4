"""The group of this process, and training steps whose gradients all processes share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

import numpy as np

from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest
from drystone_base.state.collectives import use_collectives
from drystone_network.cluster.spec import ClusterSpec
from drystone_network.collectives.group import Group

__all__ = ["all_reduce", "data_parallel", "join"]

_lock: Final = threading.Lock()
_joined: list[Group] = []
_BY_MERGE: Final = {"Add": "sum", "Mul": "prod", "Max": "max", "Min": "min"}


@checked
def join(
    cluster: ClusterSpec | None = None, job: str = "worker", task: int = 0, **options: Any
) -> Group:
    """Make this process one of a group, by default the one that ``TF_CONFIG`` states.

    ``options`` are those of :class:`Group`. From then on :func:`all_reduce` and
    :func:`data_parallel` use it, and so do the ``Collective*`` ops of graphs that this process
    runs. Closing the group ends that.
    """
    group = Group(cluster, job, task, **options)
    with _lock:
        _joined[:] = [group]
        use_collectives(_Collectives(group))
    return group


def _group(given: Group | None) -> Group:
    if given is not None:
        return given
    with _lock:
        if _joined:
            return _joined[0]
    raise BadRequest(
        "this process is in no group",
        check="a process joins a group before it calls collectives",
        found="no group",
        needed="a group",
        remedy="call ds.distributed.join(cluster, job, task) first, or give group=",
        code="no-group",
        status="FAILED_PRECONDITION",
    )


@checked
def all_reduce(value: Any, op: str = "sum", group: Group | None = None) -> Any:
    """The elementwise ``op`` of the arrays of all processes; of lists, tuples and dicts, of each.

    Arrays of one dtype go round together. Raises as :meth:`Group.all_reduce`, and ``BadRequest``
    (``no-group``).
    """
    flat: list[Any] = []
    rebuild = _flattened(value, flat)
    arrays = [np.asarray(one) for one in flat]
    out: list[Any] = [None] * len(arrays)
    chosen = _group(group)
    for dtype in sorted({str(array.dtype) for array in arrays}):
        places = [k for k, array in enumerate(arrays) if str(array.dtype) == dtype]
        joined = np.concatenate([arrays[k].reshape(-1) for k in places])
        reduced, at = chosen.all_reduce(joined, op), 0
        for k in places:
            size = arrays[k].size
            out[k] = reduced[at : at + size].reshape(arrays[k].shape)
            at += size
    return rebuild(iter(out))


def _flattened(value: Any, flat: list[Any]) -> Callable[[Any], Any]:
    """What puts arrays back into the structure that they were in, in order."""
    if isinstance(value, Mapping):
        parts = {key: _flattened(value[key], flat) for key in sorted(value)}
        return lambda found: {key: part(found) for key, part in parts.items()}
    if isinstance(value, list | tuple):
        made = [_flattened(one, flat) for one in value]
        kind = type(value)
        if hasattr(kind, "_fields"):
            return lambda found: kind(*[part(found) for part in made])
        return lambda found: kind([part(found) for part in made])
    if value is None:
        return lambda _: None
    flat.append(value)
    return lambda found: next(found)


@checked
def data_parallel(step: Callable[..., Any], group: Group | None = None) -> Callable[..., Any]:
    """``step``, of whose results every process gets the mean over all processes.

    ``step`` computes a loss, gradients, or both from this process's share of a batch. With shares
    of one size the means are those of the whole batch, up to the order of sums::

        step = ds.distributed.data_parallel(
            lambda x, y: session.run(["loss:0", *gradients], {"x:0": x, "y:0": y})
        )
    """

    @wraps(step)
    def shared(*args: Any, **kwargs: Any) -> Any:
        return all_reduce(step(*args, **kwargs), "mean", group)

    return shared


class _Collectives:
    """What the ``Collective*`` ops of graphs ask for."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.size, self.rank = group.size, group.rank

    def reduce(self, value: Any, merge: str, *, mean: bool) -> Any:
        """The reduction that TensorFlow names by ``merge_op`` and ``final_op``."""
        return self.group.all_reduce(value, "mean" if mean else _BY_MERGE[merge])

    def reduce_scatter(self, value: Any, merge: str, *, mean: bool) -> Any:
        """This process's share of it."""
        return self.group.reduce_scatter(value, "mean" if mean else _BY_MERGE[merge])

    def broadcast(self, value: Any) -> Any:
        """The value of the first process."""
        return self.group.broadcast(value)

    def gather(self, value: Any) -> Any:
        """The values of all, one after another."""
        return self.group.all_gather(value)
