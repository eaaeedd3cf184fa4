"""The TensorBoard callback: what it writes, and when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers

from drystone_abi.protos import Event
from keras_drystone.callbacks import TensorBoard

X = np.random.default_rng(0).random((40, 6, 6, 1)).astype(np.float32)
Y = np.arange(40) % 3


def fitted(folder: Path, epochs: int = 2, **arguments: Any) -> Any:
    hidden = [layers.Conv2D(3, 3), layers.Flatten(), layers.Dense(3, activation="softmax")]
    model = keras.Sequential([keras.Input((6, 6, 1)), *hidden])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    board = TensorBoard(str(folder), **arguments)
    return model.fit(
        X, Y, batch_size=8, epochs=epochs, verbose=0, callbacks=[board], validation_data=(X, Y)
    ).history


def events(folder: Path) -> Iterator[Any]:
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            size = int.from_bytes(data[:8], "little")
            yield Event.FromString(data[12 : 12 + size])
            data = data[16 + size :]


def values(folder: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for event in events(folder):
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_numbers_of_epochs_are_those_of_the_history(tmp_path: Path) -> None:
    history = fitted(tmp_path)
    train, held = values(tmp_path / "train"), values(tmp_path / "validation")
    assert train["epoch_loss"] == [(k, pytest.approx(v)) for k, v in enumerate(history["loss"])]
    assert held["epoch_loss"] == [(k, pytest.approx(v)) for k, v in enumerate(history["val_loss"])]
    assert train["epoch_learning_rate"] == [(k, pytest.approx(0.001)) for k in range(2)]
    assert [step for step, _ in held["evaluation_loss_vs_iterations"]] == [5, 10]
    assert not any(tag.startswith("batch_") for tag in train)
    graphs = [event for event in events(tmp_path / "train") if event.graph_def]
    assert len(graphs) == 1


def test_numbers_of_batches(tmp_path: Path) -> None:
    fitted(tmp_path, update_freq=2, write_steps_per_second=True, write_graph=False)
    train = values(tmp_path / "train")
    assert [step for step, _ in train["batch_loss"]] == [2, 4, 6, 8, 10]
    assert all(value > 0 for _, value in train["batch_steps_per_second"])
    assert len(train["epoch_steps_per_second"]) == 2
    assert not [event for event in events(tmp_path / "train") if event.graph_def]


def test_weights_as_histograms_and_pictures(tmp_path: Path) -> None:
    fitted(tmp_path, epochs=3, histogram_freq=2, write_images=True)
    train = values(tmp_path / "train")
    histograms = [tag for tag in train if tag.endswith("/histogram")]
    assert len(histograms) == 4
    assert {tuple(step for step, _ in train[tag]) for tag in histograms} == {(0, 2)}
    assert len({tag.rpartition("/image")[0] for tag in train if "/image" in tag}) == 4


def test_a_profile_of_some_batches(tmp_path: Path) -> None:
    fitted(tmp_path, profile_batch=(3, 5))
    assert len(list((tmp_path / "train" / "plugins" / "profile").glob("*/*.xplane.pb"))) == 1
    tags = [event.tagged_run_metadata.tag for event in events(tmp_path / "train")]
    assert "batch_5" in tags


@pytest.mark.parametrize("wrong", [-1, (3, 2), (1, 2, 3)])
def test_batches_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="profile_batch"):
        TensorBoard(profile_batch=wrong)


def test_embeddings_are_refused() -> None:
    with pytest.raises(ValueError, match="embeddings"):
        TensorBoard(embeddings_freq=1)
