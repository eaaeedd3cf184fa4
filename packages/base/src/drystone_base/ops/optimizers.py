"""Which ops apply an optimizer's step, and which of their inputs are variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from drystone_base.ops.defs import find, op_def

__all__ = ["GRADIENTS", "OPTIMIZERS", "optimizer_ops", "slot_count"]

OPTIMIZERS: Final = (
    "Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "Adam", "AdamWithAmsgrad", "AdaMax",
    "AddSign", "CenteredRMSProp", "Ftrl", "FtrlV2", "GradientDescent", "KerasMomentum",
    "Momentum", "PowerSign", "ProximalAdagrad", "ProximalGradientDescent", "RMSProp",
)  # fmt: skip
"""What follows ``Apply`` in the names of ops."""

GRADIENTS: Final = ("grad", "delta")
"""Names of the argument that holds the gradient."""


def optimizer_ops(names: Iterable[str] = OPTIMIZERS) -> Iterator[tuple[str, str]]:
    """Op and optimizer, for each form (dense or sparse, on references or resources) that exists."""
    for name in names:
        for form in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
            if find(form + name) is not None:
                yield form + name, name


def slot_count(op: str) -> int:
    """How many leading inputs of an op are variables: the trained one and the optimizer's slots."""
    held = [a.is_ref or (a.type is not None and a.type.is_object) for a in op_def(op).inputs]
    return held.index(False)
