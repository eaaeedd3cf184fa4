"""Seeds of clusters, and nearest centres.

Source: TensorFlow ops of the same names; Arthur and Vassilvitskii, "k-means++" (2007), Bachem and
others, "Approximate k-means++ in sublinear time" (2016).
"""

from __future__ import annotations

import math

import numpy as np

from drystone_base.kernels._indices import scalar_int
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.random._philox import seeded
from drystone_base.kernels.random._serial import Serial
from drystone_base.state.cancellation import check_time

_ROWS: int = 1 << 22
"""The most distances that are held at once."""
_MOST_TRIES: int = 1 << 24
"""More for one sample are an accident: TensorFlow's k-means asks for 3, and these take minutes."""


def _matrix(call: Call, value: Array, name: str) -> None:
    call.require(value.ndim == 2, f"{name} must be a matrix", found=list(value.shape))


def _scalar(call: Call, value: Array, name: str) -> int:
    call.require(value.ndim == 0, f"{name} must be a scalar", found=list(value.shape))
    return scalar_int(call, value, name)


def _half_norms(points: Array) -> Array:
    return np.asarray(np.float32(0.5) * np.square(points).sum(axis=1))


class _Chooser:
    """Points chosen one by one, the sooner the farther they are from those already chosen."""

    def __init__(self, call: Call, points: Array, numbers: Serial) -> None:
        self._call, self._points, self._numbers = call, points, numbers
        self._norms = _half_norms(points)
        self.nearest = np.full(len(points), np.inf, np.float32)
        self.chosen: list[int] = []

    def draw(self) -> int:
        """A point that has not been chosen."""
        size = len(self._points)
        if not self.chosen:
            self._look()
            return self._numbers.below(size)
        ends = np.add.accumulate(self.nearest)
        total = ends[-1]
        while True:
            self._look()
            if total > 0:
                height = np.float32(self._numbers.single()) * total
                found = min(int(np.searchsorted(ends, height, side="right")), size - 1)
            else:
                found = self._numbers.below(size)
            if found not in self.chosen:
                return found
            if total == np.inf:  # of distances that overflow: every height leads to the same point
                total = np.float32(0)

    def _look(self) -> None:
        check_time(self._call.runtime, f"in node {self._call.node!r} ({self._call.op})")

    def after(self, index: int) -> Array:
        """Half the squared distances to the nearest chosen point, were this one chosen too."""
        y = self._points[index]
        away = (self._norms - self._points @ y) + self._norms[index]
        return np.asarray(np.minimum(self.nearest, away))

    def choose(self, tries: int) -> None:
        """Choose the best of several points."""
        best, least = 0, np.float32(np.inf)
        kept = self.nearest
        for _ in range(tries):
            index = self.draw()
            away = self.after(index)
            if tries == 1 or away.sum() < least:
                best, least, kept = index, away.sum(), away
        self.chosen.append(best)
        self.nearest = kept


@kernel("KmeansPlusPlusInitialization")
@quiet
def kmeans_plus_plus(
    call: Call, points: Array, num_to_sample: Array, seed: Array, num_retries: Array
) -> Array:
    """``num_to_sample`` rows of ``points``, far from one another.

    Each is the best of ``num_retries`` + 1 (3 + log ``num_to_sample`` where that is negative).
    """
    _matrix(call, points, "points")
    count = _scalar(call, num_to_sample, "num_to_sample")
    start = _scalar(call, seed, "seed")
    retries = _scalar(call, num_retries, "num_retries_per_sample")
    call.require(len(points) > 0, "there must be points", found="no rows")
    call.require(
        0 < count <= len(points),
        "the number of samples must be positive, and at most that of the points",
        found=count,
        needed=f"1 ... {len(points)}",
    )
    tries = 1 + (retries if retries >= 0 else 2 + int(math.log(count)))
    call.require(
        tries <= _MOST_TRIES,
        "num_retries_per_sample must be a number of tries that can be made",
        found=retries,
        needed=f"less than {_MOST_TRIES}",
    )
    chooser = _Chooser(call, points, Serial(seeded(start, 0)))
    for _ in range(count):
        chooser.choose(tries)
    return points[chooser.chosen]


@kernel("KMC2ChainInitialization")
@quiet
def kmc2_chain(call: Call, distances: Array, seed: Array) -> Array:
    """The last state of a Markov chain over points that prefers those far away."""
    call.require(distances.ndim == 1, "distances must be a vector", found=list(distances.shape))
    start = _scalar(call, seed, "seed")
    call.require(distances.size > 0, "there must be distances", found="none")
    numbers, at = Serial(seeded(start, 0)), 0
    for k in range(1, distances.size):
        if distances[k] > np.float32(numbers.single()) * distances[at]:
            at = k
    return np.array(at, np.int64)


def _order(away: Array, count: int) -> Array:
    return np.argsort(away, axis=1, kind="stable")[:, :count]


@kernel("NearestNeighbors")
@quiet
def nearest_neighbors(call: Call, points: Array, centers: Array, k: Array) -> tuple[Array, Array]:
    """Indices of the ``k`` centres nearest to each point, and the squared distances."""
    _matrix(call, points, "points")
    _matrix(call, centers, "centers")
    wanted = _scalar(call, k, "k")
    call.require(len(points) > 0, "there must be points", found="no rows")
    call.require(
        points.shape[1] == centers.shape[1],
        "points and centers must have as many coordinates",
        found=f"{points.shape[1]} and {centers.shape[1]}",
    )
    call.require(wanted >= 0, "k must not be negative", found=wanted, needed="0 or more")
    count = min(wanted, len(centers))
    shape = check_size(call, (len(points), count), np.dtype(np.int64))
    indices, distances = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    norms, step = _half_norms(centers), max(1, _ROWS // max(1, len(centers)))
    for row in range(0, len(points) if count else 0, step):
        some = points[row : row + step]
        away = norms - some @ centers.T
        order = np.argmin(away, axis=1)[:, None] if count == 1 else _order(away, count)
        indices[row : row + step] = order
        near = np.take_along_axis(away, order, axis=1)
        distances[row : row + step] = np.float32(2) * (_half_norms(some)[:, None] + near)
    return indices, distances
