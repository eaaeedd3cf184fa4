"""What public functions say of arguments that they cannot take, told from their annotations.

A function states the types of its parameters once, as annotations. :func:`checked` holds the
arguments of each call against them. :func:`explained` does so only once a call has failed, for
what is called often: then an argument of another type is what is told, and not what Python raised
somewhere inside. What fails with arguments that fit is not touched: that is a fault of ours.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, takewhile
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeVar, Union, get_args, get_origin

from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.core.printable import described

__all__ = ["blame", "checked", "checking", "explained", "explaining", "fits"]

_Class = TypeVar("_Class", bound=type)
_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST_ITEMS: Final = 10_000
"""Of a container that are looked at: more take too long, and say no more."""
_MOST_LOOKED_INTO: Final = 100
_TEXTS: Final = (str, bytes, bytearray, memoryview)
_ONE_BY_ONE: Final = (list, tuple, set, frozenset, range)


def checked(function: _Function) -> _Function:
    """A function that raises ``BadRequest`` (``bad-argument``) for arguments of other types."""

    body = _generating(function) if inspect.isgeneratorfunction(function) else function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        wrong = _mismatch(function, args, kwargs)
        if wrong is not None:
            raise _refused(function, wrong)
        try:
            return body(*args, **kwargs)
        except DrystoneError:
            raise
        except Exception as error:
            blame(function, error, *args, **kwargs)

    return call  # type: ignore[return-value]


def _generating(function: Callable[..., Any]) -> Callable[..., Any]:
    """A generator function that blames its arguments for what it raises when it is run."""

    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from function(*args, **kwargs)
        except DrystoneError:
            raise
        except Exception as error:
            blame(function, error, *args, **kwargs)

    return generate


def explained(function: _Function) -> _Function:
    """A function that blames an argument of another type for what it raises, if there is one.

    Raises ``BadRequest`` (``bad-argument``).
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except DrystoneError:
            raise
        except Exception as error:
            blame(function, error, *args, **kwargs)

    return call  # type: ignore[return-value]


def explaining(*methods: str) -> Callable[[_Class], _Class]:
    """A class whose methods of these names are :func:`explained`."""
    return functools.partial(_with_methods, methods, explained)


def checking(*methods: str) -> Callable[[_Class], _Class]:
    """A class whose methods of these names are :func:`checked`."""
    return functools.partial(_with_methods, methods, checked)


def _with_methods(
    methods: tuple[str, ...], change: Callable[[Callable[..., Any]], Any], kind: _Class
) -> _Class:
    for name in methods:
        found = vars(kind)[name]
        if isinstance(found, classmethod):
            setattr(kind, name, classmethod(change(found.__func__)))
        else:
            setattr(kind, name, change(found))
    return kind


def blame(function: Callable[..., Any], error: Exception, /, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise what a failed call is to raise: an argument that is to blame, or the error itself.

    For methods so short that a function around them would take as long as they do.
    """
    wrong = _mismatch(function, args, kwargs)
    if wrong is not None:
        raise _refused(function, wrong, error) from error
    given = [*args, *kwargs.values()]
    unusable = (
        _unusable(error)
        or _own_fault(error, given)
        or _of_items(error, [one for one in given if not _is_owner(one, function)])
    )
    if unusable and (args or kwargs):
        raise _unusable_argument(function, error, unusable) from error
    raise error


class _Wrong(NamedTuple):
    """An argument that does not fit."""

    name: str
    value: Any
    needed: str


def _mismatch(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> _Wrong | None:
    """The first argument that does not fit its annotation; None for calls that Python refuses."""
    signature = _signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:  # a wrong number, or an unknown keyword: Python says so
        return None
    for name, value in given.items():
        parameter = signature.parameters[name]
        note = parameter.annotation
        if note is inspect.Parameter.empty:
            continue
        values: Iterable[Any] = (value,)
        if parameter.kind is parameter.VAR_POSITIONAL:
            values = value
        elif parameter.kind is parameter.VAR_KEYWORD:
            values = value.values()
        for one in values:
            if one is not parameter.default and not _seems_fit(one, function, note):
                return _Wrong(name, one, str(note))
    return None


def _seems_fit(value: Any, function: Callable[..., Any], note: Any) -> bool:
    """As :func:`_fits_note`; of a value that raises when it is asked nothing is known."""
    try:
        return _is_named(value, function, note) or _fits_note(value, function, note)
    except Exception:
        return True


def _is_named(value: Any, function: Callable[..., Any], note: Any) -> bool:
    """Whether an annotation names the value's own class among others: no other need be found."""
    known = vars(sys.modules[function.__module__])
    return isinstance(note, str) and any(
        known.get(name.strip()) is type(value) for name in note.split("|")
    )


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function, follow_wrapped=True)


class _Named(type):
    """Stands for a class of another module, by its name: that module is not imported for it."""

    home: str

    def __instancecheck__(cls, value: object) -> bool:
        return any(
            kind.__name__ == cls.__name__ and f"{kind.__module__}.".startswith(f"{cls.home}.")
            for kind in type(value).__mro__
        )


class _Names(dict[str, Any]):
    """The names of a module, with those that it imports for type checkers only.

    Those stand for classes, known by their names, unless ``imports``.
    """

    def __init__(self, module: str, *, imports: bool) -> None:
        super().__init__(vars(sys.modules[module]))
        self._module, self._imports = module, imports

    def __getitem__(self, name: str) -> Any:
        found = self.get(name)
        if found is None:
            found = getattr(builtins, name, None) or self._for_checkers(name)
        return eval(found, {"__builtins__": {}}, self) if isinstance(found, str) else found

    def _for_checkers(self, name: str) -> Any:
        home = _homes(self._module).get(name)
        if home is None:
            return Any
        if not self._imports:
            return _Named(name, (), {"home": home})
        return getattr(importlib.import_module(home), name, Any)


@functools.cache
def _homes(module: str) -> dict[str, str]:
    """The modules from which a module imports names under ``if TYPE_CHECKING``."""
    try:
        with open(str(sys.modules[module].__file__), encoding="utf-8") as file:
            text = file.read()
    except OSError:  # a program without sources: nothing is known of those names
        return {}
    lines = text.partition("\nif TYPE_CHECKING:\n")[2].splitlines()
    block = takewhile(lambda line: not line or line.startswith("    "), lines)
    return {
        one.name: statement.module
        for statement in ast.parse("\n".join([line[4:] for line in block])).body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for one in statement.names
    }


def _fits_note(value: Any, function: Callable[..., Any], note: Any) -> bool:
    """Whether a value is of the type that an annotation names.

    What it names is imported only for a value that nothing else in it fits: to import it for all
    would cost a program that takes a cached plan what that spares it.
    """
    if not isinstance(note, str):
        return fits(value, note)
    return any(
        fits(value, _meaning(function.__module__, note, imports)) for imports in (False, True)
    )


@functools.cache
def _meaning(module: str, note: str, imports: bool) -> Any:
    """The type that a text names in a module, aliases that are texts included."""
    return eval(note, {"__builtins__": {}}, _Names(module, imports=imports))


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the type that an annotation means, as far as that can be told."""
    if kind is Any or kind is object or isinstance(kind, TypeVar | str):
        return True
    if kind is None or kind is type(None):
        return value is None
    origin = get_origin(kind)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in get_args(kind))
    if origin in (types.UnionType, Union):
        return any(fits(value, one) for one in get_args(kind))
    if origin is not None:
        return _fits_generic(value, origin, get_args(kind))
    return _fits_class(value, kind)


def _fits_class(value: Any, kind: Any) -> bool:
    import numbers

    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    if kind is bool:
        return isinstance(value, bool) or type(value).__name__ == "bool"  # NumPy's
    if kind is int or kind is float:
        whole = numbers.Integral if kind is int else numbers.Real
        return isinstance(value, whole) and not isinstance(value, bool)
    return isinstance(value, kind)


def _fits_generic(value: Any, origin: Any, args: tuple[Any, ...]) -> bool:
    if origin is type:
        return isinstance(value, type)
    if origin is Callable:
        return callable(value)
    if not isinstance(value, origin) or (isinstance(value, _TEXTS) and origin not in _TEXTS):
        return False
    is_array = any(one.__name__ == "ndarray" for one in type(value).__mro__)
    if is_array and origin.__module__ == "numpy":
        return True  # what stands in brackets is a shape and a dtype, not what an item is
    if is_array and args:
        return len(value.shape) == 1 and all(fits(v, args[0]) for v in value[:_MOST_ITEMS].tolist())
    if issubclass(origin, Mapping) and isinstance(value, Mapping) and len(args) == 2:
        items = value.items() if len(value) <= _MOST_ITEMS else ()
        return all(fits(k, args[0]) and fits(v, args[1]) for k, v in items)
    if isinstance(value, tuple) and origin is tuple and args[-1:] != (Ellipsis,):
        return len(value) == len(args) and all(map(fits, value, args))
    if args and isinstance(value, Collection):
        return all(fits(one, args[0]) for one in islice(value, _MOST_ITEMS))
    return True


def _refused(
    function: Callable[..., Any], wrong: _Wrong, inner: BaseException | None = None
) -> BadRequest:
    name = _name(function)
    return BadRequest(
        f"{name} cannot take this for {wrong.name!r}",
        check="an argument must be of a type that the function states",
        found=f"{type(wrong.value).__name__}: {described(wrong.value, 200)}",
        needed=wrong.needed,
        remedy=f"`help({name})` says what each argument means",
        code="bad-argument",
        inner=inner,
    )


def _unusable(error: Exception) -> str:
    """Why what was given cannot be used at all, where the exception says so by its kind."""
    if isinstance(error, UnicodeError):
        return "text that UTF-8 cannot hold, as half of a surrogate pair"
    if isinstance(error, RecursionError):
        return "values inside one another, deeper than can be followed"
    if isinstance(error, OSError) and error.errno is not None:  # those of stores have none
        return "a path that the system refuses"
    if isinstance(error, ValueError) and "null byte" in str(error):
        return "a path with a NUL byte"
    if isinstance(error, ValueError) and "integer string conversion" in str(error):
        return "a whole number of more digits than Python writes"
    if isinstance(error, OverflowError):
        return "a number that is too large for what it is to be"
    if isinstance(error, MemoryError):
        return "values that do not fit into memory"
    return ""


def _is_owner(value: Any, function: Callable[..., Any]) -> bool:
    """Whether a function is a method of the value's class, and the value what it is called on."""
    owner = function.__qualname__.rpartition(".")[0]
    return any(kind.__qualname__ == owner for kind in type(value).__mro__)


def _of_items(error: Exception, given: list[Any]) -> str:
    """Whether items may have been the cause of what cannot be looked into, such as an iterator."""
    kinds = (TypeError, ValueError, AttributeError, LookupError)
    spent = [v for v in given if isinstance(v, Iterable) and not isinstance(v, Collection)]
    if not isinstance(error, kinds) or not spent:
        return ""
    return f"items of a {type(spent[0]).__name__} that it cannot work with ({error})"


def _own_fault(error: Exception, given: list[Any]) -> str:
    """Whether a method of a value that was given raised it, when it was asked for something."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    if frames is None:
        return ""
    code = frames.tb_frame.f_code
    for value in given:
        inner = value if isinstance(value, _ONE_BY_ONE) else ()
        for one in (value, *islice(inner, _MOST_LOOKED_INTO)):
            kinds = type(one).__mro__
            asked = (f for k in kinds for f in vars(k).values() if inspect.isfunction(f))
            if any(f.__code__ is code for f in asked) or getattr(one, "__code__", None) is code:
                return f"a {type(one).__name__} that raises {type(error).__name__} when it is asked"
    return _fault_of_callers(error, given)


def _fault_of_callers(error: Exception, given: list[Any]) -> str:
    """The same where the method called others before it failed."""
    codes = {}
    frames = error.__traceback__
    while frames is not None:
        codes[frames.tb_frame.f_code] = True
        frames = frames.tb_next
    for value in given:
        if type(value).__module__.startswith("drystone"):
            continue
        for kind in type(value).__mro__[:-1]:
            for found in vars(kind).values():
                if inspect.isfunction(found) and found.__code__ in codes:
                    name = type(value).__name__
                    return f"a {name} that raises {type(error).__name__} when it is asked"
    return ""


def _unusable_argument(function: Callable[..., Any], error: Exception, found: str) -> BadRequest:
    name = _name(function)
    return BadRequest(
        f"{name} cannot use what it was given",
        check="arguments must be such as can be worked with",
        found=found,
        needed="values, names and paths that the system can hold",
        remedy=f"`help({name})` says what each argument means",
        code="bad-argument",
        inner=error,
    )


def _name(function: Callable[..., Any]) -> str:
    package = function.__module__.partition(".")[0].replace("drystone_base", "drystone")
    return f"{package}.{function.__qualname__.removesuffix('.__init__')}"
