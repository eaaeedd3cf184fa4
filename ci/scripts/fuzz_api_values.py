"""Hostile arguments for the fuzzer of public functions, and good ones that lead further in.

Everything is made inside a scratch folder: values that name files name only files of it.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

__all__ = ["Values", "shown"]

_MOST_SHOWN: Final = 200


class _Raising:
    """An object of which nothing can be asked."""

    def __init__(self, *methods: str) -> None:
        self._methods = methods

    def _fail(self, method: str) -> Any:
        if method in self._methods:
            raise RuntimeError(f"{method} of a hostile object")
        return NotImplemented

    def __str__(self) -> str:
        self._fail("__str__")
        return "hostile"

    def __repr__(self) -> str:
        self._fail("__repr__")
        return "<hostile>"

    def __len__(self) -> int:
        self._fail("__len__")
        return 1

    def __iter__(self) -> Any:
        self._fail("__iter__")
        return iter(())

    def __bool__(self) -> bool:
        self._fail("__bool__")
        return True

    def __hash__(self) -> int:
        self._fail("__hash__")
        return 7

    def __eq__(self, other: object) -> Any:
        return self._fail("__eq__")

    def __fspath__(self) -> str:
        self._fail("__fspath__")
        return "hostile"

    def __array__(self, *_: Any, **__: Any) -> Any:
        self._fail("__array__")
        return np.zeros(2)


_METHODS: Final = (
    "__str__", "__repr__", "__len__", "__iter__", "__bool__", "__hash__", "__eq__", "__fspath__",
    "__array__",
)  # fmt: skip


def shown(value: Any) -> str:
    """A value as text, whatever it is."""
    try:
        text = repr(value)
    except Exception as error:  # the point of some
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    text = text.encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... {len(text)} characters"


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def _recursive() -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


def _recursive_dict() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["self"] = found
    return found


def _fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a hostile function")


def _readonly() -> np.ndarray[Any, Any]:
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


_SIMPLE: Final[tuple[Callable[[], Any], ...]] = (
    lambda: None, lambda: True, lambda: False, lambda: 0, lambda: 1, lambda: -1, lambda: 3,
    lambda: 1 << 31, lambda: -(1 << 63), lambda: 1 << 70, lambda: -(1 << 200), lambda: 10**5000,
    lambda: 0.5, lambda: -0.0, lambda: float("nan"), lambda: float("inf"), lambda: -float("inf"),
    lambda: 1 + 2j, lambda: "", lambda: "x", lambda: "y", lambda: "y:0", lambda: "y:-1",
    lambda: "y:99999999999999999999", lambda: "^y", lambda: "no such name", lambda: "off",
    lambda: "native", lambda: "\x00", lambda: "a\x00b", lambda: "\ud800", lambda: "\x1b[31mred",
    lambda: "\u202egnp", lambda: "a" * 100_000, lambda: "no://such/scheme", lambda: "://",
    lambda: "é/ü", lambda: "{}", lambda: "%s%n", lambda: b"", lambda: b"x", lambda: b"\xff\x00",
    lambda: bytearray(b"x"), lambda: memoryview(b"xyz")[::2], tuple, list, dict, set,
    lambda: [[]], lambda: [[], [1]], lambda: [None], lambda: ["x", 1], lambda: ("x",),
    lambda: {"x": None}, lambda: {1: 2}, lambda: {"x": {"y": []}}, lambda: {None: None},
    lambda: {"CPU": -1}, lambda: {"x": "y:0"}, lambda: {"x": np.zeros(3, np.float32)},
    lambda: frozenset({"x"}), object, lambda: object, lambda: int, lambda: len,
    lambda: lambda: None, lambda: _fails, lambda: iter([1]), lambda: (x for x in "ab"),
    lambda: range(10**12), lambda: slice(1), lambda: ..., lambda: NotImplemented,
    lambda: ValueError("x"), lambda: _nested(50), lambda: _nested(5000), _recursive,
    _recursive_dict,
)  # fmt: skip

_ARRAYS: Final[tuple[Callable[[], Any], ...]] = (
    lambda: np.zeros((), np.float32), lambda: np.zeros((0, 3), np.float32),
    lambda: np.arange(3, dtype=np.float32), lambda: np.full(3, np.nan, np.float32),
    lambda: np.arange(12.0)[::-3], lambda: np.arange(12.0).reshape(3, 4).T, _readonly,
    lambda: np.arange(3, dtype=">f4"), lambda: np.array([object(), None]),
    lambda: np.array(["a", "b\x00"]), lambda: np.array([b"\xff"]), lambda: np.zeros(2, "S0"),
    lambda: np.zeros(2, [("a", "i4"), ("b", "f8")]), lambda: np.zeros(2, "M8[s]"),
    lambda: np.zeros(2, "m8[ns]"), lambda: np.zeros(2, np.longdouble),
    lambda: np.zeros(2, np.clongdouble), lambda: np.zeros(2, np.float16),
    lambda: np.zeros(2, np.uint64) + (1 << 63), lambda: np.float32(1), lambda: np.str_("x"),
    lambda: np.broadcast_to(np.float32(1), (1 << 20, 1 << 20)), lambda: np.zeros((1,) * 64),
    lambda: np.ma.masked_array([1.0, 2.0], [True, False]), lambda: np.dtype("f4"),
    lambda: np.zeros(4, np.uint8).view(np.recarray), lambda: np.zeros(2, "V3"),
)  # fmt: skip


class Values:
    """Draws arguments; ``folder`` is the scratch folder, which is filled once."""

    def __init__(self, folder: Path) -> None:
        self.paths = _fill(folder)
        self.good: dict[str, Callable[[], Any]] = {}

    def draw(self, chance: random.Random, likely: Callable[[], Any] | None = None) -> Any:
        """One argument: ``likely`` in a third of cases, so that others of a call are reached."""
        if likely is not None and chance.random() < 0.34:
            return likely()
        match chance.randrange(8):
            case 0:
                return _path(chance, self.paths)
            case 1:
                return chance.choice(_ARRAYS)()
            case 2:
                return _Raising(*chance.sample(_METHODS, chance.randrange(1, 4)))
            case 3 if self.good:
                return self.good[chance.choice(sorted(self.good))]()
            case 4:
                return _junk(chance, self, 2)
            case _:
                return chance.choice(_SIMPLE)()


def _path(chance: random.Random, paths: list[str]) -> Any:
    text = chance.choice(paths)
    return chance.choice((str, Path, os.fsencode))(text)


def _junk(chance: random.Random, values: Values, depth: int) -> Any:
    """Containers of hostile things."""
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(_SIMPLE)()
    inner = [_junk(chance, values, depth - 1) for _ in range(chance.randrange(3))]
    match chance.randrange(3):
        case 0:
            return inner
        case 1:
            return tuple(inner)
        case _:
            keys = ("x", "y:0", "name", "CPU", 3, None, b"x")
            return {chance.choice(keys): value for value in inner}


def _clear(path: Path) -> None:
    """Remove what an earlier process has made of a file: calls write anything anywhere here."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _fill(folder: Path) -> list[str]:
    """Files of every kind that a path can name, all in ``folder``, which is the working one."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in {
        "empty": b"", "junk.pb": bytes(range(256)), "text.pbtxt": b"node { name: 'x' op: ",
        "junk.npz": b"PK\x03\x04", "a.so": b"\x7fELF" + bytes(100), "model.json": b"[[[",
        "saved_model.pb": b"\x08\x01\x12\x02\x0a\x00", "line\nbreak": b"x", "key.pub": b"untrusted",
    }.items():  # fmt: skip
        _clear(folder / name)
        (folder / name).write_bytes(data)
    _clear(folder / "a folder")
    (folder / "a folder").mkdir()
    special: dict[str, Callable[[Path], None]] = {
        "fifo": os.mkfifo,
        "loop": lambda path: os.symlink("loop", path),
        "null": lambda path: os.mknod(path, 0o20666, os.makedev(1, 3)),
    }
    for name, make in special.items():
        if not os.path.lexists(folder / name):
            try:
                make(folder / name)
            except OSError as error:  # only the administrator makes devices
                print(f"no {name}: {error}", flush=True)
    names = [path.name for path in sorted(folder.iterdir())]
    return [*names, ".", "missing", "missing/deep", "empty/below", "a" * 300, "out.pb", "out.pbtxt"]
