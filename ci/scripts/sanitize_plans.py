"""Plans without feeds for the sanitized programs: of recorded models, layers, random programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from ci.scripts.sanitize_layers import Case, layers
from drystone_abi.protos import InstructionDef, NodeDef, PlanDef, PlanKind
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import to_proto
from drystone_base.graph import Graph
from drystone_base.ops.defs import find, op_def
from drystone_optimizer import OptimizerConfig

__all__ = ["write_plans"]

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "packages" / "base" / "tests"
DATA = ROOT / "integration_tests" / "data"


def alone(plan: bytes, feeds: Mapping[str, Any]) -> bytes:
    """A plan with what it is fed, in that order, as constants from which nothing was computed."""
    made = PlanDef.FromString(plan)
    top = made.blocks[0]
    values = [np.asarray(value) for value in feeds.values()]
    made.op_defs.append(op_def("Const").to_proto().SerializeToString())
    for instruction in top.instructions:
        instruction.controls[:] = [number + len(values) for number in instruction.controls]
    first = []
    for name, array in zip(top.feed_names, values, strict=True):
        value = to_proto(array)
        node = NodeDef(name=f"fed/{name.replace(':', '_')}", op="Const")
        node.attr["dtype"].type = value.dtype
        first.append(
            InstructionDef(
                kind=PlanKind.PLAN_CONSTANT, node_def=node.SerializeToString(),
                op=len(made.op_defs) - 1, outputs=1, value=value.SerializeToString(),
            )
        )  # fmt: skip
    rest = list(top.instructions)
    del top.instructions[:], top.feed_names[:], top.feed_types[:]
    for field in ("example_feeds", "example_fetches", "example_bytes", "least_examples"):
        top.ClearField(field)  # what is not fed is no batch
    top.instructions.extend([*first, *rest])
    top.feeds = 0
    return made.SerializeToString()


def models() -> Iterator[Case]:
    """The first case of each recorded model."""
    for facts in sorted(DATA.glob("*/cases.json")):
        described = json.loads(facts.read_text(encoding="utf-8"))
        case = described["cases"][0]
        with np.load(facts.parent / case["inputs"], allow_pickle=True) as data:
            feeds = dict(data)
        graph = ds.load(facts.parent / described["model"]).graph
        yield f"model-{facts.parent.name}", graph, case["fetches"], feeds


def programs(count: int) -> Iterator[Case]:
    """Every run of the first random programs."""
    sys.path.insert(0, str(TESTS))
    from random_programs import draw

    for seed in range(count):
        program = draw(seed)
        for number, (fetches, feeds) in enumerate(program.runs):
            yield f"random-{seed}-{number}", program.graph, fetches, feeds


def write_plans(folder: Path, count: int) -> list[Path]:
    """Write a file for each plan that needs no Python; names with ``.stateless.`` have no state."""
    written = []
    for name, graph, fetches, feeds in (*models(), *layers(), *programs(count)):
        wanted = [fetch for fetch in fetches if fetch not in feeds]
        bodies = [op for function in graph.functions for op in function.ops()]
        ops = {*(node.op for node in graph), *bodies}
        has_state = any((d := find(op)) is not None and d.is_stateful for op in ops)
        for number, plan in enumerate(plans(graph, wanted, feeds)):
            path = folder / f"{name}-{number}{'' if has_state else '.stateless'}.plan"
            path.write_bytes(plan)
            written.append(path)
    return written


def plans(graph: Graph, fetches: list[str], feeds: Mapping[str, Any]) -> list[bytes]:
    """As the graph is, as drystone-optimizer rewrites it, and so in 16 bits; none needs Python."""
    found: dict[bytes, None] = {}
    narrow = OptimizerConfig(auto_mixed_precision_onednn_bfloat16=True)
    optimizers: tuple[Any, ...] = ("off", "default", narrow)
    for optimizer in optimizers:
        try:
            config = SessionConfig(executor="native", optimizer=optimizer)
            plan = Session(graph, config).plan(fetches, list(feeds))
        except DrystoneError:
            continue
        found[alone(plan, feeds)] = None
    return list(found)
