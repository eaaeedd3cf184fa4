"""A page to walk through a model: pictures of its scopes and functions, a search, details of nodes.

A picture has at most ``MAX_BOXES`` boxes: what is in a name scope shows when it is opened. The
page refers to nothing outside itself; ``draw_page.js`` and ``draw_page.css`` are written into it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drystone_base.cli._analysis import function_refs
from drystone_base.cli._draw_diagram import choose_open, place
from drystone_base.cli._draw_facts import Facts
from drystone_base.cli._draw_svg import STYLE, escape, render
from drystone_base.cli._draw_tree import Group, Leaf, Tree
from drystone_base.core.errors import DrystoneError
from drystone_base.core.printable import plain
from drystone_base.graph import Node, reachable

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.loaders import LoadedModel, Signature

__all__ = ["page"]

MAX_BOXES: Final = 45
MAX_PANELS: Final = 600
MAX_VIEWED: Final = 20_000  # nodes of a graph of which signatures have pictures of their own
HERE: Final = Path(__file__).parent


class _Page:
    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.functions = frozenset(f.name for f in loaded.graph.functions)
        self.panels: dict[str, dict[str, str]] = {}
        self.ids: dict[Group, str] = {}
        self.left_out = 0
        self.facts = Facts(self._panel_of, lambda name: self._root_panel(name))
        self.whole = Tree(loaded.graph, loaded.path.name)
        self._plan(self.whole)
        self.facts.number(self.whole)
        self.views = [self._view(tree) for tree in _signature_trees(loaded)]
        self.bodies: dict[str, Tree] = {}
        for function in loaded.graph.functions:
            try:
                body = function.body(loaded.graph.functions)
            except DrystoneError:  # a body that needs attributes of its caller
                continue
            self.bodies[function.name] = tree = Tree(body.graph, function.name)
            self._plan(tree)
            self.facts.number(tree)

    def _view(self, tree: Tree) -> Tree:
        """A tree of some nodes of the whole graph, which have their numbers there."""
        self._plan(tree)
        for node in tree.graph:
            self.facts.numbers[node] = self.facts.numbers[self.whole.graph[node.name]]
        return tree

    def _plan(self, tree: Tree) -> None:
        """Give the root, and each group of more than a few members, a panel, from the top down."""
        level = [tree.root]
        while level:
            for group in level:
                if group is not tree.root and len(group.children) <= 3:
                    continue
                if len(self.ids) < MAX_PANELS:
                    self.ids[group] = f"p{len(self.ids)}"
                else:
                    self.left_out += 1
            level = [c for g in level for c in g.children if isinstance(c, Group)]

    def draw(self) -> None:
        """Make every panel, and the rows of every node."""
        for tree in (self.whole, *self.views, *self.bodies.values()):
            for group in tree.root.groups():
                if group not in self.ids:
                    continue
                picture = place(group, tree.edges_of(group), choose_open(group, MAX_BOXES))
                svg = render(
                    picture, functions=self.functions, link=self._link, number=self._number,
                    style="",
                )  # fmt: skip
                above = self._panel_above(group.parent)
                self.panels[self.ids[group]] = {"name": plain(group.name), "up": above, "svg": svg}
        for tree in (self.whole, *self.bodies.values()):
            self.facts.add(tree)

    def _panel_above(self, group: Group | None) -> str:
        """The panel of a group or of the next one around it that has one."""
        while group is not None and group not in self.ids:
            group = group.parent
        return self.ids[group] if group else ""

    def _panel_of(self, node: Node, tree: Tree) -> str:
        """Where a node is drawn; of one that is told with its reader, where that is."""
        seen = 0
        while node not in tree.leaves and seen < 8:
            reader = next(iter(tree.graph.users(node)), None)
            if reader is None:
                break
            node, seen = reader, seen + 1
        leaf = tree.leaves.get(node)
        return self._panel_above(leaf.parent if leaf else tree.root)

    def _number(self, node: Node) -> str:
        return str(self.facts.numbers.get(node, ""))

    def _root_panel(self, function: str) -> str:
        tree = self.bodies.get(function)
        return "" if tree is None else self.ids.get(tree.root, "")

    def _link(self, item: Leaf | Group) -> str:
        """The panel of a group, or of the first function that a node calls."""
        if isinstance(item, Group):
            return self.ids.get(item, "")
        panels = (self._root_panel(ref.name) for ref in function_refs(item.node))
        return next((panel for panel in panels if panel), "")

    def data(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {"panels": self.panels, "nodes": self.facts.rows, "trees": self.facts.trees}

    # ---- the list beside the picture -----------------------------------------------------------

    def outline(self) -> str:
        """The graph, signatures and functions as collapsible lists."""
        parts = [("graph", [self.whole]), ("signatures", self.views)]
        functions = [t for t in self.bodies.values() if t.root in self.ids]
        text = ""
        for title, trees in (*parts, ("functions", functions)):
            if trees:
                text += f"<h2>{title}</h2>" + "".join(self._entry(tree.root) for tree in trees)
        return text

    def _is_listed(self, group: Group) -> bool:
        """Whether the list has the group: it or one below has a picture."""
        return group in self.ids or any(
            self._is_listed(c) for c in group.children if isinstance(c, Group)
        )

    def _entry(self, group: Group) -> str:
        inner = [c for c in group.children if isinstance(c, Group) and self._is_listed(c)]
        label = f"{escape(group.name)} <small>{group.node_count}</small>"
        target = self.ids.get(group)
        title = f'<a href="#{target}" data-open="{target}">{label}</a>' if target else label
        if not inner:
            return f'<span class="leaf">{title}</span>'
        is_open = " open" if group.parent is None and group is self.whole.root else ""
        below = "".join(map(self._entry, inner))
        return f"<details{is_open}><summary>{title}</summary>{below}</details>"


def _signature_trees(loaded: LoadedModel) -> list[Tree]:
    """A tree for each signature that needs but a part of the graph."""
    graph = loaded.graph
    if len(graph) > MAX_VIEWED:
        return []
    trees = []
    for signature in loaded.signatures.values():
        needed = _needed(graph, signature)
        if 0 < len(needed) < len(graph):
            trees.append(Tree(graph.copy(only=needed), signature.name))
    return trees


def _needed(graph: Graph, signature: Signature) -> set[Node]:
    """What a signature's outputs need, and its inputs; nothing where it names what is not there."""
    specs = [*signature.outputs.values(), *signature.inputs.values()]
    try:
        return set(reachable([graph.output(spec.tensor)[0] for spec in specs]))
    except DrystoneError:
        return set()


def page(loaded: LoadedModel) -> tuple[str, str]:
    """The page, and what it shows in a few words."""
    made = _Page(loaded)
    made.draw()
    summary = (
        f"{len(loaded.graph)} nodes and {len(made.bodies)} functions in {len(made.panels)} pictures"
    )
    if made.left_out:
        summary += f", {made.left_out} smaller scopes and functions without one"
    name = escape(loaded.path.name)
    # Of "<" nothing is left in the data: "</script" and "<!--" would end or hide what follows.
    data = json.dumps(made.data(), separators=(",", ":")).replace("<", "\\u003c")
    style = (HERE / "draw_page.css").read_text(encoding="utf-8")
    script = (HERE / "draw_page.js").read_text(encoding="utf-8")
    text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<style>{style}{STYLE}</style></head><body>
<header><button id="menu" aria-label="list of pictures" aria-expanded="false">&#9776;</button>
<h1>{name}</h1><div id="finder"><input id="search" type="search" autocomplete="off"
placeholder="find a node or op ( / )" aria-label="find a node or op"><ul id="results"></ul></div>
<div id="zoom"><button id="out" aria-label="zoom out" title="zoom out ( - )">&minus;</button>
<button id="in" aria-label="zoom in" title="zoom in ( + )">+</button>
<button id="fit" title="whole picture ( 0 )">fit</button></div></header>
<div id="body"><nav id="outline"><small>{escape(summary)}</small>{made.outline()}</nav>
<main><div id="crumbs"></div><div id="view"></div></main>
<aside id="details" hidden></aside></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script></body></html>
"""
    return text, summary
