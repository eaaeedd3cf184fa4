"""The page to walk through a model: what it embeds, its script by itself, and in a browser."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tiny_models import affine, constant, placeholder, write

import drystone_base as ds
from drystone_abi.protos import DataType, FunctionDef
from drystone_base.cli import _draw_html
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef

SCRIPT = Path(_draw_html.__file__).with_name("draw_page.js")
TYPED = {"T": FLOAT32}
NAME, OP, TREE, PANEL, DEVICE, INPUTS, ATTRS, OUTPUTS, CALLS = range(9)
HOSTILE = "x</script><script>alert(1)</script><!--\x1b[31m\u202e&lt;\"'"


def wide(scopes: int, nodes: int) -> Graph:
    """Scopes of nodes that all read one placeholder."""
    graph = Graph()
    x = placeholder(graph, "x", (2, 2))
    for k in range(scopes):
        one = constant(graph, f"scope{k}/one", 1)
        for n in range(nodes):
            graph.add("AddV2", f"scope{k}/add{n}", [x, one], attrs=TYPED)
    return graph


def calling() -> Graph:
    """A graph that calls a function."""
    proto = FunctionDef()
    proto.signature.name = "f"
    proto.signature.input_arg.add(name="a", type=FLOAT32.number)
    proto.signature.output_arg.add(name="r", type=FLOAT32.number)
    node = proto.node_def.add(name="deep/inside", op="Relu", input=["a"])
    node.attr["T"].type = DataType.DT_FLOAT
    proto.ret["r"] = "deep/inside:activations:0"
    graph = Graph()
    graph.functions.add(proto)
    x = placeholder(graph, "x", (2,))
    attrs = {"f": FunctionRef("f"), "Tin": [FLOAT32], "Tout": [FLOAT32]}
    graph.add("PartitionedCall", "call", [x], attrs=attrs)
    return graph


def drawn(model: str | Path, path: Path) -> tuple[str, dict[str, Any]]:
    """The page and its data."""
    done = CliRunner().invoke(app, ["inspect", str(model), "--graph", str(path)])
    assert done.exit_code == 0, done.output
    text = path.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return text, data


def rows(data: dict[str, Any]) -> dict[str, list[Any]]:
    return {row[NAME]: row for row in data["nodes"]}


def test_a_page_has_a_picture_of_each_scope(tmp_path: Path) -> None:
    text, data = drawn(write(wide(4, 6), tmp_path / "m.pb"), tmp_path / "m.html")
    panels = data["panels"]
    assert {p["name"] for p in panels.values()} >= {"m.pb", *(f"scope{k}" for k in range(4))}
    for panel in panels.values():
        ET.fromstring(panel["svg"])
        assert panel["up"] in panels or panel["up"] == ""
    assert not re.findall(r"<(?:link|img|iframe|script src)|@import|url\(", text.split("<body>")[0])
    assert set(re.findall(r"https?://[\w./]+", text)) == {"http://www.w3.org/2000/svg"}


def test_every_node_is_told_and_has_a_picture(tmp_path: Path) -> None:
    graph = affine()
    _, data = drawn(write(graph, tmp_path / "m.pb"), tmp_path / "m.html")
    found = rows(data)
    assert set(found) == {node.name for node in graph}
    product = found["layer/product"]
    assert product[OP] == "Mul"
    assert product[OUTPUTS] == ["float32 [?, 3]"]
    assert [data["nodes"][n][NAME] for n, _ in product[INPUTS]] == ["x", "layer/scale"]
    assert found["layer/scale"][ATTRS] == [["dtype", "float32"], ["value", "float32 [] 2.0"]]
    numbers = [n for p in data["panels"].values() for n in re.findall(r'data-n="(\d+)"', p["svg"])]
    shown = {data["nodes"][int(n)][NAME] for n in numbers}
    assert shown == {"x", "layer/product", "layer/sum", "y"}
    for row in data["nodes"]:
        assert row[PANEL] in data["panels"]


def test_function_bodies_are_reached_from_their_callers(tmp_path: Path) -> None:
    _, data = drawn(write(calling(), tmp_path / "m.pb"), tmp_path / "m.html")
    (panel,) = rows(data)["call"][CALLS]
    assert data["panels"][panel]["name"] == "f"
    assert data["trees"][rows(data)["deep/inside"][TREE]] == "f"
    assert rows(data)["deep/inside"][PANEL] == panel
    assert rows(data)["call"][ATTRS][2] == ["f", "f"]


def test_each_signature_has_a_view(tmp_path: Path) -> None:
    graph = wide(2, 5)
    one, two = ({"y": f"scope{k}/add0:0"} for k in range(2))
    ds.save(graph, tmp_path / "m", signatures={"one": ({"x": "x:0"}, one), "two": ({}, two)})
    text, data = drawn(tmp_path / "m", tmp_path / "m.html")
    outline = text[text.index('<nav id="outline">') :]
    panels = {name: p for p in data["panels"].values() if (name := p["name"]) in ("one", "two")}
    assert set(panels) == {"one", "two"}
    assert "<h2>signatures</h2>" in outline
    for name, other in (("one", "scope1"), ("two", "scope0")):
        numbers = map(int, re.findall(r'data-n="(\d+)"', panels[name]["svg"]))
        names = {data["nodes"][n][NAME] for n in numbers}
        assert names
        assert not any(n.startswith(other) for n in names)


def test_names_do_nothing(tmp_path: Path) -> None:
    graph = Graph()
    x = placeholder(graph, HOSTILE, (2,))
    for k in range(5):
        graph.add("Relu", f"{HOSTILE}/{k}", [x], attrs=TYPED)
    graph.add("Relu", "y", [x], attrs=TYPED, device=HOSTILE)
    (tmp_path / "a<b>").mkdir()
    path = tmp_path / "a<b>" / "m<b>.pb"
    ds.write_graph(graph, path)
    text, data = drawn(path, tmp_path / "m.html")
    assert text.count("<script") == 2
    assert text.count("<!--") == 0
    assert all(c.isprintable() or c == "\n" for c in text)
    assert data["nodes"][0][NAME] == HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")


def test_a_large_graph_shows_few_boxes_at_once(tmp_path: Path) -> None:
    graph = Graph()
    x = placeholder(graph, "x", (2,))
    for k in range(6000):
        x = graph.add("Relu", f"a{k // 600}/b{k // 60}/c{k // 6}/n{k}", [x], attrs=TYPED)
    text, data = drawn(write(graph, tmp_path / "m.pb"), tmp_path / "m.html")
    assert len(data["nodes"]) == 6001
    boxes = [
        p["svg"].count("data-open") + p["svg"].count("data-n") for p in data["panels"].values()
    ]
    assert max(boxes) <= 6 * _draw_html.MAX_BOXES
    assert len(text) < 8_000_000


# ---- the script --------------------------------------------------------------------------------

CHECKS = """
const {find, users, zoomed, fitted, first, centred, trail, place} = require(process.argv[1]);
const assert = require('assert');
const row = (name, op, inputs = []) => [name, op, 0, 'p0', '', inputs, [], [], []];
const nodes = [row('a/MatMul', 'MatMul'), row('a/MatMul/Read', 'ReadVariableOp'),
  row('b/out', 'MatMul', [[0, 0], [1, -1]]), row('matmul_gradient/x', 'Add', [[0, 1]])];
assert.deepStrictEqual(find(nodes, 'matmul', 9), {numbers: [2, 0, 3, 1], total: 4});
assert.deepStrictEqual(find(nodes, 'b/out matmul', 9).numbers, [2]);
assert.deepStrictEqual(find(nodes, 'MATMUL', 2), {numbers: [2, 0], total: 4});
assert.deepStrictEqual(find(nodes, '  ', 9), {numbers: [], total: 0});
assert.deepStrictEqual(find(nodes, 'nothing', 9), {numbers: [], total: 0});
assert.deepStrictEqual(users(nodes), [[[2, 0], [3, 1]], [[2, -1]], [], []]);
assert.deepStrictEqual(zoomed([0, 0, 100, 50], 0.5, 0, 0), [0, 0, 50, 25]);
assert.deepStrictEqual(zoomed([0, 0, 100, 50], 0.5, 1, 1), [50, 25, 50, 25]);
assert.ok(zoomed([0, 0, 30, 30], 1e-9, 0, 0)[2] >= 19.9);
assert.ok(zoomed([0, 0, 30, 30], 1e9, 0, 0)[2] <= 2.1e5);
assert.deepStrictEqual(fitted(200, 100, [400, 300]), [-100, 0, 400, 100]);
assert.deepStrictEqual(first(2000, 900, [400, 800], 1900), [1360, 0, 640, 1280]);
assert.deepStrictEqual(first(300, 200, [400, 800], 10), fitted(300, 200, [400, 800]));
assert.deepStrictEqual(centred([0, 0, 10, 20], 50, 50), [45, 40, 10, 20]);
const panels = {p0: {up: ''}, p1: {up: 'p0'}, p2: {up: 'p1'}, p3: {up: 'p3'}};
assert.deepStrictEqual(trail(panels, 'p2'), ['p0', 'p1', 'p2']);
assert.deepStrictEqual(trail(panels, 'p3'), ['p3']);
assert.deepStrictEqual(place('#p2/n3', panels, nodes), {panel: 'p2', node: 3});
for (const hash of ['', '#', '#nowhere', '#__proto__', '#toString/n1e3', '#p9/n99', '#p0/n-1'])
  assert.deepStrictEqual(place(hash, panels, nodes), {panel: 'p0', node: -1});
console.log('all hold');
"""


def test_the_logic_of_the_script() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here to run the page's script by itself")
    done = subprocess.run(
        [node, "-e", CHECKS, str(SCRIPT)], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("all hold", "")


def test_the_script_starts_in_a_page_only() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert "</script" not in text
    assert "<!--" not in text
    used = set(re.findall(r"(?:at|getElementById)\('(\w+)'\)", text))
    page, _ = _draw_html.page(_loaded_affine())
    assert all(f'id="{name}"' in page for name in used)
    assert len(used) >= 9


def _loaded_affine() -> Any:
    from drystone_base.loaders import LoadedModel, default_signature
    from drystone_base.loaders._source import GraphSource

    graph = affine()
    return LoadedModel(
        GraphSource.of(graph), {"default": default_signature(graph)}, Path("m.pb"), "graphdef"
    )


# ---- in a browser ------------------------------------------------------------------------------


def browse(page: Path, place: str, profile: Path) -> str:
    """The page's elements after its script has run in a window of 400 by 800 pixels."""
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None
    )
    if browser is None:
        pytest.skip("there is no browser here to open the page in")
    words = [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={profile}", "--window-size=400,800", "--virtual-time-budget=2000",
        "--dump-dom", f"file://{page}{place}",
    ]  # fmt: skip
    done = subprocess.run([browser, *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_browser_shows_the_node_that_an_address_names(tmp_path: Path) -> None:
    _, data = drawn(write(calling(), tmp_path / "m.pb"), tmp_path / "m.html")
    number = next(n for n, row in enumerate(data["nodes"]) if row[NAME] == "call")
    dom = browse(tmp_path / "m.html", f"#p0/n{number}", tmp_path / "profile")
    (details,) = re.findall(r'<aside id="details">(.*?)</aside>', dom, re.DOTALL)
    told = html.unescape(re.sub(r"<[^>]+>", "\n", details))
    assert {"call", "PartitionedCall", "opens", "f", "inputs", ":0 float32 [2]"} <= set(
        told.split("\n")
    )
    assert dom.count('class="on"') + dom.count(' on"') >= 1
    assert "<svg" in dom


def test_a_browser_runs_nothing_that_a_name_says(tmp_path: Path) -> None:
    graph = Graph()
    x = placeholder(graph, "<img src=x onerror=document.title='caught'>", (2,), INT32)
    graph.add("Identity", "<!--<script>", [x], attrs={"T": INT32})
    drawn(write(graph, tmp_path / "m.pb"), tmp_path / "m.html")
    dom = browse(tmp_path / "m.html", "#p0/n0", tmp_path / "profile")
    assert "<title>m.pb</title>" in dom
    assert "<img" not in dom
    assert 'data-n="1"' in dom
