"""Every network and list of ops, in each of the ways that a graph comes to be partitioned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from click.testing import CliRunner
from interpreter import Compiling
from networks import CASES, FEEDS, Network
from partitions import only

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.graph import Graph, topological_order
from drystone_base.loaders import read_graph, write_graph
from drystone_subgraph import PartitionConfig, partition

Values = list[np.ndarray[Any, Any]]
Way = Callable[[Graph, list[str], Sequence[str], Path, pytest.MonkeyPatch], Values]
_WITH_STATE: Final = "AssignVariableOp"


def _run(graph: Graph, fetches: list[str], executor: Any = "native", **config: Any) -> Values:
    settings = {"optimizer": "off", "subgraphs": "off"} | config
    session = ds.Session(graph, ds.SessionConfig(executor=executor, **settings))
    found: Values = session.run(fetches, FEEDS)
    return found


def _taken(graph: Graph, fetches: list[str], ops: Sequence[str]) -> Graph:
    found = partition(graph, fetches, list(FEEDS), only("b", ops))
    topological_order(found)
    held = [node for node in found if node.states("_subgraph_backend")]
    assert held
    assert not any(node.op in ops for node in found)
    return found


def api_reference(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    return _run(_taken(g, fetches, ops), fetches, "reference")


def api_native(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    return _run(_taken(g, fetches, ops), fetches)


def variable(
    g: Graph, fetches: list[str], ops: Sequence[str], _: Path, monkeypatch: pytest.MonkeyPatch
) -> Values:
    monkeypatch.setenv("DRYSTONE_SUBGRAPH_BACKEND", only("b", ops))
    return _run(g, fetches, subgraphs=None)


def session(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    return _run(g, fetches, subgraphs=only("b", ops))


def session_with_config(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    return _run(g, fetches, subgraphs=PartitionConfig((only("b", ops),), minimum_size=2))


def session_optimized(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    return _run(g, fetches, subgraphs=only("b", ops), optimizer="default")


def two_backends(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    only("first", ops[:1])
    only("second", ops)
    return _run(g, fetches, subgraphs="first,second,default")


def one_after_another(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    once = _taken(g, fetches, ops)
    return _run(partition(once, fetches, list(FEEDS), "default"), fetches)


def through_bytes(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    data = _taken(g, fetches, ops).to_bytes()
    again = Graph.from_bytes(data)
    assert again.to_bytes() == data
    return _run(again, fetches)


def command(g: Graph, fetches: list[str], ops: Sequence[str], folder: Path, _: Any) -> Values:
    write_graph(g, folder / "model.pb")
    words = ["partition", folder / "model.pb", "--backend", only("b", ops), "--output",
             folder / "parts.pbtxt"]  # fmt: skip
    ends = [word for name in fetches for word in ("--fetch", name)]
    feeds = [word for name in FEEDS for word in ("--feed", name)]
    done = CliRunner().invoke(app, [*map(str, words), *ends, *feeds], prog_name="drystone")
    assert done.exit_code == 0, done.output
    return _run(read_graph(folder / "parts.pbtxt"), fetches)


def compiled(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    if _WITH_STATE in ops:
        pytest.skip("the interpreter has variables of its own")
    backend = Compiling(ops)
    found = _run(g, fetches, subgraphs="fake")
    assert backend.requests
    return found


def called_again(g: Graph, fetches: list[str], ops: Sequence[str], *_: Any) -> Values:
    config = ds.SessionConfig(subgraphs=only("b", ops), optimizer="off")
    call = ds.Session(g, config).make_callable(fetches, list(FEEDS))
    call(*FEEDS.values())
    found: Values = call(*FEEDS.values())
    return found


WAYS: Final[Sequence[Way]] = [
    api_reference, api_native, variable, session, session_with_config, session_optimized,
    two_backends, one_after_another, through_bytes, command, compiled, called_again,
]  # fmt: skip


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("network", "ops"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_partitioned_is_unpartitioned(
    way: Way,
    network: Network,
    ops: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Row D1. S1-default-operator, S1-apply."""
    graph, fetches = network()
    expected = _run(graph, fetches, "reference")
    found = way(graph, fetches, ops, tmp_path, monkeypatch)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-6)
