"""SavedModels and MetaGraphs: chosen, restored, initialised; what is wrong is said."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from model_files import (
    WEIGHTS,
    const,
    meta_graph,
    model_graph,
    variable,
    with_objects,
    write_saved_model,
)
from shared_data import MODELS, WHY_NOT, model_index

from drystone_abi.protos import AttrValue, DataType, MetaGraphDef, SavedModel
from drystone_base.api.model import load
from drystone_base.api.session import SessionConfig
from drystone_base.checkpoint import save
from drystone_base.core.dtypes import FLOAT32, INT64, STRING
from drystone_base.core.errors import CheckpointError, DrystoneError
from drystone_base.files import access as policy
from drystone_base.files.access import Access
from drystone_base.graph import Graph
from drystone_base.loaders import TensorSpec, load_model
from drystone_base.ops.attrs import Shape

X = np.array([[1, 0, 2]], np.float32)


def error_of(code: str, path: Path, **options: Any) -> str:
    with pytest.raises(DrystoneError) as caught:
        load_model(path, **options)
    assert caught.value.code == code, caught.value
    return str(caught.value)


def saved(tmp_path: Path, **options: Any) -> Path:
    return write_saved_model(tmp_path / "m", meta_graph(model_graph(), **options))


# ---- SavedModel ----------------------------------------------------------------------------------


def test_a_saved_model_is_read_without_running_it(tmp_path: Path) -> None:
    loaded = load_model(saved(tmp_path))
    assert (loaded.kind, loaded.tags, loaded.path) == ("savedmodel", ("serve",), tmp_path / "m")
    assert list(loaded.signatures) == ["serving_default"]
    signature = loaded.signatures["serving_default"]
    assert signature.inputs == {"x": TensorSpec("x:0", FLOAT32, (-1, 3))}
    assert signature.outputs == {"y": TensorSpec("y:0", FLOAT32, (-1, 2))}
    assert loaded.assets == {"asset:0": tmp_path / "m" / "assets" / "words.txt"}
    assert [targets for targets, _ in loaded.init_steps] == [["init"]]
    assert list(loaded.variables) == ["w"], "what the saver would assign, without running it"
    assert loaded.size > sum(len(p.read_bytes()) for p in (tmp_path / "m").glob("*.pb"))


def test_saver_and_assets_take_effect(tmp_path: Path) -> None:
    model = load(saved(tmp_path))
    np.testing.assert_array_equal(model(x=X)["y"], X @ WEIGHTS)
    assert model.run("path:0").item() == str(tmp_path / "m" / "assets" / "words.txt").encode()


def test_restore_by_object_graph(tmp_path: Path) -> None:
    folder = write_saved_model(tmp_path / "m", meta_graph(model_graph(saver=False)))
    meta = with_objects(meta_graph(model_graph(saver=False)), folder)
    model = SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
    (folder / "saved_model.pb").write_bytes(model.SerializeToString())
    loaded = load_model(folder)
    assert list(loaded.variables) == ["w"]
    np.testing.assert_array_equal(load(folder)(x=X)["y"], X @ WEIGHTS)


def test_restore_by_name_without_saver_and_objects(tmp_path: Path) -> None:
    meta = meta_graph(model_graph(saver=False))
    folder = write_saved_model(tmp_path / "m", meta, key="w")
    np.testing.assert_array_equal(load(folder)(x=X)["y"], X @ WEIGHTS)


def test_a_textual_saved_model(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    binary = folder / "saved_model.pb"
    text = text_format.MessageToString(SavedModel.FromString(binary.read_bytes()))
    (folder / "saved_model.pbtxt").write_text(text)
    binary.unlink()
    np.testing.assert_array_equal(load(folder)(x=X)["y"], X @ WEIGHTS)
    (folder / "saved_model.pbtxt").write_text("saved_model_schema_version: 1\nmeta_graphs { : }")
    assert "2:15" in error_of("bad-saved-model", folder)


def test_tags_choose(tmp_path: Path) -> None:
    train = meta_graph(model_graph(), signature=False)
    train.meta_info_def.tags[:] = ["train", "gpu"]
    folder = write_saved_model(tmp_path / "m", train, meta_graph(model_graph()))
    assert load_model(folder).tags == ("serve",)
    assert load_model(folder, tags=["gpu", "train"]).tags == ("gpu", "train")
    assert load_model(folder, tags="serve").tags == ("serve",)
    text = error_of("no-such-tags", folder, tags=["train"])
    assert "found: {gpu, train}; {serve}" in text
    assert "needed: {train}" in text


def test_tag_sets_that_overlap_are_told_apart(tmp_path: Path) -> None:
    sets = (("serve",), ("train",), ("serve", "gpu"), ())
    metas = [meta_graph(model_graph()) for _ in sets]
    for meta, tags in zip(metas, sets, strict=True):
        meta.meta_info_def.tags[:] = tags
        meta.meta_info_def.tensorflow_version = "+".join(tags)
    folder = write_saved_model(tmp_path / "m", *metas)
    for tags in sets:
        meta_read = load_model(folder, tags=tags).meta
        assert meta_read is not None
        assert meta_read.meta_info_def.tensorflow_version == "+".join(tags)
    text = error_of("no-such-tags", folder, tags=["gpu"])
    assert "found: {serve}; {train}; {gpu, serve}; {}" in text


def test_hub_models_need_no_tags(tmp_path: Path) -> None:
    hub = meta_graph(model_graph())
    hub.meta_info_def.ClearField("tags")
    train = meta_graph(model_graph())
    train.meta_info_def.tags[:] = ["train"]
    alone = write_saved_model(tmp_path / "alone", train)
    assert load_model(alone).tags == ("train",)
    both = write_saved_model(tmp_path / "both", train, hub)
    assert load_model(both).tags == ()
    assert load_model(both, tags=["train"]).tags == ("train",)


def test_without_signatures_placeholders_and_sinks_serve(tmp_path: Path) -> None:
    loaded = load_model(saved(tmp_path, signature=False))
    assert list(loaded.signatures) == ["default"]
    assert loaded.signatures["default"].inputs == {"x": TensorSpec("x:0", FLOAT32, (-1, 3))}
    assert list(loaded.signatures["default"].outputs) == ["y"]


def test_a_model_without_variables_needs_no_checkpoint(tmp_path: Path) -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    folder = write_saved_model(tmp_path / "m", MetaGraphDef(graph_def=graph.to_proto()))
    shutil.rmtree(folder / "variables")
    assert load(folder)(X)["y"].tolist() == (-X).tolist()


def test_sparse_and_composite_arguments_are_spelled_out(tmp_path: Path) -> None:
    meta = meta_graph(model_graph())
    inputs = meta.signature_def["serving_default"].inputs
    sparse = inputs["s"]
    sparse.dtype = DataType.DT_STRING
    sparse.tensor_shape.dim.add(size=-1)
    sparse.tensor_shape.dim.add(size=9)
    sparse.coo_sparse.indices_tensor_name = "i:0"
    sparse.coo_sparse.values_tensor_name = "v:0"
    sparse.coo_sparse.dense_shape_tensor_name = "d:0"
    for name in ("p:0", "q:1"):
        part = inputs["c"].composite_tensor.components.add(name=name, dtype=9)
        part.tensor_shape.unknown_rank = True
    found = load_model(write_saved_model(tmp_path / "m", meta)).signatures["serving_default"].inputs
    assert found == {
        "c/0": TensorSpec("p:0", INT64, None),
        "c/1": TensorSpec("q:1", INT64, None),
        "s/indices": TensorSpec("i:0", INT64, (-1, 2)),
        "s/values": TensorSpec("v:0", STRING, (-1,)),
        "s/dense_shape": TensorSpec("d:0", INT64, (2,)),
        "x": TensorSpec("x:0", FLOAT32, (-1, 3)),
    }


@pytest.mark.parametrize("key", ["saved_model_main_op", "legacy_init_op"])
def test_init_ops_of_older_models(tmp_path: Path, key: str) -> None:
    meta = meta_graph(model_graph())
    del meta.signature_def["__saved_model_init_op"]
    meta.collection_def[key].node_list.value.append("init")
    loaded = load_model(write_saved_model(tmp_path / "m", meta))
    assert [targets for targets, _ in loaded.init_steps] == [["init"]]


def test_an_init_op_that_does_nothing_is_not_run(tmp_path: Path) -> None:
    meta = meta_graph(model_graph())
    meta.graph_def.node.add(name="first", op="NoOp")
    meta.graph_def.node.add(name="nothing", op="NoOp", input=["^first"])
    meta.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "nothing"
    assert load_model(write_saved_model(tmp_path / "m", meta)).init_steps == []


@pytest.mark.parametrize(
    ("tensor", "shape", "container", "says"),
    [
        (WEIGHTS, (7,), "", None),
        (WEIGHTS, (3, 2), "elsewhere", None),
        (WEIGHTS.astype(np.float64), (3, 2), "", "must have the dtype that the graph restores"),
        (None, (3, 2), "", "has no tensor 'weights'"),
    ],
)
def test_where_a_saver_would_not_just_assign_it_is_run(
    tmp_path: Path, tensor: Any, shape: Shape, container: str, says: str | None
) -> None:
    """So a failure is the one of its nodes; a container's variable is another of that name."""
    graph = model_graph()
    graph.set_attr(graph["handles/w"], "shape", shape)
    graph.set_attr(graph["handles/w"], "container", container)
    folder = write_saved_model(tmp_path / "m", meta_graph(graph))
    save(
        folder / "variables" / "variables", {"other": X} if tensor is None else {"weights": tensor}
    )
    assert load_model(folder).init_steps[0][0] == ["save/all"]
    if says is None:
        np.testing.assert_array_equal(load(folder).run("w/read"), WEIGHTS)
        return
    with pytest.raises(DrystoneError, match=says):
        load(folder)


def test_what_nobody_needs_may_be_missing(tmp_path: Path) -> None:
    """Of what is needed the saver says where it is, whatever it would do with the rest."""
    graph = model_graph()
    other = variable(graph, "other", FLOAT32, ())
    more = const(graph, "save/more", ["gone"], STRING)
    inputs = [graph["save/filename"], more, graph["save/slices"]]
    value = graph.add("RestoreV2", "save/other", inputs, attrs={"dtypes": [FLOAT32]})
    put = graph.add("AssignVariableOp", "save/also", [other, value], attrs={"dtype": FLOAT32})
    graph.add_control(graph["save/all"], put)
    folder = write_saved_model(tmp_path / "m", meta_graph(graph))
    with pytest.raises(CheckpointError, match="gone"):
        load(folder)
    model = load(folder, needed=["y:0"])
    np.testing.assert_array_equal(model.run("y:0", {"x:0": X}), X @ WEIGHTS)


def test_a_saver_that_reads_another_checkpoint_is_run(tmp_path: Path) -> None:
    """Only what comes from the checkpoint that it is told of is known."""
    graph = model_graph()
    folder = tmp_path / "m"
    name = const(graph, "save/fixed", str(folder / "assets" / "more"), STRING)
    graph.set_input(graph["save/read"], 0, (name, 0))
    write_saved_model(folder, meta_graph(graph))
    save(folder / "assets" / "more", {"weights": WEIGHTS + 1})
    assert load_model(folder).init_steps[0][0] == ["save/all"]
    np.testing.assert_array_equal(load(folder).run("w/read"), WEIGHTS + 1)


@pytest.mark.parametrize(
    ("node", "edit", "code"),
    [
        ("save/put", lambda n: n.ClearField("input"), "wrong-fan-in"),
        ("save/put", lambda n: n.input.pop(), "wrong-fan-in"),
        ("save/read", lambda n: n.ClearField("input"), "wrong-fan-in"),
        ("save/names", lambda n: n.attr.pop("value"), "missing-attr"),
        ("save/names", lambda n: n.attr["dtype"].CopyFrom(AttrValue(type=3)), "dtype-mismatch"),
    ],
)
def test_a_malformed_saver_is_named(tmp_path: Path, node: str, edit: Any, code: str) -> None:
    meta = meta_graph(model_graph())
    (found,) = [n for n in meta.graph_def.node if n.name == node]
    edit(found)
    with pytest.raises(DrystoneError) as caught:
        load(write_saved_model(tmp_path / "m", meta))
    assert caught.value.code == code


def test_values_of_variables_are_the_session_s(tmp_path: Path) -> None:
    """A model does not hold what was restored beside what its variables are now."""
    model = load(saved(tmp_path))
    assert model.loaded.variables == {}
    np.testing.assert_array_equal(model.run("w/read"), WEIGHTS)


@pytest.mark.parametrize("prefix", ["m-00000-of-00001", "m"])
def test_links_of_a_checkpoint_are_not_followed(tmp_path: Path, prefix: str) -> None:
    """Whatever its name looks like: the file that names it came with the model."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.meta").write_bytes(meta_graph(model_graph()).SerializeToString())
    save(tmp_path / "secret", {"weights": WEIGHTS})
    for part in ("index", "data-00000-of-00001"):
        (folder / f"{prefix}.{part}").symlink_to(tmp_path / f"secret.{part}")
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{prefix}"', encoding="utf-8")
    with pytest.raises(CheckpointError, match="may not read"):
        load(folder / "m.meta")


def test_a_checkpoint_elsewhere_is_not_a_model_s_to_name(tmp_path: Path) -> None:
    """Without a saver no run asks; the caller may name it, and so may the session's config."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.meta").write_bytes(meta_graph(model_graph(saver=False)).SerializeToString())
    save(tmp_path / "secret" / "ckpt", {"w": WEIGHTS})
    (folder / "checkpoint").write_text('model_checkpoint_path: "../secret/ckpt"', encoding="utf-8")
    with pytest.raises(CheckpointError) as caught:
        load(folder / "m.meta")
    assert caught.value.code == "access-denied"
    assert f"--allow-read {tmp_path / 'secret'}" in caught.value.remedy
    given = load(folder / "m.meta", checkpoint=tmp_path / "secret" / "ckpt")
    np.testing.assert_array_equal(given.run("w/read"), WEIGHTS)
    config = SessionConfig(access=Access(read=(tmp_path / "secret",)))
    np.testing.assert_array_equal(load(folder, config=config).run("w/read"), WEIGHTS)


def test_a_folder_that_may_not_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Any) -> Any:
        raise PermissionError("no listing")

    folder = saved(tmp_path)
    monkeypatch.setattr(policy, "checkpoint_parts", refuse)
    with pytest.raises(CheckpointError, match="cannot be listed: no listing"):
        load_model(folder)


def test_a_checkpoint_that_leaves_the_folder_is_for_the_config_to_open(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    (folder / "variables").rename(tmp_path / "elsewhere")
    (folder / "variables").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="may not read"):
        load(folder)
    config = SessionConfig(access=Access(read=(tmp_path / "elsewhere",)))
    np.testing.assert_array_equal(load(folder, config=config).run("w/read"), WEIGHTS)


@pytest.mark.parametrize(
    "name",
    ["../words.txt", "/etc/passwd", "a/../../b", "C:\\x", "..", "", "a\\..\\b", "C:x", "a\0b"],
)
def test_assets_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    meta = meta_graph(model_graph())
    meta.asset_file_def[0].filename = name
    text = error_of("unsafe-asset", write_saved_model(tmp_path / "m", meta))
    assert f"found: {name!r}" in text


def test_missing_parts_are_named(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    (folder / "assets" / "words.txt").rename(folder / "assets" / "word.txt")
    text = error_of("missing-asset", folder)
    assert "found: word.txt" in text
    assert "needed: words.txt" in text
    (folder / "assets" / "word.txt").rename(folder / "assets" / "words.txt")
    (folder / "variables" / "variables.index").unlink()
    assert "2 variables, such as 'w'" in error_of("checkpoint-missing-index", folder)


def test_files_that_are_no_saved_model(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    binary = folder / "saved_model.pb"
    whole = binary.read_bytes()
    binary.write_bytes(whole[: len(whole) // 2])
    assert "[bad-saved-model]" in error_of("bad-saved-model", folder)
    binary.write_bytes(b"")
    assert "no MetaGraph in it" in error_of("bad-saved-model", folder)
    binary.write_bytes(whole)
    shutil.copy(binary, tmp_path / "renamed.pb")
    assert "under another name" in error_of("format-not-supported", tmp_path / "renamed.pb")


# ---- MetaGraph -----------------------------------------------------------------------------------


@pytest.mark.parametrize("textual", [False, True])
def test_a_meta_graph_finds_its_checkpoint(tmp_path: Path, textual: bool) -> None:
    meta = meta_graph(model_graph(), signature=False)
    raw = text_format.MessageToString(meta).encode() if textual else meta.SerializeToString()
    (tmp_path / "model-7.meta").write_bytes(raw)
    loaded = load_model(tmp_path)
    assert (loaded.kind, loaded.checkpoint, loaded.init_steps) == ("metagraph", None, [])
    save(tmp_path / "model-7", {"weights": WEIGHTS})
    assert load_model(tmp_path).checkpoint == tmp_path / "model-7"
    np.testing.assert_array_equal(load(tmp_path / "model-7.meta")(X)["y"], X @ WEIGHTS)


def test_a_given_checkpoint_wins(tmp_path: Path) -> None:
    meta = meta_graph(model_graph())
    (tmp_path / "model.meta").write_bytes(meta.SerializeToString())
    save(tmp_path / "model", {"weights": WEIGHTS})
    save(tmp_path / "other", {"weights": 2 * WEIGHTS})
    model = load(tmp_path / "model.meta", checkpoint=tmp_path / "other")
    np.testing.assert_array_equal(model(X)["y"], 2 * X @ WEIGHTS)
    text = error_of("checkpoint-missing-index", tmp_path, checkpoint=tmp_path / "otter")
    assert "needed: otter.index" in text


def test_of_several_meta_graphs_the_latest_counts(tmp_path: Path) -> None:
    for step in (1, 2):
        meta = meta_graph(model_graph())
        (tmp_path / f"model-{step}.meta").write_bytes(meta.SerializeToString())
        save(tmp_path / f"model-{step}", {"weights": step * WEIGHTS})
    assert "model-1.meta, model-1" not in error_of("no-model-found", tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "saved_model.pb").touch()
    assert f"did you mean {tmp_path / 'inner'}?" in error_of("no-model-found", tmp_path)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model-2"')
    assert load_model(tmp_path).checkpoint == tmp_path / "model-2"


def test_tables_are_initialised(tmp_path: Path) -> None:
    meta = meta_graph(model_graph())
    meta.collection_def["table_initializer"].node_list.value.extend(["init", "gone"])
    (tmp_path / "model.meta").write_bytes(meta.SerializeToString())
    assert load_model(tmp_path).init_steps == [(["init"], {})]


def test_a_damaged_meta_graph(tmp_path: Path) -> None:
    path = tmp_path / "model.meta"
    path.write_bytes(meta_graph(model_graph()).SerializeToString()[:-3])
    assert "the file must be a MetaGraphDef" in error_of("bad-meta-graph", path)
    path.write_bytes(b"")
    assert "is empty" in error_of("bad-meta-graph", path)


def test_a_name_that_the_checkpoint_lacks(tmp_path: Path) -> None:
    folder = write_saved_model(tmp_path / "m", meta_graph(model_graph()), key="weight")
    with pytest.raises(DrystoneError, match=r"did you mean weight\?"):
        load(folder)


def test_reference_variables_are_restored_by_name(tmp_path: Path) -> None:
    graph = Graph()
    w = graph.add("VariableV2", "w", attrs={"dtype": FLOAT32, "shape": (3, 2)})
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    graph.add("MatMul", "y", [x, w], attrs={"T": FLOAT32})
    variable(graph, "not_saved", FLOAT32, ())
    meta = MetaGraphDef(graph_def=graph.to_proto())
    (tmp_path / "model.meta").write_bytes(meta.SerializeToString())
    save(tmp_path / "model", {"w": WEIGHTS})
    np.testing.assert_array_equal(load(tmp_path)(X)["y"], X @ WEIGHTS)


# ---- real models ---------------------------------------------------------------------------------


@pytest.mark.skipif(not model_index(), reason=WHY_NOT)
@pytest.mark.parametrize("row", model_index(), ids=lambda r: str(r["name"]))
def test_real_models_have_the_recorded_signature(row: dict[str, Any]) -> None:
    loaded = load_model(MODELS / row["name"] / row["file"])
    kinds = {"savedmodel": "savedmodel", "graphdef": "graphdef"}
    assert loaded.kind == kinds.get(row["format"], "metagraph")
    inputs, outputs = {}, {}
    for signature in loaded.signatures.values():
        inputs.update({s.tensor: s for s in signature.inputs.values()})
        outputs.update({s.tensor: s for s in signature.outputs.values()})
    for want in row["inputs"]:
        found = inputs[want["tensor"]]
        assert str(found.dtype) == want["dtype"]
        shape = want["shape"] and [-1 if d is None else d for d in want["shape"]]
        assert (None if found.shape is None else list(found.shape)) == shape
    for want in row["outputs"]:
        assert str(outputs[want["tensor"]].dtype) == want["dtype"]


def test_one_tag_may_be_text(tmp_path: Path) -> None:
    folder = write_saved_model(tmp_path / "m", meta_graph(model_graph()))
    assert load(folder, tags="serve").loaded.tags == ("serve",)
    with pytest.raises(DrystoneError, match="no-such-tags"):
        load(folder, tags="train")
