"""Training and evaluating in turn, until there are steps enough or nothing gets better."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import drystone_base as ds
from drystone_base.core.arguments import checked, checking
from drystone_estimator.built import step_of
from drystone_estimator.estimator import Estimator

__all__ = ["EarlyStopping", "EvalSpec", "TrainSpec", "train_and_evaluate"]

_FILE: Final = "evaluations.json"


@checking("__init__")
@dataclass(frozen=True)
class EarlyStopping:
    """Ends a training when ``patience`` evaluations on end were not better than the best before.

    Better is less of ``metric`` by more than ``min_delta``, or more where ``larger_is_better``.
    """

    metric: str = "loss"
    patience: int = 3
    min_delta: float = 0.0
    larger_is_better: bool = False

    def says_stop(self, evaluations: list[dict[str, float]]) -> bool:
        """Whether a training with these evaluations ends; raises ``BadRequest`` (``no-metric``)."""
        best, waited = math.inf, 0
        for one in evaluations:
            if self.metric not in one:
                raise _no_metric(self.metric, one)
            value = -one[self.metric] if self.larger_is_better else one[self.metric]
            better = value < best - self.min_delta
            best, waited = (value, 0) if better else (best, waited + 1)
        return waited >= max(self.patience, 1)


@checking("__init__")
@dataclass(frozen=True)
class TrainSpec:
    """What is trained on, until which step, and when to end before."""

    input_fn: Callable[..., Any]
    max_steps: int
    early_stopping: EarlyStopping | None = None


@checking("__init__")
@dataclass(frozen=True)
class EvalSpec:
    """What is evaluated on: ``steps`` batches, all for None; ``name`` as in ``evaluate``."""

    input_fn: Callable[..., Any]
    steps: int | None = None
    name: str = ""


@checked
def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> list[dict[str, float]]:
    """Train, evaluate each checkpoint, and return all evaluations, the oldest first.

    They are kept in the estimator's folder (``evaluations.json``), so that a training that goes on
    after a kill ends where it would have ended. An input that ends before ``max_steps`` ends the
    training. Raises as ``train`` and ``evaluate`` do; ``BadRequest`` (``no-metric``). Source:
    ``tf.estimator.train_and_evaluate``.
    """
    path = estimator.model_dir / _FILE
    prefix = estimator.latest_checkpoint()
    start = -1 if prefix is None else step_of(prefix)
    evaluations = [one for one in _read(path) if one["global_step"] <= start]

    def is_done(step: int) -> bool:
        if not evaluations or evaluations[-1]["global_step"] < step:
            found = estimator.evaluate(
                eval_spec.input_fn, steps=eval_spec.steps, name=eval_spec.name
            )
            evaluations.append(found)
            _write(path, evaluations)
        stopping = train_spec.early_stopping
        return stopping is not None and stopping.says_stop(evaluations)

    if start <= 0 or not is_done(start):
        estimator.train_until(train_spec.input_fn, None, train_spec.max_steps, is_done)
    return evaluations


def _read(path: Path) -> list[dict[str, float]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [{str(k): float(v) for k, v in one.items()} for one in found if "global_step" in one]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ds.BadModelFile(
            f"{path} cannot be read",
            check="it must be the list of evaluations that train_and_evaluate writes",
            found=str(error),
            needed="a list of objects with a global_step",
            remedy="delete it: evaluations begin again",
            code="bad-evaluations",
            inner=error,
        ) from error


def _write(path: Path, evaluations: list[dict[str, float]]) -> None:
    """Write all at once: a stop leaves what was there, or this."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(evaluations, indent=1), encoding="utf-8")
    draft.replace(path)


def _no_metric(metric: str, found: dict[str, float]) -> ds.BadRequest:
    return ds.BadRequest(
        f"training cannot end by {metric!r}",
        check="early stopping needs a number of each evaluation",
        found=", ".join(found),
        needed=metric,
        remedy="name one of these, or return it: EstimatorSpec(metrics={...})",
        code="no-metric",
    )
