"""Connectionist temporal classification: the loss with its gradient, and greedy decoding.

Source: TensorFlow ops CTCLoss, CTCGreedyDecoder; A. Graves, Supervised Sequence Labelling with
Recurrent Neural Networks, chapter 7. Logits are [time, batch, class]; the last class is the blank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.kernels._indices import bad_rows
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.nn._ctc import check_logits, decoded


def _labels(call: Call, indices: Array, values: Array, batch: int) -> list[list[int]]:
    """The labels of each example, out of a sparse matrix in row-major order."""
    call.require(
        indices.ndim == 2 and indices.shape[1] == 2 and indices.shape[0] == values.size,
        "labels must be the indices and values of a sparse matrix",
        found=f"{list(indices.shape)} and {list(values.shape)}",
        needed="[n, 2] and [n]",
    )
    width = int(indices[:, 1].max(initial=-1)) + 1
    bad_rows(call, indices, (batch, width))
    place = indices[:, 0] * width + indices[:, 1]
    call.require(
        bool((np.diff(place) > 0).all()),
        "labels must be in order, without repeats",
        found=indices[:8].tolist(),
        needed="rising indices",
    )
    return [values[indices[:, 0] == b].tolist() for b in range(batch)]


def _targets(call: Call, labels: Sequence[int], classes: int) -> list[int]:
    """The labels to emit: without repeats if asked, and without the blanks at the end."""
    collapse = call.attrs["preprocess_collapse_repeated"]
    out: list[int] = []
    ended = False
    for k, label in enumerate(labels):
        if collapse and k and label == labels[k - 1]:
            continue
        if label >= classes - 1:
            ended = True
            continue
        call.require(
            not ended and label >= 0,
            "labels must not be negative, nor follow a blank",
            found=list(labels),
            needed=f"labels in [0, {classes - 1})",
        )
        out.append(label)
    return out


def _paths(log_y: Array, path: Array, merge: bool) -> Array:
    """Forward variables, log scale, [time, path]: all ways to be at a place of the path."""
    blank = log_y.shape[1] - 1
    steps, size = len(log_y), len(path)
    stay = (path == blank) | merge
    skip = np.zeros(size, bool)
    skip[2:] = (path[2:] != blank) & ((path[2:] != path[:-2]) | (not merge))
    out = np.full((steps, size), -np.inf, log_y.dtype)
    out[0, :2] = log_y[0, path[:2]]
    place = np.arange(size)
    for t in range(1, steps):
        before = out[t - 1]
        total = np.where(stay, before, -np.inf)
        total[1:] = np.logaddexp(total[1:], before[:-1])
        total[2:] = np.where(skip[2:], np.logaddexp(total[2:], before[:-2]), total[2:])
        inside = (place >= size - 2 * (steps - t)) & (place < 2 * (t + 1))
        out[t] = np.where(inside, total + log_y[t, path], -np.inf)
    return out


def _example(logits: Array, targets: Sequence[int], merge: bool) -> tuple[Array, Array]:
    """Loss and gradient of one example, logits [time, class]."""
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    y = shifted / shifted.sum(axis=1, keepdims=True)
    log_y = np.log(y)
    path = np.full(2 * len(targets) + 1, logits.shape[1] - 1)
    path[1::2] = targets
    alpha = _paths(log_y, path, merge)
    # Backwards it is the same walk; forward variables hold the emission at t, which counts once.
    beta = _paths(log_y[::-1], path[::-1], merge)[::-1, ::-1]
    never = np.isneginf(alpha) | np.isneginf(beta)
    both = np.where(never, -np.inf, alpha + (beta - log_y[:, path]))
    total = np.logaddexp.reduce(both[0])
    if np.isneginf(total):
        return -total, y
    shares = np.full_like(y, np.exp(-np.inf - total))  # 0, or NaN where the loss is
    np.add.at(shares.T, path, np.exp(both - total).T)
    return -total, y - shares


@kernel("CTCLoss")
@quiet
def ctc_loss(
    call: Call, inputs: Array, indices: Array, values: Array, lengths: Array
) -> tuple[Array, Array]:
    """Loss of each example, and its gradient by the logits."""
    check_logits(call, inputs, lengths, status="INVALID_ARGUMENT")
    _, batch, classes = inputs.shape
    call.require(batch > 0, "the batch must not be empty", found=batch, needed="1 or more")
    labels = _labels(call, indices, values, batch)
    lenient = call.attrs["ignore_longer_outputs_than_inputs"]
    loss, gradient = np.zeros(batch, inputs.dtype), np.zeros_like(inputs)
    for b, length in enumerate(lengths.tolist()):
        call.require(length >= 0, "a length must not be negative", found=length, needed="0 or more")
        call.require(labels[b], f"example {b} must have labels", found="none", needed="1 or more")
        targets = _targets(call, labels[b], classes)
        call.require(
            lenient or len(labels[b]) <= length,
            f"example {b} must be as long as its labels",
            found=f"{len(labels[b])} labels, {length} steps",
            needed="as many steps as labels",
            remedy="set ignore_longer_outputs_than_inputs to leave such examples out",
        )
        if length and len(labels[b]) <= length:
            merge = bool(call.attrs["ctc_merge_repeated"])
            loss[b], gradient[:length, b] = _example(inputs[:length, b], targets, merge)
    return loss, gradient


@kernel("CTCGreedyDecoder")
@quiet
def ctc_greedy_decoder(call: Call, inputs: Array, lengths: Array) -> list[Array]:
    """The best class of each step without blanks: a sparse matrix, and the summed logits, negative.

    ``merge_repeated`` takes equal classes in a row as one.
    """
    check_logits(call, inputs, lengths)
    call.require(inputs.size, "the logits must not be empty", found=list(inputs.shape))
    classes, blank = inputs.shape[2], int(call.attrs["blank_index"])
    call.require(
        -classes <= blank < classes,
        "blank_index must be a class",
        found=blank,
        needed=f"a value in [{-classes}, {classes})",
    )
    # NaN is not above what was found before it: it is the best only as the first.
    known = inputs.copy()
    known[..., 1:][np.isnan(known[..., 1:])] = -np.inf
    best = np.argmax(known, axis=2)
    top = np.take_along_axis(inputs, best[..., None], axis=2)[..., 0]
    rows, scores = [], np.zeros((inputs.shape[1], 1), inputs.dtype)
    for b, length in enumerate(lengths.tolist()):
        path = best[: max(length, 0), b]
        keep = path != blank % classes
        if call.attrs["merge_repeated"]:
            keep[1:] &= path[1:] != path[:-1]
        rows.append(path[keep].tolist())
        scores[b, 0] = -top[: max(length, 0), b].sum()
    return [*decoded(rows), scores]
