"""What a page tells of nodes: op, device, attributes, inputs, outputs, and where they are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from drystone_base.cli._analysis import function_refs
from drystone_base.cli._draw_tree import Tree
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.core.printable import described, plain
from drystone_base.core.shown import shape_text
from drystone_base.graph import Node
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import FunctionRef, TensorAttr

__all__ = ["Facts"]

_MOST: Final = 160  # characters of an attribute
_SHAPES: Final = "_output_shapes"  # told with the outputs
_FEW: Final = 8  # numbers of a constant that are shown


class Facts:
    """Rows of nodes, in the order that ``draw_page.js`` states, for the trees that are added.

    ``panel`` says in which panel a node is drawn, ``opens`` which one shows a function's body.
    """

    def __init__(self, panel: Callable[[Node, Tree], str], opens: Callable[[str], str]) -> None:
        self.rows: list[list[Any]] = []
        self.trees: list[str] = []
        self.numbers: dict[Node, int] = {}
        self._panel = panel
        self._opens = opens
        self._count = 0

    def number(self, tree: Tree) -> None:
        """Give each node of a tree a number."""
        self.trees.append(plain(tree.root.name))
        for node in tree.graph:
            self.numbers[node] = self._count
            self._count += 1

    def add(self, tree: Tree) -> None:
        """Add the rows of a tree's nodes; trees come in the order in which they were numbered."""
        place = self.trees.index(plain(tree.root.name))
        for node in tree.graph:
            self.rows.append(self._row(node, tree, place))

    def _row(self, node: Node, tree: Tree, place: int) -> list[Any]:
        inputs = [[self.numbers[source], k] for source, k in node.inputs]
        inputs += [[self.numbers[source], -1] for source in node.controls]
        panel, device = self._panel(node, tree), plain(node.device)
        return [
            plain(node.name), plain(node.op), place, panel, device, inputs, _attrs(node),
            _outputs(node, tree), self._called(node),
        ]  # fmt: skip

    def _called(self, node: Node) -> list[str]:
        try:
            names = dict.fromkeys(ref.name for ref in function_refs(node))
        except DrystoneError:
            return []
        return [panel for panel in map(self._opens, names) if panel]


def _outputs(node: Node, tree: Tree) -> list[str]:
    """Dtype and shape of each output."""
    dtypes = output_dtypes(node) or []
    shapes = tree.shapes
    return [
        f"{dtype}" + ("" if shapes is None else f" {shape_text(shapes.shape((node, k)))}")
        for k, dtype in enumerate(dtypes)
    ]


def _attrs(node: Node) -> list[list[str]]:
    try:
        return [[plain(n), _text(v)] for n, v in sorted(node.attrs.items()) if n != _SHAPES]
    except DrystoneError as error:
        return [["", f"its attributes cannot be read: {error.what}"]]


def _text(value: Any) -> str:
    if isinstance(value, DType):
        return value.label
    if isinstance(value, FunctionRef):
        return plain(value.name)
    if isinstance(value, TensorAttr):
        array = value.array
        few = array.size <= _FEW and array.nbytes < _MOST
        return f"{array.dtype} {list(array.shape)}" + (f" {array.tolist()}" if few else "")
    if isinstance(value, list) and all(isinstance(v, DType | FunctionRef) for v in value):
        return ", ".join(map(_text, value[:_FEW])) + (", ..." if len(value) > _FEW else "")
    if isinstance(value, tuple):
        return shape_text(value)
    return described(value, _MOST)
