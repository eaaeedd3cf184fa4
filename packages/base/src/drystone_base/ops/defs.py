"""Op definitions: all of TensorFlow's, read from data on first use, ours, and any registered later.

The data is written by ``ci/scripts/opdefs_generate.py`` from an installed TensorFlow: its version,
the name of each op with the size of its definition, an empty line, and the definitions in a row.
They are decoded one by one, when first asked for.
"""

from __future__ import annotations

import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from drystone_abi.protos import OpDef as OpDefProto
from drystone_abi.protos import OpDeprecation, OpList
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import GraphError, UnsupportedOp, near_matches
from drystone_base.core.registered import OPS, PACKAGE_OPS
from drystone_base.modules.wanted import refused_offer
from drystone_base.ops.attrs import decode_attr, encode_attr
from drystone_base.ops.own import OWN

__all__ = [
    "ArgDef",
    "AttrDef",
    "OpDef",
    "find",
    "names",
    "op_def",
    "origin",
    "own_ops",
    "register",
    "tensorflow_version",
]

_DATA: Final = os.path.join(os.path.dirname(__file__), "_data", "op_defs.binpb.z")
_MOST: Final = 1 << 20  # tensors of one argument


class _Unsettled(GraphError, KeyError):
    """An attribute that sets a dtype or a length is missing or of no use.

    A ``KeyError`` to callers that can do without, a ``GraphError`` to everyone else.
    """

    def __init__(self, name: str, value: object) -> None:
        super().__init__(
            f"attribute {name!r} of a node does not say what it must",
            check="the attributes of a node must settle its dtypes and the lengths of its lists",
            found="no such attribute" if value is None else repr(value)[:80],
            needed=f"{name!r} as the op's definition has it",
            remedy="the graph is corrupt: export the model again",
            code="missing-attr",
        )

    __str__ = GraphError.render


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output argument; it stands for one tensor, or for a list of them.

    Exactly one of ``type``, ``type_attr`` and ``type_list_attr`` is set; an unset name is ``""``.
    ``number_attr`` names the attribute that holds the length of a list of one type. ``is_ref``: the
    tensors are references to mutable ones.
    """

    name: str
    type: DType | None
    type_attr: str
    number_attr: str
    type_list_attr: str
    is_ref: bool

    @property
    def is_list(self) -> bool:
        """Whether the argument stands for any number of tensors."""
        return bool(self.number_attr or self.type_list_attr)

    def count(self, attrs: Mapping[str, Any]) -> int:
        """Number of tensors; raises ``KeyError`` where an attribute that says so is missing."""
        if self.type_list_attr:
            return len(_known(attrs, self.type_list_attr, list))
        return max(0, _known(attrs, self.number_attr, int)) if self.number_attr else 1

    def types(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Dtype of each tensor.

        Raises ``KeyError`` where an attribute that says so is missing, or an absurd count.
        """
        if self.type_list_attr:
            types = list(_known(attrs, self.type_list_attr, list))
        else:
            one = self.type or _known(attrs, self.type_attr, DType)
            count = self.count(attrs)
            if count > _MOST:
                raise _Unsettled(self.number_attr, count)
            types = [one] * count
        return [_as_ref(t) for t in types] if self.is_ref else types


class AttrDef(NamedTuple):
    """One attribute: its type (``"int"``, ``"list(type)"``, ...), default and limits.

    ``default`` may be None although ``has_default`` is true: a shape of unknown rank.
    ``allowed`` holds the permitted values, None for any. ``minimum`` bounds an int, or the length
    of a list.
    """

    name: str
    type: str
    default: Any = None
    has_default: bool = False
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None


class OpDef(NamedTuple):
    """The definition of an op, or the signature of a function.

    ``deprecated`` is the graph version from which the op may no longer be used, None for never.
    ``keeps_no_input``: although it is stateful, no value that goes in is held when the run is over.
    """

    name: str
    inputs: tuple[ArgDef, ...] = ()
    outputs: tuple[ArgDef, ...] = ()
    attrs: Mapping[str, AttrDef] = MappingProxyType({})
    control_outputs: tuple[str, ...] = ()
    is_stateful: bool = False
    is_commutative: bool = False
    is_aggregate: bool = False
    allows_uninitialized_input: bool = False
    deprecated: int | None = None
    keeps_no_input: bool = False

    @classmethod
    def from_proto(cls, proto: OpDefProto) -> OpDef:
        """The definition in a proto; raises ``GraphError`` (``bad-dtype``, ``bad-attr``)."""
        return cls(
            name=proto.name,
            inputs=tuple(_arg(a) for a in proto.input_arg),
            outputs=tuple(_arg(a) for a in proto.output_arg),
            attrs={a.name: _attr(a) for a in proto.attr},
            control_outputs=tuple(proto.control_output),
            is_stateful=proto.is_stateful,
            is_commutative=proto.is_commutative,
            is_aggregate=proto.is_aggregate,
            allows_uninitialized_input=proto.allows_uninitialized_input,
            deprecated=proto.deprecation.version if proto.HasField("deprecation") else None,
        )

    def to_proto(self) -> OpDefProto:
        """The definition as a proto."""
        return OpDefProto(
            name=self.name,
            input_arg=[_arg_proto(a) for a in self.inputs],
            output_arg=[_arg_proto(a) for a in self.outputs],
            attr=[_attr_proto(a) for a in self.attrs.values()],
            control_output=self.control_outputs,
            is_stateful=self.is_stateful,
            is_commutative=self.is_commutative,
            is_aggregate=self.is_aggregate,
            allows_uninitialized_input=self.allows_uninitialized_input,
            deprecation=None if self.deprecated is None else OpDeprecation(version=self.deprecated),
        )

    def input_types(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Dtype of each input, list arguments flattened; reference dtypes for reference arguments.

        Raises ``KeyError`` where an attribute that sets a dtype or a length is missing or not known
        yet (a function's placeholder).
        """
        return [t for arg in self.inputs for t in arg.types(attrs)]

    def output_types(self, attrs: Mapping[str, Any]) -> list[DType]:
        """Dtype of each output, in the same way; raises ``KeyError`` as ``input_types``."""
        return [t for arg in self.outputs for t in arg.types(attrs)]

    def input_slices(self, attrs: Mapping[str, Any]) -> dict[str, slice]:
        """Where each argument lies in the flat inputs; raises ``KeyError`` as ``input_types``."""
        return _slices(self.inputs, attrs)

    def output_slices(self, attrs: Mapping[str, Any]) -> dict[str, slice]:
        """Where each argument lies in the flat outputs; raises ``KeyError`` as ``input_types``."""
        return _slices(self.outputs, attrs)


def _known(attrs: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = attrs.get(name)
    if not isinstance(value, kind):
        raise _Unsettled(name, value)
    return value


def _as_ref(dtype: DType) -> DType:
    return dtype if dtype.ref else from_number(dtype.number + 100)


def _slices(args: Iterable[ArgDef], attrs: Mapping[str, Any]) -> dict[str, slice]:
    found = {}
    start = 0
    for arg in args:
        end = start + arg.count(attrs)
        found[arg.name] = slice(start, end)
        start = end
    return found


def _arg(proto: OpDefProto.ArgDef) -> ArgDef:
    fixed = from_number(proto.type) if proto.type else None
    return ArgDef(
        proto.name, fixed, proto.type_attr, proto.number_attr, proto.type_list_attr, proto.is_ref
    )


def _attr(proto: OpDefProto.AttrDef) -> AttrDef:
    return AttrDef(
        name=proto.name,
        type=proto.type,
        default=decode_attr(proto.default_value),
        has_default=proto.HasField("default_value"),
        allowed=(
            tuple(decode_attr(proto.allowed_values)) if proto.HasField("allowed_values") else None
        ),
        minimum=proto.minimum if proto.has_minimum else None,
    )


def _arg_proto(arg: ArgDef) -> OpDefProto.ArgDef:
    number: Any = arg.type.number if arg.type else 0
    return OpDefProto.ArgDef(
        name=arg.name,
        type=number,
        type_attr=arg.type_attr,
        number_attr=arg.number_attr,
        type_list_attr=arg.type_list_attr,
        is_ref=arg.is_ref,
    )


def _attr_proto(attr: AttrDef) -> OpDefProto.AttrDef:
    proto = OpDefProto.AttrDef(name=attr.name, type=attr.type)
    if attr.has_default:
        proto.default_value.CopyFrom(encode_attr(attr.default, attr.type))
    if attr.allowed is not None:
        inner = attr.type.removeprefix("list(").removesuffix(")")
        proto.allowed_values.CopyFrom(encode_attr(list(attr.allowed), f"list({inner})"))
    if attr.minimum is not None:
        proto.has_minimum, proto.minimum = True, attr.minimum
    return proto


class _Registry:
    """Definitions by name: decoded ones, and where those of the data file are in it.

    ``origins`` holds the library of each op that a plugin registered.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._numbers: dict[str, int] | None = None
        self._ends = array("I")  # of what each number has, behind that of the one before
        self._data = b""
        self._own = {op.name: op for op in OWN}
        self._decoded: dict[str, OpDef] = {}
        self.origins: dict[str, str] = {}
        self.version = ""

    def numbers(self) -> dict[str, int]:
        """The ops of the data file, by their places in it."""
        if self._numbers is None:
            head, _, self._data = self._read().partition(b"\n\n")
            self.version, *words = head.decode("ascii").split()
            self._ends = array("I", accumulate(map(int, words[1::2]), initial=0))
            self._numbers = {name: k for k, name in enumerate(words[::2])}
        return self._numbers

    def _written(self, number: int) -> OpDefProto:
        return OpDefProto.FromString(self._data[self._ends[number] : self._ends[number + 1]])

    def proto(self, name: str) -> OpDefProto | None:
        number = self.numbers().get(name)
        return self._own.get(name) if number is None else self._written(number)

    def find(self, name: str) -> OpDef | None:
        found = self._decoded.get(name)
        if found is None and (proto := self.proto(name)) is not None:
            found = self._decoded[name] = OpDef.from_proto(proto)
        return found

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.numbers(), *self._own, *self._decoded}))

    def own(self) -> bytes:
        """All but those of plugins, as the bytes of an ``OpList``."""
        known = {*self.numbers(), *self._own}
        mine = [o for n, o in self._decoded.items() if n not in known and n not in self.origins]
        data = map(self._written, self.numbers().values())
        return OpList(
            op=[*data, *self._own.values(), *(op.to_proto() for op in mine)]
        ).SerializeToString()

    def register(self, op: OpDef, origin: str) -> bool:
        """Whether the op is new."""
        present = self.find(op.name)
        if present is not None and not _is_same(present, op, origin):
            raise GraphError(
                f"op {op.name!r} cannot be registered",
                check="a name must not have two different op definitions",
                found="another definition of that name",
                needed="a new name, or an equal definition",
                remedy="rename the op",
                code="duplicate-op",
            )
        if present is None and origin:
            self.origins[op.name] = origin
        self._decoded[op.name] = present or op
        return present is None


def _is_same(present: OpDef, op: OpDef, origin: str) -> bool:
    """Whether a definition is one that is known; a library states less than Python can."""
    return present == op or (bool(origin) and present.to_proto() == op.to_proto())


def _read_data() -> bytes:
    with open(_DATA, "rb") as file:
        return zlib.decompress(file.read())


_REGISTRY: Final = _Registry(_read_data)


def find(name: str) -> OpDef | None:
    """The definition of an op, or None for an unknown one."""
    return _REGISTRY.find(name)


def op_def(name: str) -> OpDef:
    """The definition of an op; raises ``UnsupportedOp`` (``op-unknown``) with near matches."""
    found = _REGISTRY.find(name)
    if found is not None:
        return found
    near = [_with_origin(n) for n in near_matches(name, names())]
    refused = refused_offer("ops", name)
    raise UnsupportedOp(
        f"op {name!r} is unknown"
        + (f"; plugin {refused.plugin} is not loaded: {refused.found}" if refused else ""),
        check="an op must be defined by TensorFlow or be registered",
        found=name,
        needed=f"an op of TensorFlow {tensorflow_version()}, or one registered with register()",
        remedy=f"did you mean {', '.join(near)}?" if near else "register the op's definition",
        code="op-unknown",
        inner=refused,
    )


def _with_origin(name: str) -> str:
    library = origin(name)
    return f"{name} (of {library})" if library else name


def names() -> tuple[str, ...]:
    """Names of all known ops, sorted."""
    return _REGISTRY.names()


def register(op: OpDef | OpDefProto, *, origin: str = "", package: str = "") -> None:
    """Make an op known; raises ``GraphError`` (``duplicate-op``) where another one has its name.

    ``origin`` is the library of a plugin that registered it with the host; ``package`` the
    installed distribution that registers it in every process that uses it.
    """
    made = op if isinstance(op, OpDef) else OpDef.from_proto(op)
    if _REGISTRY.register(made, origin) and not origin:
        (PACKAGE_OPS if package else OPS).note(made.name)


def origin(name: str) -> str:
    """The library of the plugin that registered an op, ``""`` for any other op."""
    return _REGISTRY.origins.get(name, "")


def own_ops() -> bytes:
    """All definitions but those of plugins, as the bytes of an ``OpList``."""
    return _REGISTRY.own()


def tensorflow_version() -> str:
    """The TensorFlow release that the data was taken from."""
    _REGISTRY.numbers()
    return _REGISTRY.version
