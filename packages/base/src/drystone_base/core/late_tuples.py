"""``NamedTuple`` whose constructor is compiled once a class has many instances, if it ever has.

The standard one compiles each annotation and a constructor for every class, which takes a sixth of
a millisecond in a process that starts; such a process imports thirty of these classes and makes
instances of few. Here methods are shared by all classes. Classes behave as the standard ones;
fields are stated by annotations that are strings, as ``from __future__ import annotations`` makes
them.
"""

from __future__ import annotations

import sys
from collections import _tuplegetter  # type: ignore[attr-defined]
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

__all__ = ["NamedTuple"]

_PUT_TOGETHER: Final = 32
"""Instances of a class before its constructor is compiled, which takes as long as they do."""

_OURS: Final = frozenset((
    "__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_make",
    "_replace", "_asdict",
))  # fmt: skip


def _make(cls: Any, iterable: Iterable[Any]) -> Any:
    """A tuple of this class, of what an iterable gives."""
    made = tuple.__new__(cls, iterable)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: Any) -> Any:
    """A tuple with other values of some fields."""
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        kind = TypeError if sys.version_info >= (3, 13) else ValueError
        raise kind(f"Got unexpected field names: {list(changes)!r}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    """Values by the names of their fields."""
    return dict(zip(self._fields, self, strict=True))


def _repr(self: Any) -> str:
    parts = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{self.__class__.__name__}({parts})"


def _new_arguments(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_SHARED: Final[dict[str, Any]] = {
    "__slots__": (),
    "__repr__": _repr,
    "__getnewargs__": _new_arguments,
    "_asdict": _asdict,
    "_make": classmethod(_make),
    "_replace": _replace,
} | ({"__replace__": _replace} if sys.version_info >= (3, 13) else {})


def _defaults(name: str, fields: tuple[str, ...], body: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the fields that need none, which come last."""
    found: dict[str, Any] = {}
    for field in fields:
        if field in body:
            found[field] = body[field]
        elif found:
            raise TypeError(
                f"non-default field {field!r} of {name} cannot follow default fields: "
                + ", ".join(found)
            )
    return found


def _written(name: str, fields: tuple[str, ...], defaults: Mapping[str, Any]) -> Any:
    """The constructor, compiled."""
    scope: dict[str, Any] = {"_new": tuple.__new__, "__name__": __name__}
    names = ", ".join(fields)
    values = names + ("," if fields else "")
    made = eval(f"lambda _cls, {names}: _new(_cls, ({values}))", scope)
    made.__name__, made.__qualname__ = "__new__", f"{name}.__new__"
    made.__defaults__ = tuple(defaults.values()) or None
    return made


def _first_new(fields: tuple[str, ...], defaults: Mapping[str, Any], owner: list[Any]) -> Any:
    """A constructor of a few instances, which then puts the compiled one in its place.

    That one is called for what is given to no field, or twice, and says so.
    """
    left, names = _PUT_TOGETHER, set(fields)

    def __new__(_cls: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        nonlocal left
        if left > 0:
            left -= 1
            given = dict(zip(fields, args, strict=False)) | kwargs
            complete = dict(defaults) | given
            if len(given) == len(args) + len(kwargs) and complete.keys() == names:
                return tuple.__new__(_cls, [complete[field] for field in fields])
        made = _written(owner[0].__name__, fields, defaults)
        owner[0].__new__ = staticmethod(made)
        return made(_cls, *args, **kwargs)

    return __new__


class _Made(type):
    """Makes plain subclasses of ``tuple`` of classes that are stated with fields."""

    def __new__(mcs, name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
        if not bases:
            return super().__new__(mcs, name, bases, body)
        for taken in _OURS.intersection(body):
            raise AttributeError(f"Cannot overwrite NamedTuple attribute {taken}")
        fields = tuple(body.get("__annotations__", ()))
        for field in fields:
            if field.startswith("_"):
                raise ValueError(f"Field names cannot start with an underscore: {field!r}")
        defaults, owner = _defaults(name, fields, body), [None]
        getters = {
            field: _tuplegetter(k, sys.intern(f"Alias for field number {k}"))
            for k, field in enumerate(fields)
        }
        own: dict[str, Any] = {
            "_fields": fields, "_field_defaults": defaults, "__match_args__": fields,
            "__new__": _first_new(fields, defaults, owner),
        }  # fmt: skip
        listed = ", ".join(fields) + ("," if len(fields) == 1 else "")
        words = {} if "__doc__" in body else {"__doc__": f"{name}({listed})"}
        made: Any = type(name, (tuple,), {**_SHARED, **words, **body, **getters, **own})
        owner[0] = made
        return made


class _Root(metaclass=_Made):
    pass


class _NamedTuple:
    """What classes name as their base."""

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type]:
        if len(bases) > 1:
            raise TypeError("can only inherit from a NamedTuple type")
        return (_Root,)


if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    NamedTuple = _NamedTuple()
