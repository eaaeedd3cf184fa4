"""Cross entropy of softmax, and whether targets are among the top predictions."""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

__all__: list[str] = []


def _shifted(logits: Array) -> tuple[Array, Array, Array]:
    """Logits less their maximum, the exponentials of that, and their sums (``[batch, 1]``)."""
    shifted = logits - logits.max(-1, keepdims=True)
    powers = np.exp(shifted)
    return shifted, powers, powers.sum(-1, keepdims=True)


@kernel("SoftmaxCrossEntropyWithLogits")
@quiet
def softmax_cross_entropy(call: Call, features: Array, labels: Array) -> tuple[Array, Array]:
    """Loss ``[batch]`` and gradient ``[batch, classes]``; TF ``SoftmaxCrossEntropyWithLogits``."""
    shapes = f"{list(features.shape)} and {list(labels.shape)}"
    pairs = zip(features.shape, labels.shape, strict=False)
    call.require(
        features.ndim == labels.ndim == 2 and all(a == b or 1 in (a, b) for a, b in pairs),
        "logits and labels must be matrices that broadcast",
        found=shapes,
        needed="[batch, classes]",
    )
    dtype = features.dtype
    both = np.broadcast_arrays(widen(features), widen(labels))
    logits, wanted = both[0], both[1]
    if not logits.size:
        return np.zeros(logits.shape[0], dtype), np.zeros(logits.shape, dtype)
    shifted, powers, total = _shifted(logits)
    loss = (wanted * (np.log(total) - shifted)).sum(-1)
    gradient = powers / total - wanted
    return loss.astype(dtype, copy=False), gradient.astype(dtype, copy=False)


@kernel("SparseSoftmaxCrossEntropyWithLogits")
@quiet
def sparse_softmax_cross_entropy(call: Call, features: Array, labels: Array) -> tuple[Array, Array]:
    """Labels are class numbers ``[batch]``; TF ``SparseSoftmaxCrossEntropyWithLogits``."""
    call.require(
        features.ndim == 2 and labels.shape == features.shape[:1],
        "logits must be [batch, classes] and labels [batch]",
        found=f"{list(features.shape)} and {list(labels.shape)}",
        needed="one label per row",
    )
    classes = features.shape[1]
    call.require(classes > 0, "there must be classes", found=0, needed="1 or more")
    call.require(
        labels.size == 0 or (labels.min() >= 0 and labels.max() < classes),
        "labels must be valid classes",
        found=f"{labels.min(initial=0)} to {labels.max(initial=0)}",
        needed=f"0 to {classes - 1}",
    )
    shifted, powers, total = _shifted(widen(features))
    rows = np.arange(len(labels))
    loss = np.log(total[:, 0]) - shifted[rows, labels]
    gradient = powers / total
    gradient[rows, labels] -= 1
    dtype = features.dtype
    return loss.astype(dtype, copy=False), gradient.astype(dtype, copy=False)


@kernel("InTopK", "InTopKV2")
@quiet
def in_top_k(call: Call, predictions: Array, targets: Array, *k: Array) -> Array:
    """Whether fewer than k classes beat the target's, ``[batch]``; TF ``InTopK``.

    Rows whose target is no class, or that hold a value that is not finite, are false.
    """
    call.require(
        predictions.ndim == 2 and targets.shape == predictions.shape[:1],
        "predictions must be [batch, classes] and targets [batch]",
        found=f"{list(predictions.shape)} and {list(targets.shape)}",
        needed="one target per row",
    )
    call.require(all(v.ndim == 0 for v in k), "k must be a scalar", found=[v.shape for v in k])
    count = int(k[0]) if k else call.attrs["k"]
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    if not classes:
        return np.zeros(len(targets), np.bool_)
    own = predictions[np.arange(len(targets)), np.where(valid, targets, 0)]
    better = (predictions > own[:, None]).sum(1)
    return np.asarray(valid & np.isfinite(predictions).all(1) & (better < count))
