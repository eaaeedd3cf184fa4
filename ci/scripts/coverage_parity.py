"""Random cases in docs/reference/coverage.md: op by dtype, differences, what has no cases.

Made from packages/base/tests/golden/parity.json, which `ci/scripts/parity.py --record` writes. Used
by `coverage_generate.py`.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["Counts", "cases_of", "counts", "render", "totals"]

Counts: TypeAlias = Mapping[str, Mapping[str, list[float]]]
"""By op and dtype: cases, of these refused alike, documented differences, others; worst error."""

INTRO = """## Random cases

Cases drawn at random from each op's definition: dtypes, attributes, shapes of rank 0 to 6, empty
ones, NaN, infinities and negative zero, indices and axes out of range, one case in ten made wrong
in some place. TensorFlow 2.21 answers each, and so do we; where it refuses, we must with the same
status. Every recorded case is run again by the default tests, other ones by `nox -s tf_parity`.

Behind each dtype: how many cases, and the largest `|a - b| / (|b| + std b)`; nothing where all were
equal. **r** counts cases that both refuse, **d** those under a documented difference below.
"""
DIFFERENCES = """### Documented differences

Where we answer otherwise on purpose. A case that falls under one of these is counted, not failed.
An example of each is recorded, and a test shows that it still occurs.
"""
NONE = """### Without random cases

Ops that cannot be called by themselves, or for which TensorFlow has no CPU kernel to compare with.
They are held by unit tests, hand-made cases and the models.
"""


def counts() -> Counts:
    """What was recorded."""
    from parity.recorded import SUMMARY

    found: Counts = json.loads(SUMMARY.read_text(encoding="utf-8"))
    return found


def cases_of(found: Counts) -> dict[str, int]:
    """Cases per op."""
    return {op: int(sum(line[0] for line in rows.values())) for op, rows in found.items()}


def totals(found: Counts) -> list[tuple[str, object]]:
    """Rows for the summary."""
    lines = [line for by_dtype in found.values() for line in by_dtype.values()]
    cases, refused, known, differ = (int(sum(line[k] for line in lines)) for k in range(4))
    return [
        ("random cases against TensorFlow", cases),
        ("of these refused by both, with one status", refused),
        ("of these under a documented difference", known),
        ("of these different otherwise", differ),
        ("ops with random cases", sum(bool(by_dtype) for by_dtype in found.values())),
    ]


def render(found: Counts) -> str:
    """The section as text."""
    from parity.differences import DIFFERENCES as KNOWN
    from parity.examples import load

    rows = [f"| `{op}` | {_cells(found[op])} |" for op in sorted(found) if found[op]]
    shown = load()
    known = [
        f"| {_names(d.ops) or 'every op'} | {_way(shown.get(d.reason))} | {d.reason} |"
        for d in KNOWN
    ]
    parts = [
        INTRO,
        _table("op | dtypes", rows),
        DIFFERENCES,
        _table("ops | what differs | why", known),
    ]
    return "\n".join([*parts, NONE, _reasons(found)])


def _cells(by_dtype: Mapping[str, list[float]]) -> str:
    out = []
    for dtype, (cases, refused, known, differ, worst) in by_dtype.items():
        marks = [f"{worst:.0e}" if worst else "", f"{refused:.0f}r" if refused else ""]
        marks += [f"{known:.0f}d" if known else "", f"**{differ:.0f} wrong**" if differ else ""]
        out.append(" ".join([f"{dtype} {cases:.0f}", *filter(None, marks)]))
    return ", ".join(out)


def _way(example: Any) -> str:
    """What differs in the recorded example of a difference."""
    return f"{example.way}: `{example.case.op}`" if example else ""


def _names(ops: str) -> str:
    return ", ".join(f"`{op}`" for op in ops.split())


def _table(header: str, rows: list[str]) -> str:
    rule = "| --- " * (header.count("|") + 1) + "|"
    return "\n".join([f"| {header} |", rule, *rows]) + "\n"


def _reasons(found: Counts) -> str:
    """One paragraph per reason."""
    from parity.eligible import not_eligible

    from drystone_base.kernels import all_ops

    by_reason: dict[str, list[str]] = {}
    for op in all_ops():
        reason = not_eligible(op) or ("" if found.get(op) else "no TensorFlow kernel on the CPU")
        if reason:
            by_reason.setdefault(reason, []).append(op)
    parts = [f"- {reason}: {_names(' '.join(by_reason[reason]))}" for reason in sorted(by_reason)]
    return "\n".join(textwrap.fill(p, 100, subsequent_indent="  ") for p in parts) + "\n"
