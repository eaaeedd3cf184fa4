"""Linear models by stochastic dual coordinate ascent, and fingerprints of example names.

Source: TensorFlow ops of the same names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from drystone_base.kernels._city import fingerprint128
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet
from drystone_base.kernels.training._sdca_losses import LOSSES, Loss
from drystone_base.state.variables import Variable

_STATES: Final = 4
"""Numbers that are kept of an example: dual, primal loss, dual loss, weight."""
_MASK: Final = (1 << 64) - 1


def _fingerprint(text: bytes) -> tuple[int, int]:
    """Both halves; the lower one is never 0 or 1, which tables keep for themselves."""
    low, high = fingerprint128(text)
    return (low if low >= 2 else low - 2 & _MASK), high


@kernel("SdcaFprint")
def sdca_fprint(call: Call, texts: Array) -> Array:
    """A 128-bit fingerprint of each string, as two int64: [strings, 2]."""
    call.require(texts.ndim == 1, "the input must be a vector", found=list(texts.shape))
    rows = [_fingerprint(text) for text in texts.tolist()]
    return np.array(rows, np.uint64).reshape(-1, 2).view(np.int64)


def _shrunk(weights: Array, by: Any) -> Array:
    """The weights, nearer to zero by an amount, or zero."""
    return np.asarray(np.sign(weights) * np.maximum(np.abs(weights) - by, 0))


@kernel("SdcaShrinkL1")
@quiet
def sdca_shrink_l1(call: Call, *weights: Variable) -> tuple[()]:
    """Bring every weight nearer to zero by l1 / l2."""
    by = np.float32(call.attrs["l1"]) / np.float32(call.attrs["l2"])
    for variable in weights:
        with variable.lock:
            variable.write(_shrunk(variable.read(), by).astype(np.float32))
    return ()


@dataclass
class _Group:
    """Features of one kind: for each example, places of weights and values."""

    weights: Array
    delta: Array
    rows: list[tuple[Any, Array]]


class _Problem:
    """The inputs of an optimizer node, checked and brought into groups of features."""

    def __init__(self, call: Call, inputs: Sequence[Array]) -> None:
        self._call = call
        parts = {name: list(inputs[part]) for name, part in call.input_slices.items()}
        self.importance = parts["example_weights"][0].reshape(-1)
        self.labels = parts["example_labels"][0].reshape(-1)
        call.require(
            self.labels.size == self.importance.size,
            "there must be a label for each example",
            found=self.labels.size,
            needed=self.importance.size,
        )
        self.state = parts["example_state_data"][0]
        call.require(
            self.state.shape == (self.importance.size, _STATES),
            "the state of the examples must be rows of four",
            found=list(self.state.shape),
            needed=[self.importance.size, _STATES],
        )
        self.sparse = [self._sparse(parts, k) for k in range(len(parts["sparse_indices"]))]
        self.dense = [self._dense(*v) for v in zip(parts["dense_features"], parts["dense_weights"],
                                                   strict=True)]  # fmt: skip

    def _sparse(self, parts: dict[str, list[Array]], k: int) -> _Group:
        call = self._call
        examples = parts["sparse_example_indices"][k].reshape(-1)
        features = parts["sparse_feature_indices"][k].reshape(-1)
        call.require(
            examples.size == features.size,
            "there must be an example for each feature",
            found=f"{examples.size} and {features.size}",
        )
        with_values = k < len(parts["sparse_feature_values"])
        values = parts["sparse_feature_values"][k].reshape(-1) if with_values else None
        values = np.ones(features.size, np.float32) if values is None else values
        call.require(
            values.size == features.size,
            "there must be a value for each feature",
            found=values.size,
            needed=features.size,
        )
        place = {int(v): j for j, v in enumerate(parts["sparse_indices"][k].reshape(-1))}
        unknown = [v for v in features.tolist() if v not in place]
        call.require(
            not unknown,
            "a sparse feature must have a weight",
            found=unknown[:1],
            needed="one of sparse_indices",
        )
        at = np.array([place[v] for v in features.tolist()], np.int64)
        weights = parts["sparse_weights"][k]
        call.require(
            at.size == 0 or at.max() < weights.size,
            "there must be a weight for each index",
            found=weights.size,
            needed=len(place),
        )
        rows = []
        for example in range(self.importance.size):
            own = np.flatnonzero(examples == example)
            call.require(
                np.unique(at[own]).size == own.size,
                "an example must not have a feature twice",
                found=features[own].tolist(),
            )
            rows.append((at[own], values[own].astype(np.float64)))
        return _Group(weights.reshape(-1), np.zeros(weights.size, np.float32), rows)

    def _dense(self, features: Array, weights: Array) -> _Group:
        call = self._call
        call.require(
            features.ndim == 2, "dense features must be a matrix", found=list(features.shape)
        )
        call.require(
            features.shape[0] == self.importance.size and 0 < features.shape[1] <= weights.size,
            "dense features must fit the examples and weights",
            found=list(features.shape),
            needed=f"[{self.importance.size}, 1 ... {weights.size}]",
        )
        every = slice(0, features.shape[1])
        rows = [(every, row.astype(np.float64)) for row in features]
        return _Group(weights.reshape(-1), np.zeros(weights.size, np.float32), rows)

    @property
    def groups(self) -> list[_Group]:
        """All groups of features."""
        return [*self.sparse, *self.dense]


class _Ascent:
    """Steps of the dual, example by example."""

    def __init__(self, call: Call, problem: _Problem, loss: Loss) -> None:
        self._problem, self._loss = problem, loss
        self._l2 = float(np.float32(call.attrs["l2"]))
        self._by = float(np.float32(call.attrs["l1"]) / np.float32(self._l2))
        self._partitions = call.attrs["num_loss_partitions"]

    def prediction(self, example: int, share: int) -> float:
        """The example's product with the weights, and ``share`` times their changes."""
        total = 0.0
        for group in self._problem.groups:
            at, values = group.rows[example]
            weights = group.weights[at] + group.delta[at] * np.float32(share)
            total += float((values * _shrunk(weights.astype(np.float64), self._by)).sum())
        return total

    def norm(self, example: int) -> float:
        """The sum of the example's squared features."""
        rows = [group.rows[example][1] for group in self._problem.groups]
        return sum(float((v * v).sum()) for v in rows)

    def urgency(self, example: int, y: float, dual: float) -> float:
        """How far the example is from its optimum."""
        far = dual + self._loss.slope(y, self.prediction(example, self._partitions))
        size = self.norm(example) + self._l2 * self._loss.smoothness
        return float(self._problem.importance[example]) * abs(far) * math.sqrt(size)

    def step(self, example: int, y: float, state: Array) -> None:
        """Improve the dual of one example, and the weights with it."""
        importance, dual = float(self._problem.importance[example]), float(state[example, 0])
        before, now = (self.prediction(example, n) for n in (0, self._partitions))
        size = self._partitions * importance * self.norm(example) / self._l2
        better = self._loss.update(y, dual, now, size)
        change = (better - dual) * importance / self._l2
        for group in self._problem.groups:
            at, values = group.rows[example]
            group.delta[at] += (values * change).astype(np.float32)
        primal, lost = self._loss.primal(y, before), self._loss.dual(y, dual)
        state[example] = (better, primal * importance, lost * importance, importance)


def _labels(call: Call, problem: _Problem, loss: Loss) -> list[float]:
    """The labels as the loss takes them; INVALID_ARGUMENT for others."""
    found: list[float] = problem.labels.tolist()
    poisson = call.attrs["loss_type"] == "poisson_loss"
    bad = [v for v in found if (loss.signed and v not in (0, 1)) or (poisson and v < 0)]
    call.require(
        not bad,
        "a label must be one that the loss is made for",
        found=bad[:1],
        needed="0 or 1" if loss.signed else "0 or more",
    )
    return [-1.0 if v == 0 else v for v in found] if loss.signed else found


@kernel("SdcaOptimizer", "SdcaOptimizerV2")
@quiet
def sdca_optimizer(call: Call, *inputs: Array) -> list[Array]:
    """One pass of dual coordinate ascent: the examples' state and the changes of the weights.

    TensorFlow takes the examples in an order that is never the same. Here they come in turn, or
    with ``adaptive`` those farthest from their optimum first.
    """
    a = call.attrs
    call.require(
        a["loss_type"] in LOSSES, "the loss must be known", found=a["loss_type"], needed=[*LOSSES]
    )
    call.require(
        a["num_sparse_features"] + a["num_dense_features"] > 0,
        "there must be a feature to learn from",
        found="none",
    )
    problem, loss = _Problem(call, inputs), LOSSES[a["loss_type"]]
    labels, ascent = _labels(call, problem, loss), _Ascent(call, problem, loss)
    state, order = problem.state.copy(), list(range(len(labels)))
    if a.get("adaptive", a.get("adaptative")):
        urgency = [ascent.urgency(k, labels[k], float(state[k, 0])) for k in order]
        order.sort(key=lambda k: -urgency[k])
    for example in order:
        ascent.step(example, labels[example], state)
    shapes = [inputs[k].shape for name in ("sparse_weights", "dense_weights")
              for k in range(*call.input_slices[name].indices(len(inputs)))]  # fmt: skip
    deltas = [g.delta.reshape(s) for g, s in zip(problem.groups, shapes, strict=True)]
    return [state, *deltas]
