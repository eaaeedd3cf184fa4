"""A placed diagram as SVG, with no reference to anything outside the file."""

from __future__ import annotations

import html
from collections.abc import Callable, Container, Iterable
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from drystone_base.cli._draw_diagram import (
    MAX_TEXT,
    STRIP,
    Placed,
    Port,
    Wire,
    leaf_lines,
    port_label,
)
from drystone_base.cli._draw_layout import Point
from drystone_base.cli._draw_style import family
from drystone_base.cli._draw_tree import Group, Leaf
from drystone_base.core.printable import plain_lines
from drystone_base.graph import Node

__all__ = ["STYLE", "Link", "Number", "escape", "legend_families", "render"]

Link: TypeAlias = Callable[[Leaf | Group], str]
"""What a click on a box opens: the name of a panel, or nothing."""
Number: TypeAlias = Callable[[Node], str]
"""The number by which a page knows a node, or nothing."""

STYLE: Final = (
    "text{font-family:Helvetica,Arial,sans-serif;font-size:11px;fill:#1c2430}"
    ".op{font-weight:bold;font-size:12px}.sub{fill:#56616e}"
    ".lab{font-size:10px;fill:#3a5f8a}.wire{fill:none;stroke:#8694a3;stroke-width:1.2}"
    ".ctl{stroke-dasharray:4 3;stroke:#b6bfc9}.grp{fill:#f6f8fa;stroke:#b4c0cc}"
    ".cls{fill:#fff;stroke:#5b6b7c;stroke-width:1.4}.port{fill:#8694a3}"
)
_MARKER: Final = (
    '<marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#8694a3"/></marker>'
)


def escape(text: str) -> str:
    """Text of a page or picture: names of graphs are shown, and do nothing."""
    return html.escape(plain_lines(text))


class _Marks(NamedTuple):
    """What a picture says of its boxes beside what they show."""

    functions: frozenset[str]
    link: Link
    number: Number
    marked: Container[str]


def render(
    picture: Placed,
    *,
    functions: Iterable[str] = (),
    link: Link = lambda _: "",
    number: Number = lambda _: "",
    footer: Iterable[str] = (),
    style: str = STYLE,
    marked: Container[str] = (),
) -> str:
    """The whole picture with a legend and lines of ``footer`` below it.

    Nodes whose names are ``marked`` have a thick border; those with a ``number`` can be clicked.
    """
    known = frozenset(functions)
    body: list[str] = []
    marks = _Marks(known, link, number, marked)
    _draw_open(picture, 0.0, 0.0, body, marks, outermost=True)
    legend = legend_families(picture, known)
    width = max(picture.width, 420.0)
    y = picture.height + 14
    for text, fill, stroke in legend:
        body.append(
            f'<rect x="16" y="{y:.0f}" width="14" height="12" rx="3" fill="{fill}" '
            f'stroke="{stroke}"/>'
            f'<text x="36" y="{y + 10:.0f}">{escape(text)}</text>'
        )
        y += 18
    for line in footer:
        body.append(f'<text x="16" y="{y + 12:.0f}" class="sub">{escape(line)}</text>')
        y += 16
        width = max(width, 32 + len(line) * 5.6)
    height = y + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><style>{style}</style><defs>{_MARKER}</defs>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>'
    )


def legend_families(picture: Placed, functions: frozenset[str]) -> list[tuple[str, str, str]]:
    """Families of the leaves that a picture shows, in a fixed order."""
    found: set[tuple[str, str, str]] = set()
    stack = [picture]
    while stack:
        part = stack.pop()
        stack.extend(part.parts)
        if isinstance(part.item, Leaf):
            found.update(family(n.op, functions) for n in part.item.nodes)
    return sorted(found)


def _draw_open(
    placed: Placed,
    x: float,
    y: float,
    out: list[str],
    marks: _Marks,
    *,
    outermost: bool = False,
) -> None:
    """An open group: border and title, wires, then what is in it."""
    if not outermost:
        assert isinstance(placed.item, Group)
        name = escape(_short(placed.item.name, int(placed.width / 6.5)))
        out.append(
            f'<g{_data(marks.link, placed.item)}><rect class="grp" x="{x:.1f}" y="{y:.1f}" '
            f'width="{placed.width:.1f}" height="{placed.height:.1f}" rx="8"/>'
            f'<text class="op" x="{x + 10:.1f}" y="{y + 16:.1f}">{name}</text>'
            f"<title>{escape(placed.item.path)}</title></g>"
        )
    labelled: set[Point] = set()
    for wire in placed.wires:
        _draw_wire(wire, x, y, out, labelled)
    for part in placed.parts:
        at = (x + part.x, y + part.y)
        if part.opened:
            _draw_open(part, *at, out, marks)
        elif isinstance(part.item, Port):
            _draw_port(part, *at, out, outermost, y, placed.height)
        elif isinstance(part.item, Group):
            _draw_closed(part, part.item, *at, out, marks.link)
        else:
            _draw_leaf(part, part.item, *at, out, marks)


def _draw_wire(wire: Wire, x: float, y: float, out: list[str], labelled: set[Point]) -> None:
    points = [(x + a, y + b) for a, b in wire.points]
    path = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (a, b), (c, d) in pairwise(points):
        if abs(a - c) < 0.5:
            path.append(f"L{c:.1f} {d:.1f}")
        else:
            middle = (b + d) / 2
            path.append(f"C{a:.1f} {middle:.1f} {c:.1f} {middle:.1f} {c:.1f} {d:.1f}")
    wide = f' style="stroke-width:{min(1.2 + 0.4 * wire.count, 4):.1f}"' if wire.count > 1 else ""
    kind = "wire ctl" if wire.control else "wire"
    out.append(f'<path class="{kind}" marker-end="url(#a)" d="{"".join(path)}"{wide}/>')
    text = f"{wire.count} tensors" if wire.count > 1 and not wire.control else wire.label
    if text and points[0] not in labelled:
        labelled.add(points[0])
        out.append(
            f'<text class="lab" x="{points[0][0] + 5:.1f}" y="{points[0][1] + 12:.1f}">'
            f"{escape(text)}</text>"
        )


def _draw_port(
    placed: Placed, x: float, y: float, out: list[str], labelled: bool, top: float, height: float
) -> None:
    port = placed.item
    assert isinstance(port, Port)
    middle = x + placed.width / 2
    if not labelled:
        edge = top if port.entering else top + height
        inner = y + placed.height if port.entering else y
        out.append(f'<path class="wire" d="M{middle:.1f} {edge:.1f}L{middle:.1f} {inner:.1f}"/>')
        return
    out.append(
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{placed.width:.1f}" height="{placed.height:.1f}" '
        f'rx="11" fill="#eef2f6" stroke="#8694a3" stroke-dasharray="3 2"/>'
        f'<text class="sub" x="{middle:.1f}" y="{y + 15:.1f}" text-anchor="middle">'
        f"{escape(_short(port_label(port)))}</text>"
    )


def _draw_closed(
    placed: Placed, group: Group, x: float, y: float, out: list[str], link: Link
) -> None:
    middle = x + placed.width / 2
    back = f'x="{x + 4:.1f}" y="{y + 4:.1f}" width="{placed.width - 4:.1f}"'
    out.append(
        f'<g{_data(link, group)}><rect class="cls" {back} height="{placed.height - 4:.1f}" rx="7"/>'
        f'<rect class="cls" x="{x:.1f}" y="{y:.1f}" width="{placed.width - 4:.1f}" '
        f'height="{placed.height - 4:.1f}" rx="7"/>'
        + _lines(middle - 2, y + 17, [group.name, f"{group.node_count} nodes", group.summary()])
        + f"<title>{escape(group.path)}</title></g>"
    )


def _draw_leaf(
    placed: Placed, leaf: Leaf, x: float, y: float, out: list[str], marks: _Marks
) -> None:
    lines = leaf_lines(leaf)
    middle = x + placed.width / 2
    box = f'x="{x:.1f}" width="{placed.width:.1f}" rx="6"'
    alone = len(leaf.nodes) == 1
    own = _number(marks, leaf.node) if alone else ""
    out.append(f"<g{_data(marks.link, leaf)}{own}><title>{escape(_details(leaf))}</title>")
    if alone:
        _, fill, stroke = family(leaf.node.op, marks.functions)
        out.append(
            f'<rect {box} y="{y:.1f}" height="{placed.height:.1f}" fill="{fill}" '
            f'stroke="{stroke}"{_thick(leaf.node.name in marks.marked)}/>'
            + _lines(middle, y + 16, lines)
        )
    for k, node in enumerate(leaf.nodes if not alone else ()):
        _, fill, stroke = family(node.op, marks.functions)
        top = y + k * STRIP
        out.append(
            f'<g{_number(marks, node)}><rect {box} y="{top:.1f}" height="{STRIP - 1:.1f}" '
            f'fill="{fill}" stroke="{stroke}"{_thick(node.name in marks.marked)}/>'
            f'<text x="{middle:.1f}" y="{top + 14:.1f}" text-anchor="middle">'
            f"{escape(_short(lines[k]))}</text></g>"
        )
    out.append("</g>")


def _number(marks: _Marks, node: Node) -> str:
    number = marks.number(node)
    return f' data-n="{number}"' if number else ""


def _thick(marked: bool) -> str:
    return ' stroke-width="3.5"' if marked else ""


def _details(leaf: Leaf) -> str:
    """What is shown while the pointer rests on a box."""
    return "\n".join(
        f"{node.name} ({node.op})"
        + (f", reads {constant}" if constant else "")
        + (f", on {node.device}" if node.device else "")
        for node, constant in zip(leaf.nodes, leaf.constants, strict=True)
    )


def _data(link: Link, item: Leaf | Group) -> str:
    target = link(item)
    return f' data-open="{escape(target)}"' if target else ""


def _lines(x: float, y: float, lines: list[str]) -> str:
    return "".join(
        f'<text class="{"sub" if k else "op"}" x="{x:.1f}" y="{y + 14 * k:.1f}" '
        f'text-anchor="middle">{escape(_short(line))}</text>'
        for k, line in enumerate(lines)
        if line
    )


def _short(text: str, limit: int = MAX_TEXT) -> str:
    """The text, its middle left out where it is too long."""
    if len(text) <= limit:
        return text
    half = max(1, (limit - 1) // 2)
    return f"{text[:half]}…{text[-half:]}"
