"""Cases of feature crosses."""

from typing import Any

import numpy as np
from oracle import Case, case

I32, I64 = np.int32, np.int64


def _texts(*values: str) -> Any:
    return np.array([v.encode() for v in values], object)


def _i(*values: Any) -> Any:
    return np.array(values, I64)


ROWS = _i([0, 0], [1, 0], [1, 1])
OTHER = _i([0, 0], [0, 1], [1, 0])
SHAPE = _i(2, 2)
WORDS = _texts("a", "b", "")
MORE = _texts("x", "yy", "é")
NUMBERS = _i(5, -7, 2**40 + 3)
DENSE = _texts("d0", "d1", "d2", "d3").reshape(2, 2)
DENSE_NUMBERS = _i([1, 2], [-3, 2**35])


def _sparse(columns: Any, dense: Any) -> tuple[list[Any], dict[str, Any]]:
    """Inputs and attributes: columns are (indices, values, shape)."""
    inputs = [c[0] for c in columns] + [c[1] for c in columns] + [c[2] for c in columns]
    kinds = {
        "N": len(columns),
        "sparse_types": [_kind(c[1]) for c in columns],
        "dense_types": [_kind(d) for d in dense],
    }
    return [*inputs, *dense], kinds


def _kind(value: Any) -> str:
    return "string" if value.dtype == object else "int64"


SETS: list[tuple[Any, Any]] = [
    ([(ROWS, WORDS, SHAPE), (OTHER, MORE, SHAPE)], []),
    ([(ROWS, WORDS, SHAPE), (OTHER, NUMBERS, SHAPE)], [DENSE]),
    ([(ROWS, NUMBERS, SHAPE)], [DENSE_NUMBERS, DENSE]),
    ([], [DENSE, DENSE_NUMBERS]),
    ([(ROWS[1:], WORDS[1:], SHAPE), (OTHER, MORE, SHAPE)], []),
    ([(np.zeros((0, 2), I64), WORDS[:0], SHAPE)], [DENSE]),
    ([(ROWS[::-1].copy(), WORDS, SHAPE)], [DENSE]),
    ([(ROWS, WORDS, _i(3, 2)), (OTHER, MORE, _i(3, 2))], []),
]
WRONG: list[tuple[Any, Any]] = [
    ([(ROWS, WORDS, SHAPE), (OTHER, MORE, _i(3, 2))], []),
    ([(ROWS, WORDS, SHAPE)], [DENSE[:1]]),
    ([(ROWS, WORDS[:2], SHAPE)], []),
    ([(ROWS[:, :1], WORDS, SHAPE)], []),
    ([(ROWS, WORDS, _i(2, 2, 2))], []),
    ([(ROWS, WORDS, SHAPE)], [DENSE.reshape(-1)]),
]


def _sparse_cases() -> list[Case]:
    out = []
    for columns, dense in [*SETS, *WRONG]:
        inputs, kinds = _sparse(columns, dense)
        types = {v.dtype for v in [*(c[1] for c in columns), *dense]}
        inner = "string" if types == {np.dtype(object)} else "int64"
        plain = {"num_buckets": 0, "hash_key": 0, "internal_type": inner, **kinds}
        out += [
            case("SparseCross", *inputs, hashed_output=False, out_type="string", **plain),
            case("SparseCrossV2", *inputs, np.array(b"-", object), **kinds),
        ]
        for buckets, key in ((0, 956888297470), (100, 1), (7, -5)):
            keyed = plain | {"num_buckets": buckets, "hash_key": key}
            out.append(case("SparseCross", *inputs, hashed_output=True, out_type="int64", **keyed))
        # TensorFlow crashes on a strong hash of a dense column of integers.
        for strong in (False, True)[: 1 if any(_kind(d) == "int64" for d in dense) else 2]:
            for buckets in (0, 50):
                tail = [np.int64(buckets), np.bool_(strong), _i(11, -4)]
                out.append(case("SparseCrossHashed", *inputs, *tail, **kinds))
    inputs, kinds = _sparse(*SETS[0])
    strict = {"num_buckets": 0, "hash_key": 0, "internal_type": "string"}
    numbers, of_numbers = _sparse(*SETS[2])
    return [
        *out,
        case("SparseCrossV2", *inputs, _texts("-"), **kinds),
        case("SparseCrossHashed", *inputs, np.int64(0), np.bool_(1), _i(1, 2, 3), **kinds),
        case("SparseCross", *numbers, hashed_output=False, out_type="string", **strict,
             **of_numbers),
    ]  # fmt: skip


def _ragged(ragged: Any, sparse: Any, dense: Any, order: str, **options: Any) -> Case:
    inputs = [r[0] for r in ragged] + [r[1] for r in ragged]
    inputs += [s[k] for k in range(3) for s in sparse] + list(dense)
    hashed = options.pop("hashed", False)
    attrs = {
        "Nsparse": len(sparse),
        "input_order": order,
        "hashed_output": hashed,
        "num_buckets": options.pop("num_buckets", 0),
        "hash_key": options.pop("hash_key", 3),
        "ragged_values_types": [_kind(r[0]) for r in ragged],
        "ragged_splits_types": [r[1].dtype.name for r in ragged],
        "sparse_values_types": [_kind(s[1]) for s in sparse],
        "dense_types": [_kind(d) for d in dense],
        "out_values_type": "int64" if hashed else "string",
        "out_row_splits_type": options.pop("splits", "int64"),
    }
    return case("RaggedCross", *inputs, **attrs)


def _ragged_cases() -> list[Case]:
    words, numbers = (WORDS, _i(0, 1, 3)), (NUMBERS, _i(0, 2, 3))
    narrow = (MORE, np.array([0, 0, 3], I32))
    sparse = (OTHER, MORE, SHAPE)
    out = []
    for hashed, buckets, splits in ((False, 0, "int64"), (True, 0, "int64"), (True, 9, "int32")):
        options = {"hashed": hashed, "num_buckets": buckets, "splits": splits}
        if splits == "int64":
            out += [
                _ragged([words, numbers], [], [], "RR", **options),
                _ragged([words], [sparse], [DENSE], "DSR", **options),
                _ragged([words], [sparse], [DENSE_NUMBERS], "RSD", **options),
                _ragged([], [sparse], [DENSE], "SD", **options),
                _ragged([], [], [DENSE, DENSE], "DD", **options),
            ]
        else:
            out += [
                _ragged([narrow], [], [DENSE], "RD", **options),
                _ragged([narrow, narrow], [], [], "RR", **options),
            ]
    return [
        *out,
        _ragged([words], [sparse], [], "RR"),
        _ragged([words], [sparse], [], "R"),
        _ragged([words], [], [], "X"),
        _ragged([(WORDS, _i(0, 3))], [sparse], [], "RS"),
        _ragged([(WORDS, _i(0, 4, 3))], [], [], "R"),
        _ragged([(WORDS, _i(1, 2, 3))], [], [], "R"),
        _ragged([words], [], [DENSE.reshape(-1)], "RD"),
        _ragged([words], [(ROWS, WORDS, _i(2, 2, 2))], [], "RS"),
    ]


CASES = [*_sparse_cases(), *_ragged_cases()]
