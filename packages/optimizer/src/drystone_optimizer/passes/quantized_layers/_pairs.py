"""``QuantizeV2`` and ``Dequantize`` after it: together they put a tensor on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.graph import Node

__all__ = ["Pair", "grid_of_range", "pair"]

_NEAR: Final = 1e-4  # of a step: so near to a whole number of them 0.0 is one
_BITS: Final = {"quint8": (0, 255), "qint8": (-128, 127)}


class Pair(NamedTuple):
    """The first of the two, and how many of its integers there are."""

    first: Node
    label: str


class Steps(NamedTuple):
    """The size of a step, and the integers of 0.0 and of both ends."""

    scale: float
    zero: int
    first: int
    last: int


def pair(node: Node) -> Pair | None:
    """The pair that ends in ``node``, a Dequantize, of integers of eight bits."""
    first, slot = node.inputs[0]
    if first.op != "QuantizeV2" or slot or node.op != "Dequantize" or node.controls:
        return None
    label = str(first.attrs["T"])
    ranges_fit = list(node.inputs[1:]) == [(first, 1), (first, 2)]
    return Pair(first, label) if ranges_fit and label in _BITS else None


def grid_of_range(
    ends: tuple[np.float32, np.float32], label: str, quantize: Mapping[str, Any],
    dequantize: Mapping[str, Any],
) -> Steps | None:  # fmt: skip
    """The grid between both ends, by the attributes of both ops; None where 0.0 is not on it."""
    mode = quantize["mode"]
    same = all(quantize[name] == dequantize[name] for name in ("mode", "narrow_range", "axis"))
    if not same or quantize["axis"] != -1 or not ends[0] <= ends[1]:
        return None
    low, high = _widened(*ends, float(quantize["ensure_minimum_range"]))
    first, last = _BITS[label]
    if mode == "SCALED":
        first += int(quantize["narrow_range"]) if first else 0
        steps = [end / np.float32(step) for end, step in ((low, first), (high, last)) if step]
        return _checked(float(max(steps)), 0.0, first, last)
    scale = float(high - low) / (last - first)
    return _checked(scale, first - float(low) / scale if scale > 0 else 0.0, first, last, mode)


def _widened(low: np.float32, high: np.float32, least: float) -> tuple[np.float32, np.float32]:
    """The ends that QuantizeV2 takes, with 0.0 between them."""
    bottom = np.float32(min(0.0, float(low)))
    gap = np.float32(max(1.0, abs(float(bottom)), abs(float(high)))) * np.float32(least)
    return bottom, np.float32(max(0.0, float(high), float(bottom + gap)))


def _checked(scale: float, zero: float, first: int, last: int, mode: str = "") -> Steps | None:
    whole = round(zero)
    if not (np.isfinite(scale) and scale > 0 and first <= whole <= last):
        return None
    if mode == "MIN_COMBINED" and abs(zero - whole) > _NEAR:
        return None
    return Steps(float(np.float32(scale)), whole, first, last)
