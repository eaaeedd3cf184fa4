"""What Keras makes models of: ``fit``, ``evaluate``, ``predict``, and steps of one batch.

A step is one graph: the forward pass, the loss, its gradients, the optimizer's updates and the
metrics. The variables stay where the executor changes them in place, and Python sees a step as one
native call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from keras.src import backend, tree
from keras.src import callbacks as callbacks_module
from keras.src import optimizers as optimizers_module
from keras.src.backend import config
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.trainers.trainer import BaseTrainer
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import pythonify_logs

from drystone_base.autodiff.asking import gradients
from keras_drystone.src import sharing
from keras_drystone.src.compiled import Compiled
from keras_drystone.src.ops.densify import dense
from keras_drystone.src.stepping import Step

__all__ = ["Trainer"]

_NO_JIT = (
    "jit_compile=True says nothing here: drystone runs every step as one optimized graph, with "
    "or without it"
)


class Trainer(BaseTrainer):  # type: ignore[misc]
    """Training, evaluating and running of models."""

    def __init__(self) -> None:
        super().__init__()
        self.train_function: Any = None
        self.test_function: Any = None
        self.predict_function: Any = None
        self._check_numerics = False
        self._shared_by = 1

    @property
    def check_numerics(self) -> bool:
        """Whether steps name the first op that gives NaN or infinity; they take longer."""
        return self._check_numerics

    @check_numerics.setter
    def check_numerics(self, value: bool) -> None:
        self._check_numerics = value
        self.train_function = self.test_function = None

    @property
    def jit_compile(self) -> bool:
        """Ignored, with a word where it is true: steps are optimized graphs with or without it."""
        return False

    @jit_compile.setter
    def jit_compile(self, value: Any) -> None:
        if value:
            warnings.warn(_NO_JIT, stacklevel=4)

    def _resolve_auto_jit_compile(self) -> bool:
        return False

    # ---- one batch -----------------------------------------------------------------------------

    def train_step(self, data: Any) -> Any:
        """Forward, backward and update on one batch; the metrics after it."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred = self(x, training=True) if self._call_has_training_arg else self(x)
        loss = self._tracked_loss(x, y, y_pred, sample_weight, training=True)
        weights = self.trainable_weights
        if self.optimizer is not None:
            loss = self.optimizer.scale_loss(loss)
        if weights:
            found = [None if g is None else dense(g) for g in gradients(loss, weights)]
            found = sharing.shared(found, weights)
            self.optimizer.apply_gradients(zip(found, weights, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data: Any) -> Any:
        """The metrics after one batch, with nothing trained."""
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False) if self._call_has_training_arg else self(x)
        self._tracked_loss(x, y, y_pred, sample_weight, training=False)
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data: Any) -> Any:
        """What the model gives for one batch."""
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self(x, training=False) if self._call_has_training_arg else self(x)

    def _tracked_loss(self, x: Any, y: Any, y_pred: Any, weight: Any, *, training: bool) -> Any:
        loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, training=training)
        first = next(part for part in tree.flatten(x) if part is not None)
        self._loss_tracker.update_state(loss, sample_weight=backend.ops.core.shape(first)[0])
        return loss

    # ---- functions of several batches ----------------------------------------------------------

    def make_train_function(self, force: bool = False) -> Any:
        """The function of the batches of one execution that trains."""
        size = sharing.group_size()
        if self.train_function is None or force or size != self._shared_by:
            self._shared_by = size
            self.train_function = self._function(self.train_step, "train")
        return self.train_function

    def make_test_function(self, force: bool = False) -> Any:
        """The function of the batches of one execution that evaluates."""
        if self.test_function is None or force:
            self.test_function = self._function(self.test_step, "test")
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Any:
        """The function of the batches of one execution that predicts."""
        if self.predict_function is not None and not force:
            return self.predict_function
        one = self.predict_step
        if not self.run_eagerly:
            one = Compiled(self.predict_step, f"{self.name}_predict")

        def several(data: Any) -> Any:
            return _joined([one(batch) for batch in data])

        self.predict_function = several
        return several

    def _function(self, step: Callable[[Any], Any], what: str) -> _Steps:
        one = Step(
            step, f"{self.name}_{what}",
            again=bool(self.run_eagerly), check_numerics=self.check_numerics,
        )  # fmt: skip

        return _Steps(one)

    # ---- fit, evaluate, predict ----------------------------------------------------------------

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
    ) -> Any:
        """Train, as Keras says; with the other processes of a group that was joined.

        Each process gives its own share of the data, in as many batches. Gradients are means over
        all processes, and so are the logs of an epoch.
        """
        self._assert_compile_called("fit")
        self._eval_epoch_iterator = None
        epochs = _capped(epochs)
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = array_slicing.train_validation_split(
                (x, y, sample_weight), validation_split=validation_split
            )
        validation = None
        if validation_data is not None:
            val_x, val_y, val_weight = data_adapter_utils.unpack_x_y_sample_weight(validation_data)
            validation = {
                "x": val_x, "y": val_y, "sample_weight": val_weight, "steps": validation_steps,
                "batch_size": validation_batch_size or batch_size,
            }  # fmt: skip
        batches = EpochIterator(
            x=x, y=y, sample_weight=sample_weight, batch_size=batch_size,
            steps_per_epoch=steps_per_epoch, shuffle=shuffle, class_weight=class_weight,
            steps_per_execution=self.steps_per_execution,
        )  # fmt: skip
        self._symbolic_build(iterator=batches)
        batches.reset()
        callbacks = self._callbacks(callbacks, verbose, batches, epochs=epochs, add_history=True)
        self.stop_training = False
        self.make_train_function()
        sharing.begin(self)
        callbacks.on_train_begin()
        logs = None
        for epoch in range(self._initial_epoch or initial_epoch, epochs):
            logs = self._epoch(epoch, batches, callbacks, validation, validation_freq)
            if self.stop_training:
                break
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None
        callbacks.on_train_end(logs=logs)
        return self.history

    def _epoch(
        self, epoch: int, batches: Any, callbacks: Any, validation: Any, frequency: Any
    ) -> dict[str, Any]:
        """One pass over the batches, and the evaluation that follows it."""
        self.reset_metrics()
        callbacks.on_epoch_begin(epoch)
        logs: Any = {}
        for begin, end, data in batches:
            callbacks.on_train_batch_begin(begin)
            logs = pythonify_logs(self.train_function(data))
            callbacks.on_train_batch_end(end, logs)
            if self.stop_training:
                break
        found = dict(self._get_metrics_result_or_logs(logs))
        sharing.settle(self)
        if validation is not None and self._should_eval(epoch, frequency):
            evaluated = self.evaluate(
                **validation, callbacks=callbacks, return_dict=True, _use_cached_eval_dataset=True
            )
            found |= {f"val_{name}": value for name, value in evaluated.items()}
        found = sharing.mean_of_logs(found)
        callbacks.on_epoch_end(epoch, found)
        return found

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The loss and the metrics, as Keras says."""
        self._assert_compile_called("evaluate")
        keep = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        batches = getattr(self, "_eval_epoch_iterator", None) if keep else None
        if batches is None:
            batches = EpochIterator(
                x=x, y=y, sample_weight=sample_weight, batch_size=batch_size,
                steps_per_epoch=steps, shuffle=False, steps_per_execution=self.steps_per_execution,
            )  # fmt: skip
        if keep:
            self._eval_epoch_iterator = batches
        self._symbolic_build(iterator=batches)
        batches.reset()
        callbacks = self._callbacks(callbacks, verbose, batches)
        self.make_test_function()
        self.stop_evaluating = False
        callbacks.on_test_begin()
        logs: Any = {}
        self.reset_metrics()
        for begin, end, data in batches:
            callbacks.on_test_batch_begin(begin)
            logs = pythonify_logs(self.test_function(data))
            callbacks.on_test_batch_end(end, logs)
            if self.stop_evaluating:
                break
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback  # type: ignore[untyped-decorator]
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """What the model gives for all batches, as arrays."""
        batches = EpochIterator(x=x, batch_size=batch_size, steps_per_epoch=steps, shuffle=False,
                                steps_per_execution=self.steps_per_execution)  # fmt: skip
        callbacks = self._callbacks(callbacks, verbose, batches)
        run = self.make_predict_function()
        self.stop_predicting = False
        callbacks.on_predict_begin()
        found: list[Any] = []
        for begin, end, data in batches:
            callbacks.on_predict_batch_begin(begin)
            found.append(run(list(data)))
            callbacks.on_predict_batch_end(end, {"outputs": found[-1]})
            if self.stop_predicting:
                break
        callbacks.on_predict_end()
        return _joined(found)

    def _callbacks(
        self, given: Any, verbose: Any, batches: Any, *, epochs: int = 1, add_history: bool = False
    ) -> Any:
        if isinstance(given, callbacks_module.CallbackList):
            return given
        return callbacks_module.CallbackList(
            given, add_history=add_history, add_progbar=verbose != 0, verbose=verbose,
            epochs=epochs, steps=batches.num_batches, model=self,
        )  # fmt: skip

    # ---- on one batch --------------------------------------------------------------------------

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Train on one batch; its loss and metrics alone."""
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError(
                    "Arguments `sample_weight` and `class_weight` cannot be specified at the same "
                    f"time. Received: sample_weight={sample_weight}, class_weight={class_weight}"
                )
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        data = _batch(x, y, sample_weight)
        self._symbolic_build(data_batch=data)
        run = self.make_train_function()
        self.reset_metrics()
        logs = pythonify_logs(run([data]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Evaluate on one batch; its loss and metrics alone."""
        self._assert_compile_called("test_on_batch")
        data = _batch(x, y, sample_weight)
        self._symbolic_build(data_batch=data)
        run = self.make_test_function()
        self.reset_metrics()
        logs = pythonify_logs(run([data]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def predict_on_batch(self, x: Any) -> Any:
        """What the model gives for one batch."""
        found = self.make_predict_function()([(x,)])
        return tree.map_structure(np.array, found)


class _Steps:
    """A step for each batch of an execution; what the last one gives."""

    def __init__(self, step: Step) -> None:
        self.step = step

    def __call__(self, batches: Iterable[Any]) -> Any:
        given = list(batches)
        return self.step.several(given) if given else {}


def _batch(x: Any, y: Any, sample_weight: Any) -> Any:
    packed = data_adapter_utils.pack_x_y_sample_weight(x, y, sample_weight)
    packed = packed if isinstance(packed, tuple) else (packed,)
    return tree.map_structure(lambda leaf: None if leaf is None else np.asarray(leaf), packed)


def _joined(found: list[Any]) -> Any:
    """The rows of several batches, one after another."""
    if len(found) == 1:
        return found[0]
    return tree.map_structure(lambda *parts: np.concatenate(parts), *found)


def _capped(epochs: int) -> int:
    most = config.max_epochs()
    if most and most < epochs:
        warnings.warn(f"Limiting epochs to {most}", stacklevel=3)
        return int(most)
    return epochs
