"""The smallest graph on which a pass alone still changes a result, or fails.

A part of a graph is cut out by putting placeholders where it reads what is outside, fed with the
values that were there in a run. Parts grow from the nodes that a rewrite touched until the pass
does it again; then every node is left out that may be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from drystone_base.core.dtypes import from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import (
    Graph,
    Node,
    Output,
    conditional_nodes,
    output_name,
    placeholder_shape,
    topological_order,
)
from drystone_base.graph.calls import reachable_functions
from drystone_base.graph.validate import output_dtypes
from drystone_optimizer.bisecting.steps import Unit
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.checking.runs import Array, Feeds, Runner
from drystone_optimizer.core.rules import Numeric

__all__ = ["Minimal", "minimize"]

_MOST_TRIES: Final = 400


@dataclass(frozen=True)
class Minimal:
    """A graph, what to fetch of it and feed to it, and what the pass does to the result."""

    graph: Graph
    fetches: tuple[str, ...]
    feeds: Feeds
    text: str

    def lines(self) -> list[str]:
        """One line for each node: ``y = Neg(x)``."""
        return [_line(node) for node in topological_order(self.graph)]

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON-ready values."""
        return {
            "nodes": self.lines(),
            "fetches": list(self.fetches),
            "feeds": list(self.feeds),
            "text": self.text,
        }


def _line(node: Node) -> str:
    read = [output_name(o) for o in node.inputs] + [f"^{c.name}" for c in node.controls]
    return f"{node.name} = {node.op}({', '.join(read)})"


def minimize(
    graph: Graph,
    touched: Iterable[str],
    unit: Unit,
    runner: Runner,
    numeric: Numeric,
    fetches: Sequence[str],
    feeds: Feeds,
) -> Minimal | None:
    """The smallest such graph found; None where the pass alone does not do it even on all of it."""
    work = _Cutting(graph, unit, runner, numeric, fetches, feeds)
    part = work.grow([graph[name] for name in touched if name in graph])
    if part is None:
        return work.whole()
    return work.shrink(part)


class _Cutting:
    def __init__(
        self,
        graph: Graph,
        unit: Unit,
        runner: Runner,
        numeric: Numeric,
        fetches: Sequence[str],
        feeds: Feeds,
    ) -> None:
        self.graph, self.unit, self.runner, self.numeric = graph, unit, runner, numeric
        self.fetches, self.feeds = tuple(fetches), feeds
        self.fetched = {graph.output(name) for name in fetches}
        self.fed = {graph.output(name) for name in feeds}
        self.order, self.inside = topological_order(graph), conditional_nodes(graph)
        self.values = self._recorded()
        self.tries = 0

    def _recorded(self) -> dict[Output, Array]:
        """What the nodes gave in a run, of those that run once and give numbers or strings."""
        names: dict[Output, str] = {self.graph.output(n): n for n in self.feeds}
        for node in self.order:
            if node not in self.inside:
                names.update({(node, k): f"{node.name}:{k}" for k in _plain_outputs(node)})
        try:
            found = self.runner.run(self.graph, list(names.values()), self.feeds)
        except DrystoneError:
            return {o: self.feeds[n] for o, n in names.items() if n in self.feeds}
        return {o: v for o, v in zip(names, found, strict=True) if v is not None}

    def grow(self, touched: Sequence[Node]) -> set[Node] | None:
        """The touched nodes with as many around as it takes; None where all do not suffice."""
        part = set(touched)
        while part:
            part |= {s for node in part for s, _ in node.inputs if s.op == "Const"}
            if self.shows(part) is not None:
                return part
            near = {source for node in part for source in (*_sources(node), *node.controls)}
            near |= {user for node in part for user, _ in self.graph.consumers(node)}
            near |= {user for node in part for user in self.graph.control_consumers(node)}
            if near <= part:
                break
            part |= near
        everything = set(self.order)
        return everything if self.shows(everything) is not None else None

    def shrink(self, part: set[Node]) -> Minimal | None:
        """What is left after every node, or run of nodes, was left out that may be."""
        size = max(1, len(part) // 2)
        while self.tries < _MOST_TRIES:
            ordered = [node for node in self.order if node in part]
            smaller = False
            for begin in range(0, len(ordered), size):
                less = part - set(ordered[begin : begin + size])
                if less and self.tries < _MOST_TRIES and self.shows(less) is not None:
                    part, smaller = less, True
            if size == 1 and not smaller:
                break
            size = max(1, size // 2)
        found = self.shows(part)
        return None if found is None else self._with_fewer_functions(found)

    def _with_fewer_functions(self, found: Minimal) -> Minimal:
        """Without the functions that no node calls, where it shows without them, too."""
        twin = found.graph.copy()
        needed = {function.name for function in reachable_functions(twin)}
        for function in list(twin.functions):
            if function.name not in needed:
                twin.functions.remove(function.name)
        return self._judge(twin, found.fetches, dict(found.feeds)) or found

    def shows(self, part: Collection[Node]) -> Minimal | None:
        """The part as a graph of its own, where the pass does it there; else None."""
        self.tries += 1
        made = self._cut(set(part))
        return None if made is None else self._judge(*made)

    def whole(self) -> Minimal | None:
        """All of the graph, where the pass alone does it."""
        return self._judge(self.graph, self.fetches, dict(self.feeds))

    def _judge(
        self, graph: Graph, fetches: tuple[str, ...], feeds: dict[str, Array]
    ) -> Minimal | None:
        try:
            expected = self.runner.run(graph, fetches, feeds)
        except DrystoneError:
            return None
        try:
            after = self.unit(graph, fetches, list(feeds))
        except Exception as error:  # a pass may raise anything
            text = error.what if isinstance(error, DrystoneError) else str(error)
            return Minimal(graph, fetches, feeds, f"{type(error).__name__}: {text}")
        try:
            found = self.runner.run(after, fetches, feeds)
        except DrystoneError as error:
            text = f"the graph does not run any more: {error.what}"
            return Minimal(graph, fetches, feeds, text)
        exact = self.runner.executor == "reference"
        said = first_difference(fetches, expected, found, self.numeric, to_the_bit=exact)
        return Minimal(graph, fetches, feeds, said) if said else None

    # ---- cutting out ---------------------------------------------------------------------------

    def _cut(self, part: set[Node]) -> tuple[Graph, tuple[str, ...], dict[str, Array]] | None:
        """A graph of the nodes of ``part`` and of what must come along, its fetches and feeds."""
        part = self._closed({n for n in part if (n, 0) not in self.fed})
        made, twins = Graph(), {}
        feeds: dict[str, Array] = {}
        for node in self.order:
            if node in part:
                twins[node] = made.adopt(node, node.name)
        outside: dict[Output, Output] = {}
        for node, twin in twins.items():
            reads = [
                (twins[s], k) if s in twins else self._placeholder(made, (s, k), outside, feeds)
                for s, k in node.inputs
            ]
            made.set_inputs(twin, reads)
            made.set_controls(twin, [twins[c] for c in node.controls if c in twins])
        names = [f"{node.name}:{k}" for node in twins for k in self._ends(node, part)]
        made.functions = self.graph.functions.copy()
        return (made, tuple(names), feeds) if names else None

    def _closed(self, part: set[Node]) -> set[Node]:
        """With the sources whose values have not been seen."""
        queue = list(part)
        for node in queue:
            for source, k in node.inputs:
                if source not in part and (source, k) not in self.values:
                    part.add(source)
                    queue.append(source)
        return part

    def _placeholder(
        self, made: Graph, output: Output, outside: dict[Output, Output], feeds: dict[str, Array]
    ) -> Output:
        if output not in outside:
            node, k = output
            value = self.values[output]
            types = output_dtypes(node)
            dtype = types[k].base if types else from_numpy(value.dtype)
            name = made.unique_name(f"{node.name}_{k}" if k else node.name)
            stated = placeholder_shape(node) if node.op == "Placeholder" else value.shape
            attrs = {"dtype": dtype, "shape": stated}
            twin = made.add("Placeholder", name, attrs=attrs, device=node.device)
            outside[output] = (twin, 0)
            feeds[f"{name}:0"] = value
        return outside[output]

    def _ends(self, node: Node, part: set[Node]) -> list[int]:
        """Outputs that are read outside of the part, or fetched, or that nothing reads."""
        plain = _plain_outputs(node)
        readers = [(user, user.inputs[at][1]) for user, at in self.graph.consumers(node)]
        used = {k for user, k in readers if user in part}
        read = {k for user, k in readers if user not in part}
        read |= {k for k in plain if (node, k) in self.fetched}
        ends = [k for k in plain if k in read or not used]
        return [k for k in ends if (node, k) in self.values or node not in self.inside]


def _sources(node: Node) -> list[Node]:
    return [source for source, _ in node.inputs]


def _plain_outputs(node: Node) -> list[int]:
    """Outputs that hold numbers or strings, as far as the op's definition says."""
    try:
        types = output_dtypes(node)
    except DrystoneError:
        return []
    return [
        k for k, dtype in enumerate(types or ()) if dtype.base.label not in ("resource", "variant")
    ]
