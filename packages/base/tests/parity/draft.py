"""Drawing of one random case from an op's definition and, where there is one, the op's rule.

Everything is drawn when first asked for, so that a drawer may depend on any other input or
attribute: ``draft["axis"]`` may look at ``draft["input"]``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from oracle import Case

from drystone_base.core.dtypes import DType, as_dtype, from_number
from drystone_base.ops.defs import ArgDef, AttrDef, OpDef, op_def

__all__ = ["Array", "Draft", "Drawer", "Rule", "draw_case"]

Array: TypeAlias = np.ndarray[Any, Any]
Drawer: TypeAlias = Callable[["Draft"], Any]

# No subnormal numbers: TensorFlow's CPU kernels take them for zero.
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-30, 1e38, -1.0, 0.5, 1.5, 2.5)
TEXTS = (b"", b"a", b"Bc d", b"12", b"-3.5e2", b"\xc3\xa9\xe2\x82\xac", b" x ", b"a,b", b"\xff\x00")
ALL = tuple(from_number(n) for n in (1, 19, 14, 2, 6, 5, 3, 9, 4, 17, 22, 23, 8, 18, 10, 7))
DIMS = (0, 1, 1, 1, 2, 2, 3, 3, 4, 5)
SPOILED = 0.1  # share of cases made wrong, or odd, in one place


@dataclass(frozen=True)
class Rule:
    """How an op's inputs and attributes are drawn where the definition alone does not tell.

    ``draw`` holds drawers by the name of an input or attribute; ``dims`` the range of named
    dimensions. ``special`` lets floats be NaN, infinite, zero and extreme. ``tol`` multiplies the
    tolerance of the dtype (a number, or one a dtype), ``why`` says for what reason.
    ``compared`` is as in a golden case. ``types`` are the dtypes that the first input takes in
    turn, ``spoil`` lets one case in ten be wrong or odd in one place.
    """

    draw: Mapping[str, Drawer] = field(default_factory=dict)
    dims: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    special: bool = True
    tol: float | Mapping[str, float] = 1.0
    why: str = ""
    compared: int | None = None
    types: tuple[str, ...] = ()
    spoil: bool = True


class Draft:
    """A case in the making; ``draft[name]`` is the value of an input or attribute."""

    def __init__(self, op: OpDef, rule: Rule, seed: int, named: Mapping[str, Drawer]) -> None:
        self.op = op
        self.rule = rule
        self.seed = seed
        self.rng = np.random.default_rng([zlib.crc32(op.name.encode()), seed])
        self.dims: dict[str, int] = {}
        self.prefix: tuple[int, ...] | None = None
        self.parts: list[dict[str, Array]] = []  # of inputs that come in several pieces
        self.making = ""  # the input or attribute being drawn
        self._named = named
        self._made: dict[str, Any] = {}
        self._args = {arg.name: arg for arg in op.inputs}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            outer, self.making = self.making, name
            self._made[name] = self._make(name)
            self.making = outer
        return self._made[name]

    def __contains__(self, name: str) -> bool:
        return name in self._args or name in self.op.attrs

    def _make(self, name: str) -> Any:
        drawer = self.rule.draw.get(name)
        if drawer is None and name in self._args:
            drawer = self._named.get(name)
        if drawer is not None:
            return drawer(self)
        if name in self._args:
            return self._generic(self._args[name])
        return self._attr(self.op.attrs[name])

    # Small decisions

    def chance(self, share: float) -> bool:
        """True in ``share`` of all cases."""
        return bool(self.rng.random() < share)

    def pick(self, *choices: Any) -> Any:
        """One of the choices."""
        return choices[int(self.rng.integers(len(choices)))]

    def size(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``, both included."""
        return int(self.rng.integers(low, high + 1))

    # Shapes

    def dim(self, name: str) -> int:
        """The size of a named dimension, drawn once a case; a number stands for itself."""
        if name.isdigit():
            return int(name)
        if name not in self.dims:
            bounds = self.rule.dims.get(name)
            self.dims[name] = self.size(*bounds) if bounds else self.pick(*DIMS)
        return self.dims[name]

    def shape(self, spec: str = "") -> tuple[int, ...]:
        """A shape such as ``"b h w 3"``; ``...`` are leading dimensions shared by the case."""
        out: list[int] = []
        for part in spec.split():
            if part == "...":
                if self.prefix is None:
                    self.prefix = self.any_shape(2)
                out.extend(self.prefix)
            else:
                out.append(self.dim(part))
        return tuple(out)

    def any_shape(self, most: int = 4) -> tuple[int, ...]:
        """A shape of any rank up to ``most``, now and then up to 6."""
        rank = self.size(0, 6) if most >= 4 and self.chance(0.06) else self.size(0, most)
        return tuple(self.pick(*(DIMS if rank < 4 else DIMS[:7])) for _ in range(rank))

    def pair_of(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts with ``shape``."""
        kind = self.pick("same", "same", "scalar", "ones", "tail", "longer")
        if kind == "scalar":
            return ()
        if kind == "ones":
            return tuple(1 if self.chance(0.5) else d for d in shape)
        if kind == "tail":
            return tuple(shape[self.size(0, len(shape)) :])
        return (self.pick(1, 2), *shape) if kind == "longer" and len(shape) < 5 else tuple(shape)

    # Dtypes and values

    def dtype(self, arg: str) -> DType:
        """The dtype of the tensors of an input."""
        declared = self._args[arg]
        if declared.type is not None:
            return declared.type
        return as_dtype(self[declared.type_attr])

    def values(self, dtype: DType, shape: Sequence[int], special: bool | None = None) -> Array:
        """Random values of any dtype; ``special`` as in the rule unless given."""
        odd = (self.rule.special if special is None else special) and self.chance(0.25)
        count = int(np.prod(shape, dtype=np.int64))
        if dtype.is_object:
            out = np.empty(count, dtype=object)
            out[:] = [self.pick(*TEXTS) for _ in range(count)]
            return out.reshape(shape)
        with np.errstate(all="ignore"):
            return self._numbers(dtype, count, odd).reshape(shape)

    def _numbers(self, dtype: DType, count: int, odd: bool) -> Array:
        kind = np.dtype(dtype.np)
        if kind.kind == "b":
            return np.asarray(self.rng.random(count) < 0.5)
        if dtype.is_complex:
            parts = [self._floats(count, odd) for _ in range(2)]
            return (parts[0] + 1j * parts[1]).astype(kind)
        if dtype.is_floating:
            return self._floats(count, odd).astype(kind)
        return self._integers(kind, count, odd)

    def _floats(self, count: int, odd: bool) -> Array:
        out: Array = self.rng.normal(size=count) * self.pick(0.1, 1.0, 1.0, 10.0)
        if self.chance(0.1):
            out = np.round(out)
        if odd:
            where = self.rng.random(count) < 0.3
            out[where] = self.rng.choice(SPECIAL, int(where.sum()))
        return out

    def _integers(self, kind: np.dtype[Any], count: int, odd: bool) -> Array:
        unsigned = kind.kind == "u" or kind.name.startswith("uint")
        narrow = kind.name.endswith("int4") or kind.name.endswith("int2")
        low, high = (0, 4 if narrow else 20) if unsigned else (-2 if narrow else -9, 20)
        out = self.rng.integers(low, 2 if narrow else high, count).astype(kind)
        if odd and kind.kind in "iu":
            where = self.rng.random(count) < 0.3
            ends = np.array([np.iinfo(kind).min, np.iinfo(kind).max, 0, 1], kind)
            out[where] = self.rng.choice(ends, int(where.sum()))
        return out

    def tensor(self, arg: str, shape: Sequence[int], special: bool | None = None) -> Any:
        """Values for an input: an array, or for a list input one array a tensor."""
        declared = self._args[arg]
        if declared.type_list_attr:
            return [self.values(as_dtype(t), shape, special) for t in self[declared.type_list_attr]]
        if declared.number_attr:
            count = int(self[declared.number_attr])
            return [self.values(self.dtype(arg), shape, special) for _ in range(count)]
        return self.values(self.dtype(arg), shape, special)

    # What the definition tells

    def _generic(self, arg: ArgDef) -> Any:
        """Without a rule: any shape for the first tensor, one that broadcasts for others."""
        earlier = [a.name for a in self.op.inputs]
        earlier = earlier[: earlier.index(arg.name)]
        if not earlier or arg.is_list:
            return self.tensor(arg.name, self.any_shape())
        return self.tensor(arg.name, self.pair_of(np.shape(self[earlier[0]])))

    def _attr(self, declared: AttrDef) -> Any:
        if declared.type in ("type", "list(type)"):
            return self._types(declared)
        if declared.has_default and self.chance(0.6):
            return declared.default
        if declared.allowed:
            return self.pick(*declared.allowed)
        low = declared.minimum or 0
        made: dict[str, Any] = {
            "int": self.size(low, low + 3),
            "float": float(np.float32(self.rng.normal())),
            "bool": self.chance(0.5),
            "string": declared.default if declared.has_default else "",
            "shape": None,
        }
        if declared.type not in made:
            raise KeyError(f"{self.op.name}: no rule draws {declared.name} ({declared.type})")
        return made[declared.type]

    def _types(self, declared: AttrDef) -> Any:
        allowed = [t.label for t in declared.allowed or ALL if _drawable(t)]
        wanted = [label for label in self.rule.types if label in allowed]
        if wanted and declared.name == self.op.inputs[0].type_attr:
            return self._turn(wanted)
        if declared.type == "list(type)":
            low = max(declared.minimum or 0, 0)
            return [self.pick(*allowed) for _ in range(self.size(low, low + 3))]
        return self._turn(allowed)

    def _turn(self, labels: Sequence[str]) -> str:
        """All dtypes in turn for the first dtype attribute; any for the others."""
        if any(self.op.attrs[n].type == "type" for n in self._made if n in self.op.attrs):
            return str(self.pick(*labels))
        return labels[self.seed % len(labels)]

    # The end

    def case(self) -> Case:
        """The case; in one of ten something is wrong or odd."""
        held = {a.type_attr for a in self.op.inputs} | {a.type_list_attr for a in self.op.inputs}
        held |= {a.number_attr for a in self.op.inputs}
        inputs: list[Any] = []
        for arg in self.op.inputs:
            value = self[arg.name]
            inputs.extend(value) if arg.is_list else inputs.append(value)
        held = {n for n in held if not (n and str(self[n]).startswith(("qint", "quint")))}
        attrs = {n: self[n] for n in self.op.attrs if n not in held and not n.startswith("_")}
        if self.rule.spoil and self.chance(SPOILED) and inputs:
            self._spoil(inputs)
        return Case(self.op.name, tuple(inputs), attrs, compared=self.rule.compared)

    def _spoil(self, inputs: list[Any]) -> None:
        """Give one input another shape, or one of its integers another value."""
        k = self.size(0, len(inputs) - 1)
        value = np.asarray(inputs[k])
        if value.dtype.kind == "i" and value.size and self.chance(0.6):
            value = value.copy()
            value.flat[self.size(0, value.size - 1)] = self.pick(-1, 7, -(2**7), 100)
        else:
            shape = list(value.shape)
            kind = self.pick("drop", "add", "grow")
            if kind == "drop" and shape:
                shape.pop(self.size(0, len(shape) - 1))
            elif kind == "grow" and shape:
                shape[self.size(0, len(shape) - 1)] += 1
            else:
                shape.insert(self.size(0, len(shape)), self.pick(0, 1, 2))
            value = _resized(value, shape)
        inputs[k] = value


def _resized(value: Array, shape: Sequence[int]) -> Array:
    count = int(np.prod(shape, dtype=np.int64))
    filler = np.full(1, b"", object) if value.dtype.kind == "O" else np.zeros(1, value.dtype)
    flat = value.ravel() if value.size else filler
    return np.asarray(flat[np.arange(count) % flat.size].reshape(shape))


def _drawable(dtype: DType) -> bool:
    name = dtype.label
    return not (dtype.ref or dtype.is_quantized or name in ("resource", "variant"))


def draw_case(name: str, seed: int) -> Case:
    """The case number ``seed`` of an op: the same on every machine and run."""
    from parity.rules import named_drawers, rule_of

    return Draft(op_def(name), rule_of(name), seed, named_drawers()).case()
