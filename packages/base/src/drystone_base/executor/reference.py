"""The reference executor: a small interpreter of plans, with frames and dead tensors.

A frame is one run of a loop; an iteration of a frame holds the inputs that have arrived for nodes
that have not run. A value is stored where it is going and dropped when it is used, so memory needs
no further care. A dead value (the branch not taken) travels like any other and makes its consumers
dead. Source of the rules: TensorFlow's white paper, section 4.4, and Yu et al., "Dynamic Control
Flow in Large-Scale Machine Learning" (EuroSys 2018).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.core.made_by import name_makers
from drystone_base.core.registered import ENTRY_FUNCTIONS
from drystone_base.executor.calling import call_kernel, unexpected
from drystone_base.executor.plan import Instruction, Kind, Plan
from drystone_base.kernels import Array
from drystone_base.state.cancellation import check_time
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import Variable

if TYPE_CHECKING:
    pass

__all__ = ["run", "run_leaving"]

_BRIEF: Final = 0.02
"""Seconds of a run that its own thread may be kept from."""


class _Dead:
    """The value of an output that was not computed."""

    def __repr__(self) -> str:
        return "dead"


_DEAD: Final = _Dead()


class _Arrivals:
    """What has arrived for one node in one iteration."""

    __slots__ = ("dead", "index", "missing", "ran", "values")

    def __init__(self, instruction: Instruction) -> None:
        self.values: list[Any] = [None] * instruction.input_count
        self.missing = instruction.input_count + instruction.control_count
        self.dead = 0
        self.index = -1  # of the live input, for a merge
        self.ran = False


class _Iteration:
    """One iteration of a frame: arrivals by instruction, and how much is still going on in it."""

    __slots__ = ("arrivals", "children", "running")

    def __init__(self) -> None:
        self.arrivals: dict[int, _Arrivals] = {}
        self.running = 0
        self.children: dict[str, _Frame] = {}


class _Frame:
    """One run of a loop, entered from iteration ``at`` of ``parent``."""

    __slots__ = ("at", "constants", "dead_exits", "entering", "iterations", "name", "parent")

    def __init__(self, name: str, parent: _Frame | None, at: int, entering: int) -> None:
        self.name = name
        self.parent = parent
        self.at = at
        self.entering = entering  # enters that have not fired yet
        self.iterations: list[_Iteration | None] = [_Iteration()]
        self.constants: list[tuple[int, Any]] = []
        self.dead_exits: list[int] = []

    @property
    def last(self) -> int:
        return len(self.iterations) - 1


class _Run:
    """One run of a plan."""

    def __init__(self, plan: Plan, runtime: Runtime) -> None:
        self.plan = plan
        self.runtime = runtime
        self.root = _Frame("", None, 0, 0)
        self.ready: deque[tuple[int, _Frame, int]] = deque()
        self.fetched: dict[int, Any] = {}
        self.enters: dict[str, int] = {}
        for instruction in plan.instructions:
            if instruction.kind is Kind.ENTER:
                name = instruction.attrs["frame_name"]
                self.enters[name] = self.enters.get(name, 0) + 1

    def go(self, feeds: Sequence[Array]) -> list[Any]:
        for value, places in zip(feeds, self.plan.feeds, strict=True):
            for consumer, slot in places:
                self.arrive(consumer, slot, value, self.root, 0)
        for source in self.plan.sources:
            self.make_ready(source, self.root, 0)
        if self.runtime.deadline is not None or self.runtime.cancellation is not None:
            check_time(self.runtime, "before a function or a graph")  # of a loop without kernels
        while self.ready:
            self.step(*self.ready.popleft())
        return [feeds[-1 - k] if k < 0 else self.result(k) for k in self.plan.fetches]

    def result(self, index: int) -> Any:
        value = self.fetched.get(index, _DEAD)
        if value is _DEAD:
            name = self.plan.instructions[index].node
            raise BadRequest(
                f"tensor {name!r} has no value",
                check="a fetched tensor must be computed on the branch that is taken",
                found="a dead tensor: it belongs to a branch or a loop that did not run",
                needed="a live tensor",
                remedy="fetch the output of the Merge or Exit that ends the branch or loop",
                code="dead-fetch",
            )
        return value

    # ---- running one node ----------------------------------------------------------------------

    def make_ready(self, index: int, frame: _Frame, at: int) -> None:
        iteration = frame.iterations[at]
        assert iteration is not None
        iteration.running += 1
        self.ready.append((index, frame, at))

    def step(self, index: int, frame: _Frame, at: int) -> None:
        instruction = self.plan.instructions[index]
        iteration = frame.iterations[at]
        assert iteration is not None
        arrived = iteration.arrivals.pop(index, None)
        if instruction.kind is Kind.MERGE:
            iteration.arrivals[index] = arrived = arrived or _Arrivals(instruction)
            arrived.ran = True  # later arrivals of this iteration are ignored
        outputs = self.compute(instruction, index, arrived)
        self.propagate(instruction, index, outputs, frame, at)
        iteration.running -= 1
        self.finish(frame, at)

    def compute(self, instruction: Instruction, index: int, arrived: _Arrivals | None) -> Any:
        """The outputs of one node: a list, or dead."""
        kind = instruction.kind
        if kind is Kind.MERGE:
            assert arrived is not None
            if arrived.index < 0:
                return _DEAD
            value, arrived.values = arrived.values[arrived.index], []
            return [value, np.array(arrived.index, np.int32)]
        if kind is Kind.TRANSFER:
            return self.transfer(instruction, arrived)
        if arrived is not None and arrived.dead and kind is not Kind.TRIGGER:
            return _DEAD
        values = arrived.values if arrived is not None else []
        for slot in instruction.deref:
            if type(values[slot]) is Variable:
                values[slot] = values[slot].read()
        if kind is Kind.PLAIN:
            return call_kernel(instruction, values, self.runtime, self.runtime.record)
        if kind is Kind.SWITCH:
            return _switch(instruction, values)
        if kind is Kind.FETCH:
            self.fetched[index] = values[0]
            return []
        return values  # enter, exit, next iteration, trigger

    def transfer(self, instruction: Instruction, arrived: _Arrivals | None) -> Any:
        """A Send or a Recv, which runs unless what it waits for is dead: values may be."""
        values = arrived.values if arrived is not None else []
        if arrived is not None and arrived.dead > sum(value is None for value in values):
            return _DEAD
        outputs = call_kernel(instruction, values, self.runtime, self.runtime.record)
        return _DEAD if any(value is None for value in outputs) else outputs

    # ---- handing on its outputs ----------------------------------------------------------------

    def propagate(
        self, instruction: Instruction, index: int, outputs: Any, frame: _Frame, at: int
    ) -> None:
        kind = instruction.kind
        if kind is Kind.ENTER:
            self.enter(instruction, outputs, frame, at)
        elif kind is Kind.EXIT:
            if outputs is not _DEAD:
                assert frame.parent is not None
                self.deliver(instruction, outputs, frame.parent, frame.at)
            elif at == frame.last:
                frame.dead_exits.append(index)
        elif kind is Kind.NEXT_ITERATION:
            if outputs is not _DEAD:
                if at == frame.last:
                    self.open_iteration(frame)
                self.deliver(instruction, outputs, frame, at + 1)
        else:
            self.deliver(instruction, outputs, frame, at)

    def deliver(self, instruction: Instruction, outputs: Any, frame: _Frame, at: int) -> None:
        dead = outputs is _DEAD
        for output, consumer, slot in instruction.edges:
            self.arrive(consumer, slot, _DEAD if dead else outputs[output], frame, at, instruction)
        for consumer in instruction.control_edges:
            self.arrive_control(consumer, dead, frame, at)

    def arrivals(self, index: int, frame: _Frame, at: int) -> _Arrivals:
        iteration = frame.iterations[at]
        assert iteration is not None
        found = iteration.arrivals.get(index)
        if found is None:
            found = iteration.arrivals[index] = _Arrivals(self.plan.instructions[index])
        return found

    def arrive(
        self,
        index: int,
        slot: int,
        value: Any,
        frame: _Frame,
        at: int,
        source: Instruction | None = None,
    ) -> None:
        arrived = self.arrivals(index, frame, at)
        instruction = self.plan.instructions[index]
        if instruction.kind is Kind.MERGE:
            from_dead_enter = source is not None and source.kind is Kind.ENTER and value is _DEAD
            self.arrive_merge(index, slot, value, arrived, frame, at, from_dead_enter)
            return
        arrived.missing -= 1
        if value is _DEAD:
            arrived.dead += 1
        else:
            arrived.values[slot] = value
        if not arrived.missing:
            self.make_ready(index, frame, at)

    def arrive_merge(
        self,
        index: int,
        slot: int,
        value: Any,
        arrived: _Arrivals,
        frame: _Frame,
        at: int,
        from_dead_enter: bool,
    ) -> None:
        """A merge runs on its first live input, or dead once all of its inputs are.

        A dead enter makes it dead at once: the back edge of a loop that was not entered never
        comes.
        """
        inputs = self.plan.instructions[index].input_count
        if value is _DEAD:
            arrived.dead = inputs if from_dead_enter else arrived.dead + 1
        elif arrived.index < 0:
            arrived.index, arrived.values[slot] = slot, value
        self.try_merge(index, arrived, frame, at)

    def try_merge(self, index: int, arrived: _Arrivals, frame: _Frame, at: int) -> None:
        instruction = self.plan.instructions[index]
        controls_left = arrived.missing - instruction.input_count
        settled = arrived.index >= 0 or arrived.dead >= instruction.input_count
        if settled and controls_left == 0 and not arrived.ran:
            arrived.ran = True
            self.make_ready(index, frame, at)

    def arrive_control(self, index: int, dead: bool, frame: _Frame, at: int) -> None:
        arrived = self.arrivals(index, frame, at)
        arrived.missing -= 1
        kind = self.plan.instructions[index].kind
        if kind is Kind.MERGE:
            self.try_merge(index, arrived, frame, at)
            return
        if dead:
            arrived.dead += 1
        if not arrived.missing:
            self.make_ready(index, frame, at)

    # ---- frames --------------------------------------------------------------------------------

    def enter(self, instruction: Instruction, outputs: Any, frame: _Frame, at: int) -> None:
        name = instruction.attrs["frame_name"]
        iteration = frame.iterations[at]
        assert iteration is not None
        child = iteration.children.get(name)
        if child is None:
            child = iteration.children[name] = _Frame(name, frame, at, self.enters[name])
        child.entering -= 1
        if instruction.attrs.get("is_constant") and outputs is not _DEAD:
            for output, consumer, slot in instruction.edges:
                child.constants.append((consumer, (slot, outputs[output])))
            for consumer in instruction.control_edges:
                child.constants.append((consumer, None))
            for at_child, open_iteration in enumerate(child.iterations):
                if open_iteration is not None and at_child > 0:
                    self.deliver(instruction, outputs, child, at_child)
        self.deliver(instruction, outputs, child, 0)
        self.finish(child, 0)

    def open_iteration(self, frame: _Frame) -> None:
        """Start the next iteration and hand it the loop's constants."""
        frame.iterations.append(_Iteration())
        frame.dead_exits.clear()
        for consumer, constant in frame.constants:
            if constant is None:
                self.arrive_control(consumer, False, frame, frame.last)
            else:
                self.arrive(consumer, constant[0], constant[1], frame, frame.last)

    def finish(self, frame: _Frame, at: int) -> None:
        """Drop iterations in which nothing can happen any more, then the frame itself."""
        while True:
            iteration = frame.iterations[at]
            if iteration is None or iteration.running or iteration.children:
                return
            before = at == 0 or frame.iterations[at - 1] is None
            if not before or (at == 0 and frame.entering):
                return
            if frame.parent is None:
                return
            frame.iterations[at] = None
            if at == frame.last:
                self.close(frame)
                return
            at += 1

    def close(self, frame: _Frame) -> None:
        """A finished frame hands its dead exits on, and its parent may be finished, too."""
        assert frame.parent is not None
        for index in frame.dead_exits:
            self.deliver(self.plan.instructions[index], _DEAD, frame.parent, frame.at)
        iteration = frame.parent.iterations[frame.at]
        assert iteration is not None
        iteration.children.pop(frame.name, None)
        self.finish(frame.parent, frame.at)


def _switch(instruction: Instruction, values: list[Any]) -> list[Any]:
    """The data on the output that the predicate chooses, dead on the others."""
    data = values[0]
    try:
        chosen = int(values[1].item())
    except (TypeError, ValueError) as error:  # not one number
        raise unexpected(instruction, values, error) from error
    if not 0 <= chosen < instruction.output_count:
        chosen = instruction.output_count - 1
    return [data if k == chosen else _DEAD for k in range(instruction.output_count)]


def run(plan: Plan, feeds: Sequence[Array], runtime: Runtime) -> list[Any]:
    """The fetches of ``plan`` for ``feeds``, in order.

    Raises ``KernelError`` for a kernel that refuses,
    ``BadRequest`` (``dead-fetch``) for a fetch on a branch that was not taken.
    """
    try:
        return _Run(plan, runtime).go(feeds)
    except DrystoneError as error:
        name_makers(error, plan.made_by)
        raise


def run_leaving(plan: Plan, feeds: Sequence[Array], runtime: Runtime) -> list[Any]:
    """The same, which goes on in another thread where it must end in time, or may take long.

    That is a run with a limit, and for Ctrl-C's sake one of the main thread with more bytes of
    feeds than one that was over in a moment, or beside plugins, whose kernels may hang in any run.
    Raises as ``run_detached`` does, too.
    """
    has_limit = runtime.deadline is not None or runtime.cancellation is not None
    size = sum(feed.nbytes for feed in feeds)
    is_main = threading.current_thread() is threading.main_thread()
    is_brief = size <= plan.brief and not ENTRY_FUNCTIONS
    if not has_limit and (is_brief or not is_main):
        return run(plan, feeds, runtime)
    from drystone_base.state.detached import run_detached

    begin = time.monotonic()
    found = run_detached(lambda: run(plan, feeds, runtime), runtime)
    if time.monotonic() - begin < _BRIEF:
        plan.brief = max(plan.brief, size)
    return found
