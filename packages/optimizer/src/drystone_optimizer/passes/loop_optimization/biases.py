"""A bias that is added to each element of a list is added before the loop.

What a recurrent layer adds to in each iteration is its input's product, which is made before the
loop, plus the state's: the bias goes to the first at once. Only where the body does nothing else
with the list, and where shapes show that the addition cannot fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drystone_base.graph import Body, Function, Graph, Node, Output
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.rules import Numeric, Rule
from drystone_optimizer.passes.loop_optimization._lists import (
    FLOATS,
    add_body,
    is_free,
    lists,
    only_reader,
    outside,
    use_list,
)

__all__ = ["RULE"]

_SUMS: Final = frozenset(("Add", "AddV2"))


@dataclass(frozen=True)
class _Found:
    """A loop, its body's addition of a bias, and the bias before the loop."""

    function: Function
    at: int
    """Which of the loop's inputs the list is."""
    biased: Node
    bias: Output


def _match(ctx: Context, node: Node) -> _Found | None:
    for function, body, at in lists(ctx, node):
        biased = _biased(body, at)
        bias = outside(node, body, biased.inputs[1]) if biased is not None else None
        rows = node.inputs[at][0].inputs[0]
        if biased is not None and bias is not None and _fits(ctx, rows, bias):
            return _Found(function, at, biased, bias)
    return None


def _biased(body: Body, at: int) -> Node | None:
    """The addition of a bias to the list's elements, or to their sums with something else."""
    read = only_reader(body, at)
    for _ in range(2):
        users = body.graph.consumers(read) if read is not None and is_free(body, read) else []
        if len(users) != 1:
            return None
        user, slot = users[0]
        if user.op == "BiasAdd":
            plain = slot == 0 and str(user.attr("data_format", "NHWC")) == "NHWC"
            return user if plain and is_free(body, user) else None
        read = user if user.op in _SUMS else None
    return None


def _fits(ctx: Context, rows: Output, bias: Output) -> bool:
    given, added, dtype = ctx.shape(rows), ctx.shape(bias), ctx.dtype(rows)
    if given is None or added is None or dtype is None or ctx.dtype(bias) is not dtype:
        return False
    # Of more than one column: else what is added to them could have more.
    fits = len(given) > 2 and len(added) == 1 and given[-1] == added[0] > 1
    return fits and dtype.label in FLOATS


def _apply(ctx: Context, node: Node, found: _Found) -> None:
    given = node.inputs[found.at][0]
    attrs = {"T": ctx.dtype(given.inputs[0]), "data_format": "NHWC"}
    biased = ctx.add("BiasAdd", node, "biased", [given.inputs[0], found.bias], attrs)
    body = _new_body(ctx.graph, found)
    use_list(ctx, node, found.at, [(biased, 0), given.inputs[1]], given.attrs, body)


def _new_body(graph: Graph, found: _Found) -> str:
    """A function like the body, in which the elements have the bias already."""
    body = found.function.body(graph.functions)  # one that may be edited
    biased = body.graph[found.biased.name]
    body.graph.redirect((biased, 0), biased.inputs[0])
    body.graph.remove(biased)
    return add_body(graph, found.function, body, "biased")


RULE: Final = Rule("hoist-bias", ("While", "StatelessWhile"), _match, _apply, Numeric.REASSOCIATES)
