"""Golden cases of optimizer steps on resources: the variables afterwards are the answer."""

from collections.abc import Iterator

import numpy as np
from drawing import Array, drawer, floats, ints
from oracle import Case, case

from drystone_base.ops.defs import op_def
from drystone_base.ops.optimizers import GRADIENTS, optimizer_ops, slot_count

_draw = drawer(112)
_VALUES = {
    "alpha": 0.3, "beta": 0.8, "beta1": 0.9, "beta1_power": 0.81, "beta2": 0.99,
    "beta2_power": 0.98, "epsilon": 1e-3, "l1": 0.1, "l2": 0.2, "l2_shrinkage": 0.05,
    "logbase": 2.0, "lr": 0.05, "lr_power": -0.5, "momentum": 0.9, "rho": 0.7, "sign_decay": 0.6,
}  # fmt: skip


def _inputs(op: str, kind: str, **changes: float) -> list[Array]:
    """Positive slots, a gradient and plausible settings for an op; sparse ones repeat an index."""
    values = []
    for k, argument in enumerate(op_def(op).inputs):
        if k < slot_count(op):
            values.append(np.abs(_draw((4, 3), kind)) + (k > 0) * 0.5)
        elif argument.name in GRADIENTS:
            values.append(_draw((4, 3), kind))
        elif argument.name == "indices":
            values.append(ints(2, 0, 2, 3))
        elif argument.name == "global_step":
            values.append(np.asarray(3, np.int64))
        else:
            values.append(floats(changes.get(argument.name, _VALUES[argument.name]), kind))
    return [v.astype(kind) if v.dtype.kind == "f" else v for v in values]


def _all() -> Iterator[Case]:
    for op, _ in optimizer_ops():
        if not op.startswith("Resource"):
            continue
        for kind in ("f4", "f8"):
            yield case(op, *_inputs(op, kind))
        names = [a.name for a in op_def(op).inputs]
        for flag in ("use_nesterov", "multiply_linear_by_lr"):
            if flag in op_def(op).attrs:
                yield case(op, *_inputs(op, "f4"), **{flag: True})
        if "update_slots" in op_def(op).attrs:
            yield case(op, *_inputs(op, "f4"), update_slots=False)
        if "lr_power" in names:
            yield case(op, *_inputs(op, "f4", lr_power=-0.7))
        if "l1" in names:
            yield case(op, *_inputs(op, "f4", l1=0.0))
        wrong = _inputs(op, "f4")
        at = next(k for k, name in enumerate(names) if name in GRADIENTS)
        wrong[at] = wrong[at][:, :2]
        yield case(op, *wrong, note="refused")


CASES: list[Case] = list(_all())
