"""What the begin, end, stride and masks of a strided slice mean, for kernels and shapes alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

__all__ = ["Entry", "entries", "extent", "interval"]

Fail = Callable[..., NoReturn]


@dataclass(frozen=True)
class Entry:
    """One step through a strided slice's specification.

    ``kind``: ``"range"`` keeps an input dimension, ``"index"`` drops it, ``"new"`` adds one of
    size 1. ``at`` is the place in begin, end and strides (None for what an ellipsis covers),
    ``dim`` the input dimension (-1 for ``"new"``).
    """

    kind: str
    at: int | None
    dim: int
    begin_masked: bool = False
    end_masked: bool = False


def entries(rank: int, count: int, attrs: Mapping[str, Any], fail: Fail) -> list[Entry]:
    """How ``count`` specifications and the five masks walk over a tensor of ``rank``.

    ``fail`` is called for two ellipses and for more specifications than dimensions.
    """

    def bit(mask: str, k: int) -> bool:
        return bool(attrs[mask] >> k & 1)

    ellipses = [k for k in range(count) if bit("ellipsis_mask", k)]
    if len(ellipses) > 1:
        fail("a strided slice may have one ellipsis", found=len(ellipses), needed="at most 1")
    taken = sum(1 for k in range(count) if k not in ellipses and not bit("new_axis_mask", k))
    if taken > rank:
        fail(
            "a strided slice must not have more indices than dimensions",
            found=f"{taken} indices",
            needed=f"at most {rank}",
        )
    out: list[Entry] = []
    dim = 0
    for k in range(count):
        if k in ellipses:
            out += [Entry("range", None, dim + j, True, True) for j in range(rank - taken)]
            dim += rank - taken
        elif bit("new_axis_mask", k):
            out.append(Entry("new", k, -1))
        else:
            kind = "index" if bit("shrink_axis_mask", k) else "range"
            out.append(Entry(kind, k, dim, bit("begin_mask", k), bit("end_mask", k)))
            dim += 1
    return out + [Entry("range", None, d, True, True) for d in range(dim, rank)]


def interval(entry: Entry, size: int, begin: int, end: int, stride: int, fail: Fail) -> range:
    """The positions that an entry takes from an input dimension of ``size``.

    Calls ``fail`` for a stride of 0, and for an index outside the dimension.
    """
    if stride == 0:
        fail("strides must not be 0", found=0, needed="any other number")
    if entry.kind == "index":
        place = begin + size if begin < 0 else begin
        if stride < 0 or not 0 <= place < size:
            fail(
                f"an index must lie inside dimension {entry.dim}, with a stride above 0",
                found=f"{begin} (stride {stride})",
                needed=f"a value in [{-size}, {size})",
            )
        return range(place, place + 1)
    low, high = (0, size) if stride > 0 else (-1, size - 1)
    first, last = (low, high) if stride > 0 else (high, low)

    def clamp(value: int) -> int:
        return min(max(value + size if value < 0 else value, low), high)

    start = first if entry.begin_masked else clamp(begin)
    stop = last if entry.end_masked else clamp(end)
    return range(start, stop, stride)


def extent(
    entry: Entry, size: int, spec: tuple[int | None, int | None, int | None], fail: Fail
) -> int:
    """How many positions a ``"range"`` entry takes, or -1 when begin, end or size leave it open."""
    begin, end, stride = spec
    whole = entry.begin_masked and entry.end_masked
    if whole and stride in (1, -1):
        return size
    known_begin = entry.begin_masked or begin is not None
    known_end = entry.end_masked or end is not None
    if stride is not None and known_begin and known_end:
        if size >= 0:
            return len(interval(entry, size, begin or 0, end or 0, stride, fail))
        if begin == end and not entry.begin_masked and not entry.end_masked:
            return 0
    return -1
