"""Training: steps, what is written on the way, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np

import drystone_base as ds
from drystone_estimator.built import Batch, Built
from drystone_estimator.specs import RunConfig

__all__ = ["Training"]

_STEM: Final = "model.ckpt-"


class Training:
    """One training of a model; ``done`` says, after each checkpoint, whether to end there."""

    def __init__(
        self, folder: Path, config: RunConfig, model: Built, done: Callable[[int], bool]
    ) -> None:
        self._folder, self._config, self._model, self._done = folder, config, model, done
        self._saved, self._saved_at = -1, time.monotonic()
        self._shown, self._shown_at = -1, time.monotonic()

    def run(self, batches: Iterable[Batch], start: int) -> None:
        """Train on the batches, from a step on."""
        if start == 0:
            self._save(0)  # whoever goes on after a kill begins with the same values
        self._saved, step = start, start
        with ds.SummaryWriter(self._folder) as writer:
            writer.graph(self._model.traced.graph, start)
            for batch in batches:
                step = self._step(batch, writer)
                if self._is_due(step):
                    self._save(step)
                    if self._done(step):
                        return
        if step != self._saved:
            self._save(step)
            self._done(step)

    def _step(self, batch: Batch, writer: ds.SummaryWriter) -> int:
        found = self._model.run(batch)
        step, loss = int(found["global_step"]), float(found["loss"])
        if not np.isfinite(loss):
            raise _not_finite(step, loss, self._config)
        if self._shown < 0 or step - self._shown >= self._config.save_summary_steps:
            self._show(step, found, writer)
        return step

    def _show(self, step: int, found: Any, writer: ds.SummaryWriter) -> None:
        """Write what TensorBoard shows."""
        now = time.monotonic()
        writer.scalar("loss", found["loss"], step)
        for names, values in (("metrics", "metrics"), ("summaries", "summaries")):
            for name, value in zip(getattr(self._model, names), found[values], strict=True):
                writer.scalar(name, np.mean(value, dtype=np.float64), step)
        if self._shown >= 0:
            writer.scalar("global_step/sec", (step - self._shown) / (now - self._shown_at), step)
        self._shown, self._shown_at = step, now

    def _is_due(self, step: int) -> bool:
        steps, seconds = self._config.save_checkpoints_steps, self._config.save_checkpoints_secs
        return (steps is not None and step - self._saved >= steps) or (
            seconds is not None and time.monotonic() - self._saved_at >= seconds
        )

    def _save(self, step: int) -> None:
        ds.save_checkpoint(self._model.store, self._folder / f"{_STEM}{step}")
        self._saved, self._saved_at = step, time.monotonic()
        if self._config.keep_checkpoint_max:
            self._forget(self._config.keep_checkpoint_max)

    def _forget(self, kept: int) -> None:
        """Delete all but the newest checkpoints: the index first, without which nothing is read."""
        found = [path for path in self._folder.glob(f"{_STEM}*.index") if _number(path) >= 0]
        for index in sorted(found, key=_number)[:-kept]:
            index.unlink(missing_ok=True)
            for shard in self._folder.glob(f"{index.stem}.data-*"):
                shard.unlink(missing_ok=True)


def _number(index: Path) -> int:
    text = index.stem.removeprefix(_STEM)
    return int(text) if text.isdecimal() else -1


def _not_finite(step: int, loss: float, config: RunConfig) -> ds.KernelError:
    return ds.KernelError(
        f"the loss of step {step} is {loss}",
        check="a loss must be a finite number",
        found=loss,
        needed="a finite loss; the newest checkpoint is from before this step",
        remedy="make the rate smaller, or look at the batch"
        if config.check_numerics
        else "RunConfig(check_numerics=True) names the op that gives it first",
        code="loss-not-finite",
    )
