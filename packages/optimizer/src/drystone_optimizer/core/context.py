"""What a pass works with: the graph, what must stay, what is known, and the ways to rewrite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from drystone_base.core.errors import GraphError
from drystone_base.core.time_limits import look
from drystone_base.graph import Bodies, Graph, Node, Output
from drystone_base.graph.validate import Signatures, validate
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.editing import Editing
from drystone_optimizer.core.fuel import Fuel
from drystone_optimizer.core.node_budget import NodeBudget
from drystone_optimizer.core.rules import Numeric

__all__ = ["Context", "InvalidRewrite"]

_TICKS: Final = 32


class InvalidRewrite(Exception):
    """A rewrite left a node that its op does not allow; ``rule`` is the one, if it is known."""

    def __init__(self, rule: str, error: GraphError) -> None:
        super().__init__(f"{rule or 'a rewrite'}: {error}")
        self.rule, self.error = rule, error


class Context(Editing):
    """One graph under optimization, and the account of what is done to it. All passes share it.

    What is known of the graph is in :class:`~drystone_optimizer.core.facts.Facts`, the ways to
    rewrite it in :class:`~drystone_optimizer.core.editing.Editing`. ``ceiling``: the highest
    numeric class allowed. ``aggressive``: set while a pass runs that the user set to AGGRESSIVE.
    ``unfoldable``: nodes that cannot be computed now. ``is_strict``: each rewrite is held against
    op definitions; ``left_out``: rules that are not applied. ``fuel``: how many rewrites may be
    done, where that is limited. ``node_budget``: how many nodes may be added for calls, shared by
    the graph and the bodies of its functions. ``reached``: the graph was given without what the
    roots do not need.
    """

    def __init__(
        self,
        graph: Graph,
        preserve: frozenset[str],
        roots: frozenset[str],
        fed: Mapping[Output, Any],
        *,
        ceiling: Numeric = Numeric.REASSOCIATES,
        where: str = "",
        config: OptimizerConfig | None = None,
        fuel: Fuel | None = None,
        node_budget: NodeBudget | None = None,
        signatures: Signatures | None = None,
        bodies: Bodies | None = None,
        arguments: Callable[[], Mapping[str, tuple[int, ...]]] | None = None,
    ) -> None:
        super().__init__(
            graph, preserve, roots, fed, where=where, config=config, signatures=signatures,
            bodies=bodies, arguments=arguments,
        )  # fmt: skip
        self.ceiling, self.aggressive = ceiling, False
        self.unfoldable: set[Node] = set()
        self.counts: Counter[str] = Counter()
        self.declined: Counter[str] = Counter()
        self.fuel, self.reached = fuel, False
        self.node_budget = node_budget or NodeBudget.around(graph)
        self.rewrites = 0
        self.numeric = Numeric.EXACT
        self.looked_at: dict[object, tuple[int, int]] = {}
        self.is_strict = False
        self.left_out: AbstractSet[str] = frozenset()
        self._ticks = 0

    def begin_pass(self, aggressive: bool) -> None:
        """Forget what belongs to one pass, and infer again what the one before it edited."""
        self.aggressive = aggressive
        self.counts.clear()
        self.declined.clear()
        self.numeric = Numeric.EXACT
        self.refresh()

    def count(self, name: str, numeric: Numeric = Numeric.EXACT, times: int = 1) -> None:
        """Record that a rewrite was done, whole; raises ``FuelSpent`` when no more may follow."""
        self.counts[name] += times
        self.rewrites += times
        self.numeric = max(self.numeric, numeric)
        if self.fuel is not None:
            self.fuel.spend(name)

    def decline(self, reason: str) -> None:
        """Record why the pass leaves the graph, or one place in it, alone."""
        self.declined[reason] += 1

    def tick(self) -> None:
        """Called for each node that a pass looks at; raises ``OutOfTime`` when time is over."""
        self._ticks += 1
        if self._ticks % _TICKS == 0:
            look()

    def hold(self, since: int = 0, rule: str = "") -> None:
        """Hold the nodes that were edited since then against their op definitions.

        Not those of the journal that only lost a user. Raises ``InvalidRewrite`` where one is not
        what its op allows.
        """
        graph, signatures = self.graph, self.signatures
        journal = dict.fromkeys(self.journal[since:])
        edited = [n for n in journal if n.changed and graph.get(n.name) is n]
        for node in edited:
            signatures.forget(node)
        try:
            validate(graph, edited, signatures)
        except GraphError as error:
            raise InvalidRewrite(rule, error) from error
