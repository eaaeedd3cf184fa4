"""Estimators: a model function that is trained, evaluated, run and exported."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_estimator._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_estimator.estimator import Estimator as Estimator
    from drystone_estimator.rounds import EarlyStopping as EarlyStopping
    from drystone_estimator.rounds import EvalSpec as EvalSpec
    from drystone_estimator.rounds import TrainSpec as TrainSpec
    from drystone_estimator.rounds import train_and_evaluate as train_and_evaluate
    from drystone_estimator.specs import EstimatorSpec as EstimatorSpec
    from drystone_estimator.specs import ModeKeys as ModeKeys
    from drystone_estimator.specs import RunConfig as RunConfig
    from drystone_estimator.specs import global_step as global_step
    from drystone_estimator.updates import Adam as Adam
    from drystone_estimator.updates import Momentum as Momentum

__version__ = "0.1.0"

_HOME = {
    "Adam": ".updates",
    "EarlyStopping": ".rounds",
    "Estimator": ".estimator",
    "EstimatorSpec": ".specs",
    "EvalSpec": ".rounds",
    "ModeKeys": ".specs",
    "Momentum": ".updates",
    "RunConfig": ".specs",
    "TrainSpec": ".rounds",
    "global_step": ".specs",
    "train_and_evaluate": ".rounds",
}

__all__ = [
    "Adam",
    "EarlyStopping",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "ModeKeys",
    "Momentum",
    "RunConfig",
    "TrainSpec",
    "__version__",
    "global_step",
    "train_and_evaluate",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
