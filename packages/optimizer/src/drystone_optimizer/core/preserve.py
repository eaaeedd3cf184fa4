"""Which nodes an optimizer must leave in place, under their name.

RFC 318 names fetches, feeds, kept and initialising nodes; TensorFlow adds the nodes that queue
runners use, nodes marked by attribute, and, where it is asked for, every node with state. A node
that makes a variable, table or queue always stays: its state goes by its name from run to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from drystone_base.core.errors import BadRequest, DrystoneError, near_matches
from drystone_base.graph import Graph, parse_tensor_name
from drystone_base.ops.defs import find
from drystone_optimizer.core.config import OptimizerConfig, QueueRunner

__all__ = [
    "MARK",
    "asked_for",
    "makers_of_resources",
    "marked",
    "preserved_nodes",
    "with_state",
]

MARK: Final = "_grappler_do_not_remove"
"""An attribute that asks to keep its node."""


def preserved_nodes(
    graph: Graph,
    fetches: Iterable[str],
    feeds: Iterable[str],
    config: OptimizerConfig,
) -> frozenset[str]:
    """Names of the nodes of ``graph`` that must stay.

    Nodes that the config names but this graph lacks are passed over, except those of ``keep``:
    ``BadRequest`` (``unknown-kept-node``).
    """
    return asked_for(graph, fetches, feeds, config) | makers_of_resources(graph, config)


def makers_of_resources(graph: Graph, config: OptimizerConfig) -> frozenset[str]:
    """Names of nodes that make what outlives a run; of none where all with state are asked for."""
    if config.keep_stateful:
        return frozenset()
    return frozenset([node.name for node in graph if _makes_resource(node.op)])


def asked_for(
    graph: Graph, fetches: Iterable[str], feeds: Iterable[str], config: OptimizerConfig
) -> frozenset[str]:
    """Names of the nodes that must stay even if nothing else needs them; raises as above."""
    wanted = {_node_name(graph, tensor) for tensor in (*fetches, *feeds, *config.init)}
    wanted.update(_kept(graph, config.keep))
    for runner in config.queue_runners:
        wanted.update(_node_name(graph, name) for name in _runner_nodes(runner))
    found = {name for name in wanted if name in graph}
    if config.keep_stateful:
        found.update(with_state(graph))
    found.update(marked(graph))
    return frozenset(found)


def with_state(graph: Graph) -> Iterator[str]:
    """Names of the nodes whose ops have state."""
    return (node.name for node in graph if _has_state(node.op))


def _node_name(graph: Graph, tensor: str) -> str:
    name = tensor.removeprefix("^")
    return name if name in graph else parse_tensor_name(name)[0]


def _kept(graph: Graph, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        node = _node_name(graph, name)
        if node not in graph:
            near = near_matches(node, (n.name for n in graph))
            raise BadRequest(
                f"node {node!r} is to be kept, but is not in the graph",
                check="OptimizerConfig.keep must name nodes of the graph",
                found=name,
                needed="the name of a node",
                remedy=f"did you mean {', '.join(near)}?" if near else "leave it out",
                code="unknown-kept-node",
                status="NOT_FOUND",
            )
        yield node


def _runner_nodes(runner: QueueRunner) -> Iterator[str]:
    yield from (runner.queue, *runner.enqueue, runner.close, runner.cancel)


def marked(graph: Graph) -> Iterator[str]:
    """Names of the nodes that ask to be kept."""
    for node in graph:
        if not node.states(MARK):
            continue
        try:
            if node.attrs.get(MARK) is True:
                yield node.name
        except DrystoneError:
            continue  # attributes that cannot be decoded say nothing


@lru_cache(maxsize=4096)
def _makes_resource(op: str) -> bool:
    definition = find(op)
    if definition is None or not definition.is_stateful or op == "_Arg":
        return False
    return any(
        out.is_ref or (out.type is not None and out.type.label == "resource")
        for out in definition.outputs
    )


@lru_cache(maxsize=4096)
def _has_state(op: str) -> bool:
    definition = find(op)
    return (definition is not None and definition.is_stateful) or op.endswith("Dataset")
