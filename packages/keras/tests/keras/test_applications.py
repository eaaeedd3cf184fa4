"""Networks of keras.applications give what Keras on TensorFlow gave.

applications.json was printed by applications.py with Keras 3.15.1 on TensorFlow 2.21, oneDNN off;
all weights are those of a seed.
"""

from __future__ import annotations

import json
from pathlib import Path

import keras
import numpy as np
import pytest
from applications import NETWORKS, image_of, made, outputs

import drystone_base as ds
from drystone_base.core.errors import BadModelFile

RECORDED = json.loads((Path(__file__).parent / "applications.json").read_text("utf-8"))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_gives_what_tensorflow_gave(name: str) -> None:
    np.testing.assert_allclose(outputs(name), RECORDED[name], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_that_is_saved_gives_the_same_to_base(name: str, tmp_path: Path) -> None:
    made(name).save(tmp_path / "m.keras")
    (found,) = ds.load(tmp_path / "m.keras")(image_of(name)).values()
    np.testing.assert_allclose(found[0], RECORDED[name], rtol=0, atol=1e-4)


LAYERS_WITHOUT_A_MODULE = {
    "ConvNeXtTiny": "Unknown layer: 'LayerScale'",
    "MobileNetV3Small": "Only input tensors may be passed as positional arguments",
}
"""What the older format does not say of these, whatever Keras runs on."""


@pytest.mark.parametrize("name", NETWORKS)
def test_so_does_one_in_the_older_format(name: str, tmp_path: Path) -> None:
    made(name).save(tmp_path / "m.h5")
    if name in LAYERS_WITHOUT_A_MODULE:
        with pytest.raises(BadModelFile, match=LAYERS_WITHOUT_A_MODULE[name]):
            ds.load(tmp_path / "m.h5")
        return
    (found,) = ds.load(tmp_path / "m.h5")(image_of(name)).values()
    np.testing.assert_allclose(found[0], RECORDED[name], rtol=0, atol=1e-4)


def test_a_network_is_tuned_further_and_exported(tmp_path: Path) -> None:
    """The head of a network whose rest is frozen learns four images; its export answers so."""
    body = made("ResNet50V2")
    body.trainable = False
    images = np.random.default_rng(5).uniform(0, 1, (4, 32, 32, 3)).astype("float32")
    labels = np.arange(4)
    features = keras.Model(body.input, body.layers[-2].output)
    spread = keras.layers.BatchNormalization(momentum=0.5)
    model = keras.Sequential([features, spread, keras.layers.Dense(4)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.05), loss)
    model.fit(images, labels, epochs=60, verbose=0)
    wanted = model.predict(images, verbose=0)
    assert wanted.argmax(-1).tolist() == labels.tolist()
    model.export(tmp_path / "m", verbose=False)
    (found,) = ds.load(tmp_path / "m")(images).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
