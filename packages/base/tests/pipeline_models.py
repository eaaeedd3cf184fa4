"""Tiny models that train from a pipeline in their graph, as TensorFlow writes and runs them.

``python pipeline_models.py`` (with TensorFlow) writes them again to ``golden/pipelines``, each with
the losses of its steps in ``losses.npy``.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["KEPT", "META_GRAPH_STEPS", "build_meta_graph", "build_saved_model", "run_meta_graph",
           "run_saved_model"]  # fmt: skip

KEPT = Path(__file__).parent / "golden" / "pipelines"
META_GRAPH_STEPS = 9
EPOCHS = 3
RATE = np.float32(0.05)


def _rows(count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(12)
    xs = rng.normal(size=(count, 3)).astype(np.float32)
    return xs, (xs @ np.array([1.0, -2.0, 0.5], np.float32)).astype(np.float32)


def build_meta_graph(tf: Any, folder: Path) -> list[float]:
    """A MetaGraph with its checkpoint, whose train op takes batches from an iterator; the losses.

    Its ``make`` starts the iterator; after the last batch the train op is OUT_OF_RANGE.
    """
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        dataset = tf.data.Dataset.from_tensor_slices(_rows(30)).shuffle(8, seed=3)
        dataset = dataset.map(lambda x, y: (x / 2, y), num_parallel_calls=2).batch(7).repeat(2)
        iterator = v1.data.make_initializable_iterator(dataset.take(META_GRAPH_STEPS).prefetch(1))
        tf.group(iterator.initializer, name="make")
        x, y = iterator.get_next()
        weights = v1.get_variable("w", [3, 1], initializer=v1.ones_initializer())
        gap = tf.squeeze(tf.matmul(x, weights), 1) - y
        loss = tf.reduce_mean(tf.square(gap), name="loss")
        train = v1.train.AdamOptimizer(0.1).minimize(loss, name="train")
        session.run(v1.global_variables_initializer())
        v1.train.Saver(save_relative_paths=True).save(session, str(folder / "model.ckpt"))
        session.run("make")
        return [float(session.run([loss, train])[0]) for _ in range(META_GRAPH_STEPS)]


def build_saved_model(tf: Any, folder: Path) -> list[float]:
    """A SavedModel whose signature ``train`` reads its records from an asset; the losses.

    Each call is one epoch and gives the loss of each batch.
    """
    source = folder.parent / "rows.tfrecord"
    with tf.io.TFRecordWriter(str(source)) as out:
        for x, y in zip(*_rows(20), strict=True):
            values = {"x": x.tolist(), "y": [float(y)]}
            feature = {
                k: tf.train.Feature(float_list=tf.train.FloatList(value=v))
                for k, v in values.items()
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            out.write(example.SerializeToString(deterministic=True))
    module = _trainer(tf, source)
    signature = module.train.get_concrete_function()
    tf.saved_model.save(module, str(folder), {"train": signature})
    source.unlink()
    (folder / "fingerprint.pb").unlink()
    return _run_by_tensorflow(tf, folder)


def _trainer(tf: Any, source: Path) -> Any:
    module = tf.Module()
    module.asset = tf.saved_model.Asset(str(source))
    module.weights = tf.Variable(tf.ones([3]))
    spec = {"x": tf.io.FixedLenFeature([3], tf.float32), "y": tf.io.FixedLenFeature([], tf.float32)}

    def train(rate: Any) -> Any:
        losses = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        pipeline = tf.data.TFRecordDataset(module.asset.asset_path)
        pipeline = pipeline.map(lambda text: tf.io.parse_single_example(text, spec))
        pipeline = pipeline.filter(lambda row: row["y"] < 3.0).shuffle(20, seed=9).batch(6)
        for k, row in pipeline.enumerate():
            with tf.GradientTape() as tape:
                gap = tf.linalg.matvec(row["x"], module.weights) - row["y"]
                loss = tf.reduce_mean(tf.square(gap))
            module.weights.assign_sub(rate * tape.gradient(loss, module.weights))
            losses = losses.write(tf.cast(k, tf.int32), loss)
        return {"losses": losses.stack()}

    module.train = tf.function(train, input_signature=[tf.TensorSpec([], tf.float32, "rate")])
    return module


def _run_by_tensorflow(tf: Any, folder: Path) -> list[float]:
    """The losses of all epochs, by TensorFlow."""
    train = tf.saved_model.load(str(folder)).signatures["train"]
    epochs = [train(rate=tf.constant(RATE))["losses"].numpy() for _ in range(EPOCHS)]
    return [float(v) for losses in epochs for v in losses]


def run_saved_model(folder: Path) -> list[float]:
    """The losses of all epochs, by us: the model may read its own folder."""
    import drystone_base as ds

    model = ds.load(folder)
    epochs = [model.signatures["train"](rate=RATE)["losses"] for _ in range(EPOCHS)]
    return [float(v) for losses in epochs for v in losses]


def run_meta_graph(folder: Path) -> list[float]:
    """The losses of all steps, by us; the step after the last must be OUT_OF_RANGE."""
    import drystone_base as ds

    model = ds.load(folder)
    model.run(["make"], {})
    losses = [float(model.run(["loss:0", "train"], {})[0]) for _ in range(META_GRAPH_STEPS)]
    try:
        model.run(["loss:0", "train"], {})
    except ds.DrystoneError as error:
        if error.status == "OUT_OF_RANGE":
            return losses
        raise
    raise AssertionError("the iterator did not end")


def main() -> None:
    """Write the models."""
    import tensorflow as tf

    for name, build in (("meta-graph", build_meta_graph), ("saved-model", build_saved_model)):
        folder = KEPT / name
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory() as place:
            made = Path(place) / name
            made.mkdir()
            losses = build(tf, made)
            shutil.copytree(made, folder)
        np.save(folder.parent / f"{name}.npy", np.array(losses))


if __name__ == "__main__":
    main()
