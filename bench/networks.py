"""Networks that everybody measures: ``python -m bench.networks FOLDER NAME ...``.

Runs in TensorFlow's environment; weights are random. ``NAME.pb`` is the frozen graph for any
batch, ``NAME-bN.npz`` has inputs for N examples and what TensorFlow answers. The convolutional
ones are Keras' own, with statistics of their batch normalizations taken from a few pictures, so
that values neither vanish nor explode; BERT-base is written with the ops of its first release.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["BATCHES", "NAMES", "TOKENS", "main"]

BATCHES = (1, 16)
TOKENS = 128
"""Length of BERT's input."""
PICTURES = {
    "resnet50": ("ResNet50", 224, 1.0), "mobilenetv2": ("MobileNetV2", 224, 1.0),
    "efficientnetb0": ("EfficientNetB0", 224, 255.0), "inceptionv3": ("InceptionV3", 299, 1.0),
    "densenet121": ("DenseNet121", 224, 1.0),
}  # fmt: skip
"""Keras' name, the side of a picture, and its largest value."""
NAMES = (*PICTURES, "bert-base")
LAYERS, HIDDEN, HEADS, INNER, WORDS = 12, 768, 12, 3072, 30522

Array = np.ndarray[Any, Any]


def main(folder: Path, names: list[str]) -> None:
    """Make the named networks; a graph is put in its place when its arrays are there."""
    import tensorflow as tf

    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        graph, inputs, output = _bert(tf) if name == "bert-base" else _pictures(tf, name)
        for batch in BATCHES:
            arrays = inputs(batch)
            answer = _answer(tf, graph, arrays, output)
            parts: dict[str, Any] = {**arrays, "y": answer}
            np.savez(folder / f"{name}-b{batch}.npz", **parts)
        (folder / f"{name}.pb").write_bytes(graph.SerializeToString())
        print(name, flush=True)


def _answer(tf: Any, graph: Any, arrays: dict[str, Array], output: str) -> Array:
    with tf.Graph().as_default() as into, tf.compat.v1.Session(graph=into) as session:
        tf.import_graph_def(graph, name="")
        answer: Array = session.run(output, {f"{name}:0": value for name, value in arrays.items()})
        return answer


def _frozen(tf: Any, function: Callable[..., Any], specs: list[Any]) -> Any:
    """The GraphDef with variables as constants, its one output named ``y``."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    named = tf.function(lambda *args: tf.identity(function(*args), name="y"))
    return convert_variables_to_constants_v2(
        named.get_concrete_function(*specs)
    ).graph.as_graph_def()


def _pictures(tf: Any, name: str) -> tuple[Any, Callable[[int], dict[str, Array]], str]:
    import keras

    kind, side, top = PICTURES[name]
    keras.utils.set_random_seed(1234)
    model = getattr(keras.applications, kind)(weights=None, input_shape=(side, side, 3))
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
    model(_image(tf, 8, side) * top, training=True)
    spec = tf.TensorSpec([None, side, side, 3], tf.float32, name="x")
    graph = _frozen(tf, lambda x: model(x, training=False), [spec])
    return graph, lambda batch: {"x": _image(tf, batch, side) * np.float32(top)}, "y:0"


def _image(tf: Any, batch: int, side: int) -> Array:
    """Smooth colours with some noise."""
    random = np.random.default_rng(7)
    coarse = random.uniform(0, 1, (batch, 8, 8, 3)).astype(np.float32)
    smooth: Array = tf.image.resize(coarse, (side, side), method="bicubic").numpy()
    return (smooth + 0.1 * random.standard_normal(smooth.shape)).astype(np.float32)


def _bert(tf: Any) -> tuple[Any, Callable[[int], dict[str, Array]], str]:
    model = _Encoder(tf)
    specs = [tf.TensorSpec([None, TOKENS], tf.int32, name=name) for name in ("ids", "mask")]

    def inputs(batch: int) -> dict[str, Array]:
        random = np.random.default_rng(3)
        mask = np.ones((batch, TOKENS), np.int32)
        mask[:, 110:] = 0
        return {"ids": random.integers(0, WORDS, (batch, TOKENS), np.int32), "mask": mask}

    return _frozen(tf, model, specs), inputs, "y:0"


class _Encoder:
    """BERT-base's encoder as it was first published."""

    def __init__(self, tf: Any) -> None:
        self.tf, self.random = tf, np.random.default_rng(5)
        self.words = self._weights(WORDS, HIDDEN)
        self.places = self._weights(TOKENS, HIDDEN)
        self.first = self._scale()
        self.layers = [
            {**{name: self._dense(HIDDEN, HIDDEN) for name in ("q", "k", "v", "out")},
             "up": self._dense(HIDDEN, INNER), "down": self._dense(INNER, HIDDEN),
             "norm1": self._scale(), "norm2": self._scale()}
            for _ in range(LAYERS)
        ]  # fmt: skip

    def _weights(self, *shape: int) -> Any:
        return self.tf.constant((self.random.standard_normal(shape) * 0.02).astype(np.float32))

    def _dense(self, inner: int, outer: int) -> tuple[Any, Any]:
        return self._weights(inner, outer), self._weights(outer)

    def _scale(self) -> tuple[Any, Any]:
        return 1.0 + self._weights(HIDDEN), self._weights(HIDDEN)

    def __call__(self, ids: Any, mask: Any) -> Any:
        tf = self.tf
        x = self._normal(tf.gather(self.words, ids) + self.places, self.first)
        x = tf.reshape(x, [-1, HIDDEN])
        hidden = (1.0 - tf.cast(mask, tf.float32))[:, None, None, :] * -10000.0
        for layer in self.layers:
            x = self._normal(self._attend(x, layer, hidden) + x, layer["norm1"])
            inner = _linear(tf, x, layer["up"])
            inner = 0.5 * inner * (1.0 + tf.math.erf(inner / np.float32(np.sqrt(2.0))))
            x = self._normal(_linear(tf, inner, layer["down"]) + x, layer["norm2"])
        return tf.reshape(x, [-1, TOKENS, HIDDEN])

    def _attend(self, x: Any, layer: dict[str, Any], hidden: Any) -> Any:
        tf, size = self.tf, HIDDEN // HEADS

        def heads(name: str) -> Any:
            split = tf.reshape(_linear(tf, x, layer[name]), [-1, TOKENS, HEADS, size])
            return tf.transpose(split, [0, 2, 1, 3])

        scores = tf.matmul(heads("q"), heads("k"), transpose_b=True) * (1.0 / np.sqrt(size))
        context = tf.matmul(tf.nn.softmax(scores + hidden), heads("v"))
        joined = tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [-1, HIDDEN])
        return _linear(tf, joined, layer["out"])

    def _normal(self, x: Any, scale: tuple[Any, Any]) -> Any:
        mean, variance = self.tf.nn.moments(x, [-1], keepdims=True)
        return self.tf.nn.batch_normalization(x, mean, variance, scale[1], scale[0], 1e-12)


def _linear(tf: Any, x: Any, weights: tuple[Any, Any]) -> Any:
    return tf.nn.bias_add(tf.matmul(x, weights[0]), weights[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
