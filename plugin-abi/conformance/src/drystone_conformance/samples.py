"""Nodes to try a kernel on: inputs that the reference kernel of the op accepts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.selection import Candidate
from drystone_base.files.access import Access
from drystone_base.kernels import Call, find_kernel
from drystone_base.ops.defs import OpDef, find
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

__all__ = ["Sample", "samples", "why_none"]

Array = np.ndarray[Any, Any]
_SHAPES = ((2, 3), (4,), (), (3, 3), (1, 4, 4, 2), (0, 3))
_COUNT = 2  # tensors in a list argument


@dataclass(frozen=True)
class Sample:
    """One node with its inputs, and what the reference kernel gives."""

    op: str
    attrs: dict[str, Any]
    inputs: list[Array]
    expected: list[Array]
    kind: str

    @property
    def is_empty(self) -> bool:
        """Whether an input has no elements."""
        return any(value.size == 0 for value in self.inputs)

    @property
    def is_finite(self) -> bool:
        """Whether no input holds NaN or an infinity."""
        return all(_finite(value) for value in self.inputs)


def _finite(value: Array) -> bool:
    return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())


def why_none(kernel: Candidate) -> str:
    """Why no sample can be made for a kernel; "" where some may be."""
    definition = find(kernel.op)
    if definition is None or find_kernel(kernel.op) is None:
        return f"{kernel.op} has no reference kernel"
    if kernel.device != "CPU":
        return f"it is for {kernel.device}"
    if definition.is_stateful:
        return f"{kernel.op} has state"
    missing = [name for name in _open_attrs(definition) if name not in _free(definition)]
    return f"{kernel.op} needs a value for {', '.join(missing)}" if missing else ""


def _open_attrs(op: OpDef) -> list[str]:
    return [name for name, attr in op.attrs.items() if not attr.has_default]


def _free(op: OpDef) -> set[str]:
    """Attributes that follow from the inputs: dtypes and lengths."""
    args = (*op.inputs, *op.outputs)
    return {a.type_attr for a in args} | {a.number_attr for a in args}


def _assignments(kernel: Candidate, op: OpDef) -> Iterator[dict[str, Any]]:
    """Attributes for each dtype that the kernel takes, one dtype at a time."""
    base = {name: attr.default for name, attr in op.attrs.items() if attr.has_default}
    numbers = {arg.number_attr for arg in op.inputs if arg.number_attr}
    base |= dict.fromkeys(numbers, _COUNT)
    limits = dict(kernel.constraints)
    types = [n for n, a in op.attrs.items() if a.type == "type" and (n in limits or n not in base)]
    choices = limits.get(types[0], ()) if types else (None,)
    for chosen in choices:
        picked = {n: limits[n][0] if n in limits else chosen for n in types}
        if types:
            picked[types[0]] = chosen
        yield base | picked


def _value(dtype: DType, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if dtype.label == "string":
        flat = [b"text %d" % k for k in range(int(np.prod(shape)))]
        out = np.empty(len(flat), object)
        out[:] = flat
        return out.reshape(shape)
    if dtype.label == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.is_floating or dtype.is_complex:
        return random.normal(size=shape).astype(dtype.np)
    return random.integers(1, 4, shape).astype(dtype.np)


def _inputs(
    op: OpDef, attrs: dict[str, Any], shape: tuple[int, ...], special: bool
) -> list[Array] | None:
    random = np.random.default_rng(7)
    values = []
    for arg in op.inputs:
        for dtype in arg.types(attrs):
            if dtype.label in ("resource", "variant") or dtype.ref:
                return None
            value = _value(dtype, shape, random)
            if special and value.dtype.kind in "fc" and value.size >= 3:
                value.ravel()[:3] = [np.nan, np.inf, -0.0]
            values.append(value)
    return values


def _reference(op: OpDef, attrs: dict[str, Any], inputs: list[Array]) -> list[Array] | None:
    """What the NumPy kernel gives; None where it refuses the inputs."""
    kernel = find_kernel(op.name)
    assert kernel is not None
    count = len(op.output_types(attrs))
    runtime = Runtime(ResourceManager(), _no_functions, access=Access.nothing())
    call = Call("sample", op.name, attrs, runtime, op.input_slices(attrs), count)
    try:
        with np.errstate(all="ignore"):
            given = kernel(call, *[value.copy() for value in inputs])
    except (DrystoneError, ValueError, TypeError, IndexError, AttributeError, ArithmeticError):
        return None
    outputs = given if isinstance(given, list | tuple) else [given]
    return [np.asarray(value) for value in outputs]


def _no_functions(*_: Any) -> list[Array]:
    raise ValueError("samples call no functions")


def samples(kernel: Candidate) -> Iterator[Sample]:
    """Nodes that the reference kernel runs, over dtypes and shapes, with and without NaN."""
    definition = find(kernel.op)
    assert definition is not None
    for attrs in _assignments(kernel, definition):
        for shape in _SHAPES:
            for special in (False, True):
                inputs = _inputs(definition, attrs, shape, special)
                if inputs is None or (special and all(_finite(v) for v in inputs)):
                    continue
                expected = _reference(definition, attrs, inputs)
                if expected is not None:
                    kind = f"{shape}{' with NaN' if special else ''}"
                    yield Sample(kernel.op, attrs, inputs, expected, kind)
