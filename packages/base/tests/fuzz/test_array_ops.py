"""Array ops on random inputs: an answer that the shape function admits, or an error on purpose.

Seeded, so that a failure repeats. Every input is small; values of index inputs are mostly in range.
"""

from typing import Any

import numpy as np
import pytest

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.core.errors import DrystoneError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels._registry import find_kernel
from drystone_base.ops.defs import ArgDef, OpDef, names, op_def

FAMILIES = {
    f"drystone_base.kernels.{name}"
    for name in [
        "data_format",
        "edit_distance",
        "gather",
        "joining",
        "ordering",
        "padding",
        "ragged",
        "scatter",
        "sets",
        "shape_ops",
        "slicing",
        "space_batch",
        "sparse",
        "sparse_count",
        "sparse_math",
        "stitching",
        "unique",
    ]
}
WORDS = ("REFLECT", "NHWC", "NCHW", "union", "a-b", "IGNORE", "", "other")
INDEX_TYPES = (dtypes.INT32, dtypes.INT64)
TYPES = (dtypes.FLOAT32, dtypes.INT32, dtypes.INT64, dtypes.STRING, dtypes.BOOL, dtypes.COMPLEX64)
ROUNDS = 60


def _tested() -> list[str]:
    """Ops of these families that take plain tensors only."""
    found = []
    for name in names():
        function = find_kernel(name)
        if function is None or getattr(function, "__module__", "") not in FAMILIES:
            continue
        args = op_def(name).inputs
        if args and not any(a.is_ref or a.type in (dtypes.RESOURCE, dtypes.VARIANT) for a in args):
            found.append(name)
    return found


def _attr(rng: np.random.Generator, kind: str, allowed: Any, minimum: int | None) -> Any:
    if kind == "type":
        return rng.choice([t for t in TYPES if allowed is None or t in allowed] or list(allowed))
    if kind == "int":
        return int(rng.integers(max(minimum or -2, -2), max((minimum or 0) + 3, 3)))
    if kind == "bool":
        return bool(rng.integers(2))
    if kind == "string":
        return str(rng.choice(WORDS))
    if kind == "list(int)":
        return rng.integers(-3, 3, rng.integers(0, 3)).tolist()
    if kind == "shape":
        return None if rng.random() < 0.3 else tuple(rng.integers(-1, 4, 2).tolist())
    return [["ROW_SPLITS"], ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]][rng.integers(2)]


def _tensor(rng: np.random.Generator, dtype: DType, rank: int) -> Any:
    dims = rng.choice([0, 1, 1, 2, 2, 3, 4], rank)
    if dtype is dtypes.STRING:
        out = np.empty(dims, object)
        out[...] = rng.choice([b"a", b"", b"bc"], dims) if out.size else b""
        flat = [bytes(v) for v in out.reshape(-1)]
        out.reshape(-1)[:] = flat
        return out
    if dtype is dtypes.BOOL:
        return rng.integers(0, 2, dims).astype(bool)
    values = rng.integers(0, 3, dims) if rng.random() < 0.8 else rng.integers(-3, 9, dims)
    return (
        np.sort(values, 0).astype(dtype.np)
        if rank and rng.random() < 0.3
        else values.astype(dtype.np)
    )


def _inputs(rng: np.random.Generator, definition: OpDef, attrs: dict[str, Any]) -> list[Any]:
    base = int(rng.integers(0, 4))
    out = []
    for arg in definition.inputs:
        for kind in arg.types(attrs):
            rank = _rank(rng, arg, kind, base)
            out.append(_tensor(rng, kind, rank))
    return out


def _rank(rng: np.random.Generator, arg: ArgDef, kind: DType, base: int) -> int:
    """Ranks that often fit together: indices matrices, other int vectors, data of one rank."""
    if rng.random() < 0.2:
        return int(rng.integers(0, 4))
    if "indices" in arg.name or arg.name in ("paddings", "crops"):
        return int(rng.integers(1, 3))
    return int(rng.integers(0, 2)) if kind in INDEX_TYPES else base


def _attributes(rng: np.random.Generator, definition: OpDef) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, a in definition.attrs.items():
        if a.has_default and rng.random() < 0.5 and a.type != "type":
            out[name] = a.default
        else:
            out[name] = _attr(rng, a.type, a.allowed, a.minimum)
    for arg in definition.inputs:
        if arg.number_attr:
            out[arg.number_attr] = int(rng.integers(1, 4))
    return out


def _check(op: str, inputs: list[Any], attrs: dict[str, Any]) -> bool:
    """Whether the kernel answered; fails when the shape function does not admit the answer."""
    shapes = [v.shape for v in inputs]
    kinds = [from_numpy(v.dtype) for v in inputs]

    def infer(values: list[Any] | None) -> list[Any]:
        return infer_shapes(op, shapes, values=values, dtypes_in=kinds, **attrs)

    try:
        outputs = run_op(op, *inputs, **attrs)
    except DrystoneError:
        for values in (None, inputs):
            try:
                infer(values)
            except ShapeError:
                continue
        return False
    for values in (None, inputs):
        for guess, real in zip(infer(values), outputs, strict=True):
            assert guess is None or len(guess) == real.ndim
            assert all(g in (-1, r) for g, r in zip(guess or real.shape, real.shape, strict=True))
    return True


@pytest.mark.parametrize("op", _tested())
def test_answers_or_refuses(op: str) -> None:
    definition = op_def(op)
    seed = sum(op.encode())
    for k in range(ROUNDS):
        rng = np.random.default_rng([seed, k])
        attrs = _attributes(rng, definition)
        inputs = _inputs(rng, definition, attrs)
        try:
            _check(op, inputs, attrs)
        except Exception as error:
            sizes = [f"{v.dtype}{list(v.shape)} {v.tolist()}" for v in inputs]
            pytest.fail(f"round {k}: {op}({'; '.join(sizes)}, {attrs}): {error!r}")
