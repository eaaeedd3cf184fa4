"""Keras models as files: loaded by base, exported, kept whole by checkpoints, hostile archives."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

import drystone_base as ds
from drystone_base.core.errors import BadModelFile
from keras_drystone import callbacks, loading

F32 = np.float32


def model_of_two() -> Any:
    image, more = keras.Input((8, 8, 3), name="image"), keras.Input((4,), name="more")
    x = layers.BatchNormalization()(layers.Conv2D(4, 3, activation="relu")(image))
    x = layers.Concatenate()([layers.GlobalAveragePooling2D()(x), more])
    return keras.Model(
        [image, more], [layers.Dense(3, activation="softmax")(x), layers.Dense(1)(x)]
    )


def inputs(count: int = 5) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.random((count, 8, 8, 3)).astype(F32), rng.random((count, 4)).astype(F32)]


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_base_loads_what_keras_saves(tmp_path: Path, name: str) -> None:
    model, given = model_of_two(), inputs()
    model.save(tmp_path / name)
    loaded = ds.load(tmp_path / name)
    found = loaded(image=given[0], more=given[1])
    for k, wanted in enumerate(model.predict(given, verbose=0)):
        np.testing.assert_allclose(found[f"output_{k}"], wanted, rtol=1e-5, atol=1e-6)
    assert loaded.loaded.kind == name[2:]
    assert loaded(*inputs(2))["output_1"].shape == (2, 1)
    ds.save(loaded, tmp_path / "saved")
    again = ds.load(tmp_path / "saved")(image=given[0], more=given[1])
    np.testing.assert_array_equal(again["output_0"], found["output_0"])


def test_the_command_line_runs_a_file(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,), name="x"), layers.Dense(2)])
    model.save(tmp_path / "m.keras")
    np.savez(tmp_path / "in.npz", x=np.ones((4, 3), F32))
    command = [sys.executable, "-m", "drystone_base", "run", "m.keras", "--inputs", "in.npz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[4, 2]" in done.stdout


def test_exports_have_signatures_of_their_endpoints(tmp_path: Path) -> None:
    model, given = model_of_two(), inputs()
    model.export(tmp_path / "m", verbose=False)
    loaded = ds.load(tmp_path / "m")
    assert sorted(loaded.signatures) == ["serve", "serving_default"]
    found = loaded(image=given[0], more=given[1])
    for k, wanted in enumerate(model.predict(given, verbose=0)):
        np.testing.assert_allclose(found[f"output_{k}"], wanted, rtol=1e-5, atol=1e-6)
    archive = keras.export.ExportArchive()
    dense = layers.Dense(2)
    dense.build((None, 3))
    spec = keras.InputSpec(shape=(None, 3), dtype="float32", name="x")
    archive.track_and_add_endpoint("serve", dense, [spec])
    archive.add_endpoint("serve_twice", lambda x: {"y": 2 * dense(x)}, [spec])
    archive.write_out(tmp_path / "two", verbose=False)
    both = ds.load(tmp_path / "two").signatures
    x = np.ones((2, 3), F32)
    np.testing.assert_allclose(both["serve_twice"](x=x)["y"], 2 * both["serve"](x=x)["output_0"])
    with pytest.raises(ds.BadRequest) as taken:
        archive.write_out(tmp_path / "two", verbose=False)
    assert taken.value.code == "path-taken"


def test_nodes_and_variables_are_named_after_layers(tmp_path: Path) -> None:
    dense = layers.Dense(2, name="my head")
    keras.Sequential([keras.Input((3,)), dense], name="net").export(tmp_path / "m", verbose=False)
    names = {node.name: node.op for node in ds.load(tmp_path / "m").graph}
    assert names["net/my_head/MatMul"] == "MatMul"
    assert names["net/my_head/kernel"] == "VarHandleOp"
    assert names["net/my_head/ReadVariableOp"] == "ReadVariableOp"


def test_exports_are_objects_with_functions_and_variables(tmp_path: Path) -> None:
    model, given = model_of_two(), inputs()
    model.compile("adam", ["mse"] * len(model.outputs))
    model.optimizer.build(model.trainable_variables)
    archive = keras.export.ExportArchive()
    archive.track(model)
    specs = [keras.InputSpec(shape=one.shape, dtype=one.dtype) for one in model.inputs]
    archive.add_endpoint("serve", model.__call__, [specs])
    archive.add_variable_collection("of_optimizer", model.optimizer.variables)
    archive.write_out(tmp_path / "m", verbose=False)
    loaded = ds.load(tmp_path / "m")
    for a, b in zip(loaded.serve(given), model.predict(given, verbose=0), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    for name in ("trainable_variables", "non_trainable_variables"):
        for held, own in zip(getattr(loaded, name), getattr(model, name), strict=True):
            np.testing.assert_array_equal(held.read(), np.asarray(own))
    assert len(loaded.of_optimizer) == len(model.optimizer.variables)
    with pytest.raises(ValueError, match="list/tuple/set"):
        archive.add_variable_collection("one", model.weights[0])
    with pytest.raises(ValueError, match="following types"):
        archive.add_variable_collection("arrays", [np.ones(2)])


def test_weights_go_both_ways(tmp_path: Path) -> None:
    first, second = model_of_two(), model_of_two()
    first.save_weights(tmp_path / "w.weights.h5")
    second.load_weights(tmp_path / "w.weights.h5")
    for a, b in zip(
        first.predict(inputs(), verbose=0), second.predict(inputs(), verbose=0), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_a_training_goes_on_from_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((32, 3)).astype(F32), rng.random((32, 1)).astype(F32)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    model.save(tmp_path / "m.keras")
    other = keras.saving.load_model(tmp_path / "m.keras")
    a, b = (one.fit(x, y, epochs=3, verbose=0, shuffle=False).history for one in (model, other))
    assert a == b


# ---- checkpoints -----------------------------------------------------------------------------

KILLED = """
import keras_drystone, keras, numpy as np, os, signal
from keras_drystone.callbacks import ModelCheckpoint
from keras.src.saving import saving_lib
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
save, written = saving_lib._save_state, []
def dying(*args, **kwargs):
    written.append(1)
    if len(written) > {most}:
        os.kill(os.getpid(), signal.SIGKILL)
    return save(*args, **kwargs)
saving_lib._save_state = dying
x = np.ones((8, 3), "float32")
model.fit(x, x[:, :1], epochs=50, verbose=0, callbacks=[ModelCheckpoint({path!r})])
"""


def test_a_kill_in_a_checkpoint_leaves_the_last_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "m.keras"
    code = KILLED.format(path=str(path), most=12)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [name for name in os.listdir(tmp_path) if name.startswith(".draft-")]
    model = keras.saving.load_model(path)
    assert int(model.optimizer.iterations) >= 1


def test_checkpoints_are_named_and_chosen_as_by_keras(tmp_path: Path) -> None:
    x = np.ones((8, 3), F32)
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1)])
    model.compile("sgd", "mse")
    every = callbacks.ModelCheckpoint(str(tmp_path / "all" / "{epoch:02d}.keras"))
    best = callbacks.ModelCheckpoint(
        str(tmp_path / "best.weights.h5"), "loss", save_best_only=True, save_weights_only=True
    )
    model.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[every, best])
    assert sorted(os.listdir(tmp_path / "all")) == ["01.keras", "02.keras", "03.keras"]
    assert sorted(os.listdir(tmp_path)) == ["all", "best.weights.h5"]


# ---- bad input -------------------------------------------------------------------------------


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


WHOLE = {"metadata.json": b"{}", "config.json": b"{}"}
HOSTILE = {
    "above": {**WHOLE, "../../out.h5": b"x"},
    "rooted": {**WHOLE, "/etc/out": b"x"},
    "drive": {**WHOLE, "C:\\out": b"x"},
    "bomb": {**WHOLE, "model.weights.h5": bytes(64 << 20)},
    "partial": {"metadata.json": b"{}"},
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_archives_are_refused_before_keras_sees_them(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keras.saving, "load_model", lambda *_, **__: pytest.fail("it was opened"))
    with pytest.raises(BadModelFile) as caught:
        loading.load_model(archive(tmp_path / "m.keras", HOSTILE[kind]))
    assert caught.value.code == "keras-archive"


@pytest.mark.parametrize("kind", ["twice", "link"])
def test_what_two_readers_take_otherwise_is_refused(tmp_path: Path, kind: str) -> None:
    path = archive(tmp_path / "m.keras", WHOLE)
    with zipfile.ZipFile(path, "a") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        entry = zipfile.ZipInfo("config.json" if kind == "twice" else "assets")
        entry.external_attr = (stat.S_IFREG if kind == "twice" else stat.S_IFLNK) << 16
        made.writestr(entry, "/etc")
    with pytest.raises(BadModelFile) as caught:
        loading.load_model(path)
    assert caught.value.code == "keras-archive"
    assert ("twice" if kind == "twice" else "a link") in str(caught.value)


def test_complex_weights_are_not_cut_to_real_ones() -> None:
    dense = layers.Dense(2)
    dense.build((None, 3))
    with pytest.raises(ValueError, match="cannot hold complex64 numbers"):
        dense.kernel.assign(np.ones((3, 2), np.complex64))


def test_a_truncated_file_is_told(tmp_path: Path) -> None:
    model_of_two().save(tmp_path / "m.keras")
    data = (tmp_path / "m.keras").read_bytes()
    for size in (0, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "t.keras").write_bytes(data[:size])
        with pytest.raises(BadModelFile) as caught:
            loading.load_model(tmp_path / "t.keras")
        assert caught.value.code == "keras-archive", size


def test_files_that_are_no_models_are_told(tmp_path: Path) -> None:
    model = model_of_two()
    model.save_weights(tmp_path / "w.weights.h5")
    (tmp_path / "n.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40))
    files = [tmp_path / "w.weights.h5", tmp_path / "n.h5", archive(tmp_path / "e.keras", WHOLE)]
    for file in files:
        with pytest.raises(BadModelFile) as caught:
            loading.load_model(file)
        assert caught.value.code == "keras-model"


@keras.saving.register_keras_serializable("tests")
class Own(layers.Layer):  # type: ignore[misc]
    def call(self, x: Any) -> Any:
        return x + 1.0


@pytest.mark.parametrize("kind", ["lambda", "own"])
def test_code_in_a_file_is_not_run(tmp_path: Path, kind: str) -> None:
    layer = layers.Lambda(lambda x: x * 2) if kind == "lambda" else Own()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        keras.Sequential([keras.Input((3,)), layer]).save(tmp_path / "m.keras")
    name = keras.saving.get_registered_name(Own)
    known = keras.saving.get_custom_objects()
    held = known.pop(name)
    try:
        with pytest.raises(BadModelFile) as caught:
            ds.load(tmp_path / "m.keras")
    finally:
        known[name] = held
    assert caught.value.code == "keras-code"
