"""A transport of a plugin carries messages, and the values of a graph on two tasks."""

from __future__ import annotations

import socket
from importlib.metadata import files

import pytest

import drystone_base as ds
from drystone_base.plugins import Plugin, load_library
from drystone_network import Engine, Server


@pytest.fixture(scope="module", autouse=True)
def plugin() -> Plugin:
    """The library of the installed wheel; developer mode lets it be unsigned."""
    (library,) = [one for one in files("drystone-example-network-c") or [] if one.suffix == ".so"]
    return load_library(str(library.locate()), developer_mode=True)


def test_the_plugin_loads(plugin: Plugin) -> None:
    assert plugin.state == "loaded"
    assert plugin.registered["network"] == ["pipedemo"]


def test_messages() -> None:
    with Engine("pipedemo") as one, Engine("pipedemo") as other:
        peer = other.connect(one.listen("pipedemo://"))
        one.receive(tag=(1, 2))
        other.send(peer, (1, 2), [b"hello", b" world"])
        events = [*one.progress(5), *one.progress(0.2)]
        assert [e.kind for e in events] == ["accepted", "received"]
        assert events[1].data is not None
        assert events[1].data.tobytes() == b"hello world"


def test_a_graph_on_two_tasks() -> None:
    """Their data plane listens at pipedemo://, as theirs does who know nothing of this plugin."""
    with socket.socket() as first, socket.socket() as second:
        for one in (first, second):
            one.bind(("127.0.0.1", 0))
        cluster = {"worker": [f"127.0.0.1:{s.getsockname()[1]}" for s in (first, second)]}
    kind = ds.as_dtype("float32")
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", device="/job:worker/task:0", attrs={"dtype": kind})
    there = graph.add("Neg", "there", [x], device="/job:worker/task:1", attrs={"T": kind})
    graph.add("Neg", "back", [there], device="/job:worker/task:0", attrs={"T": kind})
    with (
        Server(cluster, "worker", 0, transport="pipedemo") as server,
        Server(cluster, "worker", 1, transport="pipedemo"),
        ds.Session(graph, ds.SessionConfig(target=server.target, deadline=20)) as session,
    ):
        assert session.run("back:0", {"x:0": [1, 2]}).tolist() == [1, 2]
