"""Recurrent blocks: LSTM cells and sequences, GRU cells, and their gradients.

Source: TensorFlow ops LSTMBlockCell, BlockLSTM, BlockLSTMV2, GRUBlockCell and their gradient ops.
Weights of one matrix hold all gates side by side; half is computed in float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drystone_base.kernels._indices import scalar_int
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen

_OLD: Final = ("i", "ci", "f", "o")
_NEW: Final = ("i", "f", "ci", "o")


@dataclass(frozen=True)
class _Lstm:
    """What an LSTM's step needs beside its input and state."""

    w: Array
    wci: Array
    wcf: Array
    wco: Array
    b: Array
    gates: Sequence[str]
    peephole: bool
    forget_bias: float = 0.0
    cell_clip: float = -1.0

    def split(self, wide: Array) -> dict[str, Array]:
        """The four gates of a matrix that holds them side by side."""
        return dict(zip(self.gates, np.split(wide, 4, axis=1), strict=True))

    def join(self, parts: Mapping[str, Array]) -> Array:
        """The opposite of :meth:`split`."""
        return np.concatenate([parts[name] for name in self.gates], axis=1)


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _check(call: Call, named: Mapping[str, tuple[Array, Sequence[int]]]) -> None:
    for name, (value, needed) in named.items():
        call.require(
            value.shape == tuple(needed),
            f"{name} must fit the batch, the input and the cell",
            found=list(value.shape),
            needed=list(needed),
        )


def _check_lstm(call: Call, x: Array, cs_prev: Array, h_prev: Array, lstm: _Lstm) -> None:
    rank = 2 if call.op.startswith("LSTMBlockCell") else 3
    call.require(x.ndim == rank, "x must have its rank", found=list(x.shape), needed=f"rank {rank}")
    call.require(
        cs_prev.ndim == 2, "cs_prev must be a matrix", found=list(cs_prev.shape), needed="rank 2"
    )
    batch, cell = x.shape[-2], cs_prev.shape[1]
    _check(
        call,
        {
            "cs_prev": (cs_prev, [batch, cell]),
            "h_prev": (h_prev, [batch, cell]),
            "w": (lstm.w, [x.shape[-1] + cell, 4 * cell]),
            "b": (lstm.b, [4 * cell]),
        },
    )
    for name in ("wci", "wcf", "wco"):
        # TensorFlow does not look at their size in one cell, and reads past their end.
        value = getattr(lstm, name)
        call.require(value.ndim == 1, f"{name} must be a vector", found=list(value.shape))
        if lstm.peephole or call.op in ("BlockLSTM", "BlockLSTMV2"):
            _check(call, {name: (value, [cell])})


def _step(lstm: _Lstm, x: Array, cs_prev: Array, h_prev: Array) -> dict[str, Array]:
    """One step of an LSTM: gates, cell state and output by name."""
    raw = lstm.split(np.concatenate([x, h_prev], axis=1) @ lstm.w + lstm.b)
    peep = cs_prev if lstm.peephole else None
    i = _sigmoid(raw["i"] if peep is None else raw["i"] + peep * lstm.wci)
    forget = raw["f"] + np.float32(lstm.forget_bias)
    f = _sigmoid(forget if peep is None else forget + peep * lstm.wcf)
    ci = np.tanh(raw["ci"])
    cs = ci * i + cs_prev * f
    if lstm.cell_clip > 0:
        cs = np.clip(cs, -np.float32(lstm.cell_clip), np.float32(lstm.cell_clip))
    o = _sigmoid(raw["o"] + cs * lstm.wco if lstm.peephole else raw["o"])
    co = np.tanh(cs)
    return {"i": i, "cs": cs, "f": f, "o": o, "ci": ci, "co": co, "h": o * co}


def _step_back(
    lstm: _Lstm, cs_prev: Array, kept: Mapping[str, Array], cs_grad: Array, h_grad: Array
) -> tuple[Array, dict[str, Array]]:
    """Gradients of the previous cell state and of the gates before their functions."""
    i, f, o, ci, co = (kept[name] for name in ("i", "f", "o", "ci", "co"))
    do = o * (1 - o) * h_grad * co
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if lstm.peephole:
        dcs = dcs + do * lstm.wco
    gates = {
        "ci": (1 - ci * ci) * dcs * i,
        "f": f * (1 - f) * dcs * cs_prev,
        "i": i * (1 - i) * dcs * ci,
        "o": do,
    }
    before = dcs * f
    if lstm.peephole:
        before = before + gates["i"] * lstm.wci + gates["f"] * lstm.wcf
    return before, gates


def _peephole_grads(
    lstm: _Lstm, cs_prev: Array, cs: Array, gates: Mapping[str, Array]
) -> list[Array]:
    if not lstm.peephole:
        return [np.zeros_like(w) for w in (lstm.wci, lstm.wcf, lstm.wco)]
    return [
        (gates["i"] * cs_prev).sum(axis=0),
        (gates["f"] * cs_prev).sum(axis=0),
        (gates["o"] * cs).sum(axis=0),
    ]


_NAMES: Final = ("i", "cs", "f", "o", "ci", "co", "h")


def _lstm(call: Call, weights: Sequence[Array], gates: Sequence[str]) -> _Lstm:
    a: Mapping[str, Any] = call.attrs
    w, wci, wcf, wco, b = weights
    bias, clip = float(a.get("forget_bias", 0.0)), float(a.get("cell_clip", -1.0))
    return _Lstm(w, wci, wcf, wco, b, gates, bool(a["use_peephole"]), bias, clip)


@kernel("LSTMBlockCell")
@quiet
def lstm_block_cell(call: Call, *inputs: Array) -> list[Array]:
    """One LSTM step: i, cs, f, o, ci, co and h, each [batch, cell]; gates in the order i ci f o."""
    x, cs_prev, h_prev, *weights = (widen(v) for v in inputs)
    lstm = _lstm(call, weights, _OLD)
    _check_lstm(call, x, cs_prev, h_prev, lstm)
    out = _step(lstm, x, cs_prev, h_prev)
    return [out[name].astype(inputs[0].dtype) for name in _NAMES]


@kernel("LSTMBlockCellGrad")
@quiet
def lstm_block_cell_grad(call: Call, *inputs: Array) -> list[Array]:
    """Gradients of one LSTM step: previous cell state, gates side by side, peephole weights."""
    x, cs_prev, h_prev, *rest = (widen(v) for v in inputs)
    lstm = _lstm(call, rest[:5], _OLD)
    _check_lstm(call, x, cs_prev, h_prev, lstm)
    kept = dict(zip(_NAMES[:-1], rest[5:11], strict=True))
    _check(
        call,
        {
            name: (value, cs_prev.shape)
            for name, value in [*kept.items(), ("cs_grad", rest[11]), ("h_grad", rest[12])]
        },
    )
    before, gates = _step_back(lstm, cs_prev, kept, rest[11], rest[12])
    out = [before, lstm.join(gates), *_peephole_grads(lstm, cs_prev, kept["cs"], gates)]
    return [v.astype(inputs[0].dtype) for v in out]


def _length(call: Call, seq_len_max: Array, steps: int) -> int:
    call.require(
        seq_len_max.ndim == 0, "seq_len_max must be a scalar", found=list(seq_len_max.shape)
    )
    count = scalar_int(call, seq_len_max, "seq_len_max")
    call.require(
        count <= steps,
        "seq_len_max must not exceed the number of steps",
        found=count,
        needed=f"at most {steps}",
    )
    return count


@kernel("BlockLSTM", "BlockLSTMV2")
@quiet
def block_lstm(call: Call, seq_len_max: Array, *inputs: Array) -> list[Array]:
    """An LSTM over a sequence [time, batch, input]; steps from ``seq_len_max`` on are zero.

    Gates lie in the order i ci f o, in V2 i f ci o. TensorFlow leaves all outputs but cs and h
    uninitialised from ``seq_len_max`` on.
    """
    x, cs, h, *weights = (widen(v) for v in inputs)
    lstm = _lstm(call, weights, _OLD if call.op == "BlockLSTM" else _NEW)
    _check_lstm(call, x, cs, h, lstm)
    steps = len(x)
    out = {name: np.zeros((steps, *cs.shape), inputs[0].dtype) for name in _NAMES}
    for t in range(_length(call, seq_len_max, steps)):
        made = _step(lstm, x[t], cs, h)
        for name in _NAMES:
            out[name][t] = made[name]
        cs, h = (widen(out[name][t]) for name in ("cs", "h"))
    return [out[name] for name in _NAMES]


@kernel("BlockLSTMGrad", "BlockLSTMGradV2")
@quiet
def block_lstm_grad(call: Call, seq_len_max: Array, *inputs: Array) -> list[Array]:
    """Gradients of an LSTM over a sequence: x, first state and output, all weights."""
    x, cs_first, h_first, *rest = (widen(v) for v in inputs)
    lstm = _lstm(call, rest[:5], _OLD if call.op == "BlockLSTMGrad" else _NEW)
    _check_lstm(call, x, cs_first, h_first, lstm)
    kept = dict(zip((*_NAMES, "cs_grad", "h_grad"), rest[5:], strict=True))
    _check(call, {n: (v, (len(x), *cs_first.shape)) for n, v in kept.items()})
    x_grad, w_grad, b_grad = np.zeros_like(x), np.zeros_like(lstm.w), np.zeros_like(lstm.b)
    cs_grad, h_grad = np.zeros_like(cs_first), np.zeros_like(h_first)
    peeps = [np.zeros_like(w) for w in (lstm.wci, lstm.wcf, lstm.wco)]
    for t in reversed(range(_length(call, seq_len_max, len(x)))):
        now = {name: value[t] for name, value in kept.items()}
        cs_prev, h_prev = (kept["cs"][t - 1], kept["h"][t - 1]) if t else (cs_first, h_first)
        h_grad = now["h_grad"] + h_grad
        cs_grad, gates = _step_back(lstm, cs_prev, now, now["cs_grad"] + cs_grad, h_grad)
        joined = lstm.join(gates)
        x_grad[t], h_grad = np.split(joined @ lstm.w.T, [x.shape[2]], axis=1)
        w_grad += np.concatenate([x[t], h_prev], axis=1).T @ joined
        b_grad += joined.sum(axis=0)
        more = _peephole_grads(lstm, cs_prev, now["cs"], gates)
        peeps = [a + b for a, b in zip(peeps, more, strict=True)]
    out = [x_grad, cs_grad, h_grad, w_grad, *peeps, b_grad]
    return [v.astype(inputs[0].dtype) for v in out]


def _check_gru(call: Call, x: Array, h_prev: Array, weights: Sequence[Array]) -> None:
    call.require(
        x.ndim == 2 and h_prev.ndim == 2,
        "x and h_prev must be matrices",
        found=f"{list(x.shape)} and {list(h_prev.shape)}",
        needed="rank 2",
    )
    cell, both = h_prev.shape[1], x.shape[1] + h_prev.shape[1]
    needed = ([both, 2 * cell], [both, cell], [2 * cell], [cell])
    names = ("w_ru", "w_c", "b_ru", "b_c")
    _check(call, {n: (w, s) for n, w, s in zip(names, weights, needed, strict=True)})
    _check(call, {"h_prev": (h_prev, [len(x), cell])})


@kernel("GRUBlockCell")
@quiet
def gru_block_cell(call: Call, x: Array, h_prev: Array, *weights: Array) -> list[Array]:
    """One GRU step: reset gate, update gate, candidate and output, each [batch, cell]."""
    _check_gru(call, x, h_prev, weights)
    w_ru, w_c, b_ru, b_c = weights
    r, u = np.split(_sigmoid(np.concatenate([x, h_prev], axis=1) @ w_ru + b_ru), 2, axis=1)
    c = np.tanh(np.concatenate([x, h_prev * r], axis=1) @ w_c + b_c)
    return [r, u, c, u * h_prev + (1 - u) * c]


@kernel("GRUBlockCellGrad")
@quiet
def gru_block_cell_grad(call: Call, x: Array, h_prev: Array, *rest: Array) -> list[Array]:
    """Gradients of one GRU step: x, previous output, candidate and gates before their functions."""
    _check_gru(call, x, h_prev, rest[:4])
    names = ("r", "u", "c", "d_h")
    _check(call, {n: (v, h_prev.shape) for n, v in zip(names, rest[4:], strict=True)})
    w_ru, w_c, (r, u, c, d_h) = rest[0], rest[1], rest[4:]
    d_c = (1 - u) * d_h * (1 - c * c)
    d_u = d_h * (h_prev - c) * u * (1 - u)
    x_by_c, hr_grad = np.split(d_c @ w_c.T, [x.shape[1]], axis=1)
    d_r = hr_grad * h_prev * r * (1 - r)
    d_ru = np.concatenate([d_r, d_u], axis=1)
    x_by_ru, h_by_ru = np.split(d_ru @ w_ru.T, [x.shape[1]], axis=1)
    return [x_by_ru + x_by_c, h_by_ru + hr_grad * r + d_h * u, d_c, d_ru]
