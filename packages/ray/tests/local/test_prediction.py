"""Predictors without Ray: batches, columns, fixed batch sizes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_ray import RayPredictor

FLOAT32 = ds.as_dtype("float32")


def model(folder: Path, rows: int = -1, *, total: bool = False) -> Path:
    """``y = 2 x`` and ``z = x + w`` over rows of three numbers, as a SavedModel."""
    graph = ds.Graph()
    shape = (rows, 3)
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})
    w = graph.add("Placeholder", "w", attrs={"dtype": FLOAT32, "shape": shape})
    graph.add("AddV2", "y", [x, x], attrs={"T": FLOAT32})
    graph.add("AddV2", "z", [x, w], attrs={"T": FLOAT32})
    outputs = {"y": "y:0", "z": "z:0"}
    if total:
        graph.add("L2Loss", "loss", [x], attrs={"T": FLOAT32})
        outputs["loss"] = "loss:0"
    both = ({"x": "x:0", "w": "w:0"}, outputs)
    ds.save(
        graph, folder, signatures={"serving_default": both, "one": ({"x": "x:0"}, {"y": "y:0"})}
    )
    return folder


def batch(rows: int, **columns: str) -> dict[str, Any]:
    rng = np.random.default_rng(rows)
    made = {n: rng.normal(size=(rows, 3)).astype(np.float32) for n in columns.values()}
    for value in made.values():
        value.flags.writeable = False
    return made | {"id": np.arange(rows)}


@settings(deadline=None, max_examples=25)
@given(rows=st.integers(0, 9), size=st.sampled_from([-1, 1, 3, 4]))
def test_every_row_gets_its_answer(
    rows: int, size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = model(tmp_path_factory.mktemp("m") / "m", size)
    call = RayPredictor(path, inputs={"x": "a", "w": "b"}, outputs={"z": "sum"}, keep=["id"])
    given_ = batch(rows, x="a", w="b")
    found = call(given_)
    assert list(found) == ["id", "sum"]
    assert found["sum"].shape == (rows, 3)
    np.testing.assert_array_equal(found["sum"], given_["a"] + given_["b"])
    np.testing.assert_array_equal(found["id"], given_["id"])


def test_the_only_input_takes_the_only_column(tmp_path: Path) -> None:
    call = RayPredictor(model(tmp_path / "m"), signature="one", keep=["id"])
    given_ = batch(4, x="anything")
    np.testing.assert_array_equal(call(given_)["y"], given_["anything"] * 2)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"inputs": {"nope": "a"}}, "must name inputs of the signature"),
        ({"outputs": {"nope": "a"}}, "must name outputs of the signature"),
        ({"keep": ["y"]}, "must not have the name of a column that is kept"),
    ],
)
def test_names_that_mean_nothing(tmp_path: Path, options: Any, text: str) -> None:
    with pytest.raises(ds.BadRequest, match=text) as error:
        RayPredictor(model(tmp_path / "m"), **options)
    assert error.value.code == "wrong-columns"


def test_a_batch_without_a_column(tmp_path: Path) -> None:
    call = RayPredictor(model(tmp_path / "m"))
    with pytest.raises(ds.BadRequest, match="no column w; columns: x, id") as error:
        call(batch(2, x="x"))
    assert error.value.code == "wrong-columns"


def test_an_output_that_has_no_rows(tmp_path: Path) -> None:
    call = RayPredictor(model(tmp_path / "m", total=True))
    with pytest.raises(ds.BadRequest, match="output 'loss' cannot become a column") as error:
        call(batch(2, x="x", w="w"))
    assert error.value.code == "batch-mismatch"


def test_models_travel_by_their_path(tmp_path: Path) -> None:
    loaded = ds.load(model(tmp_path / "m"))
    call = RayPredictor(pickle.loads(pickle.dumps(loaded)), signature="one")
    np.testing.assert_array_equal(call({"x": np.ones((1, 3), np.float32)})["y"], [[2, 2, 2]])
