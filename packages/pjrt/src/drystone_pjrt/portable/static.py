"""A program with symbolic dimensions as one for given shapes.

Functions are written where they are called, sizes are numbers, and each op whose shape was an
operand is the op whose shape is stated. StableHLO has a pass that does this, in a library that no
plugin offers; the interface compiles static shapes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_pjrt.portable.bytecode import Block, Operation, Unreadable, operations
from drystone_pjrt.portable.folding import folded
from drystone_pjrt.portable.inferred import base_of, is_open, kinds, whole
from drystone_pjrt.portable.vhlo import Attribute, Decoder, Integers, Tensor, Text, Type, dense

__all__ = ["ShapeMismatch", "Static", "is_symbolic", "static_program", "whole_program"]

Array = np.ndarray[Any, Any]
_DEEPEST: Final = 100
_I64: Final = "i64"


class ShapeMismatch(Exception):
    """Shapes that a program is not for; the text is the program's own."""


class Value(NamedTuple):
    """A value in the text. ``known``: what it is. ``plus``: another value and what it is more."""

    name: str
    kind: Type
    known: Array | None = None
    plus: tuple[Value, Array] | None = None


class Static(NamedTuple):
    """A program as text, and the types of its results."""

    text: str
    results: list[Tensor]


Values = dict[int, Value]


def static_program(code: bytes, shapes: Sequence[tuple[int, ...]]) -> Static:
    """The program for inputs of these shapes.

    Raises ``Unreadable`` for what it has that is not known here, ``ShapeMismatch`` for shapes that
    it does not accept.
    """
    with whole_program():
        return _Writer(code).program(shapes)


def is_symbolic(code: bytes) -> bool:
    """Whether the program's inputs leave sizes open; raises ``Unreadable``."""
    with whole_program():
        writer = _Writer(code)
        main = writer.functions.get("main")
        return main is not None and any(is_open(writer.decoder.type(n)) for _, n in main.arguments)


@contextmanager
def whole_program() -> Iterator[None]:
    """Say of bytes that name what is not there that they are no program."""
    try:
        yield
    except (ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError,
            RecursionError, TypeError, ValueError) as error:  # fmt: skip
        raise Unreadable(f"it is not whole: {error!r}") from error


class _Writer:
    def __init__(self, code: bytes) -> None:
        module = operations(code)
        self.decoder = Decoder(module)
        self.lines: list[str] = []
        self.deep = self.names = 0
        self.functions: dict[str, Block] = {}
        for operation in module.body:
            if base_of(operation.name) == "func":
                name = self.decoder.attributes(operation)["sym_name"]
                self.functions[str(name.value if isinstance(name, Text) else "")] = (
                    operation.regions[0][0]
                )

    def program(self, shapes: Sequence[tuple[int, ...]]) -> Static:
        """The text."""
        main = self.functions.get("main")
        if main is None or len(main.arguments) != len(shapes):
            count = None if main is None else len(main.arguments)
            raise Unreadable(f"its main takes {count} inputs, and {len(shapes)} are given")
        given = []
        for k, ((_, number), shape) in enumerate(zip(main.arguments, shapes, strict=True)):
            kind = self.decoder.type(number)
            if not isinstance(kind, Tensor):
                raise Unreadable(f"its input {k} is no tensor")
            if len(shape) != len(kind.shape) or any(
                a != b for a, b in zip(shape, kind.shape, strict=True) if b >= 0
            ):
                raise ShapeMismatch(f"input {k} must be {kind.shape}, and is {shape}")
            given.append(Value(f"%arg{k}", Tensor(shape, kind.element)))
        results = self.body(main, given, {})
        return Static(self.module(given, results), [_tensor(v.kind) for v in results])

    def module(self, given: Sequence[Value], results: Sequence[Value]) -> str:
        """The text around the lines."""
        takes, gives = (", ".join(str(v.kind) for v in part) for part in (given, results))
        kind = f"#vhlo.type_v1<!vhlo.func_v1<({takes}) -> {gives or '()'}>>"
        none = "#vhlo.dict_v1<{}>"
        attrs = (
            f"arg_attrs = #vhlo.array_v1<[{', '.join([none] * len(given))}]>, "
            f"function_type = {kind}, "
            f"res_attrs = #vhlo.array_v1<[{', '.join([none] * len(results))}]>, "
            'sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"public">'
        )
        region = self.region(given, self.lines, results)
        return f'module @program {{\n"vhlo.func_v1"() <{{{attrs}}}> ({region}) : () -> ()\n}}\n'

    @staticmethod
    def region(given: Sequence[Value], lines: Sequence[str], results: Sequence[Value]) -> str:
        """A block that returns values, in braces."""
        head = ", ".join(f"{v.name}: {v.kind}" for v in given)
        names, types = (", ".join(part) for part in
                        ([v.name for v in results], [str(v.kind) for v in results]))  # fmt: skip
        back = f'"vhlo.return_v1"({names}) : ({types}) -> ()'
        return "{\n" + "\n".join([f"^bb0({head}):", *lines, back]) + "\n}"

    # ---- blocks ----------------------------------------------------------------------------------

    def body(self, block: Block, given: Sequence[Value], outer: Values) -> list[Value]:
        """Write a block's operations; gives what it returns."""
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

    def inner(self, block: Block, given: Sequence[Type], outer: Values) -> tuple[str, list[Value]]:
        """A block as a region, and what it returns."""
        arguments = [Value(self.name(), kind) for kind in given]
        kept, self.lines = self.lines, []
        results = self.body(block, arguments, outer)
        text, self.lines = self.region(arguments, self.lines, results), kept
        return text, results

    def name(self) -> str:
        """A name for a value."""
        self.names += 1
        return f"%v{self.names}"

    # ---- operations ------------------------------------------------------------------------------

    def operation(self, operation: Operation, given: list[Value], values: Values) -> list[Value]:
        """Write an operation; its results."""
        attrs = self.decoder.attributes(operation)
        stated = [self.decoder.type(number) for number in operation.types]
        base = base_of(operation.name)
        if base in ("call", "composite"):
            callee = attrs["callee" if base == "call" else "decomposition"]
            assert isinstance(callee, Text)
            return self.body(self.functions[callee.value], given, {})
        if base == "constant":
            value = attrs["value"]
            assert isinstance(value, Integers)
            return self.write(operation.name, [], attrs, stated, known=value.array)
        if base == "custom_call":
            return self.custom(operation, given, attrs, stated)
        if base in _DYNAMIC:
            return _DYNAMIC[base](self, operation, given, attrs, stated)
        return self.plain(operation, given, attrs, stated, values)

    def plain(
        self, operation: Operation, given: Sequence[Value], attrs: Mapping[str, Attribute],
        stated: Sequence[Type], values: Values,
    ) -> list[Value]:  # fmt: skip
        """An op as it is, of shapes that follow from its operands'."""
        of = [v.kind for v in given]
        regions = []
        branches: list[list[Value]] = []
        for (block,) in operation.regions:
            takes = [self.decoder.type(number) for _, number in block.arguments]
            takes = of if base_of(operation.name) == "while" else takes
            text, results = self.inner(block, takes, values)
            regions.append(text)
            branches.append(results)
        if base_of(operation.name) in ("case", "if"):
            found = [v.kind for v in branches[0]]
        else:
            found = kinds(operation.name, of, attrs, stated)
        known = None
        if len(found) == 1 and isinstance(found[0], Tensor):
            known = folded(operation.name, [v.known for v in given], attrs, found[0])
        made = self.write(operation.name, given, attrs, found, regions, known)
        if base_of(operation.name) == "add" and given[1].known is not None:
            made = [made[0]._replace(plus=(given[0], given[1].known))]
        elif base_of(operation.name) == "add" and given[0].known is not None:
            made = [made[0]._replace(plus=(given[1], given[0].known))]
        return made

    def write(
        self, name: str, given: Sequence[Value], attrs: Mapping[str, Any], found: Sequence[Type],
        regions: Sequence[str] = (), known: Array | None = None, added: str = "",
    ) -> list[Value]:  # fmt: skip
        """A line; the values that it gives."""
        if any(map(is_open, found)):
            raise Unreadable(f"the shape of {base_of(name)} stays open")
        made = [Value(self.name(), kind, known) for kind in found]
        left = ", ".join(v.name for v in made) + " = " if made else ""
        own = ", ".join(f"{key} = {value}" for key, value in attrs.items())
        text = f'{left}"{name}"({", ".join(v.name for v in given)})'
        text += f" <{{{own}}}>" if own else ""
        text += f" ({', '.join(regions)})" if regions else ""
        text += added
        types = ", ".join(str(v.kind) for v in given)
        self.lines.append(f"{text} : ({types}) -> ({', '.join(map(str, found))})")
        return made

    # ---- calls of what the plugin knows ----------------------------------------------------------

    def custom(
        self, operation: Operation, given: list[Value], attrs: dict[str, Attribute],
        stated: list[Type],
    ) -> list[Value]:  # fmt: skip
        """A call by name: a check of shapes, or something whose shapes are given as operands."""
        target = attrs["call_target_name"]
        more = self.decoder.discardable(operation)
        if isinstance(target, Text) and target.value == "shape_assertion":
            _check(given, more)
            return []
        if isinstance(target, Text) and target.value == "stablehlo.dynamic_reduce_window":
            return self.windows(given, attrs, stated)
        called = attrs["called_computations"]
        if isinstance(called, Text) and called.value:
            raise Unreadable(f"a call of {attrs['call_target_name']} calls functions")
        if "indices_of_shape_operands" in more:
            places = whole(more, "indices_of_shape_operands")
            stated = [_shaped(kind, given[k]) for kind, k in zip(stated, places, strict=True)]
            given = [v for k, v in enumerate(given) if k not in places]
            del more["indices_of_shape_operands"]
        shape = given[0].kind.shape if given and isinstance(given[0].kind, Tensor) else ()
        found = [
            Tensor(tuple(a if b < 0 else b for a, b in zip(shape, kind.shape, strict=True)),
                   kind.element)
            if isinstance(kind, Tensor) and is_open(kind) and len(kind.shape) == len(shape)
            else kind for kind in stated
        ]  # fmt: skip
        own = ", ".join(f"{key} = {value}" for key, value in more.items())
        return self.write(operation.name, given, attrs, found, added=f" {{{own}}}" if own else "")

    def windows(
        self, given: list[Value], attrs: Mapping[str, Attribute], stated: Sequence[Type]
    ) -> list[Value]:
        """Windows whose sizes and steps are the last five operands."""
        of, (called,) = given[:-5], attrs["called_computations"].value  # type: ignore[union-attr]
        names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
        own: dict[str, Attribute] = {}
        for name, value in zip((*names, "padding"), given[-5:], strict=True):
            numbers = np.asarray(_sizes(value, "a window"), np.int64)
            numbers = numbers.reshape(-1, 2) if name == "padding" else numbers
            own[name] = Integers(Tensor(numbers.shape, _I64), numbers)
        block = self.functions[called.value]
        takes = [self.decoder.type(number) for _, number in block.arguments]
        region, _ = self.inner(block, takes, {})
        op = "vhlo.reduce_window_v1"
        found = kinds(op, [v.kind for v in of], own, stated)
        return self.write(op, of, dict(sorted(own.items())), found, [region])


def _tensor(kind: Type) -> Tensor:
    if not isinstance(kind, Tensor):
        raise Unreadable("a result is no tensor")
    return kind


def _check(given: Sequence[Value], more: Mapping[str, Attribute]) -> None:
    """Whether the program accepts the shapes; what it says if not has numbers of operands."""
    if given[0].known is None:
        raise Unreadable("a check of shapes needs more than shapes")
    if bool(given[0].known):
        return
    message = more.get("error_message")
    text = str(message.value) if isinstance(message, Text) else "the shapes do not fit"
    for k, value in enumerate(given[1:]):
        text = text.replace(f"{{{k}}}", str(value.known))
    raise ShapeMismatch(text)


def _sizes(value: Value, what: str) -> list[int]:
    """An operand that must be known."""
    if value.known is None:
        raise Unreadable(f"{what} does not follow from shapes")
    return [int(n) for n in value.known.reshape(-1)]


def _shaped(kind: Type, sizes: Value) -> Tensor:
    """A type with sizes of an operand."""
    return Tensor(tuple(_sizes(sizes, "a shape")), _tensor(kind).element)


def _numbers(numbers: Sequence[int]) -> str:
    """An attribute of whole numbers."""
    return f"#vhlo.tensor_v1<{dense(np.asarray(numbers, np.int64), _I64)}>"


# ---- ops whose shape is an operand ---------------------------------------------------------------

Form = Callable[[_Writer, Operation, list[Value], dict[str, Attribute], list[Type]], list[Value]]


def _stated(name: str, *kept: str) -> Form:
    """An op of a shape that its last operand says."""

    def form(
        w: _Writer,
        _: Operation,
        given: list[Value],
        attrs: dict[str, Attribute],
        stated: list[Type],
    ) -> list[Value]:
        own, kind = {key: attrs[key] for key in kept}, _shaped(stated[0], given[-1])
        known = folded(f"vhlo.{name}", [v.known for v in given[:-1]], own, kind)
        return w.write(f"vhlo.{name}", given[:-1], own, [kind], known=known)

    return form


def _dimension(
    w: _Writer, _: Operation, given: list[Value], attrs: dict[str, Attribute], stated: list[Type]
) -> list[Value]:
    size = _tensor(given[0].kind).shape[whole(attrs, "dimension")[0]]
    kind = _tensor(stated[0])
    array = np.asarray(size, kind.dtype)
    value = {"value": f"#vhlo.tensor_v1<{dense(array, kind.element)}>"}
    return w.write("vhlo.constant_v1", [], value, stated, known=array)


def _pad(
    w: _Writer, _: Operation, given: list[Value], __: dict[str, Attribute], stated: list[Type]
) -> list[Value]:
    low, high, between = (_sizes(v, "a border") for v in given[2:])
    rows = zip(_tensor(given[0].kind).shape, low, high, between, strict=True)
    shape = tuple(n + a + b + max(n - 1, 0) * c for n, a, b, c in rows)
    own = {"edge_padding_high": _numbers(high), "edge_padding_low": _numbers(low),
           "interior_padding": _numbers(between)}  # fmt: skip
    return w.write("vhlo.pad_v1", given[:2], own, [Tensor(shape, _tensor(stated[0]).element)])


def _slice(
    w: _Writer, _: Operation, given: list[Value], __: dict[str, Attribute], stated: list[Type]
) -> list[Value]:
    x, start, limit, steps = given
    element = _tensor(stated[0]).element
    if start.known is None and limit.plus is not None and limit.plus[0] == start:
        return _moving(w, x, start, [int(n) for n in limit.plus[1].reshape(-1)], element)
    low, high, by = (_sizes(v, "a bound") for v in (start, limit, steps))
    shape = tuple(max(0, -(-(b - a) // c)) for a, b, c in zip(low, high, by, strict=True))
    own = {"limit_indices": _numbers(high), "start_indices": _numbers(low),
           "strides": _numbers(by)}  # fmt: skip
    found = [Tensor(shape, element)]
    return w.write("vhlo.slice_v1", [x], own, found)


def _moving(w: _Writer, x: Value, start: Value, sizes: list[int], element: str) -> list[Value]:
    """A part of known sizes from a place that is computed."""
    kind, places = _tensor(start.kind), []
    for k in range(len(sizes)):
        own = {"limit_indices": _numbers([k + 1]), "start_indices": _numbers([k]),
               "strides": _numbers([1])}  # fmt: skip
        (one,) = w.write("vhlo.slice_v1", [start], own, [Tensor((1,), kind.element)])
        places += w.write("vhlo.reshape_v1", [one], {}, [Tensor((), kind.element)])
    found = [Tensor(tuple(sizes), element)]
    return w.write("vhlo.dynamic_slice_v1", [x, *places], {"slice_sizes": _numbers(sizes)}, found)


def _gather(
    w: _Writer, operation: Operation, given: list[Value], attrs: dict[str, Attribute],
    stated: list[Type],
) -> list[Value]:  # fmt: skip
    sizes = np.asarray(_sizes(given[2], "the size of a slice"), np.int64)
    own = attrs | {"slice_sizes": Integers(Tensor(sizes.shape, _I64), sizes)}
    name = operation.name.replace("dynamic_", "")
    found = kinds(name, [v.kind for v in given[:2]], own, stated)
    return w.write(name, given[:2], own, found)


def _convolution(
    w: _Writer, _: Operation, given: list[Value], attrs: dict[str, Attribute], stated: list[Type]
) -> list[Value]:
    around = np.asarray(_sizes(given[2], "a border"), np.int64).reshape(-1, 2)
    own = attrs | {"padding": Integers(Tensor(around.shape, _I64), around)}
    found = kinds("vhlo.convolution_v1", [v.kind for v in given[:2]], own, stated)
    return w.write("vhlo.convolution_v1", given[:2], own, found)


_DYNAMIC: Final[Mapping[str, Form]] = {
    "dynamic_broadcast_in_dim": _stated("broadcast_in_dim_v1", "broadcast_dimensions"),
    "dynamic_conv": _convolution, "dynamic_gather": _gather,
    "dynamic_iota": _stated("iota_v1", "iota_dimension"), "dynamic_pad": _pad,
    "dynamic_reshape": _stated("reshape_v1"), "get_dimension_size": _dimension,
    "real_dynamic_slice": _slice,
}  # fmt: skip
