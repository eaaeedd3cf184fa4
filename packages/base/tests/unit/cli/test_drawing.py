"""Drawings: the layout keeps boxes apart, pictures hold every node, pages are self-contained."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import affine, constant, placeholder, write

from drystone_base.cli._app import app
from drystone_base.cli._draw_diagram import Placed, Port, choose_open, place
from drystone_base.cli._draw_layout import Layout, lay_out
from drystone_base.cli._draw_tree import MAX_CHILDREN, Group, Leaf, Tree, shape_label
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph

TYPED = {"T": FLOAT32}


def overlaps(layout: Layout, sizes: list[tuple[float, float]]) -> bool:
    boxes = [(*c, *s) for c, s in zip(layout.corners, sizes, strict=True)]
    return any(
        a + w > c + 0.01 and c + v > a + 0.01 and b + h > d + 0.01 and d + u > b + 0.01
        for (a, b, w, h), (c, d, v, u) in combinations(boxes, 2)
    )


GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.floats(10, 90), st.floats(10, 60)), min_size=n, max_size=n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20, unique=True),
    )
)


@settings(max_examples=50, deadline=None)
@given(GRAPHS)
def test_boxes_do_not_overlap_and_edges_touch_them(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    sizes, edges = graph
    layout = lay_out(sizes, edges)
    assert not overlaps(layout, sizes)
    for (x, y), (w, h) in zip(layout.corners, sizes, strict=True):
        assert -0.01 <= x <= layout.width - w + 0.01
        assert -0.01 <= y <= layout.height - h + 0.01
    for (a, b), route in zip(edges, layout.routes, strict=True):
        if a == b:
            continue
        for node, (x, y) in ((a, route[0]), (b, route[-1])):
            left, top = layout.corners[node]
            assert left - 0.01 <= x <= left + sizes[node][0] + 0.01
            assert min(abs(y - top), abs(y - top - sizes[node][1])) < 0.01


def test_edges_of_a_graph_without_cycles_run_down() -> None:
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4)]
    layout = lay_out([(40.0, 20.0)] * 5, edges)
    assert all(layout.corners[a][1] < layout.corners[b][1] for a, b in edges)
    assert abs(layout.corners[1][1] - layout.corners[2][1]) < 0.01


def test_crossings_that_can_be_avoided_are() -> None:
    layout = lay_out([(40.0, 20.0)] * 4, [(0, 3), (1, 2)])
    x = [corner[0] for corner in layout.corners]
    assert (x[0] < x[1]) == (x[3] < x[2])


def test_ports_keep_to_the_outer_layers() -> None:
    layout = lay_out([(10.0, 10.0)] * 4, [(0, 1), (1, 2)], first=[0], last=[3])
    rows = [corner[1] for corner in layout.corners]
    assert rows[0] == min(rows)
    assert rows[3] == max(rows)
    assert rows[3] > rows[2]


def leaves(picture: Placed) -> list[str]:
    names = [n.name for n in picture.item.nodes] if isinstance(picture.item, Leaf) else []
    return names + [name for part in picture.parts for name in leaves(part)]


def test_constants_are_told_with_their_reader_and_runs_share_a_box() -> None:
    tree = Tree(affine(), "affine")
    assert len(tree.held) == 2
    boxes = {leaf.node.name: leaf for leaf in tree.root.leaves()}
    assert [n.name for n in boxes["layer/product"].nodes][:2] == ["layer/product", "layer/sum"]
    assert boxes["layer/product"].constants[0] == "scalar"
    assert {e.label for e in tree.edges} == {shape_label((-1, 3))}


def wide(scopes: int, nodes: int) -> Graph:
    """Scopes of nodes that all read one placeholder."""
    graph = Graph()
    x = placeholder(graph, "x", (2, 2))
    for k in range(scopes):
        one = constant(graph, f"scope{k}/one", 1)
        for n in range(nodes):
            graph.add("AddV2", f"scope{k}/add{n}", [x, one], attrs=TYPED)
    return graph


def test_large_scopes_are_cut_and_closed_so_that_a_picture_can_be_read() -> None:
    tree = Tree(wide(30, 100), "wide")
    assert all(len(group.children) <= MAX_CHILDREN for group in tree.root.groups())
    assert sum(len(leaf.nodes) for leaf in tree.root.leaves()) == 3001
    opened = choose_open(tree.root, 120)
    picture = place(tree.root, tree.edges, opened)
    shown = sum(len(group.children) for group in opened)
    assert shown <= 120 + len(opened)
    assert len(leaves(picture)) < 200


def test_every_node_is_in_the_picture_of_a_small_graph() -> None:
    graph = wide(3, 4)
    tree = Tree(graph, "small")
    picture = place(tree.root, tree.edges, choose_open(tree.root, 120))
    assert sorted(leaves(picture)) == sorted(n.name for n in graph if n.op != "Const")


def test_many_tensors_share_a_port() -> None:
    graph = Graph()
    sources = [placeholder(graph, f"in{k}", (2,)) for k in range(60)]
    for k, source in enumerate(sources):
        graph.add("AddV2", f"scope/a{k}", [source, source], attrs=TYPED)
        graph.add("Relu", f"scope/b{k % 2}/r{k}", [graph[f"scope/a{k}"]], attrs=TYPED)
    tree = Tree(graph, "crowded")
    (scope,) = [g for g in tree.root.groups() if g.path == "scope"]
    whole = place(tree.root, tree.edges, {tree.root, scope, *scope.groups()})
    assert all(not part.opened for part in whole.parts)
    alone = place(scope, tree.edges_of(scope), {scope})
    ports = [part.item for part in alone.parts if isinstance(part.item, Port)]
    assert ports == [Port(None, True)]


def test_parents_agree_with_children_after_dissolving() -> None:
    graph = Graph()
    x = placeholder(graph, "a/b/c/d/x", (2,))
    y = graph.add("Relu", "a/b/c/e/f/y", [x], attrs=TYPED)
    graph.add("AddV2", "a/z", [x, y], attrs=TYPED)
    tree = Tree(graph, "nested")
    for group in tree.root.groups():
        assert all(child.parent is group for child in group.children)
        assert group is tree.root or len(group.children) > 1
    assert isinstance(tree.root, Group)


def test_svg_is_one_self_contained_picture(tmp_path: Path) -> None:
    path = tmp_path / "m.svg"
    done = CliRunner().invoke(
        app, ["inspect", write(affine(), tmp_path / "m.pb"), "--graph", str(path)]
    )
    assert done.exit_code == 0, done.output
    assert "drew 4 of 6 nodes (2 constants and variables" in done.output
    text = path.read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "Placeholder" in text
    assert "layer/product (Mul), reads scalar" in text
    assert not re.findall(r"(?:href|src)=", text)
    assert set(re.findall(r"https?://[\w./]+", text)) == {"http://www.w3.org/2000/svg"}


def test_a_graph_without_nodes_can_be_drawn() -> None:
    tree = Tree(Graph(), "empty")
    assert place(tree.root, tree.edges, {tree.root}).parts == []
