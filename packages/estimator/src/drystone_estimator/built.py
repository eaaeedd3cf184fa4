"""A model as a model function builds it for one mode, with variables of its own."""

from __future__ import annotations

import inspect
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_estimator.specs import EstimatorSpec, ModeKeys, RunConfig, new_global_step

__all__ = ["Batch", "Built", "batches", "step_of"]


class Batch:
    """One batch: features, and labels where there are any; each an array or a dict of such."""

    def __init__(self, given: Any, mode: ModeKeys) -> None:
        features, labels = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
        self.features = _arrays(features)
        self.labels = None if labels is None or mode is ModeKeys.PREDICT else _arrays(labels)
        first = next(iter(_flat(self.features).values()))
        self.size = len(first) if first.ndim else 1

    def specs(self) -> dict[str, Any]:
        """The arguments of the model function for batches of any size."""
        return {"features": _specs(self.features), "labels": _specs(self.labels)}

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """All arrays, by the names that the arguments of a trace have."""
        return _flat({"features": self.features, "labels": self.labels})


class Built:
    """A model for one mode: its store, and the trace that runs it.

    ``metrics`` and ``summaries`` are the names of those that a run gives.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        mode: ModeKeys,
        specs: Mapping[str, Any],
        params: Any,
        config: RunConfig,
    ) -> None:
        self.store, self.mode = ds.VariableStore(), mode
        self.metrics: list[str] = []
        self.summaries: list[str] = []
        self._given = {"mode": mode, "params": params, "config": config}
        self._model_fn = model_fn
        with self.store:
            self.step = new_global_step()
            function = ds.function(config=config.session, check_numerics=config.check_numerics)
            self.traced: ds.Traced = function(self._call).trace(**specs)
        if mode is ModeKeys.TRAIN:
            self._check_trains()

    def run(self, batch: Batch) -> Any:
        """What the model gives for a batch; raises ``BadRequest`` (``bad-batch``)."""
        arrays = batch.arrays()
        missing = [name for name in self.traced.inputs if name not in arrays]
        if missing or len(arrays) != len(self.traced.inputs):
            raise _bad_batch(f"arrays {sorted(arrays)}", f"arrays {sorted(self.traced.inputs)}")
        return self.traced(*(arrays[name] for name in self.traced.inputs))

    def _call(self, features: Any, labels: Any) -> Any:
        named = inspect.signature(self._model_fn).parameters
        more = {key: value for key, value in self._given.items() if key in named}
        rest = {} if "labels" not in named else {"labels": labels}
        spec = self._model_fn(features, **rest, **more)
        _check_spec(spec, self.mode)
        if self.mode is ModeKeys.PREDICT:
            return spec.predictions
        self.metrics, self.summaries = list(spec.metrics), list(spec.summaries)
        found = {"loss": spec.loss, "metrics": list(spec.metrics.values())}
        if self.mode is ModeKeys.TRAIN:
            self.step.assign_add(np.int64(1))
            found |= {"summaries": list(spec.summaries.values()), "global_step": self.step}
        return found

    def _check_trains(self) -> None:
        written = {
            node.inputs[0][0].name
            for node in self.traced.graph
            if node.inputs and node.op.startswith(("Assign", "ResourceApply", "ResourceScatter"))
        }
        if len(written) < 2:  # one is the counter
            raise ds.BadRequest(
                "the model function trains nothing",
                check="in mode TRAIN a model function must assign to a variable",
                found="no assignment",
                needed="an update rule that is applied, or assignments to variables",
                remedy="call drystone_estimator.Adam().minimize(loss) in the model function",
                code="nothing-trained",
            )


def batches(
    input_fn: Callable[..., Any], mode: ModeKeys, done: int = 0, most: int | None = None
) -> Iterator[Batch]:
    """The batches of an input function, ``most`` at most.

    One that takes an argument is given the number of steps that are ``done``.
    """
    found = input_fn(done) if _takes_start(input_fn) else input_fn()
    if not isinstance(found, Iterable) or isinstance(found, np.ndarray | dict | str | bytes):
        raise _bad_batch(
            f"an input function that returned {type(found).__name__}",
            "an iterable of batches: features, or (features, labels)",
        )
    return (Batch(one, mode) for one in itertools.islice(iter(found), most))


def _takes_start(input_fn: Callable[..., Any]) -> bool:
    """Whether an input function takes the step to begin at; classes have arguments of their own."""
    try:
        return not inspect.isclass(input_fn) and bool(inspect.signature(input_fn).parameters)
    except (TypeError, ValueError):
        return False


def step_of(prefix: str | os.PathLike[str]) -> int:
    """The step at which a checkpoint was written."""
    with ds.VariableStore() as store:
        step = new_global_step()
    ds.restore_checkpoint(store, prefix)
    return int(step.value)


def _check_spec(spec: Any, mode: ModeKeys) -> None:
    found = ""
    if not isinstance(spec, EstimatorSpec):
        found = f"a {type(spec).__name__}"
    elif spec.mode is not mode:
        found = f"an EstimatorSpec for {spec.mode}"
    elif mode is ModeKeys.PREDICT and spec.predictions is None:
        found = "an EstimatorSpec without predictions"
    elif mode is not ModeKeys.PREDICT and spec.loss is None:
        found = "an EstimatorSpec without loss"
    elif spec.loss is not None and getattr(spec.loss, "shape", ()) not in ((), None):
        found = f"a loss of shape {list(spec.loss.shape)}"
    if found:
        raise ds.BadRequest(
            f"the model function gives no model for {mode}",
            check="a model function must return an EstimatorSpec of its mode",
            found=found,
            needed="predictions for PREDICT, a loss that is one number for TRAIN and EVAL",
            remedy="return EstimatorSpec(mode, loss=loss, predictions=predictions)",
            code="bad-estimator-spec",
        )


def _arrays(nest: Any) -> Any:
    if isinstance(nest, Mapping) and nest:
        return {str(key): _arrays(value) for key, value in nest.items()}
    array = np.asarray(nest)
    if array.dtype == object and not all(isinstance(v, bytes | str) for v in array.flat):
        raise _bad_batch(f"{type(nest).__name__}", "an array, or a dict of arrays")
    return array


def _flat(nest: Any, path: str = "") -> dict[str, Any]:
    """The arrays of a nest of dicts, by the names that a trace gives them; None is none."""
    if not isinstance(nest, dict):
        return {} if nest is None else {path: nest}
    parts = [_flat(inner, f"{path}_{key}" if path else key) for key, inner in nest.items()]
    return {name: array for part in parts for name, array in part.items()}


def _specs(nest: Any) -> Any:
    if isinstance(nest, dict):
        return {key: _specs(inner) for key, inner in nest.items()}
    if nest is None:
        return None
    kind = "string" if nest.dtype.kind in "OSU" else nest.dtype
    return ds.Spec([None, *nest.shape[1:]] if nest.ndim else [], kind)


def _bad_batch(found: str, needed: str) -> ds.BadRequest:
    return ds.BadRequest(
        "an input function gave no batch that the model takes",
        check="each batch must have the arrays of the first one",
        found=found,
        needed=needed,
        remedy="yield (features, labels), each an array or a dict of arrays, of equal names",
        code="bad-batch",
    )
