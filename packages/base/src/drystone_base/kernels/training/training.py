"""Optimizer steps on variables: Apply*, SparseApply*, and both on resources; one rule for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._widen import quiet, widen
from drystone_base.kernels.training._update_rules import RULES, Rule
from drystone_base.ops.defs import op_def
from drystone_base.ops.optimizers import GRADIENTS, optimizer_ops, slot_count
from drystone_base.state.variables import Variable, resource_of

__all__: list[str] = []

_WITH_ELEMENTS: Final = frozenset(
    {"Adagrad", "AdagradDA", "AdagradV2", "Ftrl", "FtrlV2", "ProximalAdagrad",
     "ProximalGradientDescent"}
)  # fmt: skip


@quiet
def _step(call: Call, rule: Rule, inputs: Sequence[Any]) -> Any:
    """Read the slots, apply the rule and write them; the variable for ops that return one."""
    count = slot_count(call.op)
    names = [a.name for a in op_def(call.op).inputs[count:]]
    given = dict(zip(names, inputs[count:], strict=True))
    resource = call.op.startswith("Resource")
    slots = [resource_of(v, Variable) if resource else v for v in inputs[:count]]
    grad = next(given.pop(name) for name in GRADIENTS if name in given)
    indices = given.pop("indices", None)
    for name, value in given.items():
        call.require(
            value.ndim == 0, f"{name} must be a scalar", found=list(value.shape), needed="a scalar"
        )
    with ExitStack() as held:
        for slot in sorted(set(slots), key=id):
            held.enter_context(slot.lock)
        olds = [slot.read() for slot in slots]
        hyper = {name: widen(value) for name, value in given.items()}
        _check_strengths(call, hyper)
        _check_shapes(call, olds, grad, indices)
        if indices is None:
            news = rule([widen(v) for v in olds], widen(grad), hyper, call.attrs)
        else:
            news = _by_rows(call, rule, olds, (indices, grad), hyper)
        for slot, old, new in zip(slots, olds, news, strict=True):
            if new is not old:
                slot.write(np.asarray(new).astype(old.dtype, copy=False))
    return () if resource else slots[0]


def _check_strengths(call: Call, hyper: Mapping[str, Array]) -> None:
    """The limits of hyper-parameters that TensorFlow looks at: of some rules only, for some rows.

    Dense Ftrl takes any numbers.
    """
    sparse, rule = "SparseApply" in call.op, call.op.partition("Apply")[2]
    if rule != "ProximalAdagrad" and not (sparse and rule in ("Ftrl", "FtrlV2")):
        return
    lr = hyper["lr"]
    zero = lr == 0 and call.attrs.get("multiply_linear_by_lr", False)
    call.require(lr > 0 or zero, "lr must be positive", found=float(lr), needed="lr > 0")
    for name in ("l1", "l2", "l2_shrinkage"):
        value = hyper.get(name, 0)
        call.require(value >= 0, f"{name} must not be negative", found=float(value), needed="0 on")
    power = hyper.get("lr_power", 0)
    call.require(power <= 0, "lr_power must not be positive", found=float(power), needed="up to 0")


def _check_shapes(call: Call, olds: Sequence[Array], grad: Array, indices: Array | None) -> None:
    var = olds[0].shape
    call.require(
        all(old.shape == var for old in olds),
        "the variable and its slots must have the same shape",
        found=[list(old.shape) for old in olds],
        needed="equal shapes",
    )
    if indices is None:
        needed: tuple[int, ...] = var
    else:
        call.require(
            len(var) >= 1 and indices.ndim == 1,
            "the variable must have rows and indices be a vector",
            found=f"{list(var)} and {list(indices.shape)}",
            needed="rank 1 or more, and rank 1",
        )
        needed = (len(indices), *var[1:])
        call.require(
            math.prod(var[1:]) > 0 or call.op.partition("Apply")[2] not in _WITH_ELEMENTS,
            "rows must have elements",
            found=list(var),
        )
        call.require(
            indices.size == 0 or (indices.min() >= 0 and indices.max() < var[0]),
            "indices must name rows of the variable",
            found=f"{indices.min(initial=0)} to {indices.max(initial=0)}",
            needed=f"0 to {var[0] - 1}",
        )
    call.require(
        grad.shape == needed,
        "the gradient must have the shape of what it changes",
        found=list(grad.shape),
        needed=list(needed),
    )


def _by_rows(
    call: Call,
    rule: Rule,
    olds: Sequence[Array],
    rows: tuple[Array, Array],
    hyper: dict[str, Array],
) -> list[Array]:
    """The rule applied to the rows that ``indices`` names, one by one where they repeat."""
    indices, grad = rows
    attrs = {**call.attrs, "by_rows": True}
    wholes = [np.array(old) for old in olds]
    for chosen in _rounds(indices):
        at = indices[chosen]
        news = rule([widen(w[at]) for w in wholes], widen(grad[chosen]), hyper, attrs)
        for whole, new in zip(wholes, news, strict=True):
            whole[at] = np.asarray(new).astype(whole.dtype)
    return wholes


def _rounds(indices: Array) -> Iterator[Array]:
    """Positions in ``indices``, split so that no index occurs twice in a part; order is kept."""
    order = np.argsort(indices, kind="stable")
    ranked = indices[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if ranked.size else ranked
    sizes = np.diff(np.r_[starts, len(ranked)])
    occurrence = np.arange(len(ranked)) - np.repeat(starts, sizes)
    for turn in range(int(occurrence.max(initial=-1)) + 1):
        yield order[occurrence == turn]


def _register(op: str, rule: Rule) -> None:
    @kernel(op)
    def apply(call: Call, *inputs: Any) -> Any:
        return _step(call, rule, inputs)


for _op, _name in optimizer_ops():
    _register(_op, RULES[_name])
