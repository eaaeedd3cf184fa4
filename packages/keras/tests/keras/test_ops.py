"""Functions of keras.ops: all are there, and give in a graph what they give at once."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers, ops

from drystone_base.core.errors import DrystoneError
from keras_drystone.src import random, rnn
from keras_drystone.src.compiled import Compiled
from keras_drystone.src.ops import core, image, linalg, math, nn, numpy

MODULES = {"core": core, "image": image, "linalg": linalg, "math": math, "nn": nn, "numpy": numpy}
RNG = np.random.default_rng(0)
F = RNG.normal(size=(4, 5, 3)).astype("float32")
P = (np.abs(F) + 0.1).astype("float32")
U = (np.tanh(F) * 0.9).astype("float32")
WORDS = RNG.integers(0, 5, (4, 5)).astype("int32")
M = (RNG.normal(size=(4, 3, 3)) + 4 * np.eye(3)).astype("float32")
IMAGE = RNG.uniform(size=(2, 6, 8, 3)).astype("float32")
N = np.where(F > 1, np.float32(np.nan), F)


def f32(values: Any) -> Any:
    return np.asarray(values, np.float32)


def declared(module: str) -> dict[str, list[str]]:
    """Functions of Keras's NumPy backend with their parameters, read off its source."""
    backend = Path(keras.__file__).parent / "src/backend/numpy/ops"  # imported, it wants SciPy
    source = (backend / f"{module}.py").read_text("utf-8")
    return {
        node.name: [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
    }


@pytest.mark.parametrize("module", MODULES)
def test_each_function_of_the_interface_is_there(module: str) -> None:
    missing = [name for name in declared(module) if not hasattr(MODULES[module], name)]
    assert missing == []


def test_random_and_recurrent_functions_are_there() -> None:
    for name in ("beta", "binomial", "categorical", "dropout", "gamma", "normal", "randint"):
        assert callable(getattr(random, name))
    assert callable(rnn.rnn)


REAL = """abs ceil floor cos sin tanh exp expm1 square sign negative relu relu6 sigmoid silu gelu
elu selu softplus softsign softmax log_softmax hard_sigmoid erf leaky_relu log_sigmoid sort argsort
argmax argmin max min mean sum prod std var any all cumsum cumprod ravel isnan median rsqrt sinc
cbrt"""
POSITIVE = "log log1p log2 log10 sqrt reciprocal lgamma"
INSIDE = "arccos arcsin arctan arctanh erfinv"
WITHOUT_NAN = "nanmean nansum nanmax nanmin nanstd nanargmax nanmedian nan_to_num"
MATRICES = "inv det cholesky_inverse matrix_rank logdet slogdet qr pinv"
IMAGES = "rgb_to_grayscale rgb_to_hsv gaussian_blur sobel_edges"
KINDS = ((REAL, F), (POSITIVE, P), (INSIDE, U), (WITHOUT_NAN, N), (MATRICES, M), (IMAGES, IMAGE))
ONE: dict[str, Any] = {name: data for names, data in KINDS for name in names.split()}


def found(name: str) -> Any:
    for module in (ops, ops.image, ops.linalg, ops.nn):
        if hasattr(module, name):
            return getattr(module, name)
    raise AssertionError(name)


def agrees(function: Any, data: Any) -> None:
    """The same from arrays, and from a graph for any number of rows."""
    at_once = keras.tree.flatten(function(data))
    in_graph = keras.tree.flatten(Compiled(function, "test")(data))
    assert len(at_once) == len(in_graph) > 0
    for a, b in zip(at_once, in_graph, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(b, "float64"), np.asarray(a, "float64"), 2e-5, 2e-5)


@pytest.mark.parametrize("name", ONE)
def test_a_function_gives_in_a_graph_what_it_gives_at_once(name: str) -> None:
    agrees(found(name), ONE[name])


@pytest.mark.parametrize("size", [(4, 3), (3, 4), (5, 5), (1, 4), (4, 1), (7, 2), (2, 7)])
def test_triangles_of_matrices_of_any_shape(size: tuple[int, int]) -> None:
    data = RNG.normal(size=(3, *size)).astype("float32")
    agrees(ops.lu_factor, data)
    packed, exchanged = (np.asarray(part) for part in ops.lu_factor(data))
    lower = np.tril(packed[..., : min(size)], -1) + np.eye(size[0], min(size))
    assert np.all(np.abs(lower) <= 1)  # each pivot is the largest of its column
    rows = data.copy()
    for k in range(min(size)):
        for one, there in zip(rows, exchanged[:, k], strict=True):
            one[[k, there]] = one[[there, k]]
    np.testing.assert_allclose(lower @ np.triu(packed[..., : min(size), :]), rows, 1e-5, 1e-5)


def test_a_column_of_zeros_has_no_pivot() -> None:
    packed, exchanged = ops.lu_factor(f32([[0, 1], [0, 3], [0, 2]]))
    np.testing.assert_allclose(packed, f32([[0, 1], [0, 3], [0, 2 / 3]]), 1e-6)
    assert np.asarray(exchanged).tolist() == [0, 1]


def summed(x: Any) -> Any:
    total = np.zeros((), "float32")
    total += ops.sum(x)
    return total


MORE: dict[str, Any] = {
    "conv": lambda x: ops.conv(x, np.ones((3, 3, 3, 4), "float32"), padding="same"),
    "conv, channels first": lambda x: ops.conv(
        ops.transpose(x, (0, 3, 1, 2)), np.ones((3, 3, 3, 4), "float32"), 2, "valid",
        "channels_first"),
    "depthwise": lambda x: ops.depthwise_conv(x, np.ones((3, 3, 3, 2), "float32")),
    "transposed": lambda x: ops.conv_transpose(x, np.ones((3, 3, 4, 3), "float32"), 2, "same"),
    "one axis": lambda x: ops.conv(x[:, 0], np.ones((3, 3, 4), "float32")),
    "pools": lambda x: (ops.max_pool(x, 2), ops.average_pool(x, 3, 2, "same")),
    "adaptive": lambda x: ops.adaptive_average_pool(x, (3, 5)),
    "resized": lambda x: (ops.image.resize(x, (5, 9)), ops.image.resize(x, (3, 4), "bicubic")),
    "unfolded": lambda x: ops.nn.unfold(ops.transpose(x, (0, 3, 1, 2)), 3, padding=1),
    "sliced": lambda x: (x[:, 1:-1, ::2], x[..., 0], x[:, None], x[:, [0, 2]], x[..., -1]),
    "taken": lambda x: (ops.take(x, [-1, 0], 1), ops.take_along_axis(x, ops.argsort(x, 1), 1)),
    "shapes": lambda x: (ops.reshape(x, (ops.shape(x)[0], -1)), ops.pad(x, [[0, 0]] * 3 + [[1, 2]]),
                         ops.roll(x, 2, 1), ops.repeat(x, 2, 1), ops.tile(x, (1, 2, 1, 1)),
                         ops.rot90(x, 1, (1, 2)), ops.stack([x, x], 1), ops.flip(x, 2)),
    "quantiles": lambda x: (ops.quantile(x, [0.1, 0.7], 1), ops.nanquantile(x, 0.3, (1, 2))),
    "scanned": lambda x: ops.scan(lambda c, y: (c + y, c * y), x[:, 0] * 0,
                                  ops.transpose(x, (1, 0, 2, 3))),
    "scanned together": lambda x: ops.associative_scan(lambda a, b: a + b, x, axis=1),
    "chosen": lambda x: ops.cond(ops.sum(x) > 0, lambda: x + 1, lambda: x - 1),
    "switched": lambda x: ops.switch(
        ops.argmax(x[0, 0, 0]), [lambda: x, lambda: -x, lambda: x * 2]),
    "looped": lambda x: ops.while_loop(lambda y: ops.sum(y) < 1e4, lambda y: (y * 2,), (x,)),
    "mapped": lambda x: ops.map(lambda y: ops.sum(y, 0), x),
    "counted": lambda x: ops.histogram(ops.ravel(x), 5),
    "sums": lambda x: (ops.einsum("bhwc,bhwd->bcd", x, x), ops.tensordot(x, np.eye(3), 1)),
    "attention": lambda x: ops.nn.dot_product_attention(x, x, x, is_causal=True),
    "spectra": lambda x: (ops.rfft(ops.reshape(x, (-1, 144))), ops.stft(
        ops.reshape(x, (-1, 144)), 16, 8, 16)),
    "half": lambda x: ops.mean(ops.cast(x, "bfloat16"), (1, 2)) + 1,
    "arrays on the left": lambda x: (np.ones(3, "float32") + x, np.float32(2) * x, summed(x)),
    "drawn": lambda x: x + keras.random.normal((6, 8, 3), seed=3),
}  # fmt: skip


@pytest.mark.parametrize("case", MORE)
def test_functions_give_in_a_graph_what_they_give_at_once(case: str) -> None:
    agrees(MORE[case], IMAGE)


@pytest.mark.parametrize("cell", [layers.LSTM, layers.GRU, layers.SimpleRNN])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_recurrent_layer_is_one_loop_and_keeps_masked_states(cell: Any, backwards: bool) -> None:
    inputs = keras.Input((None,), dtype="int32")
    x = layers.Embedding(6, 4, mask_zero=True)(inputs)
    x = cell(3, return_sequences=True, go_backwards=backwards)(x)
    model = keras.Model(inputs, cell(2)(x))
    agrees(model, WORDS)


def test_a_gradient_of_a_function_and_along_a_direction() -> None:
    slope = ops.grad(lambda x: ops.sum(x**3))(f32([1, 2]))
    np.testing.assert_allclose(slope, [3, 12])
    value, change = ops.jvp(lambda x: x**2, (f32([1, 2]),), (f32([1, 10]),))
    np.testing.assert_allclose(value, [1, 4])
    np.testing.assert_allclose(change, [2, 40])


def test_weights_that_change_are_seen_by_predict() -> None:
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
    x = f32([[1, 2]])
    assert model.predict(x, verbose=0) == 3
    model.layers[0].kernel.assign(f32([[2], [2]]))
    assert model.predict(x, verbose=0) == 6
    assert model.predict(f32([[1, 2], [0, 1]]), verbose=0).tolist() == [[6], [2]]


def test_states_that_a_model_assigns_last_from_batch_to_batch() -> None:
    class Counted(layers.Layer):  # type: ignore[misc]
        def build(self, _: Any) -> None:
            self.count = self.add_weight(shape=(), initializer="zeros", trainable=False)

        def call(self, x: Any) -> Any:
            self.count.assign(self.count + 1)
            return x * 0 + self.count

    model = keras.Sequential([keras.Input((1,)), Counted()])
    found = model.predict(np.ones((4, 1), "float32"), batch_size=2, verbose=0)
    assert found.ravel().tolist() == [1, 1, 2, 2]


def test_a_variable_keeps_the_dtype_that_it_was_made_of() -> None:
    v = keras.Variable(np.ones(2), dtype="float64")
    assert v.held.value.dtype == v.dtype == "float64"
    v.assign(np.full(2, 1 / 3))
    assert v.held.value.tolist() == [1 / 3] * 2


def test_operands_that_do_not_fit_are_refused_as_keras_has_it() -> None:
    with pytest.raises(ValueError, match=r"check: .*\n  found: ") as caught:
        ops.matmul(np.ones((2, 3), "float32"), np.ones((2, 3), "float32"))
    assert isinstance(caught.value, DrystoneError)
    assert caught.value.needed


@pytest.mark.parametrize("kinds", [("int8", "bool"), ("uint8", "int8"), ("int16", "uint8")])
def test_products_have_the_dtype_that_keras_promotes_to(kinds: tuple[str, str]) -> None:
    x, y = (np.ones(3, kind) for kind in kinds)
    wanted = keras.src.backend.common.dtypes.result_type(*kinds)
    for product in (keras.ops.vdot, keras.ops.dot, keras.ops.inner):
        assert product(x, y).dtype == wanted


def test_a_matrix_without_a_triangle_is_refused() -> None:
    with pytest.raises(ValueError, match="must be positive definite"):
        keras.ops.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]], np.float32))


@pytest.mark.parametrize("window", ["hann", None])
def test_parts_are_added_by_their_shares(window: str | None) -> None:
    """Each sample is met by four parts; the first and last ones would need parts from outside."""
    x = np.random.default_rng(0).normal(size=64).astype(np.float32)
    parts = keras.ops.stft(x, 16, 4, 16, window=window, center=False)
    found = keras.ops.istft(parts, 16, 4, 16, window=window, center=False)
    scale = 1 if window else 4
    np.testing.assert_allclose(found[16:-16], scale * x[16:-16], atol=1e-5)


def test_resized_bytes_are_cut_off_where_bytes_end() -> None:
    x = np.array([0, 1, 254, 255], np.uint8).reshape(1, 2, 2, 1)
    found = ops.image.resize(x, (4, 4), interpolation="bicubic")
    assert found[0, :, 0, 0].tolist() == [0, 53, 201, 255]


def test_an_elastic_transform_draws_by_its_seed() -> None:
    x = np.arange(48.0, dtype=np.float32).reshape(4, 4, 3)
    first, again, other = (ops.image.elastic_transform(x, sigma=1, seed=k) for k in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0


def test_results_are_ones_own_and_may_be_changed_in_place() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for made in (ops.reshape, lambda x, _: ops.zeros_like(x), lambda x, _: ops.transpose(x)):
        found = made(x, (3, 2))
        found += 1
        np.testing.assert_array_equal(made(x, (3, 2)), found - 1)
    np.testing.assert_array_equal(x, np.arange(6, dtype=np.float32).reshape(2, 3))


def test_spectra_of_signals_of_unknown_length() -> None:
    signal = keras.Input((None,))
    model = keras.Model(signal, ops.stft(signal, 8, 4, 8)[0])
    x = np.random.default_rng(0).normal(size=(2, 40)).astype(np.float32)
    np.testing.assert_allclose(
        model.predict(x, verbose=0), ops.stft(x, 8, 4, 8)[0], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_is_trained_by_a_slope_of_its_own(approximate: bool) -> None:
    shape = keras.Sequential([layers.Activation(lambda x: ops.gelu(x, approximate=approximate))])
    x = np.linspace(-4, 4, 33).reshape(3, 11)

    def slope(x: Any, training: bool) -> Any:
        return ops.grad(lambda x: ops.sum(shape(x, training=training)))(x)

    def again(x: Any, training: bool) -> Any:
        return ops.grad(lambda x: ops.sum(ops.square(slope(x, training))))(x)

    for function in (slope, again):
        np.testing.assert_allclose(
            function(f32(x), True), function(f32(x), False), rtol=1e-4, atol=1e-5
        )
    ends = [ops.gelu(x + step, approximate=approximate) for step in (0.01, -0.01)]
    np.testing.assert_allclose(slope(f32(x), True), (ends[0] - ends[1]) / 0.02, atol=1e-3)
