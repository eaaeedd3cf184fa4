"""What a pass works with: the graph, what must stay, what is known, and the ways to rewrite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError, GraphError
from drystone_base.core.time_limits import look
from drystone_base.graph import Bodies, Graph, Node, Output, held_tensor, topological_order
from drystone_base.graph.rewiring import replace
from drystone_base.graph.validate import Signatures, validate
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.properties import SWITCHES
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.devices import DEFAULT_TYPE, device_type, types_there
from drystone_optimizer.core.fuel import Fuel
from drystone_optimizer.core.node_budget import NodeBudget
from drystone_optimizer.core.purity import Effects, gives_reference, may_be_dead
from drystone_optimizer.core.rules import Numeric

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["Context", "InvalidRewrite", "same_shape"]

_TICKS: Final = 32
# How many edges below an edit rules look again; no rule looks further up than that.
_REACH: Final = 4


class InvalidRewrite(Exception):
    """A rewrite left a node that its op does not allow; ``rule`` is the one, if it is known."""

    def __init__(self, rule: str, error: GraphError) -> None:
        super().__init__(f"{rule or 'a rewrite'}: {error}")
        self.rule, self.error = rule, error


class Context:
    """One graph under optimization. All passes of one call share it.

    ``preserve``: names of nodes that must stay, under their name; ``roots``: of those that must be
    computed. ``fed``: outputs whose values come from outside. ``ceiling``: the highest numeric
    class allowed. ``aggressive``: set while a pass runs that the user set to AGGRESSIVE. ``where``:
    "" or the function whose body this is. ``config``: what the user chose.
    ``unfoldable``: nodes that cannot be computed now. ``signatures``, ``bodies``: what is worked
    out once for the graph and the bodies of its functions.
    ``arguments``: gives shapes of a body's arguments by name, as its one caller has them.
    ``is_strict``: each rewrite is held against op definitions; ``left_out``: rules that are not
    applied. ``fuel``: how many rewrites may be done, where that is limited. ``node_budget``: how
    many nodes may be added for calls, shared by the graph and the bodies of its functions.
    ``reached``: the graph was given without what the roots do not need.
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
        self.config = config or OptimizerConfig()
        self.graph, self.preserve, self.roots, self.where = graph, preserve, roots, where
        self.fed = dict(fed)
        self.fed_nodes = {node for node, _ in self.fed}
        self.ceiling, self.aggressive = ceiling, False
        self.signatures, self.bodies = signatures or Signatures(), bodies or Bodies()
        self._shapes: Shapes | None = None
        self._arguments = arguments
        self.effects = Effects(graph.functions)
        self.journal: list[Node] = []
        graph.journal = self.journal
        self.unfoldable: set[Node] = set()
        self.counts: Counter[str] = Counter()
        self.declined: Counter[str] = Counter()
        self.fuel, self.reached = fuel, False
        self.node_budget = node_budget or NodeBudget.around(graph)
        self.rewrites = 0
        self.numeric = Numeric.EXACT
        self._devices: frozenset[str] | None = None
        self._ticks, self._refreshed = 0, 0
        self._noticed: set[Node] | None = None
        self._order: tuple[int, list[Node]] | None = None
        self.learned: list[Node] = []
        self.looked_at: dict[object, tuple[int, int]] = {}
        self.is_strict = False
        self.left_out: AbstractSet[str] = frozenset()

    # ---- bookkeeping ---------------------------------------------------------------------------

    def begin_pass(self, aggressive: bool) -> None:
        """Forget what belongs to one pass, and infer again what the one before it edited."""
        self.aggressive = aggressive
        self.counts.clear()
        self.declined.clear()
        self.numeric = Numeric.EXACT
        self.refresh()

    def refresh(self) -> None:
        """Infer again what was edited since the last time, and what reads it."""
        edited, self._refreshed = self.journal[self._refreshed :], len(self.journal)
        if edited:
            self._noticed = None
            if self._shapes is not None:
                self.learned += self._shapes.refresh(edited)

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

    def order(self) -> list[Node]:
        """The nodes in topological order, for looking only; the same list until an edit."""
        edits = len(self.journal)
        if self._order is None or self._order[0] != edits:
            self._order = (edits, topological_order(self.graph))
        return self._order[1]

    def now(self) -> tuple[int, int]:
        """How many edits there were, and how often more became known of some node."""
        return len(self.journal), len(self.learned)

    def near_edits(self, since: tuple[int, int]) -> list[Node]:
        """The nodes edited since, or of which more is known, and those some edges below."""
        edits, learned = since
        found = dict.fromkeys(self.journal[edits:])
        found.update(dict.fromkeys(self.learned[learned:]))
        users, level = self.graph.users, list(found)
        for _ in range(_REACH):
            below: list[Node] = []
            for node in level:
                for user in users(node):
                    if user not in found:
                        found[user] = None
                        below.append(user)
            level = below
        return list(found)

    @property
    def shapes(self) -> Shapes:
        """Shapes and small constants, inferred when asked for."""
        if self._shapes is None:
            from drystone_base.inference.inference import Shapes

            self._shapes = Shapes(self.graph, self.fed, self.signatures, self.bodies)
        return self._shapes

    def shapes_in_use(self) -> Shapes:
        """As :attr:`shapes`; those of a body with what its one caller gives it, until an edit."""
        given = self._arguments() if self._arguments is not None else {}
        if not given:
            return self.shapes
        from drystone_base.inference.inference import Shapes

        there = {(self.graph[name], 0): given[name] for name in given if name in self.graph}
        return Shapes(self.graph, {**self.fed, **there}, self.signatures, self.bodies)

    def forget(self, node: Node) -> None:
        """Drop what is known of a node that is removed, or computes something else now."""
        if self._shapes is None:
            self.signatures.forget(node)
        else:
            self._shapes.forget(node)  # the signature with it

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

    # ---- looking -------------------------------------------------------------------------------

    @property
    def devices(self) -> frozenset[str]:
        """The types of devices that are there: as the config states, else of this process."""
        if self._devices is None:
            self._devices = frozenset(self.config.devices) or types_there()
        return self._devices

    def device_type(self, node: Node) -> str:
        """The type of device that runs a node: what it asks for if that is there, else the CPU.

        Raises ``GraphError`` (``bad-device``).
        """
        asked = device_type(node.device, node.name) if node.device else None
        return asked if asked is not None and asked in self.devices else DEFAULT_TYPE

    def is_accelerated(self, node: Node) -> bool:
        """Whether something else than a CPU runs the node; raises as above."""
        return self.device_type(node) != DEFAULT_TYPE

    def kept(self, node: Node) -> bool:
        """Whether the node must stay, under its name, with its outputs."""
        return node.name in self.preserve

    def may_rewrite(self, node: Node) -> bool:
        """Whether a rule may replace the node: it is not fed, and reads no variable in place."""
        if node in self.fed_nodes:
            return False
        for source, _ in node.inputs:  # noqa: SIM110 - all() costs twice as much, for every node
            if gives_reference(source.op):
                return False
        return True

    def constant(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The value of a Const that is not fed."""
        node = output[0]
        if node.op != "Const" or output[1] or output in self.fed:
            return None
        try:
            value = held_tensor(node)
            return None if value is None else value.array
        except DrystoneError:
            return None

    def value(self, output: Output) -> np.ndarray[Any, Any] | None:
        """The value of an output that is constant, as far as inference knows."""
        found = self.constant(output)
        return self.shapes.value(output) if found is None else found

    def ints(self, output: Output) -> list[int] | None:
        """The value of an output as a flat list of ints, if it is a known integer."""
        found = self.value(output)
        if found is None or found.dtype.kind not in "iu":
            return None
        return [int(item) for item in found.reshape(-1)]

    def shape(self, output: Output) -> tuple[int, ...] | None:
        """Shape of an output; symbols (below -1) stand for unknown sizes."""
        return self.shapes.shape(output)

    def dtype(self, output: Output) -> DType | None:
        """Dtype of an output, without a reference mark; None when nobody knows."""
        try:
            signature = self.signatures.of(output[0])
        except DrystoneError:
            return None
        types = signature.outputs if signature else None
        return types[output[1]].base if types is not None and output[1] < len(types) else None

    def users(self, output: Output) -> list[tuple[Node, int]]:
        """Every (consumer, input index) that reads this output."""
        node = output[0]
        return [(u, k) for u, k in self.graph.consumers(node) if u.inputs[k] == output]

    def used(self, node: Node) -> set[int]:
        """The outputs of a node that somebody reads."""
        return {k for user in self.graph.users(node) for source, k in user.inputs if source is node}

    def only_user(self, node: Node) -> bool:
        """Whether just one edge, of data, leaves the node, which need not stay."""
        user = None if self.kept(node) else self.graph.only_user(node)
        if user is None or node in user.controls:
            return False
        return sum(source is node for source, _ in user.inputs) == 1

    def noticed(self, node: Node) -> bool:
        """Whether a run of ``node``, or of what it needs, shows otherwise than by values.

        So it is where something has an effect, where a branch or loop decides whether it runs, and
        where a variable is read that something writes.
        """
        if self._noticed is None:
            self._noticed = _noticed_nodes(self)
        return node in self._noticed

    def note(self, node: Node) -> None:
        """Keep :meth:`noticed` right for a node that was added."""
        found = self._noticed
        if found is not None and (_begins(node, self.effects.level(node)) or _after(node, found)):
            found.add(node)

    # ---- rewriting -----------------------------------------------------------------------------

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
        """Let whoever reads ``node``, of one output, read ``output``; ``lost`` as above.

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
        """:meth:`drop` a node if nothing reads it any more and nobody would notice."""
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


def _noticed_nodes(ctx: Context) -> set[Node]:
    graph, effects = ctx.graph, ctx.effects
    found: set[Node] = set()
    levels = {op: effects.of_op(op) for op in {node.op for node in graph}}
    writes = 2 in levels.values()
    if None in levels.values() and not writes:
        writes = any(levels[node.op] is None and effects.level(node) == 2 for node in graph)
    if not writes and not any(map(may_be_dead, levels)):
        return found
    for node in ctx.order():
        level = (levels[node.op] or effects.level(node)) if writes else 0
        if _begins(node, level) or _after(node, found):
            found.add(node)
    return found


def _begins(node: Node, level: int) -> bool:
    if level or may_be_dead(node.op):
        return True
    return any(gives_reference(source.op) for source, _ in node.inputs)


def _after(node: Node, found: set[Node]) -> bool:
    for source, _ in node.inputs:  # rather than any(): asked of every node, often
        if source in found:
            return True
    return not found.isdisjoint(node.controls)


def same_shape(a: tuple[int, ...] | None, b: tuple[int, ...] | None) -> bool:
    """Whether two inferred shapes are provably equal."""
    return a is not None and a == b and -1 not in a
