"""Device strings, and which optimizers a graph is for (S0-device-match)."""

from __future__ import annotations

import pytest

from drystone_base.core.errors import GraphError
from drystone_base.graph import Graph
from drystone_optimizer.core.devices import device_type, device_types


@pytest.mark.parametrize(
    ("device", "found"),
    [
        ("", None),
        ("/job:localhost/replica:0/task:0/device:CPU:0", "CPU"),
        ("/job:worker/task:1/device:GPU:*", "GPU"),
        ("/device:XPU:3", "XPU"),
        ("/device:my_npu:0", "my_npu"),
        ("/device:GPU", "GPU"),
        ("/device:*", None),
        ("/cpu:0", "CPU"),
        ("/gpu:1", "GPU"),
        ("/job:a", None),
        ("/job:a/replica:*/task:*", None),
        ("device:CPU:0", "CPU"),
    ],
)
def test_type_of_a_device(device: str, found: str | None) -> None:
    assert device_type(device) == found


@pytest.mark.parametrize(
    "device", ["/", "CPU", "/device:", "/device:CPU:", "/device:CPU:x", "/job:", "/what:1", "//"]
)
def test_device_that_cannot_be_understood_is_an_error(device: str) -> None:
    """An unparsable device is INVALID_ARGUMENT."""
    graph = Graph()
    graph.add("NoOp", "odd", device=device)
    with pytest.raises(GraphError) as caught:
        device_types(graph)
    assert caught.value.code == "bad-device"
    assert caught.value.status == "INVALID_ARGUMENT"
    assert f"found: {device}" in str(caught.value)


def test_unparsable_device_names_its_node() -> None:
    graph = Graph()
    graph.add("NoOp", "odd", device="/device:7")
    with pytest.raises(GraphError, match="node 'odd' asks for a device"):
        device_types(graph)


def test_types_of_a_mixed_graph() -> None:
    graph = Graph()
    graph.add("NoOp", "a")
    graph.add("NoOp", "b", device="/device:GPU:0")
    graph.add("NoOp", "c", device="/device:GPU:1")
    assert device_types(graph) == {"CPU", "GPU"}
    only = Graph()
    only.add("NoOp", "b", device="/device:GPU:0")
    assert device_types(only) == {"GPU"}
    assert device_types(Graph()) == frozenset()
