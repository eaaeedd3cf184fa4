"""A program computed op by op with NumPy, where no compiler is asked for.

Slow beside compiled code, and exact about what the program says: functions, loops and branches run
as they are written, and sizes are those of the values at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from drystone_pjrt.portable import numeric, numeric_windows
from drystone_pjrt.portable.bytecode import Block, Operation, Unreadable, operations
from drystone_pjrt.portable.inferred import base_of
from drystone_pjrt.portable.numeric import Array, Op
from drystone_pjrt.portable.static import ShapeMismatch, whole_program
from drystone_pjrt.portable.vhlo import Decoder, Integers, Tensor, Text

__all__ = ["Evaluator"]

_DEEPEST: Final = 100
Values = dict[int, Array]
_OPS: Final[dict[str, Callable[[Op], Any]]] = numeric.OPS | numeric_windows.OPS


class Evaluator:
    """One program; raises ``Unreadable`` for bytes that are none."""

    def __init__(self, code: bytes) -> None:
        module = operations(code)
        self.decoder = Decoder(module)
        self.deep = 0
        self.functions: dict[str, Block] = {}
        for operation in module.body:
            if base_of(operation.name) == "func":
                name = self.decoder.attributes(operation)["sym_name"]
                assert isinstance(name, Text)
                self.functions[str(name.value)] = operation.regions[0][0]

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """The results for these inputs.

        Raises ``Unreadable`` for an op that is not known here, ``ShapeMismatch`` for shapes that
        the program does not accept.
        """
        main = self.functions.get("main")
        if main is None or len(main.arguments) != len(arrays):
            raise Unreadable(f"its main does not take {len(arrays)} inputs")
        for k, ((_, number), array) in enumerate(zip(main.arguments, arrays, strict=True)):
            kind = self.decoder.type(number)
            if not isinstance(kind, Tensor) or kind.dtype != array.dtype:
                raise Unreadable(f"its input {k} is {kind}, and is given {array.dtype}")
            if len(kind.shape) != array.ndim or any(
                a != b for a, b in zip(array.shape, kind.shape, strict=True) if b >= 0
            ):
                raise ShapeMismatch(f"input {k} must be {kind.shape}, and is {array.shape}")
        with np.errstate(all="ignore"), whole_program():
            return self.body(main, arrays, {})

    def body(self, block: Block, given: Sequence[Array], outer: Values) -> list[Array]:
        """What a block returns."""
        self.deep += 1
        if self.deep > _DEEPEST:
            raise Unreadable("its functions call each other without end")
        values = outer | {number: v for (number, _), v in zip(block.arguments, given, strict=True)}
        try:
            for operation in block.operations:
                operands = [values[number] for number in operation.operands]
                if base_of(operation.name) == "return":
                    return operands
                made = self.operation(operation, operands, values)
                values |= zip(operation.results, made, strict=True)
        finally:
            self.deep -= 1
        raise Unreadable("a block returns nothing")

    def operation(self, operation: Operation, given: list[Array], values: Values) -> list[Array]:
        """The results of an operation, in the types that it states."""
        base, attrs = base_of(operation.name), self.decoder.attributes(operation)
        regions = [partial(self._region, block, values) for (block,) in operation.regions]
        if base in ("call", "composite"):
            callee = attrs["callee" if base == "call" else "decomposition"]
            assert isinstance(callee, Text)
            return self.body(self.functions[callee.value], given, {})
        if base == "custom_call":
            target = attrs["call_target_name"]
            base = str(target.value) if isinstance(target, Text) else ""
            called = attrs["called_computations"]
            if isinstance(called, Text):
                regions = [
                    partial(self._region, self.functions[name.value], {}) for name in called.value
                ]
        kinds = [self.decoder.type(number) for number in operation.types]
        stated = [kind for kind in kinds if isinstance(kind, Tensor)]
        if base not in _OPS or len(stated) < len(kinds):
            raise Unreadable(f"{base} is not known here")
        more = self.decoder.discardable(operation) if base == "shape_assertion" else {}
        made = _OPS[base](Op(given, attrs, stated, regions, more))
        made = made if isinstance(made, list) else [made]
        return [_as(value, kind) for value, kind in zip(made, stated, strict=True)]

    def _region(self, block: Block, outer: Values, given: Sequence[Array]) -> list[Array]:
        return self.body(block, given, outer)


def _as(value: Any, kind: Tensor) -> Array:
    """A result in its type, whose shape the op must have found."""
    found = np.asarray(value).astype(kind.dtype, copy=False)
    fits = len(found.shape) == len(kind.shape) or not kind.shape
    if not fits:
        raise Unreadable(f"a result of shape {found.shape} stands for {kind}")
    return found


def constant(op: Op) -> Array:
    """The value that a program holds."""
    value = op.attrs["value"]
    assert isinstance(value, Integers)
    return value.array


_OPS["constant"] = constant
