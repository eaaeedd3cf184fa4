"""What the tests give to actors, which import it from here."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.tracing import operations as ops
from drystone_ray import RayPredictor, Worker

__all__ = ["ROWS", "Fit", "Slow", "data", "one_process", "rows"]

ROWS, STEPS = 24, 12
RATE = np.float32(0.3)
WEIGHTS = np.asarray([[1.0], [-2.0], [0.5]], np.float32)


def _loss(w: Any, x: Any, y: Any) -> Any:
    return ops.mean(ops.square(x @ w - y), [0, 1])


GRADIENT = ds.grad(_loss)


def data() -> tuple[Any, Any]:
    """Inputs and targets of a line."""
    x = np.random.default_rng(3).normal(size=(ROWS, 3)).astype(np.float32)
    return x, x @ WEIGHTS


@dataclass(frozen=True)
class Fit:
    """A loop that fits the line; ``ends`` says how it is killed on the way."""

    folder: str
    ends: str = ""

    def __call__(self, worker: Worker) -> Any:
        """The weights at the end."""
        with ds.VariableStore() as store:
            w = ds.Variable(np.zeros((3, 1), np.float32), "w")
        x, y = data()
        mine = worker.share(ROWS)
        step = worker.data_parallel(lambda: GRADIENT(w.value, x[mine], y[mine]))
        for number in range(worker.restore(store), STEPS):
            self._maybe_end(worker, number)
            w.assign(w.value - RATE * step())
            worker.report(step=number)
            if number % 4 == 3:
                worker.save(store, number + 1)
        return w.value

    def _maybe_end(self, worker: Worker, number: int) -> None:
        once = Path(self.folder, "ended")
        if number != 6 or worker.rank != 1 or (self.ends == "once" and once.exists()):
            return
        if self.ends == "error":
            raise ValueError("the loop's own")
        if self.ends:
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def one_process() -> Any:
    """The weights that one process gets."""
    w, (x, y) = np.zeros((3, 1), np.float32), data()
    for _ in range(STEPS):
        w = w - RATE * GRADIENT(w, x, y)
    return w


def rows(batch: dict[str, Any]) -> dict[str, Any]:
    """Two numbers of each id."""
    return {"id": batch["id"], "x": np.stack([batch["id"], -batch["id"]], 1).astype(np.float32)}


class Slow(RayPredictor):
    """One that takes its time, and notes its process and whether it may write to its batch."""

    def __call__(self, batch: Any) -> Any:
        """The outputs, and the notes as columns."""
        time.sleep(0.05)
        facts = {"pid": os.getpid(), "writeable": batch["x"].flags.writeable}
        columns = {name: np.full(len(batch["id"]), fact) for name, fact in facts.items()}
        return super().__call__(batch) | columns
