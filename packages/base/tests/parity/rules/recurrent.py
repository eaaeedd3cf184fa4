"""Recurrent blocks and connectionist temporal classification."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import fixed, shaped, unit

HALF = "TensorFlow rounds every step of a cell to half, we only the results"


def _wide(spec: str, factor: int, lead: str = "") -> Drawer:
    """Weights: rows of one or two named dimensions together, ``factor`` cells wide."""

    def draw(d: Draft) -> Any:
        rows = [sum(d.dim(n) for n in lead.split())] if lead else []
        return d.tensor(d.making, [*rows, d.dim(spec) * factor], False)

    return draw


def _plain(spec: str) -> Drawer:
    return shaped(spec, False)


_SIZES = {"b": (1, 3), "i": (1, 3), "c": (1, 4), "t": (1, 4)}
_PEEPS = {name: _plain("c") for name in ("wci", "wcf", "wco")}
_WEIGHTS = {"w": _wide("c", 4, "i c"), "b": _wide("c", 4), **_PEEPS}
_CELL = {"x": _plain("b i"), "cs_prev": _plain("b c"), "h_prev": _plain("b c"), **_WEIGHTS}
_KEPT = ("i", "f", "o", "ci", "co", "cs", "h")
_KEPT_CELL = {name: unit("b c") for name in _KEPT} | {
    name: _plain("b c") for name in ("cs_grad", "h_grad")
}
_KEPT_BLOCK = {name: unit("t b c") for name in _KEPT} | {
    name: _plain("t b c") for name in ("cs_grad", "h_grad")
}
_BLOCK = _CELL | {
    "x": _plain("t b i"),
    "seq_len_max": lambda d: np.array(d.dim("t"), np.int64),
}
_GRU = {
    "x": _plain("b i"),
    "h_prev": _plain("b c"),
    "w_ru": _wide("c", 2, "i c"),
    "w_c": _wide("c", 1, "i c"),
    "b_ru": _wide("c", 2),
    "b_c": _plain("c"),
}
_TOL = {"float16": 60.0, "float32": 8.0}


def _lstm(draw: Any) -> Rule:
    # A peephole of another size is not spoilt: TensorFlow reads past its end.
    return Rule(draw, _SIZES, special=False, tol=_TOL, why=HALF, spoil=False)


def _lengths(d: Draft) -> Any:
    top = d.dim("t")
    return d.rng.integers(max(top - 2, 0), top + 1, d.dim("b")).astype(np.int32)


def _label_rows(d: Draft) -> list[list[int]]:
    if not d.parts:
        counts = [d.size(1, 3) for _ in range(d.dim("b"))]
        d.parts = [{"row": d.rng.integers(0, max(d.dim("c") - 1, 1), n)} for n in counts]
    return [p["row"].tolist() for p in d.parts]


def _label_indices(d: Draft) -> Any:
    places = [[b, k] for b, row in enumerate(_label_rows(d)) for k in range(len(row))]
    return np.array(places, np.int64).reshape(-1, 2)


_LOGITS = {"inputs": shaped("t b c", False), "sequence_length": _lengths}
LOGS = "TensorFlow adds on the log scale in float32, also where the type is float64"
_LOGS = {"float32": 20.0, "float64": 1e4}
_CTC = {"t": (2, 6), "b": (1, 3), "c": (2, 5)}

RULES: dict[str, Rule] = {
    "LSTMBlockCell": _lstm(_CELL),
    "LSTMBlockCellGrad": _lstm(_CELL | _KEPT_CELL),
    "BlockLSTM BlockLSTMV2": _lstm(_BLOCK),
    "BlockLSTMGrad BlockLSTMGradV2": _lstm(_BLOCK | _KEPT_BLOCK),
    "GRUBlockCell": Rule(_GRU, _SIZES, special=False, tol=8, why="sums in another order"),
    "GRUBlockCellGrad": Rule(
        _GRU | {"r": unit("b c"), "u": unit("b c"), "c": unit("b c"), "d_h": _plain("b c")},
        _SIZES,
        special=False,
        tol=8,
        why="sums in another order",
    ),
    "CTCLoss": Rule(
        _LOGITS
        | {
            "labels_indices": _label_indices,
            "labels_values": lambda d: np.array(sum(_label_rows(d), []), np.int32),  # noqa: RUF017
        },
        _CTC,
        special=False,
        tol=_LOGS,
        why=LOGS,
    ),
    "CTCGreedyDecoder": Rule(_LOGITS, _CTC, special=False),
    "CTCBeamSearchDecoder": Rule(
        _LOGITS
        | {
            "beam_width": lambda d: d.pick(2, 5, 10),
            "top_paths": fixed(2),
        },
        _CTC,
        special=False,
        tol=_LOGS,
        why=LOGS,
    ),
}
