"""Regions of the installed library compute what the host does."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.plugins import Plugin, load_library
from drystone_subgraph import SubgraphWarning, executables

FLOAT = as_dtype("float32")


@pytest.fixture(scope="session")
def plugin() -> Plugin:
    """The library of the installed wheel; developer mode lets it be unsigned."""
    (library,) = [f for f in files("drystone-example-subgraph-c") or [] if f.suffix == ".so"]
    return load_library(str(library.locate()), developer_mode=True)


@pytest.fixture
def session(plugin: Plugin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ds.Session:
    """``y = -((x - k) * (x - k)) + x``."""
    assert plugin.state == "loaded"
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path))
    return made()


def made() -> ds.Session:
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": None})
    k = graph.add("Placeholder", "k", attrs={"dtype": FLOAT, "shape": None})
    types = {"T": FLOAT}
    less = graph.add("Sub", "less", [x, k], attrs=types)
    square = graph.add("Neg", "n", [graph.add("Mul", "m", [less, less], attrs=types)], attrs=types)
    graph.add("AddV2", "y", [square, x], attrs=types)
    return ds.Session(graph, ds.SessionConfig(subgraphs="elementwise", optimizer="off"))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (0, 2)])
def test_one_loop_computes_the_region(session: ds.Session, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    for k in (np.float32(0.25), x * 2):
        found = session.run("y:0", {"x:0": x, "k:0": k})
        np.testing.assert_array_equal(found, -((x - k) * (x - k)) + x)
    assert {status.state for status in executables(session)} == {"ready"}


def test_other_shapes_are_left_to_the_host(session: ds.Session) -> None:
    x, k = np.ones((2, 3), np.float32), np.ones(3, np.float32)
    with pytest.warns(SubgraphWarning, match="inputs of different shapes"):
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x, "k:0": k}), x)


def test_a_program_that_was_kept_is_read_again(session: ds.Session) -> None:
    x = np.arange(4, dtype=np.float32)
    both = session, made()
    found = [one.run("y:0", {"x:0": x, "k:0": x / 2}) for one in both]
    np.testing.assert_array_equal(found[0], found[1])
    assert [e.loaded for one in both for e in executables(one)] == [False, True]
