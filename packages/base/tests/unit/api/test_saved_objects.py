"""Functions that are saved come back as objects: callable, with their variables and signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.api.restored.structures import decode, encode
from drystone_base.checkpoint import BundleReader
from drystone_base.tracing import operations as ops

X = np.array([[1, 2, 3], [0, 1, 0]], np.float32)


@pytest.fixture
def model(tmp_path: Path) -> tuple[ds.Function, ds.Model]:
    with ds.VariableStore():
        w = ds.Variable(np.arange(6.0).reshape(3, 2).astype(np.float32), "dense/w")
        calls = ds.Variable(np.int32(0), "calls", trainable=False)

    @ds.function
    def predict(x: Any, scale: float = 2.0, *more: Any, mode: str = "sum", **named: Any) -> Any:
        calls.assign_add(np.int32(1))
        y = ds.cond(x.sum() > 1, lambda: x @ w, lambda: -(x @ w)) * scale
        y = y + (more[0] if more else 0) + named.get("bias", 0)
        return {"scores": [y, None], "mode": y.sum() if mode == "sum" else y}

    predict(X, 3.0, np.float32(1), bias=np.float32(2))
    ds.save(predict, tmp_path / "m")
    return predict, ds.load(tmp_path / "m")


def test_a_function_is_called_as_its_original(model: tuple[ds.Function, ds.Model]) -> None:
    predict, loaded = model
    given = (X, 3.0, np.float32(1))
    want = predict(*given, bias=np.float32(2))
    found = loaded.predict(*given, mode="sum", bias=np.float32(2))
    np.testing.assert_array_equal(found["scores"][0], want["scores"][0])
    assert found["scores"][1] is None
    np.testing.assert_array_equal(found["mode"], want["mode"])
    assert list(loaded.functions) == ["predict"]
    with pytest.raises(ds.BadRequest) as caught:
        loaded.predict(X, 4.0, np.float32(1), bias=np.float32(2))
    assert "float32 [2, 3], 3.0, float32 []" in str(caught.value)


def test_signatures_functions_and_lists_have_the_same_variables(
    model: tuple[ds.Function, ds.Model],
) -> None:
    _, loaded = model
    (w,) = loaded.trainable_variables
    (calls,) = loaded.non_trainable_variables
    assert set(loaded.variables) == {"dense/w", "calls"}
    assert (w.name, calls.name) == ("dense/w", "calls")
    w.write(np.zeros((3, 2), np.float32))
    served = loaded({"x": X, "more_0": np.float32(1), "named_bias": np.float32(2)})
    np.testing.assert_array_equal(served["scores_0"], np.full((2, 2), 3))
    again = loaded.predict(X, 3.0, np.float32(1), mode="sum", bias=np.float32(2))
    np.testing.assert_array_equal(again["scores"][0], served["scores_0"])
    assert calls.read() == 3


def test_a_checkpoint_of_objects_restores_a_store(tmp_path: Path) -> None:
    with ds.VariableStore() as store:
        w = ds.Variable([1.0, 2.0], "w")
        ds.save(ds.function(signature=[])(lambda: w + 0), tmp_path / "m")
        w.assign([5.0, 6.0])
    prefix = tmp_path / "m" / "variables" / "variables"
    assert "w/.ATTRIBUTES/VARIABLE_VALUE" in set(BundleReader(prefix).keys())
    ds.restore_checkpoint(store, prefix)
    assert w.value.tolist() == [1, 2]


def test_a_large_constant_is_there_once(tmp_path: Path) -> None:
    table = np.arange(50_000, dtype=np.float32)
    look_up = ds.function(signature=[ds.Spec([None], "int32")])(lambda k: ops.gather(table, k))
    ds.save(look_up, tmp_path / "m")
    assert (tmp_path / "m" / "saved_model.pb").stat().st_size < 1.2 * table.nbytes
    loaded = ds.load(tmp_path / "m")
    (name,) = loaded.functions
    assert loaded.functions[name]([3, 4]).tolist() == [3, 4]
    assert loaded([5])["output"].tolist() == [5]


def test_a_function_without_results_runs(tmp_path: Path) -> None:
    total = ds.Variable(np.float32(0), "total")

    @ds.function(signature=[ds.Spec([])])
    def add(x: Any) -> None:
        total.assign_add(x)

    ds.save(add, tmp_path / "m")
    loaded = ds.load(tmp_path / "m")
    assert loaded.add(np.float32(2)) is None
    assert loaded.variables["total"].read() == 2


def test_what_no_object_can_state_leaves_the_signatures(tmp_path: Path) -> None:
    twice = ds.function(lambda x, how: x * (2 if how else 1))
    twice(X, how=object())
    ds.save(twice, tmp_path / "m")
    loaded = ds.load(tmp_path / "m")
    assert not loaded.functions
    np.testing.assert_array_equal(loaded(X)["output"], X * 2)


def test_an_asset_and_a_table_come_through_functions(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("zero\none\n")

    @ds.function(signature=[ds.Spec([None], "string")])
    def number(words: Any) -> Any:
        table = ops.hash_table_v2(key_dtype="string", value_dtype="int64", name="table")
        path = ops.identity(np.array(b"words.txt", object), name="path")
        ops.initialize_table_from_text_file_v2(
            table, path, key_index=-2, value_index=-1, name="fill"
        )
        return ops.lookup_table_find_v2(table, words, np.int64(-1))

    assets = {"path:0": tmp_path / "words.txt"}
    ds.save(number, tmp_path / "m", assets=assets, init=["fill"])
    (tmp_path / "words.txt").unlink()
    loaded = ds.load(tmp_path / "m")
    assert loaded.number(["one", "two"]).tolist() == [1, -1]


@pytest.mark.parametrize(
    "structure", [None, True, 3, 0.5, "a", [1, (2, None)], {"k": [True], "a": ()}]
)
def test_structures_come_back(structure: Any) -> None:
    assert decode(encode(structure), "a test") == structure


def test_other_values_are_no_structures() -> None:
    for value in (object(), [b"bytes"], {"a": {1: 2}}, 1 << 70):
        with pytest.raises((TypeError, ValueError)):
            encode(value)
