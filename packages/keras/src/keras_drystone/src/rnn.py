"""Recurrent layers: one step after another, in the graph by one ``While``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from keras.src import tree

from keras_drystone.src import recurrent
from keras_drystone.src.ops import elementwise as e
from keras_drystone.src.ops import shaping
from keras_drystone.src.ops.core import cast, convert_to_tensor, is_training, shape
from keras_drystone.src.ops.creating import arange, zeros_like
from keras_drystone.src.ops.flow import folded
from keras_drystone.src.ops.indexing import getitem

__all__ = ["bidirectional_gru", "bidirectional_lstm", "cudnn_ok", "gru", "lstm", "rnn"]


def rnn(
    step_function: Callable[..., Any],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
    return_all_outputs: bool = True,
) -> tuple[Any, Any, Any]:
    """The last output, all outputs along time, and the last states.

    Where the mask is false the states stay, and the output is the one before, or zeros. Without
    ``return_all_outputs`` the outputs are the last one alone.
    """
    xs = tree.map_structure(convert_to_tensor, inputs)
    xs = xs if time_major else tree.map_structure(_swapped, xs)
    steps = shape(tree.flatten(xs)[0])[0]
    if unroll and not isinstance(steps, int):
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    kept = _mask(mask, input_length, steps, time_major)
    if go_backwards:
        xs = tree.map_structure(lambda x: shaping.flip(x, 0), xs)
        kept = None if kept is None else shaping.flip(kept, 0)
    states = tuple(tree.map_structure(convert_to_tensor, s) for s in initial_states)
    rest = tuple(constants or ())
    step = _step(step_function, rest, zero_output_for_mask)
    first = tree.map_structure(lambda x: getitem(x, 0), xs)
    output, after = step_function(first, states + rest)
    states = tree.map_structure(lambda s, n: cast(s, n.dtype), states, tuple(after))
    carry = (tree.map_structure(zeros_like, output), states)
    given = (xs,) if kept is None else (xs, kept)
    carry, outputs = folded(step, carry, given, steps, collect=return_all_outputs, unroll=unroll)
    last, states = carry
    if not return_all_outputs:
        outputs = tree.map_structure(lambda x: shaping.expand_dims(x, 0), last)
    if not time_major:
        outputs = tree.map_structure(_swapped, outputs)
    return last, outputs, list(states)


def _step(function: Callable[..., Any], rest: tuple[Any, ...], zeros: bool) -> Callable[..., Any]:
    """One step: the carry is the output before and the states."""

    def step(carry: Any, now: Any) -> tuple[Any, Any]:
        before, states = carry
        output, after = function(now[0], tuple(states) + rest)
        after = tuple(after)
        if len(now) > 1:
            instead = tree.map_structure(zeros_like, before) if zeros else before
            output = _chosen(now[1], output, instead)
            after = _chosen(now[1], after, states)
        return (output, after), output

    return step


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    def one(a: Any, b: Any) -> Any:
        wide = mask
        for _ in range(a.ndim - mask.ndim):
            wide = shaping.expand_dims(wide, -1)
        if a.ndim < mask.ndim:
            wide = shaping.squeeze(mask, tuple(range(a.ndim, mask.ndim)))
        return e.where(wide, a, b)

    return tree.map_structure(one, new, old)


def _swapped(x: Any) -> Any:
    return shaping.swapaxes(x, 0, 1)


def _mask(mask: Any, input_length: Any, steps: Any, time_major: bool) -> Any:
    """The mask along time, with a last axis of size 1."""
    if mask is not None:
        mask = cast(convert_to_tensor(mask), "bool")
        mask = shaping.expand_dims(mask, -1) if mask.ndim == 2 else mask
        return mask if time_major else _swapped(mask)
    if input_length is None or isinstance(input_length, int):
        return None
    lengths = shaping.reshape(convert_to_tensor(input_length), (1, -1, 1))
    times = shaping.reshape(arange(steps, dtype="int32"), (-1, 1, 1))
    return e.less(times, lengths)


def cudnn_ok(*_: Any, **__: Any) -> bool:
    """No: there is one way to run a recurrent layer."""
    return False


def lstm(
    inputs: Any,
    initial_state_h: Any,
    initial_state_c: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
) -> tuple[Any, Any, Any]:
    """Steps of an LSTM, as ``rnn`` gives them; raises ``NotImplementedError`` where that is to."""
    _check_usual(mask, unroll, activation, recurrent_activation)
    return recurrent.lstm(
        inputs, initial_state_h, initial_state_c, kernel, recurrent_kernel, bias,
        sequences=return_sequences, backwards=go_backwards,
    )  # fmt: skip


def gru(
    inputs: Any,
    initial_state: Any,
    mask: Any,
    kernel: Any,
    recurrent_kernel: Any,
    bias: Any,
    activation: Any,
    recurrent_activation: Any,
    return_sequences: bool = False,
    go_backwards: bool = False,
    unroll: bool = False,
    reset_after: bool = True,
) -> tuple[Any, Any, Any]:
    """Steps of a GRU, as ``rnn`` gives them; raises ``NotImplementedError`` where that is to."""
    _check_usual(mask, unroll or not reset_after, activation, recurrent_activation)
    state = initial_state[0] if isinstance(initial_state, list | tuple) else initial_state
    return recurrent.gru(
        inputs, state, kernel, recurrent_kernel, bias,
        sequences=return_sequences, backwards=go_backwards,
    )  # fmt: skip


def _check_usual(mask: Any, other: bool, activation: Any, recurrent_activation: Any) -> None:
    """Raise ``NotImplementedError``, on which Keras takes ``rnn``.

    A model that is not trained goes that way, too: it keeps no values of its steps for a way back,
    and the optimizer takes products out of its loop.
    """
    usual = recurrent.is_usual(activation, recurrent_activation)
    if mask is not None or other or not usual or not is_training():
        raise NotImplementedError


def bidirectional_lstm(*_: Any, **__: Any) -> NoReturn:
    """None of its own: Keras goes by ``lstm`` twice."""
    raise NotImplementedError


def bidirectional_gru(*_: Any, **__: Any) -> NoReturn:
    """None of its own: Keras goes by ``gru`` twice."""
    raise NotImplementedError
