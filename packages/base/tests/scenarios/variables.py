"""Variables, by reference and as resources: assigned, updated, scattered into, read."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32

from drystone_base.core.dtypes import as_dtype
from drystone_base.ops.defs import op_def
from scenarios import Program, scenario

FLOATS = ["float16", "bfloat16", "float32", "float64"]
NUMBERS = [*FLOATS, "int32", "int64", "uint8", "int8", "int16", "complex64"]
SCATTERS = ["Update", "Add", "Sub", "Mul", "Div", "Min", "Max"]


def numbers(rng: np.random.Generator, dtype: str, shape: Any) -> np.ndarray[Any, Any]:
    """Small numbers of a dtype, none zero."""
    return np.asarray(rng.integers(1, 9, shape)).astype(as_dtype(dtype).np)


def pick(rng: np.random.Generator, items: list[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def allowed(op: str, attr: str, dtype: str) -> bool:
    """Whether the op's definition takes the dtype."""
    given = op_def(op).attrs[attr].allowed
    complex_order = dtype.startswith("complex") and op.endswith(("Min", "Max"))
    return not complex_order and (given is None or as_dtype(dtype) in given)


@scenario(draws=24)
def reference(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    shape = [int(d) for d in rng.integers(0, 4, rng.integers(0, 3))]
    op = pick(rng, ["VariableV2", "Variable"] if shape else ["VariableV2"])
    v = p(op, dtype=dtype, shape=shape, shared_name="v")
    first = p("Assign", v, numbers(rng, dtype, shape), use_locking=bool(rng.integers(2)))
    p.step(p("IsVariableInitialized", v))
    p.step(v)
    p.step(first)
    p.step(p("IsVariableInitialized", v))
    for kind in ("AssignAdd", "AssignSub"):
        p.step(p(kind, v, numbers(rng, dtype, shape)))
        p.step(v)
    if dtype in ("int32", "int64") and not shape:
        counted = p("CountUpTo", v, limit=int(rng.integers(0, 12)))
        for _ in range(4):
            p.step(counted)
        p.step(v)
    p.step(p("Assign", v, numbers(rng, dtype, [2, 2]), validate_shape=bool(rng.integers(2))))
    p.step(v)


@scenario(draws=24)
def resource(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    shape = [int(d) for d in rng.integers(0, 4, rng.integers(0, 3))]
    v = p("VarHandleOp", dtype=dtype, shape=shape, shared_name="v")
    read = p("ReadVariableOp", v, dtype=dtype)
    p.step(p("VarIsInitializedOp", v))
    p.step(read)
    p.step(p("AssignAddVariableOp", v, numbers(rng, dtype, shape)))
    p.step(p("AssignVariableOp", v, numbers(rng, dtype, shape)))
    p.step(p("VarIsInitializedOp", v), read, p("VariableShape", v, out_type="int64"))
    for kind in ("AssignAddVariableOp", "AssignSubVariableOp"):
        p.step(p(kind, v, numbers(rng, dtype, shape)))
        p.step(read)
    p.step(p("DestroyResourceOp", v, ignore_lookup_error=bool(rng.integers(2))))
    p.step(read)
    p.step(p("DestroyResourceOp", v, ignore_lookup_error=False))


@scenario(draws=42)
def scatter(p: Program, rng: np.random.Generator) -> None:
    kind = pick(rng, SCATTERS)
    dtype = pick(rng, [d for d in NUMBERS if allowed(f"Scatter{kind}", "T", d)])
    itype = pick(rng, ["int32", "int64"])
    rows = int(rng.integers(1, 5))
    v = p("VariableV2", dtype=dtype, shape=[rows, 3])
    h = p("VarHandleOp", dtype=dtype, shape=[rows, 3], shared_name="h")
    first = numbers(rng, dtype, [rows, 3])
    p.step(p("Assign", v, first), p("AssignVariableOp", h, first))
    low = -1 if rng.integers(6) == 0 else 0
    shape = pick(rng, [[], [2], [3], [2, 2], [0]])
    at = rng.integers(low, rows, shape).astype(itype)
    if kind == "Update" and at.size:
        at = at.ravel()[:1]  # which of several wins is not fixed
    scalar = kind != "Update" and rng.integers(3) == 0
    new = numbers(rng, dtype, [] if scalar else [*at.shape, 3])
    p.step(p(f"Scatter{kind}", v, at, new, use_locking=bool(rng.integers(2))))
    p.step(v)
    p.step(p(f"ResourceScatter{kind}", h, at, new, dtype=dtype))
    p.step(p("ReadVariableOp", h, dtype=dtype))


@scenario(draws=40)
def scatter_nd(p: Program, rng: np.random.Generator) -> None:
    kind = pick(rng, ["Update", "Add", "Sub", "Min", "Max"])
    dtype = pick(rng, [d for d in NUMBERS if allowed(f"ScatterNd{kind}", "T", d)])
    shape = [int(d) for d in rng.integers(1, 4, rng.integers(1, 4))]
    v = p("VariableV2", dtype=dtype, shape=shape)
    h = p("VarHandleOp", dtype=dtype, shape=shape, shared_name="h")
    first = numbers(rng, dtype, shape)
    p.step(p("Assign", v, first), p("AssignVariableOp", h, first))
    depth = int(rng.integers(1, len(shape) + 1))
    count = 1 if kind == "Update" else int(rng.integers(0, 4))
    off = int(rng.integers(8) == 0)
    at = np.stack([rng.integers(0, d + off, count) for d in shape[:depth]], -1).astype("i4")
    new = numbers(rng, dtype, [count, *shape[depth:]])
    p.step(p(f"ScatterNd{kind}", v, at, new))
    p.step(p(f"ResourceScatterNd{kind}", h, at, new))
    if (at < shape[:depth]).all():  # else TensorFlow has written the rows before the wrong one
        p.step(v)
        p.step(p("ReadVariableOp", h, dtype=dtype))


@scenario(draws=24)
def gather(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    h = p("VarHandleOp", dtype=dtype, shape=None, shared_name="h")
    shape = [int(d) for d in rng.integers(1, 4, rng.integers(1, 4))]
    p.step(p("AssignVariableOp", h, numbers(rng, dtype, shape)))
    batch = int(rng.integers(0, len(shape)))
    off = int(rng.integers(6) == 0 and not batch)  # in a batch TensorFlow reads the next row then
    lead = shape[:batch]
    at = rng.integers(0, shape[batch] + off, [*lead, 2]).astype(pick(rng, ["i4", "i8"]))
    p.step(p("ResourceGather", h, at, dtype=dtype, batch_dims=batch))
    depth = int(rng.integers(1, len(shape) + 1))
    nd = np.stack([rng.integers(0, d + off, 3) for d in shape[:depth]], -1).astype("i4")
    p.step(p("ResourceGatherNd", h, nd, dtype=dtype))


@scenario(draws=24)
def strided_assign(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    shape = [4, 5]
    v = p("VariableV2", dtype=dtype, shape=shape)
    h = p("VarHandleOp", dtype=dtype, shape=shape, shared_name="h")
    first = numbers(rng, dtype, shape)
    p.step(p("Assign", v, first), p("AssignVariableOp", h, first))
    begin = rng.integers(0, 3, 2).astype("i4")
    end = begin + rng.integers(0, 3, 2).astype("i4")
    strides = np.array([1, int(rng.integers(1, 3))], "i4")
    masks: dict[str, Any] = {
        "begin_mask": int(rng.integers(4)),
        "end_mask": int(rng.integers(4)),
    }
    taken = tuple(
        slice(
            None if masks["begin_mask"] >> k & 1 else int(begin[k]),
            None if masks["end_mask"] >> k & 1 else int(end[k]),
            int(strides[k]),
        )
        for k in range(2)
    )
    new = numbers(rng, dtype, first[taken].shape if rng.integers(5) else [7, 7])
    p.step(p("StridedSliceAssign", v, begin, end, strides, new, **masks))
    p.step(v)
    p.step(p("ResourceStridedSliceAssign", h, begin, end, strides, new, **masks))
    p.step(p("ReadVariableOp", h, dtype=dtype))


@scenario()
def temporary(p: Program) -> None:
    t = p("TemporaryVariable", dtype="float32", shape=[2], var_name="t")
    set_ = p("Assign", t, f32([1, 2]))
    more = p("AssignAdd", set_, f32([1, 1]))
    p.step(p("DestroyTemporaryVariable", more, var_name="t"))


@scenario()
def wrong_dtype_and_shape(p: Program) -> None:
    h = p("VarHandleOp", dtype="float32", shape=[2], shared_name="h")
    p.step(p("AssignVariableOp", h, f32([1, 2])))
    twin = p("VarHandleOp", dtype="int32", shape=[2], shared_name="h")
    p.step(p("ReadVariableOp", twin, dtype="int32"))
    p.step(p("AssignVariableOp", twin, i32([1, 2])))
    loose = p("VarHandleOp", dtype="float32", shape=None, shared_name="h")
    p.step(p("AssignVariableOp", loose, f32([[1, 2, 3]])))
    p.step(p("ReadVariableOp", loose, dtype="float32"))
    p.step(p("AssignAddVariableOp", loose, f32([1, 2])))


@scenario()
def two_handles_share(p: Program) -> None:
    a = p("VarHandleOp", dtype="int64", shape=[], shared_name="s", container="c")
    b = p("VarHandleOp", dtype="int64", shape=[], shared_name="s", container="c")
    other = p("VarHandleOp", dtype="int64", shape=[], shared_name="s")
    p.step(p("AssignVariableOp", a, np.int64(7)))
    p.step(p("ReadVariableOp", b, dtype="int64"))
    p.step(p("ReadVariableOp", other, dtype="int64"))
    counted = p("ResourceCountUpTo", a, limit=9, T="int64")
    for _ in range(4):
        p.step(counted)
