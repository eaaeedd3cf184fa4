"""Calls into the function library: each function is lowered once per set of attributes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.executor.plan import Plan, lower
from drystone_base.graph import FunctionLibrary, Graph, validate
from drystone_base.kernels import Array, Call
from drystone_base.ops.attrs import FunctionRef
from drystone_base.state.runtime import Runtime

if TYPE_CHECKING:
    from drystone_base.executor.stated_shapes import GivenToFunctions

__all__ = ["FunctionCaller", "call_function"]


def call_function(call: Call, *args: Array) -> list[Array]:
    """Kernel of a node whose op is the name of a function of the graph's library."""
    return call.runtime.invoke(FunctionRef(call.op, call.attrs), args)


class FunctionCaller:
    """Runs functions of one library; lowered plans are kept.

    ``place``, if set, places the nodes of the body of the function that it is told for the native
    executor, and gives the types of the devices of plugins. ``given``, if set, says what is
    known of the arguments of functions.
    """

    def __init__(self, library: FunctionLibrary) -> None:
        self.library = library
        self.place: Callable[[Graph, str], Collection[str]] | None = None
        self.given: GivenToFunctions | None = None
        self._plans: dict[tuple[str, str, bool], Plan] = {}
        self._types: dict[str, list[DType]] = {}
        self._lock = threading.Lock()

    def plan(self, function: FunctionRef, *, native: bool = False) -> Plan:
        """The lowered body; raises as :func:`lower` does, and ``unknown-function``."""
        attrs = repr(sorted(function.attrs.items())) if function.attrs else ""
        key = (function.name, attrs, native)
        with self._lock:
            if key not in self._plans:
                body = self.library[function.name].body(self.library, function.attrs)
                fetches = [result.inputs[0] for result in body.results]
                validate(body.graph, body.results)  # they give what the signature says
                place = self.place if native else None
                types = () if place is None else place(body.graph, function.name)
                given = None if self.given is None else partial(self.given.of, function)
                self._plans[key] = lower(
                    body.graph,
                    fetches,
                    body.effects,
                    [(arg, 0) for arg in body.args],
                    call_function=call_function,
                    native=native,
                    device_types=types,
                    given=given,
                )
            return self._plans[key]

    def __call__(
        self, runtime: Runtime, function: FunctionRef, args: Sequence[Array]
    ) -> list[np.ndarray[Any, Any]]:
        """Outputs of ``function`` for ``args``; raises ``BadRequest`` for a wrong count."""
        plan = self.plan(function)
        if len(args) != len(plan.feeds):
            raise BadRequest(
                f"function {function.name!r} is called with the wrong number of arguments",
                check="a call must give every argument of the signature",
                found=len(args),
                needed=len(plan.feeds),
                remedy="the graph is corrupt: export the model again",
                code="bad-function-call",
            )
        self._check_types(function, args)
        from drystone_base.executor import reference

        try:
            if not plan.has_plugins:
                return reference.run(plan, args, runtime)
            from drystone_base.host.memory import aligned_arrays

            with aligned_arrays():
                return reference.run(plan, args, runtime)
        except DrystoneError as error:
            error.passes(function=function.name)
            raise

    def _check_types(self, function: FunctionRef, args: Sequence[Array]) -> None:
        """Raise ``BadRequest`` for arguments of other dtypes than the function's."""
        for k, (dtype, value) in enumerate(zip(self._arguments(function), args, strict=False)):
            if isinstance(value, np.ndarray) and not _is_of(value, dtype):
                raise BadRequest(
                    f"function {function.name!r} is called with an argument of another dtype",
                    check="a call must give arguments of the dtypes of the signature",
                    found=f"argument {k} of {value.dtype}",
                    needed=dtype,
                    remedy="the graph is corrupt: export the model again",
                    code="bad-function-call",
                )

    def _arguments(self, function: FunctionRef) -> list[DType]:
        if not function.attrs and function.name in self._types:
            return self._types[function.name]
        signature = self.library[function.name].signature
        defaults = {n: a.default for n, a in signature.attrs.items() if a.has_default}
        try:
            found = signature.input_types(defaults | dict(function.attrs))
        except (DrystoneError, KeyError):
            found = []
        if not function.attrs:
            self._types[function.name] = found
        return found


def _is_of(value: Array, dtype: DType) -> bool:
    """Whether an array may be of a dtype: of objects, strings are told from handles."""
    if value.dtype != dtype.np:
        return False
    first = value.flat[0] if dtype.is_object and value.size else None
    return first is None or isinstance(first, bytes) == (dtype.base is STRING)
