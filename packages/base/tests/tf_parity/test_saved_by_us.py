"""TensorFlow restores the checkpoints and SavedModels that we write, trained state included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learning_graph import learning_graph
from oracle import difference
from shared_data import MODELS, REPO, WHY_NOT, inference_models, tolerance

import drystone_base as ds
from drystone_base.ops.attrs import TensorAttr

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)
v1 = tf.compat.v1

OURS = REPO / "integration_tests" / "data"
RUNS = sorted(path.parent for path in OURS.glob("*/train.json"))
X = np.array([[1, 0, 2], [-1, 3, 0.5]], np.float32)
WORDS = np.array([b"b", b"new", b"nowhere"], object)


def trained(folder: Path, steps: int) -> tuple[ds.Model, dict[str, Any], Any]:
    ref = json.loads((folder / "train.json").read_text())
    data = np.load(folder / ref["file"])
    model = ds.load(folder / "metagraph")
    train(model.run, ref, data, 0, steps)
    return model, ref, data


def train(run: Any, ref: dict[str, Any], data: Any, start: int, stop: int) -> list[float]:
    return [
        float(
            run([ref["loss"], ref["train_op"]], {ref["x"]: data["x"][k], ref["y"]: data["y"][k]})[0]
        )
        for k in range(start, stop)
    ]


@pytest.mark.parametrize("folder", RUNS, ids=lambda f: f.name)
def test_tensorflow_goes_on_training_from_our_saved_model(folder: Path, tmp_path: Path) -> None:
    model, ref, data = trained(folder, 2)
    ds.save(model, tmp_path / "m")
    want = data["loss"][2 : ref["steps"]]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert train(session.run, ref, data, 2, ref["steps"]) == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("folder", RUNS, ids=lambda f: f.name)
def test_tensorflow_goes_on_training_from_our_checkpoint(folder: Path, tmp_path: Path) -> None:
    model, ref, data = trained(folder, 2)
    ds.save_checkpoint(model, tmp_path / "trained-2")
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "trained-2")
    with tf.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(str(folder / "metagraph" / "model.meta"))
        saver.restore(session, str(tmp_path / "trained-2"))
        got = train(session.run, ref, data, 2, ref["steps"])
    assert got == pytest.approx(data["loss"][2 : ref["steps"]], rel=1e-5)


@pytest.mark.parametrize("folder", RUNS, ids=lambda f: f.name)
def test_both_loaders_predict_the_same(folder: Path, tmp_path: Path) -> None:
    model, ref, data = trained(folder, 3)
    tensor = ref.get("pred", ref["loss"])
    ins = {"x": ref["x"], "y": ref["y"]}
    ds.save(model, tmp_path / "m", signatures={"serving_default": (ins, {"out": tensor})})
    feeds = {"x": data["x"][0], "y": data["y"][0]}
    want = model.run(tensor, {ref[n]: v for n, v in feeds.items()})
    function = tf.saved_model.load(str(tmp_path / "m")).signatures["serving_default"]
    got = function(**{n: tf.constant(v) for n, v in feeds.items()})["out"].numpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ds.load(tmp_path / "m")(feeds)["out"], want)


@pytest.fixture
def stateful(tmp_path: Path) -> ds.Session:
    """Variables of both kinds, a table that has learnt a word, and one filled from a file."""
    config = ds.SessionConfig(access=ds.Access().with_read(tmp_path))
    session = ds.Session(learning_graph(), config)
    (tmp_path / "words.txt").write_text("a\nb\n")
    session.run(["init", "learn"], {"asset:0": str(tmp_path / "words.txt")})
    session.run("step", {"x:0": X})
    return session


def save_stateful(session: ds.Session, folder: Path) -> Path:
    ins, outs = {"x": "x:0", "words": "words:0"}, {"y": "y:0", "seen": "seen:0", "id": "id:0"}
    ds.save(
        session,
        folder / "m",
        signatures={"serving_default": (ins, outs)},
        assets={"asset:0": folder / "words.txt"},
        init=["fill"],
    )
    (folder / "words.txt").unlink()
    return folder / "m"


def test_variables_tables_and_assets_through_the_v1_loader(
    stateful: ds.Session, tmp_path: Path
) -> None:
    outs = ["y:0", "seen:0", "id:0"]
    want = stateful.run(outs, {"x:0": X, "words:0": WORDS})
    path = save_stateful(stateful, tmp_path)
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(path))
        got = session.run(outs, {"x:0": X, "words:0": WORDS})
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_variables_tables_and_assets_through_the_v2_loader(
    stateful: ds.Session, tmp_path: Path
) -> None:
    outs = {"y": "y:0", "seen": "seen:0", "id": "id:0"}
    want = stateful.run(outs, {"x:0": X, "words:0": WORDS})
    path = save_stateful(stateful, tmp_path)
    function = tf.saved_model.load(str(path)).signatures["serving_default"]
    got = function(x=tf.constant(X), words=tf.constant(WORDS))
    for name, value in want.items():
        np.testing.assert_allclose(got[name].numpy(), value, rtol=1e-6, err_msg=name)


LABELS = (
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool", "string"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
)


FLOAT8 = ("float8_e5m2", "float8_e4m3fn")  # TensorFlow has no Assign for them


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_variables_of_every_dtype(resource: bool, tmp_path: Path) -> None:
    graph = ds.Graph()
    labels = (*LABELS, *FLOAT8) if resource else LABELS
    values = {}
    for label in labels:
        dtype = ds.as_dtype(label)
        drawn = np.random.default_rng(3).standard_normal((2, 3)) * 9
        value = drawn.astype("S").astype(object) if label == "string" else drawn.astype(dtype.np)
        values[label] = value
        attrs = {"dtype": dtype, "value": TensorAttr(array=value)}
        first = graph.add("Const", f"{label}/first", attrs=attrs)
        attrs = {"dtype": dtype, "shape": (2, 3)}
        node = graph.add("VarHandleOp" if resource else "VariableV2", label, attrs=attrs)
        if resource:
            graph.add("AssignVariableOp", f"{label}/set", [node, first], attrs={"dtype": dtype})
            graph.add("ReadVariableOp", f"{label}/get", [node], attrs={"dtype": dtype})
        else:
            graph.add("Assign", f"{label}/set", [node, first], attrs={"T": dtype})
            graph.add("Identity", f"{label}/get", [node], attrs={"T": dtype})
    session = ds.Session(graph)
    session.run([f"{label}/set" for label in labels])
    ds.save(session, tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as theirs:
        v1.saved_model.load(theirs, ["serve"], str(tmp_path / "m"))
        for label in labels:
            got = theirs.run(f"{label}/get:0")
            assert got.tolist() == values[label].tolist(), label


REAL = [
    m for m in inference_models() if m["name"] in ("guesslang", "textgenrnn", "musicnn-mtt-vgg")
]


@pytest.mark.skipif(not REAL, reason=WHY_NOT)
@pytest.mark.parametrize("row", REAL, ids=lambda r: r["name"])
def test_real_models_saved_again(row: dict[str, Any], tmp_path: Path) -> None:
    ds.save(ds.load(MODELS / row["name"] / row["file"]), tmp_path / "m")
    ref = next(r for r in row["refs"] if r["kind"] != "train")
    data = np.load(MODELS / row["name"] / ref["file"], allow_pickle=True)
    feeds = {tensor: data[key] for tensor, key in ref["inputs"].items()}
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        got = session.run(list(ref["outputs"]), feeds)
    for value, key in zip(got, ref["outputs"].values(), strict=True):
        assert difference(np.asarray(value), data[key]) <= tolerance(row)
    assert tf.saved_model.load(str(tmp_path / "m")).signatures


class Learner(tf.Module):  # type: ignore[misc]
    """A module that trains by a signature; its table is filled from an asset."""

    def __init__(self, vocabulary: Path) -> None:
        super().__init__()
        init = tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(init, -1)
        self.w = tf.Variable(np.ones((3, 2), np.float32))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])  # type: ignore[untyped-decorator]
    def predict(self, words: Any) -> Any:
        return {"rows": tf.gather(self.w, self.table.lookup(words))}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])  # type: ignore[untyped-decorator]
    def step(self, words: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(self.predict(words)["rows"]))
        gradient = tape.gradient(loss, self.w)
        self.w.assign_sub(0.1 * tf.convert_to_tensor(gradient))
        return {"loss": loss}


def test_a_module_trained_here_is_a_module_again(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("zero\none\ntwo\n")
    module = Learner(tmp_path / "words.txt")
    signatures = {"serving_default": module.predict, "step": module.step}
    tf.saved_model.save(module, str(tmp_path / "theirs"), signatures=signatures)
    (tmp_path / "words.txt").unlink()
    words = np.array([b"two", b"zero"], object)
    model = ds.load(tmp_path / "theirs")
    for _ in range(3):
        loss = model.signatures["step"](words=words)["loss"]
        assert loss == pytest.approx(module.step(tf.constant(words))["loss"].numpy(), rel=1e-6)
    ds.save(model, tmp_path / "ours")
    again = tf.saved_model.load(str(tmp_path / "ours"))
    np.testing.assert_allclose(again.w.numpy(), module.w.numpy(), rtol=1e-6)
    rows = again.predict(tf.constant(words))["rows"].numpy()
    np.testing.assert_allclose(rows, model(words=words)["rows"], rtol=1e-6)
    again.step(tf.constant(words))  # and goes on learning
    assert not np.allclose(again.w.numpy(), module.w.numpy())


def test_an_object_checkpoint_into_a_plain_session(tmp_path: Path) -> None:
    root = tf.Module()
    root.kernel = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
    root.count = tf.Variable(7, name="count", dtype=tf.int64)
    prefix = tf.train.Checkpoint(model=root).write(str(tmp_path / "objects"))
    graph = ds.Graph()
    floats, longs = ds.as_dtype("float32"), ds.as_dtype("int64")
    for name, dtype, shape in (("w", floats, (3, 2)), ("count", longs, ())):
        node = graph.add("VarHandleOp", name, attrs={"dtype": dtype, "shape": shape})
        graph.add("ReadVariableOp", f"{name}/read", [node], attrs={"dtype": dtype})
    session = ds.Session(graph)
    ds.restore_checkpoint(session, prefix)
    w, count = session.run(["w/read", "count/read"])
    assert (w.tolist(), count) == ([[0, 1], [2, 3], [4, 5]], 7)
