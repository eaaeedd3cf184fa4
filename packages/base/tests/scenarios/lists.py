"""TensorArray in its three versions and TensorList: built up, read, stacked, split."""

# ruff: noqa: D102, D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.graph import Node, Output
from scenarios import Program, scenario
from scenarios._draw import pick, values

TYPES = ["float32", "int32", "string", "bool", "float64", "int64", "float16", "complex64"]
LAST = {"": 15, "V2": 25, "V3": 2422}  # GraphDef versions that may hold these
NUMBERS = ["float32", "float64", "int32", "int64", "float16", "bfloat16"]


class Items:
    """A TensorArray of version 1, 2 or 3 with the ops on it, each after the last."""

    def __init__(self, p: Program, version: str, size: int, dtype: str, **attrs: Any) -> None:
        self.p, self.version, self.dtype = p, version, dtype
        p.written_by(LAST[version])
        made = p(f"TensorArray{version}", np.int32(size), dtype=dtype, **attrs)
        self.handle: Output = (made, 0)
        self.flow: Any = (made, 1) if version == "V3" else np.float32(0)
        self.last: list[Node] = []

    def run(self, op: str, *inputs: Any, **attrs: Any) -> Node:
        made = self.p(f"TensorArray{op}{self.version}", self.handle, *inputs, self.flow,
                      controls=self.last, **attrs)  # fmt: skip
        self.last = [made]
        return made

    def change(self, op: str, *inputs: Any) -> None:
        self.flow = (self.run(op, *inputs), 0)


def version(rng: np.random.Generator) -> str:
    return str(pick(rng, ["", "V2", "V3"]))


@scenario(draws=48)
def array(p: Program, rng: np.random.Generator) -> None:
    dtype, size = pick(rng, TYPES), int(rng.integers(0, 5))
    shape = [int(d) for d in rng.integers(0, 3, rng.integers(0, 3))]
    attrs = {"dynamic_size": bool(rng.integers(2)), "clear_after_read": bool(rng.integers(2))}
    if rng.integers(2):
        attrs["element_shape"] = [None for _ in shape]  # type: ignore[assignment]
    a = Items(p, version(rng), size, dtype, **attrs)
    off = int(rng.integers(4) == 0)
    for k in rng.permutation(size + off)[: int(rng.integers(0, size + 2))]:
        a.change("Write", np.int32(k), values(rng, dtype, shape))
    fetched: list[Any] = [(a.run("Size"), 0)]
    for _ in range(int(rng.integers(1, 3))):
        how = pick(rng, ["read", "gather", "gather all", "concat"])
        if how == "read":
            fetched.append(a.run("Read", np.int32(rng.integers(0, size + 1)), dtype=dtype))
        elif how == "concat":
            made = a.run("Concat", dtype=dtype)
            fetched += [(made, 0), (made, 1)]
        else:
            count = size if how == "gather all" else int(rng.integers(0, 3))
            at = rng.permutation(max(size, 1))[:count].astype(np.int32)
            fetched.append(a.run("Gather", at, dtype=dtype))
    p.step(*fetched)


@scenario(draws=32)
def array_whole(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    shape = [int(d) for d in rng.integers(1, 4, rng.integers(1, 4))]
    a = Items(p, version(rng), shape[0], dtype, dynamic_size=bool(rng.integers(2)))
    if rng.integers(2):
        at = rng.permutation(shape[0]).astype(np.int32)
        a.change("Scatter", at, values(rng, dtype, shape))
    else:
        lengths = rng.multinomial(5, np.ones(shape[0]) / shape[0]).astype(np.int64)
        a.change("Split", values(rng, dtype, [5, *shape[1:]]), lengths)
    how = pick(rng, ["Gather", "Concat", "Read"])
    given: dict[str, list[Any]] = {
        "Gather": [np.arange(shape[0], dtype=np.int32)],
        "Concat": [],
        "Read": [np.int32(0)],
    }
    made = a.run(how, *given[how], dtype=dtype)
    p.step(*([(made, 0), (made, 1)] if how == "Concat" else [made]))
    p.step(a.p(f"TensorArrayClose{a.version}", a.handle))


@scenario(draws=24)
def array_gradient(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    a = Items(p, version(rng), 3, dtype, clear_after_read=False)
    a.change("Scatter", np.arange(3, dtype=np.int32), values(rng, dtype, [3, 2]))
    source = a.run("Grad", source="grads")
    g = Items.__new__(Items)
    g.p, g.version, g.dtype, g.handle, g.last = p, a.version, dtype, (source, 0), [source]
    g.flow = (source, 1) if a.version == "V3" else np.float32(0)
    for _ in range(int(rng.integers(1, 4))):  # writes to a gradient add up
        g.change("Write", np.int32(rng.integers(0, 3)), values(rng, dtype, [2]))
    fetched = [g.run("Read", np.int32(k), dtype=dtype) for k in range(3)]
    p.step(*fetched)


@scenario(draws=64)
def tensor_list(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    shape = [int(d) for d in rng.integers(0, 3, rng.integers(0, 3))]
    stated = np.array(pick(rng, [shape, [-1 for _ in shape]]), pick(rng, ["i4", "i8"]))
    unknown = np.int32(-1)
    stated = pick(rng, [stated, stated, unknown])
    a = start(p, rng, dtype, shape, stated)
    fetched: list[Any] = []
    for _ in range(int(rng.integers(1, 6))):
        a = changed(p, rng, a, dtype, shape, stated, fetched)
    fetched.append(p("TensorListLength", a))
    how = pick(rng, ["stack", "gather", "concat", "element"])
    if how == "stack":
        fetched.append(p("TensorListStack", a, np.array(shape, "i4"), element_dtype=dtype))
    elif how == "gather":
        at = rng.integers(0, 2, 2).astype("i4")
        fetched.append(p("TensorListGather", a, at, np.array(shape, "i4"), element_dtype=dtype))
    elif how == "concat":
        made = p("TensorListConcatV2", a, np.array([-1, *shape[1:]], "i4"),
                 np.zeros(0, "i8"), element_dtype=dtype)  # fmt: skip
        fetched += [(made, 0), (made, 1)]
    else:
        fetched.append(p("TensorListElementShape", a, shape_type="int32"))
    p.step(*fetched)


def start(p: Program, rng: np.random.Generator, dtype: str, shape: Any, stated: Any) -> Node:
    how = pick(rng, ["Empty", "Reserve", "From", "Scatter", "Split"])
    if how == "Empty":
        most = np.int32(pick(rng, [-1, -1, 2, 9]))
        return p("EmptyTensorList", stated, most, element_dtype=dtype)
    if how == "Reserve":
        return p("TensorListReserve", stated, np.int32(rng.integers(0, 4)), element_dtype=dtype)
    if how == "From":
        return p("TensorListFromTensor", values(rng, dtype, [3, *shape]), stated)
    if how == "Scatter":
        at = rng.permutation(3).astype("i4")
        return p("TensorListScatterV2", values(rng, dtype, [3, *shape]), at, stated,
                 np.int32(pick(rng, [-1, 4])))  # fmt: skip
    lengths = np.array([2, 0, 1], "i8")
    return p("TensorListSplit", values(rng, dtype, [3, *shape]), np.int32(-1), lengths)


def changed(
    p: Program,
    rng: np.random.Generator,
    a: Any,
    dtype: str,
    shape: Any,
    stated: Any,
    out: list[Any],
) -> Any:
    item = values(rng, dtype, shape)
    at = np.int32(rng.integers(0, 4))
    match pick(rng, ["push", "push", "pop", "set", "get", "resize", "join", "set far"]):
        case "push":
            return p("TensorListPushBack", a, item)
        case "pop":
            made = p("TensorListPopBack", a, np.array(shape, "i4"), element_dtype=dtype)
            out.append((made, 1))
            return (made, 0)
        case "set":
            return p("TensorListSetItem", a, at, item)
        case "set far":
            return p("TensorListSetItem", a, at, item, resize_if_index_out_of_bounds=True)
        case "get":
            got = p("TensorListGetItem", a, at, np.array(shape, "i4"), element_dtype=dtype)
            out.append(got)
            return a
        case "resize":
            return p("TensorListResize", a, np.int32(rng.integers(0, 5)))
        case _:
            other = p("TensorListFromTensor", values(rng, dtype, [2, *shape]), stated)
            return p("TensorListConcatLists", a, other, element_dtype=dtype)


@scenario(draws=12)
def batch_of_lists(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, NUMBERS)
    lists = [p("TensorListFromTensor", values(rng, dtype, [2, 3]), np.array([3], "i4"))
             for _ in range(2)]  # fmt: skip
    packed = p("Pack", lists)
    more = p("TensorListPushBackBatch", packed, values(rng, dtype, [2, 3]))
    parts = p("Unpack", more, num=2)
    p.step(*[p("TensorListStack", (parts, k), np.int32(-1), element_dtype=dtype) for k in (0, 1)])
    summed = p("AddN", lists)
    zeros = p("ZerosLike", lists[0])
    p.step(*[p("TensorListStack", v, np.int32(-1), element_dtype=dtype) for v in (summed, zeros)])


@scenario(draws=16)
def ragged_variant(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, TYPES)
    stype = pick(rng, ["int32", "int64"])
    lengths = rng.integers(0, 3, 4)
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(stype)
    flat = values(rng, dtype, [int(splits[-1]), 2])
    batched = bool(rng.integers(2))
    coded = p("RaggedTensorToVariant", [splits], flat, batched_input=batched)
    back = p("RaggedTensorFromVariant", coded, input_ragged_rank=0 if batched else 1,
             output_ragged_rank=1, Tvalues=dtype, Tsplits=stype)  # fmt: skip
    p.step((back, 0), (back, 1))
    if batched:
        some = p("GatherV2", coded, np.array([3, 0, 3], "i4"), np.int32(0))
        again = p("RaggedTensorFromVariant", some, input_ragged_rank=-1,
                  output_ragged_rank=1, Tvalues=dtype, Tsplits=stype)  # fmt: skip
        p.step((again, 0), (again, 1))
