"""Recurrent layers whose loops are written by hand, beside the same layers step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_drystone.src.compiled import Compiled

F32 = np.float32
STEPS, FEATURES, UNITS = 5, 3, 4
CELLS: dict[str, Callable[..., Any]] = {
    "lstm": layers.LSTM,
    "gru": layers.GRU,
    "lstm without bias": lambda *a, **k: layers.LSTM(*a, use_bias=False, **k),
    "gru without bias": lambda *a, **k: layers.GRU(*a, use_bias=False, **k),
}


def x_of(rows: int = 6) -> Any:
    return np.random.default_rng(rows).normal(size=(rows, STEPS, FEATURES)).astype(F32)


def two(cell: Callable[..., Any], **settings: Any) -> tuple[Any, Any]:
    """A layer as it is run, and one of the same weights that is written out step by step."""
    made = [cell(UNITS, unroll=unroll, **settings) for unroll in (False, True)]
    for layer in made:
        layer.build((None, STEPS, FEATURES))
    rng = np.random.default_rng(1)
    weights = [rng.normal(size=w.shape).astype(F32) / 2 for w in made[0].weights]
    for layer in made:
        layer.set_weights(weights)
    return made[0], made[1]


def same(found: Any, expected: Any) -> None:
    pairs = zip(keras.tree.flatten(found), keras.tree.flatten(expected), strict=True)
    compared = 0
    for a, b in pairs:
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), 2e-5, 2e-5)
        compared += 1
    assert compared


def trained(layer: Any) -> Callable[[Any], Any]:
    """A layer as it is in training: elsewhere Keras's own loop is taken."""
    return lambda x: layer(x, training=True)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("sequences", [False, True])
def test_it_gives_outputs_and_states_of_each_step(
    cell: str, backwards: bool, sequences: bool
) -> None:
    settings = {
        "go_backwards": backwards, "return_sequences": sequences, "return_state": True
    }  # fmt: skip
    layer, plain = two(CELLS[cell], **settings)
    expected = plain(x_of())
    same(layer(x_of(), training=True), expected)
    same(Compiled(trained(layer), "test")(x_of()), expected)


def weighed(layer: Any) -> Callable[..., Any]:
    """A number that depends on all outputs and states of a layer, as a function of its weights."""

    def loss(x: Any, states: Any, *weights: Any) -> Any:
        pairs = list(zip(layer.weights, weights, strict=True))
        with keras.StatelessScope(state_mapping=pairs):
            found = layer(x, initial_state=states, training=True)
        parts = keras.tree.flatten(found)
        return sum(ops.sum(part * part * (k + 1)) for k, part in enumerate(parts))

    return loss


def given(layer: Any, cell: str) -> list[Any]:
    rng = np.random.default_rng(2)
    states = [rng.normal(size=(6, UNITS)).astype(F32) for _ in range(2 if "lstm" in cell else 1)]
    return [x_of(), states, *[np.asarray(w) for w in layer.weights]]


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("sequences", [False, True])
def test_gradients_are_those_of_each_step(cell: str, sequences: bool) -> None:
    pair = two(CELLS[cell], return_sequences=sequences, return_state=True)
    values = given(pair[0], cell)
    places = tuple(range(len(values)))
    found, expected = (ops.grad(weighed(layer), places)(*values) for layer in pair)
    assert max(float(np.abs(np.asarray(g)).max()) for g in keras.tree.flatten(found)) > 0.1
    same(found, expected)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gradients_have_gradients(cell: str) -> None:
    pair = two(CELLS[cell], return_sequences=True)
    values = given(pair[0], cell)

    def steepness(layer: Any) -> Callable[..., Any]:
        def of_inputs(x: Any, *rest: Any) -> Any:
            return ops.sum(ops.square(ops.grad(weighed(layer))(x, *rest)))

        return of_inputs

    found, expected = (ops.grad(steepness(layer), (0, 2))(*values) for layer in pair)
    same(found, expected)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_model_trains_and_runs_for_any_number_of_steps(cell: str) -> None:
    def fitted(unroll: bool) -> Any:
        x = keras.Input((STEPS if unroll else None, FEATURES))
        keras.utils.set_random_seed(3)
        model = keras.Model(x, CELLS[cell](UNITS, unroll=unroll)(x))
        model.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
        y = np.ones((6, UNITS), F32)
        losses = [model.train_on_batch(x_of(), y) for _ in range(5)]
        return losses, model.predict(x_of(), verbose=0)

    losses, predicted = fitted(unroll=False)
    assert losses[-1] < losses[0]
    same((losses, predicted), fitted(unroll=True))


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_mixed_precision_computes_as_the_policy_says(policy: str, cell: str) -> None:
    layer = CELLS[cell](UNITS, dtype=policy, return_sequences=True)
    found = Compiled(trained(layer), "test")(x_of())
    assert keras.backend.standardize_dtype(found.dtype) == policy.removeprefix("mixed_")
    wide = CELLS[cell](UNITS, return_sequences=True)
    wide.build((None, STEPS, FEATURES))
    wide.set_weights(layer.get_weights())
    np.testing.assert_allclose(found.astype(F32), wide(x_of()), atol=0.03)


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_the_products_with_inputs_are_no_part_of_the_loop(cell: str) -> None:
    layer, _ = two(CELLS[cell])
    graph = Compiled(trained(layer), "test")._traced(x_of())[1].graph
    found = [node.op for node in graph]
    assert (found.count("MatMul"), sum("While" in op for op in found)) == (1, 1)


def test_other_functions_and_masks_are_computed_step_by_step() -> None:
    odd: list[dict[str, Any]] = [
        {"activation": "relu"}, {"recurrent_activation": "hard_sigmoid"}, {"reset_after": False}
    ]  # fmt: skip
    for settings in odd:
        layer, plain = two(layers.GRU, **settings)
        same(Compiled(trained(layer), "test")(x_of()), plain(x_of()))
    mask = np.arange(STEPS) < np.array([[5], [4], [3], [2], [1], [5]])
    layer, plain = two(layers.LSTM)
    same(layer(x_of(), mask=mask), plain(x_of(), mask=mask))
    assert not np.allclose(layer(x_of(), mask=mask), layer(x_of()), atol=1e-3)
