"""A page to walk through a model: a tree of scopes and functions, and a picture of each."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Final

from drystone_base.cli._analysis import function_refs
from drystone_base.cli._draw_diagram import choose_open, place
from drystone_base.cli._draw_svg import STYLE, render
from drystone_base.cli._draw_tree import Group, Leaf, Tree
from drystone_base.errors import DrystoneError

if TYPE_CHECKING:
    from drystone_base.loaders import LoadedModel

__all__ = ["page"]

MAX_BOXES: Final = 45
MAX_PANELS: Final = 600

_STYLE: Final = """
*{box-sizing:border-box}
body{margin:0;display:flex;height:100vh;font:13px Helvetica,Arial,sans-serif;color:#1c2430}
nav{width:300px;overflow:auto;border-right:1px solid #d4dbe2;padding:12px;background:#f6f8fa}
nav{flex:none}nav h1{font-size:15px;margin:0 0 4px}
nav h2{font-size:12px;margin:14px 0 4px;color:#56616e}
nav details{margin-left:12px}nav .leaf{margin-left:24px;display:block}
nav a,header a{cursor:pointer;color:#205493}nav a.on{font-weight:bold;color:#b3420f}
nav small,header small{color:#7a8794}header small{float:right}
main{flex:1;display:flex;flex-direction:column;min-width:0}
header{padding:8px 14px;border-bottom:1px solid #d4dbe2}
#view{flex:1;overflow:hidden;cursor:grab;background:#fff}#view svg{width:100%;height:100%}
"""

_SCRIPT: Final = """
const view = document.getElementById('view'), crumbs = document.getElementById('crumbs');
let box, drag;
const move = () => view.firstChild.setAttribute('viewBox', box.join(' '));
function fit() {
  const w = view.clientWidth, h = view.clientHeight;
  if (box[3] * w > box[2] * 2.2 * h) box[3] = box[2] * 2.2 * h / w;
  if (box[2] < w) box = [box[0] - (w - box[2]) / 2, box[1], w, h];
}
function show(id) {
  if (!P[id]) return;
  view.innerHTML = P[id].svg;
  location.hash = id;
  view.firstChild.setAttribute('preserveAspectRatio', 'xMidYMin meet');
  box = view.firstChild.getAttribute('viewBox').split(' ').map(Number);
  fit();
  move();
  crumbs.innerHTML = '';
  const trail = [];
  for (let k = id; k; k = P[k].up) trail.unshift(k);
  trail.forEach((k, n) => {
    if (n) crumbs.append(' / ');
    const a = document.createElement('a');
    a.textContent = P[k].name;
    a.onclick = () => show(k);
    crumbs.append(a);
  });
  for (const a of document.querySelectorAll('nav a'))
    a.classList.toggle('on', a.dataset.open === id);
}
document.body.addEventListener('click', e => {
  const t = e.target.closest('[data-open]');
  if (t && !(drag && drag.moved)) show(t.dataset.open);
});
view.addEventListener('wheel', e => {
  e.preventDefault();
  const r = view.getBoundingClientRect(), f = e.deltaY > 0 ? 1.15 : 1 / 1.15;
  const fx = (e.clientX - r.left) / r.width, fy = (e.clientY - r.top) / r.height;
  box = [box[0] + box[2] * (1 - f) * fx, box[1] + box[3] * (1 - f) * fy, box[2] * f, box[3] * f];
  move();
}, {passive: false});
view.addEventListener('pointerdown', e => {
  drag = {x: e.clientX, y: e.clientY, box: [...box], moved: false, on: true};
});
addEventListener('pointermove', e => {
  if (!drag || !drag.on) return;
  const r = view.getBoundingClientRect(), s = Math.max(box[2] / r.width, box[3] / r.height);
  const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
  if (Math.abs(dx) + Math.abs(dy) > 4) drag.moved = true;
  box[0] = drag.box[0] - dx * s;
  box[1] = drag.box[1] - dy * s;
  move();
});
addEventListener('pointerup', () => { if (drag) drag.on = false; });
show(location.hash.slice(1) in P ? location.hash.slice(1) : 'p0');
"""


class _Page:
    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.functions = frozenset(f.name for f in loaded.graph.functions)
        self.panels: dict[str, dict[str, str]] = {}
        self.trees: list[Tree] = []
        self.ids: dict[Group, str] = {}
        self.left_out = 0
        self.function_roots: dict[str, Group] = {}
        self._plan(Tree(loaded.graph, loaded.path.name))
        for function in loaded.graph.functions:
            try:
                body = function.body(loaded.graph.functions)
            except DrystoneError:  # a body that needs attributes of its caller
                continue
            tree = Tree(body.graph, function.name)
            self.function_roots[function.name] = tree.root
            self._plan(tree)

    def _plan(self, tree: Tree) -> None:
        """Give the root, and each group of more than a few members, a panel, from the top down."""
        self.trees.append(tree)
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
        """Make every panel."""
        for tree in self.trees:
            for group in tree.root.groups():
                if group not in self.ids:
                    continue
                picture = place(group, tree.edges_of(group), choose_open(group, MAX_BOXES))
                above = group.parent
                while above is not None and above not in self.ids:
                    above = above.parent
                self.panels[self.ids[group]] = {
                    "name": group.name,
                    "up": self.ids[above] if above else "",
                    "svg": render(picture, functions=self.functions, link=self.link, style=""),
                }

    def link(self, item: Leaf | Group) -> str:
        """The panel of a group, or of the first function that a node calls."""
        if isinstance(item, Group):
            return self.ids.get(item, "")
        called = (self.function_roots.get(ref.name) for ref in function_refs(item.node))
        return next((self.ids[root] for root in called if root in self.ids), "")

    def in_outline(self, group: Group) -> bool:
        """Whether the list beside the picture has the group: it or one below has a picture."""
        return group in self.ids or any(
            self.in_outline(c) for c in group.children if isinstance(c, Group)
        )

    def outline(self, group: Group) -> str:
        """The group as a collapsible list entry."""
        inner = [c for c in group.children if isinstance(c, Group) and self.in_outline(c)]
        count = group.node_count
        label = f"{escape(group.name)} <small>{count}</small>"
        target = self.ids.get(group)
        title = f'<a data-open="{target}">{label}</a>' if target else label
        if not inner:
            return f'<span class="leaf">{title}</span>'
        is_open = " open" if group.parent is None else ""
        below = "".join(self.outline(c) for c in inner)
        return f"<details{is_open}><summary>{title}</summary>{below}</details>"


def page(loaded: LoadedModel) -> tuple[str, str]:
    """The page, and what it shows in a few words."""
    made = _Page(loaded)
    made.draw()
    model, *functions = made.trees
    summary = (
        f"{len(loaded.graph)} nodes and {len(functions)} functions in {len(made.panels)} pictures"
    )
    if made.left_out:
        summary += f", {made.left_out} smaller scopes and functions without one"
    listed = "".join(made.outline(t.root) for t in functions if t.root in made.ids)
    data = json.dumps(made.panels).replace("</", "<\\/")
    text = (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        f"<title>{escape(loaded.path.name)}</title><style>{_STYLE}{STYLE}</style>"
        f"<nav><h1>{escape(loaded.path.name)}</h1>{escape(summary)}<h2>graph</h2>"
        + made.outline(model.root)
        + (f"<h2>functions</h2>{listed}" if listed else "")
        + "</nav><main><header><small>click opens a scope or a called function; drag and wheel move"
        " the picture</small><span id='crumbs'></span></header><div id='view'></div></main>"
        f"<script>const P={data};{_SCRIPT}</script></html>"
    )
    return text, summary
