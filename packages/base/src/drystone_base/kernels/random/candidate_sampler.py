"""Classes to be held against the true ones in sampled losses: sampled, with expected counts.

Source: TensorFlow ops of the same names. Equal seeds give TensorFlow's classes, run after run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from drystone_base.files.uris import as_path
from drystone_base.kernels._indices import check_below
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.random._serial import Serial
from drystone_base.kernels.random.random import reserve

_RESERVED: Final = 512
"""Blocks that each sampled class may use up."""
_LEAST: Final = np.finfo(np.float32).min
_INT_MAX: Final = 2**31 - 1
_TRIES: Final = 10_000_000


class Sampler(Protocol):
    """A distribution over the classes below ``range``."""

    range: int

    def sample(self, numbers: Serial) -> int:
        """One class."""

    def probability(self, classes: Array) -> Array:
        """The probability of each class, float32."""


class _Uniform:
    def __init__(self, size: int) -> None:
        self.range = size

    def sample(self, numbers: Serial) -> int:
        return numbers.below(self.range)

    def probability(self, classes: Array) -> Array:
        return np.full(classes.shape, np.float32(1.0 / self.range))


class _LogUniform:
    """Class k has a probability in proportion to log((k + 2) / (k + 1))."""

    def __init__(self, size: int) -> None:
        self.range = size
        self._log = math.log1p(size)

    def sample(self, numbers: Serial) -> int:
        return (int(math.exp(numbers.double() * self._log)) - 1) % self.range

    def probability(self, classes: Array) -> Array:
        return np.asarray(np.log((classes + 2.0) / (classes + 1.0)) / self._log).astype(np.float32)


class _Unigram:
    """Classes in proportion to how often they were true, counting from one."""

    def __init__(self, size: int) -> None:
        self.range = size
        self.weights = np.ones(size, np.int64)
        self._ends = np.cumsum(self.weights)

    def sample(self, numbers: Serial) -> int:
        place = numbers.below(int(self._ends[-1]), bits=32)
        return int(np.searchsorted(self._ends, place, side="right"))

    def probability(self, classes: Array) -> Array:
        total = np.float32(self.weights.sum())
        return np.asarray(self.weights[classes].astype(np.float32) / total)

    def update(self, classes: Array) -> None:
        """Count the classes once more."""
        room = _INT_MAX - int(self.weights.sum())
        np.add.at(self.weights, classes.ravel()[: max(room, 0)], 1)
        self._ends = np.cumsum(self.weights)


class _Fixed:
    """Classes by given weights, by Walker's method of aliases."""

    def __init__(self, weights: Sequence[np.float32]) -> None:
        self.range = len(weights)
        self._weights = np.array(weights, np.float32)
        self._total = np.float32(0)
        for weight in self._weights:
            self._total += weight
        self._shares, self._others = self._aliases()

    def _aliases(self) -> tuple[list[float], list[int]]:
        total = sum(self._weights.tolist())
        with np.errstate(all="ignore"):
            scaled = self._weights * np.float32(self.range)
            shares: list[float] = (scaled.astype(np.float64) / total).tolist()
        others = [-1] * self.range
        low = [k for k, p in enumerate(shares) if p < 1]
        high = [k for k, p in enumerate(shares) if not p < 1]
        while high and low:
            small, big = low.pop(), high.pop()
            others[small] = big
            shares[big] -= 1 - shares[small]
            (low if shares[big] < 1 else high).append(big)
        for k in (*high, *low):
            shares[k], others[k] = 1.0, k
        return np.array(shares, np.float32).tolist(), others

    def sample(self, numbers: Serial) -> int:
        height = numbers.single()
        place = numbers.below(self.range, bits=32)
        return place if height < self._shares[place] else self._others[place]

    def probability(self, classes: Array) -> Array:
        return np.asarray(self._weights[classes] / self._total)


def _pick(call: Call, sampler: Sampler, numbers: Serial) -> tuple[Array, int]:
    """The sampled classes, and how many tries that took."""
    count = call.attrs["num_sampled"]
    if not call.attrs["unique"]:
        return np.array([sampler.sample(numbers) for _ in range(count)], np.int64), count
    picked: dict[int, None] = {}
    tries = 0
    while len(picked) < count:
        tries += 1
        call.require(
            tries <= _TRIES,
            "there must be enough classes that can be sampled",
            found=f"{len(picked)} different classes in {tries - 1} tries",
            needed=count,
            remedy="sample fewer classes, or give more of them a weight",
        )
        picked.setdefault(sampler.sample(numbers))
    return np.array(list(picked), np.int64), tries


def _expected(probability: Array, count: int, tries: int) -> Array:
    """How often a class is expected among ``count`` that took ``tries``."""
    if tries == count:
        return np.asarray(probability * np.float32(count))
    with np.errstate(all="ignore"):
        return np.asarray(-np.expm1(np.float32(tries) * np.log1p(-probability)))


def _checked(call: Call, true_classes: Array, size: int) -> None:
    call.require(
        true_classes.ndim == 2 and true_classes.shape[1] == call.attrs["num_true"],
        "true_classes must be a matrix of num_true columns",
        found=list(true_classes.shape),
        needed=f"[batch, {call.attrs['num_true']}]",
    )
    call.require(
        not call.attrs["unique"] or call.attrs["num_sampled"] <= size,
        "there must be enough classes to sample different ones",
        found=f"{call.attrs['num_sampled']} of {size}",
        needed="num_sampled <= range_max",
    )
    check_size(call, (call.attrs["num_sampled"],), np.dtype(np.int64))
    check_below(call, true_classes, size, "true_classes")


def _sampled(call: Call, sampler: Sampler, true_classes: Array) -> tuple[Array, Array, Array]:
    _checked(call, true_classes, sampler.range)
    count = call.attrs["num_sampled"]
    found, tries = _pick(call, sampler, Serial(reserve(call, _RESERVED * count)))
    true, own = (sampler.probability(c) for c in (true_classes, found))
    return found, _expected(true, count, tries), _expected(own, count, tries)


@kernel("UniformCandidateSampler", "LogUniformCandidateSampler")
def simple(call: Call, true_classes: Array) -> tuple[Array, Array, Array]:
    """Classes below ``range_max``: all alike, or fewer the higher they are."""
    make = _LogUniform if call.op.startswith("Log") else _Uniform
    return _sampled(call, make(call.attrs["range_max"]), true_classes)


@kernel("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler")
def learned(call: Call, true_classes: Array) -> tuple[Array, Array, Array]:
    """Classes by how often they were true in earlier runs."""
    size = call.attrs["range_max"]
    call.require(size < _INT_MAX, "range_max must fit in int32", found=size, needed=_INT_MAX - 1)
    check_size(call, (size,), np.dtype(np.int64))
    sampler = call.runtime.resources.get_or_create("", "unigram", call.node, lambda: _Unigram(size))
    out = _sampled(call, sampler, true_classes)
    sampler.update(true_classes)
    return out


@kernel("AllCandidateSampler")
def every(call: Call, true_classes: Array) -> tuple[Array, Array, Array]:
    """All ``num_sampled`` classes, each expected once."""
    count = call.attrs["num_sampled"]
    _checked(call, true_classes, count)
    ones = np.ones(true_classes.shape, np.float32)
    return np.arange(count, dtype=np.int64), ones, np.ones(count, np.float32)


def _weights_of_file(call: Call) -> list[np.float32]:
    """The last column of each line."""
    path = as_path(call.attrs["vocab_file"])
    call.runtime.access.check_read(call, path)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        call.fail(
            "the vocabulary file must be readable",
            found=str(path),
            needed="a text file",
            status="NOT_FOUND",
            inner=error,
        )
    lines = lines[:-1] if lines[-1] == b"" else lines
    weights = []
    for line in lines:
        try:
            weights.append(np.float32(line.rpartition(b",")[2].decode()))
        except ValueError as error:
            call.fail(
                "a line of the vocabulary file must end with a weight",
                found=repr(line),
                needed="text, a comma, a number",
                inner=error,
            )
    return weights


@kernel("FixedUnigramCandidateSampler")
def fixed(call: Call, true_classes: Array) -> tuple[Array, Array, Array]:
    """Classes by the weights in ``unigrams`` or in the last column of ``vocab_file``."""
    a = call.attrs
    call.require(
        bool(a["vocab_file"]) != bool(a["unigrams"]),
        "there must be one source of weights",
        found="both" if a["unigrams"] else "none",
        needed="either vocab_file or unigrams",
    )
    call.require(
        a["num_shards"] > 0 and a["shard"] >= 0,
        "there must be a shard",
        found=f"shard {a['shard']} of {a['num_shards']}",
    )
    given = a["unigrams"] or _weights_of_file(call)
    shards, own = a["num_shards"], a["shard"]
    weights = [np.float32(0) for k in range(a["num_reserved_ids"]) if k % shards == own]
    # The first word's number is that of the reserved ones in this shard, not in all.
    given = [w for k, w in enumerate(given, len(weights)) if k % shards == own]
    weights += [np.float32(w) ** np.float32(a["distortion"]) for w in given]
    call.require(
        len(weights) == a["range_max"],
        "there must be a weight for each class",
        found=f"{len(weights)} weights",
        needed=a["range_max"],
    )
    return _sampled(call, _Fixed(weights), true_classes)


@kernel("ComputeAccidentalHits")
def accidental_hits(call: Call, true_classes: Array, sampled: Array) -> tuple[Array, Array, Array]:
    """Which sampled classes are true ones: row, place among the sampled, and a weight of -max."""
    call.require(
        true_classes.ndim == 2 and true_classes.shape[1] == call.attrs["num_true"],
        "true_classes must be a matrix of num_true columns",
        found=list(true_classes.shape),
        needed=f"[batch, {call.attrs['num_true']}]",
    )
    call.require(
        sampled.ndim == 1, "the sampled classes must be a vector", found=list(sampled.shape)
    )
    place = {c: k for k, c in enumerate(sampled.tolist())}
    hits = [
        (row, place[c])
        for row, classes in enumerate(true_classes.tolist())
        for c in classes
        if c in place
    ]
    rows, ids = np.array(hits, np.int64).reshape(-1, 2).T
    return rows.astype(np.int32), ids, np.full(len(hits), _LEAST, np.float32)
