"""``dataclass`` whose initializer is compiled once a class has many instances, if it ever has.

The standard decorator writes and compiles up to six functions for a class, which takes half a
millisecond; a process that runs a small model imports seventy such classes, makes no instance of
half of them and a few of the others. To compile an initializer takes as long as to fill in a
hundred instances field by field. Here what ``fields``, ``replace`` and ``asdict`` need is found by
the standard decorator, for most classes when somebody asks for it, and what compares, hashes and
shows is shared by all classes. Classes behave as the standard ones, also below and above those.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from types import FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final

__all__ = ["dataclass"]

_MISSING: Final = dataclasses.MISSING
_FILLED_IN: Final = 32
"""Instances of a class before its initializer is compiled."""
_FOUND_LATE: Final = ("__dataclass_fields__", "__dataclass_params__")


class _Factory:
    """The default of a parameter whose field has a factory."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY: Final = _Factory()


class _Stated:
    """A field that is stated by a name and a type, with a default or without."""

    __slots__ = ("default", "name", "type")

    default_factory, kw_only, hash = _MISSING, False, None
    init = repr = compare = True

    def __init__(self, name: str, kind: str, default: Any) -> None:
        self.name, self.type, self.default = name, kind, default


_Field = dataclasses.Field[Any] | _Stated
_Fields = tuple[_Field, ...]


class _Standard:
    """What the standard decorator keeps with a class, found when somebody asks for it."""

    __slots__ = ("cls", "fields", "frozen", "name", "order")

    def __init__(
        self, cls: type[Any], name: str, fields: _Fields, frozen: bool, order: bool
    ) -> None:
        self.cls, self.name, self.fields = cls, name, fields
        self.frozen, self.order = frozen, order

    def __get__(self, held: Any, owner: type[Any]) -> Any:
        body: dict[str, Any] = {
            "__annotations__": {f.name: f.type for f in self.fields},
            "__doc__": self.cls.__name__,  # else its signature is written there
            "__module__": self.cls.__module__,
        }
        for field in self.fields:
            if isinstance(field, dataclasses.Field):
                body[field.name] = field
            elif field.default is not _MISSING:
                body[field.name] = field.default
        kind: Any = type(self.cls.__name__, (), body)
        made = dataclasses.dataclass(init=False, repr=False, eq=False)(kind)
        _tell(made, self.frozen, self.order)
        for name in _FOUND_LATE:
            setattr(self.cls, name, getattr(made, name))
        return getattr(made, self.name)


def _tell(cls: type[Any], frozen: bool, order: bool) -> None:
    """Let what the standard decorator noted say what ours was asked for."""
    params: Any = cls.__dataclass_params__
    params.init = params.repr = params.eq = True
    params.frozen, params.order = frozen, order


def _stated(cls: type[Any]) -> dict[str, str] | None:
    """The types of a class's fields, by name; None where finding them is the standard's to do.

    That is so for annotations that are no texts or no fields, and for what it may refuse.
    """
    types: dict[str, str] = inspect.get_annotations(cls)
    if hasattr(cls, "__abstractmethods__") or not all(
        isinstance(kind, str) for kind in types.values()
    ):
        return None
    text = " ".join(types.values())
    if "ClassVar" in text or "InitVar" in text or "KW_ONLY" in text:
        return None
    for name, value in cls.__dict__.items():
        if isinstance(value, dataclasses.Field) and name not in types:
            return None
    for name in types:
        value = getattr(cls, name, None)
        if value.__class__.__hash__ is None or isinstance(value, MemberDescriptorType):
            return None
    return types


def _take_over(cls: type[Any], types: dict[str, str]) -> _Fields:
    """The fields; what is no default any more is taken from the class."""
    found: list[_Field] = []
    for name, kind in types.items():
        value = getattr(cls, name, _MISSING)
        if not isinstance(value, dataclasses.Field):
            found.append(_Stated(name, kind, value))
            continue
        value.name, value.type = name, kind
        if value.default is _MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, value.default)
        found.append(value)
    given: dict[str, Any] = {"__match_args__": tuple(f.name for f in found if f.init)}
    if sys.version_info >= (3, 13):
        given["__replace__"] = _replace
    for name in given.keys() - cls.__dict__.keys():
        setattr(cls, name, given[name])
    return tuple(found)


def _replace(self: Any, /, **changes: Any) -> Any:
    return dataclasses.replace(self, **changes)


class _Signature:
    """What ``inspect.signature`` says of a class: its initializer's, without ``self``."""

    def __get__(self, held: Any, owner: type[Any]) -> Any:
        if held is not None:  # an object that is called has another one
            raise AttributeError("__signature__")
        init: Any = owner.__init__
        found = inspect.signature(init.written() if hasattr(init, "written") else init)
        return found.replace(parameters=list(found.parameters.values())[1:])


def _dataclass(
    cls: type[Any] | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    order: bool = False,
) -> Any:
    """The decorator, with or without arguments, which mean what they do in the standard library."""
    if cls is None:
        return lambda found: _dataclass(found, frozen=frozen, slots=slots, order=order)
    own = frozenset(cls.__dict__)
    hashes = "__hash__" in own and not (cls.__dict__["__hash__"] is None and "__eq__" in own)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else the standard decorator writes the signature there
    derived = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
    stated = None if slots or derived else _stated(cls)
    if stated is None:
        cls = dataclasses.dataclass(
            init=False, repr=False, eq=False, slots=slots, frozen=frozen and derived
        )(cls)  # which refuses to derive frozen classes from others, and the other way round
        _tell(cls, frozen, order)
        fields: _Fields = dataclasses.fields(cls)
    else:
        fields = _take_over(cls, stated)
        for name in _FOUND_LATE:
            setattr(cls, name, _Standard(cls, name, fields, frozen, order))
    methods = _methods(cls, fields)
    if frozen:
        methods |= _frozen(cls, fields)
        methods |= _state(fields) if slots else {}
    if order:
        methods |= _ordered(_values(f.name for f in fields if f.compare))
    for name, method in methods.items():
        if name not in own:
            method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    if not hashes:
        cls.__hash__ = methods["__hash__"] if frozen else None  # type: ignore[assignment]
    cls.__signature__ = _Signature()
    return cls


def _methods(cls: type[Any], fields: _Fields) -> dict[str, Callable[..., Any]]:
    """What every class gets that has no such method of its own."""
    shown = [f.name for f in fields if f.repr]
    compared = _values(f.name for f in fields if f.compare)
    hashed = _values(f.name for f in fields if (f.compare if f.hash is None else f.hash))

    @recursive_repr()
    def show(self: Any) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({parts})"

    def equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def digest(self: Any) -> int:
        return hash(hashed(self))

    return {
        "__init__": _first_init(cls, fields), "__repr__": show, "__eq__": equal,
        "__hash__": digest,
    }  # fmt: skip


def _frozen(cls: type[Any], fields: _Fields) -> dict[str, Callable[..., Any]]:
    """What refuses to change fields."""
    names = frozenset(f.name for f in fields)

    def refuse_change(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_removal(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": refuse_change, "__delattr__": refuse_removal}


def _ordered(compared: Callable[[Any], tuple[Any, ...]]) -> dict[str, Callable[..., Any]]:
    """What puts objects of one class in order, by their fields."""

    def by(compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        def method(self: Any, other: object) -> Any:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compare(compared(self), compared(other))

        return method

    return {"__lt__": by(lt), "__le__": by(le), "__gt__": by(gt), "__ge__": by(ge)}


def _state(fields: _Fields) -> dict[str, Callable[..., Any]]:
    """How copy and pickle get and set fields that are slots and cannot be changed."""

    def state(self: Any) -> list[Any]:
        return [getattr(self, f.name) for f in fields]

    def set_state(self: Any, values: list[Any]) -> None:
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(self, field.name, value)

    return {"__getstate__": state, "__setstate__": set_state}


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives these attributes of an object."""
    found = tuple(names)
    if len(found) > 1:
        return attrgetter(*found)
    return lambda held: tuple(getattr(held, name) for name in found)


class _Filling:
    """Fills in the first instances of a class, field by field, as its initializer would."""

    __slots__ = ("cls", "fields", "left", "plan")

    def __init__(self, cls: type[Any], fields: _Fields) -> None:
        self.cls, self.fields = cls, fields
        self.left = _FILLED_IN
        self.plan: _Plan | None = None

    def fill(self, held: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it was done: what is given to no field, or twice, is the initializer's to say."""
        if self.left <= 0:
            return False
        self.left -= 1
        plan = self.plan = self.plan or _plan(self.cls, self.fields)
        given = dict(zip(plan.names, args, strict=False)) | kwargs
        fits = len(given) == len(args) + len(kwargs) and given.keys() >= plan.required
        if not fits or not kwargs.keys() <= plan.names.keys():
            return False
        for name, default, factory in plan.steps:
            if name in given:
                plan.put(held, name, given[name])
            else:
                plan.put(held, name, default if factory is _MISSING else factory())
        if hasattr(self.cls, "__post_init__"):
            held.__post_init__()
        return True


class _Plan:
    """What an instance is filled in with: parameters, and each field with what it takes else."""

    __slots__ = ("names", "put", "required", "steps")

    def __init__(self, names: dict[str, bool], put: Any, steps: list[tuple[str, Any, Any]]) -> None:
        self.names, self.put, self.steps = names, put, steps
        self.required = {name for name, needed in names.items() if needed}


def _plan(cls: type[Any], fields: _Fields) -> _Plan:
    steps = [(f.name, f.default, f.default_factory) for f in fields if f.init or _is_put(cls, f)]
    names = {
        f.name: f.default is _MISSING and f.default_factory is _MISSING for f in fields if f.init
    }
    return _Plan(names, object.__setattr__ if _is_frozen(cls) else setattr, steps)


def _is_put(cls: type[Any], field: _Field) -> bool:
    """Whether a field that is no parameter is set; else the class has its value, if any."""
    if field.default_factory is not _MISSING:
        return True
    return field.default is not _MISSING and field.name in getattr(cls, "__slots__", ())


def _is_frozen(cls: type[Any]) -> bool:
    return "__setattr__" in cls.__dict__


def _first_init(cls: type[Any], fields: _Fields) -> Callable[..., None]:
    """An initializer for a few instances, which then puts the compiled one in its place."""
    filling = _Filling(cls, fields)

    def written() -> Callable[..., None]:
        made = _written_init(cls, fields)
        if cls.__init__ is first:
            cls.__init__ = made
        return made

    def any_call(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if not filling.fill(self, args, kwargs):
            written()(self, *args, **kwargs)

    # With the class's module behind it, where annotations are looked up.
    first: Any = FunctionType(
        any_call.__code__, _globals(cls), "__init__", None, any_call.__closure__
    )
    first.__annotations__ = _annotations(fields)
    first.__module__ = cls.__module__
    first.written = written
    made: Callable[..., None] = first
    return made


def _globals(cls: type[Any]) -> dict[str, Any]:
    module = sys.modules.get(cls.__module__)
    return {} if module is None else vars(module)


def _annotations(fields: _Fields) -> dict[str, Any]:
    return {f.name: f.type for f in fields if f.init} | {"return": None}


def _written_init(cls: type[Any], fields: _Fields) -> Callable[..., None]:
    """The initializer, compiled."""
    scope: dict[str, Any] = {"_put": object.__setattr__, "_factory": _FACTORY}
    frozen = _is_frozen(cls)
    parameters, lines = ["_self"], []
    for place, field in enumerate(fields):
        name, value = field.name, field.name
        default = ""
        if field.default is not _MISSING:
            scope[f"_value{place}"] = field.default
            default = f"=_value{place}"
        elif field.default_factory is not _MISSING:
            scope[f"_make{place}"] = field.default_factory
            default, value = "=_factory", f"_make{place}()"
            if field.init:
                value += f" if {name} is _factory else {name}"
        if field.init:
            parameters.append(name + default)
        elif not _is_put(cls, field):
            continue
        elif field.default_factory is _MISSING:
            value = f"_value{place}"
        lines.append(f"_put(_self, {name!r}, {value})" if frozen else f"_self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("_self.__post_init__()")
    text = f"def _make({', '.join(scope)}):\n def __init__({', '.join(parameters)}):\n  "
    text += "; ".join(lines or ["pass"]) + "\n return __init__"
    makes: dict[str, Any] = {}
    exec(text, _globals(cls), makes)
    made: Callable[..., None] = makes["_make"](**scope)
    made.__annotations__ = _annotations(fields)
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass
