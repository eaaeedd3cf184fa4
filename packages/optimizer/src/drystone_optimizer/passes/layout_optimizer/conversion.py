"""Computing a node in the other format: transposes around it, or none where they cancel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.passes.layout_optimizer.direction import Direction

__all__ = ["Conversion", "Plan"]


@dataclass(frozen=True)
class Plan:
    """What changes of one node when its images, of that rank, are in the other format.

    ``data`` and ``outputs`` are images; ``vectors`` hold one entry for each dimension, ``sizes``
    are outputs that do; ``axes`` hold numbers of dimensions; ``thin`` have fewer dimensions, which
    are filled up in front.
    """

    rank: int
    data: Sequence[int] = (0,)
    outputs: Sequence[int] = (0,)
    vectors: Sequence[int] = ()
    axes: Sequence[int] = ()
    sizes: Sequence[int] = ()
    thin: Sequence[int] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def keeps_outputs(self) -> bool:
        """Whether the node gives the same as before: it may be fetched."""
        return not self.outputs and not self.sizes


class Conversion:
    """Converts nodes of one graph in one direction; transposes are made once for each value."""

    def __init__(self, ctx: Context, direction: Direction) -> None:
        self.ctx, self.graph, self.direction = ctx, ctx.graph, direction
        self._there: dict[Output, Node] = {}
        self._orders: dict[tuple[tuple[int, ...], str], Output] = {}

    # ---- looking -------------------------------------------------------------------------------

    def comes_back(self, output: Output) -> int:
        """The rank of an image that a transpose brings back to the old format; 0 for others."""
        node, k = output
        if node.op != "Transpose" or k or node in self.ctx.fed_nodes or node.controls:
            return 0
        order = self.ctx.ints(node.inputs[1])
        rank = len(order or ())
        return rank if rank in self.direction.orders and self._order(rank)[1] == order else 0

    def sizes_come_back(self, output: Output) -> int:
        """The rank, where an output is a vector of an image's sizes, brought to the old order."""
        node, _ = output
        if node.op != "DataFormatVecPermute" or node in self.ctx.fed_nodes or node.controls:
            return 0
        formats = (str(node.attr("src_format", "NHWC")), str(node.attr("dst_format", "NCHW")))
        rank = len(formats[0])
        back = rank in self.direction.orders and self.direction.formats(rank)[::-1] == formats
        return rank if back else 0

    def _order(self, rank: int) -> tuple[list[int], list[int]]:
        return self.direction.orders[rank]

    # ---- rewriting -----------------------------------------------------------------------------

    def apply(self, node: Node, plan: Plan) -> None:
        """Compute the node in the other format."""
        inputs, old = list(node.inputs), list(node.inputs)
        for k in plan.data:
            inputs[k] = self._image(node, old[k], plan.rank)
        for k in plan.thin:
            inputs[k] = self._image(node, self._filled(node, old[k], plan.rank), plan.rank)
        for k in plan.vectors:
            inputs[k] = self._vector(node, old[k], plan.rank)
        for k in plan.axes:
            inputs[k] = self._axes(node, old[k], plan.rank)
        self.graph.set_inputs(node, inputs)
        for name, value in plan.attrs.items():
            self.graph.set_attr(node, name, value)
        self.graph.remove_attr(node, "_output_shapes")
        self.ctx.forget(node)
        for k in plan.outputs:
            self._bring_back(node, k, plan.rank)
        for k in plan.sizes:
            self._bring_sizes_back(node, k, plan.rank)
        for output in old:
            if output not in inputs and self.graph.get(output[0].name) is output[0]:
                self.ctx.drop_unused(output[0])

    def _image(self, node: Node, output: Output, rank: int) -> Output:
        """The image in the new format."""
        if self.comes_back(output) == rank:
            return output[0].inputs[0]
        made = self._there.get(output)
        if made is None or self.graph.get(made.name) is not made:
            made = self._transpose(node, output, self._order(rank)[0], "to_layout")
            self._there[output] = made
        return (made, 0)

    def _transpose(self, near: Node, output: Output, order: list[int], stem: str) -> Node:
        waits = self.ctx.waits([output])
        key = (tuple(order), near.device)
        perm = None if waits else self._orders.get(key)
        if perm is None or self.graph.get(perm[0].name) is not perm[0]:
            perm = self.ctx.add_constant(near, "layout", np.array(order, np.int32), waits)
            if not waits:
                self._orders[key] = perm
        attrs = {"T": self.ctx.dtype(output), "Tperm": self.ctx.dtype(perm)}
        return self.ctx.add("Transpose", near, stem, [output, perm], attrs)

    def _filled(self, node: Node, output: Output, rank: int) -> Output:
        """What has fewer dimensions as an image of that rank, with ones before them."""
        known = self.ctx.shape(output) or (-1,)
        sizes = [1] * (rank - len(known)) + [max(size, -1) for size in known]
        shape = np.array(sizes, np.int32)
        target = self.ctx.add_constant(node, "shape", shape, self.ctx.waits([output]))
        attrs = {"T": self.ctx.dtype(output), "Tshape": self.ctx.dtype(target)}
        return (self.ctx.add("Reshape", node, "filled", [output, target], attrs), 0)

    def _vector(self, node: Node, output: Output, rank: int) -> Output:
        """A vector or matrix of one row for each dimension, in the new order."""
        if self.sizes_come_back(output) == rank:
            return output[0].inputs[0]
        source, target = self.direction.formats(rank)
        value = self.ctx.constant(output)
        if value is None:
            attrs = {"T": self.ctx.dtype(output), "src_format": source, "dst_format": target}
            return (self.ctx.add("DataFormatVecPermute", node, "to_layout", [output], attrs), 0)
        if len(value) != rank:
            return output  # of the space dimensions alone: these keep their order
        turned = value[[source.index(letter) for letter in target]]
        return self.ctx.add_constant(node, "layout", turned, self.ctx.waits([output]))

    def _axes(self, node: Node, output: Output, rank: int) -> Output:
        """Numbers of dimensions, in the new order."""
        source, target = self.direction.formats(rank)
        value = self.ctx.constant(output)
        if value is None:
            attrs = {"T": self.ctx.dtype(output), "src_format": source, "dst_format": target}
            return (self.ctx.add("DataFormatDimMap", node, "to_layout", [output], attrs), 0)
        places = np.array([target.index(letter) for letter in source], value.dtype)
        return self.ctx.add_constant(
            node, "layout", np.asarray(places[value]), self.ctx.waits([output])
        )

    def _bring_back(self, node: Node, k: int, rank: int) -> None:
        """Let what reads an output read it in the old format.

        A transpose to the new format is passed by: its readers have what they read as it is.
        """
        there, back = self._order(rank)
        users = self.ctx.users((node, k))
        for user, at in users:
            if self._goes_there(user, at, there):
                self.graph.redirect((user, 0), (node, k))
                self.ctx.drop(user)
        users = [(user, at) for user, at in users if self.graph.get(user.name) is user]
        if users:
            stem = f"from_layout_{k}" if k else "from_layout"
            made = self._transpose(node, (node, k), back, stem)
            self._redirect(users, (made, 0))

    def _goes_there(self, user: Node, at: int, there: list[int]) -> bool:
        """Whether a node does nothing but bring its first input to the new format."""
        if at or user.op != "Transpose" or not self._may_cancel(user):
            return False
        return self.ctx.ints(user.inputs[1]) == there

    def _may_cancel(self, user: Node) -> bool:
        if user.controls or self.ctx.kept(user) or user in self.ctx.fed_nodes:
            return False
        return not self.graph.control_consumers(user)

    def _bring_sizes_back(self, node: Node, k: int, rank: int) -> None:
        users = self.ctx.users((node, k))
        if not users:
            return
        source, target = self.direction.formats(rank)
        attrs = {"T": self.ctx.dtype((node, k)), "src_format": target, "dst_format": source}
        made = self.ctx.add("DataFormatVecPermute", node, "from_layout", [(node, k)], attrs)
        self._redirect(users, (made, 0))

    def _redirect(self, users: Sequence[tuple[Node, int]], output: Output) -> None:
        for user, at in users:
            self.graph.set_input(user, at, output)
