"""Which dtypes TensorFlow's CPU kernels take and ours do not: dtype_gaps.py [--ops A,B] [--write]

Run with a Python that has tensorflow and drystone_base. For every op with a reference kernel and
each dtype that a kernel of TensorFlow's for the CPU is registered for, random cases of that dtype
are drawn (tests/parity) and run by our kernel alone; where an op has no random cases, its golden
cases are converted. `--write` writes packages/base/tests/golden/dtypes.json: op -> attribute -> the
dtypes that run and those that do not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "packages" / "base" / "tests"
sys.path.insert(0, str(TESTS))
TARGET = TESTS / "golden" / "dtypes.json"
SEEDS = range(6)

Gap = tuple[str, str, str, str]  # op, attribute, dtype, what happened


def tensorflow_types(op: str) -> dict[str, list[str]]:
    """The dtypes of each type attribute that some CPU kernel of TensorFlow's takes, by label."""
    from tensorflow.python.framework import kernels

    from drystone_base.core.dtypes import from_number
    from drystone_base.core.errors import DrystoneError
    from drystone_base.ops.defs import op_def

    def label(number: int) -> str:
        try:
            return from_number(number).label
        except DrystoneError:
            return f"type {number}"

    definition = op_def(op)
    found: dict[str, set[str]] = {}
    for item in kernels.get_registered_kernels_for_op(op).kernel:
        if item.device_type not in ("CPU", "DEFAULT"):
            continue
        limits = {c.name: [label(n) for n in c.allowed_values.list.type]
                  for c in item.constraint}  # fmt: skip
        for name, attr in definition.attrs.items():
            if attr.type == "type":
                allowed = [t.label for t in attr.allowed or ()]
                found.setdefault(name, set()).update(limits.get(name) or allowed)
    return {name: sorted(labels) for name, labels in found.items()}


def drawn(op: str, attr: str, label: str) -> Iterator[Any]:
    """Random cases of an op with one attribute's dtype fixed."""
    from parity.draft import Draft
    from parity.rules import named_drawers, rule_of

    from drystone_base.ops.defs import op_def

    for seed in SEEDS:
        draft = Draft(op_def(op), rule_of(op), seed, named_drawers())
        draft._made[attr] = label
        object.__setattr__(draft, "chance", partial(_unspoiled, draft.chance))
        yield draft.case()


def _unspoiled(chance: Callable[[float], bool], share: float) -> bool:
    """Chance without the small shares by which a case is made wrong."""
    return share > 0.2 and chance(share)


def golden(op: str, attr: str, label: str) -> Iterator[Any]:
    """Golden cases of an op, with the inputs of one attribute converted."""
    from dataclasses import replace

    from drystone_base.core.dtypes import as_dtype
    from drystone_base.ops.defs import op_def

    definition = op_def(op)
    places = [k for k, arg in enumerate(definition.inputs) if arg.type_attr == attr]
    for item in _golden_cases().get(op, [])[:8]:
        inputs = list(item.inputs)
        if any(arg.is_list for arg in definition.inputs) or not places:
            return
        with np.errstate(all="ignore"):
            for k in places:
                inputs[k] = np.asarray(inputs[k]).astype(as_dtype(label).np)
        yield replace(item, inputs=tuple(inputs))


def _golden_cases() -> dict[str, list[Any]]:
    import oracle

    if not _CACHE:
        for family in oracle.families():
            for item in oracle.load(family):
                _CACHE.setdefault(item.op, []).append(item)
    return _CACHE


_CACHE: dict[str, list[Any]] = {}


def outcome(op: str, attr: str, label: str) -> str:
    """Empty where one of the cases runs; ``no case`` where there is none; else what went wrong."""
    import oracle
    from parity.eligible import not_eligible

    last = "no case"
    for make in ([] if not_eligible(op) else [drawn]) + [golden]:
        try:
            for item in make(op, attr, label):
                try:
                    status = oracle.ours(item)
                except Exception as error:
                    last = f"{type(error).__name__}: {error}"
                    continue
                if not isinstance(status, str):
                    return ""
                last = status
        except Exception as error:
            last = last if last != "no case" else f"no case: {type(error).__name__}: {error}"
    return last


def _refused(gaps: list[Gap], op: str, attr: str, label: str) -> bool:
    """Whether a dtype's cases were refused as any case may be; then it is no gap."""
    mine = [g for g in gaps if g[:3] == (op, attr, label) and g[3] == "INVALID_ARGUMENT"]
    for gap in mine:
        gaps.remove(gap)
    return bool(mine)


def tried_in_programs(op: str, attr: str, label: str) -> str | None:
    """Whether a small program ran the op, or another with the same kernel: None where none has it.

    Empty where it ran, else what went wrong.
    """
    from dtype_programs import failures

    from drystone_base.kernels import find_kernel

    if attr not in ("T", "dtype", "element_dtype", "elem_type"):
        return None
    if label not in _PROGRAMS:
        _PROGRAMS[label] = failures(label)
    ran, failed = _PROGRAMS[label]
    mine = find_kernel(op)
    if op in failed:
        return failed[op]
    return "" if any(find_kernel(other) is mine for other in ran) else None


_PROGRAMS: dict[str, tuple[set[str], dict[str, str]]] = {}


def main() -> int:
    """Go through the ops; print what does not run."""
    from drystone_base.kernels import all_ops

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", default="")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    table: dict[str, dict[str, dict[str, list[str]]]] = {}
    gaps: list[Gap] = []
    for op in options.ops.split(",") if options.ops else all_ops():
        for attr, labels in tensorflow_types(op).items():
            row: dict[str, list[str]] = {"runs": [], "fails": [], "untried": []}
            for label in labels:
                text = outcome(op, attr, label)
                if text.startswith("no case"):
                    found = tried_in_programs(op, attr, label)
                    text = text if found is None else found
                kind = "runs" if not text else "untried" if text.startswith("no case") else "fails"
                row[kind].append(label)
                if kind == "fails":
                    gaps.append((op, attr, label, text))
            if not row["runs"]:  # the cases are refused for another reason than their dtype
                row["untried"] += [t for t in row["fails"] if _refused(gaps, op, attr, t)]
                row["fails"] = [t for t in row["fails"] if t not in row["untried"]]
            table.setdefault(op, {})[attr] = {k: v for k, v in row.items() if v}
    for op, attr, label, text in gaps:
        print(f"  {op} {attr}={label}: {text[:150]}")
    if options.write:
        TARGET.write_text(json.dumps(table, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    counts = {k: sum(len(a.get(k, ())) for o in table.values() for a in o.values())
              for k in ("runs", "fails", "untried")}  # fmt: skip
    print(f"dtypes of {len(table)} ops: {counts}")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
