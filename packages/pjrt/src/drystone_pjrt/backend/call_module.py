"""``XlaCallModule``: a program that JAX has exported, compiled and called as it is.

``jax2tf`` and Keras on JAX write such nodes. The program is a portable artifact of StableHLO, whose
``main`` takes the node's inputs; a program for several platforms takes the number of one before
them. Shapes must be static.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.errors import DrystoneError, KernelError
from drystone_base.kernels import Array, Call, find_kernel, kernel
from drystone_pjrt.api.client import Client, LoadedProgram
from drystone_pjrt.libraries.opened import client

__all__ = ["OP", "register"]

OP: Final = "XlaCallModule"
_KEPT: Final = 64
"""Programs that are kept compiled, those that were used last."""
_REMEDY: Final = "export the model again, with static shapes and for the platform of the plugin"


class _Compiled(NamedTuple):
    loaded: LoadedProgram
    turn: threading.Lock


_PROGRAMS: Final[OrderedDict[bytes, _Compiled]] = OrderedDict()
_LOCK: Final = threading.Lock()


def register() -> None:
    """Make the kernel known, once."""
    with _LOCK:
        if find_kernel(OP) is None:
            kernel(OP)(call_module)


def call_module(call: Call, *args: Array) -> list[Array]:
    """The program's outputs.

    Raises ``KernelError`` for what a program must not need, and where the plugin fails.
    """
    for name in ("function_list", "dim_args_spec", "has_token_input_output"):
        given = call.attrs.get(name)
        check = "a program is called without functions of the graph, without symbols and tokens"
        call.require(not given, check, found=f"{name}: {given!r}", remedy=_REMEDY)
    results = [np.empty(s, t.np) for s, t in zip(_shapes(call), call.attrs["Tout"], strict=True)]
    try:
        used = client()
        arrays = [*_platform(call, used), *args]
        _run(used, _compiled(used, _bytes(call.attrs["module"])), arrays, results)
    except DrystoneError as error:
        if isinstance(error, KernelError):
            raise
        call.fail(
            "the program of the node must be compiled and run by the PJRT plugin",
            found=f"{error.what}: {error.found}",
            needed="a program that the plugin knows, and inputs of its shapes",
            remedy=_REMEDY,
            status=error.status,
            inner=error,
        )
    return results


def _shapes(call: Call) -> list[tuple[int, ...]]:
    """Of the outputs."""
    shapes: list[Any] = call.attrs["Sout"]
    known = all(shape is not None and min(shape, default=0) >= 0 for shape in shapes)
    check = "the shapes of a program's outputs must be static"
    call.require(known, check, found=shapes, needed="sizes", remedy=_REMEDY)
    return [tuple(shape) for shape in shapes]


def _platform(call: Call, used: Client) -> list[Array]:
    """The number of the plugin's platform, for a program that is for several."""
    names = [_bytes(name).decode().upper() for name in call.attrs.get("platforms") or ()]
    ours, unchecked = used.platform.upper(), call.attrs.get("disabled_checks") or ()
    if len(names) < 2:
        fits = not names or ours in names or any(_bytes(c) == b"platform" for c in unchecked)
        call.require(fits, "a program is for the plugin's platform", found=names, needed=ours,
                     remedy=_REMEDY)  # fmt: skip
        return []
    call.require(ours in names, "a program is for the plugin's platform", found=names, needed=ours,
                 remedy=_REMEDY)  # fmt: skip
    return [np.asarray(names.index(ours), np.int32)]


def _bytes(value: Any) -> bytes:
    """An attribute that is text, which may hold any bytes."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else bytes(value)


def _compiled(used: Client, code: bytes) -> _Compiled:
    """The program, compiled when it is first called."""
    key = hashlib.sha256(code).digest()
    with _LOCK:
        if key not in _PROGRAMS:
            _PROGRAMS[key] = _Compiled(used.compile(code), threading.Lock())
            while len(_PROGRAMS) > _KEPT:
                _PROGRAMS.popitem(last=False)
        _PROGRAMS.move_to_end(key)
        return _PROGRAMS[key]


def _run(used: Client, made: _Compiled, arrays: list[Array], results: list[Array]) -> None:
    arguments = [used.array(value) for value in arrays]
    try:
        with made.turn:
            made.loaded.run(arguments, results)
    finally:
        for argument in arguments:
            argument.close()
