"""What else holds an op against TensorFlow: scenarios that reach it, and the dtypes that run."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from ci.scripts.project import ROOT

__all__ = ["dtype_counts", "running_dtypes", "scenario_counts", "unit_tested"]

_TESTS = ROOT / "packages" / "base" / "tests"


def scenario_counts() -> Counter[str]:
    """In how many recorded scenarios each op occurs, in the graph or in a function of it."""
    from scenarios import families
    from scenarios._answers import programs

    from drystone_abi.protos import GraphDef

    found: Counter[str] = Counter()
    for family in families():
        for _, graph, _ in programs(family):
            proto = GraphDef.FromString(graph)
            ops = {node.op for node in proto.node}
            ops |= {node.op for f in proto.library.function for node in f.node_def}
            found.update(ops)
    return found


def dtype_counts() -> dict[str, tuple[int, int]]:
    """Of the dtypes of TensorFlow's CPU kernels: how many ran here, and how many there are."""
    found = {}
    for op, attrs in _dtypes().items():
        runs = sum(len(kinds.get("runs", [])) for kinds in attrs.values())
        every = sum(len(labels) for kinds in attrs.values() for labels in kinds.values())
        found[op] = (runs, every)
    return found


def running_dtypes() -> dict[str, dict[str, list[str]]]:
    """The dtypes that ran here, by op and attribute."""
    return {
        op: {attr: kinds["runs"] for attr, kinds in attrs.items() if kinds.get("runs")}
        for op, attrs in _dtypes().items()
    }


def _dtypes() -> dict[str, dict[str, dict[str, list[Any]]]]:
    text = (_TESTS / "golden" / "dtypes.json").read_text(encoding="utf-8")
    recorded: dict[str, dict[str, dict[str, list[Any]]]] = json.loads(text)
    return recorded


def unit_tested() -> set[str]:
    """Ops that a unit test names."""
    texts = [p.read_text(encoding="utf-8") for p in sorted((_TESTS / "unit").rglob("*.py"))]
    return set(re.findall(r"[\"'](_?[A-Z][A-Za-z0-9_]+)[\"']", "\n".join(texts)))
