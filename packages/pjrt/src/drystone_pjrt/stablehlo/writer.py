"""A writer of StableHLO: values with static types, and one line for each op, in generic form.

What is known while a region is written (constants, shapes and what follows from them) is computed
by drystone's reference kernels and becomes part of the text only where something reads it: small
arrays as literals, others as arguments of the program, which stay on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["ELEMENTS", "Argument", "Refused", "Value", "Writer", "tensor"]

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

ELEMENTS: Final = {
    "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "ui8",
    "uint16": "ui16", "uint32": "ui32", "uint64": "ui64", "float16": "f16", "float32": "f32",
    "float64": "f64", "bfloat16": "bf16", "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}  # fmt: skip
"""StableHLO's names of element types, by ours."""
_LITERAL: Final = 256
"""Elements of the largest array that is written into the text."""


class Refused(Exception):
    """An op, or a use of it, that cannot be written; the text says why."""


class Value(NamedTuple):
    """A tensor. ``name``: in the text, "" as long as nothing reads it. ``known``: its array."""

    name: str
    shape: Shape
    dtype: np.dtype[Any]
    known: Array | None = None


@dataclass(frozen=True)
class Argument:
    """An argument of the program: input ``number`` of the region, or an array (``held``)."""

    number: int = -1
    held: Array | None = field(default=None, compare=False)


def tensor(shape: Shape, dtype: np.dtype[Any]) -> str:
    """A type in the text, such as ``tensor<2x3xf32>``."""
    element = ELEMENTS.get(dtype.name)
    if element is None:
        raise Refused(f"it has no type {dtype.name}")
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Writer:
    """One program being written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[tuple[Argument, str]] = []
        self.checks: list[tuple[Value, str]] = []
        self._names = 0
        self._given: dict[int, Value] = {}
        self._written: dict[int, tuple[Array, Value]] = {}

    # ---- values ----------------------------------------------------------------------------------

    def given(self, number: int, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """Input ``number`` of the region; it becomes an argument when it is first read."""
        if number not in self._given:
            self._given[number] = self._argument(Argument(number), shape, dtype)
        return self._given[number]

    def known(self, array: Any) -> Value:
        """A value that is known now; nothing is written yet."""
        array = np.asarray(array)
        return Value("", array.shape, array.dtype, array)

    def scalar(self, number: Any, dtype: np.dtype[Any]) -> Value:
        """A number as a tensor of rank 0, in the text."""
        return self.named(self.known(np.asarray(number, dtype)))

    def full(self, number: Any, shape: Shape, dtype: np.dtype[Any]) -> Value:
        """A number in every place."""
        return self.broadcast(self.scalar(number, dtype), shape)

    def named(self, value: Value) -> Value:
        """The same value, with a name in the text."""
        if value.name:
            return value
        array = value.known
        assert array is not None, "what has no name is known"
        kept = self._written.get(id(array))
        if kept is None:
            kept = self._written[id(array)] = array, self._constant(array)
        return kept[1]

    def _constant(self, array: Array) -> Value:
        kind = tensor(array.shape, array.dtype)
        if array.size > _LITERAL:
            made = self._argument(Argument(held=array), array.shape, array.dtype)
        else:
            line = f'"stablehlo.constant"() {{value = {_dense(array)} : {kind}}} : () -> {kind}'
            made = Value(self._line(line), array.shape, array.dtype)
        return made._replace(known=array)

    def _argument(self, argument: Argument, shape: Shape, dtype: np.dtype[Any]) -> Value:
        name = f"%arg{len(self.arguments)}"
        self.arguments.append((argument, tensor(shape, dtype)))
        return Value(name, shape, dtype)

    # ---- ops -------------------------------------------------------------------------------------

    def _line(self, text: str) -> str:
        self._names += 1
        name = f"%{self._names}"
        self.lines.append(f"{name} = {text}")
        return name

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Shape,
        dtype: np.dtype[Any] | None = None,
        attrs: str = "",
        region: str = "",
    ) -> Value:
        """The value of ``name``, such as ``stablehlo.add``, of this shape."""
        held = [self.named(value) for value in operands]
        dtype = held[0].dtype if dtype is None else dtype
        types = ", ".join(tensor(v.shape, v.dtype) for v in held)
        text = f'"{name}"({", ".join(v.name for v in held)})'
        text += f" ({{{region}}})" if region else ""
        text += f" {{{attrs}}}" if attrs else ""
        return Value(self._line(f"{text} : ({types}) -> {tensor(shape, dtype)}"), shape, dtype)

    def same(self, name: str, *operands: Value) -> Value:
        """An element-wise op of operands of one shape and type."""
        return self.op(name, operands, operands[0].shape)

    def broadcast(self, value: Value, shape: Shape, axes: Sequence[int] | None = None) -> Value:
        """The value in every place of a larger shape; ``axes``: where its own dimensions go."""
        if value.shape == shape:
            return value
        if axes is None:
            axes = range(len(shape) - len(value.shape), len(shape))
        attrs = f"broadcast_dimensions = {integers(axes)}"
        return self.op("stablehlo.broadcast_in_dim", [value], shape, attrs=attrs)

    def together(self, *values: Value) -> list[Value]:
        """The values with the shape that they have together by NumPy's rule."""
        try:
            shape = np.broadcast_shapes(*(value.shape for value in values))
        except ValueError as error:
            raise Refused(f"its shapes do not fit: {error}") from None
        return [self.broadcast(value, shape) for value in values]

    def reshape(self, value: Value, shape: Shape) -> Value:
        """The elements in another shape."""
        if value.shape == shape:
            return value
        return self.op("stablehlo.reshape", [value], shape)

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Dimension ``order[k]`` as dimension ``k``."""
        if list(order) == list(range(len(value.shape))):
            return value
        shape = tuple(value.shape[k] for k in order)
        attrs = f"permutation = {integers(order)}"
        return self.op("stablehlo.transpose", [value], shape, attrs=attrs)

    def slice(
        self,
        value: Value,
        low: Sequence[int],
        high: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> Value:
        """Elements from ``low`` to ``high``, without it, in steps above 0."""
        steps = [1] * len(low) if steps is None else steps
        bounds = zip(low, high, steps, strict=True)
        shape = tuple(max(0, -(-(end - begin) // step)) for begin, end, step in bounds)
        if shape == value.shape:
            return value
        attrs = (
            f"start_indices = {integers(low)}, limit_indices = {integers(high)}, "
            f"strides = {integers(steps)}"
        )
        return self.op("stablehlo.slice", [value], shape, attrs=attrs)

    def pad(self, value: Value, number: Value, around: Sequence[tuple[int, int]]) -> Value:
        """A number before and after the elements of each dimension."""
        if not any(map(any, around)):
            return value
        low, high = [a for a, _ in around], [b for _, b in around]
        shape = tuple(n + a + b for n, (a, b) in zip(value.shape, around, strict=True))
        attrs = (
            f"edge_padding_low = {integers(low)}, edge_padding_high = {integers(high)}, "
            f"interior_padding = {integers([0] * len(low))}"
        )
        return self.op("stablehlo.pad", [value, number], shape, attrs=attrs)

    def reverse(self, value: Value, axes: Sequence[int]) -> Value:
        """The elements in the other order along axes."""
        if not axes:
            return value
        attrs = f"dimensions = {integers(axes)}"
        return self.op("stablehlo.reverse", [value], value.shape, attrs=attrs)

    def convert(self, value: Value, dtype: np.dtype[Any]) -> Value:
        """The elements in another type."""
        if value.dtype == dtype:
            return value
        return self.op("stablehlo.convert", [value], value.shape, dtype)

    def compare(self, how: str, left: Value, right: Value) -> Value:
        """Where ``left`` is EQ, NE, LT, LE, GT or GE to ``right``, of one shape and type."""
        attrs = f"comparison_direction = #stablehlo<comparison_direction {how}>"
        return self.op("stablehlo.compare", [left, right], left.shape, np.dtype(bool), attrs)

    def select(self, where: Value, left: Value, right: Value) -> Value:
        """``left`` where ``where`` is true, else ``right``."""
        return self.op("stablehlo.select", [where, left, right], left.shape, left.dtype)

    def reduce(self, function: str, value: Value, start: Any, axes: Sequence[int]) -> Value:
        """What an op such as ``stablehlo.add`` makes of all elements along axes, which go."""
        shape = tuple(s for k, s in enumerate(value.shape) if k not in axes)
        region = self.region(function, value.dtype)
        first = self.scalar(start, value.dtype)
        attrs = f"dimensions = {integers(axes)}"
        return self.op("stablehlo.reduce", [value, first], shape, attrs=attrs, region=region)

    def region(self, function: str, dtype: np.dtype[Any]) -> str:
        """A function of two numbers, for ops that take one."""
        self._names += 1
        kind, a, b, c = tensor((), dtype), *(f"%{k}{self._names}" for k in "abc")
        return (
            f'^bb0({a}: {kind}, {b}: {kind}): {c} = "{function}"({a}, {b}) : ({kind}, {kind}) -> '
            f'{kind} "stablehlo.return"({c}) : ({kind}) -> ()'
        )

    def require(self, holds: Value, text: str) -> None:
        """A condition that a run must meet, or its results do not count."""
        if holds.shape:
            holds = self.reduce("stablehlo.and", holds, True, range(len(holds.shape)))
        self.checks.append((holds, text))

    def module(self, results: Sequence[Value]) -> str:
        """The program; conditions come after the results."""
        outputs = [self.named(value) for value in results] + [holds for holds, _ in self.checks]
        types = ", ".join(tensor(v.shape, v.dtype) for v in outputs)
        given = ", ".join(f"%arg{k}: {kind}" for k, (_, kind) in enumerate(self.arguments))
        names = ", ".join(v.name for v in outputs)
        body = "\n".join(f"    {line}" for line in self.lines)
        return (
            f"module @region {{\n  func.func public @main({given}) -> ({types}) {{\n{body}\n"
            f'    "func.return"({names}) : ({types}) -> ()\n  }}\n}}\n'
        )


def integers(numbers: Sequence[int]) -> str:
    """An attribute of whole numbers."""
    return f"array<i64: {', '.join(map(str, numbers))}>" if len(numbers) else "array<i64>"


def _dense(array: Array) -> str:
    """The elements of a constant."""
    if not array.size:
        return "dense<>"
    if array.dtype == bool:
        return f"dense<{str(array.tolist()).lower()}>"
    array = np.ascontiguousarray(array)
    return f'dense<"0x{array.astype(array.dtype.newbyteorder("<")).tobytes().hex().upper()}">'
