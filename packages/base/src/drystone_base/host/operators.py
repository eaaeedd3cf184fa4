"""Operators in the host library, whose executables the native executor calls without Python.

See ``drystone_host/subgraph.h``. Backends of plugins have such executables; the host's own ones are
plans.
"""

from __future__ import annotations

import ctypes as c
import weakref
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.buffer import BufferStruct, filled
from drystone_base.host.status import Status
from drystone_base.host.tensors import HostTensor, adopt

__all__ = ["HostExecutable", "HostOperator", "PlanExecutable", "plan_operator"]

Array = np.ndarray[Any, Any]
_INT64: Final = as_dtype("int64")
_new = declare(
    "DS_NewOperator", c.c_int64, c.c_void_p, c.c_void_p, c.c_int32, c.c_void_p, c.c_int32,
    c.c_void_p, c.c_int32, c.c_void_p,
)  # fmt: skip
_delete = declare("DS_DeleteOperator", None, c.c_int64)
_add = declare(
    "DS_AddExecutable", c.c_int64, c.c_int64, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p,
    c.c_void_p,
)  # fmt: skip
_expect = declare("DS_ExpectShapes", None, c.c_int64, c.c_int64, c.c_void_p, c.c_size_t, c.c_void_p)
_remove = declare("DS_RemoveExecutable", None, c.c_int64, c.c_int64)
_run = declare("DS_RunOperator", c.c_ubyte, c.c_int64, c.c_void_p, c.c_int32, c.c_void_p, c.c_int32)
_describe = declare("DS_DescribeExecutable", None, c.c_int64, c.c_int64, c.c_void_p, c.c_void_p)


_plan_backend = declare("DS_PlanBackend", c.c_void_p)
_plan_fns = declare("DS_PlanFns", c.c_void_p)
_new_plan = declare("DS_NewPlanExecutable", c.c_void_p, c.c_void_p, c.c_void_p)
_delete_plan = declare("DS_DeletePlanExecutable", None, c.c_void_p)


class _PlanDef(c.Structure):
    """``DS_PlanExecutableDef``."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("plan", c.POINTER(BufferStruct)),
        ("constants", c.c_void_p),
        ("num_constants", c.c_int32),
        ("feeds", c.c_void_p),
        ("num_feeds", c.c_int32),
        ("weights", c.c_void_p),
        ("num_weights", c.c_int32),
        ("threads", c.c_int32),
        ("inter_op_threads", c.c_int32),
    ]


class _State(c.Structure):
    """``DS_ExecutableState``."""

    _fields_ = [
        ("struct_size", c.c_size_t),
        ("runs", c.c_int64),
        ("packs", c.c_int64),
        ("used", c.c_uint64),
        ("is_alive", c.c_ubyte),
        ("arena", c.c_int64),
    ]


class HostState(NamedTuple):
    """Facts about an executable; ``failure`` is why it failed, or None.

    ``arena``: bytes that the runs of a plan share.
    """

    runs: int
    packs: int
    used: int
    failure: HostError | None
    arena: int


class HostOperator:
    """An operator of one region; ``backend`` and ``fns`` are the addresses of its structs."""

    def __init__(
        self,
        backend: int,
        fns: int,
        input_types: Sequence[DType],
        weights: Sequence[int],
        output_types: Sequence[DType],
    ) -> None:
        self.types, self.outputs = list(input_types), len(output_types)
        places = (c.c_int32 * len(weights))(*weights)
        numbers = (c.c_int * len(output_types))(*(t.number for t in output_types))
        with Status("an operator of a region cannot be made") as status:
            self.number: int = _new(
                backend, fns, len(self.types), places, len(weights), numbers, self.outputs,
                status.pointer,
            )  # fmt: skip
        weakref.finalize(self, _delete, self.number)

    def add(
        self,
        handle: int,
        shapes: Sequence[Sequence[int]],
        versions: Sequence[int],
        results: Sequence[Sequence[int] | None] = (),
    ) -> HostExecutable:
        """Give it an executable for inputs of these shapes, packed from weights of ``versions``.

        ``results``: what shapes its outputs must have, below 0 for what is unknown.
        """
        flat = [k for shape in shapes for k in (len(shape), *shape)]
        array, packed = (c.c_int64 * len(flat))(*flat), (c.c_int64 * len(versions))(*versions)
        with Status("an executable cannot be used") as status:
            number = _add(self.number, handle, array, len(flat), packed, status.pointer)
        made = HostExecutable(self, number)
        if results:
            flat = [k for one in results for k in ((-1,) if one is None else (len(one), *one))]
            array = (c.c_int64 * len(flat))(*flat)
            with Status("the shapes of an executable's outputs cannot be stated") as status:
                _expect(self.number, number, array, len(flat), status.pointer)
        return made

    def run(self, inputs: Sequence[Array], versions: Sequence[int]) -> list[Array] | None:
        """The outputs; None where no executable computes them."""
        lent = [HostTensor.from_numpy(a, t) for a, t in zip(inputs, self.types, strict=True)]
        lent += [HostTensor.from_numpy(np.array(v, np.int64), _INT64) for v in versions]
        handles = (c.c_void_p * len(lent))(*(tensor.handle for tensor in lent))
        results = (c.c_void_p * self.outputs)()
        if not _run(self.number, handles, len(lent), results, self.outputs):
            return None
        return [adopt(handle) for handle in results if handle]


class HostExecutable:
    """An executable of an operator, which is destroyed with this object."""

    def __init__(self, operator: HostOperator, number: int) -> None:
        self.operator, self.number = operator, number
        self._end = weakref.finalize(self, _remove, operator.number, number)

    def close(self) -> None:
        """Destroy it, after the call that is under way."""
        self._end()

    def state(self) -> HostState:
        """How often it ran and was packed, and whether it has failed."""
        found = _State(struct_size=c.sizeof(_State))
        failure: HostError | None
        try:
            with Status("an executable failed") as status:
                _describe(self.operator.number, self.number, c.byref(found), status.pointer)
            failure = None
        except HostError as error:
            failure = error
        return HostState(found.runs, found.packs, found.used, failure, found.arena)


def plan_operator(
    inputs: Sequence[DType], weights: Sequence[int], outputs: Sequence[DType]
) -> HostOperator:
    """An operator whose executables are plans: :class:`PlanExecutable`."""
    return HostOperator(_plan_backend(), _plan_fns(), inputs, weights, outputs)


class PlanExecutable:
    """A plan as an executable, until an operator takes it over.

    ``plan``: a serialized PlanDef, with its constants beside it. ``feeds``: for each feed of the
    plan the number of the region's input; ``weights``: which feeds are values of variables.
    Raises ``HostError``.
    """

    def __init__(
        self,
        plan: bytes,
        constants: Sequence[tuple[Array, DType]],
        feeds: Sequence[int],
        weights: Sequence[int],
        threads: int = 0,
    ) -> None:
        lent = [HostTensor.from_numpy(array, dtype) for array, dtype in constants]
        held = (c.c_void_p * len(lent))(*(tensor.handle for tensor in lent))
        places = (c.c_int32 * len(feeds))(*feeds)
        numbers = (c.c_int32 * len(weights))(*weights)
        with filled(plan) as buffer, Status("a plan cannot be loaded") as status:
            described = _PlanDef(
                c.sizeof(_PlanDef), c.cast(buffer, c.POINTER(BufferStruct)),
                c.cast(held, c.c_void_p), len(lent), c.cast(places, c.c_void_p), len(feeds),
                c.cast(numbers, c.c_void_p), len(weights), threads, 0,
            )  # fmt: skip
            self._handle: int | None = _new_plan(c.byref(described), status.pointer)

    def __del__(self, delete: Any = _delete_plan) -> None:  # at exit modules are emptied first
        if getattr(self, "_handle", None):
            delete(self._handle)

    def release(self) -> int:
        """Its address, which is the caller's from now on."""
        found, self._handle = self._handle, None
        assert found is not None, "it is released once"
        return found
