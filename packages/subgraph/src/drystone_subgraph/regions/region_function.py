"""The function that computes a region, written when it is first read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from drystone_abi.protos import FunctionDef
from drystone_abi.protos import OpDef as OpDefProto
from drystone_base.core.dtypes import DType
from drystone_base.graph import Node, Output
from drystone_base.graph.validate import Signature, Signatures, definition_of

__all__ = ["RegionFunction", "Types"]

_CLASS: Final = "_class"


class Types:
    """What nodes of a graph are: their signatures, and how a FunctionDef spells their outputs.

    ``stateful``: the ops among theirs that have state.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.signatures = Signatures()
        self._slots: dict[Signature, list[str]] = {}
        known = {op: definition_of(node) for op, node in {n.op: n for n in nodes}.items()}
        self.stateful = frozenset(op for op, found in known.items() if found and found.is_stateful)

    def of(self, node: Node) -> Signature:
        """The signature of a node whose op is known."""
        found = self.signatures.of(node)
        assert found is not None, f"{node.op} is known"
        return found

    def dtype(self, output: Output) -> DType:
        """The dtype of an output."""
        found = self.of(output[0]).outputs
        assert found is not None
        return found[output[1]].base

    def slot(self, output: Output) -> str:
        """How a FunctionDef spells which output of its node this is."""
        signature = self.of(output[0])
        found = self._slots.get(signature)
        if found is None:
            slices = signature.definition.output_slices(signature.attrs)
            found = [f"{name}:{k}" for name, s in slices.items() for k in range(s.stop - s.start)]
            self._slots[signature] = found
        return found[output[1]]


@dataclass
class RegionFunction:
    """A region as a function: its nodes, what goes in and what comes out, with dtypes.

    The nodes must stay as they are until :meth:`build` was called.
    """

    name: str
    members: Sequence[Node]
    sources: Sequence[tuple[Output, DType]]
    results: Sequence[tuple[Output, DType]]
    is_stateful: bool
    types: Types
    spelled: dict[Output, str] = field(default_factory=dict)

    def build(self) -> FunctionDef:
        """The function."""
        stem = self._stem("input")
        proto = FunctionDef(signature=OpDefProto(name=self.name))
        for k, (output, dtype) in enumerate(self.sources):
            self.spelled[output] = f"{stem}_{k}"
            proto.signature.input_arg.add(name=f"{stem}_{k}", type=_number(dtype))
        inside = frozenset(self.members)
        for node in self.members:
            self._add(proto, node, inside)
        for k, (output, dtype) in enumerate(self.results):
            proto.signature.output_arg.add(name=f"output_{k}", type=_number(dtype))
            proto.ret[f"output_{k}"] = self._spell(output)
        self._effects(proto)
        proto.signature.is_stateful = self.is_stateful
        return proto

    def _stem(self, wanted: str) -> str:
        """The beginning of the arguments' names: no node's name begins so."""
        names = [node.name for node in self.members if node.name.startswith(wanted)]
        stem, k = wanted, 0
        while any(name.startswith(f"{stem}_") for name in names):
            k += 1
            stem = f"{wanted}{k}"
        return stem

    def _add(self, proto: FunctionDef, node: Node, inside: frozenset[Node]) -> None:
        spelled, inputs = self.spelled, []
        for output in node.inputs:
            text = spelled.get(output)
            inputs.append(self._spell(output) if text is None else text)
        if node.controls:
            inputs += [f"^{c.name}" for c in node.controls if c in inside]
        made = node.to_proto(proto.node_def.add(), inputs)
        if node.states(_CLASS):
            del made.attr[_CLASS]  # whom it is placed with may be outside

    def _spell(self, output: Output) -> str:
        text = self.spelled.get(output)
        if text is None:
            text = self.spelled[output] = f"{output[0].name}:{self.types.slot(output)}"
        return text

    def _effects(self, proto: FunctionDef) -> None:
        """Nodes that no result needs run all the same: nodes outside wait for them."""
        passed = {output[0] for output, _ in self.results}
        for node in self.members:
            passed.update([source for source, _ in node.inputs], node.controls)
        for node in self.members:
            if node not in passed:
                proto.control_ret[f"effect_{len(proto.control_ret)}"] = node.name
                proto.signature.control_output.append(f"effect_{len(proto.control_ret) - 1}")


def _number(dtype: DType) -> Any:
    return dtype.number
