"""Connectionist temporal classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import backend

from keras_drystone.src.dispatch import emit, outputs
from keras_drystone.src.ops import curves, reducing, shaping
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops.activations import log_softmax
from keras_drystone.src.ops.core import cast, convert_to_tensor, shape
from keras_drystone.src.ops.creating import arange, full
from keras_drystone.src.ops.flow import scan
from keras_drystone.src.ops.indexing import getitem, take_along_axis
from keras_drystone.src.ops.operands import like

__all__ = ["ctc_decode", "ctc_loss"]

_NEVER = -1e5
"""The logarithm of a chance that is none."""


def ctc_loss(
    target: Any, output: Any, target_length: Any, output_length: Any, mask_index: int = 0
) -> Any:
    """Minus the logarithm of the chance of a text, over all ways to write it.

    The forward pass over labels with blanks between: state 2k is the blank before label k, state
    2k + 1 the label. Source: Graves et al. 2006, section 4.1.
    """
    target, output = cast(target, "int32"), convert_to_tensor(output)
    kind = backend.result_type(output.dtype, "float32")
    chances = log_softmax(cast(output, kind), -1)
    batch, steps = shape(chances)[:2]
    labels = target.shape[1]
    extended = _with_blanks(target, batch, labels, mask_index)
    index = shaping.broadcast_to(shaping.expand_dims(extended, 1), (batch, steps, 2 * labels + 1))
    emitted = shaping.transpose(take_along_axis(chances, index, 2), (1, 0, 2))
    state = np.arange(2 * labels + 1)
    first = e.where(state < 2, getitem(emitted, 0), like(_NEVER, emitted))
    jumps = _jumps(extended)
    ends = shaping.expand_dims(cast(output_length, "int32"), 1)
    times = arange(1, steps, dtype="int32") if isinstance(steps, int) else arange(
        cast(convert_to_tensor(1), "int32"), steps, dtype="int32")  # fmt: skip

    def step(alpha: Any, x: Any) -> tuple[Any, Any]:
        time, now = x
        stay = curves.logaddexp(alpha, _moved(alpha, 1))
        skip = e.where(jumps, _moved(alpha, 2), like(_NEVER, alpha))
        new = e.add(curves.logaddexp(stay, skip), now)
        return e.where(e.less(time, ends), new, alpha), None

    alpha, _ = scan(step, first, (times, getitem(emitted, slice(1, None))))
    last = shaping.expand_dims(e.multiply(cast(target_length, "int32"), np.int32(2)), 1)
    at_blank = take_along_axis(alpha, last, 1)
    at_label = take_along_axis(alpha, e.maximum(e.subtract(last, 1), 0), 1)
    at_label = e.where(e.equal(last, 0), like(_NEVER, at_label), at_label)
    return e.negative(shaping.squeeze(curves.logaddexp(at_blank, at_label), 1))


def _with_blanks(target: Any, batch: Any, labels: int, blank: int) -> Any:
    blanks = full((batch, labels, 1), blank, "int32")
    pairs = shaping.concatenate([blanks, shaping.expand_dims(target, 2)], 2)
    flat = shaping.reshape(pairs, (batch, 2 * labels))
    return shaping.concatenate([flat, full((batch, 1), blank, "int32")], 1)


def _jumps(extended: Any) -> Any:
    """Whether a state may come after the one two before: labels that differ."""
    before = shaping.pad(shaping.along(extended, 1, None, -2), [[0, 0], [2, 0]], constant_values=-1)
    labels = np.arange(extended.shape[1]) % 2 == 1
    return e.logical_and(labels, e.not_equal(extended, before))


def _moved(alpha: Any, by: int) -> Any:
    kept = shaping.along(alpha, 1, None, -by)
    return shaping.pad(kept, [[0, 0], [by, 0]], constant_values=_NEVER)


def ctc_decode(
    inputs: Any,
    sequence_lengths: Any,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int | None = 0,
) -> Any:
    """The likeliest texts, filled up with -1, and their scores."""
    inputs = convert_to_tensor(inputs)
    inputs = cast(inputs, backend.result_type(inputs.dtype, "float32"))
    lengths = cast(sequence_lengths, "int32")
    if strategy == "greedy":
        return _greedy(inputs, lengths, merge_repeated, mask_index)
    if strategy == "beam_search":
        return _beams(inputs, lengths, beam_width, top_paths, mask_index)
    raise ValueError(
        f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'."
    )


def _greedy(inputs: Any, lengths: Any, merge_repeated: bool, mask_index: int | None) -> Any:
    """The best class of each step; kept ones move to the front in their order."""
    steps, classes = shape(inputs)[1:]
    blank = classes - 1 if mask_index is None else mask_index
    best = reducing.argmax(inputs, -1)
    inside = e.less(arange(steps, dtype="int32"), shaping.expand_dims(lengths, 1))
    scores = e.where(inside, reducing.max(inputs, -1), like(0, inputs))
    kept = e.logical_and(inside, e.not_equal(best, blank))
    if merge_repeated:
        before = shaping.pad(shaping.along(best, 1, None, -1), [[0, 0], [1, 0]], constant_values=-1)
        kept = e.logical_and(kept, e.not_equal(best, before))
    from keras_drystone.src.ops.sorting import argsort

    order = argsort(cast(e.logical_not(kept), "int32"), -1)
    found = take_along_axis(e.where(kept, best, like(-1, best)), order, 1)
    total = e.negative(reducing.sum(scores, 1, True))
    return shaping.expand_dims(found, 0), total


def _beams(inputs: Any, lengths: Any, width: int, paths: int, mask_index: int | None) -> Any:
    """By the op, whose blank is the last class."""
    batch, steps = shape(inputs)[:2]
    if mask_index is not None:
        mask_index = mask_index if mask_index >= 0 else mask_index + inputs.shape[-1]
        order = [k for k in range(inputs.shape[-1]) if k != mask_index] + [mask_index]
        from keras_drystone.src.ops.indexing import take

        inputs = take(inputs, np.asarray(order, np.int32), -1)
    found = outputs("CTCBeamSearchDecoder", shaping.transpose(inputs, (1, 0, 2)), lengths,
                    beam_width=width, top_paths=paths, merge_repeated=False)  # fmt: skip
    indices, values, scores = found[:paths], found[paths : 2 * paths], found[-1]
    empty = full((batch, steps), -1, "int32")
    texts = [
        emit("TensorScatterUpdate", empty, place, cast(value, "int32"))
        for place, value in zip(indices, values, strict=True)
    ]
    decoded = shaping.stack(texts, 0)
    if mask_index is not None:
        decoded = e.where(e.greater_equal(decoded, mask_index), e.add(decoded, 1), decoded)
    return decoded, scores
