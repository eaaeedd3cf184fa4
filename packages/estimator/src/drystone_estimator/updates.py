"""Update rules: how gradients change variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_base.core.arguments import checked
from drystone_base.tracing import operations as ops

__all__ = ["Adam", "Momentum", "Update"]


class Update(ABC):
    """A rule that changes variables by gradients; ``rate`` may be a symbolic number."""

    rate: Any

    @checked
    def minimize(self, loss: Any, variables: Sequence[ds.Variable] | None = None) -> None:
        """Change variables so that ``loss`` falls, in each run of the model function.

        ``variables`` are by default those of the active store that are trainable floats. Raises
        ``BadRequest`` (``not-differentiable``) where the loss depends on none of them.
        """
        if variables is None:
            every = [variable for _, variable in ds.VariableStore.active().items()]
            variables = [v for v in every if v.trainable and v.dtype.is_floating]
        grads = ds.gradients(loss, variables) if variables else []
        pairs = [(v, g) for v, g in zip(variables, grads, strict=True) if g is not None]
        if not pairs:
            raise ds.BadRequest(
                "the loss cannot be made smaller",
                check="a loss must depend on a variable that is trained",
                found=", ".join(v.name for v in variables) or "no trainable variable",
                needed="a variable in the way to the loss",
                remedy="make variables in the model function, and compute the loss from them",
                code="not-differentiable",
            )
        self.apply(pairs)

    @abstractmethod
    def apply(self, pairs: Sequence[tuple[ds.Variable, Any]]) -> None:
        """Change each variable by its gradient."""


class Momentum(Update):
    """Gradient descent with momentum: ``v = momentum * v + g; w -= rate * v``.

    Source: TensorFlow's ``ResourceApplyMomentum``.
    """

    @checked
    def __init__(self, rate: Any, momentum: Any = 0.0, *, nesterov: bool = False) -> None:
        self.rate, self.momentum, self.nesterov = rate, momentum, nesterov

    def apply(self, pairs: Sequence[tuple[ds.Variable, Any]]) -> None:
        """Change each variable by its gradient."""
        for variable, gradient in pairs:
            velocity, grad = _slot(variable, "momentum"), _dense(variable, gradient)
            ops.resource_apply_momentum(
                variable, velocity, self.rate, grad, self.momentum, use_nesterov=self.nesterov
            )


class Adam(Update):
    """Adam, with the powers of its decays in variables of the store.

    Source: Kingma and Ba, 2015; TensorFlow's ``ResourceApplyAdam``.
    """

    @checked
    def __init__(
        self, rate: Any = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-7
    ) -> None:
        self.rate, self.beta1, self.beta2, self.epsilon = rate, beta1, beta2, epsilon

    def apply(self, pairs: Sequence[tuple[ds.Variable, Any]]) -> None:
        """Change each variable by its gradient."""
        powers: dict[Any, tuple[ds.Variable, ds.Variable]] = {}
        for variable, gradient in pairs:
            kind = variable.dtype
            if kind not in powers:
                first = ds.Variable(self.beta1, "beta1_power", dtype=kind, trainable=False)
                second = ds.Variable(self.beta2, "beta2_power", dtype=kind, trainable=False)
                powers[kind] = first, second
            ops.resource_apply_adam(
                variable, _slot(variable, "m"), _slot(variable, "v"), *powers[kind],
                self.rate, self.beta1, self.beta2, self.epsilon, _dense(variable, gradient),
            )  # fmt: skip
        for first, second in powers.values():
            first.assign(first * self.beta1)
            second.assign(second * self.beta2)


def _slot(variable: ds.Variable, name: str) -> ds.Variable:
    """A variable beside another one, of zeros."""
    zeros = np.zeros(variable.shape, variable.dtype.np)
    return ds.Variable(zeros, f"{variable.name}/{name}", dtype=variable.dtype, trainable=False)


def _dense(variable: ds.Variable, gradient: Any) -> Any:
    """The gradient as one tensor; rows that come several times add up."""
    if not isinstance(gradient, ds.IndexedSlices):
        return gradient
    rows = np.int32(variable.shape[0])
    return ops.unsorted_segment_sum(gradient.values, gradient.indices, rows)
