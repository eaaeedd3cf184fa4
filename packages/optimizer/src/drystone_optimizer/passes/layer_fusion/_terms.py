"""What a region computes element by element, multiplied out: a sum of products.

Two ways to write the same formula have the same terms, so that a rule states a formula once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from drystone_base.graph import Node, Output
from drystone_optimizer.core.context import Context

__all__ = ["ARITHMETIC", "Expansion", "Terms", "below", "equal_terms"]

Terms = dict[tuple[int, ...], float]
"""Factors of a product, by number and in order, and what it is multiplied with."""

ARITHMETIC: Final = frozenset(
    ("Add", "AddV2", "Sub", "Mul", "Neg", "Square", "RealDiv", "Div", "Pow", "Identity")
)
_MOST_TERMS: Final = 8
_MOST_FACTORS: Final = 6
_MOST_NODES: Final = 24
_EQUAL: Final = 1e-6
_POWERS: Final = (2.0, 3.0)


class Expansion:
    """Terms of outputs, in the given atoms, in numbers, and in the leaves that ``is_leaf`` allows.

    ``atoms`` have numbers from 0 on; ``divisors``: outputs that stand for one over an atom.
    ``nodes`` gathers what was multiplied out, ``leaves`` the leaves, whose numbers follow.
    """

    def __init__(
        self,
        ctx: Context,
        atoms: Mapping[Output, int],
        divisors: Mapping[Output, int] | None = None,
        is_leaf: Callable[[Output], bool] = lambda _: False,
    ) -> None:
        self._ctx, self._is_leaf = ctx, is_leaf
        self._numbers, self._divisors = dict(atoms), divisors or {}
        self._first_leaf = max(atoms.values()) + 1
        self._steps = 0
        self.nodes: dict[Node, None] = {}
        self.leaves: list[Output] = []

    def is_leaf(self, number: int) -> bool:
        """Whether a factor is one of ``leaves``."""
        return number >= self._first_leaf

    def leaf(self, number: int) -> Output:
        """The leaf of that number."""
        return self.leaves[number - self._first_leaf]

    def of(self, output: Output) -> Terms | None:
        """The terms; None where there are other ops, or too many."""
        self._steps += 1
        if self._steps > _MOST_NODES:
            return None
        number = self._numbers.get(output)
        if number is not None:
            return {(number,): 1.0}
        node, slot = output
        value = self._number(output)
        if value is not None:
            return {(): value}
        if self._is_leaf(output):
            self._numbers[output] = self._first_leaf + len(self.leaves)
            self.leaves.append(output)
            return {(self._numbers[output],): 1.0}
        if slot or node.op not in ARITHMETIC:
            return None
        self.nodes[node] = None
        return self._combined(node)

    def _number(self, output: Output) -> float | None:
        value = self._ctx.constant(output)
        if value is None or value.size != 1 or value.dtype.kind not in "fV":
            return None  # bfloat16 counts as V
        return float(value.reshape(()))

    def _combined(self, node: Node) -> Terms | None:
        left = self.of(node.inputs[0])
        if left is None or node.op == "Identity":
            return left
        match node.op:
            case "Neg":
                return {factors: -by for factors, by in left.items()}
            case "Square":
                return _product(left, left)
            case "RealDiv" | "Div":
                return self._quotient(left, node.inputs[1])
            case "Pow":
                return _power(left, self._number(node.inputs[1]))
        right = self.of(node.inputs[1])
        if right is None:
            return None
        if node.op == "Mul":
            return _product(left, right)
        return _sum(left, right, -1.0 if node.op == "Sub" else 1.0)

    def _quotient(self, left: Terms, divisor: Output) -> Terms | None:
        atom = self._divisors.get(divisor)
        if atom is not None:
            return _product(left, {(atom,): 1.0})
        value = self._number(divisor)
        return {factors: by / value for factors, by in left.items()} if value else None


def _power(terms: Terms, exponent: float | None) -> Terms | None:
    if exponent not in _POWERS:
        return None
    squared = _product(terms, terms)
    return squared if squared is None or exponent == 2.0 else _product(squared, terms)


def _product(left: Terms, right: Terms) -> Terms | None:
    out: Terms = {}
    for some, by in left.items():
        for more, also_by in right.items():
            factors = tuple(sorted(some + more))
            if len(factors) > _MOST_FACTORS:
                return None
            out[factors] = out.get(factors, 0.0) + by * also_by
    return out if len(out) <= _MOST_TERMS else None


def _sum(left: Terms, right: Terms, by: float) -> Terms | None:
    out = dict(left)
    for factors, value in right.items():
        out[factors] = out.get(factors, 0.0) + by * value
    return out if len(out) <= _MOST_TERMS else None


def equal_terms(found: Terms | None, wanted: Terms) -> bool:
    """Whether these are the terms, but for the rounding of constants."""
    if found is None or found.keys() != wanted.keys():
        return False
    return all(abs(found[key] - by) <= _EQUAL * abs(by) for key, by in wanted.items())


def below(ctx: Context, node: Node, levels: int, most: int = 8) -> list[Node]:
    """Arithmetic that reads the node, near ones first: where a region that it is in may end."""
    found: dict[Node, None] = {}
    level = [node]
    for _ in range(levels):
        users = dict.fromkeys(user for one in level for user in ctx.graph.users(one))
        level = [u for u in users if u.op in ARITHMETIC and u not in found][:most]
        found.update(dict.fromkeys(level))
    return list(found)
