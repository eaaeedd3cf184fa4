"""Cases of CTC losses and decoders."""

from typing import Any

import numpy as np
from oracle import Case, case

I32, I64 = np.int32, np.int64
RNG = np.random.default_rng(62)


def _logits(*shape: int, kind: Any = np.float32) -> Any:
    return (RNG.normal(size=shape) * 2).astype(kind)


def _labels(rows: Any) -> tuple[Any, Any]:
    places = [[b, k] for b, row in enumerate(rows) for k in range(len(row))]
    flat = [v for row in rows for v in row]
    return np.array(places, I64).reshape(-1, 2), np.array(flat, I32)


def _lengths(*values: int) -> Any:
    return np.array(values, I32)


def _losses() -> list[Case]:
    out = []
    rows = [[0, 1, 1], [2], [3, 3]]
    for kind in (np.float32, np.float64):
        x = _logits(6, 3, 5, kind=kind)
        for merge in (True, False):
            for collapse in (True, False):
                for lengths in (_lengths(6, 6, 6), _lengths(5, 1, 4)):
                    out += [
                        case("CTCLoss", x, *_labels(rows), lengths, ctc_merge_repeated=merge,
                             preprocess_collapse_repeated=collapse, tol=1e-4)
                    ]  # fmt: skip
        short = _lengths(3, 0, 1)
        out += [
            case("CTCLoss", x, *_labels(rows), short, ignore_longer_outputs_than_inputs=True,
                 tol=1e-4),
            case("CTCLoss", x, *_labels(rows), short),
            case("CTCLoss", x * 40, *_labels(rows), _lengths(6, 5, 4), tol=1e-4),
            case("CTCLoss", x, *_labels([[0, 4, 4], [1], [2]]), _lengths(6, 6, 6), tol=1e-4),
        ]  # fmt: skip
    return out


def _refused_losses() -> list[Case]:
    x, rows, full = _logits(4, 2, 3), _labels([[0], [1]]), _lengths(4, 4)
    return [
        case("CTCLoss", x, *_labels([[0], []]), full),
        case("CTCLoss", x, *_labels([[0, 2, 1], [0]]), full),
        case("CTCLoss", x, *_labels([[-1], [0]]), full),
        case("CTCLoss", x, *rows, _lengths(4)),
        case("CTCLoss", x, *rows, _lengths(4, 5)),
        case("CTCLoss", x, *rows, _lengths(4, -1)),
        case("CTCLoss", x, rows[0] + 1, rows[1], full),
        case("CTCLoss", x, rows[0][::-1].copy(), rows[1], full),
        case("CTCLoss", x, rows[0], rows[1][:1], full),
        case("CTCLoss", x[0], *rows, full),
        case("CTCLoss", x[:, :0], np.zeros((0, 2), I64), np.zeros(0, I32), _lengths()),
    ]


def _greedy() -> list[Case]:
    out = []
    for kind in (np.float32, np.float64):
        x = _logits(7, 3, 4, kind=kind).round()
        for merge in (True, False):
            for blank in (-1, 0, 3, -4):
                out += [
                    case("CTCGreedyDecoder", x, _lengths(7, 0, 4), merge_repeated=merge,
                         blank_index=blank)
                ]  # fmt: skip
        out.append(case("CTCGreedyDecoder", x, _lengths(7, 7, 7), blank_index=4))
        out.append(case("CTCGreedyDecoder", x, _lengths(7, 7, 7), blank_index=-5))
    x = _logits(2, 2, 3)
    return [
        *out,
        case("CTCGreedyDecoder", x, _lengths(2)),
        case("CTCGreedyDecoder", x, _lengths(3, 2)),
        case("CTCGreedyDecoder", x, _lengths(-1, 2)),
        case("CTCGreedyDecoder", x[0], _lengths(2, 2)),
        case("CTCGreedyDecoder", x[:0], _lengths(0, 0)),
        case("CTCGreedyDecoder", x, _lengths(2, 2)[:, None]),
    ]


def _beams() -> list[Case]:
    out = []
    for kind in (np.float32, np.float64):
        for steps, batch, classes in ((5, 2, 3), (8, 1, 6), (3, 3, 2)):
            x = _logits(steps, batch, classes, kind=kind)
            lengths = np.full(batch, steps, I32)
            for width, paths in ((1, 1), (4, 2), (10, 3), (40, 4)):
                for merge in (True, False):
                    out += [
                        case("CTCBeamSearchDecoder", x, lengths, beam_width=width,
                             top_paths=paths, merge_repeated=merge, tol=1e-4)
                    ]  # fmt: skip
            # Ties: which of equal sequences stay, and their order. (In float64 the last bits of
            # TensorFlow's logarithms decide, which it takes in float32.)
            if kind is np.float64:
                continue
            flat, steep = np.zeros_like(x), np.round(x)
            for tied, width, paths in (
                *((steep, w, n) for w, n in ((3, 2), (6, 4), (12, 4))),
                *((flat, w, n) for w, n in ((3, 2), (6, 4), (12, 4), (3, 3))),
                (flat[:4], 6, 6),
            ):
                out += [
                    case("CTCBeamSearchDecoder", tied, lengths.clip(0, len(tied)),
                         beam_width=width, top_paths=paths, merge_repeated=False, tol=1e-4)
                ]  # fmt: skip
    x = _logits(2, 2, 3)
    wide = {"beam_width": 4, "top_paths": 1}
    return [
        *out,
        case("CTCBeamSearchDecoder", x, _lengths(2, 0), **wide),
        case("CTCBeamSearchDecoder", x, _lengths(2, 2), beam_width=2, top_paths=3),
        case("CTCBeamSearchDecoder", x, _lengths(1, 0), beam_width=4, top_paths=2),
        case("CTCBeamSearchDecoder", x, _lengths(2, 3), **wide),
        case("CTCBeamSearchDecoder", x, _lengths(2), **wide),
        case("CTCBeamSearchDecoder", x[:, :0], _lengths(), **wide),
        case("CTCBeamSearchDecoder", x[0], _lengths(2, 2), **wide),
    ]


CASES = [*_losses(), *_refused_losses(), *_greedy(), *_beams()]
