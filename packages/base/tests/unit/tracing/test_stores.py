"""Stores of variables: names of their own, what functions see of them, checkpoints."""

from __future__ import annotations

import copy
import gc
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.checkpoint import BundleReader
from drystone_base.checkpoint.objects import named_keys, object_graph
from drystone_base.core.errors import BadRequest, CheckpointError

F32 = np.float32


def _model(value: float) -> tuple[ds.VariableStore, ds.Function]:
    with ds.VariableStore() as store:
        w = ds.Variable([value, value], "w")

    @ds.function
    def grow(x: Any) -> Any:
        w.assign(w + x)
        return w.sum()

    return store, grow


def test_two_stores_have_the_same_names_and_other_values() -> None:
    (first, grow), (second, other) = _model(1.0), _model(10.0)
    assert grow(F32(1)) == 4
    assert other(F32(1)) == 22
    assert list(first) == list(second) == ["w"]
    assert (first["w"].value.tolist(), second["w"].value.tolist()) == ([2, 2], [11, 11])
    assert ds.VariableStore.active() is not first


def test_one_function_uses_variables_of_two_stores(tmp_path: Path) -> None:
    (first, _), (second, _) = _model(1.0), _model(10.0)
    a, b = first["w"], second["w"]

    @ds.function(signature=[])
    def both() -> Any:
        a.assign_add([1.0, 1.0])
        return a - b

    assert both().tolist() == [-8, -8]
    assert [v.name for v in both.newest().variables] == ["w", "w"]
    ds.save(both, tmp_path / "m")
    reader = BundleReader(tmp_path / "m" / "variables" / "variables")
    assert list(named_keys(object_graph(reader))) == ["w", "w_1"]
    assert ds.load(tmp_path / "m")()["output"].tolist() == [-7, -7]


def test_names_in_a_store_are_unique_and_it_holds_its_variables() -> None:
    with ds.VariableStore() as store:
        for _ in range(3):
            ds.Variable(0.0, "w")
        with ds.VariableStore() as inner:
            ds.Variable(0.0, "w")
        ds.Variable(0.0, "b")
    gc.collect()
    assert list(store) == ["b", "w", "w_1", "w_2"]
    assert list(inner) == ["w"]
    assert repr(inner) == "<VariableStore: w>"
    with pytest.raises(BadRequest) as caught:
        store["w_5"]
    assert (caught.value.code, caught.value.remedy) == ("no-such-variable", "did you mean 'w_2'?")


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))]
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "string"])
def test_copies_of_variables_have_values_of_their_own(copied: Any, dtype: str) -> None:
    store = ds.VariableStore()
    with store:
        first = ds.Variable([[b"", b"\0b"]] if dtype == "string" else [[1, 0]], "w", dtype=dtype,
                            trainable=False)  # fmt: skip
    second = copied(first)
    assert (second.name, second.dtype, second.shape) == ("w", first.dtype, (1, 2))
    assert not second.trainable
    assert second.value.tolist() == first.value.tolist()
    before = first.value.tolist()
    second.assign(second.value[:, ::-1])
    assert first.value.tolist() == before
    assert list(store) == ["w"]


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))]
)
def test_copies_of_stores_have_copies_of_their_variables(copied: Any) -> None:
    store, _ = _model(1.0)
    again = copied(store)
    w = again["w"]

    @ds.function
    def grow(x: Any) -> Any:
        w.assign(w + x)
        return w.sum()

    assert grow(F32(1)) == 4
    assert list(again) == ["w"]


@pytest.mark.parametrize("name", ["w", "my w", "größe", "_w", "/w", "w:0", "^w", "", "\n", "a//b/"])
def test_nodes_have_names_that_tensorflow_takes(name: str, tmp_path: Path) -> None:
    """Whatever variables, arguments and results are called."""
    w = ds.Variable([1.0, 2.0], name)

    @ds.function(signature=[{name: ds.Spec([2])}])
    def scaled(given: Any) -> Any:
        return {name or "y": ds.cond(given[name].sum() > 0, lambda: given[name] * w, lambda: w + 0)}

    ds.save(scaled, tmp_path / "m")
    model = ds.load(tmp_path / "m")
    (found,) = model(np.float32([3, 4])).values()
    assert found.tolist() == [3, 8]
    graph = model.graph.to_proto()
    bodies = [graph.node, *(function.node_def for function in graph.library.function)]
    for node in [node for body in bodies for node in body]:
        assert re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", node.name), node.name


def test_tables_of_functions_are_shared_in_a_store_and_not_between_stores() -> None:
    def functions() -> tuple[ds.Function, ds.Function]:
        from drystone_base.tracing import operations as ops

        kinds = {"key_dtype": "int64", "value_dtype": "int64", "shared_name": "t"}

        @ds.function
        def fill(k: Any) -> Any:
            ops.lookup_table_insert_v2(ops.mutable_hash_table_v2(**kinds), k, k + 1)

        @ds.function
        def find(k: Any) -> Any:
            return ops.lookup_table_find_v2(ops.mutable_hash_table_v2(**kinds), k, np.int64(-1))

        return fill, find

    keys = np.arange(3, dtype=np.int64)
    (fill, find), (_, other) = functions(), functions()
    with ds.VariableStore():
        fill(keys)
        assert find(keys).tolist() == [1, 2, 3]
    with ds.VariableStore():
        assert other(keys).tolist() == [-1, -1, -1]


def test_a_checkpoint_of_a_store(tmp_path: Path) -> None:
    store, grow = _model(1.0)
    ds.save_checkpoint(store, tmp_path / "model-1")
    before = grow(F32(1))
    assert ds.latest_checkpoint(tmp_path) == tmp_path / "model-1"
    ds.restore_checkpoint(store, tmp_path / "model-1")
    assert grow(F32(1)) == before
    assert BundleReader(tmp_path / "model-1").keys() == ["w"]


def test_what_does_not_fit_a_store_changes_nothing(tmp_path: Path) -> None:
    with ds.VariableStore() as wide:
        ds.Variable(5.0, "a"), ds.Variable(np.zeros(3, F32), "w")
    ds.save_checkpoint(wide, tmp_path / "wide")
    with ds.VariableStore() as narrow:
        kept = ds.Variable(1.0, "a")
        ds.Variable(np.zeros(2, F32), "w")
    with pytest.raises(BadRequest) as caught:
        ds.restore_checkpoint(narrow, tmp_path / "wide")
    assert (caught.value.code, caught.value.found) == ("variable-mismatch", "float32 [3]")
    with narrow:
        ds.Variable(1.0, "new")
    with pytest.raises(CheckpointError) as missing:
        ds.restore_checkpoint(narrow, tmp_path / "wide")
    assert missing.value.code == "checkpoint-no-tensor"
    assert kept.value == 1
    with pytest.raises(BadRequest) as empty:
        ds.save_checkpoint(ds.VariableStore(), tmp_path / "none")
    assert empty.value.code == "nothing-to-save"


def test_a_variable_that_goes_resets_no_other_function() -> None:
    store, grow = _model(1.0)
    grow(F32(1))
    before = grow.newest().session.resources.generation
    ds.Variable(1.0, "gone")
    gc.collect()
    assert grow.newest().session.resources.generation == before
    del store
    gc.collect()
    assert grow(F32(1)) == 6
