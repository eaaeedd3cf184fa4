"""Sessions whose regions a plugin compiles: values, weights, artefacts, shapes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_subgraph import (
    PartitionConfig,
    SubgraphWarning,
    executables,
    partition_with_report,
)

RNG = np.random.default_rng(5)
W = RNG.normal(size=(8, 64)).astype(np.float32)
X = RNG.normal(size=(4, 8)).astype(np.float32)


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", "off")


def layer(*, variable: bool = False) -> Graph:
    """``y``: the square of the hyperbolic tangent of a product with a constant or a variable."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 8)})
    w = graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": TensorAttr(array=W)})
    if variable:
        attrs = {"dtype": FLOAT32, "shape": W.shape, "shared_name": "v"}
        handle = graph.add("VarHandleOp", "v", attrs=attrs)
        graph.add("AssignVariableOp", "first", [handle, w], attrs={"dtype": FLOAT32})
        half = graph.add("Placeholder", "new", attrs={"dtype": FLOAT32, "shape": W.shape})
        graph.add("AssignVariableOp", "assign", [handle, half], attrs={"dtype": FLOAT32})
        w = graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": FLOAT32})
    product = graph.add("MatMul", "product", [x, w], attrs={"T": FLOAT32})
    bent = graph.add("Tanh", "bent", [product], attrs={"T": FLOAT32})
    graph.add("Square", "y", [bent], attrs={"T": FLOAT32})
    return graph


def expected(x: np.ndarray, w: np.ndarray = W) -> np.ndarray:
    found: np.ndarray = np.tanh(x @ w) ** 2
    return found


def test_a_region_is_compiled_for_each_shape() -> None:
    _, report = partition_with_report(layer(), ["y:0"], ["x:0"], "pjrt")
    assert [segment.nodes for segment in report.taken] == [("product", "bent", "y")]
    session = ds.Session(layer(), ds.SessionConfig(subgraphs="pjrt"))
    for rows in (4, 2, 4, 0):
        np.testing.assert_allclose(
            session.run("y:0", {"x:0": X[:rows]}), expected(X[:rows]), rtol=1e-5, atol=1e-6
        )
    assert sorted((e.state, e.runs) for e in executables(session)) == [
        ("ready", 1), ("ready", 1), ("ready", 2),
    ]  # fmt: skip


def test_a_new_value_of_a_variable_replaces_the_old_one() -> None:
    session = ds.Session(layer(variable=True), ds.SessionConfig(subgraphs="pjrt"))
    session.run(["first"])
    for factor in (1, 2, 0.5):
        w = W * np.float32(factor)
        session.run(["assign"], {"new:0": w})
        found = session.run("y:0", {"x:0": X})
        np.testing.assert_allclose(found, expected(X, w), rtol=1e-5, atol=1e-6)
    (one,) = executables(session)
    assert (one.state, one.runs, one.packs) == ("ready", 3, 3)


def test_programs_are_kept_for_other_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path))
    loaded = []
    for _ in range(2):
        session = ds.Session(layer(), ds.SessionConfig(subgraphs="pjrt"))
        np.testing.assert_allclose(
            session.run("y:0", {"x:0": X}), expected(X), rtol=1e-5, atol=1e-6
        )
        loaded += [e.loaded for e in executables(session)]
    assert loaded == [False, True]


def test_runs_go_on_while_a_region_is_compiled() -> None:
    config = ds.SessionConfig(subgraphs=PartitionConfig(("pjrt",), patience=0))
    session = ds.Session(layer(), config)
    until = time.monotonic() + 60
    while not any(e.runs for e in executables(session)):
        assert time.monotonic() < until
        found = session.run("y:0", {"x:0": X})
        np.testing.assert_allclose(found, expected(X), rtol=1e-5, atol=1e-6)
    assert next(e.fallbacks for e in executables(session)) > 0


def test_an_index_beyond_its_bounds_is_the_error_that_it_is_without() -> None:
    graph = layer()
    places = graph.add("Placeholder", "places", attrs={"dtype": INT32, "shape": (-1,)})
    attrs = {"Tparams": FLOAT32, "Tindices": INT32, "validate_indices": True}
    graph.add("Gather", "rows", [graph["y"], places], attrs=attrs)
    session = ds.Session(graph, ds.SessionConfig(subgraphs="pjrt"))
    feeds = {"x:0": X, "places:0": np.asarray([3, 0], np.int32)}
    found = session.run("rows:0", feeds)
    np.testing.assert_allclose(found, expected(X)[[3, 0]], rtol=1e-5, atol=1e-6)
    feeds["places:0"] = np.asarray([4], np.int32)
    with (
        pytest.warns(SubgraphWarning, match="a condition of region"),
        pytest.raises(ds.KernelError, match="4"),
    ):
        session.run("rows:0", feeds)
