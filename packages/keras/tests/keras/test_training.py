"""Training of Keras models: against steps by hand, over kinds of data, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from drystone_base.core.errors import DrystoneError
from keras_drystone.src.ops import losses as normalizing

F32 = np.float32
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(F32)
Y = (X @ np.array([[1.0], [-2.0], [0.5]], F32) + 0.3).astype(F32)


def linear(optimizer: Any, **settings: Any) -> Any:
    """One dense layer without a bias, from zeros."""
    layer = layers.Dense(1, use_bias=False, kernel_initializer="zeros")
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(optimizer, "mse", **settings)
    return model


def slope(w: Any, x: Any, y: Any, weights: Any = None) -> Any:
    """The gradient of the mean of weighted squares by the weights of the layer."""
    each = np.ones(len(x)) if weights is None else weights
    return 2 * x.T @ ((x @ w - y) * each[:, None]) / len(x)


def kernel(model: Any) -> Any:
    return np.array(model.layers[-1].kernel)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_steps_of_sgd_are_those_by_hand(momentum: float) -> None:
    model = linear(keras.optimizers.SGD(0.1, momentum))
    w, v = np.zeros((3, 1)), np.zeros((3, 1))
    for k in range(5):
        x, y = X[8 * k : 8 * k + 8], Y[8 * k : 8 * k + 8]
        loss = model.train_on_batch(x, y)
        if k == 0:
            assert loss == pytest.approx(np.mean(y**2), rel=1e-5)
        v = momentum * v - 0.1 * slope(w, x, y)
        w = w + v
        np.testing.assert_allclose(kernel(model), w, rtol=2e-5, atol=1e-6)


def test_steps_of_adam_are_those_by_hand() -> None:
    model = linear(keras.optimizers.Adam(0.05))
    w, m, v = (np.zeros((3, 1)) for _ in range(3))
    for k in range(1, 6):
        model.train_on_batch(X, Y)
        g = slope(w, X, Y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        rate = 0.05 * np.sqrt(1 - 0.999**k) / (1 - 0.9**k)
        w = w - rate * m / (np.sqrt(v) + 1e-7)
        np.testing.assert_allclose(kernel(model), w, rtol=1e-4, atol=1e-5)
    assert int(model.optimizer.iterations) == 5


@pytest.mark.parametrize("kind", ["sample", "class"])
def test_examples_have_weights(kind: str) -> None:
    model = linear(keras.optimizers.SGD(0.1))
    labels = (np.arange(40) % 2)[:, None].astype(F32)
    weights = np.where(labels[:, 0] == 1, 3.0, 0.5)
    given: Any = (
        {"sample_weight": weights} if kind == "sample" else {"class_weight": {0: 0.5, 1: 3.0}}
    )
    model.fit(X, labels, batch_size=40, verbose=0, shuffle=False, **given)
    wanted = -0.1 * slope(np.zeros((3, 1)), X, labels, weights)
    np.testing.assert_allclose(kernel(model), wanted, rtol=1e-5)
    other = linear(keras.optimizers.SGD(0.1))
    other.train_on_batch(X, labels, **given)
    np.testing.assert_allclose(kernel(other), wanted, rtol=1e-5)


class Data(keras.utils.PyDataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 5

    def __getitem__(self, k: int) -> Any:
        return X[8 * k : 8 * k + 8], Y[8 * k : 8 * k + 8]


def generator() -> Iterator[Any]:
    while True:
        for k in range(5):
            yield X[8 * k : 8 * k + 8], Y[8 * k : 8 * k + 8]


@pytest.mark.parametrize("kind", ["arrays", "generator", "dataset", "executions", "again"])
def test_kinds_of_data_train_alike(kind: str) -> None:
    def trained(**settings: Any) -> Any:
        model = linear(keras.optimizers.SGD(0.05), metrics=["mae"], **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if kind == "generator":
                history = model.fit(generator(), steps_per_epoch=5, epochs=2, verbose=0)
            elif kind == "dataset":
                history = model.fit(Data(), epochs=2, verbose=0, shuffle=False)
            else:
                history = model.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False)
        return kernel(model), history.history

    settings: Any = {"executions": {"steps_per_execution": 3}, "again": {"run_eagerly": True}}
    found, history = trained(**settings.get(kind, {}))
    w = np.zeros((3, 1))
    losses = []
    for _ in range(2):
        for x, y in (Data()[k] for k in range(5)):
            losses.append(float(np.mean((x @ w - y) ** 2)))
            w = w - 0.05 * slope(w, x, y)
    np.testing.assert_allclose(found, w, rtol=1e-5)
    wanted = [np.mean(losses[:5]), np.mean(losses[5:])]
    np.testing.assert_allclose(history["loss"], wanted, rtol=1e-5)
    assert sorted(history) == ["loss", "mae"]


@pytest.mark.parametrize("kind", ["class weights", "float16", "images", "states", "two inputs"])
def test_executions_of_several_steps_are_one_call_with_the_same_bits(kind: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(44, 6, 6, 2)).astype(F32), rng.integers(0, 3, 44)
    given: Any = {"x": x, "y": y}
    if kind == "class weights":
        given["class_weight"] = {0: 1.0, 1: 2.0, 2: 0.5}
    if kind == "two inputs":
        given = {"x": [x, x[:, ::-1].copy()], "y": y, "sample_weight": rng.random(44).astype(F32)}

    def trained(steps: int) -> tuple[Any, ...]:
        keras.utils.set_random_seed(1)
        keras.config.set_dtype_policy("mixed_float16" if kind == "float16" else "float32")
        inputs = [keras.Input((6, 6, 2)) for _ in range(2 if kind == "two inputs" else 1)]
        z = layers.Conv2D(3, 3)(inputs[0] if len(inputs) == 1 else layers.Add()(inputs))
        if kind == "states":
            z = layers.Dropout(0.3)(layers.BatchNormalization()(z))
        z = layers.Dense(3, dtype="float32")(layers.Flatten()(layers.MaxPooling2D()(z)))
        keras.config.set_dtype_policy("float32")
        model = keras.Model(inputs, z)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, metrics=["accuracy"], steps_per_execution=steps)
        ends: list[int] = []
        seen = keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, **_: ends.append(batch)
        )
        history = model.fit(
            batch_size=5, epochs=2, shuffle=False, verbose=0, callbacks=[seen], **given
        )
        calls = len(model.train_function.step._loops)
        return history.history, model.get_weights(), ends, calls

    history, weights, ends, calls = trained(1)
    assert (ends, calls) == ([*range(9), *range(9)], 0)
    for steps, wanted in ((4, [3, 7, 11]), (16, [15])):
        found = trained(steps)
        assert found[0] == history
        for one, other in zip(found[1], weights, strict=True):
            np.testing.assert_array_equal(one, other)
        assert (found[2], found[3]) == (wanted * 2, 1)


@pytest.mark.parametrize(
    "settings", [{}, {"axis": 1}, {"scale": False}, {"center": False}], ids=str
)
def test_images_are_normalized_by_one_op_as_by_many(
    settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(2, 3, size=(12, 5, 4, 3)).astype(F32), rng.normal(size=(12, 2)).astype(F32)

    def trained() -> tuple[Any, Any, int]:
        keras.utils.set_random_seed(1)
        inputs = keras.Input((5, 4, 3))
        z = layers.BatchNormalization(**settings)(layers.Conv2D(4, 2)(inputs))
        model = keras.Model(inputs, layers.Dense(2)(layers.Flatten()(layers.ReLU()(z))))
        model.compile(keras.optimizers.SGD(0.05), "mse")
        losses = [model.train_on_batch(x, y) for _ in range(4)]
        ops = [node.op for node in model.train_function.step.traces[0].graph]
        return losses, model.get_weights(), sum(op.startswith("FusedBatchNorm") for op in ops)

    losses, weights, fused = trained()
    assert fused == 2, "the layer and its gradient"
    monkeypatch.setattr(normalizing, "_normalized_by_own_moments", lambda *_: None)
    wanted, others, left = trained()
    assert left == 0
    np.testing.assert_allclose(losses, wanted, rtol=1e-5)
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_torch_loaders() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pairs = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
    model = linear(keras.optimizers.SGD(0.05))
    model.fit(torch.utils.data.DataLoader(pairs, batch_size=40), verbose=0)
    np.testing.assert_allclose(kernel(model), -0.05 * slope(np.zeros((3, 1)), X, Y), rtol=1e-5)


def test_evaluation_and_validation_are_means_over_examples() -> None:
    model = linear(keras.optimizers.SGD(0.05), metrics=["mae"])
    history = model.fit(X, Y, batch_size=16, verbose=0, validation_data=(X[:30], Y[:30])).history
    wanted = np.mean((X[:30] @ kernel(model) - Y[:30]) ** 2)
    assert history["val_loss"] == [pytest.approx(wanted, rel=1e-5)]
    found = model.evaluate(X[:30], Y[:30], batch_size=16, verbose=0, return_dict=True)
    assert found["loss"] == pytest.approx(wanted, rel=1e-5)
    assert found["mae"] == pytest.approx(history["val_mae"][0], rel=1e-6)
    assert model.test_on_batch(X[:30], Y[:30])[0] > 0
    split = linear(keras.optimizers.SGD(0.05))
    assert "val_loss" in split.fit(X, Y, validation_split=0.25, verbose=0).history
    np.testing.assert_allclose(model.predict(X, verbose=0), X @ kernel(model), rtol=1e-4, atol=1e-5)


def test_a_batch_of_another_size_is_no_other_trace() -> None:
    model = linear(keras.optimizers.SGD(0.05))
    model.fit(X, Y, batch_size=16, epochs=3, verbose=0)  # 16, 16, 8
    assert len(model.train_function.step.traces) == 1


def test_layers_with_a_state_keep_it() -> None:
    keras.utils.set_random_seed(3)
    norm = layers.BatchNormalization(momentum=0.5)
    stack = [keras.Input((3,)), norm, layers.Dropout(0.5), layers.Dense(1)]
    model = keras.Sequential(stack)
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    np.testing.assert_allclose(np.array(norm.moving_mean), X.mean(0) / 2, rtol=1e-4, atol=1e-6)
    first, second = (model.train_on_batch(X, Y) for _ in range(2))
    assert first != second
    assert np.ptp([model.evaluate(X, Y, verbose=0) for _ in range(2)]) == 0


def test_many_layers_learn() -> None:
    keras.utils.set_random_seed(1)
    images = RNG.normal(size=(64, 8, 8, 1)).astype(F32)
    labels = (images.mean((1, 2, 3)) > 0).astype(np.int32)
    words = (labels[:, None] * 5 + RNG.integers(0, 5, (64, 6))).astype(np.int32)
    a = keras.Input((8, 8, 1))
    b = keras.Input((6,), dtype="int32")
    left = layers.Flatten()(layers.MaxPooling2D()(layers.Conv2D(4, 3, activation="relu")(a)))
    embedded = layers.Embedding(10, 8)(b)
    attended = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4)(embedded, embedded))
    right = layers.LSTM(6)(attended)
    out = layers.Dense(2, activation="softmax")(layers.Concatenate()([left, right]))
    model = keras.Model([a, b], out)
    model.compile(
        keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    history = model.fit([images, words], labels, batch_size=16, epochs=4, verbose=0).history
    assert history["loss"][-1] < 0.5 * history["loss"][0]
    assert history["accuracy"][-1] > 0.9


def test_what_is_said_of_one_batch_is_of_that_batch_alone() -> None:
    model = linear(keras.optimizers.SGD(0.0), metrics=["mae"])
    for first in (0, 8, 16):
        x, y = X[first : first + 8], Y[first : first + 8]
        expected = pytest.approx([np.mean(y**2), np.mean(abs(y))], rel=1e-5)
        assert model.train_on_batch(x, y) == expected
        assert model.test_on_batch(x, y) == expected


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(policy: str) -> None:
    keras.utils.set_random_seed(1)
    keras.config.set_dtype_policy(policy)
    try:
        hidden = layers.Dense(4, activation="relu")
        model = keras.Sequential([keras.Input((3,)), hidden, layers.Dense(1, dtype="float32")])
        model.compile(keras.optimizers.SGD(0.02), "mse")
    finally:
        keras.config.set_dtype_policy("float32")
    losses = model.fit(X, Y, batch_size=40, epochs=30, verbose=0).history["loss"]
    assert losses[-1] < 0.7 * losses[0]
    assert hidden.kernel.dtype == "float32"
    assert hidden.compute_dtype == policy.removeprefix("mixed_")


def test_inputs_are_found_by_name_and_may_be_left_out() -> None:
    first, second = keras.Input((3,), name="b"), keras.Input((2,), name="a", optional=True)
    layer = layers.Dense(1, kernel_initializer="ones")

    class Maybe(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any, more: Any = None) -> Any:
            return x if more is None else layers.concatenate([x, more])

        def compute_output_shape(self, x_shape: Any, more_shape: Any = None) -> Any:
            return (x_shape[0], x_shape[1] + (more_shape[1] if more_shape else 0))

    given = {"b": first, "a": second}
    model = keras.Model(given, [layer(first), Maybe()(first, second)])
    x, more = X[:4], np.ones((4, 2), F32)
    sums, both = model.predict({"a": more, "b": x}, verbose=0)
    np.testing.assert_allclose(sums[:, 0], x.sum(1), rtol=1e-5)
    np.testing.assert_array_equal(both, np.concatenate([x, more], 1))
    np.testing.assert_array_equal(model.predict({"b": x, "a": None}, verbose=0)[1], x)


def test_a_model_that_a_step_builds_can_be_saved_and_loaded(tmp_path: Path) -> None:
    @keras.saving.register_keras_serializable("tests")
    class Subclassed(keras.Model):  # type: ignore[misc]
        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.layer = layers.Dense(1)

        def call(self, x: Any) -> Any:
            return self.layer(x)

    model = Subclassed()
    model.compile("adam", "mse")
    model.fit(X, Y, verbose=0)
    assert model.get_build_config() == {"input_shape": (32, 3)}
    model.save(tmp_path / "m.keras")
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    assert loaded.built
    np.testing.assert_allclose(loaded.predict(X, verbose=0), model.predict(X, verbose=0))


def test_what_is_frozen_stays() -> None:
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4), layers.Dense(1)])
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    before = np.array(model.layers[0].kernel)
    model.fit(X, Y, verbose=0)
    assert (np.array(model.layers[0].kernel) == before).all()
    model.layers[0].trainable = True
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert (np.array(model.layers[0].kernel) != before).any()


def test_a_step_of_ones_own() -> None:
    class Scaled(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(1, use_bias=False, kernel_initializer="zeros")

        def call(self, x: Any) -> Any:
            return self.dense(x)

        def compute_loss(
            self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
        ) -> Any:
            del x, sample_weight
            return 10.0 * keras.ops.mean((y_pred - y) ** 2)

    model = Scaled()
    model.compile(keras.optimizers.SGD(0.01))
    model.fit(X, Y, batch_size=40, verbose=0)
    found = np.array(model.dense.kernel)
    np.testing.assert_allclose(found, -0.1 * slope(np.zeros((3, 1)), X, Y), rtol=1e-5)


def test_callbacks_of_keras_stop_and_slow_down() -> None:
    model = linear(keras.optimizers.SGD(0.1))
    calls = [
        keras.callbacks.EarlyStopping("loss", patience=2, min_delta=0.05),
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (1 + epoch)),
    ]
    history = model.fit(X, Y, batch_size=40, epochs=100, verbose=0, callbacks=calls).history
    assert len(history["loss"]) < 100
    assert float(model.optimizer.learning_rate) == pytest.approx(0.1 / len(history["loss"]))


# ---- bad input -------------------------------------------------------------------------------


def test_jit_is_ignored_with_a_word() -> None:
    with pytest.warns(UserWarning, match="jit_compile=True says nothing here"):
        model = linear("sgd", jit_compile=True)
    model.fit(X, Y, verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linear("sgd", jit_compile=False)


def test_the_op_of_the_first_nan_is_named() -> None:
    spoiled = X.copy()
    spoiled[7] = np.nan
    model = linear("sgd")
    model.check_numerics = True
    with pytest.raises(DrystoneError) as caught:
        model.fit(spoiled, Y, verbose=0)
    assert "(Placeholder): the tensor must hold finite numbers" in str(caught.value)
    assert np.isfinite(kernel(model)).all()
    plain = linear("sgd")
    assert np.isnan(plain.fit(spoiled, Y, verbose=0).history["loss"][0])


def test_shapes_that_do_not_fit_are_told() -> None:
    model = linear("sgd")
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        model.fit(np.ones((8, 4), F32), Y[:8], verbose=0)
    with pytest.raises(ValueError, match="compile"):
        keras.Sequential([keras.Input((3,)), layers.Dense(1)]).fit(X, Y, verbose=0)
