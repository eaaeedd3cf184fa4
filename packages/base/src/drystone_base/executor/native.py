"""The native executor: plans of the host library, and how it calls kernels in Python."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import (
    BadRequest,
    DrystoneError,
    KernelError,
    remedy_for,
)
from drystone_base.core.made_by import NOBODY, Made, name_makers
from drystone_base.files.mapped import file_changed
from drystone_base.host.extension import extension
from drystone_base.host.status import CODES, raise_kept
from drystone_base.state.cancellation import (
    cancelled,
    deadline_exceeded,
    session_damaged,
    session_stuck,
)
from drystone_base.state.variables import Variable, uninitialized

if TYPE_CHECKING:
    from drystone_base.kernels import Array
    from drystone_base.state.runtime import Runtime

__all__ = ["NativePlan", "NativeSession", "Program"]


def _adapt(value: Any, number: int) -> int:
    from drystone_base.executor.handles import (
        adapt,  # few graphs need it, and its imports take long
    )

    return adapt(value, number)


class NativeSession:
    """What plans of one session share; 0 threads are as many as there are cores.

    ``tile_bytes``: as in ``SessionConfig``.
    """

    def __init__(
        self, threads: int = 0, inter_op_threads: int = 0, tile_bytes: int | None = 0
    ) -> None:
        room = -1 if tile_bytes is None else tile_bytes
        self.handle = extension().Session(_adapt, threads, inter_op_threads, room)

    def reset(self) -> None:
        """Forget what plans keep: handles of variables."""
        self.handle.reset()


class Program(NamedTuple):
    """What the host library loads as a plan.

    ``plan``: the bytes of a PlanDef. ``constants``: arrays, or tensors that stay in files, with
    their dtypes. ``outputs``: the dtypes of the outputs of each kernel of Python's, which
    ``compute`` runs by number; ``needs_run``: one of them asks for what belongs to a run.
    ``made_by``: plugins whose optimizers made nodes, by node.
    """

    plan: bytes
    constants: list[tuple[Any, int]]
    outputs: Sequence[Sequence[int]] = ()
    compute: Callable[[int, Runtime, list[Any]], Sequence[Any]] | None = None
    needs_run: bool = False
    made_by: Made = NOBODY


class NativePlan:
    """One plan, loaded by the host library."""

    __slots__ = ("_copies", "_handle", "_needs_run", "has_kernels")

    def __init__(self, session: NativeSession, program: Program, copies: bool) -> None:
        self._copies = copies
        self.has_kernels = bool(program.outputs)
        self._needs_run = program.needs_run
        try:
            self._handle = extension().Plan(
                session.handle,
                program.plan,
                program.constants,
                program.outputs,
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

    def run(self, feeds: Sequence[Array], runtime: Runtime) -> list[Any]:
        """The fetches, in order; raises as the reference executor does."""
        left = 0
        if runtime.deadline is not None:
            left = max(1, int((runtime.deadline - time.monotonic()) * 1000))
        stop = None if runtime.cancellation is None else runtime.cancellation.in_host()
        traces: list[bytes] | None = None if runtime.record is None else []
        try:
            found: list[Any] = self._handle.run(
                feeds, runtime, left, runtime.step.id, self._copies, stop, traces
            )
        finally:
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
        if self._needs_run:
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


# Patterns, compiled by the first run that fails.
_PLUGIN: Final = (
    r"node '(?P<node>[^']*)' \(op (?P<op>\S+), kernel '(?P<kernel>[^']*)' of (?P<library>[^)]*)\): "
)
_NO_VALUE: Final = r"variable '([^']*)' has no value yet"
_CUT_OFF: Final = "the model's file has become shorter than it was when it was loaded"
_NODE: Final = r"node '(?P<node>[^']*)' \((?P<op>\w+)\): "
_STUCK: Final = "the session is stuck: "
_DAMAGED: Final = "the session is damaged: "
_TOO_LARGE: Final = (
    r"(?P<check>a tensor must fit in this machine's memory, with room for others|"
    r"a tensor's element count must fit in 63 bits): (?P<found>.*), "
    r"it may (take|have) (?P<needed>.*)$"
)
_LEFT: Final = r", and its (kernel.*) has not (returned|called done)$"


def _raise(made_by: Made, code: int, message: bytes) -> None:
    """Raise what a failed run says."""
    text, mark, calls = message.decode("utf-8", "replace").partition("\n  in function ")
    error = _error(code, text)
    error.add_calls(mark + calls)
    name_makers(error, made_by)
    raise error


def _error(code: int, message: str) -> DrystoneError:
    """What went wrong with a plugin's kernel, with time or memory, or with a fetch."""
    text = message.removeprefix("DS_RunPlan: ")
    verb = "cannot be made by" if text.startswith("DS_NewPlan: ") else "failed in"
    text = text.removeprefix("DS_NewPlan: ")
    status = CODES[code] if code < len(CODES) else "UNKNOWN"
    raise_kept(status)
    if status == "DATA_LOSS" and text.endswith(_CUT_OFF):
        return file_changed(text)
    blamed = re.match(_PLUGIN, text)
    unset = re.search(_NO_VALUE, text)
    if unset is not None and status == "FAILED_PRECONDITION":
        missing = uninitialized(unset[1])
        missing.status = status  # NOT_FOUND from ops that add to a variable
        return missing
    large = re.search(_TOO_LARGE, text)
    if large is not None:
        return _too_large(text, large, status)
    if blamed is not None:
        from drystone_base.executor.plugin_kernels import plugin_failure

        return plugin_failure(
            blamed["node"], blamed["op"], blamed["kernel"], blamed["library"],
            text[blamed.end() :], status, verb=verb,
        )  # fmt: skip
    if text.startswith(_STUCK):
        return session_stuck(text.removeprefix(_STUCK))
    if text.startswith(_DAMAGED):
        return session_damaged(text.removeprefix(_DAMAGED))
    failed = re.match(_NODE, text)
    if failed is not None:
        return KernelError(
            f"node {failed['node']!r} ({failed['op']}) failed",
            check="a node's inputs must be what its op is defined for",
            found=text[failed.end() :],
            needed="inputs that the op is defined for",
            remedy=remedy_for(status),
            status=status,
        )
    if text.startswith("tensor ") and " has no value: " in text:
        return _dead_fetch(text.partition(" has no value: ")[0])
    left = re.search(_LEFT, text)
    if left is not None:
        text = text[: left.start()]
    kernel = "" if left is None else f"{left[1]} has not {left[2]}"
    if text.startswith("the run was cancelled"):
        return cancelled(text, kernel)
    if status == "DEADLINE_EXCEEDED":
        return deadline_exceeded(text.partition(": its time")[0], kernel)
    return KernelError(
        "the run failed",
        check="a run must end without a failure",
        found=text,
        needed="success",
        remedy="`drystone explain` shows the plan that ran",
        status=status,
    )


def _too_large(text: str, large: re.Match[str], status: str) -> KernelError:
    """What kernels in Python say of such a size."""
    node = re.match(r"node '([^']*)' \(op (\S+),|node '([^']*)' \((\w+)\)", text)
    name, op = ("", "") if node is None else (node[1] or node[3], node[2] or node[4])
    return KernelError(
        f"node {name!r} ({op}) failed" if node is not None else "the run failed",
        check=large["check"],
        found=re.sub(
            r" of dtype (\d+):", _named_dtype, re.sub(r"(?<=\d),(?=\d)", ", ", large["found"])
        ),
        needed=large["needed"],
        remedy="check the node's inputs: a size is wrong, or the batch is too large"
        if status == "RESOURCE_EXHAUSTED"
        else remedy_for(status),
        status=status,
    )


def _named_dtype(number: re.Match[str]) -> str:
    """The dtype as NumPy calls it."""
    return f" of {from_number(int(number[1])).np}:"


def _dead_fetch(tensor: str) -> BadRequest:
    return BadRequest(
        f"{tensor} has no value",
        check="a fetched tensor must be computed on the branch that is taken",
        found="a dead tensor: it belongs to a branch or a loop that did not run",
        needed="a live tensor",
        remedy="fetch the output of the Merge or Exit that ends the branch or loop",
        code="dead-fetch",
    )
