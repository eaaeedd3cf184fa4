"""Every Relu becomes a Relu6, or only the one that is named."""

from __future__ import annotations

from importlib.metadata import files

import pytest

from drystone_base import Graph, Session, SessionConfig, as_dtype
from drystone_base.plugins import load_library

FLOAT = as_dtype("float32")


@pytest.fixture(scope="module", autouse=True)
def plugin() -> None:
    """The library of the installed wheel; developer mode lets it be unsigned."""
    (library,) = [file for file in files("drystone-example-passes-c") or [] if file.suffix == ".so"]
    load_library(str(library.locate()), developer_mode=True)


def results(passes: dict[str, object]) -> list[list[float]]:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    for name in ("a", "b"):
        graph.add("Relu", name, [x], attrs={"T": FLOAT})
    session = Session(graph, SessionConfig(passes=passes))
    return [v.tolist() for v in session.run(["a:0", "b:0"], {"x:0": [-1, 9]})]


def test_it_runs_where_it_is_asked_for() -> None:
    assert results({}) == [[0, 9], [0, 9]]
    assert results({"Relu6": True}) == [[0, 6], [0, 6]]
    assert results({"Relu6": {"only": "b"}}) == [[0, 9], [0, 6]]
