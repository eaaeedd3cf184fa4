"""How a call's arguments become those of one of a function's traces.

A function of TensorFlow is a Python function that was traced for some arguments: each trace has
tensors of certain dtypes and shapes, and certain Python values. A call takes the first trace that
fits as it is, else the first for which its Python values can become tensors, else the first for
which arrays of another dtype can, as feeds do. Source: TensorFlow ``function_deserialization``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_abi.protos import FunctionSpec
from drystone_base.api.feeds import Feed, to_array
from drystone_base.api.restored.structures import Composite, Structure, Tensor, decode
from drystone_base.core.dtypes import STRING, DType, from_numpy

__all__ = ["Arguments", "Leniency", "Parameters", "fill"]


class Leniency(IntEnum):
    """What may be converted so that arguments fit a trace."""

    NOTHING = 0
    PYTHON = 1
    ARRAYS = 2


class Arguments(NamedTuple):
    """Arguments as traces state them: by position, then those that only have a name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Parameters(NamedTuple):
    """The parameters of a function; ``more`` and ``more_named`` say whether it takes others."""

    names: tuple[str, ...]
    defaults: dict[str, Any]
    keyword_only: tuple[str, ...] = ()
    more: bool = False
    more_named: bool = False

    @classmethod
    def of(cls, spec: FunctionSpec, what: str) -> Parameters:
        """The parameters that a SavedModel states; raises ``BadModelFile``."""
        found = decode(spec.fullargspec, what)
        names = tuple(map(str, _items(found, "args")))[1 if spec.is_method else 0 :]
        given = _items(found, "defaults")
        defaults = dict(zip(names[max(len(names) - len(given), 0) :], given, strict=False))
        by_name = getattr(found, "kwonlydefaults", None)
        return cls(
            names,
            defaults | (by_name if isinstance(by_name, dict) else {}),
            tuple(map(str, _items(found, "kwonlyargs"))),
            getattr(found, "varargs", None) is not None,
            getattr(found, "varkw", None) is not None,
        )

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Arguments | str:
        """The arguments of a call, defaults filled in, or what is wrong with it."""
        named = dict(zip(self.names, args, strict=False))
        rest = args[len(self.names) :]
        twice = [n for n in kwargs if n in named]
        unknown = [n for n in kwargs if n not in self.names and n not in self.keyword_only]
        if rest and not self.more:
            return f"{len(args)} positional arguments"
        if twice:
            return f"given twice: {', '.join(twice)}"
        if unknown and not self.more_named:
            return f"unknown: {', '.join(unknown)}"
        named = self.defaults | named | dict(kwargs)
        missing = [n for n in (*self.names, *self.keyword_only) if n not in named]
        if missing:
            return f"missing: {', '.join(missing)}"
        by_name = (*self.keyword_only, *unknown)
        return Arguments(
            (*(named[n] for n in self.names), *rest), {n: named[n] for n in sorted(by_name)}
        )


def _items(spec: Any, field: str) -> tuple[Any, ...]:
    """A list or tuple that a stated argument specification has; none for anything else."""
    found = getattr(spec, field, None)
    return tuple(found) if isinstance(found, list | tuple) else ()


def fill(structure: Structure, given: Any, leniency: Leniency, into: list[Any]) -> bool:
    """Whether ``given`` fits a trace's structure; its tensors are added to ``into``."""
    if isinstance(structure, Tensor):
        return _tensor(structure, given, leniency, into)
    if isinstance(structure, Composite):
        return _composite(structure, given, into)
    if isinstance(structure, dict):
        if not isinstance(given, Mapping) or given.keys() != structure.keys():
            return False
        return _all(((structure[k], given[k]) for k in sorted(structure)), leniency, into)
    if isinstance(structure, list | tuple):
        if not isinstance(given, list | tuple) or len(given) != len(structure):
            return False
        return _all(zip(structure, given, strict=True), leniency, into)
    return not _is_array(given) and _same(structure, given)


def _all(pairs: Iterable[tuple[Any, Any]], leniency: Leniency, into: list[Any]) -> bool:
    return all(fill(inner, value, leniency, into) for inner, value in pairs)


def _same(stated: Any, given: Any) -> bool:
    try:
        return bool(stated == given)
    except Exception:  # whatever comparison of a foreign object raises
        return False


_ARRAYS: Final = ("dtype", "shape", "__array__")


def _is_array(value: Any) -> bool:
    return all(hasattr(value, name) for name in _ARRAYS)


def _tensor(tensor: Tensor, given: Any, leniency: Leniency, into: list[Any]) -> bool:
    is_array = _is_array(given)
    try:
        return _converted(tensor, given, leniency, into, is_array)
    except Exception:  # whatever a foreign object raises when it is made an array
        return False


def _converted(
    tensor: Tensor, given: Any, leniency: Leniency, into: list[Any], is_array: bool
) -> bool:
    if not is_array and (leniency is Leniency.NOTHING or given is None):
        return False
    if is_array and leniency < Leniency.ARRAYS and not _has_dtype(tensor, given):
        return False
    into.append(to_array(Feed(tensor.name, tensor.dtype, tensor.shape), given, False))
    return True


def _has_dtype(tensor: Tensor, given: Any) -> bool:
    if isinstance(given.dtype, DType):  # on a device, where it stays
        return given.dtype is tensor.dtype
    dtype = np.asarray(given).dtype
    if tensor.dtype is STRING:
        return dtype.kind in "SUOT"
    return dtype.kind not in "SUOT" and from_numpy(dtype) is tensor.dtype


def _composite(composite: Composite, given: Any, into: list[Any]) -> bool:
    """The tensors of a composite are given as a tuple, in its own order."""
    if not isinstance(given, tuple | list) or len(given) != composite.parts:
        return False
    try:
        parts = [np.asarray(part) for part in given]
    except Exception:  # as above
        return False
    into.extend(parts)
    return True
