"""Variables of a cluster: read before its call and written after it, which has no state then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Body, Node, Output, topological_order
from drystone_base.graph.extract import Extract, add_function, output_dtype
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find
from drystone_base.ops.properties import VARIABLE_WRITES
from drystone_base.passes._clusters import CALL, CLUSTER
from drystone_base.passes._rewriting import Beside, become_identity

__all__ = ["without_state"]

_READ: Final = "ReadVariableOp"
_SWITCHES: Final = frozenset({"Switch", "_SwitchN"})


def without_state(call: Node) -> Node | None:
    """Put a call of a function without state in the place of one whose function uses variables.

    Reads come before it, once all has come that it takes, and writes after it; who reads it or
    waits for it waits for the writes. None, and nothing changed, where that is another order: a
    variable is read or written after one was written, or used in another way.
    """
    graph = call.graph
    name = call.attrs["f"].name
    taken = _Taken(graph.functions[name].body(graph.functions))
    if not taken.fits:
        return None
    beside = Beside(graph, call)
    waits = list(dict.fromkeys([*call.controls, *_arrivals(call, beside)]))
    inputs: list[Output] = [o for k, o in enumerate(call.inputs) if k not in taken.handles]
    for k, read in taken.first_reads.items():
        dtype = read.attrs["dtype"]
        node = beside.add(_READ, f"read_{k}", [call.inputs[k]], waits, dtype=dtype)
        inputs.append((node, 0))
    body, signature, types = taken.pure()
    function = FunctionRef(add_function(graph, f"{name}_without_state", body, signature))
    tout = list(call.attrs["Tout"])
    pure = beside.add("PartitionedCall", "without_state", inputs, call.controls, f=function,
                      Tin=[a.attrs["T"] for a in body.args], Tout=types)  # fmt: skip
    graph.set_attr(pure, CALL, call.attrs[CALL])
    at, written = len(tout), []
    for number, (write, k) in enumerate(taken.writes.items()):
        given: list[Output] = [(pure, at + j) for j in range(len(write.inputs) - 1)]
        at += len(given)
        attrs = {key: value for key, value in write.attrs.items() if key != CLUSTER}
        handle = call.inputs[k]
        written.append(beside.add(write.op, f"write_{number}", [handle, *given], **attrs))
    become_identity(graph, call, [(pure, k) for k in range(len(tout))], tout, [pure, *written])
    return pure


def _arrivals(call: Node, beside: Beside) -> Iterator[Node]:
    """Nodes that have run once all has come that a call takes; dead where one of it is."""
    for number, output in enumerate(call.inputs):
        dtype = call.attrs["Tin"][number]
        if output[0].op in _SWITCHES:
            yield beside.add("Identity", f"arrived_{number}", [output], T=dtype)
        else:
            yield output[0]


class _Taken:
    """The body of a cluster's function, taken apart.

    ``handles``: numbers of arguments that are variables. ``writes``: with the numbers of theirs.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.handles = {k for k, a in enumerate(body.args) if a.attrs["T"] is dtypes.RESOURCE}
        self.numbers = {body.args[k]: k for k in self.handles}
        self.first_reads: dict[int, Node] = {}
        self.same: dict[Output, Output] = {}
        self.writes: dict[Node, int] = {}
        self.rest: list[Node] = []
        ends = {*body.args, *body.results}
        nodes = topological_order(body.graph)
        self.fits = all(self._sorted(node) for node in nodes if node not in ends)
        self.fits = self.fits and all(self._number(r.inputs[0]) is None for r in body.results)
        self.fits = self.fits and self._is_in_order(nodes)

    def _number(self, output: Output) -> int | None:
        """The number of the argument, if it is a variable."""
        while output[0].op == "Identity":
            output = output[0].inputs[0]
        return self.numbers.get(output[0])

    def _sorted(self, node: Node) -> bool:
        """Whether a node is known for what it does to variables."""
        held = [self._number(o) for o in node.inputs]
        used = [k for k in held if k is not None]
        if not used:
            definition = find(node.op)
            self.rest.append(node)
            return definition is None or not definition.is_stateful
        if node.op == _READ:
            first = self.first_reads.setdefault(used[0], node)
            if first is not node:
                self.same[node, 0] = (first, 0)
            return True
        if node.op in VARIABLE_WRITES and held[0] is not None and len(used) == 1:
            self.writes[node] = used[0]
            return True
        return node.op == "Identity"

    def _is_in_order(self, nodes: list[Node]) -> bool:
        """Whether nothing is read or written after something was written."""
        late: set[Node] = set()
        for node in nodes:
            before = (*(s for s, _ in node.inputs), *node.controls)
            if any(s in late or s in self.writes for s in before):
                late.add(node)
        touching = {*self.writes, *self.first_reads.values(), *(n for n, _ in self.same)}
        return late.isdisjoint(touching)

    def pure(self) -> tuple[Body, FunctionDef, list[DType]]:
        """The function of values: the results, then what is written; and the dtypes of all."""
        args = [a for k, a in enumerate(self.body.args) if k not in self.handles]
        arguments: list[tuple[Output, DType]] = [((a, 0), a.attrs["T"]) for a in args]
        arguments += [((r, 0), r.attrs["dtype"]) for r in self.first_reads.values()]
        made = Extract(self.body.graph, arguments, self.rest, self.same)
        results = [(r.inputs[0], r.attrs["T"]) for r in self.body.results]
        for write in self.writes:
            for output in write.inputs[1:]:
                dtype = output_dtype(output)
                assert dtype is not None  # it was the dtype of an edge of a cluster
                results.append((output, dtype))
        body, signature = made.finish([(made.place(o), t) for o, t in results])
        return body, signature, [t for _, t in results]
