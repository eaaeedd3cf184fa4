"""Losses, normalization, one-hot vectors and attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common import is_float_dtype, standardize_dtype

from drystone_base.core.dtypes import as_dtype
from keras_drystone.src.dispatch import emit
from keras_drystone.src.ops import curves, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.activations import log_softmax
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.creating import arange
from keras_drystone.src.ops.operands import floating, is_integer, kind_of, like, one_axis, promoted
from keras_drystone.src.tensor import SymbolicTensor

__all__ = [
    "batch_normalization", "binary_crossentropy", "categorical_crossentropy",
    "dot_product_attention", "moments", "multi_hot", "one_hot", "psnr",
    "sparse_categorical_crossentropy",
]  # fmt: skip


def one_hot(
    x: Any, num_classes: Any, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    """1 at the index, 0 elsewhere; zeros for an index that is none."""
    if sparse:
        raise ValueError("drystone has no sparse tensors")
    x = convert_to_tensor(x)
    if kind_of(x) not in ("int32", "int64"):
        x = cast(x, "int32")
    kind = standardize_dtype("float32" if dtype is None else dtype)
    place = one_axis(axis, x.ndim + 1)
    place = -1 if place == x.ndim else place
    on, off = convert_to_tensor(1, kind), convert_to_tensor(0, kind)
    return emit("OneHot", x, cast(convert_to_tensor(num_classes), "int32"), on, off, axis=place)


def multi_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Any:
    """1 at each of several indices."""
    x = convert_to_tensor(x)
    found = one_hot(cast(x, "int32"), num_classes, axis, dtype, sparse)
    return reducing.max(found, 1 if x.ndim > 1 else 0)


def _same_shapes(target: Any, output: Any) -> None:
    a, b = target.shape, output.shape
    same = len(a) == len(b) and all(
        x is None or y is None or x == y for x, y in zip(a, b, strict=True)
    )
    if not same:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape. Received: "
            f"target.shape={a}, output.shape={b}"
        )


def _log_chances(output: Any, from_logits: bool, axis: int) -> Any:
    if from_logits:
        return log_softmax(output, axis)
    output = e.divide(output, reducing.sum(output, axis, True))
    return e.log(_inside(output))


def _inside(chances: Any) -> Any:
    return e.clip(chances, backend.epsilon(), 1.0 - backend.epsilon())


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of chances of classes."""
    target, output = convert_to_tensor(target), floating(output)
    target = cast(target, output.dtype)
    _same_shapes(target, output)
    if output.ndim < 1:
        raise ValueError(
            "Arguments `target` and `output` must be at least rank 1. Received: "
            f"target.shape={target.shape}, output.shape={output.shape}"
        )
    found = e.multiply(target, _log_chances(output, from_logits, axis))
    return e.negative(reducing.sum(found, axis))


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Any:
    """The cross entropy of a class."""
    target, output = cast(target, "int32"), floating(output)
    if output.ndim < 1:
        raise ValueError(
            f"Argument `output` must be at least rank 1. Received: output.shape={output.shape}"
        )
    if target.ndim == output.ndim and target.shape[-1] == 1:
        target = shaping.squeeze(target, -1)
    place = one_axis(axis, output.ndim)
    rest = tuple(d for k, d in enumerate(output.shape) if k != place)
    same = len(rest) == target.ndim and all(
        a is None or b is None or a == b for a, b in zip(rest, target.shape, strict=True)
    )
    if not same:
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last "
            f"dimension: target.shape={target.shape}, output.shape={output.shape}"
        )
    chances = _log_chances(output, from_logits, axis)
    hot = one_hot(target, shape(output)[place], place, kind_of(chances))
    return e.negative(reducing.sum(e.multiply(hot, chances), place))


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """The cross entropy of one chance."""
    output = convert_to_tensor(output)
    if not is_float_dtype(kind_of(output)):
        output = cast(output, backend.floatx())
    target = cast(convert_to_tensor(target), output.dtype)
    _same_shapes(target, output)
    one = like(1, output)
    if from_logits:  # max(x, 0) - x * t + log(1 + exp(-|x|)): never the logarithm of 0
        rest = emit("Log1p", e.exp(e.negative(e.absolute(output))))
        linear = e.subtract(emit("Relu", output), e.multiply(output, target))
        return e.add(linear, rest)
    output = _inside(output)
    found = e.add(
        e.multiply(target, e.log(output)),
        e.multiply(e.subtract(one, target), e.log(e.subtract(one, output))),
    )
    return e.negative(found)


def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> Any:
    """Mean and variance; of half floats computed in ``float32``."""
    if synchronized:
        raise NotImplementedError("Argument synchronized=True is not supported: one device runs.")
    x = convert_to_tensor(x)
    kind = kind_of(x)
    half = kind in ("float16", "bfloat16")
    x = cast(x, "float32") if half or is_integer(kind) else x
    mean = reducing.reduced("Mean", x, axes, True)
    variance = reducing.reduced("Mean", e.square(emit("Sub", x, mean)), axes, True)
    found = [mean, variance]
    if not keepdims:
        chosen = list(range(x.ndim)) if axes is None else axes
        chosen = tuple(chosen) if isinstance(chosen, list | tuple) else (chosen,)
        found = [shaping.squeeze(v, chosen) if chosen else v for v in found]
    if kind == "float16":
        limit = float(np.finfo(np.float16).max)
        found = [e.clip(v, -limit, limit) for v in found]
    mean, variance = (cast(v, kind) if half else v for v in found)
    if isinstance(x, SymbolicTensor) and isinstance(mean, SymbolicTensor):
        mean.moments_of = variance.moments_of = (x.trace, x.place, axes)
    return mean, variance


def _normalized_by_own_moments(
    x: Any, mean: Any, variance: Any, axis: int, offset: Any, scale: Any, epsilon: float
) -> Any:
    """One op for images that are normalized by what ``moments`` gave for them; None for others.

    Its gradient is by the image through the moments as well, in one op, too.
    """
    of: Any = getattr(mean, "moments_of", None)
    if of is None or getattr(variance, "moments_of", None) != of or x.ndim != 4:
        return None
    place = one_axis(axis, 4)
    over = sorted(one_axis(k, 4) for k in of[2]) if isinstance(of[2], list | tuple) else None
    if place not in (1, 3) or over != [k for k in range(4) if k != place]:
        return None
    if (x.trace, x.place) != of[:2] or kind_of(x) != "float32":
        return None
    count = mean.shape[0]
    if count is None:
        return None
    scale = np.ones(count, np.float32) if scale is None else shaping.reshape(scale, [count])
    offset = np.zeros(count, np.float32) if offset is None else shaping.reshape(offset, [count])
    if kind_of(scale) != "float32" or kind_of(offset) != "float32":
        return None
    none = np.zeros(0, np.float32)
    layout = "NHWC" if place == 3 else "NCHW"
    return emit("FusedBatchNormV3", x, scale, offset, none, none,
                epsilon=float(epsilon), is_training=True, data_format=layout)  # fmt: skip


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, as one factor and one summand."""
    x = convert_to_tensor(x)
    found = _normalized_by_own_moments(x, mean, variance, axis, offset, scale, epsilon)
    if found is not None:
        return found
    sizes = [1] * x.ndim
    mean, variance = convert_to_tensor(mean), convert_to_tensor(variance)
    sizes[axis] = mean.shape[0]
    mean, variance = (shaping.reshape(v, sizes) for v in (mean, variance))
    factor = emit("Rsqrt", emit("AddV2", variance, like(epsilon, variance)))
    if scale is not None:
        factor = e.multiply(factor, shaping.reshape(scale, sizes))
    rest = e.negative(e.multiply(mean, factor))
    if offset is not None:
        rest = e.add(rest, shaping.reshape(offset, sizes))
    return e.add(e.multiply(x, factor), rest)


def psnr(x1: Any, x2: Any, max_val: Any) -> Any:
    """The peak signal-to-noise ratio, in decibels."""
    x, y = convert_to_tensor(x1), convert_to_tensor(x2)
    if x.shape != y.shape:
        raise ValueError(f"Input shapes {x.shape} and {y.shape} must match for PSNR calculation. ")
    error = reducing.mean(e.square(e.subtract(x, y)))
    peak = curves.log10(like(max_val, y))
    return e.subtract(e.multiply(20, peak), e.multiply(10, curves.log10(error)))


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Any:
    """Attention of (batch, time, heads, size); chances are computed in ``float32`` at least."""
    if flash_attention:
        raise ValueError("Flash attention is not supported: kernels choose how they compute.")
    q, k, v = promoted(*map(convert_to_tensor, (query, key, value)))
    if q.ndim != 4:
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={q.shape}, key.shape={k.shape}, value.shape={v.shape}."
        )
    kind = kind_of(q)
    scale = float(k.shape[-1] ** -0.5) if scale is None else scale
    if k.shape[2] != q.shape[2]:  # each head of keys serves several of queries
        k, v = (shaping.repeat(x, q.shape[2] // k.shape[2], 2) for x in (k, v))
    q, k, v = (shaping.transpose(x, (0, 2, 1, 3)) for x in (q, k, v))
    logits = emit("BatchMatMulV2", q, k, adj_y=True)
    if kind in ("float16", "bfloat16"):
        logits = cast(logits, "float32")
    logits = e.multiply(logits, like(scale, logits))
    if attn_logits_soft_cap is not None:
        cap = like(attn_logits_soft_cap, logits)
        logits = e.multiply(emit("Tanh", e.divide(logits, cap)), cap)
    if bias is not None:
        logits = e.add(logits, cast(bias, logits.dtype))
    logits = _masked(logits, mask, is_causal)
    chances = cast(emit("Softmax", logits), kind)
    return shaping.transpose(emit("BatchMatMulV2", chances, v), (0, 2, 1, 3))


def _masked(logits: Any, mask: Any, is_causal: bool) -> Any:
    kept = None if mask is None else cast(mask, "bool")
    if is_causal:
        rows, columns = shape(logits)[-2:]
        row = shaping.expand_dims(arange(rows, dtype="int32"), 1)
        column = shaping.expand_dims(arange(columns, dtype="int32"), 0)
        before = emit("GreaterEqual", row, column)
        kept = before if kept is None else e.logical_and(kept, before)
    if kept is None:
        return logits
    low = float(np.finfo(as_dtype(kind_of(logits)).np).max) * -0.7
    return e.where(kept, logits, like(low, logits))
