"""What an estimator exports and writes, read by TensorFlow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import drystone_base as ds
import drystone_estimator as est
from drystone_base.tracing import operations as ops

any_ops: Any = ops  # whose results have names
F32 = np.float32


def classify(features: Any, labels: Any, mode: est.ModeKeys) -> est.EstimatorSpec:
    rng = np.random.default_rng(1)
    kernel = ds.Variable(rng.normal(size=(3, 3, 1, 4)).astype(F32), "conv/kernel")
    dense = ds.Variable(rng.normal(size=(4, 2)).astype(F32) / 4, "dense/kernel")
    found = ops.conv2d(features["image"], kernel, strides=[1, 2, 2, 1], padding="SAME")
    logits = ops.relu(found).mean((1, 2)) @ dense
    predictions = {"chances": ops.softmax(logits), "logits": logits}
    if mode is est.ModeKeys.PREDICT:
        return est.EstimatorSpec(mode, predictions=predictions)
    loss = any_ops.sparse_softmax_cross_entropy_with_logits(logits, labels).loss.mean()
    if mode is est.ModeKeys.TRAIN:
        est.Adam(0.01).minimize(loss)
    return est.EstimatorSpec(mode, loss=loss)


def batches() -> Any:
    rng = np.random.default_rng(2)
    return [
        ({"image": rng.normal(size=(8, 6, 6, 1)).astype(F32)}, rng.integers(0, 2, 8, np.int32))
        for _ in range(5)
    ]


def test_tensorflow_runs_the_export_and_reads_the_checkpoint(tmp_path: Path) -> None:
    model = est.Estimator(classify, tmp_path / "run").train(batches)
    path = model.export_saved_model(tmp_path / "out", {"image": ds.Spec([None, 6, 6, 1])})
    image = batches()[0][0]["image"]
    wanted: Any = list(model.predict(lambda: [{"image": image}]))
    signature = tf.saved_model.load(str(path)).signatures["serving_default"]
    found = signature(image=tf.constant(image))
    assert sorted(found) == ["chances", "logits"]
    np.testing.assert_allclose(found["chances"], [w["chances"] for w in wanted], rtol=1e-5)
    prefix = tf.train.latest_checkpoint(str(tmp_path / "run"))
    shapes = dict(tf.train.list_variables(prefix))
    assert shapes["conv/kernel/m"] == [3, 3, 1, 4]
    assert tf.train.load_variable(prefix, "global_step") == 5
