"""From a tree of scopes to one picture: which groups are open, where boxes and wires lie.

Every open group is laid out on its own and is then one box to the group around it. A tensor that
enters or leaves an open group passes through a port on its border, so wires do not end at borders.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from drystone_base.cli._draw_layout import Point, lay_out
from drystone_base.cli._draw_tree import Edge, Group, Item, Leaf
from drystone_base.graph import Output, output_name

__all__ = ["Placed", "Port", "Wire", "choose_open", "leaf_lines", "place", "port_label"]

TITLE: Final = 20.0
STRIP: Final = 20.0  # height of a line in a box of several nodes
PAD: Final = 12.0
CHARACTER: Final = 6.4  # width of one at the size that labels have
BOLD: Final = 7.6
MAX_TEXT: Final = 30
_MAX_PORTS: Final = 24  # on one side of a group; more cannot be followed by eye


class Port(NamedTuple):
    """Where a tensor passes the border of a group; many tensors share a port of None."""

    tensor: Output | None
    entering: bool


@dataclass
class Wire:
    """A line between two boxes of one group; ``count`` tensors share it."""

    points: list[Point]
    label: str
    control: bool
    count: int


@dataclass
class Placed:
    """A box in its group: a leaf, a closed group, a port, or an open group with what is inside."""

    item: Item | Port
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    parts: list[Placed] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    opened: bool = False

    def port_x(self, port: Port) -> float:
        """Where, from the left, a tensor passes the border; the middle if nothing says."""
        for part in self.parts:
            if part.item == port:
                return part.x + part.width / 2
        return self.width / 2


class _Link(NamedTuple):
    """One wire to be: its ends in a group, and the tensor where that must be kept apart."""

    source: Item | Port
    target: Item | Port
    tensor: Output | None
    control: bool


_Links: TypeAlias = dict[Group, dict[_Link, dict[Output, str]]]
"""By open group: its wires, each with the tensors that share it and their labels."""


def choose_open(root: Group, budget: int) -> set[Group]:
    """Which groups to open so that ``budget`` boxes show at most: level by level, small first."""
    chosen = {root}
    shown = len(root.children)
    level = [c for c in root.children if isinstance(c, Group)]
    while level:
        following: list[Group] = []
        for group in sorted(level, key=lambda g: len(g.children)):
            if shown + len(group.children) - 1 <= budget:
                chosen.add(group)
                shown += len(group.children) - 1
                following += [c for c in group.children if isinstance(c, Group)]
        level = following
    return chosen


def place(root: Group, edges: Iterable[Edge], opened: set[Group]) -> Placed:
    """The picture of ``root`` with the groups in ``opened`` drawn open."""
    edges, opened = list(edges), set(opened)
    links = _all_links(edges, root, opened)
    crowded = {g for g in links if g is not root and max(_port_counts(links[g])) > _MAX_PORTS}
    if crowded:
        opened -= crowded
        links = _all_links(edges, root, opened)
    if root in links and max(_port_counts(links[root])) > _MAX_PORTS:
        links[root] = _shared_ports(links[root])
    return _place_group(root, links, opened, outermost=True)


def _all_links(edges: Iterable[Edge], root: Group, opened: set[Group]) -> _Links:
    links: _Links = {}
    for edge in edges:
        for group, link in _links(edge, root, opened):
            links.setdefault(group, {}).setdefault(link, {})[edge.tensor] = edge.label
    return links


def _port_counts(inside: Iterable[_Link]) -> tuple[int, int]:
    """How many ports a group needs at the top and at the bottom."""
    ports = {end for link in inside for end in link[:2] if isinstance(end, Port)}
    entering = sum(port.entering for port in ports)
    return entering, len(ports) - entering


def _shared_ports(inside: dict[_Link, dict[Output, str]]) -> dict[_Link, dict[Output, str]]:
    """The links with one port for all tensors that enter, and one for all that leave."""
    merged: dict[_Link, dict[Output, str]] = {}
    for link, tensors in inside.items():
        source, target = (
            Port(None, end.entering) if isinstance(end, Port) else end for end in link[:2]
        )
        ported = isinstance(source, Port) or isinstance(target, Port)
        key = _Link(source, target, None, link.control) if ported else link
        merged.setdefault(key, {}).update(tensors)
    return merged


def _visible(leaf: Leaf, root: Group, opened: set[Group]) -> list[Item]:
    """From ``root`` down to the leaf or the closed group that hides it; empty if it is outside."""
    path: list[Item] = [leaf]
    above = leaf.parent
    while above is not None and path[-1] is not root:
        path.append(above)
        above = above.parent
    if path[-1] is not root:
        return []
    path.reverse()
    closed = next((k for k, g in enumerate(path) if isinstance(g, Group) and g not in opened), None)
    return path if closed is None else path[: closed + 1]


def _links(edge: Edge, root: Group, opened: set[Group]) -> Iterable[tuple[Group, _Link]]:
    """The pieces of an edge, one for each open group that it runs in."""
    start, end = (_visible(leaf, root, opened) for leaf in (edge.source, edge.target))
    if not start and not end:
        return
    common = 0
    while common < min(len(start), len(end)) and start[common] is end[common]:
        common += 1
    if common and (common == len(start) or common == len(end)):
        return  # inside one closed group
    common = common or 1
    leaving, entering = Port(edge.tensor, False), Port(edge.tensor, True)
    ends: tuple[Item | Port, Item | Port] = (
        start[common] if start else entering,
        end[common] if end else leaving,
    )
    around = (start or end)[common - 1]
    assert isinstance(around, Group)
    yield around, _link(*ends, edge, opened)
    for group, inner in zip(start[common:-1], start[common + 1 :], strict=True):
        assert isinstance(group, Group)
        yield group, _link(inner, leaving, edge, opened)
    for group, inner in zip(end[common:-1], end[common + 1 :], strict=True):
        assert isinstance(group, Group)
        yield group, _link(entering, inner, edge, opened)


def _link(source: Item | Port, target: Item | Port, edge: Edge, opened: set[Group]) -> _Link:
    apart = any(isinstance(end, Port) or end in opened for end in (source, target))
    return _Link(source, target, edge.tensor if apart else None, edge.control)


def _place_group(
    group: Group,
    links: _Links,
    opened: set[Group],
    *,
    outermost: bool,
) -> Placed:
    inside = links.get(group, {})
    ports = dict.fromkeys(
        end for link in inside for end in (link.source, link.target) if isinstance(end, Port)
    )
    parts = [
        _place_group(c, links, opened, outermost=False) if c in opened and isinstance(c, Group)
        else _closed(c) for c in group.children
    ]  # fmt: skip
    parts += [_port(port, labelled=outermost) for port in ports]
    index = {_key(part.item): k for k, part in enumerate(parts)}
    pairs = [(index[_key(link.source)], index[_key(link.target)]) for link in inside]
    layout = lay_out(
        [(p.width, p.height) for p in parts],
        pairs,
        first=[index[_key(p)] for p in ports if p.entering],
        last=[index[_key(p)] for p in ports if not p.entering],
    )
    title = 0.0 if outermost else TITLE
    for part, (x, y) in zip(parts, layout.corners, strict=True):
        part.x, part.y = x + PAD, y + PAD + title
    wires = []
    for (link, tensors), (a, b), route in zip(inside.items(), pairs, layout.routes, strict=True):
        points = [(x + PAD, y + PAD + title) for x, y in route]
        _attach(points, link, parts[a], parts[b])
        passing = isinstance(link.source, Port) and not outermost
        label = "" if passing else next(iter(tensors.values()))
        wires.append(Wire(points, label, link.control, len(tensors)))
    width = max(layout.width + 2 * PAD, 40.0 if outermost else len(group.name) * CHARACTER + 30)
    shift = (width - layout.width) / 2 - PAD
    for part in parts:
        part.x += shift
    for wire in wires:
        wire.points = [(x + shift, y) for x, y in wire.points]
    height = layout.height + 2 * PAD + title
    return Placed(group, width, height, parts=parts, wires=wires, opened=True)


def _key(item: Item | Port) -> object:
    return item if isinstance(item, Port) else id(item)


def _attach(points: list[Point], link: _Link, source: Placed, target: Placed) -> None:
    """Move the ends of a wire to the ports of open groups; a wire upwards ends at the bottom."""
    leaving, arriving = (2, 1) if points[0][1] <= points[-1][1] else (1, 2)
    if source.opened and link.tensor is not None:
        x = source.x + source.port_x(Port(link.tensor, False))
        points[:leaving] = [(x, y) for _, y in points[:leaving]]
    if target.opened and link.tensor is not None:
        x = target.x + target.port_x(Port(link.tensor, True))
        points[-arriving:] = [(x, y) for _, y in points[-arriving:]]


def _closed(item: Item) -> Placed:
    if isinstance(item, Group):
        lines = [item.name, f"{item.node_count} nodes", item.summary()]
        return Placed(item, _text_width(lines) + 26, 58)
    lines = leaf_lines(item)
    height = STRIP * len(lines) if len(item.nodes) > 1 else 52.0 if len(lines) > 2 else 38.0
    return Placed(item, max(64.0, _text_width(lines) + 18), height)


def leaf_lines(leaf: Leaf) -> list[str]:
    """What stands in a box: op, name and constant of one node, or a line for each of a run."""
    if len(leaf.nodes) == 1:
        return (
            [leaf.node.op, leaf.name, *leaf.constants]
            if leaf.constants[0]
            else [leaf.node.op, leaf.name]
        )
    return [f"{n.op}  {c}".strip() for n, c in zip(leaf.nodes, leaf.constants, strict=True)]


def _port(port: Port, *, labelled: bool) -> Placed:
    if not labelled:
        return Placed(port, 8, 6)
    return Placed(port, _text_width([port_label(port)]) + 16, 22)


def port_label(port: Port) -> str:
    """What stands in a port at the border of a whole picture."""
    return output_name(port.tensor) if port.tensor else "many tensors"


def _text_width(lines: Iterable[str]) -> float:
    first, *others = (min(len(line), MAX_TEXT) for line in lines)
    return max(first * BOLD, max(others, default=0) * CHARACTER)
