"""Drawing a model into a file: one picture (SVG), or a page to walk through (HTML)."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Final

from drystone_base.cli._draw_diagram import choose_open, place
from drystone_base.cli._draw_html import page
from drystone_base.cli._draw_svg import render
from drystone_base.cli._draw_tree import Tree
from drystone_base.files.writing import replace_file

if TYPE_CHECKING:
    from drystone_base.graph import Graph
    from drystone_base.loaders import LoadedModel

__all__ = ["draw", "picture_of"]

MAX_BOXES: Final = 140


def draw(loaded: LoadedModel, path: Path) -> str:
    """Draw a model and return one line that says what was drawn."""
    if path.suffix == ".html":
        text, summary = page(loaded)
    else:
        text, summary = picture_of(loaded.graph, loaded.path.name)
    replace_file(path, [text.encode()])
    return f"drew {summary} into {path}"


def picture_of(graph: Graph, name: str, marked: Container[str] = ()) -> tuple[str, str]:
    """A graph as SVG, and what it shows in a few words; ``marked`` nodes have thick borders."""
    tree = Tree(graph, name)
    opened = choose_open(tree.root, MAX_BOXES)
    closed = [g for g in tree.root.groups() if g not in opened and g.parent in opened]
    inside = sum(g.node_count for g in closed)
    summary = f"{len(tree.leaves) - inside} of {len(graph)} nodes"
    if tree.held:
        summary += f" ({len(tree.held)} constants and variables are told with their readers)"
    if closed:
        summary += f", {inside} in {len(closed)} closed scopes"
    footer = [f"{name}: {summary}"]
    if len(graph.functions):
        footer.append(f"{len(graph.functions)} functions: an .html drawing shows their bodies")
    picture = place(tree.root, tree.edges, opened)
    names = [f.name for f in graph.functions]
    return render(picture, functions=names, footer=footer, marked=marked), summary
