"""Write the exports of this folder again.

In an environment of its own: `pip install "jax[cpu]==0.10.2" keras==3.15.1 tensorflow-cpu==2.21.0`,
then `python make_exports.py FOLDER`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"KERAS_BACKEND": "jax", "TF_CPP_MIN_LOG_LEVEL": "3"}

import jax
import jax.numpy as jnp
import keras
import numpy as np
import tensorflow as tf
from jax import lax
from jax.experimental import jax2tf

RNG = np.random.default_rng(7)
OUT = Path(sys.argv[1])


def normal(*shape: int) -> Any:
    """Numbers around zero."""
    return RNG.normal(size=shape).astype(np.float32)


# ---- SavedModels ---------------------------------------------------------------------------------

W1, W2 = normal(8, 16) / 3, normal(16, 4) / 4


def perceptron(x: Any) -> dict[str, Any]:
    """Two layers, and the best class."""
    scores = jax.nn.gelu(x @ W1) @ W2
    return {"scores": jax.nn.softmax(scores), "best": jnp.argmax(scores, axis=-1)}


def attention(x: Any) -> dict[str, Any]:
    """Rows attend to rows that are not after them, twice."""

    def step(x: Any, _: Any) -> Any:
        scores = x @ x.T / np.sqrt(x.shape[-1])
        seen = jnp.tril(jnp.ones_like(scores, bool))
        return x + jax.nn.softmax(jnp.where(seen, scores, -1e9)) @ x, jnp.sum(x)

    y, sums = lax.scan(step, x, None, length=2)
    return {"y": y, "sums": sums}


def save(name: str, function: Any, spec: Any, shapes: Any, feeds: list[Any], **how: Any) -> None:
    """A SavedModel by jax2tf, and cases."""
    module = tf.Module()
    converted = jax2tf.convert(function, polymorphic_shapes=shapes, with_gradient=False, **how)
    signature = [tf.TensorSpec(spec, tf.float32, name="x")]
    module.f = tf.function(converted, autograph=False, input_signature=signature)
    tf.saved_model.save(module, OUT / name, signatures=module.f)
    for k, x in enumerate(feeds):
        found: dict[str, Any] = {key: np.asarray(value) for key, value in function(x).items()}
        np.savez_compressed(OUT / name / f"case{k}.npz", x=x, **found)


def models() -> None:
    """Functions by jax2tf."""
    save("jax2tf-static", perceptron, (3, 8), None, [normal(3, 8)])
    save("jax2tf-batch", perceptron, (None, 8), ["b, _"], [normal(3, 8), normal(5, 8)])
    save("jax2tf-attention", attention, (None, 6), ["n, _"], [normal(4, 6)])
    save("jax2tf-graph", perceptron, (3, 8), None, [normal(3, 8)], native_serialization=False)


def sequence() -> Any:
    """A model of sequences."""
    return keras.Sequential(
        [
            keras.Input((12, 3)),
            keras.layers.Conv1D(6, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.LSTM(5),
            keras.layers.Dense(4, activation="softmax"),
        ]
    )


def image() -> Any:
    """A model of images."""
    given = keras.Input((8, 8, 3))
    x = keras.layers.Conv2D(4, 3, padding="same", activation="relu")(given)
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.GlobalAveragePooling2D()(keras.layers.DepthwiseConv2D(3)(x))
    return keras.Model(given, keras.layers.Dense(3)(x))


def of_keras() -> None:
    """Models by ``model.export``, as it does without further words."""
    for name, make, shape in (
        ("keras-sequence", sequence, (12, 3)),
        ("keras-image", image, (8, 8, 3)),
    ):
        keras.utils.set_random_seed(3)
        model = make()
        model.export(OUT / name, verbose=False)
        for k, n in enumerate((2, 5)):
            x = normal(n, *shape)
            np.savez_compressed(OUT / name / f"case{k}.npz", x=x, output_0=np.asarray(model(x)))


# ---- operations ----------------------------------------------------------------------------------


def loop(x: Any) -> Any:
    """A loop that depends on values."""
    return lax.while_loop(lambda s: jnp.sum(s[0]) < 100, lambda s: (s[0] * 2, s[1] + 1),
                          (jnp.abs(x), 0))  # fmt: skip


OPERATIONS: dict[str, tuple[Any, str, list[Any]]] = {
    "einsum": (
        lambda x, y: jnp.einsum("bij,bjk->bik", x, y),
        "b, 3, 4; b, 4, _",
        [(2, 3, 4), (2, 4, 5)],
    ),
    "convolution": (
        lambda x: lax.conv_general_dilated(
            x, normal(3, 3, 2, 4), (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        "b, h, 7, _",
        [(2, 6, 7, 2)],
    ),
    "valid": (
        lambda x: lax.conv_general_dilated(
            x,
            normal(3, 2, 4),
            (1,),
            "VALID",
            rhs_dilation=(2,),
            dimension_numbers=("NWC", "WIO", "NWC"),
        ),
        "b, 9, _",
        [(3, 9, 2)],
    ),
    "pooling": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        "b, 6, 6, _",
        [(2, 6, 6, 3)],
    ),
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), "b, 5", [(3, 5)]),
    "sort": (lambda x: (jnp.sort(x, axis=0), jnp.argsort(x, axis=1)), "b, 5", [(4, 5)]),
    "top_k": (lambda x: lax.top_k(x, 3), "b, 6", [(4, 6)]),
    "take": (lambda x: jnp.take(x, jnp.asarray([2, 0, 1]), axis=1), "b, 4", [(3, 4)]),
    "rows": (lambda x, k: x[k], "b, 4; n", [(5, 4), np.asarray([4, 0, 2], np.int32)]),
    "scatter": (lambda x: x.at[:, 1].add(5.0), "b, 4", [(3, 4)]),
    "update": (
        lambda x: lax.dynamic_update_slice(x, jnp.ones((1, 2), x.dtype), (1, 1)),
        "b, 4",
        [(3, 4)],
    ),
    "from_a_place": (
        lambda x, k: lax.dynamic_slice(x, (k, k), (x.shape[0], 3)),
        "b, 4; ",
        [(5, 4), np.asarray(0, np.int32)],
    ),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 1))), "b, 3", [(2, 3)]),
    "joined": (lambda x, y: jnp.concatenate([x, y, x[:1]], axis=0), "b, 3; c, 3", [(2, 3), (4, 3)]),
    "other_shape": (lambda x: x.reshape(-1, 2).T[:, ::-1], "b, 6", [(2, 6)]),
    "sizes": (
        lambda x: x / x.shape[0] + (x.shape[0] * 3 - 1) // 2 + x.shape[1] % 3,
        "b, n",
        [(3, 5)],
    ),
    "choice": (
        lambda x: lax.cond(jnp.sum(x) > 0, lambda v: v * 2, lambda v: -v, x),
        "b, 3",
        [(2, 3)],
    ),
    "loop": (loop, "b, 3", [(2, 3)]),
    "one_hot": (lambda k: jax.nn.one_hot(k, 5), "b", [np.asarray([1, 4, 0], np.int32)]),
    "erf": (
        lambda x: (jax.scipy.special.erf(x), jax.nn.gelu(x, approximate=False)),
        "b, 3",
        [(2, 3)],
    ),
    "fft": (lambda x: jnp.abs(jnp.fft.rfft(x)), "b, 8", [(2, 8)]),
    "half": (lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32).sum(0), "b, 3", [(4, 3)]),
    "noise": (lambda x: x + jax.random.uniform(jax.random.key(1), (3,)), "b, 3", [(2, 3)]),
    "mean": (lambda x: (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-3), "b, 3", [(4, 3)]),
    "gradient": (jax.grad(lambda x: jnp.sum(jax.nn.softmax(x @ W1) ** 2)), "b, 8", [(2, 8)]),
    "bounds": (lambda x: jnp.clip(jnp.where(x > 0, x, 0.1 * x), -1, 1), "b, 3", [(2, 3)]),
    "range": (lambda x: x + jnp.arange(x.shape[0], dtype=x.dtype)[:, None], "b, 3", [(4, 3)]),
    "spread": (
        lambda x: jnp.broadcast_to(x[:, None], (x.shape[0], 4, x.shape[1])),
        "b, 3",
        [(2, 3)],
    ),
    "same_pool": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), "SAME"),
        "b, n",
        [(2, 7)],
    ),
    "below": (lambda x: jnp.tril(x @ x.T), "b, 3", [(4, 3)]),
}


def operations() -> None:
    """Programs of one function each."""
    kept: dict[str, Any] = {}
    for name, (function, shapes, given) in OPERATIONS.items():
        xs = [normal(*g) if isinstance(g, tuple) else g for g in given]
        try:
            scope = jax.export.SymbolicScope()
            sizes = [
                jax.export.symbolic_shape(text, like=x.shape, scope=scope)
                for text, x in zip(shapes.split(";"), xs, strict=True)
            ]
            specs = [jax.ShapeDtypeStruct(n, x.dtype) for n, x in zip(sizes, xs, strict=True)]
            made = jax.export.export(jax.jit(function), platforms=["cpu"])(*specs)
        except Exception as error:
            print(name, repr(error)[:300])
            continue
        ys = jax.tree.leaves(made.call(*xs))
        kept[f"{name}/program"] = np.frombuffer(made.mlir_module_serialized, np.uint8)
        kept |= {f"{name}/x{k}": x for k, x in enumerate(xs)}
        kept |= {f"{name}/y{k}": np.asarray(y) for k, y in enumerate(ys)}
    np.savez_compressed(OUT / "operations.npz", **kept)


if __name__ == "__main__":
    models()
    of_keras()
    operations()
