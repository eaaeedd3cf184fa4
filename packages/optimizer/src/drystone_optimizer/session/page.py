"""A page about one optimization: both graphs as pictures, what each pass did, which nodes changed.

It holds everything itself: no script, no link, nothing to fetch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drystone_base.cli.kit import duration, escape_html, picture_of, replace_file
from drystone_base.graph import Graph
from drystone_optimizer.core.report import Report

if TYPE_CHECKING:
    from drystone_optimizer.session.targets import Target

__all__ = ["page", "write_page"]

_MOST_DRAWN: Final = 20_000
_LEGEND: Final = "Thick borders: on the left what is gone or other, on the right what is new."
_STYLE: Final = """
body{font:14px Helvetica,Arial,sans-serif;color:#1c2430;margin:24px;max-width:1500px}
h1{font-size:20px}h2{font-size:16px;margin-top:28px}
table{border-collapse:collapse}td,th{padding:3px 12px 3px 0;text-align:left;vertical-align:top}
th{border-bottom:1px solid #b4c0cc}td.n{text-align:right}code{font-size:12px}
.changed{color:#1f7a3a}.rejected,.failed{color:#b3261e;font-weight:bold}
.unchanged,.skipped{color:#7a8794}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:20px}
figure{margin:0;border:1px solid #d4dbe2;overflow:auto;max-height:80vh}
figcaption{padding:6px 10px;background:#f6f8fa;position:sticky;left:0}
@media (max-width:700px){body{margin:10px}.pair{grid-template-columns:minmax(0,1fr)}
table{display:block;overflow-x:auto}}
"""


def write_page(
    path: Path, target: Target, after: Graph, report: Report, changes: Mapping[str, Any]
) -> None:
    """Write the page; raises ``BadRequest`` (``cannot-write``)."""
    text = page(target.loaded.path.name, target.loaded.graph, after, report, changes)
    replace_file(path, [text.encode()])


def page(name: str, before: Graph, after: Graph, report: Report, changes: Mapping[str, Any]) -> str:
    """The page as HTML."""
    verified = f", each change verified with {report.samples} samples" if report.samples else ""
    said = f"{len(before)} nodes became {len(after)} in {duration(report.seconds)}{verified}."
    gone, new, other = (
        {row["node"] for row in changes.get(kind, ())} for kind in ("removed", "added", "changed")
    )
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width,initial-scale=1'>",
        f"<title>{escape_html(name)}, optimized</title><style>{_STYLE}</style>",
        f"<h1>{escape_html(name)}, optimized</h1><p>{escape_html(said)}</p>",
        "<h2>Passes</h2>",
        _table(("pass", "where", "outcome", "nodes", "time", "class", "what"), _rows(report)),
        f"<h2>Graphs</h2><p>{_LEGEND}</p><div class='pair'>",
        _figure("before", before, gone | other),
        _figure("after", after, new | other),
        "</div><h2>Nodes</h2>",
    ]
    rows = [(kind, r["node"], r["what"]) for kind, listed in changes.items() for r in listed]
    parts.append(_table(("", "node", "what"), rows) if rows else "<p>No node is another one.</p>")
    if report.merged.changes:
        lines = "".join(f"<li>{escape_html(c.text())}</li>" for c in report.merged.changes)
        parts.append(f"<h2>Toggles that plugins request</h2><ul>{lines}</ul>")
    return "".join([*parts, "</html>"])


def _rows(report: Report) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (s.name, s.where or "the graph", s.outcome, f"{s.nodes_before} → {s.nodes_after}",
         duration(s.seconds), s.numeric,
         s.reason or ", ".join(f"{rule} ({count})" for rule, count in s.rewrites.items()))
        for s in report.steps
    ]  # fmt: skip
    rows += [
        (f"plugin {r.plugin}", r.where or "the graph", r.outcome,
         f"{r.nodes_before} → {r.nodes_after}", duration(r.seconds), "", r.reason)
        for r in report.runs
    ]  # fmt: skip
    return rows


def _figure(title: str, graph: Graph, marked: Iterable[str]) -> str:
    if len(graph) > _MOST_DRAWN:
        return f"<figure><figcaption>{title}: too large to be drawn</figcaption></figure>"
    svg, _ = picture_of(graph, title, frozenset(marked))
    caption = f"<figcaption>{title}: {len(graph)} nodes</figcaption>"
    return f"<figure id='{title}'>{caption}{svg}</figure>"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape_html(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(_cell(name, cell) for name, cell in zip(columns, row, strict=True))
        + "</tr>"
        for row in rows
    )  # fmt: skip
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(column: str, text: str) -> str:
    kind = f' class="{text}"' if column == "outcome" else ""
    kind = ' class="n"' if column in ("time", "nodes") else kind
    return f"<td{kind}>{escape_html(text)}</td>"
