"""``XlaCallModule``: a program that JAX has exported, compiled and called as it is.

Where nobody has asked for the backend ``pjrt``, it is computed op by op with NumPy.

``jax2tf`` and Keras on JAX write such nodes. The program is a portable artifact of StableHLO, whose
``main`` takes the node's inputs; a program for several platforms takes the number of one before
them. A program with symbolic dimensions is written again for the shapes that it is called with.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from drystone_base.core.errors import DrystoneError, KernelError
from drystone_base.kernels import Array, Call, find_kernel, kernel
from drystone_pjrt.api.client import Client, LoadedProgram
from drystone_pjrt.libraries.opened import client
from drystone_pjrt.portable.bytecode import Unreadable
from drystone_pjrt.portable.evaluated import Evaluator
from drystone_pjrt.portable.static import ShapeMismatch, is_symbolic, static_program, whole_program

__all__ = ["OP", "call_module", "register"]

OP: Final = "XlaCallModule"
_KEPT: Final = 64
"""Programs that are kept compiled, those that were used last."""
_REMEDY: Final = "export the model again, with static shapes and for the platform of the plugin"

Shapes = tuple[tuple[int, ...], ...]


class _Compiled(NamedTuple):
    """A program; ``shapes``: of its outputs, where the node does not say them."""

    loaded: LoadedProgram
    turn: threading.Lock
    shapes: list[tuple[int, ...]] | None


_PROGRAMS: Final[OrderedDict[tuple[str | bytes, Shapes], _Compiled]] = OrderedDict()
_LOCK: Final = threading.Lock()
_COMPILES: Final = threading.Event()
"""Set once the backend has been asked for."""


def register() -> None:
    """Make the kernel known, once, and have it compile by the plugin from now on."""
    _COMPILES.set()
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
    if not _COMPILES.is_set():
        return _evaluated(call, [*_platform(call, "CPU"), *args])
    try:
        used = client()
        arrays = [*_platform(call, used.platform), *args]
        made = _compiled(call, used, arrays)
        shapes = _stated(call) if made.shapes is None else made.shapes
        results = [np.empty(s, t.np) for s, t in zip(shapes, call.attrs["Tout"], strict=True)]
        _run(used, made, arrays, results)
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


def _evaluated(call: Call, arrays: list[Array]) -> list[Array]:
    """The program's outputs, without a compiler."""
    try:
        return copy(_evaluator(_bytes(call.attrs["module"]))).run(arrays)
    except ShapeMismatch as error:
        _fail_for_shapes(call, [array.shape for array in arrays], error)
    except Unreadable as error:
        call.fail(
            "a program must consist of operations that are known here, or be compiled",
            found=str(error),
            needed="an operation that has a counterpart in NumPy",
            remedy='pip install xla-cpu-pjrt, and run it with SessionConfig(subgraphs="pjrt")',
            status="UNIMPLEMENTED",
            inner=error,
        )


@lru_cache(maxsize=_KEPT)
def _evaluator(code: bytes) -> Evaluator:
    with whole_program():
        return Evaluator(code)


def _fail_for_shapes(call: Call, shapes: Sequence[tuple[int, ...]], error: Exception) -> NoReturn:
    call.fail(
        "inputs have the shapes that the program was exported for",
        found=", ".join(str(list(shape)) for shape in shapes),
        needed=str(error),
        remedy="feed inputs of such shapes, or export the model again for others",
        inner=error,
    )


def _stated(call: Call) -> list[tuple[int, ...]]:
    """The shapes of outputs, of which the node has a list."""
    shapes: list[Any] = call.attrs["Sout"]
    known = all(shape is not None and min(shape, default=0) >= 0 for shape in shapes)
    check = "a program without symbolic dimensions gives outputs of static shapes"
    call.require(known, check, found=shapes, needed="sizes", remedy=_REMEDY)
    return [tuple(shape) for shape in shapes]


def _platform(call: Call, platform: str) -> list[Array]:
    """The number of the platform, for a program that is for several."""
    names = [_bytes(name).decode().upper() for name in call.attrs.get("platforms") or ()]
    ours, unchecked = platform.upper(), call.attrs.get("disabled_checks") or ()
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


def _compiled(call: Call, used: Client, arrays: Sequence[Array]) -> _Compiled:
    """The program, compiled when it is first called, or first called with such shapes."""
    code: str | bytes = call.attrs["module"]
    symbolic = _symbolic(code)
    if symbolic is None:  # not to be read: it is one if the node leaves sizes open
        symbolic = any(s is None or min(s, default=0) < 0 for s in call.attrs["Sout"])
    shapes = tuple(array.shape for array in arrays) if symbolic else ()
    key = code, shapes
    with _LOCK:
        if key not in _PROGRAMS:
            _PROGRAMS[key] = _made(call, used, _bytes(code), shapes)
            while len(_PROGRAMS) > _KEPT:
                _PROGRAMS.popitem(last=False)
        _PROGRAMS.move_to_end(key)
        return _PROGRAMS[key]


@lru_cache(maxsize=_KEPT)
def _symbolic(code: str | bytes) -> bool | None:
    """Whether a program has symbolic dimensions; None for one that cannot be read."""
    try:
        return is_symbolic(_bytes(code))
    except Unreadable:
        return None


def _made(call: Call, used: Client, code: bytes, shapes: Shapes) -> _Compiled:
    """The program, which is written again for these shapes where there are any."""
    if not shapes:
        return _Compiled(used.compile(code), threading.Lock(), None)
    try:
        static = static_program(code, shapes)
    except ShapeMismatch as error:
        _fail_for_shapes(call, shapes, error)
    except Unreadable as error:
        call.fail(
            "a program with symbolic dimensions is written again for the shapes of its inputs",
            found=str(error),
            needed="operations whose shapes follow from those of the inputs",
            remedy="export the model again with static shapes (jax2tf.convert without "
            "polymorphic_shapes, or Keras with an input_signature without None)",
            inner=error,
        )
    made = used.compile(static.text.encode())
    return _Compiled(made, threading.Lock(), [kind.shape for kind in static.results])


def _run(used: Client, made: _Compiled, arrays: list[Array], results: list[Array]) -> None:
    arguments = [used.array(value) for value in arrays]
    try:
        with made.turn:
            made.loaded.run(arguments, results)
    finally:
        for argument in arguments:
            argument.close()
