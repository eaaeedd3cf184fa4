"""Pattern tables: regions that look like one of a list of patterns, tried in the order of the list.

A pattern is a tree of ops, from its last op backwards. Source of the idea: TVM's pattern tables.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from drystone_base.core.arguments import checked, explaining
from drystone_base.graph import Node
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode

__all__ = ["PATTERN_ATTR", "Pattern", "chain", "pattern_properties"]

PATTERN_ATTR = "_subgraph_pattern"
"""The attribute of an operator that says which pattern its region matched."""


@explaining("__init__")
@dataclass(frozen=True)
class Pattern:
    """A node of one of these ops (with ``|`` between), whose inputs match ``inputs`` in order.

    An input of None, and inputs beyond those given, may be anything, which stays outside. ``name``
    and ``check`` are looked at in the pattern of the last op alone: ``check`` is told the nodes
    that match, the last op first, and what they match goes on only where it gives True.
    """

    op: str
    inputs: Sequence[Pattern | None] = ()
    name: str = ""
    check: Callable[[Sequence[Node]], bool] | None = None
    ops: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ops", frozenset(self.op.split("|")))

    def match(self, node: Node, fetched: Container[Node] = ()) -> list[Node] | None:
        """The nodes of the pattern that ends with ``node``, or None.

        All but the last are read by nothing else, and not ``fetched``: their values do not come out
        of the region.
        """
        found: list[Node] = []
        if not self._match(node, found):
            return None
        inside = set(found)
        for inner in found[1:]:
            graph = inner.graph
            users = [user for user, _ in graph.consumers(inner)]
            if inner in fetched or any(
                u not in inside for u in (*users, *graph.control_consumers(inner))
            ):
                return None
        return found if self.check is None or self.check(found) else None

    def _match(self, node: Node, found: list[Node]) -> bool:
        if node.op not in self.ops or len(node.inputs) < len(self.inputs):
            return False
        if node not in found:
            found.append(node)
        return all(
            wanted is None or wanted._match(source, found)
            for wanted, (source, _) in zip(self.inputs, node.inputs, strict=False)
        )


@checked
def chain(
    name: str, op: str, *more: str, check: Callable[[Sequence[Node]], bool] | None = None
) -> Pattern:
    """The pattern of ops that each read the one before as their first input: the first one first.

    ``chain("dense", "MatMul", "BiasAdd", "Relu|Relu6")``.
    """
    found: tuple[Pattern, ...] = ()
    *first, last = (op, *more)
    for one in first:
        found = (Pattern(one, found),)
    return Pattern(last, found, name, check)


@checked
def pattern_properties(table: Iterable[Pattern]) -> list[SubgraphProperty]:
    """A property for each pattern of a table, the one of highest priority first.

    The operator's attribute ``_subgraph_pattern`` holds the pattern's name.
    """
    return [_PatternProperty(pattern) for pattern in table]


class _PatternProperty(SubgraphProperty):
    @checked
    def __init__(self, pattern: Pattern) -> None:
        self.pattern, self.name = pattern, pattern.name or pattern.op

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _PatternSelector(self.pattern)

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        return subgraph.node(**{PATTERN_ATTR: self.name})


class _PatternSelector(SubgraphSelector):
    """Begins at the last op of a match, takes the others, and lets go of all if one is missing."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.wanted: set[Node] = set()

    def reset(self) -> None:
        self.wanted = set()

    def select(self, node: Node) -> bool:
        self.wanted = set(self.pattern.match(node, self.fetched) or ())
        return bool(self.wanted)

    def select_input(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return new_node in self.wanted

    def select_output(self, node: Node, new_node: Node) -> bool:  # noqa: ARG002
        return new_node in self.wanted

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        return candidates if len(candidates) == len(self.wanted) else []

    def why_not(self, node: Node) -> str:
        return f"nothing that ends with {node.op} here is {self.pattern.name or self.pattern.op}"
