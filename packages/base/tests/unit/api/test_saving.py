"""Checkpoints and SavedModels that we write and read back, and what is said when we cannot."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_graph import learning_graph
from model_files import WEIGHTS, meta_graph, model_graph, with_objects, write_saved_model
from tiny_models import affine, constant

import drystone_base as ds
from drystone_abi.protos import SavedModel
from drystone_base.checkpoint import BundleReader, latest_checkpoint
from drystone_base.checkpoint import save as save_tensors
from drystone_base.core.dtypes import FLOAT32, INT64, STRING
from drystone_base.loaders import read_graph

X = np.array([[1, 0, 2], [-1, 3, 0.5]], np.float32)
WORDS = np.array([b"b", b"new", b"nowhere"], object)
FEEDS = {"x:0": X, "words:0": WORDS}
OUTS = ["y:0", "seen:0", "id:0"]
SIGNATURES = {
    "serving_default": (
        {"x": "x:0", "words": "words:0"},
        {"y": "y:0", "seen": "seen:0", "id": "id:0"},
    )
}


def error_of(code: str, call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(ds.DrystoneError) as caught:
        call(*args, **options)
    assert caught.value.code == code, caught.value
    return str(caught.value)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("a\nb\n")
    return path


@pytest.fixture
def session(words: Path) -> ds.Session:
    """A session that has learnt something."""
    config = ds.SessionConfig(access=ds.Access().with_read(words))
    made = ds.Session(learning_graph(), config)
    made.run(["init", "learn"], {"asset:0": str(words)})
    made.run("step", {"x:0": X})
    return made


def save_all(session: ds.Session, words: Path, path: Path) -> None:
    ds.save(session, path, signatures=SIGNATURES, assets={"asset:0": words}, init=["fill"])


def tree(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# ---- SavedModels ---------------------------------------------------------------------------------


def test_a_saved_model_holds_state_assets_and_signatures(
    session: ds.Session, words: Path, tmp_path: Path
) -> None:
    want = session.run(OUTS, FEEDS)
    save_all(session, words, tmp_path / "m")
    words.unlink()
    data = "variables/variables.data-00000-of-00001"
    own = ["assets/words.txt", "fingerprint.pb", "saved_model.pb"]
    files = [*own, data, "variables/variables.index"]
    assert tree(tmp_path) == [f"m/{name}" for name in files]
    model = ds.load(tmp_path / "m")
    assert model.loaded.tags == ("serve",)
    signature = model.signatures["serving_default"].signature
    assert signature.inputs["x"].shape == (-1, 3)
    assert (signature.outputs["y"].shape, signature.outputs["id"].dtype) == ((-1, 2), INT64)
    assert [want[1].tolist(), want[2].tolist()] == [[-1, 42, -1], [1, -1, -1]]
    got = model(x=X, words=WORDS)
    for name, value in zip(("y", "seen", "id"), want, strict=True):
        np.testing.assert_array_equal(got[name], value)


def test_saving_changes_neither_graph_nor_state(
    session: ds.Session, words: Path, tmp_path: Path
) -> None:
    graph, want = session.graph.to_bytes(), session.run(OUTS, FEEDS)
    save_all(session, words, tmp_path / "m")
    assert session.graph.to_bytes() == graph
    session.run("step", {"x:0": X})
    assert not np.array_equal(session.run("y:0", FEEDS), want[0])
    model = ds.load(tmp_path / "m")
    np.testing.assert_array_equal(model.run("y:0", FEEDS), want[0])


def test_what_is_saved_can_be_trained_and_saved_again(
    session: ds.Session, words: Path, tmp_path: Path
) -> None:
    save_all(session, words, tmp_path / "1")
    model = ds.load(tmp_path / "1")
    for place in (session, model):
        place.run("step", {"x:0": X})
    ds.save(model, tmp_path / "2")
    assert tree(tmp_path / "2") == tree(tmp_path / "1")
    again = ds.load(tmp_path / "2")
    assert len(again.graph) == len(model.graph)  # one saver, not two
    for got, want in zip(again.run(OUTS, FEEDS), session.run(OUTS, FEEDS), strict=True):
        np.testing.assert_array_equal(got, want)


def test_the_same_state_gives_the_same_bytes(
    session: ds.Session, words: Path, tmp_path: Path
) -> None:
    for name in "12":
        save_all(session, words, tmp_path / name)
    for name in tree(tmp_path / "1"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_stated_shapes_are_left_out(tmp_path: Path) -> None:
    """TensorFlow works shapes out itself, and refuses a graph that states wrong ones."""
    graph = affine()
    graph.set_attr(graph["y"], "_output_shapes", [(7, 7)])
    ds.save(graph, tmp_path / "m")
    assert graph["y"].attr("_output_shapes") == [(7, 7)]
    assert "_output_shapes" not in ds.load(tmp_path / "m").graph["y"].attrs


def test_a_graph_without_state_has_no_variables_folder(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()  # an empty folder is as good as none
    ds.save(affine(), tmp_path / "m")
    assert tree(tmp_path / "m") == ["fingerprint.pb", "saved_model.pb"]
    assert ds.load(tmp_path / "m")(x=np.ones((1, 3)))["y"].tolist() == [[3, 3, 3]]


def test_assets_of_one_name_and_an_initialiser_that_is_there(tmp_path: Path) -> None:
    source = write_saved_model(tmp_path / "first", meta_graph(model_graph()))
    (tmp_path / "words.txt").write_text("other")
    model = ds.load(source)
    attrs = {"dtype": STRING, "shape": (), "shared_name": "place"}
    place = model.graph.add("VarHandleOp", "place", attrs=attrs)
    more = constant(model.graph, "more", "x", object)
    model.graph.set_attr(more, "dtype", STRING)
    put = model.graph.add("AssignVariableOp", "put", [place, more], attrs={"dtype": STRING})
    model.graph.add("ReadVariableOp", "more/read", [place], attrs={"dtype": STRING})
    model.run("put")
    ds.save(model, tmp_path / "m", assets={"more:0": tmp_path / "words.txt"}, init=[put.name])
    assert {"assets/words.txt", "assets/words_1.txt"} < set(tree(tmp_path / "m"))
    paths = ds.load(tmp_path / "m").run(["path:0", "more/read:0"])
    assert [Path(p.item().decode()).read_text() for p in paths] == ["one\ntwo\n", "other"]


def test_stated_signatures_take_the_place_of_an_object_graph(tmp_path: Path) -> None:
    proto = meta_graph(model_graph(saver=False))
    folder = write_saved_model(tmp_path / "first", proto)
    proto = with_objects(proto, folder)
    data = SavedModel(saved_model_schema_version=1, meta_graphs=[proto]).SerializeToString()
    (folder / "saved_model.pb").write_bytes(data)
    model = ds.load(folder)
    ds.save(model, tmp_path / "m", signatures={"twice": ({"in": "x"}, {"out": "y:0"})})
    again = ds.load(tmp_path / "m")
    assert list(again.signatures) == ["twice"]
    assert again.loaded.meta is not None
    assert not again.loaded.meta.HasField("object_graph_def")
    assert again({"in": np.eye(3)})["out"].tolist() == WEIGHTS.tolist()


@pytest.mark.parametrize("there", ["file", "folder"])
def test_nothing_is_written_over(there: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    if there == "folder":
        path.mkdir()
    kept = path if there == "file" else path / "kept"
    kept.write_text("mine")
    text = error_of("path-taken", ds.save, affine(), path)
    assert f"{path} is there already" in text
    assert "a SavedModel must be written to a new or empty folder" in text
    assert kept.read_text() == "mine"


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    graph = learning_graph()
    text = error_of("uninitialized-variable", ds.save, graph, tmp_path / "m")
    assert "run the graph's initializer or restore a checkpoint first" in text
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()
    error_of("cannot-write", ds.save, affine(), tmp_path / "file" / "m")


def test_signatures_must_name_tensors(tmp_path: Path) -> None:
    for tensor, code in (("nothing:0", "unknown-node"), ("y:3", "unknown-fetch")):
        text = error_of(
            code, ds.save, affine(), tmp_path / "m", signatures={"s": ({}, {"o": tensor})}
        )
        assert tensor.split(":")[0] in text


# ---- checkpoints ---------------------------------------------------------------------------------


def test_a_checkpoint_holds_variables_and_tables(session: ds.Session, tmp_path: Path) -> None:
    ds.save_checkpoint(session, tmp_path / "at-1")
    reader = BundleReader(tmp_path / "at-1")
    assert reader.keys() == ["b", "learnt-keys", "learnt-values", "w"]
    assert reader.tensor("learnt-keys").tolist() == [b"new"]
    want = session.run(["y:0", "seen:0"], FEEDS)
    session.run("step", {"x:0": X})
    ds.save_checkpoint(session, tmp_path / "at-2")
    assert latest_checkpoint(tmp_path) == tmp_path / "at-2"
    fresh = ds.Session(learning_graph())
    ds.restore_checkpoint(fresh, tmp_path / "at-1")
    for got, value in zip(fresh.run(["y:0", "seen:0"], FEEDS), want, strict=True):
        np.testing.assert_array_equal(got, value)


def test_the_folder_lists_the_checkpoints_that_are_there(
    session: ds.Session, tmp_path: Path
) -> None:
    for name in ("a", "b", "c", "b"):
        ds.save_checkpoint(session, tmp_path / name)
        if name == "b":
            (tmp_path / "a.index").unlink(missing_ok=True)
    text = (tmp_path / "checkpoint").read_text()
    assert text.split() == [
        *("model_checkpoint_path:", '"b"'),
        *("all_model_checkpoint_paths:", '"c"', "all_model_checkpoint_paths:", '"b"'),
    ]


def test_a_models_own_saver_names_the_tensors(tmp_path: Path) -> None:
    graph = model_graph()
    names = [graph[n] for n in ("save/filename", "save/names", "save/slices")]
    read = graph["w/read"]
    write = graph.add("SaveV2", "save/write", [*names, read], attrs={"dtypes": [FLOAT32]})
    attrs = {"T": STRING}
    graph.add("Identity", "save/done", [names[0]], controls=[write], attrs=attrs)
    proto = meta_graph(graph)
    proto.saver_def.save_tensor_name = "save/done:0"
    model = ds.load(write_saved_model(tmp_path / "m", proto))
    ds.save_checkpoint(model, tmp_path / "ours")
    assert BundleReader(tmp_path / "ours").keys() == ["weights"]
    save_tensors(tmp_path / "other", {"weights": 2 * WEIGHTS})
    ds.restore_checkpoint(model, tmp_path / "other")
    assert model.run("w/read").tolist() == (2 * WEIGHTS).tolist()


def test_two_handles_are_one_variable_and_scopes_stay_apart(tmp_path: Path) -> None:
    graph = ds.Graph()
    attrs = {"dtype": FLOAT32, "shape": (), "shared_name": "v"}
    first = graph.add("VarHandleOp", "save/one", attrs=attrs)
    second = graph.add("VarHandleOp", "two", attrs=attrs)
    value = constant(graph, "value", 3)
    graph.add("AssignVariableOp", "set", [first, value], attrs={"dtype": FLOAT32})
    graph.add("ReadVariableOp", "get", [second], attrs={"dtype": FLOAT32})
    session = ds.Session(graph)
    session.run("set")
    ds.save(session, tmp_path / "m")
    assert BundleReader(tmp_path / "m" / "variables" / "variables").keys() == ["v"]
    assert ds.load(tmp_path / "m").run("get") == 3
    meta = ds.load(tmp_path / "m").loaded.meta
    assert meta is not None
    assert meta.saver_def.restore_op_name == "save_1/restore_all"


def test_a_handle_without_shared_name_gets_its_nodes(session: ds.Session, tmp_path: Path) -> None:
    """In TensorFlow all handles without one are the same variable."""
    ds.save(session, tmp_path / "m")
    assert session.graph["b"].attr("shared_name") == ""
    assert ds.load(tmp_path / "m").graph["b"].attr("shared_name") == "b"


def test_a_table_behind_a_reference(tmp_path: Path) -> None:
    graph = ds.Graph()
    table = graph.add("MutableHashTable", "old", attrs={"key_dtype": INT64, "value_dtype": FLOAT32})
    keys, values = constant(graph, "keys", [3, 5], np.int64), constant(graph, "values", [0.3, 0.5])
    types = {"Tin": INT64, "Tout": FLOAT32}
    graph.add("LookupTableInsert", "put", [table, keys, values], attrs=types)
    default = constant(graph, "default", -1)
    graph.add("LookupTableFind", "find", [table, keys, default], attrs=types)
    session = ds.Session(graph)
    session.run("put")
    ds.save(session, tmp_path / "m")
    assert ds.load(tmp_path / "m").run("find") == pytest.approx([0.3, 0.5])


def test_what_a_checkpoint_lacks_is_named(session: ds.Session, tmp_path: Path) -> None:
    save_tensors(tmp_path / "half", {"w": np.zeros((3, 2), np.float32)})
    text = error_of("checkpoint-no-tensor", ds.restore_checkpoint, session, tmp_path / "half")
    assert "'b'" in text


def test_a_graph_without_state_has_no_checkpoint(tmp_path: Path) -> None:
    session = ds.Session(affine())
    text = error_of("nothing-to-save", ds.save_checkpoint, session, tmp_path / "x")
    assert "a checkpoint is of variables and tables that can change" in text
    assert not list(tmp_path.iterdir())


def test_saved_over_the_checkpoint_that_it_was_read_from(
    session: ds.Session, tmp_path: Path
) -> None:
    """Restored values are views of the file, which is replaced, not changed."""
    prefix = tmp_path / "x"
    ds.save_checkpoint(session, prefix)
    fresh = ds.Session(read_graph(session.graph.to_bytes()))
    ds.restore_checkpoint(fresh, prefix)
    want = fresh.run("y:0", FEEDS)
    fresh.run("step", {"x:0": X})
    ds.save_checkpoint(fresh, prefix)
    np.testing.assert_array_equal(session.run("y:0", FEEDS), want)
    shutil.copytree(tmp_path, tmp_path / "copy", ignore=lambda *_: ["copy"])
    again = ds.Session(learning_graph())
    ds.restore_checkpoint(again, tmp_path / "copy" / "x")
    np.testing.assert_array_equal(again.run("y:0", FEEDS), fresh.run("y:0", FEEDS))
