"""Switches and the Merge that they lead to become an If or a Case with a function for each side."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from drystone_base.core import dtypes
from drystone_base.core.time_limits import look
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.contraction import Contraction
from drystone_base.graph.deadness import Deadness, Predicate, Side, side_of
from drystone_base.graph.extract import Extract, add_function, output_dtype
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.ops.defs import find
from drystone_base.ops.properties import MERGES, NEXT_ITERATIONS
from drystone_base.passes._rewriting import become_identity, forget_functions, remove_unused

__all__ = ["branches_to_ifs"]

_SWITCHES = ("Switch", "_SwitchN")


class _Unfit(Exception):
    """The branch is not one that an If can be."""


def branches_to_ifs(graph: Graph, kept: Collection[Node]) -> bool:
    """Make an If or a Case of every branch that can be one, the innermost first.

    Merges of one choice go into one node where none waits for another. ``kept``: nodes whose values
    are fetched or fed. Each round takes all that what was found out about the graph lets it take:
    that goes on to hold, with the new nodes.
    """
    changed, refused = False, set[Node]()
    while any(n.op == "Merge" for n in graph):
        deadness = Deadness(graph)
        round_ = _Round(graph, deadness, kept)
        goes_on = False
        for merges in _groups(graph, deadness, refused):
            look()
            tries = [merges, *([m] for m in merges)] if len(merges) > 1 else [merges]
            made = [some for some in tries if _applied(some, round_)]
            goes_on = goes_on or bool(made)
            if not made:
                refused.update(merges)
        if not goes_on:
            break
        changed = True
    return changed


class _Round:
    """What branches of one round share: the graph, and what was found out about it."""

    def __init__(self, graph: Graph, deadness: Deadness, kept: Collection[Node]) -> None:
        self.graph, self.deadness, self.kept = graph, deadness, set(kept)
        self.places: dict[Node, float] = {node: k for k, node in enumerate(deadness.frames)}


def _applied(merges: list[Node], round_: _Round) -> bool:
    if any(merge.op != "Merge" for merge in merges):
        return False  # it went with others
    known = len(round_.graph.functions)
    try:
        _Branch(merges, round_).apply()
    except _Unfit:
        forget_functions(round_.graph, known)
        return False
    return True


def _groups(graph: Graph, deadness: Deadness, refused: set[Node]) -> list[list[Node]]:
    """Merges by choice and by when they run, the most nested first.

    What is made of a group waits for all that one of its Merges waits for: groups are joined, so
    that no two of them wait for each other.
    """
    found: dict[tuple[Output, Predicate], list[Node]] = {}
    for node in deadness.frames:
        if node.op == "Merge" and (choice := _choice(node, deadness)) is not None:
            found.setdefault((choice, deadness.of(node)), []).append(node)
    regions = Contraction(graph)
    out: list[list[Node]] = []
    for key in sorted(found, key=lambda key: -len(key[1])):
        together: list[Node] = []
        for merge in found[key]:
            if merge in refused:
                continue
            if (
                together
                and not regions.reaches(together[0], merge)
                and regions.join(together[0], merge)
            ):
                together.append(merge)
            else:
                together = [merge]
                out.append(together)
    return out


def _choice(merge: Node, deadness: Deadness) -> Output | None:
    """What decides which input of a Merge has a value; None for loops and for other ends."""
    own = deadness.of(merge)
    found = set()
    for output in merge.inputs:
        extra = deadness.of_output(output) - own
        if output[0].op in NEXT_ITERATIONS or len(extra) != 1:
            return None
        side = next(iter(extra))
        if not isinstance(side, Side):
            return None
        found.add((side.choice, side.index, side.count))
    count = next(iter(found))[2]
    if len({c for c, _, _ in found}) != 1 or len(merge.inputs) != count or len(found) != count:
        return None
    return None if merge.controls else next(iter(found))[0]


class _Branch:
    def __init__(self, merges: list[Node], round_: _Round) -> None:
        self.graph, self.deadness, self.kept = round_.graph, round_.deadness, round_.kept
        self.merges, self.places = merges, round_.places
        deadness = self.deadness
        self.base = deadness.of(merges[0])
        self.sides = [self._sides(merge) for merge in merges]
        first = next(iter(deadness.of_output(merges[0].inputs[0]) - self.base))
        assert isinstance(first, Side)
        self.choice, self.count = first.choice, first.count
        self.predicates = [
            self.base | {Side(self.choice, k, self.count)} for k in range(self.count)
        ]
        self.nodes = [self._needed(k) for k in range(self.count)]
        self._check()

    def _sides(self, merge: Node) -> dict[int, int]:
        """By side, the input of the Merge that has a value there."""
        out = {}
        for k, output in enumerate(merge.inputs):
            side = next(iter(self.deadness.of_output(output) - self.base))
            assert isinstance(side, Side)
            out[side.index] = k
        return out

    def _needed(self, side: int) -> set[Node]:
        """The nodes that run only on one side and compute what the Merges get from it."""
        found: set[Node] = set()
        wanted = self.predicates[side]
        stack = [m.inputs[s[side]][0] for m, s in zip(self.merges, self.sides, strict=True)]
        while stack:
            node = stack.pop()
            if node in found or not self._is_inside(node, wanted):
                continue
            found.add(node)
            stack += [*(s for s, _ in node.inputs), *node.controls]
        return found

    def _is_inside(self, node: Node, wanted: Predicate) -> bool:
        own = self.deadness.of(node)
        if own == wanted:
            return True
        if not own <= self.base:
            raise _Unfit("something inside is still conditional")
        return False

    def _check(self) -> None:
        ends = set(self.merges)
        inside = set().union(*self.nodes)
        path = self.deadness.frames[self.merges[0]]
        if not inside.isdisjoint(self.kept):
            raise _Unfit("something inside is fed or fetched")
        for node in inside:
            definition = find(node.op)
            if node.op in MERGES or self.deadness.frames[node] != path:
                raise _Unfit("another branch or loop ends inside")
            if definition is None or not definition.is_stateful:
                continue
            users = [u for u, _ in self.graph.consumers(node)]
            users += self.graph.control_consumers(node)
            if any(u not in inside and u not in ends for u in users):
                raise _Unfit("something with an effect has users outside")

    # ---- the functions ---------------------------------------------------------------------------

    def apply(self) -> None:
        captures, same = self._captures()
        types = [output_dtype(o) for o in captures]
        if None in types:
            raise _Unfit("a dtype is not known")
        arguments = [(o, t) for o, t in zip(captures, types, strict=True) if t is not None]
        self._check_inputs(captures)
        self.indexed = [self._index_is_read(m) for m in self.merges]
        made = [self._extract(k, arguments, same) for k in range(self.count)]
        stem = self.graph.unique_name(f"{self.merges[0].name}/If")
        names = [
            add_function(self.graph, f"{stem}_{k}".replace("/", "_"), *f)
            for k, f in enumerate(made)
        ]
        attrs: dict[str, Any] = {
            "Tin": [t for _, t in arguments],
            "Tout": [a.attrs["T"] for a in made[0][0].results],
        }
        if self.count == 2 and output_dtype(self.choice) is dtypes.BOOL:
            attrs |= {"Tcond": dtypes.BOOL, "else_branch": FunctionRef(names[0]),
                      "then_branch": FunctionRef(names[1])}  # fmt: skip
            op = "If"
        else:
            attrs["branches"] = [FunctionRef(name) for name in names]
            op = "Case"
        stateful = any(f.signature.is_stateful for _, f in made)
        node = self.graph.add(
            op if stateful else f"Stateless{op}", stem, [self.choice, *captures],
            controls=self.waits, device=self.merges[0].device, attrs=attrs,
        )  # fmt: skip
        self.deadness.add(node, self.base, self.deadness.frames[self.merges[0]])
        self.places[node] = min(self.places[merge] for merge in self.merges) - 0.5
        self._replace(node)

    def _index_is_read(self, merge: Node) -> bool:
        read = any(u.inputs[k][1] == 1 for u, k in self.graph.consumers(merge))
        return read or merge in self.kept

    def _captures(self) -> tuple[list[Output], dict[Output, Output]]:
        """What the sides read from outside, and which Switches hand what of it on."""
        captures: dict[Output, None] = {}
        same: dict[Output, Output] = {}
        self.switches: set[Node] = set()
        read = [o for nodes in self.nodes for n in self._in_order(nodes) for o in n.inputs]
        for output in [*read, *(o for m in self.merges for o in m.inputs)]:
            node = output[0]
            if any(node in nodes for nodes in self.nodes):
                continue
            if self._is_own_switch(output):
                self.switches.add(node)
                same[output] = node.inputs[0]
                captures.setdefault(node.inputs[0])
            else:
                captures.setdefault(output)
        return list(captures), same

    def _in_order(self, nodes: Iterable[Node]) -> list[Node]:
        return sorted(set(nodes), key=self.places.__getitem__)

    def _is_own_switch(self, output: Output) -> bool:
        node = output[0]
        if node.op not in _SWITCHES or side_of(*output).choice != self.choice:
            return False
        return self.deadness.of(node) <= self.base

    def _check_inputs(self, captures: list[Output]) -> None:
        """The If must run exactly when the Merges did."""
        if any(switch in self.kept for switch in self.switches):
            raise _Unfit("a Switch is fed or fetched")
        self.waits = self._waits()
        if self._when(captures) != self.base:
            self.waits += [o[0] for o in self._switched() if o[0] not in self.waits]
        if self._when(captures) != self.base:
            raise _Unfit("nothing says when it runs")

    def _when(self, captures: list[Output]) -> Predicate:
        found = [self.deadness.of_output(o) for o in (self.choice, *captures)]
        return frozenset[Any]().union(*found, *(self.deadness.of(c) for c in self.waits))

    def _waits(self) -> list[Node]:
        """What nodes of the sides and their Switches wait for outside of them."""
        inside = set().union(*self.nodes)
        found = [c for n in self._in_order(inside) for c in n.controls]
        found += [c for n in self._in_order(self.switches) for c in n.controls]
        return [c for c in dict.fromkeys(found) if c not in inside]

    def _switched(self) -> list[Output]:
        return [n.inputs[0] for n in self._in_order(self.switches)]

    def _extract(self, side: int, arguments: Any, same: dict[Output, Output]) -> Any:
        made = Extract(self.graph, arguments, self._in_order(self.nodes[side]), same)
        results = []
        for merge, sides, indexed in zip(self.merges, self.sides, self.indexed, strict=True):
            dtype = merge.attrs["T"]
            results.append((made.place(merge.inputs[sides[side]]), dtype))
            if indexed:
                value = TensorAttr(array=dtypes.INT32.np.type(sides[side]).reshape(()))
                name = made.graph.unique_name(f"index_{len(results)}")
                attrs = {"dtype": dtypes.INT32, "value": value}
                results.append(((made.graph.add("Const", name, attrs=attrs), 0), dtypes.INT32))
        return made.finish(results)

    def _replace(self, node: Node) -> None:
        place, removed = 0, [n for nodes in self.nodes for n in self._in_order(nodes)]
        removed += self._in_order(self.switches)
        for merge, indexed in zip(self.merges, self.indexed, strict=True):
            types = [merge.attrs["T"], *([dtypes.INT32] if indexed else [])]
            results = [(node, place + k) for k in range(len(types))]
            place += len(types)
            become_identity(self.graph, merge, results, types)
        remove_unused(self.graph, dict.fromkeys(removed), self.kept)
