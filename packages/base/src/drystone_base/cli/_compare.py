"""Differences between two graphs, node by node, and between two sets of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from drystone_base.cli._values import Array
from drystone_base.graph import Graph, Node, output_name

__all__ = ["graphs", "outputs"]


def graphs(a: Graph, b: Graph) -> dict[str, list[dict[str, str]]]:
    """Nodes that only ``a`` has, that only ``b`` has, and that are not the same in both."""
    changed = []
    for node in a:
        twin = b.get(node.name)
        what = _change(node, twin) if twin is not None else ""
        if what:
            changed.append({"node": node.name, "what": what})
    mine, theirs = ({f.name: f for f in g.functions} for g in (a, b))
    for name in sorted({*mine, *theirs}):
        if name not in mine or name not in theirs:
            changed.append({"node": f"function {name}", "what": "only in one of them"})
        elif mine[name].proto != theirs[name].proto:
            changed.append({"node": f"function {name}", "what": "another body"})
    return {
        "removed": [{"node": n.name, "what": n.op} for n in a if n.name not in b],
        "added": [{"node": n.name, "what": n.op} for n in b if n.name not in a],
        "changed": changed,
    }


def _change(a: Node, b: Node) -> str:
    """What is different, in words; empty when nothing is."""
    parts = []
    if a.op != b.op:
        parts.append(f"op {a.op} -> {b.op}")
    mine, theirs = _fan_in(a), _fan_in(b)
    if mine != theirs:
        parts.append(f"fan-in {', '.join(mine) or 'none'} -> {', '.join(theirs) or 'none'}")
    if a.device != b.device:
        parts.append(f"device {a.device or 'any'} -> {b.device or 'any'}")
    before, after = a.full_attrs(), b.full_attrs()
    names = {*before, *after} if a.op == b.op else before.keys() & after.keys()
    for name in sorted(n for n in names if not n.startswith("_")):
        x, y = before.get(name), after.get(name)
        if type(x) is not type(y) or x != y:
            parts.append(f"{name} {_short(x)} -> {_short(y)}")
    return "; ".join(parts)


def _fan_in(node: Node) -> list[str]:
    return [*(output_name(o) for o in node.inputs), *(f"^{c.name}" for c in node.controls)]


def _short(value: Any) -> str:
    array = getattr(value, "array", None)
    if array is not None:
        return f"tensor {array.dtype}{list(array.shape)}" if array.size > 4 else str(array.tolist())
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def outputs(a: Mapping[str, Array], b: Mapping[str, Array]) -> list[dict[str, Any]]:
    """One row per name: what is compared, the largest absolute and relative difference.

    The relative one is ``max |a-b| / (|a| + std a)``; infinite for what cannot be compared.
    """
    rows = []
    for name in dict.fromkeys([*a, *b]):
        if name not in a or name not in b:
            absolute = relative = float("inf")
            what = f"only in the {'first' if name in a else 'second'}"
        else:
            what = _kinds(a[name], b[name])
            absolute, relative = _distance(a[name], b[name])
        rows.append({"name": name, "what": what, "absolute": absolute, "difference": relative})
    return rows


def _kinds(a: Array, b: Array) -> str:
    kinds = [f"{'string' if v.dtype.kind in 'SUO' else v.dtype}{list(v.shape)}" for v in (a, b)]
    return kinds[0] if kinds[0] == kinds[1] else " against ".join(kinds)


def _distance(a: Array, b: Array) -> tuple[float, float]:
    if a.shape != b.shape or (a.dtype.kind in "SUO") != (b.dtype.kind in "SUO"):
        return float("inf"), float("inf")
    if a.dtype.kind in "SUO":
        same = _bytes(a) == _bytes(b)
        return (0.0, 0.0) if same else (float("inf"), float("inf"))
    wide = np.complex128 if "c" in a.dtype.kind + b.dtype.kind else np.float64
    x, y = a.astype(wide), b.astype(wide)
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    if equal.all():
        return 0.0, 0.0
    with np.errstate(invalid="ignore"):
        gap = np.where(equal, 0.0, np.abs(x - y))
    gap = np.where(np.isnan(gap), np.inf, gap)
    finite = x[np.isfinite(x)]
    spread = float(np.std(finite)) if finite.size else 0.0
    scale = np.where(np.isfinite(x), np.abs(x), 0.0) + spread + 1e-12
    return float(gap.max()), float((gap / scale).max())


def _bytes(array: Array) -> list[bytes]:
    return [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
