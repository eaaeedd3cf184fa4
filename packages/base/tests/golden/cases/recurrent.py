"""Cases of LSTM and GRU blocks and their gradients."""

from typing import Any

import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(61)
# TensorFlow rounds every step of a cell to half, we only the results; differences cancel badly.
TOL = {np.float16: 3e-2, np.float32: 1e-5}


def _draw(*shape: int, kind: Any = np.float32) -> Any:
    return (RNG.normal(size=shape) * 0.7).astype(kind)


def _weights(inputs: int, cell: int, kind: Any) -> list[Any]:
    peeps = [_draw(cell, kind=kind) for _ in range(3)]
    return [_draw(inputs + cell, 4 * cell, kind=kind), *peeps, _draw(4 * cell, kind=kind)]


def _unit(*shape: int, kind: Any = np.float32) -> Any:
    return RNG.uniform(0.05, 0.95, shape).astype(kind)


SIZES = ((2, 3, 4), (1, 1, 1), (3, 2, 5))


def _cells() -> list[Case]:
    out = []
    for batch, inputs, cell in SIZES:
        for kind in (np.float32, np.float16):
            x = _draw(batch, inputs, kind=kind)
            state = [_draw(batch, cell, kind=kind) for _ in range(2)]
            weights = _weights(inputs, cell, kind)
            for peep in (False, True):
                out += [
                    case("LSTMBlockCell", x, *state, *weights, use_peephole=peep, forget_bias=bias,
                         cell_clip=clip, tol=TOL[kind])
                    for bias, clip in ((1.0, 3.0), (0.0, -1.0), (0.5, 0.3), (1.0, 0.0))
                ]  # fmt: skip
                kept = [_unit(batch, cell, kind=kind) for _ in range(6)]
                grads = [_draw(batch, cell, kind=kind) for _ in range(2)]
                out.append(
                    case("LSTMBlockCellGrad", x, *state, *weights, *kept, *grads,
                         use_peephole=peep, tol=TOL[kind] * 4)
                )  # fmt: skip
    return out


def _sequences() -> list[Case]:
    out = []
    for batch, inputs, cell in SIZES:
        for kind in (np.float32, np.float16):
            x = _draw(4, batch, inputs, kind=kind)
            state = [_draw(batch, cell, kind=kind) for _ in range(2)]
            weights = _weights(inputs, cell, kind)
            kept = [_unit(4, batch, cell, kind=kind) for _ in range(7)]
            grads = [_draw(4, batch, cell, kind=kind) for _ in range(2)]
            for op in ("BlockLSTM", "BlockLSTMV2"):
                more = {"forget_bias": 0.25} if op == "BlockLSTM" else {}
                for peep, clip, length in ((False, 0.0, 4), (True, 0.5, 4), (True, 3.0, 2)):
                    # TensorFlow leaves steps past the length uninitialised: a unit test has them.
                    out.append(
                        case(op, np.int64(4), x, *state, *weights, use_peephole=peep,
                             cell_clip=clip, tol=TOL[kind] * 2, **more)
                    )  # fmt: skip
                    grad = op.replace("LSTM", "LSTMGrad")
                    out.append(
                        case(grad, np.int64(length), x, *state, *weights, *kept, *grads,
                             use_peephole=peep, tol=TOL[kind] * 8)
                    )  # fmt: skip
    return out


def _gru() -> list[Case]:
    out = []
    for batch, inputs, cell in SIZES:
        first = [_draw(batch, inputs), _draw(batch, cell)]
        both = inputs + cell
        weights = [_draw(both, 2 * cell), _draw(both, cell), _draw(2 * cell), _draw(cell)]
        kept = [_unit(batch, cell), _unit(batch, cell), _draw(batch, cell), _draw(batch, cell)]
        out += [case("GRUBlockCell", *first, *weights), case("GRUBlockCellGrad", *first, *weights, *kept)]  # noqa: E501  # fmt: skip
    return out


def _refused() -> list[Case]:
    x, state, weights = _draw(2, 3), [_draw(2, 4), _draw(2, 4)], _weights(3, 4, np.float32)
    gru = [_draw(2, 3), _draw(2, 4), _draw(7, 8), _draw(7, 4), _draw(8), _draw(4)]
    cell, block = "LSTMBlockCell", "BlockLSTM"
    long = _draw(3, 2, 3)
    return [
        case(cell, _draw(3, 3), *state, *weights),
        case(cell, long, *state, *weights),
        case(cell, x, state[0], _draw(2, 5), *weights),
        case(cell, x, *state, _draw(6, 16), *weights[1:]),
        case(cell, x, *state, *weights[:-1], _draw(15)),
        case(block, np.int64(2), x, *state, *weights),
        case(block, np.int64(2), long, *state, _draw(7, 15), *weights[1:]),
        case("GRUBlockCell", gru[0], _draw(3, 4), *gru[2:]),
        case("GRUBlockCell", *gru[:2], _draw(7, 7), *gru[3:]),
        case("GRUBlockCell", *gru[:5], _draw(5)),
    ]


CASES = [*_cells(), *_sequences(), *_gru(), *_refused()]
