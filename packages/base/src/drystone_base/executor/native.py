"""The native executor: plans of the host library, and how it calls kernels in Python."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from drystone_base.core.errors import (
    BadRequest,
    DrystoneError,
    KernelError,
    remedy_for,
)
from drystone_base.core.made_by import NOBODY, Made, name_makers
from drystone_base.core.payloads import (
    AWAITED,
    BACKEND,
    CALLS,
    CHECK,
    CODE,
    DEVICE,
    FUNCTION,
    KERNEL,
    LIBRARY,
    NODE,
    OP,
    TENSOR,
    VARIABLE,
    WHAT,
)
from drystone_base.files.mapped import file_changed
from drystone_base.host.extension import extension
from drystone_base.host.status import Said, raise_kept
from drystone_base.state.cancellation import (
    Left,
    cancelled,
    deadline_exceeded,
    session_damaged,
    session_stuck,
)
from drystone_base.state.rendezvous import KEY as RENDEZVOUS
from drystone_base.state.rendezvous import asked_for
from drystone_base.state.variables import Variable, uninitialized

if TYPE_CHECKING:
    from drystone_base.executor.meeting_place import MeetingPlace
    from drystone_base.kernels import Array
    from drystone_base.state.runtime import Runtime

__all__ = ["NativePlan", "NativeSession", "Program"]


def _adapt(value: Any, number: int) -> int:
    from drystone_base.executor.handles import (
        adapt,  # few graphs need it, and its imports take long
    )

    return adapt(value, number)


def _fed(value: Any, copies: bool) -> Any:
    """A feed for the host: what lies on a device goes by a capsule.

    ``copies``: the plan may hold it for longer; what others may write to is copied there.
    """
    feed = getattr(value, "feed", None)
    if feed is None:
        return value
    return value.copy().feed() if copies and value.is_shared else feed()


def _place(runtime: Runtime) -> MeetingPlace:
    from drystone_base.executor.meeting_place import (
        MeetingPlace,  # for the plugins that ask for it
    )

    return MeetingPlace(runtime.step)


class NativeSession:
    """What plans of one session share; 0 threads are as many as there are cores.

    ``micro_batch_bytes``: as in ``SessionConfig``.
    """

    def __init__(
        self, threads: int = 0, inter_op_threads: int = 0, micro_batch_bytes: int | None = 0
    ) -> None:
        room = -1 if micro_batch_bytes is None else micro_batch_bytes
        self.handle = extension().Session(_adapt, threads, inter_op_threads, room)

    def reset(self) -> None:
        """Forget what plans keep: handles of variables."""
        self.handle.reset()


class Program(NamedTuple):
    """What the host library loads as a plan.

    ``plan``: the bytes of a PlanDef. ``constants``: arrays, or tensors that stay in files, with
    their dtypes. ``outputs``: the dtypes of the outputs of each kernel of Python's, which
    ``compute`` runs by number; ``needs_run``: one of them asks for what belongs to a run.
    ``made_by``: plugins whose optimizers made nodes, by node. ``transfers``: which of the kernels
    send (True) or receive a value, and its key.
    """

    plan: bytes
    constants: list[tuple[Any, int]]
    outputs: Sequence[Sequence[int]] = ()
    compute: Callable[[int, Runtime, list[Any]], Sequence[Any]] | None = None
    needs_run: bool = False
    made_by: Made = NOBODY
    transfers: Sequence[tuple[int, bool, str]] = ()


class NativePlan:
    """One plan, loaded by the host library."""

    __slots__ = ("_copies", "_handle", "_meets", "_needs_run", "_transfers", "has_kernels")

    def __init__(self, session: NativeSession, program: Program, copies: bool) -> None:
        self._copies = copies
        self.has_kernels = bool(program.outputs)
        self._needs_run = program.needs_run
        self._transfers = bool(program.transfers)
        try:
            self._handle = extension().Plan(
                session.handle,
                program.plan,
                program.constants,
                program.outputs,
                program.transfers,
                program.compute,
                partial(_raise, program.made_by),
            )
        except MemoryError as error:
            raise KernelError(
                "the constants of the graph do not fit into memory",
                check="a plan holds the values of its constants",
                found=str(error),
                needed="less, or more memory",
                remedy="fetch a tensor that does not need them",
                status="RESOURCE_EXHAUSTED",
                inner=error,
            ) from error
        self._meets = bool(asked_for()) and self._has_kernel_of(asked_for())

    def _has_kernel_of(self, libraries: Container[str]) -> bool:
        """Whether a node of the plan, or of a function that it calls, has a kernel of theirs."""
        return any(
            instruction.get("library") in libraries
            for block in json.loads(self.describe())["blocks"]
            for instruction in block["instructions"]
        )

    def run(self, feeds: Sequence[Array], runtime: Runtime) -> list[Any]:
        """The fetches, in order; raises as the reference executor does."""
        given = [f if type(f) is np.ndarray else _fed(f, self._copies) for f in feeds]
        left = 0
        if runtime.deadline is not None:
            left = max(1, int((runtime.deadline - time.monotonic()) * 1000))
        stop = None if runtime.cancellation is None else runtime.cancellation.in_host()
        traces: list[bytes] | None = None if runtime.record is None else []
        meeting = runtime.step.resources.get(RENDEZVOUS) if self._transfers else None
        table = None if meeting is None else meeting.table
        place = _place(runtime) if self._meets else None
        try:
            found: list[Any] = self._handle.run(
                given, runtime, left, runtime.step.id, self._copies, stop, traces, table,
                None if place is None else place.address,
            )  # fmt: skip
        finally:
            if place is not None:
                place.close()
            if runtime.record is not None and traces and traces[0]:  # nothing of one that was left
                runtime.record.add_native(traces[0], json.loads(self.describe())["blocks"])
        return [value.read() if type(value) is Variable else value for value in found]

    def quick(
        self, shapes: Sequence[Sequence[int] | None], runtime: Runtime | None
    ) -> Callable[..., Any] | None:
        """A function ``(feeds, single)`` that runs the plan without a Runtime, if that can be.

        Kernels of Python's that make handles of variables, and those that operators of the host
        have in reserve, get ``runtime``, which is of no run. The function gives the fetches as a
        list, or with ``single`` the only one; NotImplemented for feeds that are not arrays of the
        dtypes and ``shapes`` (None: any) that are due.
        """
        if self._needs_run or self._meets:
            return None
        self._handle.expect(shapes, self._copies, runtime if self.has_kernels else None)
        call: Callable[..., Any] = self._handle.call
        return call

    def uses(self) -> int:
        """How many calls the function that :meth:`quick` gives has had."""
        count: int = self._handle.uses()
        return count

    def describe(self) -> bytes:
        """What the plan consists of, as JSON; see ``DS_DescribePlan``."""
        described: bytes = self._handle.describe()
        return described


def _raise(made_by: Made, code: int, message: bytes, payloads: list[tuple[bytes, bytes]]) -> None:
    """Raise what a failed run says."""
    said = Said.of(code, message, payloads)
    raise_kept(said.status)
    error = _error(said)
    error.status = said.status  # a variable without a value is NOT_FOUND to ops that add to it
    error.add_details(said.details)
    if CALLS in said.payloads:
        error.reached_through(said.payloads[CALLS])
    name_makers(error, made_by)
    raise error


def _error(said: Said) -> DrystoneError:
    """The exception of a failure: by its code, or else by what it is about."""
    known = _BY_CODE.get(said.text(CODE))
    if known is not None:
        return known(said)
    if CHECK in said.payloads:
        return _checked(said)
    if KERNEL in said.payloads:
        return _late(said) if said.status == "DEADLINE_EXCEEDED" else _of_plugin(said)
    if DEVICE in said.payloads and LIBRARY in said.payloads:
        return _of_device(said)
    if NODE in said.payloads:
        return KernelError(
            f"node {said.text(NODE)!r} ({said.text(OP)}) failed",
            check="a node's inputs must be what its op is defined for",
            found=said.found,
            needed="inputs that the op is defined for",
            remedy=remedy_for(said.status),
            status=said.status,
        )
    if said.status == "DEADLINE_EXCEEDED":
        return deadline_exceeded(said.found)
    return KernelError(
        "the run failed",
        check="a run must end without a failure",
        found=said.found,
        needed="success",
        remedy="`drystone explain` shows the plan that ran",
        status=said.status,
    )


def _of_plugin(said: Said) -> KernelError:
    from drystone_base.executor.plugin_failures import plugin_failure

    return plugin_failure(
        said.text(NODE), said.text(OP), said.text(KERNEL), said.text(LIBRARY),
        said.found, said.status,
        making=said.text(FUNCTION) == "DS_NewPlan",
    )  # fmt: skip


def _of_device(said: Said) -> KernelError:
    from drystone_base.executor.plugin_failures import device_failure

    return device_failure(said)


def _late(said: Said) -> KernelError:
    """A kernel looked at the clock before the run did."""
    kernel = f"kernel {said.text(KERNEL)!r} of {said.text(LIBRARY)}"
    node = f"node {said.text(NODE)!r} (op {said.text(OP)}, {kernel})"
    return deadline_exceeded(f"{node}: {said.found}")


def _checked(said: Said) -> KernelError:
    from drystone_base.executor.plugin_failures import failed_check

    name = f"node {said.text(NODE)!r} ({said.text(OP)})" if NODE in said.payloads else "the run"
    return failed_check(name, said)


def _left(said: Said) -> Left | None:
    """The kernel that has not done what it owes a run that is over."""
    if AWAITED not in said.payloads:
        return None
    library, backend = said.text(LIBRARY), said.text(BACKEND)
    kernel = f"kernel {said.text(KERNEL)!r} of {library}" if library else "kernel"
    kernel += f" of subgraph backend {backend!r}" if backend else ""
    return Left(kernel, said.text(AWAITED) == "return")


def _dead_fetch(said: Said) -> BadRequest:
    return BadRequest(
        f"tensor {said.text(TENSOR)!r} has no value",
        check="a fetched tensor must be computed on the branch that is taken",
        found="a dead tensor: it belongs to a branch or a loop that did not run",
        needed="a live tensor",
        remedy="fetch the output of the Merge or Exit that ends the branch or loop",
        code="dead-fetch",
    )


_BY_CODE: Final[Mapping[str, Callable[[Said], DrystoneError]]] = {
    "dead-fetch": _dead_fetch,
    "deadline-exceeded": lambda said: deadline_exceeded(said.text(WHAT), _left(said)),
    "file-changed": lambda said: file_changed(said.found),
    "run-cancelled": lambda said: cancelled(said.text(WHAT), _left(said)),
    "session-damaged": lambda said: session_damaged(said.found),
    "session-stuck": lambda said: session_stuck(said.found),
    "uninitialized-variable": lambda said: uninitialized(said.text(VARIABLE)),
}
"""What the host library has codes for."""
