"""Kernels of plugins, as the executor calls them: one object per node of a plan.

A :class:`PluginKernel` takes and gives arrays as a reference kernel does. Inputs are lent, outputs
taken over (:mod:`drystone_base.host.tensors`); variables go along by :mod:`.variables`. Several
threads may run one kernel at the same time, as the interface for plugins says.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import HostError, KernelError
from drystone_base.core.payloads import CHECK, KERNEL, LIBRARY, Value, at_node
from drystone_base.executor.loans import Loans, variable_of
from drystone_base.executor.meeting_place import MeetingPlace, Thunk
from drystone_base.executor.plugin_failures import failed_check, plugin_failure
from drystone_base.executor.selection import Candidate, chosen_kernel
from drystone_base.executor.stated_shapes import described
from drystone_base.host._lib import declare
from drystone_base.host.buffer import BufferStruct, filled
from drystone_base.host.status import Status, said_by
from drystone_base.host.tensors import (
    adopt,
    adopt_as,
    describe,
    forget,
    lend,
    released,
    settle,
    shape_of,
)
from drystone_base.ops.attrs import FunctionRef
from drystone_base.state.rendezvous import asked_for
from drystone_base.state.variables import ResourceHandle, Step, Variable, handle_array

if TYPE_CHECKING:
    from drystone_base.graph import Node, Output
    from drystone_base.kernels import Call, Kernel
    from drystone_base.ops.defs import OpDef

__all__ = [
    "PluginKernel",
    "chosen_kernel",  # released packages, drystone-subgraph 0.1.0 among them, take it from here
    "kernel_by",
]


class KernelCall(ctypes.Structure):
    """``DS_KernelCall``."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("step_id", ctypes.c_int64),
        ("frame_id", ctypes.c_uint64),
        ("iter_id", ctypes.c_int64),
        ("deadline_ms", ctypes.c_int64),
        ("graph_def_version", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("function_library", ctypes.POINTER(BufferStruct)),
        ("config", ctypes.c_void_p),
        ("container", ctypes.c_char_p),
        ("stream", ctypes.c_void_p),
        ("overwritable", ctypes.c_void_p),
        ("input_variables", ctypes.c_void_p),
        ("output_variables", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("allocate_context", ctypes.c_void_p),
        ("states", ctypes.c_void_p),
        ("rendezvous", Thunk),
    )


_NO_DETAILS: Final[Mapping[str, Value]] = {}
_CALL_SIZE: Final = ctypes.sizeof(KernelCall)
_HEAD: Final = 5
_DIMS: Final = 16
_TOKENS: Final = 16
_HOLDERS: Final = frozenset({"Const", "ReadVariableOp", "Variable", "VariableV2"})

_new = declare(
    "DS_NewKernel", ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p,
    ctypes.c_char_p, ctypes.c_void_p,
)  # fmt: skip
_delete = declare("DS_DeleteKernel", None, ctypes.c_void_p)
_output_type = declare("DS_KernelOutputType", ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_run = declare(
    "DS_RunKernel", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
    ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
_run_on_arrays = declare(
    "DS_RunKernelOnArrays", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p,
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
_end_step = declare("DS_EndStep", ctypes.c_int, ctypes.c_int64)
_delete_tensor = declare("TF_DeleteTensor", None, ctypes.c_void_p)
_new_status = declare("TF_NewStatus", ctypes.c_void_p, brief=True)
_delete_status = declare("TF_DeleteStatus", None, ctypes.c_void_p, brief=True)
_code = declare("TF_GetCode", ctypes.c_int, ctypes.c_void_p, brief=True)
_message = declare("TF_Message", ctypes.c_char_p, ctypes.c_void_p, brief=True)


def kernel_by(
    chosen: Candidate, node: Node, definition: OpDef, fed: Container[Output], stated: Sequence[int]
) -> Kernel:
    """The kernel that was chosen for a node, here or in the process of its plugin.

    ``fed``: outputs whose values the caller of the plan gives; ``stated``: the shapes that it must
    keep to. Raises ``KernelError`` (``plugin-kernel-failed``) when the plugin refuses the node.
    """
    if chosen.isolated:
        from drystone_base.plugins.isolation_kernels import IsolatedKernel

        return IsolatedKernel(chosen, node, definition, described(node, stated))
    immutable = tuple(_is_immutable(output, fed) for output in node.inputs)
    return PluginKernel(chosen, node, definition, node.full_attrs(), immutable, stated)


def _is_immutable(output: Output, fed: Container[Output]) -> bool:
    """Whether a value is a constant's or a variable's, which are replaced and never changed."""
    seen: set[Output] = set()  # a cycle is an error, found later
    while output[0].op == "Identity" and output not in fed and output not in seen:
        seen.add(output)
        output = output[0].inputs[0]
    return output[0].op in _HOLDERS and output not in fed


class PluginKernel:
    """The kernel of one node; the plugin's object lives as long as this one."""

    __slots__ = (
        "_answer", "_functions", "_handle", "_immutable", "_in_array", "_out_array", "_plain",
        "_version", "candidate", "inputs", "node", "outputs",
    )  # fmt: skip

    def __init__(
        self,
        candidate: Candidate,
        node: Node,
        definition: OpDef,
        attrs: Mapping[str, Any],
        immutable: tuple[bool, ...] = (),
        stated: Sequence[int] = (),
    ) -> None:
        self.candidate = candidate
        self.node = node.name
        self._handle: int | None = None
        self._handle = self._create(described(node, stated), definition)
        self.inputs = definition.input_types(attrs)
        self.outputs = definition.output_types(attrs)
        self._in_array = ctypes.c_void_p * len(self.inputs)
        self._out_array = ctypes.c_void_p * len(self.outputs)
        self._answer = ctypes.c_int64 * (1 + len(self.outputs) * (_HEAD + _DIMS) + _TOKENS)
        self._plain = not any(_needs_care(d) for d in [*self.inputs, *self.outputs])
        self._version = node.graph.producer
        self._functions = _functions_of(node, attrs)
        self._immutable = immutable or (False,) * len(self.inputs)

    def __del__(self, delete: Any = _delete) -> None:
        delete(self._handle)

    def __repr__(self) -> str:
        return f"<{self.origin} for {self.node!r}>"

    @property
    def origin(self) -> str:
        """Which kernel of which library it is."""
        return f"kernel {self.candidate.name!r} of {self.candidate.library}"

    def _create(self, node_def: bytes, definition: OpDef) -> int:
        op_def = definition.to_proto().SerializeToString()
        try:
            with (
                filled(node_def) as node_bytes,
                filled(op_def) as op_bytes,
                Status("a kernel cannot be made") as status,
            ):
                made: int = _new(self.candidate.id, node_bytes, op_bytes, None, status.pointer)
        except HostError as error:
            raise self._failure(error.sentence, error.status, error.details, making=True) from error
        return made

    # ---- running -------------------------------------------------------------------------------

    def __call__(self, call: Call, *values: Any) -> list[Any]:
        """The outputs of the node; raises ``KernelError`` with the plugin's status and message."""
        facts = self._facts(call)
        return self._run(facts, values) if self._plain else self._run_with_care(facts, values)

    def _facts(self, call: Call) -> KernelCall:
        """What the kernel may know of the call; one struct serves all calls of a step."""
        runtime = call.runtime
        step = runtime.step.resources.get(_StepEnd)
        if step is None:
            step = runtime.step.resources[_StepEnd] = _StepEnd(runtime.step)
        if self.candidate.library in asked_for():
            step.meet(runtime.step)
        facts: KernelCall = step.facts
        facts.graph_def_version = self._version
        facts.function_library = self._functions
        if runtime.deadline is not None:
            facts.deadline_ms = max(1, int((runtime.deadline - time.monotonic()) * 1000))
        return facts

    def _run(self, facts: KernelCall, values: Sequence[Any]) -> list[Any]:
        words = self._describe(values)
        answer, status = self._answer(), _status()
        code = _run_on_arrays(
            self._handle, ctypes.byref(facts), (ctypes.c_int64 * len(words))(*words), len(values),
            answer, len(answer), status,
        )  # fmt: skip
        count = 0 if code else len(self.outputs)
        end = 1 + count * (_HEAD + _DIMS)
        try:
            if code:
                raise self._reported(status)
            return _adopt_all(answer, count)
        finally:
            released(answer[end : end + answer[0]])

    def _describe(self, values: Sequence[Any]) -> list[int]:
        words: list[int] = []
        for k, value in enumerate(values):
            try:
                describe(value, self.inputs[k], words, immutable=self._immutable[k])
            except HostError as error:
                forget(words)
                raise self._refused(k, error) from error
        return words

    def _run_with_care(self, facts: KernelCall, values: Sequence[Any]) -> list[Any]:
        """The same for a node with references or resources among its inputs or outputs."""
        found = [v for v in map(variable_of, values) if v is not None]
        inputs, variables = self._in_array(), self._in_array()
        outputs, returned = self._out_array(), self._out_array()
        facts.input_variables = ctypes.addressof(variables)
        facts.output_variables = ctypes.addressof(returned)
        try:
            with Loans(found) as loans:
                for k, value in enumerate(values):
                    self._cross(k, value, loans, inputs, variables)
                self._compute(facts, inputs, outputs)
                return self._take(outputs, returned, loans)
        finally:
            facts.input_variables = facts.output_variables = None
            _delete_all(inputs)
            settle()

    def _compute(self, facts: KernelCall, inputs: Any, outputs: Any) -> None:
        status = _status()
        _run(self._handle, ctypes.byref(facts), inputs, len(inputs), outputs, len(outputs), status)
        if _code(status):
            raise self._reported(status)

    def _cross(self, k: int, value: Any, loans: Loans, inputs: Any, variables: Any) -> None:
        """Give one input: a reference, a resource or a value."""
        dtype = self.inputs[k]
        variable = variable_of(value) if _needs_care(dtype) else None
        try:
            if variable is None:
                inputs[k] = lend(value, dtype.base)
            elif dtype.ref:
                variables[k] = loans[variable].handle
            else:
                inputs[k] = loans[variable].resource()
        except HostError as error:
            raise self._refused(k, error) from error

    def _take(self, outputs: Any, returned: Any, loans: Loans) -> list[Any]:
        """The outputs as values of the executor; every handle is used up."""
        variables = [None if handle is None else loans.find(handle) for handle in returned]
        found: list[Any] = []
        try:
            for k, dtype in enumerate(self.outputs):
                handle, outputs[k] = outputs[k], None
                if dtype is dtypes.RESOURCE:
                    found.append(self._resource(handle, loans))
                elif dtype.ref:
                    found.append(_by_reference(handle, variables[k], self.node, dtype))
                else:
                    found.append(adopt(handle))
        finally:
            _delete_all(outputs)
        return found

    def _resource(self, handle: int, loans: Loans) -> np.ndarray[Any, Any]:
        variable = loans.of_resource(handle)
        _delete_tensor(handle)
        if variable is None:
            raise self._failure(
                "a resource output that is none of the node's inputs", "UNIMPLEMENTED"
            )
        return handle_array(ResourceHandle("variable", variable.name, "", variable))

    # ---- failures ------------------------------------------------------------------------------

    def _reported(self, status: int) -> KernelError:
        """What a run's status says."""
        said = said_by(status)
        if CHECK not in said.payloads:
            return self._failure(said.found, said.status, said.details)
        failure = failed_check(f"node {self.node!r} ({self.candidate.op})", said)
        of_kernel = {KERNEL: self.candidate.name, LIBRARY: self.candidate.library}
        failure.add_details({**at_node(self.node, self.candidate.op), **of_kernel, **said.details})
        return failure

    def _failure(
        self,
        text: str,
        status: str,
        details: Mapping[str, Value] = _NO_DETAILS,
        *,
        making: bool = False,
    ) -> KernelError:
        of = self.candidate
        failure = plugin_failure(self.node, of.op, of.name, of.library, text, status, making=making)
        failure.add_details(details)
        return failure

    def _refused(self, k: int, error: HostError) -> KernelError:
        failure = self._failure(f"input {k}: {error.found}", error.status)
        failure.needed, failure.inner = error.needed, error
        failure.args = (failure.render(),)
        return failure


def _needs_care(dtype: DType) -> bool:
    return dtype.ref or dtype is dtypes.RESOURCE


def _adopt_all(answer: Any, count: int) -> list[Any]:
    """The arrays of all outputs in an answer; when one has none the others are freed."""
    found: list[Any] = []
    try:
        for k in range(count):
            at = 1 + k * (_HEAD + _DIMS)
            handle, number, rank, address, _ = answer[at : at + _HEAD]
            start = at + _HEAD
            shape = tuple(answer[start : start + rank]) if rank <= _DIMS else shape_of(handle)
            answer[at] = 0
            found.append(adopt_as(handle, number, shape, address))
    except HostError:
        _delete_all(answer[1 : 1 + count * (_HEAD + _DIMS) : _HEAD + _DIMS])
        raise
    return found


def _delete_all(handles: Any) -> None:
    for handle in handles:
        if handle:
            _delete_tensor(handle)


def _by_reference(
    handle: int | None, variable: Variable | None, node: str, dtype: DType
) -> Variable:
    """The session's variable that an output refers to; a new one where the kernel made it."""
    if variable is not None:
        _delete_tensor(handle)
        return variable
    made = Variable(node, dtype.base, None)
    if handle is not None:
        made.write(adopt(handle))
    return made


class _StepEnd:
    """Lies among the resources of a step, and tells the host when that ends with it."""

    __slots__ = ("_lock", "facts", "place")

    def __init__(self, step: Step) -> None:
        self.facts = KernelCall(_CALL_SIZE, step.id)
        self.place: MeetingPlace | None = None
        self._lock = threading.Lock()

    def meet(self, step: Step) -> None:
        """Have a rendezvous for kernels that ask for it; once, whichever thread comes first."""
        with self._lock:
            if self.place is None:
                self.place = MeetingPlace(step)
                self.facts.rendezvous = self.place.thunk

    def __del__(self, end: Any = _end_step) -> None:
        if self.place is not None:
            self.place.close()
        end(self.facts.step_id)


class _OwnStatus:
    """A ``TF_Status`` of one thread, used for every run on it."""

    __slots__ = ("pointer",)

    def __init__(self) -> None:
        self.pointer: int = _new_status()

    def __del__(self, delete: Any = _delete_status) -> None:
        delete(self.pointer)


_LOCAL: Final = threading.local()


def _status() -> int:
    try:
        pointer: int = _LOCAL.status.pointer
    except AttributeError:
        _LOCAL.status = _OwnStatus()
        pointer = _LOCAL.status.pointer
    return pointer


# ---- what the host is told of a node -------------------------------------------------------------


def _functions_of(node: Node, attrs: Mapping[str, Any]) -> Any:
    """The graph's function library, for a node with a function among its attributes; else None."""
    if not any(isinstance(value, FunctionRef) for value in attrs.values()):
        return None
    raw = node.graph.functions.to_proto().SerializeToString()
    kept = ctypes.create_string_buffer(raw, len(raw))
    made = BufferStruct(ctypes.addressof(kept), len(raw), None)
    made.kept = kept
    return ctypes.pointer(made)
