"""Update rules of optimizers as pure functions: slots in, new slots out.

A rule gets the slots (the variable first), the gradient, the node's other inputs by the name that
the op definition gives them, and the node's attributes. It works on whole variables and on
gathered rows alike; for the latter there is an attribute ``by_rows``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["RULES", "Rule"]

Hyper: TypeAlias = Mapping[str, Array]
Rule: TypeAlias = Callable[[Sequence[Array], Array, Hyper, Mapping[str, Any]], list[Any]]


def _larger(kept: Array, new: Array) -> Array:
    """The larger one; a new NaN is passed over, one that is kept stays."""
    return np.where(kept < new, new, kept)


def _gradient_descent(
    slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]
) -> list[Any]:
    return [slots[0] - grad * h["alpha"]]


def _momentum(slots: Sequence[Array], grad: Array, h: Hyper, attrs: Mapping[str, Any]) -> list[Any]:
    var, accum = slots
    accum = accum * h["momentum"] + grad
    if attrs["use_nesterov"]:
        return [var - (grad * h["lr"] + accum * h["momentum"] * h["lr"]), accum]
    return [var - accum * h["lr"], accum]


def _keras_momentum(
    slots: Sequence[Array], grad: Array, h: Hyper, attrs: Mapping[str, Any]
) -> list[Any]:
    var, accum = slots
    accum = accum * h["momentum"] - grad * h["lr"]
    if attrs["use_nesterov"]:
        return [var + (accum * h["momentum"] - grad * h["lr"]), accum]
    return [var + accum, accum]


def _adam(slots: Sequence[Array], grad: Array, h: Hyper, attrs: Mapping[str, Any]) -> list[Any]:
    """Kingma and Ba, 2015; with a third moment slot, AMSGrad (Reddi, Kale and Kumar, 2018)."""
    var, m, v, *largest = slots
    rate = h["lr"] * np.sqrt(1 - h["beta2_power"]) / (1 - h["beta1_power"])
    m = m + (grad - m) * (1 - h["beta1"])
    v = v + (np.square(grad) - v) * (1 - h["beta2"])
    top = [_larger(largest[0], v)] if largest else []
    root = np.sqrt(top[0] if top else v) + h["epsilon"]
    step = grad * (1 - h["beta1"]) + m * h["beta1"] if attrs.get("use_nesterov") else m
    return [var - step * rate / root, m, v, *top]


def _adamax(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    var, m, v = slots
    m = m + (grad - m) * (1 - h["beta1"])
    v = _larger(h["beta2"] * v, np.abs(grad))
    return [var - h["lr"] / (1 - h["beta1_power"]) * (m / (v + h["epsilon"])), m, v]


def _adagrad(slots: Sequence[Array], grad: Array, h: Hyper, attrs: Mapping[str, Any]) -> list[Any]:
    """Duchi, Hazan and Singer, 2011; V2 has an epsilon."""
    var, accum = slots
    if attrs["update_slots"]:
        accum = accum + np.square(grad)
    root = np.sqrt(accum)
    return [var - grad * h["lr"] / (root + h["epsilon"] if "epsilon" in h else root), accum]


def _adagrad_da(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    total, squares = slots[1] + grad, slots[2] + np.square(grad)
    steps = h["global_step"].astype(grad.dtype)
    shrunk = _shrink(total, h["l1"], steps)
    return [-h["lr"] * shrunk / (h["l2"] * steps * h["lr"] + np.sqrt(squares)), total, squares]


def _rms_prop(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    var, ms, mom = slots
    ms = ms + (np.square(grad) - ms) * (1 - h["rho"])
    mom = mom * h["momentum"] + grad * h["lr"] / np.sqrt(ms + h["epsilon"])
    return [var - mom, ms, mom]


def _centered_rms_prop(
    slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]
) -> list[Any]:
    var, mg, ms, mom = slots
    ms = ms + (np.square(grad) - ms) * (1 - h["rho"])
    mg = mg + (grad - mg) * (1 - h["rho"])
    mom = mom * h["momentum"] + h["lr"] * grad / np.sqrt(ms - np.square(mg) + h["epsilon"])
    return [var - mom, mg, ms, mom]


def _adadelta(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    """Zeiler, 2012."""
    var, accum, changes = slots
    accum = accum * h["rho"] + np.square(grad) * (1 - h["rho"])
    change = np.sqrt(changes + h["epsilon"]) / np.sqrt(accum + h["epsilon"]) * grad
    changes = changes * h["rho"] + np.square(change) * (1 - h["rho"])
    return [var - change * h["lr"], accum, changes]


def _shrink(x: Array, l1: Array, factor: Array) -> Array:
    """``x`` moved towards zero by ``l1 * factor``, not past it; as it is unless ``l1`` is positive.

    By a negative factor it moves away, as in TensorFlow.
    """
    return np.asarray(np.sign(x) * np.maximum(np.abs(x) - l1 * factor, 0)) if l1 > 0 else x


def _ftrl(slots: Sequence[Array], grad: Array, h: Hyper, attrs: Mapping[str, Any]) -> list[Any]:
    """McMahan and others, 2013; V2 shrinks the gradient by ``l2_shrinkage``."""
    var, accum, linear = slots
    lr, power = h["lr"], -h["lr_power"]
    pulled = grad + 2 * h["l2_shrinkage"] * var if "l2_shrinkage" in h else grad
    total = accum + np.square(grad)
    rise = total**power - accum**power
    if attrs.get("multiply_linear_by_lr"):
        linear = linear + pulled * lr - rise * var
        quadratic, l1 = total**power + 2 * h["l2"] * lr, h["l1"] * lr
    else:
        linear = linear + pulled - rise / lr * var
        quadratic, l1 = total**power / lr + 2 * h["l2"], h["l1"]
    if attrs.get("by_rows"):
        return [(np.clip(linear, -l1, l1) - linear) / quadratic, total, linear]
    moved = (l1 * np.sign(linear) - linear) / quadratic
    # Of whole variables zero where linear is small, or NaN.
    return [np.where(np.abs(linear) > l1, moved, moved.dtype.type(0)), total, linear]


def _add_sign(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    """Bello and others, 2017."""
    var, m = slots
    m = m * h["beta"] + grad * (1 - h["beta"])
    agree = np.sign(grad) * np.sign(m)
    return [var - h["lr"] * (h["alpha"] + h["sign_decay"] * agree) * grad, m]


def _power_sign(slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]) -> list[Any]:
    """Bello and others, 2017."""
    var, m = slots
    m = m * h["beta"] + grad * (1 - h["beta"])
    agree = np.sign(grad) * np.sign(m)
    return [var - h["lr"] * np.exp(h["logbase"] * h["sign_decay"] * agree) * grad, m]


def _proximal_gradient_descent(
    slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]
) -> list[Any]:
    """Duchi and Singer, 2009 (FOBOS)."""
    moved = slots[0] - grad * h["alpha"]
    return [_shrink(moved, h["l1"], h["alpha"]) / (1 + h["l2"] * h["alpha"])]


def _proximal_adagrad(
    slots: Sequence[Array], grad: Array, h: Hyper, _: Mapping[str, Any]
) -> list[Any]:
    """Duchi and Singer, 2009 (FOBOS)."""
    var, accum = slots
    accum = accum + np.square(grad)
    rate = h["lr"] / np.sqrt(accum)
    return [_shrink(var - grad * rate, h["l1"], rate) / (1 + h["l2"] * rate), accum]


RULES: Final[dict[str, Rule]] = {
    "Adadelta": _adadelta,
    "Adagrad": _adagrad,
    "AdagradDA": _adagrad_da,
    "AdagradV2": _adagrad,
    "Adam": _adam,
    "AdamWithAmsgrad": _adam,
    "AdaMax": _adamax,
    "AddSign": _add_sign,
    "CenteredRMSProp": _centered_rms_prop,
    "Ftrl": _ftrl,
    "FtrlV2": _ftrl,
    "GradientDescent": _gradient_descent,
    "KerasMomentum": _keras_momentum,
    "Momentum": _momentum,
    "PowerSign": _power_sign,
    "ProximalAdagrad": _proximal_adagrad,
    "ProximalGradientDescent": _proximal_gradient_descent,
    "RMSProp": _rms_prop,
}
"""By the name that follows ``Apply`` in the names of ops."""
