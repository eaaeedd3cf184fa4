"""Which dimension plays which part: the serialized messages in attributes of XLA-like ops.

Wire-compatible with ``ConvolutionDimensionNumbers``, ``DotDimensionNumbers``,
``GatherDimensionNumbers``, ``ScatterDimensionNumbers`` (OpenXLA ``xla_data.proto``) and
``UniformQuantizedConvolutionDimensionNumbersAttr`` (TensorFlow).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drystone_base.core.wire import fields, read_varint

__all__ = ["ConvDims", "conv_dims", "parse_numbers"]

_XLA_CONV: Final = (7, 8, 11, 3, 4, 6, 9, 10, 12)
_UNIFORM_CONV: Final = (1, 2, 3, 4, 5, 6, 7, 8, 9)


def parse_numbers(data: bytes | str) -> dict[int, list[int]]:
    """The integers of a message's fields, by field number; packed and plain ones alike."""
    raw = memoryview(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    found: dict[int, list[int]] = {}
    for tag, _, payload, stop in fields(raw):
        values = found.setdefault(tag >> 3, [])
        position = payload
        while position < stop and tag & 7 in (0, 2):
            value, position = read_varint(raw, position)
            values.append(value - (1 << 64) if value >> 63 else value)
    return found


class ConvDims(NamedTuple):
    """Places of the dimensions of a convolution's input, kernel and output.

    Each is ``(batch, feature, *spatial)``; the kernel's ``(input feature, output feature, ...)``.
    """

    input: tuple[int, ...]
    kernel: tuple[int, ...]
    output: tuple[int, ...]

    def fits(self, rank: int) -> bool:
        """Whether each of the three is a permutation of the dimensions of that rank."""
        return all(sorted(part) == list(range(rank)) for part in self)


def conv_dims(data: bytes | str, rank: int, *, uniform: bool = False) -> ConvDims:
    """The places in a message, or those of features before spatial dimensions without one."""
    if uniform and not data:
        order = tuple(range(rank))
        return ConvDims(order, (1, 0, *order[2:]), order)
    found = parse_numbers(data)
    rows = [found.get(number, []) for number in (_UNIFORM_CONV if uniform else _XLA_CONV)]
    parts = [
        tuple(place for row, single in zip(rows[k : k + 3], (True, True, False), strict=True)
              for place in (row[-1:] or [0] if single else row))
        for k in (0, 3, 6)
    ]  # fmt: skip
    return ConvDims(*parts)
