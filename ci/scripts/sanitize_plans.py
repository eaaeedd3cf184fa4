"""Plans for the sanitized programs: of recorded models and of random programs, without feeds."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.dtypes import from_numpy
from drystone_base.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import find
from drystone_base.session import Session, SessionConfig

__all__ = ["write_plans"]

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "packages" / "base" / "tests"
DATA = ROOT / "integration_tests" / "data"


def fixed(graph: Graph, feeds: dict[str, Any]) -> Graph:
    """A copy of the graph in which the fed tensors are constants."""
    copy = graph.copy()
    for name, value in feeds.items():
        array = np.asarray(value)
        attrs = {"dtype": from_numpy(array.dtype), "value": TensorAttr(array=array)}
        constant = copy.add("Const", copy.unique_name("fed"), attrs=attrs)
        copy.redirect(copy.output(name), (constant, 0))
    return copy


def models() -> Iterator[tuple[str, Graph, list[str], dict[str, Any]]]:
    """The first case of each recorded model."""
    for facts in sorted(DATA.glob("*/cases.json")):
        described = json.loads(facts.read_text(encoding="utf-8"))
        case = described["cases"][0]
        with np.load(facts.parent / case["inputs"], allow_pickle=True) as data:
            feeds = dict(data)
        graph = ds.load(facts.parent / described["model"]).graph
        yield f"model-{facts.parent.name}", graph, case["fetches"], feeds


def programs(count: int) -> Iterator[tuple[str, Graph, list[str], dict[str, Any]]]:
    """Every run of the first random programs."""
    sys.path.insert(0, str(TESTS))
    from random_programs import draw

    for seed in range(count):
        program = draw(seed)
        for number, (fetches, feeds) in enumerate(program.runs):
            yield f"random-{seed}-{number}", program.graph, fetches, feeds


def write_plans(folder: Path, count: int) -> list[Path]:
    """Write a file for each plan that needs no Python; the names of ``.steady.`` have no state."""
    written = []
    for name, graph, fetches, feeds in (*models(), *programs(count)):
        alone = fixed(graph, feeds)
        wanted = [fetch for fetch in fetches if fetch not in feeds]
        bodies = [op for function in alone.functions for op in function.ops()]
        ops = {*(node.op for node in alone), *bodies}
        has_state = any((d := find(op)) is not None and d.is_stateful for op in ops)
        for number, plan in enumerate(plans(alone, wanted)):
            path = folder / f"{name}-{number}{'' if has_state else '.steady'}.plan"
            path.write_bytes(plan)
            written.append(path)
    return written


def plans(graph: Graph, fetches: list[str]) -> list[bytes]:
    """As the graph is, and as drystone-optimizer rewrites it; none that needs Python."""
    found: dict[bytes, None] = {}
    optimizers: tuple[Any, ...] = ("off", "default")
    for optimizer in optimizers:
        try:
            config = SessionConfig(executor="native", optimizer=optimizer)
            found[Session(graph, config).plan(fetches)] = None
        except DrystoneError:
            continue
    return list(found)
