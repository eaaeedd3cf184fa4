"""Valid cases of every op, which changes are made to: hand-made ones, recorded ones, drawn ones."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import oracle
from oracle import Case
from parity.draft import draw_case
from parity.eligible import eligible_ops
from shared_data import OP_CASES

from drystone_base.graph import Graph
from drystone_base.kernels import all_ops
from extremes.by_chance import BY_CHANCE

__all__ = ["bases", "ops"]

LARGEST = 20_000  # elements of all inputs together
DRAWN = 12  # cases drawn from an op's rule
PER_OP = 40
UNFIT = {
    "Abort": "ends the process",
    "SdcaOptimizer": "takes examples in an order that is never the same",
    "SdcaOptimizerV2": "takes examples in an order that is never the same",
}


@cache
def _made() -> dict[str, list[Case]]:
    """Golden cases that TensorFlow answers, and single ops cut out of recorded models."""
    found: dict[str, list[Case]] = defaultdict(list)
    for family in oracle.families():
        for item, want in oracle.recorded(family):
            if not isinstance(want, str):
                found[item.op].append(item)
    for item in BY_CHANCE:
        found[item.op].append(item)
    for item in _cut_out():
        found[item.op].append(item)
    return found


def _cut_out() -> list[Case]:
    index = OP_CASES / "index.json"
    rows = json.loads(index.read_text(encoding="utf-8")) if index.exists() else []
    return [item for row in rows if (item := _cut(row)) is not None]


def _cut(row: dict[str, Any]) -> Case | None:
    """A recorded case of one node; None where it reads what is neither fed nor constant."""
    graph = Graph.from_bytes((OP_CASES / f"{row['case']}.pb").read_bytes())
    node = graph["op"]
    with np.load(OP_CASES / f"{row['case']}.npz", allow_pickle=False) as data:
        fed = {name: data[name] for name in row["feeds"]}
    inputs = []
    for source, _ in node.inputs:
        if source.name in fed:
            inputs.append(fed[source.name])
        elif source.op == "Const":
            inputs.append(source.attr("value").array)
        else:
            return None
    own = {k: v for k, v in node.attrs.items() if not k.startswith("_")}
    return Case(node.op, tuple(inputs), own)


def ops() -> list[str]:
    """Ops that have a valid case, by name."""
    named = set(_made()) | set(eligible_ops())
    return sorted(
        op for op in named & set(all_ops()) if op not in UNFIT and not op.startswith("Drystone>")
    )


@cache
def bases(op: str) -> Sequence[Case]:
    """The valid cases of an op: evenly spread ones of those made by hand, then drawn ones."""
    made = [item for item in _made().get(op, ()) if _size(item) <= LARGEST]
    if len(made) > PER_OP:
        made = [made[k] for k in np.linspace(0, len(made) - 1, PER_OP).astype(int)]
    drawn = [draw_case(op, seed) for seed in range(DRAWN)] if op in eligible_ops() else []
    return [*made, *(item for item in drawn if _size(item) <= LARGEST)]


def _size(item: Case) -> int:
    return sum(int(np.size(v)) for v in item.inputs)
