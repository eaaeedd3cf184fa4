"""Cases of cluster seeds and nearest centres."""

from typing import Any

import numpy as np
from oracle import Case, case

RNG = np.random.default_rng(12)
I64 = np.int64


def _points(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


def _seeds() -> list[Case]:
    op, out = "KmeansPlusPlusInitialization", []
    for rows, width, count, retries in (
        (50, 3, 5, 0), (50, 3, 5, -1), (50, 3, 7, 4), (5, 1, 5, 0), (1, 4, 1, 3),
    ):  # fmt: skip
        points = _points(rows, width)
        out += [case(op, points, I64(count), I64(s), I64(retries)) for s in (0, 7, 2**40)]
    same = np.ones((6, 2), np.float32)
    out.append(case(op, same, I64(3), I64(3), I64(1)))
    wrong = ((same, 0), (same, 7), (same[:0], 1), (same[0], 1))
    out += [case(op, x, I64(n), I64(3), I64(1)) for x, n in wrong]
    out.append(case(op, same, np.array([2], I64), I64(3), I64(1)))
    chain = "KMC2ChainInitialization"
    out += [case(chain, np.abs(_points(200)), I64(s)) for s in range(5)]
    odd = np.array([np.nan, 1, np.inf, 0, 2, np.inf, -1], np.float32)
    out += [case(chain, odd, I64(s)) for s in (1, 2)]
    return [*out, case(chain, same, I64(1)), case(chain, odd[:0], I64(1)),
            case(chain, odd[:1], I64(1))]  # fmt: skip


def _neighbors() -> list[Case]:
    op = "NearestNeighbors"
    points, centers = _points(40, 5), _points(30, 5)
    out = [case(op, points, centers, I64(k)) for k in (0, 1, 3, 30, 50)]
    return [
        *out,
        case(op, points[:3], _points(1500, 5), I64(4)),
        case(op, points, centers[:0], I64(2)),
        case(op, points[:0], centers, I64(2)),
        case(op, points, centers[:, :4], I64(2)),
        case(op, points[0], centers, I64(2)),
        case(op, points, centers[0], I64(2)),
        case(op, points, centers, np.array([2], I64)),
    ]


CASES = [*_seeds(), *_neighbors()]
