"""Identities around calls whose bodies decide where resources live."""

from __future__ import annotations

from typing import Final

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.graph import Graph, Node, Output
from drystone_base.graph.validate import Signatures
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._rewriting import Beside, not_fed
from drystone_base.passes._types import Grouping, PassOptions

__all__ = ["isolate_inspected_ops"]

CALLS: Final = frozenset({
    "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase",
    "While", "StatelessWhile",
})  # fmt: skip


@graph_pass(
    Grouping.PRE_PLACEMENT, 25, name="IsolatePlacerInspectionRequiredOpsPass", ops=CALLS,
    is_default=False,
)  # fmt: skip
def isolate_inspected_ops(options: PassOptions) -> bool:
    """Put an Identity on each input and output of calls that give resources (exact).

    A placer that looks into the called bodies can then put a call's inputs and results on the
    devices of arguments and results, and what is around the call elsewhere. Fetched outputs keep
    their names. Source: TensorFlow's ``IsolatePlacerInspectionRequiredOpsPass``.
    """
    assert options.graph is not None
    graph, signatures = options.graph, Signatures()
    changed = False
    for node in not_fed(options, *CALLS):
        signature = signatures.of(node)
        types = (signature.outputs or []) if signature is not None else []
        if dtypes.RESOURCE not in types or signature is None:
            continue
        changed |= _isolate_inputs(graph, node, signature.inputs)
        changed |= _isolate_outputs(graph, node, types)
    return changed


def _isolate_inputs(graph: Graph, node: Node, types: list[DType]) -> bool:
    found = [k for k, (source, _) in enumerate(node.inputs) if not _is_own(graph, source, node)]
    beside = Beside(graph, node)
    for k in found:
        made = beside.add("Identity", f"input_{k}", [node.inputs[k]], T=types[k])
        graph.set_input(node, k, (made, 0))
    return bool(found)


def _is_own(graph: Graph, source: Node, node: Node) -> bool:
    return source.op == "Identity" and graph.only_user(source) is node


def _isolate_outputs(graph: Graph, node: Node, types: list[DType]) -> bool:
    changed = False
    for k, dtype in enumerate(types):
        output: Output = (node, k)
        users = [user for user, slot in graph.consumers(node) if user.inputs[slot] == output]
        if not users or (len(users) == 1 and users[0].op == "Identity"):
            continue
        made = Beside(graph, node).add("Identity", f"output_{k}", [output], T=dtype)
        graph.redirect(output, (made, 0))
        graph.set_inputs(made, [output])
        changed = True
    return changed
