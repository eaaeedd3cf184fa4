"""Compilers of clusters: who turns a function into something faster, and what they made so far.

A compiler gets the body of a function and the dtypes and shapes of its arguments, and gives a
callable. It works beside the runs: until it is done, and where it fails, the function itself runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from drystone_base.core.detached import LOOKS
from drystone_base.core.printable import warn
from drystone_base.graph import Body
from drystone_base.modules import Registry

__all__ = ["CompilerWarning", "Executables", "Given", "find_compiler", "register_compiler"]

Array: TypeAlias = "np.ndarray[Any, Any]"
Executable: TypeAlias = "Callable[[Sequence[Array]], Sequence[Array]]"
"""Outputs of a compiled function for inputs of the dtypes and shapes that it was compiled for."""
Compile: TypeAlias = "Callable[[Body, Sequence[Given]], Executable]"

_MOST: Final = 16
"""Sets of shapes that one function is compiled for."""
_COMPILERS: Final[Registry[Compile]] = Registry("compiler")


class CompilerWarning(UserWarning):
    """A cluster could not be compiled, or failed as it ran; its function runs instead."""


@dataclass(frozen=True)
class Given:
    """An argument that a function is compiled for."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def register_compiler(name: str, compile_body: Compile, origin: str = "the program") -> None:
    """Make a compiler known; raises ``PluginError`` (``already-registered``) for a taken name."""
    _COMPILERS.register(name, compile_body, origin)


def find_compiler(name: str) -> Compile | None:
    """The compiler of that name, or None."""
    return _COMPILERS.find(name)


class _Compiled:
    """One function for one set of shapes: being compiled, ready, or given up."""

    __slots__ = ("done", "executable", "failure")

    def __init__(self) -> None:
        self.done = threading.Event()
        self.executable: Executable | None = None
        self.failure: Exception | None = None


class Executables:
    """What a session has compiled. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, _Compiled] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def ask(
        self, function: str, library: str, compiler: str, body: Callable[[], Body],
        args: Sequence[Array], *, wait: bool,
    ) -> tuple[str, bool]:  # fmt: skip
        """A key for a function with such arguments, and whether it can be run; starts compiling.

        ``library`` tells functions of one name apart. With ``wait`` it is compiled when this
        returns; raises what the compiler raised.
        """
        given = [Given(a.dtype, a.shape) for a in args]
        key = f"{compiler}:{library}:{function}:{given}"
        with self._lock:
            found = self._found.get(key)
            is_new = found is None
            if found is None:
                counted = (library, function)
                if self._counts.get(counted, 0) >= _MOST:
                    return key, False
                self._counts[counted] = self._counts.get(counted, 0) + 1
                found = self._found[key] = _Compiled()
        if is_new:
            work = (found, function, compiler, body, given)
            thread = threading.Thread(target=_compile, args=work, name=f"compile {function}")
            thread.daemon = True  # the end of the process does not wait for it
            thread.start()
        if wait:
            while not found.done.wait(LOOKS):
                pass
            if found.failure is not None:
                raise found.failure
        return key, found.executable is not None

    def run(self, key: str, function: str, args: Sequence[Array]) -> Sequence[Array] | None:
        """What a compiled function gives; None, with one warning, where it fails."""
        found = self._found[key]
        executable = found.executable
        if executable is None:
            return None
        try:
            return executable(args)
        except Exception as error:
            found.executable, found.failure = None, error
            _warn(function, "failed as it ran", error)
            return None


def _compile(
    found: _Compiled, function: str, compiler: str, body: Callable[[], Body], given: list[Given]
) -> None:
    try:
        compile_body = find_compiler(compiler)
        if compile_body is None:
            raise LookupError(f"there is no compiler {compiler!r}")
        found.executable = compile_body(body(), given)
    except Exception as error:
        found.failure = error
        _warn(function, "cannot be compiled", error)
    finally:
        found.done.set()


def _warn(function: str, what: str, error: Exception) -> None:
    warn(
        f"cluster {function!r} {what}, its function runs instead: {type(error).__name__}: {error}",
        CompilerWarning,
        stacklevel=3,
    )
