"""Barriers, staging areas, conditional accumulators, mutexes and TensorMaps, step by step."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32, i64

from drystone_base.graph import Node
from scenarios import Program, scenario


def pick(rng: np.random.Generator, items: list[Any]) -> Any:
    """One of them."""
    return items[int(rng.integers(len(items)))]


def texts(*values: str) -> np.ndarray[Any, Any]:
    out = np.empty(len(values), object)
    out[:] = [v.encode() for v in values]
    return out


@scenario(draws=20)
def barrier(p: Program, rng: np.random.Generator) -> None:
    types = ["float32", "int32"]
    b = p("Barrier", component_types=types, shapes=[[2], []])
    sizes = p("BarrierReadySize", b), p("BarrierIncompleteSize", b)
    n = p.feed("int32", [])
    small = p("BarrierTakeMany", b, n, component_types=types, allow_small_batch=True)
    all_ = [(small, k) for k in range(4)]
    keys = ["a", "b", "c", "d", "e"]
    ready: set[str] = set()
    seen: dict[str, set[int]] = {}
    for _ in range(8):
        component, key = int(rng.integers(2)), pick(rng, keys)
        value = rng.integers(0, 9, [1, 2]).astype("f4") if component == 0 else i32([3])
        p.step(p("BarrierInsertMany", b, texts(key), value, component_index=component))
        p.step(*sizes)
        have = seen.setdefault(key, set())
        have.add(component)
        if len(have) == 2:
            ready.add(key)
            del seen[key]
    if ready:
        p.step(*all_, feeds={n: 1})
    p.step(*all_, feeds={n: 0})
    p.step(p("BarrierClose", b))
    p.step(p("BarrierInsertMany", b, texts("new"), i32([1]), component_index=1))
    p.step(*all_, feeds={n: 9})
    p.step(*all_, feeds={n: 9})
    p.step(p("BarrierClose", b))
    p.step(p("BarrierClose", b, cancel_pending_enqueues=True))
    p.step(*sizes)
    p.step(p("BarrierInsertMany", b, texts("a"), i32([1]), component_index=1))


@scenario()
def barrier_refusals(p: Program) -> None:
    b = p("Barrier", component_types=["float32", "int32"], shapes=[[2], []])
    for component, value in ((2, i32([1])), (0, i32([1])), (0, f32([[1, 2, 3]])), (1, i32([[]]))):
        p.step(p("BarrierInsertMany", b, texts("k"), value, component_index=component))
        p.step(p("BarrierInsertMany", b, texts("k"), i32([5]), component_index=1))
        p.step(p("BarrierReadySize", b), p("BarrierIncompleteSize", b))
    p.step(p("BarrierTakeMany", b, 0, component_types=["float32"]))
    p.step(p("BarrierTakeMany", b, 0, component_types=["float32", "int32"], timeout_ms=5))
    wrong: list[dict[str, Any]] = [{"shapes": [[2]]}, {"shapes": [[2], []], "capacity": 3}]
    for attrs in [{"shapes": []}, *wrong]:
        other = p("Barrier", component_types=["float32", "int32"], **attrs)
        p.step(p("BarrierReadySize", other))


@scenario(draws=12)
def staging_row(p: Program, rng: np.random.Generator) -> None:
    attrs: dict[str, Any] = {"dtypes": ["float32", "string"], "shared_name": "s"}
    if rng.integers(2):
        attrs |= {"capacity": 9, "memory_limit": 1000}
    size = p("StageSize", **attrs)
    x = p.feed("float32")
    put = p("Stage", [x, p.const("text")], **attrs)
    take, peek = p("Unstage", **attrs), p("StagePeek", p.feed("int32"), **attrs)
    index = peek.inputs[0]
    held = 0
    p.step(size)
    for _ in range(8):
        kind = int(rng.integers(3))
        if kind == 0 or not held:
            p.step(put, feeds={x: rng.integers(0, 9, rng.integers(1, 4)).astype("f4")})
            held += 1
        elif kind == 1:
            p.step(take, (take, 1))
            held -= 1
        else:
            p.step(peek, (peek, 1), feeds={index: np.int32(rng.integers(held))})
        p.step(size)
    p.step(put, feeds={x: np.zeros(999, "f4")} if "capacity" in attrs else {x: f32([1])})
    p.step(put, feeds={x: f32([1])})
    p.step(p("Unstage", dtypes=["float32"], shared_name="s"))
    p.step(size)
    p.step(p("StageClear", **attrs))
    p.step(size)


@scenario(draws=16)
def staging_by_key(p: Program, rng: np.random.Generator) -> None:
    o = pick(rng, ["", "Ordered"])
    types = ["float32", "int32", "int64"]
    attrs: dict[str, Any] = {"dtypes": types, "shared_name": f"s{o}"}
    sizes = p(f"{o}MapSize", **attrs), p(f"{o}MapIncompleteSize", **attrs)
    parts = [f32([1, 2]), i32(3), i64([4])]
    there: dict[int, set[int]] = {}
    p.step(*sizes)
    for _ in range(8):
        key = int(rng.integers(4))
        at = sorted({int(k) for k in rng.integers(0, 3, 3)})
        p.step(p(f"{o}MapStage", i64(key), i32(at), [parts[k] for k in at], **attrs))
        p.step(*sizes)
        old = there.setdefault(key, set())
        if len(at) == 3 or not old & set(at):
            there[key] = old | set(at)
    whole = sorted(k for k, v in there.items() if len(v) == 3)
    for key in whole[:2]:
        peek = p(f"{o}MapPeek", i64(key), i32([0, 1, 2]), **attrs)
        p.step(*[(peek, k) for k in range(3)])
        p.step(p(f"{o}MapUnstage", i64(key), i32([1]), **attrs | {"dtypes": ["int32"]}))
        p.step(p(f"{o}MapPeek", i64(key), i32([1]), **attrs | {"dtypes": ["int32"]}))
        p.step(p(f"{o}MapStage", i64(key), i32([0, 3]), parts[:2], **attrs))
        p.step(p(f"{o}MapStage", i64(key), i32([1, 0]), parts[:2], **attrs))
        p.step(*sizes)
    if o:
        p.step(p(f"{o}MapStage", i64(-9), i32([0, 1, 2]), parts, **attrs))
        left = p(f"{o}MapUnstageNoKey", i32([0, 1, 2]), **attrs)
        p.step(*[(left, k) for k in range(4)])
    p.step(p(f"{o}MapClear", **attrs))
    p.step(*sizes)


@scenario(draws=24)
def accumulator(p: Program, rng: np.random.Generator) -> None:
    r = pick(rng, ["", "Resource"])
    dtype = pick(rng, ["float16", "float32", "float64"])
    shape = pick(rng, [None, [2, None], [2, 3], []])
    a = p(
        f"{r}ConditionalAccumulator",
        dtype=dtype,
        shape=shape,
        reduction_type=pick(rng, ["MEAN", "SUM"]),
    )
    step, n, x = p.feed("int64", []), p.feed("int32", []), p.feed(dtype)
    count = p(f"{r}AccumulatorNumAccumulated", a)
    apply = p(f"{r}AccumulatorApplyGradient", a, step, x)
    take = p(f"{r}AccumulatorTakeGradient", a, n, dtype=dtype)
    full = [] if shape == [] else [2, 3]
    for k in range(4):
        for wrong in (False, bool(rng.integers(3) == 0)):
            value = rng.normal(size=[3, 3] if wrong else full).astype(dtype)
            p.step(apply, feeds={step: int(rng.integers(k, k + 2)), x: value})
        p.step(count)
        p.step(take, feeds={n: int(rng.integers(0, 2))})
    p.step(p(f"{r}AccumulatorSetGlobalStep", a, i64(9)))
    p.step(apply, feeds={step: 8, x: np.ones(full, dtype)})
    p.step(count)


@scenario(draws=24)
def sparse_accumulator(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, ["float16", "float32", "float64"])
    shape = pick(rng, [None, [6, None], [6, 3], [None, 3]])
    known = bool(rng.integers(2))
    a = p(
        "SparseConditionalAccumulator",
        dtype=dtype,
        shape=shape,
        reduction_type=pick(rng, ["MEAN", "SUM"]),
    )
    step, n, x = p.feed("int64", []), p.feed("int32", []), p.feed(dtype)
    at, dims = p.feed("int64"), p.feed("int64")
    apply = p("SparseAccumulatorApplyGradient", a, step, at, x, dims, has_known_shape=known)
    take = p("SparseAccumulatorTakeGradient", a, n, dtype=dtype)
    for k in range(3):
        for _ in range(3):
            rows = rng.permutation(7 if rng.integers(6) == 0 else 6)[: int(rng.integers(1, 5))]
            rows = np.sort(rows) if rng.integers(4) else rows
            value = rng.normal(size=[len(rows), pick(rng, [3, 3, 3, 2])]).astype(dtype)
            full = i64(pick(rng, [[6, 3], [6, 3], [6, 3], [6], [5, 3]]))
            feeds = {step: k, at: rows.astype("i8"), x: value, dims: full}
            p.step(apply, feeds=feeds)
        rows = i64([0, 5])
        p.step(apply, feeds={step: k, at: rows, x: np.ones([2, 3], dtype), dims: i64([6, 3])})
        p.step(p("AccumulatorNumAccumulated", a))
    p.step(apply, feeds={step: 9, at: i64(1), x: np.ones([1, 3], dtype), dims: i64([6, 3])})
    p.step(apply, feeds={step: 9, at: i64([1]), x: np.ones([], dtype), dims: i64([6, 3])})
    p.step(take, feeds={n: 0})
    p.step(take, (take, 1), (take, 2), feeds={n: 1})


@scenario()
def mutex(p: Program) -> None:
    m = p("MutexV2")
    lock = p("MutexLock", m)
    ended = p("ConsumeMutexLock", lock)
    p.step(ended)
    p.step(ended)
    p.step(p("ConsumeMutexLock", p("EmptyTensorMap")))


@scenario(draws=24)
def tensor_map(p: Program, rng: np.random.Generator) -> None:
    key_type = pick(rng, ["float32", "int64", "string"])
    attrs: dict[str, Any] = {"key_dtype": key_type, "value_dtype": "int32"}
    numbers = [0.0, -0.0, np.nan, 1.0] if key_type == "float32" else [0, 1, 2, 3]
    some: list[Any] = [p.const("a"), p.const("b"), p.const("")]
    if key_type != "string":
        some = [np.array(v, key_type) for v in numbers[:3]]
    found: Node = p("EmptyTensorMap")
    for k in range(6):
        key = pick(rng, some)
        if rng.integers(3):
            found = p("TensorMapInsert", found, key, i32([k] * k), **attrs)
        asked = pick(rng, some)
        p.step(p("TensorMapHasKey", found, asked, key_dtype=key_type), p("TensorMapSize", found))
        p.step(p("TensorMapLookup", found, asked, **attrs))
        p.step(p("TensorMapSize", p("TensorMapErase", found, asked, **attrs)))
    p.step(p("TensorMapSize", p("ZerosLike", found)))
    p.step(p("TensorMapStackKeys", p("EmptyTensorMap"), key_dtype=key_type))
    one = p("TensorMapInsert", p("EmptyTensorMap"), some[0], i32(1), **attrs)
    p.step(p("TensorMapStackKeys", one, key_dtype=key_type))
    two = p("TensorMapInsert", p("EmptyTensorMap"), some[1], i32(2), **attrs)
    p.step(p("TensorMapSize", p("AddN", [one, two])))
    both = p("AddN", [one, p("TensorMapInsert", one, some[0], i32(5), **attrs)])
    p.step(p("TensorMapLookup", both, some[0], **attrs))
    p.step(p("TensorMapLookup", one, some[0], key_dtype=key_type, value_dtype="int64"))
    p.step(p("TensorMapSize", p("MutexLock", p("MutexV2"))))
