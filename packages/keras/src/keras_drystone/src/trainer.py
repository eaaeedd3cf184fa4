"""Models' ``predict``: one native call for each batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras.src import callbacks as callbacks_module
from keras.src import tree
from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.trainers.trainer import BaseTrainer
from keras.src.utils import traceback_utils

from keras_drystone.src.compiled import Compiled

__all__ = ["Trainer"]


class Trainer(BaseTrainer):  # type: ignore[misc]
    """What Keras makes models of."""

    def __init__(self) -> None:
        super().__init__()
        self.predict_function: Any = None

    def predict_step(self, data: Any) -> Any:
        """What the model gives for one batch."""
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self(x, training=False) if self._call_has_training_arg else self(x)

    def make_predict_function(self, force: bool = False) -> Any:
        """The function of one batch, or of several with ``steps_per_execution``."""
        if self.predict_function is not None and not force:
            return self.predict_function
        one = self.predict_step
        if not self.run_eagerly:
            one = Compiled(self.predict_step, f"{self.name}_predict")

        def several(data: Any) -> Any:
            found = [one(batch) for batch in data]
            if len(found) == 1:
                return found[0]
            return tree.map_structure(lambda *parts: np.concatenate(parts), *found)

        self.predict_function = several
        return several

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
        if not isinstance(callbacks, callbacks_module.CallbackList):
            callbacks = callbacks_module.CallbackList(
                callbacks, add_progbar=verbose != 0, verbose=verbose, epochs=1,
                steps=batches.num_batches, model=self,
            )  # fmt: skip
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
        return tree.map_structure(lambda *parts: np.concatenate(parts), *found)

    def predict_on_batch(self, x: Any) -> Any:
        """What the model gives for one batch."""
        found = self.make_predict_function()([(x,)])
        return tree.map_structure(np.array, found)
