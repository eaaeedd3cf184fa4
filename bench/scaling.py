"""A simulator of ring all-reduces and training steps over many workers.

Each of N workers passes shares of 1/N of the bytes to the next one, N-1 times to sum and N-1 times
to gather; before that all agree on the call, a message of few bytes. A share takes a latency, then
the slower of the wire and the processor that moves and adds it, and workers wait for what comes
from the one before. Source: the alpha-beta model of ring all-reduce (Thakur and others, 2005;
Patarasuk and Yuan, 2009), whose two terms are measured at several sizes here, since caches and
buffers bend the line, with processors that several workers share and steps of uneven length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

__all__ = ["NETWORKS", "Costs", "Network", "all_reduce", "step"]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Costs:
    """What it takes to pass on shares of ``shares`` bytes, ascending, in seconds by size.

    ``busy``: of the processor of each worker; ``wait``: beyond that. ``overlap``: with which part
    (0 to 1) of what the wire takes, work of the same process can go on.
    """

    shares: tuple[float, ...]
    busy: tuple[float, ...]
    wait: tuple[float, ...]
    overlap: float = 0.0

    def of(self, share: float) -> tuple[float, float]:
        """Busy and waiting seconds of a share, on the line between those that were measured."""
        last = self.shares[-1]
        more = max(1.0, share / last)
        busy, wait = (float(np.interp(share, self.shares, y)) for y in (self.busy, self.wait))
        return busy * more, wait * more


@dataclass(frozen=True)
class Network:
    """``latency``: seconds of a message beyond those measured; ``rate``: bytes a second each way.

    ``cores``: how many processors all workers share; 0: each has its own.
    """

    name: str
    latency: float = 0.0
    rate: float = math.inf
    cores: int = 0

    def crowd(self, workers: int) -> float:
        """How many workers want each processor, at least one."""
        return max(1.0, workers / self.cores) if self.cores else 1.0


NETWORKS: Final = (
    Network("10 Gb/s", 20e-6, 1.25e9),
    Network("25 Gb/s", 10e-6, 3.125e9),
    Network("100 Gb/s", 5e-6, 12.5e9),
)
"""Of workers with a machine each, at rates and latencies as of switched Ethernet."""


def all_reduce(
    workers: int, size: float, costs: Costs, network: Network, begin: Array | None = None
) -> Array:
    """When each worker has the sum of ``size`` bytes, in seconds; ``begin``: when it calls."""
    now = np.zeros(workers) if begin is None else begin.astype(np.float64)
    if workers == 1:
        return now
    now = _passed(now, 0.0, costs, network)
    for _ in range(2 * (workers - 1)):
        now = _passed(now, size / workers, costs, network)
    return now


def _passed(now: Array, share: float, costs: Costs, network: Network) -> Array:
    """When each worker has taken the share of the one before, and has passed on its own."""
    busy, wait = costs.of(share)
    busy *= network.crowd(len(now))
    wire = share / network.rate
    came = np.roll(now, 1) + wait + network.latency + wire
    # A chunk is moved and added while the next one comes: the slower of both counts.
    done: Array = np.maximum(now + busy, came + max(0.0, busy - wire))
    return done


def step(
    workers: int, size: float, compute: float, uneven: float, costs: Costs, network: Network,
    *, steps: int = 20, seed: int = 0,
) -> float:  # fmt: skip
    """Mean seconds of a step: ``compute`` on each worker, then the sum of ``size`` bytes.

    ``uneven``: the standard deviation of ``compute``, as a part of it. What the wire takes beyond
    the processor is hidden behind the work, as far as the overlap of the costs goes.
    """
    rng = np.random.default_rng(seed)
    wireless = Network("no wire", cores=network.cores)
    now = np.zeros(workers)
    for _ in range(steps):
        work = compute * network.crowd(workers) * np.maximum(0.1, rng.normal(1, uneven, workers))
        ready = now + work
        done = all_reduce(workers, size, costs, network, ready)
        alone = all_reduce(workers, size, costs, wireless, ready)
        now = done - np.minimum(costs.overlap * (done - alone), work)
    return float(now.max()) / steps
