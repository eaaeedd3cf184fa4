"""Estimators: a model function, and the folder that its training lives in."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.core.arguments import checked
from drystone_estimator.built import Batch, Built, batches, step_of
from drystone_estimator.specs import ModeKeys, RunConfig
from drystone_estimator.training import Training

__all__ = ["Estimator"]


class Estimator:
    """A model that is trained, evaluated, run and exported; its state lies in a folder.

    ``model_fn(features, labels, mode, params, config)`` builds the model and returns an
    :class:`EstimatorSpec`; of ``labels``, ``mode``, ``params`` and ``config`` it takes those that
    it names. It is called once for each mode, with symbolic tensors whose first size is unknown;
    variables that it makes belong to the estimator. An input function returns an iterable of
    batches: ``features`` or ``(features, labels)``, each an array or a dict of arrays. One that
    takes an argument is given the number of steps done before, so that a training that goes on
    sees the batches that come next; without one it begins at its first. Source: ``tf.estimator``.
    """

    @checked
    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | os.PathLike[str],
        *,
        config: RunConfig | None = None,
        params: Any = None,
    ) -> None:
        self.model_fn, self.params = model_fn, params
        self.config = config or RunConfig()
        self.model_dir = Path(model_dir)
        self._kept: dict[Any, Built] = {}

    def __repr__(self) -> str:
        return f"<Estimator in {self.model_dir}>"

    def latest_checkpoint(self) -> Path | None:
        """The newest checkpoint; None before any training."""
        return ds.latest_checkpoint(self.model_dir)

    @checked
    def train(
        self,
        input_fn: Callable[..., Any],
        *,
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Train from the newest checkpoint, if there is one, until the input ends.

        At most ``steps`` more steps are done, and none beyond step ``max_steps``. Raises
        ``BadRequest`` (``bad-batch``, ``bad-estimator-spec``, ``nothing-trained``), ``KernelError``
        (``loss-not-finite``).
        """
        self.train_until(input_fn, steps, max_steps, lambda _: False)
        return self

    def train_until(
        self,
        input_fn: Callable[..., Any],
        steps: int | None,
        max_steps: int | None,
        done: Callable[[int], bool],
    ) -> None:
        """As :meth:`train`, and ends after a checkpoint for whose step ``done`` says so."""
        prefix = self.latest_checkpoint()
        start = 0 if prefix is None else step_of(prefix)
        ends = [start + steps if steps is not None else None, max_steps]
        end = min((e for e in ends if e is not None), default=None)
        if end is not None and start >= end:
            return
        given = batches(input_fn, ModeKeys.TRAIN, start, None if end is None else end - start)
        first = _first(given)
        model = Built(self.model_fn, ModeKeys.TRAIN, first.specs(), self.params, self.config)
        if prefix is not None:
            ds.restore_checkpoint(model.store, prefix)
        training = Training(self.model_dir, self.config, model, done)
        training.run(itertools.chain([first], given), start)

    @checked
    def evaluate(
        self,
        input_fn: Callable[..., Any],
        *,
        steps: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        name: str = "",
    ) -> dict[str, float]:
        """The loss and the metrics, averaged over the examples of the input, and the step.

        ``steps`` batches at most; ``checkpoint`` is by default the newest. Numbers are written for
        TensorBoard to the folder ``eval``, or ``eval_NAME``. Raises ``BadRequest``
        (``no-checkpoint``, ``bad-batch``, ``bad-estimator-spec``).
        """
        built, given = self._ready(ModeKeys.EVAL, input_fn, steps, checkpoint)
        totals, count = dict[str, float](), 0
        for batch in given:
            found = built.run(batch)
            metrics = zip(built.metrics, found["metrics"], strict=True)
            for key, value in [("loss", found["loss"]), *metrics]:
                whole = np.asarray(value, np.float64)
                mean = whole.mean() if whole.size else 0.0
                totals[key] = totals.get(key, 0.0) + float(mean) * batch.size
            count += batch.size
        means = {key: value / max(count, 1) for key, value in totals.items()}
        step = int(built.step.value)
        with ds.SummaryWriter(self.model_dir / (f"eval_{name}" if name else "eval")) as writer:
            for key, value in means.items():
                writer.scalar(key, value, step)
        return {**means, "global_step": step}

    @checked
    def predict(
        self,
        input_fn: Callable[..., Any],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Iterator[Any]:
        """The predictions, one example after another: an array, or a dict of arrays.

        Raises ``BadRequest`` (``no-checkpoint``, ``bad-batch``, ``bad-estimator-spec``).
        """
        built, given = self._ready(ModeKeys.PREDICT, input_fn, None, checkpoint)
        for batch in given:
            found = built.run(batch)
            for k in range(batch.size):
                yield {n: v[k] for n, v in found.items()} if isinstance(found, dict) else found[k]

    @checked
    def export_saved_model(
        self,
        folder: str | os.PathLike[str],
        features: ds.Spec | Mapping[str, ds.Spec],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Write a SavedModel of the predictions, and return its folder: ``folder/VERSION``.

        ``features`` states what the model takes: ``{"image": ds.Spec([None, 28, 28])}``; its inputs
        have these names, or ``features`` for one spec alone. Versions are seconds since 1970, so
        that the newest is the greatest. Raises ``BadRequest`` (``no-checkpoint``,
        ``bad-estimator-spec``, ``cannot-write``).
        """
        stated = dict(features) if isinstance(features, Mapping) else features
        built = self._built(ModeKeys.PREDICT, {"features": stated, "labels": None})
        ds.restore_checkpoint(built.store, self._checkpoint(checkpoint))
        inputs, outputs = built.traced.signature()
        names = {path.removeprefix("features_"): tensor for path, tensor in inputs.items()}
        version = int(time.time())
        while (Path(folder) / str(version)).exists():
            version += 1
        path = Path(folder) / str(version)
        ds.save(built.traced, path, signatures={"serving_default": (names, outputs)})
        return path

    def _ready(
        self,
        mode: ModeKeys,
        input_fn: Callable[..., Any],
        steps: int | None,
        checkpoint: str | os.PathLike[str] | None,
    ) -> tuple[Built, Iterator[Batch]]:
        """The model with the values of a checkpoint, and the batches that it runs on."""
        prefix = self._checkpoint(checkpoint)
        given = batches(input_fn, mode, 0, steps)
        first = _first(given)
        built = self._built(mode, first.specs())
        ds.restore_checkpoint(built.store, prefix)
        return built, itertools.chain([first], given)

    def _checkpoint(self, stated: str | os.PathLike[str] | None) -> Path:
        found = Path(stated) if stated is not None else self.latest_checkpoint()
        if found is not None:
            return found
        raise ds.BadRequest(
            f"the estimator in {self.model_dir} has not been trained",
            check="there must be a checkpoint",
            found="none in that folder",
            needed="a checkpoint that train() wrote",
            remedy="call train() first, or state checkpoint=",
            code="no-checkpoint",
            status="NOT_FOUND",
        )

    def _built(self, mode: ModeKeys, specs: dict[str, Any]) -> Built:
        """The model for such arguments, which is built once; training builds its own each time."""
        key = (mode, repr(specs))
        if key not in self._kept:
            self._kept[key] = Built(self.model_fn, mode, specs, self.params, self.config)
        return self._kept[key]


def _first(given: Iterator[Batch]) -> Batch:
    for batch in given:
        return batch
    raise ds.BadRequest(
        "an input function gave no batch",
        check="there must be a batch to learn the arrays of the model from",
        found="an empty iterable",
        needed="one batch or more",
        remedy="return a new iterator from each call; one that was used up is empty",
        code="bad-batch",
    )
