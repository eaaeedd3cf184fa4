"""What ``drystone partition`` prints: regions, why nodes were left, and answers about nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from drystone_base.cli.kit import duration, print_json, print_table, say, wants_json
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.graph import Graph
from drystone_subgraph.compiled.compiled import ExecutableStatus
from drystone_subgraph.regions.report import PartitionReport, Segment

__all__ = ["Place", "find_nodes", "show_report"]

Place = tuple[str, str]
"""A node: the function that it is in, or "", and its name."""

_EXAMPLES: Final = 3


def find_nodes(report: PartitionReport, patterns: Sequence[str], graph: Graph) -> list[Place]:
    """The nodes that patterns of names mean; raises ``BadRequest`` (``unknown-node``)."""
    found: dict[Place, None] = {}
    for pattern in patterns:
        here = [p for p in report.why if p[1] == pattern or fnmatchcase(p[1], pattern)]
        if not here:
            raise _unknown(pattern, [node for _, node in report.why], graph)
        found.update(dict.fromkeys(here))
    return list(found)


def _unknown(pattern: str, names: Sequence[str], graph: Graph) -> BadRequest:
    near = near_matches(pattern, names)
    gone = "no fetch needs it, or it was optimized away (--optimizer off partitions without)"
    return BadRequest(
        f"there is no node {pattern!r}",
        check="--node is a node of the graph that is partitioned, or a pattern of names",
        found=f"it is not there any more: {gone}" if pattern in graph else pattern,
        needed=f"one of {len(names)} nodes",
        remedy=f"did you mean {', '.join(near)}?" if near else "--node '*' lists them all",
        code="unknown-node",
        status="NOT_FOUND",
    )


def show_report(
    report: PartitionReport,
    nodes: int,
    asked: Collection[Place],
    why: bool,
    output: Path | None,
    made: Sequence[ExecutableStatus] | None,
) -> None:
    """Print what became of the regions, or of the nodes that were ``asked`` about."""
    if wants_json():
        written: dict[str, Any] = {"output": str(output) if output else None, "nodes_after": nodes}
        if made is not None:
            written["executables"] = [asdict(one) for one in made]
        facts = report.as_json()
        if asked:
            facts["why"] = [row for row in facts["why"] if (row["where"], row["node"]) in asked]
        print_json(written | facts)
        return
    if asked:
        print_table("", ("node", "where", "backend", "takes it", "why"), _answers(report, asked))
    else:
        _show_segments(report.segments)
    if why:
        _show_left(report)
    if made is not None:
        states = [(e.operator, e.state, _why(e), f"{e.seconds:.2f} s") for e in made]
        print_table("executables", ("operator", "state", "why", "time"), states)
    taken = sum(len(segment.nodes) for segment in report.taken)
    say(
        f"{taken} of {report.nodes} nodes in {len(report.taken)} operators, "
        f"in {duration(report.seconds)}" + (f"; written to {output}" if output else "")
    )


def _answers(report: PartitionReport, asked: Collection[Place]) -> Iterator[Sequence[str]]:
    """For each node, and each backend that was asked about it, whether it takes it."""
    takers = report.takers()
    for where, node in asked:
        place = where or "the graph"
        taker = takers.get((where, node))
        if taker is not None:
            yield node, place, taker.backend, "yes", f"in {taker.node}"
        for backend, reason in report.why[where, node].items():
            yield node, place, backend, "no", reason


def _show_segments(segments: Sequence[Segment]) -> None:
    """A row for each operator, and one for the regions of a property left for one reason."""
    alike: dict[Sequence[str], list[Segment]] = {}
    for s in segments:
        row = (s.backend, s.property, s.where or "the graph", s.outcome, s.node or s.reason)
        alike.setdefault(row, []).append(s)
    rows = []
    for (*who, text), held in alike.items():
        names = [name for segment in held for name in segment.nodes]
        shown = _examples(names, 1 if held[0].node else _EXAMPLES)
        rows.append((*who, str(len(held)), str(len(names)), text, shown))
    who_and_what = ("backend", "property", "where", "outcome")
    columns = (*who_and_what, "regions", "nodes", "operator or reason", "such as")
    print_table("", columns, rows, right=("regions", "nodes"))


def _show_left(report: PartitionReport) -> None:
    rows = [
        (backend, str(len(names)), reason, _examples(names))
        for (backend, reason), names in report.left().items()
    ]
    print_table("left", ("backend", "nodes", "why", "such as"), rows, right=("nodes",))


def _examples(names: Sequence[str], most: int = _EXAMPLES) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _why(one: ExecutableStatus) -> str:
    return one.reason or ("" if one.kept else "it is not written")
