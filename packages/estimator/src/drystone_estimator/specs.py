"""What a model function says of a model, and how an estimator runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np

import drystone_base as ds
from drystone_base.core.arguments import checking

__all__ = ["GLOBAL_STEP", "EstimatorSpec", "ModeKeys", "RunConfig", "global_step"]

GLOBAL_STEP: Final = "global_step"
"""The name of the variable that counts steps of training."""


class ModeKeys(StrEnum):
    """What a model is built for. Source: ``tf.estimator.ModeKeys``."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


@checking("__init__")
@dataclass(frozen=True)
class EstimatorSpec:
    """What a model function returns: tensors of the model, as it was built for ``mode``.

    ``loss`` is one float, needed but for ``PREDICT``. ``predictions`` is a tensor ``[batch, ...]``
    or a dict of such, needed for ``PREDICT``. ``metrics`` are what an evaluation averages: a value
    for each example ``[batch]``, or one number, which counts as often as the batch has examples.
    ``summaries`` are single numbers for TensorBoard. A training step is what the function assigns
    to variables: there is no ``train_op``.
    """

    mode: ModeKeys
    loss: Any = None
    predictions: Any = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    summaries: Mapping[str, Any] = field(default_factory=dict)


@checking("__init__")
@dataclass(frozen=True)
class RunConfig:
    """How an estimator trains.

    A checkpoint is written after ``save_checkpoints_steps`` steps or ``save_checkpoints_secs``
    seconds, whichever comes first, None for never, and always at the first and the last step; the
    newest ``keep_checkpoint_max`` are kept, all for 0. Summaries are written every
    ``save_summary_steps`` steps. ``check_numerics`` has each op of the model look for NaN and
    infinities, and is for finding the first: it costs time. ``session`` configures the sessions.
    """

    save_checkpoints_steps: int | None = None
    save_checkpoints_secs: float | None = 600.0
    keep_checkpoint_max: int = 5
    save_summary_steps: int = 100
    check_numerics: bool = False
    session: ds.SessionConfig | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and not value >= least:
                raise ds.BadRequest(
                    f"a RunConfig cannot have {name}={value}",
                    check="steps and seconds must be positive, and counts not negative",
                    found=value,
                    needed=f"{least} or more" + ("" if name in _COUNTS else ", or None"),
                    remedy=f"RunConfig({name}={least})",
                    code="bad-argument",
                )


_COUNTS: Final = ("keep_checkpoint_max", "save_summary_steps")
_LEAST: Final[dict[str, float]] = {
    "save_checkpoints_steps": 1,
    "save_checkpoints_secs": 0,
    "keep_checkpoint_max": 0,
    "save_summary_steps": 1,
}


def global_step() -> ds.Variable:
    """The variable that counts steps of training, int64, in a model function: for schedules.

    Raises ``BadRequest`` (``no-such-variable``) elsewhere.
    """
    return ds.VariableStore.active()[GLOBAL_STEP]


def new_global_step() -> ds.Variable:
    """The variable that counts steps, made in the active store."""
    return ds.Variable(np.int64(0), GLOBAL_STEP, trainable=False)
