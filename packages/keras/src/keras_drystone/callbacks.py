"""Callbacks of Keras that need more than Keras has without TensorFlow."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

import keras
import numpy as np

import drystone_base as ds

__all__ = ["ModelCheckpoint", "TensorBoard"]


class ModelCheckpoint(keras.callbacks.ModelCheckpoint):  # type: ignore[misc]
    """As Keras's own, but that a kill while it writes leaves the last file whole.

    Keras writes over the file that is there; this one writes beside it, and then takes its place.
    """

    def _save_model(self, epoch: int, batch: int | None, logs: Any) -> None:
        wanted = super()._get_file_path(epoch, batch, logs)
        self._draft = os.path.join(os.path.dirname(wanted), f".draft-{os.path.basename(wanted)}")
        super()._save_model(epoch, batch, logs)
        if os.path.exists(self._draft):
            os.replace(self._draft, wanted)

    def _get_file_path(self, epoch: int, batch: int | None, logs: Any) -> str:  # noqa: ARG002
        return self._draft


class TensorBoard(keras.callbacks.Callback):  # type: ignore[misc]
    """Writes event files that TensorBoard shows, as ``keras.callbacks.TensorBoard`` does.

    The arguments are Keras's own. ``train`` and ``validation`` below ``log_dir`` get scalars
    (``epoch_...``, ``batch_...``, ``evaluation_..._vs_iterations``, the learning rate),
    ``histogram_freq`` histograms of weights, ``write_images`` pictures of them, ``write_graph`` the
    graph of a training step, and ``profile_batch``, a number or a pair, a profile of these batches
    for TensorBoard's profile plugin. Raises ``ValueError`` for embeddings, which are not written.
    """

    def __init__(
        self,
        log_dir: str = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: Any = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
    ) -> None:
        super().__init__()
        if embeddings_freq or embeddings_metadata:
            raise ValueError("embeddings are not written: leave embeddings_freq at 0")
        self.log_dir = Path(log_dir)
        self.histogram_freq, self.write_graph = histogram_freq, write_graph
        self.write_images, self.write_steps_per_second = write_images, write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._profiled = _range(profile_batch)
        self._batch = 0
        self._writers: dict[str, ds.SummaryWriter] = {}
        self._recording = contextlib.ExitStack()
        self._record: ds.Record | None = None
        self._started = self._begun = time.monotonic()
        self._steps_before = 0

    def _writer(self, name: str) -> ds.SummaryWriter:
        if name not in self._writers:
            self._writers[name] = ds.SummaryWriter(self.log_dir / name)
        return self._writers[name]

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """Count batches from here."""
        self._batch = 0

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """Close the files."""
        self._stop_recording()
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Take the time."""
        self._begun, self._steps_before = time.monotonic(), self._batch

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Begin to record, where a profile is asked for."""
        self._batch += 1
        self._started = time.monotonic()
        if self._profiled and self._profiled[0] <= self._batch and self._record is None:
            self._start_recording()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Write what belongs to a batch."""
        if self._record is not None and self._batch >= self._profiled[1]:
            self._stop_recording()
        if self.write_graph and self._batch == 1:
            for traced in _traces(self.model):
                self._writer("train").graph(traced.graph)
                break
        if self.update_freq == "epoch" or self._batch % self.update_freq:
            return
        writer = self._writer("train")
        for name, value in (logs or {}).items():
            writer.scalar(f"batch_{name}", value, self._batch)
        if self.write_steps_per_second:
            seconds = max(time.monotonic() - self._started, 1e-9)
            writer.scalar("batch_steps_per_second", 1 / seconds, self._batch)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Write the numbers of an epoch, and weights."""
        logs = dict(logs or {})
        for name, value in logs.items():
            if name.startswith("val_"):
                self._writer("validation").scalar(f"epoch_{name[4:]}", value, epoch)
            else:
                self._writer("train").scalar(f"epoch_{name}", value, epoch)
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        if isinstance(optimizer, keras.optimizers.Optimizer):
            rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
            self._writer("train").scalar("epoch_learning_rate", rate, epoch)
        if self.write_steps_per_second:
            seconds = max(time.monotonic() - self._begun, 1e-9)
            speed = (self._batch - self._steps_before) / seconds
            self._writer("train").scalar("epoch_steps_per_second", speed, epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)

    def on_test_end(self, logs: Any = None) -> None:
        """Write the numbers of an evaluation, by steps of the optimizer."""
        optimizer = getattr(self.model, "optimizer", None)
        if optimizer is None or not hasattr(optimizer, "iterations"):
            return
        step = int(keras.ops.convert_to_numpy(optimizer.iterations))
        for name, value in (logs or {}).items():
            tag = f"evaluation_{name}_vs_iterations"
            self._writer("validation").scalar(tag, value, step)

    def _write_weights(self, epoch: int) -> None:
        writer = self._writer("train")
        for layer in self.model.layers:
            for weight in layer.weights:
                name = f"{layer.name}/{weight.path}/histogram"
                values = np.asarray(keras.ops.convert_to_numpy(weight))
                if values.dtype.kind not in "fiub":
                    values = values.astype(np.float32)
                writer.histogram(name, values, epoch)
                picture = _picture(values) if self.write_images else None
                if picture is not None:
                    writer.image(f"{layer.name}/{weight.path}/image", picture, epoch)

    def _start_recording(self) -> None:
        traces = _traces(self.model)
        if traces:  # the first batch makes the trace: it is recorded from the second on
            self._record = self._recording.enter_context(traces[-1].session.record())

    def _stop_recording(self) -> None:
        record, self._record = self._record, None
        self._recording.close()
        if record is not None:
            self._profiled = ()
            record.write_profile(self.log_dir / "train")
            self._writer("train").run_metadata(f"batch_{self._batch}", record, self._batch)


def _traces(model: Any) -> list[Any]:
    """The traces of a model's training step."""
    step = getattr(getattr(model, "train_function", None), "step", None)
    return [] if step is None else list(step.traces)


def _range(given: Any) -> tuple[int, ...]:
    """The first and the last batch to profile; none for 0."""
    if isinstance(given, str):
        given = tuple(int(part) for part in given.split(","))
    pair = (given, given) if isinstance(given, int) else tuple(given)
    if len(pair) == 1:
        pair = pair * 2
    if len(pair) != 2 or not all(isinstance(n, int) for n in pair) or not 0 <= pair[0] <= pair[1]:
        raise ValueError(
            "profile_batch must be a non-negative integer or a pair of positive integers: the "
            f"first and the last batch to profile. Found: {given}"
        )
    return () if pair == (0, 0) else pair


def _picture(values: Any) -> Any:
    """A weight as a picture ``[1, height, width, 1 | 3]``, scaled to 0 ... 1; None for others."""
    shape = values.squeeze().shape
    if len(shape) == 1:
        picture = values.reshape(1, 1, -1, 1)
    elif len(shape) == 2:
        wide = values.squeeze()
        picture = (wide.T if shape[0] > shape[1] else wide)[None, ..., None]
    elif len(shape) == 3:
        picture = np.moveaxis(values.squeeze(), -1, 0)[..., None]
    else:
        return None
    low, high = float(picture.min()), float(picture.max())
    return ((picture - low) / max(high - low, 1e-12)).astype(np.float32)
