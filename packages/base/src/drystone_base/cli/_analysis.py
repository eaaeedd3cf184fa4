"""Facts about a loaded model: ops, functions, variables, and what each signature reaches."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.executor.plan import can_run
from drystone_base.files.access import OUTSIDE
from drystone_base.graph import Node, Output, reachable
from drystone_base.inference.inference import Inference, infer
from drystone_base.ops.attrs import FunctionRef, Shape
from drystone_base.ops.defs import find
from drystone_base.ops.properties import VARIABLES

if TYPE_CHECKING:
    from drystone_base.api.restored import RestoredFunction
    from drystone_base.loaders import LoadedModel, Signature, TensorSpec

__all__ = ["Analysis", "Reach", "function_refs"]

_MAX_INFERRED: Final = 20_000  # nodes; larger graphs are not worth the wait
_VARIABLE_OPS: Final = VARIABLES | {"TemporaryVariable"}


@dataclass
class Reach:
    """What some fetches need: nodes by op, function bodies included, and names of functions."""

    ops: Counter[str] = field(default_factory=Counter)
    functions: set[str] = field(default_factory=set)
    unsupported: dict[str, str] = field(default_factory=dict)
    """Ops without a kernel, each with the name of a node."""


def function_refs(node: Node) -> Iterator[FunctionRef]:
    """Functions that a node calls or is given: as its op, or as attributes."""
    if node.op in node.graph.functions:
        yield FunctionRef(node.op, node.attrs)
    definition = find(node.op)
    for name, attr in definition.attrs.items() if definition else ():
        if attr.type in ("func", "list(func)"):
            value = node.attr(name)
            yield from value if isinstance(value, list) else [value] if value else []


class Analysis:
    """Facts about one model, each worked out when first asked for."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.graph = loaded.graph

    @cached_property
    def ops(self) -> Counter[str]:
        """Nodes by op, the bodies of all functions included."""
        counts = Counter(node.op for node in self.graph)
        for function in self.graph.functions:
            counts.update(function.ops())
        return counts

    @cached_property
    def unsupported(self) -> list[str]:
        """Ops of the model that are neither functions nor have a kernel, sorted."""
        return sorted(op for op in self.ops if not self._runs(op))

    @cached_property
    def outside(self) -> dict[str, int]:
        """Nodes by op of those that reach files, a network or Python, function bodies included."""
        counts = {op: self.ops[op] for op in sorted(OUTSIDE) if op in self.ops}
        if "PrintV2" in counts:
            counts["PrintV2"] = self._prints_to_files()
        return {op: count for op, count in counts.items() if count}

    def _prints_to_files(self) -> int:
        streams = [n.attr("output_stream") for n in self.graph if n.op == "PrintV2"]
        for function in self.graph.functions:
            nodes = function.proto.node_def if "PrintV2" in function.ops() else ()
            prints = (n for n in nodes if n.op == "PrintV2")
            streams += [n.attr["output_stream"].s.decode(errors="replace") for n in prints]
        return sum(stream.startswith("file://") for stream in streams)

    def _runs(self, op: str) -> bool:
        return can_run(op) or op in self.graph.functions

    @cached_property
    def reaches(self) -> dict[str, Reach]:
        """What each signature reaches, by its name."""
        return {name: self._of_signature(s) for name, s in self.loaded.signatures.items()}

    def _of_signature(self, signature: Signature) -> Reach:
        outputs = [self.graph.output(spec.tensor)[0] for spec in signature.outputs.values()]
        fed = {
            self.graph.output(spec.tensor)
            for name, spec in signature.inputs.items()
            if not spec.optional or name in signature.defaults
        }
        return self.reach(outputs, fed)

    def reach(self, targets: Iterable[Node], fed: set[Output]) -> Reach:
        """What ``targets`` need when ``fed`` is given."""
        found = Reach()
        fed_nodes = {node for node, _ in fed}
        pending = [n for n in reachable(targets, fed=fed) if n not in fed_nodes]
        while pending:
            node = pending.pop()
            found.ops[node.op] += 1
            if not self._runs(node.op):
                found.unsupported.setdefault(node.op, node.name)
            for ref in function_refs(node):
                if ref.name not in found.functions:
                    found.functions.add(ref.name)
                    pending.extend(self._body_nodes(ref))
        return found

    def _body_nodes(self, ref: FunctionRef) -> list[Node]:
        """Nodes that a call of the function needs; none for one that is missing or broken."""
        try:
            body = self.graph.functions[ref.name].body(self.graph.functions, ref.attrs)
            needed = reachable([*(r.inputs[0][0] for r in body.results), *body.effects])
        except DrystoneError:
            return []
        return [node for node in needed if node.op != "_Arg"]

    @cached_property
    def callable(self) -> dict[str, RestoredFunction]:
        """Functions of the model's objects, by path; empty where there are none."""
        from drystone_base.api.restored import ObjectGraph

        return ObjectGraph(self.loaded).functions()

    @cached_property
    def variables(self) -> dict[str, int]:
        """Count and bytes of the variables, so far as their nodes state a shape."""
        nodes = [node for node in self.graph if node.op in _VARIABLE_OPS]
        total = 0
        for node in nodes:
            shape = node.attr("shape")
            if shape is not None and all(d >= 0 for d in shape):
                total += math.prod(shape) * node.attr("dtype").size
        return {"nodes": len(nodes), "bytes": total}

    def shape(self, spec: TensorSpec) -> Shape:
        """The shape that a signature states, else the one that inference finds."""
        if spec.shape is not None or len(self.graph) > _MAX_INFERRED:
            return spec.shape
        found = self._inferred.shape(self.graph.output(spec.tensor))
        return None if found is None else tuple(max(d, -1) for d in found)

    @cached_property
    def _inferred(self) -> Inference:
        return infer(self.graph)

    @cached_property
    def constants(self) -> dict[str, int]:
        """Count and bytes of the constants of the graph, functions left out."""
        count = total = 0
        for node in self.graph:
            if node.op == "Const":
                value = node.attr("value")
                count += 1
                total += value.array.nbytes if value is not None else 0
        return {"nodes": count, "bytes": total}
