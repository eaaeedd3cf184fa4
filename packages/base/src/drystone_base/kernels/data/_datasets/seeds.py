"""Random numbers of datasets: TensorFlow's stream of 32-bit words, and seeds for each iteration."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Final

from drystone_base.kernels._registry import Array
from drystone_base.kernels.random._philox import seeded
from drystone_base.state.variables import resource_of

__all__ = ["SeedGenerator", "actual_seeds", "seeds_of", "words"]

_PIECE: Final = 256


def words(seed: int, seed2: int) -> Iterator[int]:
    """The words of the Philox stream of two seeds, one by one."""
    stream = seeded(seed, seed2)
    while True:
        yield from stream.blocks(_PIECE).reshape(-1).tolist()
        stream = stream.skip(_PIECE)


def actual_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds, or arbitrary ones when both are 0."""
    return (seed, seed2) if seed or seed2 else (secrets.randbits(63), secrets.randbits(63))


class SeedGenerator:
    """Seeds for iteration after iteration: always the same, or with ``reshuffle`` ever new ones."""

    def __init__(self, seed: int, seed2: int, *, reshuffle: bool) -> None:
        self._fixed = actual_seeds(seed, seed2)
        self._words = words(*self._fixed) if reshuffle else None

    def seeds(self) -> tuple[int, int]:
        """The two seeds of the next iteration."""
        if self._words is None:
            return self._fixed
        return next(self._words), next(self._words)


def seeds_of(handle: Array, seeds: tuple[int, int], reshuffle: bool) -> SeedGenerator:
    """The generator behind a handle; a new one from the seeds for a dummy."""
    if getattr(handle.item(), "resource", None) is None:
        return SeedGenerator(*seeds, reshuffle=reshuffle)
    return resource_of(handle, SeedGenerator)
