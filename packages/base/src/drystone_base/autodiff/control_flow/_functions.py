"""One function gone back through: what its gradient needs of it, and the two functions of that.

The function that is called keeps what the way back needs as further results; the way back is a
function of those, of the arguments and of the gradients of results. So nothing is computed twice,
and random numbers stay what they were. Source: TensorFlow ``cond_v2.py``, ``while_v2.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drystone_abi.protos import FunctionDef
from drystone_base.autodiff._registry import zeros
from drystone_base.autodiff._slices import dense
from drystone_base.autodiff.backward import Backward
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.graph.builder import Builder
from drystone_base.graph.extract import Extract, add_function
from drystone_base.graph.functions import Body
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.graph.topology import reachable, topological_order
from drystone_base.ops.attrs import FunctionRef

__all__ = ["Way", "dtypes_of", "finish", "is_stateful", "reached_by"]

_CHEAP: Final = frozenset(
    {
        "Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs", "VariableShape",
        "TensorListLength", "TensorListElementShape",
    }
)  # fmt: skip
"""Ops of the way back that are done on the way there: their results are small, inputs are not."""
_FREE: Final = frozenset({"Const"})


def dtypes_of(b: Builder, outputs: Iterable[Output]) -> list[DType]:
    """The dtypes of outputs."""
    return [b.dtype(output) for output in outputs]


@dataclass
class Way:
    """The way back through one function.

    ``given``: dtypes of the gradients of results, by the result's number. ``wanted``: numbers of
    arguments. ``found`` has a gradient for those that got one; ``kept`` are the outputs that the
    way back reads, arguments aside, which ``reads`` numbers.
    """

    body: Body
    given: Mapping[int, DType]
    wanted: Sequence[int]
    found: dict[int, Output] = field(default_factory=dict)
    kept: list[Output] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        graph = self.body.graph
        self.b = Builder(graph, "gradients")
        self._there = set(graph)
        self.grads = {k: self.b("Placeholder", dtype=dtype) for k, dtype in self.given.items()}
        ys = [self.body.results[k].inputs[0] for k in self.given]
        xs = [(self.body.args[k], 0) for k in self.wanted]
        found = Backward(graph, ys, xs).run(list(self.grads.values())) if ys else []
        self._there |= set(reachable(self._there))  # a loop stacks on lists that it is given now
        for k, grad in zip(self.wanted, found, strict=False):
            if grad is not None:
                self.found[k] = dense(self.b, grad)

    @classmethod
    def of(
        cls, node: Node, function: FunctionRef, given: Mapping[int, DType], wanted: Sequence[int]
    ) -> Way:
        """The way back through a function that a node calls."""
        library = node.graph.functions
        body = library[function.name].body(library, function.attrs)
        try:
            return cls(body, given, wanted)
        except DrystoneError as error:
            error.passes(function=function.name)
            error.passes(node=node.name)
            raise

    def complete(self, dtypes: Mapping[int, DType]) -> None:
        """Add zeros for arguments that got no gradient, of the dtypes that gradients have."""
        for k, dtype in dtypes.items():
            if k not in self.found:
                self.found[k] = zeros(self.b, (self.body.args[k], 0), dtype)

    def split(self) -> None:
        """Tell what is done on the way there from what is done on the way back."""
        ends = [output[0] for output in self.found.values()]
        needed = topological_order(reachable(ends)) if ends else []
        at_hand = {n for n in needed if n.op in _FREE}
        for node in needed:
            if node not in self._there and node.op in _CHEAP:
                sources = {source for source, _ in node.inputs}
                if sources <= self._there | at_hand:
                    self._there |= {node, *(sources & at_hand)}
        self._back = [n for n in needed if n not in self._there or n.op in _FREE]
        back = set(self._back) | {output[0] for output in self.grads.values()}
        read = [o for n in self._back for o in n.inputs] + list(self.found.values())
        args = {(arg, 0): k for k, arg in enumerate(self.body.args)}
        outside = dict.fromkeys(o for o in read if o[0] not in back)
        self.kept = [o for o in outside if o not in args]
        self.reads = [args[o] for o in outside if o in args]

    def there(self) -> Extract:
        """The function as it was, with what is done on the way there, still without results."""
        skipped = {*self.body.args, *self.body.results}
        nodes = [n for n in self.body.graph if n in self._there and n not in skipped]
        args = [((arg, 0), arg.attrs["T"]) for arg in self.body.args]
        return Extract(self.body.graph, args, nodes)

    def results(self, extract: Extract) -> list[tuple[Output, DType]]:
        """The results that the function had."""
        return [(extract.place(r.inputs[0]), r.attrs["T"]) for r in self.body.results]

    def effects(self, extract: Extract) -> list[Node]:
        """What runs whatever is fetched."""
        return [extract.graph[node.name] for node in self.body.effects]

    def back(self, reads: Sequence[int], kept: Sequence[tuple[Output, DType]]) -> Extract:
        """The way back as a function of arguments, of what was kept, and of gradients."""
        args = [((self.body.args[k], 0), self.body.args[k].attrs["T"]) for k in reads]
        grads = [(self.grads[k], dtype) for k, dtype in self.given.items()]
        given = {output[0] for output in self.grads.values()}
        return Extract(
            self.body.graph, [*args, *kept, *grads], [n for n in self._back if n not in given]
        )

    def ends(self, extract: Extract, wanted: Iterable[int]) -> list[tuple[Output, DType]]:
        """The gradients, as results of the way back."""
        found = [self.found[k] for k in wanted]
        return [(extract.place(o), self.b.dtype(o)) for o in found]


def finish(
    graph: Graph,
    stem: str,
    extract: Extract,
    results: Sequence[tuple[Output, DType]],
    after: Iterable[Node] = (),
) -> FunctionRef:
    """Put a function into the library; what names it."""
    body, signature = extract.finish(results, after)
    return FunctionRef(add_function(graph, stem, body, signature))


def is_stateful(graph: Graph, function: FunctionRef) -> bool:
    """Whether a function does more than give its results."""
    proto: FunctionDef = graph.functions[function.name].proto
    return bool(proto.signature.is_stateful)


def reached_by(graph: Graph, function: FunctionRef, args: Collection[int]) -> set[int]:
    """The results that a change of some arguments reaches smoothly."""
    body = graph.functions[function.name].body(graph.functions, function.attrs)
    ys = [result.inputs[0] for result in body.results]
    carrying = Backward(body.graph, ys, [(body.args[k], 0) for k in args]).carrying
    return {k for k, y in enumerate(ys) if y in carrying}
