"""A loop of frames becomes a While with a function for its condition and one for its body."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

from drystone_abi.protos import FunctionDef
from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Body, Graph, Node, Output
from drystone_base.graph.deadness import ALIVE, Deadness
from drystone_base.graph.extract import Extract, add_function, output_dtype
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find
from drystone_base.ops.properties import NEXT_ITERATIONS
from drystone_base.passes._rewriting import become_identity, forget_functions, remove_unused

__all__ = ["loops_to_whiles"]

Inner = Callable[[Graph, Collection[Node]], bool]
_Path: TypeAlias = "tuple[str, ...]"


class _Unfit(Exception):
    """The loop is not one that a While can be."""


def loops_to_whiles(graph: Graph, kept: Collection[Node], inner: Inner) -> bool:
    """Make a While of every loop of frames that can be one, the innermost first.

    Each round takes all loops in which there is none, of which what was found out about the graph
    goes on to hold; one around a loop that cannot be a While cannot be one either. ``kept``: nodes
    whose values are fetched or fed; a loop of which something inside is, is left alone. ``inner``
    gets each body before it becomes a function, with the nodes that it must keep.
    """
    changed, refused = False, set[_Path]()
    while any(node.op == "Enter" for node in graph):
        deadness = Deadness(graph)
        members: dict[_Path, list[Node]] = {}
        for node, path in deadness.frames.items():
            members.setdefault(path, []).append(node)
        outer = {p[:k] for p in members for k in range(len(p)) if p not in refused}
        paths = [p for p in members if p and p not in refused and p not in outer]
        stuck = {p[:k] for p in refused.intersection(members) for k in range(len(p))}
        made = [
            path
            for path in sorted(paths)
            if path not in stuck and _applied(graph, members[path], deadness, kept, inner)
        ]
        if not paths:
            return changed
        refused.update(set(paths).difference(made))
        changed = changed or bool(made)
    return changed


def _applied(
    graph: Graph, inside: list[Node], deadness: Deadness, kept: Collection[Node], inner: Inner
) -> bool:
    known = len(graph.functions)
    try:
        _Loop(graph, inside, deadness, kept).apply(inner)
    except _Unfit:
        forget_functions(graph, known)
        return False
    return True


class _Variable:
    """What goes round: from its Enter to its Merge and back, or the same in every round."""

    def __init__(self, enter: Node) -> None:
        self.enter = enter
        self.merge: Node | None = None
        self.back: Output | None = None
        self.after: tuple[Node, ...] = ()
        self.exits: list[Node] = []
        self.switches: list[Node] = []


class _Loop:
    def __init__(
        self, graph: Graph, inside: list[Node], deadness: Deadness, kept: Collection[Node]
    ) -> None:
        self.graph, self.path, self.deadness = graph, deadness.frames[inside[0]], deadness
        self.inside = inside
        self.members = set(self.inside)
        if any(n in kept or n.op.startswith("Ref") for n in self.inside):
            raise _Unfit("something inside is fed or fetched, or a reference")
        self.condition = self._only("LoopCond")
        self.variables = [_Variable(n) for n in self.inside if n.op == "Enter"]
        for variable in self.variables:
            self._follow(variable)
        self._check_entries()
        self._check_exits()

    def _only(self, op: str) -> Node:
        found = [n for n in self.inside if n.op == op]
        if len(found) != 1:
            raise _Unfit(f"it has {len(found)} nodes {op}")
        return found[0]

    def _follow(self, variable: _Variable) -> None:
        """Find Merge, Switch, Exit and NextIteration of what an Enter lets in."""
        users = self.graph.consumers(variable.enter)
        merges = [u for u, _ in users if u.op == "Merge"]
        if variable.enter.attr("is_constant") and not merges:
            return
        if len(users) != 1 or len(merges) != 1 or len(merges[0].inputs) != 2:
            raise _Unfit("an Enter that leads to no Merge")
        variable.merge = merge = merges[0]
        backs = [o[0] for o in merge.inputs if o[0].op in NEXT_ITERATIONS]
        if len(backs) != 1 or merge.controls:
            raise _Unfit("a Merge to which nothing comes back")
        variable.back, variable.after = backs[0].inputs[0], backs[0].controls
        for user, slot in self.graph.consumers(merge):
            if merge.inputs and user.inputs[slot][1] == 1:
                raise _Unfit("the index of a Merge is read")
            if user.op == "Switch" and user.inputs[1] == (self.condition, 0):
                variable.switches.append(user)
        for switch in variable.switches:
            for user, slot in self.graph.consumers(switch):
                if user.inputs[slot][1] == 1:
                    continue
                if user.op != "Exit" or user.controls:
                    raise _Unfit("a Switch at the end of the loop leads to something but an Exit")
                variable.exits.append(user)

    def _check_entries(self) -> None:
        when = {self.deadness.of(v.enter) for v in self.variables if v.merge}
        base = next(iter(when), ALIVE)
        if len(when) != 1 or not all(self.deadness.of(v.enter) <= base for v in self.variables):
            raise _Unfit("its values do not enter together")
        for node in self.inside:
            if node.op == "Enter":
                continue
            sources = [*(s for s, _ in node.inputs), *node.controls]
            if any(s not in self.members for s in sources):
                raise _Unfit("something gets in but by an Enter")
        self.switched = {s for v in self.variables for s in v.switches}
        known = {v.merge for v in self.variables}
        if any(n.op == "Merge" and _goes_round(n) and n not in known for n in self.inside):
            raise _Unfit("a Merge that nothing enters")

    def _check_exits(self) -> None:
        exits = {e for v in self.variables for e in v.exits}
        for node in self.inside:
            for user in self._outside_users(node):
                if user not in exits:
                    raise _Unfit("something gets out but by an Exit")

    def _outside_users(self, node: Node) -> list[Node]:
        users = [u for u, _ in self.graph.consumers(node)] + self.graph.control_consumers(node)
        return [u for u in users if u not in self.members]

    # ---- the two functions -----------------------------------------------------------------------

    def apply(self, inner: Inner) -> None:
        types = [output_dtype(v.enter.inputs[0]) for v in self.variables]
        if None in types:
            raise _Unfit("a dtype is not known")
        known = [t for t in types if t is not None]
        test = self._needed([self.condition.inputs[0][0]], through_switches=False)
        ends = [n for v in self.variables if v.back for n in (v.back[0], *v.after)]
        body = self._needed(ends, through_switches=True)
        self._check_bodies(test, body)
        back = [v.back or (v.enter, 0) for v in self.variables]
        made = [
            self._extract(test, known, [self.condition.inputs[0]], [dtypes.BOOL], inner),
            self._extract(body, known, back, known, inner),
        ]
        stem = self.graph.unique_name(self.path[-1])
        names = [
            add_function(self.graph, f"{stem}_{part}", *function)
            for part, function in zip(("cond", "body"), made, strict=True)
        ]
        stateful = any(f.signature.is_stateful for _, f in made)
        self._replace(stem, names, known, stateful)

    def _needed(self, results: Iterable[Node], *, through_switches: bool) -> set[Node]:
        """The nodes that ``results`` need in one round."""
        found: set[Node] = set()
        stack = list(results)
        ends = {n for v in self.variables for n in (v.enter, v.merge, *v.switches)}
        while stack:
            node = stack.pop()
            if node in ends or node in found or node.op == "LoopCond":
                if node in self.switched and not through_switches:
                    raise _Unfit("the condition hangs on the body")
                continue
            found.add(node)
            stack += [*(s for s, _ in node.inputs), *node.controls]
        return found

    def _check_bodies(self, test: set[Node], body: set[Node]) -> None:
        begun = self.deadness.of(self.condition)
        for node in body:
            free = self.deadness.of(node) <= begun
            if (free or node in test) and not _is_pure(node):
                raise _Unfit("something with an effect runs in a round that is not made")
        for variable in self.variables:
            if variable.back and self.deadness.of_output(variable.back) <= begun:
                raise _Unfit("a value comes round whatever the condition says")

    def _extract(
        self, nodes: set[Node], types: list[DType], results: list[Output], kinds: list[DType],
        inner: Inner,
    ) -> tuple[Body, FunctionDef]:  # fmt: skip
        arguments = [
            ((v.merge or v.enter, 0), t) for v, t in zip(self.variables, types, strict=True)
        ]
        same = {(s, 1): (v.merge, 0) for v in self.variables for s in v.switches if v.merge}
        ordered = [node for node in self.inside if node in nodes]
        made = Extract(self.graph, arguments, ordered, same)
        places = [made.place(output) for output in results]
        inner(made.graph, {node for node, _ in places})
        ended = Deadness(made.graph)
        if any(ended.of_output(place) != ALIVE for place in places):
            raise _Unfit("a value of a round may be dead")
        return made.finish(list(zip(places, kinds, strict=True)))

    def _replace(self, name: str, functions: list[str], types: list[DType], stateful: bool) -> None:
        graph, enters = self.graph, [v.enter for v in self.variables]
        attrs = {
            "T": types,
            "cond": FunctionRef(functions[0]),
            "body": FunctionRef(functions[1]),
            "parallel_iterations": enters[0].attr("parallel_iterations", 10),
        }
        controls = dict.fromkeys(c for e in enters for c in e.controls)
        loop = graph.add(
            "While" if stateful else "StatelessWhile", name, [e.inputs[0] for e in enters],
            controls=list(controls), device=self.condition.device, attrs=attrs,
        )  # fmt: skip
        for k, variable in enumerate(self.variables):
            for end in variable.exits:
                become_identity(graph, end, [(loop, k)], [types[k]])
        remove_unused(graph, self.inside, ())


def _goes_round(merge: Node) -> bool:
    return any(o[0].op in NEXT_ITERATIONS for o in merge.inputs)


def _is_pure(node: Node) -> bool:
    definition = find(node.op)
    return definition is not None and not definition.is_stateful
