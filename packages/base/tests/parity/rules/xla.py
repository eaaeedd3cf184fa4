"""XLA's ops that call no functions."""

from typing import Any

import numpy as np

from drystone_base.core.dtypes import as_dtype
from parity.draft import Draft, Drawer, Rule
from parity.drawers import choice, fixed, shaped, some


def numbers(*rows: list[int]) -> str:
    """A message of integers: fields 1, 2, ... with their values, each below 128."""
    return "".join(chr((k + 1) << 3) + chr(v) for k, row in enumerate(rows) for v in row)


_PLAIN = ("float32", "float64", "int32", "int64", "bool", "uint8")
_REAL = ("float32", "float64", "int32")
_DOT = {
    numbers([1], [0]): ("m k", "k n"),
    numbers([1], [1]): ("m k", "n k"),
    numbers([2], [1], [0], [0]): ("b m k", "b k n"),
    numbers([0, 1], [1, 0]): ("k l m", "l k"),
    numbers([], []): ("m", "n"),
}


def _index(low: int, high: int, count: str) -> Drawer:
    def draw(d: Draft) -> Any:
        rank = np.ndim(d[count])
        return d.rng.integers(low, high + 1, rank).astype(d["Tindices"])

    return draw


def _update(d: Draft) -> Any:
    return d.tensor("update", [d.size(0, n) for n in np.shape(d["input"])])


def _sizes(d: Draft) -> Any:
    return np.array([d.size(0, n) for n in np.shape(d["input"])], d["Tindices"])


_INDEX = {"Tindices": choice("int32", "int64")}
_CONV = {
    "dimension_numbers": fixed(
        "".join(
            chr(n << 3) + chr(v)
            for n, row in (
                (7, [0]), (8, [3]), (11, [1, 2]), (3, [2]), (4, [3]), (6, [0, 1]), (9, [0]),
                (10, [3]), (12, [1, 2]),
            )
            for v in row
        )
    ),
    "precision_config": fixed(""),
    "window_strides": lambda d: np.array([d.size(1, 2), d.size(1, 2)], d["Tindices"]),
    "padding": lambda d: d.rng.integers(-1, 3, (2, 2)).astype(d["Tindices"]),
    "lhs_dilation": lambda d: np.array([d.size(1, 2), 1], d["Tindices"]),
    "rhs_dilation": lambda d: np.array([1, d.size(1, 2)], d["Tindices"]),
    "feature_group_count": lambda d: np.array(d.pick(1, 2), d["Tindices"]),
    "lhs": shaped("b h w 4", False),
    "rhs": lambda d: d.tensor(
        "rhs", (*d.shape("i j"), 4 // int(d["feature_group_count"]), 6), False
    ),
}  # fmt: skip
_CONV_DIMS = {"b": (1, 2), "h": (4, 6), "w": (4, 6), "i": (1, 3), "j": (1, 3)}
_SUMS = "sums in another order"


def _dot_rule(**more: Drawer) -> Rule:
    def side(k: int) -> Drawer:
        return lambda d: d.tensor(d.making, d.shape(_DOT[d["dimension_numbers"]][k]), False)

    return Rule(
        {
            "precision_config": fixed(""),
            "dimension_numbers": choice(*_DOT),
            "lhs": side(0),
            "rhs": side(1),
            **more,
        },
        dims={"k": (1, 4), "l": (1, 3)},
        tol=10,
        why=_SUMS,
        types=_REAL,
        spoil=False,
    )


RULES: dict[str, Rule] = {
    "XlaConv": Rule(
        _CONV | _INDEX, dims=_CONV_DIMS, tol=20, why=_SUMS, types=_REAL, spoil=False
    ),
    "XlaConvV2": Rule(
        _CONV
        | _INDEX
        | {"RhsT": lambda d: d["LhsT"], "preferred_element_type": lambda d: d["LhsT"]}
        | {"batch_group_count": fixed(1)},
        dims=_CONV_DIMS,
        tol=20,
        why=_SUMS,
        types=_REAL,
        spoil=False,
    ),
    "XlaEinsum": Rule(
        {"equation": choice("ij,jk->ik"), "a": shaped("m k", False), "b": shaped("k n", False)},
        dims={"m": (1, 4), "k": (1, 4), "n": (1, 4)},
        tol=10,
        why=_SUMS,
        types=("float32",),
        spoil=False,
    ),
    "XlaDynamicSlice": Rule(
        _INDEX
        | {
            "input": some(3, 1),
            "start_indices": _index(-2, 5, "input"),
            "size_indices": _sizes,
        },
        types=_PLAIN,
        spoil=False,
    ),
    "XlaDynamicUpdateSlice": Rule(
        _INDEX | {"input": some(3, 1), "update": _update, "indices": _index(-2, 5, "input")},
        types=_PLAIN,
        spoil=False,
    ),
    "XlaPad": Rule(
        _INDEX
        | {
            "input": shaped("m n"),
            "padding_value": shaped(""),
            "padding_low": _index(-1, 3, "input"),
            "padding_high": _index(-1, 3, "input"),
            "padding_interior": _index(0, 2, "input"),
        },
        dims={"m": (2, 5), "n": (2, 5)},
        types=_PLAIN,
        spoil=False,
    ),
    "XlaGather": Rule(
        _INDEX
        | {
            "operand": shaped("5 4 n"),
            "start_indices": lambda d: d.rng.integers(-1, 6, (d.dim("b"), 1)).astype(
                d["Tindices"]
            ),
            "slice_sizes": lambda d: np.array([1, d.size(1, 4), d.dim("n")], d["Tindices"]),
            "dimension_numbers": fixed(numbers([1, 2], [0], [0], [1])),
        },
        dims={"b": (1, 4), "n": (1, 3)},
        types=_PLAIN,
        spoil=False,
    ),
    "XlaSort": Rule({"input": some(3, 1)}, types=("float32", "float64", "int32", "uint8")),
    "XlaKeyValueSort": Rule(
        {
            "keys": shaped("m n"),
            "values": shaped("m n"),
            "V": choice("float32", "int32"),
        },
        types=("float32", "int32"),
        spoil=False,
    ),
    "XlaReducePrecision": Rule(
        {"operand": some(3), "exponent_bits": choice(2, 5, 8), "mantissa_bits": choice(0, 3, 10)},
        types=("float32", "float64"),
    ),
    "XlaBroadcastHelper": Rule(
        _INDEX
        | {
            "lhs": shaped("m n"),
            "rhs": shaped("n"),
            "broadcast_dims": lambda d: np.array([1], d["Tindices"]),
        },
        types=_PLAIN,
        spoil=False,
    ),
    "XlaSharding": Rule({"input": some(3), "sharding": fixed(""), "unspecified_dims": fixed([])},
                        types=_PLAIN),
    "XlaOptimizationBarrier": Rule(
        {
            "T": choice(["float32"], ["float32", "int32"], ["bool", "float64", "uint8"]),
            "input": lambda d: [d.values(as_dtype(t), d.shape("m n")) for t in d["T"]],
        },
        spoil=False,
    ),
    "XlaRngBitGenerator": Rule(
        {
            "algorithm": lambda d: np.int32(d.pick(1, 2)),
            "initial_state": lambda d: d.rng.integers(
                0, 2**63, 2 if d["algorithm"] == 2 else d.pick(2, 3)
            ).astype(np.uint64),
            "dtype": choice("uint32", "uint64"),
            "shape": lambda d: np.array(d.shape("m n"), d["Tshape"]),
        },
        spoil=False,
    ),
    "XlaDot": _dot_rule(),
    "XlaDotV2": _dot_rule(RhsT=lambda d: d["LhsT"], preferred_element_type=lambda d: d["LhsT"]),
    "XlaSelfAdjointEig": Rule(
        {
            "a": lambda d: _even(d),
            "lower": choice(True, False),
            "max_iter": fixed(100),
            "epsilon": fixed(1e-6),
        },
        dims={"n": (1, 5)},
        compared=1,
        tol=300,
        why="an iteration",
        types=("float32", "float64"),
        spoil=False,
    ),
    "XlaSvd": Rule(
        {
            "a": shaped("m n", False),
            "max_iter": fixed(100),
            "epsilon": fixed(1e-6),
            "precision_config": fixed(""),
        },
        dims={"m": (1, 5), "n": (1, 5)},
        compared=1,
        tol=3000,
        why="an iteration that ends at epsilon",
        types=("float32", "float64"),
        spoil=False,
    ),
}  # fmt: skip


def _even(d: Draft) -> Any:
    a = d.tensor("a", d.shape("n n"), False)
    return (a + a.T).astype(a.dtype)
