"""Whether what TVM compiled is faster than drystone's own kernels, by running both."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

import drystone_base as ds
from drystone_base.graph import Body
from drystone_subgraph import Executable

__all__ = ["Times", "measure", "own_kernels"]

_ROUNDS: Final = 7
_LEAST: Final = 2e-3
"""Seconds that a round takes at least: calls of less are repeated in it."""

Array = np.ndarray[Any, Any]


class Times(NamedTuple):
    """Seconds of a call, the least of some rounds of both in turns."""

    compiled: float
    own: float

    def __str__(self) -> str:
        return f"{self.compiled * 1e6:.0f} us a call by TVM, {self.own * 1e6:.0f} us by drystone"


def measure(
    compiled: Executable,
    own: Executable,
    arrays: Sequence[Array],
) -> Times:
    """The times of a compiled region and of drystone's own kernels."""
    both = (lambda: compiled(arrays), lambda: own(arrays))
    counts = [_count(call) for call in both]
    least = [float("inf")] * 2
    for _ in range(_ROUNDS):
        for k, call in enumerate(both):
            least[k] = min(least[k], _time(call, counts[k]))
    return Times(*least)


def own_kernels(body: Body) -> Executable:
    """A region as drystone's own kernels run it; the body is used up."""
    graph, feeds = body.graph, []
    for node in body.args:
        dtype = node.attrs["T"]
        for name in list(node.attrs):
            graph.remove_attr(node, name)
        graph.set_op(node, "Placeholder")
        graph.set_attr(node, "dtype", dtype)
        feeds.append(f"{node.name}:0")
    fetches = [f"{source.name}:{k}" for source, k in (end.inputs[0] for end in body.results)]
    graph.remove(body.results)
    call = ds.Session(graph, ds.SessionConfig(subgraphs="off")).make_callable(fetches, feeds)

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        found: Sequence[Array] = call(*inputs)
        return found

    return run


def _count(call: Callable[[], Any]) -> int:
    call()
    return max(1, int(_LEAST / max(_time(call, 1), 1e-7)))


def _time(call: Callable[[], Any], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count
