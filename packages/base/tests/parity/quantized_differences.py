"""Differences of quantized ops that ranges without steps and empties show, and why they stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracle
from oracle import Case

from drystone_base.kernels import all_ops
from drystone_base.ops.defs import op_def
from parity.difference import Difference, answers, both, not_finite, values

__all__ = ["QUANTIZED"]

_QUANTIZED = " ".join(op for op in sorted(all_ops()) if op.startswith("Quantized"))


def _ends(item: Case) -> dict[str, list[Any]]:
    """Where ranges begin and end, by the names of inputs."""
    definition = op_def(item.op)
    slices = definition.input_slices(oracle._counts(item))
    return {
        arg.name: [np.asarray(v) for v in item.inputs[slices[arg.name]]]
        for arg in definition.inputs
        if "min" in arg.name or "max" in arg.name
    }


def _no_scalar_range(item: Case, want: Any) -> bool:
    return answers(item, want) and any(v.ndim for part in _ends(item).values() for v in part)


def _odd_ranges(item: Case, want: Any) -> bool:
    """A range (or a bias) that is not finite, or a range that ends where it begins."""
    if isinstance(want, str):
        return False
    ends = {name: _flat(part) for name, part in _ends(item).items()}
    low, high = ([v for name, v in ends.items() if end in name] for end in ("min", "max"))
    widths = [b - a for a, b in zip(low, high, strict=True)]
    tiny = float(np.finfo(np.float32).tiny)
    return not_finite(item, want) or any(bool((w < tiny).any()) for w in widths)


def _flat(arrays: list[Any]) -> Any:
    return np.concatenate([v.astype(np.float64).reshape(-1) for v in arrays] or [np.zeros(0)])


def _narrower_filters(item: Case, want: Any) -> bool:
    """Outputs differ by each filter's range beside the widest."""
    low, high = (np.abs(v).astype(np.float64) for v in item.inputs[-2:])
    pairs = both(item, want)
    if not pairs or not low.ndim or pairs[0][0].dtype != np.int32:
        return False
    reach = np.maximum(low, high)
    scaled = pairs[0][0] * (reach / reach.max(initial=1e-30))
    return bool(np.abs(scaled - pairs[0][1]).max(initial=0) <= 1)


QUANTIZED: tuple[Difference, ...] = (
    Difference(
        "Dequantize",
        "qint32 next to its largest in mode SCALED: TensorFlow rounds to float32, which is then "
        "beyond 32 bits, and gives the least",
        lambda item, want: (
            not isinstance(want, str)
            and item.attrs.get("T") == "qint32"
            and bool((np.asarray(item.inputs[0]) > 2**31 - 129).any())
        ),
    ),
    Difference(
        "RequantizationRangePerChannel",
        "a channel that holds the largest integer: TensorFlow leaves it out of the maximum",
        values(lambda item, _: bool((np.asarray(item.inputs[0]) == 2**31 - 1).any())),
    ),
    Difference(
        "RequantizationRange",
        "an end next to zero: it is what rounding leaves of 0",
        lambda item, want: bool(
            (pairs := both(item, want)) and all(np.abs(a - b).max() < 1e-6 for a, b in pairs)
        ),
    ),
    Difference(
        " ".join(op for op in _QUANTIZED.split() if "WithBias" in op),
        "sums next to a half: oneDNN adds the bias in float32, we in float64: one step apart",
        lambda item, want: bool(
            (pairs := both(item, want))
            and pairs[0][0].dtype.kind in "iu"
            and all(
                a.shape == b.shape and np.abs(a.astype(np.float64) - b).max(initial=0) <= 1
                for a, b in pairs
            )
        ),
    ),
    Difference(
        _QUANTIZED,
        "inputs without elements: oneDNN computes nothing, and TensorFlow refuses or gives the "
        "input's shape; we give outputs without elements, or those of the bias alone",
        lambda item, _: (
            not isinstance(oracle.ours(item), str) and any(not np.size(v) for v in item.inputs)
        ),
    ),
    Difference(
        "QuantizedInstanceNorm",
        "images without pixels: they have no mean; TensorFlow gives a range from infinity to "
        "infinity, we refuse",
        lambda item, want: answers(item, want) and not np.size(item.inputs[0]),
    ),
    Difference(
        "QuantizedConcatV2",
        "ranges that are not finite: TensorFlow's kernel fails inside; our range is NaN",
        lambda item, want: isinstance(want, str) and not_finite(item, want),
    ),
    Difference(
        " ".join(op for op in _QUANTIZED.split() if "Conv2D" in op),
        "int32 sums of filters with ranges of their own: TensorFlow scales those of narrower "
        "filters down, but not the ranges that it gives for them; ours are as their ranges say",
        _narrower_filters,
    ),
    Difference(
        "QuantizeV2 Requantize RequantizePerChannel RequantizationRangePerChannel " + _QUANTIZED,
        "ranges that are not finite, or of no width, have no steps: the integers that TensorFlow "
        "makes of them are the machine's accident",
        _odd_ranges,
    ),
    Difference(
        " ".join(op for op in _QUANTIZED.split() if "DepthwiseConv2DWithBias" in op),
        "biases that are no vectors: TensorFlow does not look; we refuse",
        lambda item, want: answers(item, want) and np.ndim(item.inputs[2]) != 1,
    ),
    Difference(
        _QUANTIZED,
        "ends of ranges that are no scalars: TensorFlow does not look; we refuse",
        _no_scalar_range,
    ),
    Difference(
        "UniformQuantizedAdd",
        "sums beyond 2^22: TensorFlow rounds the moved sides to float32; we keep every digit",
        lambda _, want: (
            not isinstance(want, str) and bool((np.abs(want[0].astype(np.int64)) > 1 << 22).any())
        ),
    ),
    Difference(
        "UniformQuantizedDotHybrid UniformQuantizedConvolutionHybrid",
        "numbers that are not finite have no place among 8-bit integers",
        values(not_finite),
    ),
)
