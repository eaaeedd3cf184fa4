"""Nodes that an optimizer must leave in place (S0-item)."""

from __future__ import annotations

import pytest
from optimizing import small_graph

from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, QueueRunner
from drystone_optimizer.core.preserve import MARK, preserved_nodes


@pytest.fixture
def graph() -> Graph:
    made = small_graph()
    made.add("NoOp", "init")
    made.add("NoOp", "a:1")
    return made


def kept(graph: Graph, *args: list[str], **config: object) -> set[str]:
    fetches, feeds = (*args, [], [])[:2]
    return set(preserved_nodes(graph, fetches, feeds, OptimizerConfig.from_options(config)))


def test_fetches_and_feeds_are_preserved(graph: Graph) -> None:
    """S0-item: this includes feed and fetch nodes."""
    assert kept(graph, ["z:0", "y"], ["x:0"]) == {"x", "y", "z"}
    assert kept(graph, ["^z", "a:1"]) == {"z", "a:1"}
    assert kept(graph) == set()


def test_keep_and_init_ops_are_preserved(graph: Graph) -> None:
    """S0-item: keep_ops, init_ops."""
    assert kept(graph, keep=("y:0",), init=("init", "not there")) == {"y", "init"}


def test_kept_node_that_is_not_there_is_an_error(graph: Graph) -> None:
    with pytest.raises(BadRequest) as caught:
        kept(graph, keep=("innit",))
    assert caught.value.code == "unknown-kept-node"
    assert "did you mean init?" in str(caught.value)


def test_nodes_of_queue_runners_are_preserved(graph: Graph) -> None:
    """As in TensorFlow: the queue with its enqueue, close and cancel ops."""
    for name in ("queue", "enqueue", "close", "cancel"):
        graph.add("NoOp", name)
    runner = QueueRunner("queue", ("enqueue",), "close", "cancel")
    assert kept(graph, queue_runners=(runner,)) == {"queue", "enqueue", "close", "cancel"}


def test_marked_node_is_preserved(graph: Graph) -> None:
    """As in TensorFlow: the attribute _grappler_do_not_remove."""
    graph.set_attr(graph["y"], MARK, True)
    graph.set_attr(graph["z"], MARK, False)
    assert kept(graph) == {"y"}


def test_nodes_that_hold_state_between_runs_are_preserved(graph: Graph) -> None:
    """A variable's state goes by its node's name."""
    attrs = {"dtype": from_number(1), "shape": (2,)}
    graph.add("VarHandleOp", "v", attrs=attrs)
    graph.add("VariableV2", "old", attrs=attrs)
    graph.add("RandomUniform", "r", [graph["x"]], attrs={"dtype": from_number(1)})
    assert kept(graph) == {"v", "old"}


def test_every_node_with_state_when_asked_for(graph: Graph) -> None:
    """As in TensorFlow: stateful and dataset nodes where pruning them is not allowed."""
    graph.add("RandomUniform", "r", [graph["x"]], attrs={"dtype": from_number(1)})
    graph.add("TensorSliceDataset", "d", [graph["x"]])
    assert kept(graph, keep_stateful=True) == {"r", "d"}
