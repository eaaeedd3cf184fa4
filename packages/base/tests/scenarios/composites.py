"""Composite tensors in variants; collective ops of a group of one process."""

# ruff: noqa: D103 - scenarios are named by what they run

from typing import Any

import numpy as np
from stateful import f32

from scenarios import Program, scenario


def _pack(p: Program, *parts: Any) -> Any:
    kinds = ["string" if np.asarray(v).dtype == object else np.asarray(v).dtype.name for v in parts]
    return p("CompositeTensorVariantFromComponents", list(parts), metadata="", Tcomponents=kinds)


@scenario()
def composite_tensors(p: Program) -> None:
    words = np.array([b"a", b"bc"], object)
    packed = _pack(p, f32([[1, 2]]), words, np.int64(7))
    out = p("CompositeTensorVariantToComponents", packed, metadata="",
            Tcomponents=["float32", "string", "int64"])  # fmt: skip
    p.step((out, 0), (out, 1), (out, 2))
    one = p("CompositeTensorVariantToComponents", packed, metadata="", Tcomponents=["float32"])
    p.step(one)
    other = p("CompositeTensorVariantToComponents", packed, metadata="",
              Tcomponents=["float32", "string", "int32"])  # fmt: skip
    p.step((other, 2))
    empty = p("CompositeTensorVariantToComponents", _pack(p), metadata="", Tcomponents=["int32"])
    p.step(empty)


@scenario()
def groups_of_one(p: Program) -> None:
    x = f32([[1, 2], [3, 4]])
    size, group = np.int32(1), np.int32(901)
    for k, op in enumerate(("CollectiveReduceV2", "CollectiveGatherV2")):
        more: dict[str, Any] = (
            {"merge_op": "Add", "final_op": "Div"} if op == "CollectiveReduceV2" else {}
        )
        p.step(p(op, x, size, group, np.int32(910 + k), [], Nordering_token=0, T="float32", **more))
    p.step(p("CollectiveReduce", x, T="float32", group_size=1, group_key=902, instance_key=920,
             merge_op="Add", final_op="Id", subdiv_offsets=[0]))  # fmt: skip
