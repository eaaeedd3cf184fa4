"""Batches that run some examples at a time give what they give as a whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import difference
from shared_data import MODELS, WHY_NOT, inference_models, tolerance

import drystone_base as ds
from drystone_base.cli._app import app
from drystone_base.core.dtypes import BOOL, FLOAT32, from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph, Node, placeholder_shape
from drystone_base.ops.attrs import TensorAttr

pytestmark = native_ops.needs_onednn()
ROWS = inference_models()
ONE, WHOLE = ds.SessionConfig(micro_batch_bytes=1), ds.SessionConfig(micro_batch_bytes=None)


def _constant(graph: Graph, name: str, value: Any) -> Node:
    array = np.asarray(value)
    attrs = {"dtype": from_numpy(array.dtype), "value": TensorAttr(array=array)}
    return graph.add("Const", name, attrs=attrs)


def _layers(columns: int = 32) -> Graph:
    """``y``: two dense layers of ``x``, [?, columns]; ``z``: the largest of each row, [?]."""
    graph, random, typed = Graph(), np.random.default_rng(1), {"T": FLOAT32}
    attrs = {"dtype": FLOAT32, "shape": (-1, columns)}
    value = graph.add("Placeholder", "x", attrs=attrs)
    for k, (inner, outer) in enumerate(((columns, 48), (48, 8))):
        weights = random.standard_normal((inner, outer)).astype(np.float32)
        held = _constant(graph, f"w{k}", weights)
        value = graph.add("MatMul", f"m{k}", [value, held], attrs=typed)
        value = graph.add("Relu", "y" if k else "r", [value], attrs=typed)
    axes = _constant(graph, "axes", np.array([1], np.int32))
    graph.add("Max", "z", [value, axes], attrs={**typed, "Tidx": from_numpy(np.dtype(np.int32))})
    return graph


def _runs(session: ds.Session, feeds: dict[str, Any], node: str = "m1") -> tuple[int, list[Any]]:
    """How often a run computes a node, and what it gives."""
    with session.record() as record:
        found = session.run(["y:0", "z:0"], feeds)
    return sum(event.node == node for event in record.nodes), found


def _batch(model: ds.Model, feeds: dict[str, Any]) -> dict[str, Any]:
    """Three examples for each one that is fed, where the first dimension is open."""
    out = {}
    for name, value in feeds.items():
        shape = placeholder_shape(model.graph.output(name)[0])
        parts = [value, np.flip(value), value]
        out[name] = np.concatenate(parts) if shape and shape[0] < 0 else value
    return out


@cache
def _in_tiles(name: str) -> tuple[bool, float]:
    """Whether a recorded model runs one example at a time, and how far that is from the whole."""
    (row,) = (m for m in ROWS if m["name"] == name)
    file, (ref, *_) = MODELS / name / row["file"], (r for r in row["refs"] if r["kind"] != "train")
    data = np.load(MODELS / name / ref["file"], allow_pickle=True)
    model, fetches = ds.load(file, config=ONE), list(ref["outputs"])
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    block = model.session.describe(fetches, list(feeds))["blocks"][0]
    if "example_bytes" not in block:
        return False, 0.0
    feeds = _batch(model, feeds)
    found = model.run(fetches, feeds)
    want = ds.load(file, config=WHOLE).run(fetches, feeds)
    return True, max(map(difference, map(np.asarray, found), want))


@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
@pytest.mark.parametrize("row", ROWS, ids=lambda m: m["name"])
def test_models_give_for_batches_what_they_give_as_a_whole(row: dict[str, Any]) -> None:
    native_ops.load()
    assert _in_tiles(row["name"])[1] <= tolerance(row)


@pytest.mark.skipif(not ROWS, reason=WHY_NOT)
def test_models_that_run_in_tiles() -> None:
    native_ops.load()
    found = {row["name"] for row in ROWS if _in_tiles(row["name"])[0]}
    assert found == {"basic-pitch", "basic-pitch-frozen", "facemesh", "gen-bert-tiny"}


@settings(deadline=None, max_examples=60)
@given(examples=st.integers(0, 40), room=st.integers(1, 4000), columns=st.sampled_from([32, 3]))
def test_any_number_of_examples_in_tiles_of_any_size(
    examples: int, room: int, columns: int
) -> None:
    native_ops.load()
    x = np.random.default_rng(examples).standard_normal((examples, columns)).astype(np.float32)
    graph = _layers(columns)
    session = ds.Session(graph, ds.SessionConfig(micro_batch_bytes=room))
    (block,) = session.describe(["y:0", "z:0"], ["x:0"])["blocks"]
    most = max(1, room // block["example_bytes"])
    times, found = _runs(session, {"x:0": x})
    once, want = _runs(ds.Session(graph, WHOLE), {"x:0": x})
    assert once == 1
    assert max(1, -(-examples // most)) <= times <= max(1, examples)
    assert max(map(difference, found, want)) < 1e-5


def test_small_batches_and_weights_that_are_read_again_and_again_run_as_a_whole() -> None:
    native_ops.load()
    small = np.ones((50, 32), np.float32)
    assert _runs(ds.Session(_layers()), {"x:0": small})[0] == 1
    large = np.ones((200_000, 32), np.float32)
    assert _runs(ds.Session(_layers()), {"x:0": large})[0] > 1


def test_feeds_of_several_batches() -> None:
    native_ops.load()
    graph = Graph()
    typed = {"T": FLOAT32}
    fed = [
        graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": (-1, 3)}) for name in "ab"
    ]
    graph.add("AddV2", "y", fed, attrs=typed)
    axes = _constant(graph, "axes", np.array([1], np.int32))
    graph.add(
        "Max", "z", [graph["y"], axes], attrs={**typed, "Tidx": from_numpy(np.dtype(np.int32))}
    )
    a, b = np.arange(24, dtype=np.float32).reshape(8, 3), np.array([[1, 2, 3]], np.float32)
    times, (y, z) = _runs(ds.Session(graph, ONE), {"a:0": a, "b:0": a}, "y")
    assert times == 8
    np.testing.assert_array_equal(y, a + a)
    np.testing.assert_array_equal(z, (a + a).max(1))
    times, (y, z) = _runs(ds.Session(graph, ONE), {"a:0": a, "b:0": b}, "y")  # b is broadcast
    assert times == 1
    np.testing.assert_array_equal(y, a + b)
    with pytest.raises(DrystoneError) as of_tiles:
        ds.Session(graph, ONE).run(["y:0", "z:0"], {"a:0": a, "b:0": a[:5]})
    with pytest.raises(DrystoneError) as of_whole:
        ds.Session(graph, WHOLE).run(["y:0", "z:0"], {"a:0": a, "b:0": a[:5]})
    assert str(of_tiles.value) == str(of_whole.value)


def _lookup() -> Graph:
    """``y``: rows of a table of 4, [?, 2, 3] by indices [?, 2]."""
    graph, ints = Graph(), from_numpy(np.dtype(np.int32))
    table = _constant(graph, "table", np.arange(12, dtype=np.float32).reshape(4, 3))
    indices = graph.add("Placeholder", "x", attrs={"dtype": ints, "shape": (-1, 2)})
    axis = _constant(graph, "axis", np.int32(0))
    attrs = {"Tparams": FLOAT32, "Tindices": ints, "Taxis": ints}
    graph.add("GatherV2", "y", [table, indices, axis], attrs=attrs)
    return graph


def test_what_fails_in_a_tile_is_said_of_the_whole() -> None:
    native_ops.load()
    x = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 0]], np.int32)
    said = []
    for config in (ONE, WHOLE):
        session = ds.Session(_lookup(), config)
        with pytest.raises(DrystoneError) as failure:
            session.run(["y:0"], {"x:0": x})
        said.append(str(failure.value))
        (found,) = session.run(["y:0"], {"x:0": x[:3]})  # it can be run again
        np.testing.assert_array_equal(found, np.arange(12).reshape(4, 3)[x[:3]])
    assert said[0] == said[1]
    assert "indices[7] = 4" in said[0]  # the place in the batch, not in the tile


def test_time_ends_a_run_between_tiles() -> None:
    native_ops.load()
    session = ds.Session(_layers(), ds.SessionConfig(micro_batch_bytes=1, deadline=0.02))
    with pytest.raises(DrystoneError) as failure:
        session.run(["y:0"], {"x:0": np.ones((300_000, 32), np.float32)})
    assert failure.value.status == "DEADLINE_EXCEEDED"


def test_several_threads_run_one_session() -> None:
    native_ops.load()
    session = ds.Session(_layers(), ONE)
    want = session.run(["y:0"], {"x:0": np.ones((9, 32), np.float32)})[0]

    def run(k: int) -> bool:
        x = np.full((9, 32), k, np.float32)
        return all(
            difference(session.run(["y:0"], {"x:0": x})[0], want * k) < 1e-5 for _ in range(30)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(1, 5)))


@pytest.mark.parametrize("config", [ds.SessionConfig(), ONE, WHOLE], ids=["auto", "one", "whole"])
def test_branches_on_what_examples_share(config: ds.SessionConfig) -> None:
    native_ops.load()
    graph, typed = Graph(), {"T": FLOAT32}
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 4)})
    training = graph.add("Placeholder", "p", attrs={"dtype": BOOL, "shape": ()})
    switch = graph.add("Switch", "s", [_constant(graph, "c", np.float32(3)), training], attrs=typed)
    ends = [
        graph.add("Exp", "e", [(switch, 0)], attrs=typed),
        graph.add("Neg", "n", [(switch, 1)], attrs=typed),
    ]
    merge = graph.add("Merge", "m", ends, attrs={**typed, "N": 2})
    graph.add("AddV2", "y", [x, merge], attrs=typed)
    zeros = np.zeros((6, 4), np.float32)
    (found,) = ds.Session(graph, config).run(["y:0"], {"x:0": zeros, "p:0": np.array(False)})
    np.testing.assert_allclose(found, np.full((6, 4), np.exp(np.float32(3))), rtol=1e-6)


def test_an_empty_batch_beside_another_stays_empty() -> None:
    native_ops.load()
    graph = Graph()
    fed = [
        graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": (-1, 3)}) for name in "ab"
    ]
    for name, node in zip("yz", fed, strict=True):
        graph.add("Relu", name, [node], attrs={"T": FLOAT32})
    feeds = {"a:0": np.zeros((0, 3), np.float32), "b:0": np.ones((5, 3), np.float32)}
    found = ds.Session(graph, ONE).run(["y:0", "z:0"], feeds)
    assert [value.shape for value in found] == [(0, 3), (5, 3)]


def test_explain_says_how_batches_run(tmp_path: Path) -> None:
    native_ops.load()
    mixed = _layers()
    zero = _constant(mixed, "zero", np.array([0], np.int32))
    attrs = {"T": FLOAT32, "Tidx": from_numpy(np.dtype(np.int32)), "keep_dims": False}
    mixed.add("Sum", "sum", [mixed["y"], zero], attrs=attrs)
    ds.write_graph(_layers(), tmp_path / "m.pb")
    ds.write_graph(mixed, tmp_path / "mixed.pb")
    run = CliRunner().invoke
    done = run(app, ["explain", str(tmp_path / "m.pb"), "--fetch", "y:0"])
    assert "batches run in micro-batches: values of one example take 384 B" in done.output
    done = run(app, ["explain", str(tmp_path / "mixed.pb"), "--fetch", "sum:0"])
    why = "sum (Sum) is not known to compute each example by itself"
    assert f"batches run as a whole: {why}" in " ".join(done.output.split())


@pytest.mark.parametrize("bad", [-1, 1 << 63])
def test_bad_numbers_of_bytes_are_refused(bad: int) -> None:
    with pytest.raises(DrystoneError) as failure:
        ds.SessionConfig(micro_batch_bytes=bad)
    assert failure.value.code == "bad-micro-batch"
    assert "None runs batches as a whole" in str(failure.value)
