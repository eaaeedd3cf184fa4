"""Rewriting a graph: nodes are added, become others, are bypassed and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from drystone_base.graph import Node, Output
from drystone_base.graph.rewiring import replace
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.properties import SWITCHES
from drystone_optimizer.core.facts import Facts

__all__ = ["Editing"]


class Editing(Facts):
    """A graph, and the ways to rewrite it that keep what is known of it, and effects, right."""

    def add(
        self,
        op: str,
        near: Node,
        stem: str,
        inputs: Sequence[Output],
        attrs: Mapping[str, Any],
        controls: Sequence[Node] = (),
    ) -> Node:
        """A new node named after ``near``, on its device."""
        name = self.graph.unique_name(f"{near.name}/{stem}")
        node = self.graph.add(op, name, inputs, controls=controls, device=near.device, attrs=attrs)
        self.note(node)
        return node

    def add_constant(
        self,
        near: Node,
        stem: str,
        value: np.ndarray[Any, Any] | TensorAttr,
        controls: Sequence[Node] = (),
    ) -> Output:
        """A new Const, named after ``near``."""
        return (self.add("Const", near, stem, (), _const_attrs(value), controls), 0)

    def become(
        self,
        node: Node,
        op: str,
        inputs: Sequence[Output],
        attrs: Mapping[str, Any],
        controls: Sequence[Node] | None = None,
    ) -> None:
        """Make ``node`` compute something else in its place, with the outputs that it had.

        Attributes whose name begins with ``_`` stay, except stated shapes.
        """
        stays = {
            name: value
            for name, value in node.attrs.items()
            if name[0] == "_" and name != "_output_shapes"
        }
        replace(self.graph, node, op, inputs, {**stays, **attrs} if stays else attrs, controls)
        self.forget(node)

    def become_constant(self, node: Node, value: np.ndarray[Any, Any]) -> None:
        """Make ``node`` a Const; what it read is waited for where that can be noticed."""
        controls = [*node.controls, *self.waits(node.inputs)]
        self.become(node, "Const", (), _const_attrs(value), controls)

    def become_identity(self, node: Node, output: Output, lost: Iterable[Output] = ()) -> None:
        """Make ``node``, of one output, pass ``output`` on; ``lost`` are inputs no longer read."""
        controls = [*node.controls, *self.waits(o for o in lost if o[0] is not output[0])]
        self.become(node, "Identity", [output], {"T": self.dtype(output)}, controls)

    def bypass(self, node: Node, output: Output, lost: Iterable[Output] = ()) -> None:
        """Let what reads ``node``, of one output, read ``output``; ``lost`` as above.

        The node stays as an Identity where it must stay or control edges hang on it.
        """
        lost = list(lost)
        plain = not (node.controls or self.waits(o for o in lost if o[0] is not output[0]))
        if plain and not self.kept(node) and not self.graph.control_consumers(node):
            self.graph.redirect((node, 0), output)
            self.drop(node)
        else:
            self.become_identity(node, output, lost)

    def drop_unused(self, node: Node) -> None:
        """:meth:`drop` a node if nothing reads it any more and its absence changes nothing."""
        if not self.graph.has_users(node) and self._may_drop(node):
            self.drop(node)

    def _may_drop(self, node: Node) -> bool:
        return not (self.kept(node) or node in self.fed_nodes or self.noticed(node))

    def drop(self, node: Node) -> None:
        """Remove a node that nothing reads, and what only it read unless that would be noticed."""
        graph, stack = self.graph, [node]
        while stack:
            one = stack.pop()
            if graph.has_users(one) or graph.get(one.name) is not one:
                continue
            if one is not node and not self._may_drop(one):
                continue
            stack += [source for source, _ in one.inputs]
            stack += one.controls
            graph.remove(one)
            self.forget(one)

    def waits(self, outputs: Iterable[Output]) -> list[Node]:
        """Nodes to wait for in place of reading ``outputs``, where that makes a difference."""
        return [self.anchor(o) for o in dict.fromkeys(outputs) if self.noticed(o[0])]

    def anchor(self, output: Output) -> Node:
        """The node to wait for in order to wait for ``output``, dead ones included.

        A Switch runs in any case: there it is an Identity of the output.
        """
        node, k = output
        if node.op not in SWITCHES:
            return node
        found = self.waiting_at(output)
        if found is not None:
            return found
        return self.add("Identity", node, f"anchor_{k}", [output], {"T": self.dtype(output)})

    def waiting_at(self, output: Output) -> Node | None:
        """An Identity of an output of a Switch that others can wait for, if there is one."""
        for user, _ in self.users(output):
            if user.op == "Identity" and not user.controls and user not in self.fed_nodes:
                return user
        return None


def _const_attrs(value: np.ndarray[Any, Any] | TensorAttr) -> dict[str, Any]:
    held = value if isinstance(value, TensorAttr) else TensorAttr(array=value)
    return {"dtype": held.dtype, "value": held}
