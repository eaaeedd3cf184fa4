"""From lowered plans to a PlanDef: what the native executor loads.

One block is the graph, the others are the functions that it calls; a value is a number. Source of
the format: ``drystone_abi/protos/plan.proto``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_abi.protos import BlockDef, InstructionDef, NodeDef, PlanDef, PlanKind
from drystone_base.core.dtypes import VARIANT, DType
from drystone_base.core.errors import DrystoneError, UnsupportedOp
from drystone_base.core.tensor import to_proto
from drystone_base.core.time_limits import look
from drystone_base.executor._references import with_values
from drystone_base.executor._wiring import Wiring
from drystone_base.executor.call_places import CallPlaces
from drystone_base.executor.calling import OPERATOR_ATTR
from drystone_base.executor.copies import HOST, CopyTo, Places, with_copies
from drystone_base.executor.plan import Instruction, Kind, Loop, Plan
from drystone_base.executor.stated_shapes import described
from drystone_base.kernels import find_kernel
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.ops.defs import OpDef
from drystone_base.ops.properties import IDENTITIES, READERS, VARIABLES

if TYPE_CHECKING:
    from drystone_base.executor.micro_batches import BatchLayout, NotBatchwise

__all__ = ["CALLS", "FORWARDS", "READS_VERSION", "Encoded", "encode"]

Lower = Callable[[FunctionRef], Plan]
"""The plan of a function's body; raises as :func:`lower` does."""

_FRAME_KINDS: Final = {
    Kind.SWITCH: PlanKind.PLAN_SWITCH,
    Kind.MERGE: PlanKind.PLAN_MERGE,
    Kind.ENTER: PlanKind.PLAN_ENTER,
    Kind.EXIT: PlanKind.PLAN_EXIT,
    Kind.NEXT_ITERATION: PlanKind.PLAN_NEXT_ITERATION,
    Kind.TRIGGER: PlanKind.PLAN_TRIGGER,
}
FORWARDS: Final = IDENTITIES | {
    "PlaceholderWithDefault", "LoopCond", "_ListToArray", "_ArrayToList",
}  # fmt: skip
"""Ops whose inputs the executor hands on."""

READS_VERSION: Final = -1
"""What it holds where the host reads a variable of the attribute ``dtype`` with its version."""

_READS_THERE: Final = -2
"""The same where it reads the variable of the attribute ``dtype`` on the device of the node."""

_LAZY_BYTES: Final = 1 << 20
_MOST_BYTES: Final = (1 << 63) - 1  # of an example that no memory holds
_BOUNDARY: Final = 64  # bytes: tensors of the host begin at multiples, and others are copied
_IN_PLACE: Final = frozenset({"_ParallelConcatStart", "_ParallelConcatUpdate"})
"""Ops whose kernels write into an array that they were given: it must stay the same object."""

_SHARED: Final = frozenset(
    {
        "ZerosLike", "AddN",
        "StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
        "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2",
    }
)  # fmt: skip
"""Ops whose nodes plugins' kernels may refuse by their inputs: by kinds of variants, or algorithms.
The NumPy kernel computes these then."""

CALLS: Final = {
    "PartitionedCall": (PlanKind.PLAN_CALL, ("f",)),
    "StatefulPartitionedCall": (PlanKind.PLAN_CALL, ("f",)),
    "If": (PlanKind.PLAN_IF, ("then_branch", "else_branch")),
    "StatelessIf": (PlanKind.PLAN_IF, ("then_branch", "else_branch")),
    "Case": (PlanKind.PLAN_CASE, ("branches",)),
    "StatelessCase": (PlanKind.PLAN_CASE, ("branches",)),
    "While": (PlanKind.PLAN_WHILE, ("cond", "body")),
    "StatelessWhile": (PlanKind.PLAN_WHILE, ("cond", "body")),
}
"""Ops that run functions, with the attributes that name them."""


class Encoded:
    """A PlanDef with what goes beside it.

    ``constants``: arrays, or tensors that stay in files, with their dtypes; ``attrs``: the
    attributes that hold them. ``kernels``:
    instructions that Python computes, by number. ``outputs``: the dtypes of the outputs of each; 0
    for one that is handed on as the object it is.
    """

    def __init__(self) -> None:
        self.plan = PlanDef()
        self.constants: list[tuple[Any, int]] = []
        self.attrs: list[TensorAttr] = []
        self.kernels: list[Instruction] = []
        self.outputs: list[tuple[int, ...]] = []


def encode(
    plan: Plan,
    feed_types: Sequence[DType],
    lower_function: Lower,
    functions: Sequence[str],
    *,
    alone: bool = False,
    beside: bool = False,
    has_devices: bool = False,
    stays: bool = False,
) -> Encoded:
    """The PlanDef of ``plan`` and of the functions that it may call.

    ``functions``: names in the graph's library, whose nodes are calls. A call of a function that
    cannot be lowered is left to its kernel in Python, which says so when it runs. ``alone``: the
    PlanDef is to work without Python, so its constants are in it (``beside``: beside it all the
    same), and ``UnsupportedOp`` (``op-needs-python``) is raised for nodes that no plugin has a
    kernel for. ``has_devices``: nodes may run on devices of plugins; ``stays``: what is fetched is
    left where it is made.
    """
    encoder = _Encoder(lower_function, frozenset(functions), alone, beside, has_devices)
    encoder.stays = stays
    return encoder.run(plan, feed_types)


class _Encoder:
    def __init__(
        self, lower_function: Lower, functions: frozenset[str], alone: bool, beside: bool,
        has_devices: bool,
    ) -> None:  # fmt: skip
        self.alone, self.beside = alone, beside
        self.stays = False
        self.has_plugins = False
        self.lower_function = lower_function
        self.functions = functions
        self.out = Encoded()
        self.op_numbers: dict[int, int] = {}
        self.blocks: dict[tuple[str, str, Places | None], int] = {}
        self.waiting: list[tuple[str, Plan, int, Places | None]] = []
        self.places = CallPlaces(lower_function, self._called, FORWARDS) if has_devices else None
        self.reads: list[InstructionDef] = []
        self.calls: list[tuple[InstructionDef, tuple[int, ...]]] = []  # that take references
        self.changes_variables = False

    def run(self, plan: Plan, feed_types: Sequence[DType]) -> Encoded:
        self.has_plugins = plan.has_plugins
        self.out.plan.version = 1
        self.out.plan.graph_def_version = plan.producer
        block = self.out.plan.blocks.add()
        block.feed_names.extend(plan.feed_names)
        block.fetch_names.extend(plan.fetch_names)
        block.feed_types.extend(t.number for t in feed_types)
        on_host = all(one.on_device is None for one in plan.instructions)
        if plan.examples is not None and on_host:
            _hold_examples(block, plan.examples)
        self._block(block, plan, None)
        while self.waiting:
            name, body, index, at = self.waiting.pop()
            self.out.plan.blocks[index].name = name
            self.has_plugins = self.has_plugins or body.has_plugins
            self._block(self.out.plan.blocks[index], body, at)
        if self.has_plugins:  # without them all kernels know a variable
            for call, places in self.calls:
                call.deref.extend(places)
        if self.alone and self.out.kernels:
            raise _needs_python(self.out.kernels)
        for read in self.reads:
            read.is_constant = not self.changes_variables
        return self.out

    def _function(self, function: FunctionRef, at: Places | None) -> int:
        """The number of a function's block; raises when its body cannot be lowered.

        ``at``: where its arguments and results are.
        """
        key = (function.name, repr(sorted(function.attrs.items())) if function.attrs else "", at)
        if key not in self.blocks:
            body = self.lower_function(function)
            self.blocks[key] = len(self.out.plan.blocks)
            self.out.plan.blocks.add()
            self.waiting.append((function.name, body, self.blocks[key], at))
        return self.blocks[key]

    # ---- one block -----------------------------------------------------------------------------

    def _block(self, block: BlockDef, plan: Plan, at: Places | None) -> None:
        plan = with_values(plan)
        if any(one.kind is Kind.ENTER for one in plan.instructions):
            from drystone_base.executor.loops import with_loops

            plan = with_loops(plan)
        if self.places is not None:
            plan = with_copies(plan, FORWARDS, self.places.of, at, stays=self.stays)
        wiring = Wiring(plan)
        block.feeds = len(plan.feeds)
        for k in wiring.order:
            look()
            self._instruction(block.instructions.add(), plan.instructions[k], k, wiring)
        for fetch in plan.fetches:
            block.fetches.append(-1 - fetch if fetch < 0 else wiring.inputs[fetch][0])

    def _instruction(
        self, out: InstructionDef, instruction: Instruction, k: int, wiring: Wiring
    ) -> None:
        out.inputs.extend(wiring.inputs[k])
        out.outputs = instruction.output_count
        out.controls.extend(wiring.controls[k])
        self._kind(out, instruction, wiring.reads_reference[k])
        self._variables(out, instruction, wiring.reads_reference[k])
        if not out.node_def:
            out.node_def = NodeDef(name=instruction.node, op=instruction.op).SerializeToString()

    def _variables(self, out: InstructionDef, instruction: Instruction, reads: bool) -> None:
        """Note what reads variables and what may change them."""
        if instruction.copy is not None:  # what is constant in a copy is another thing
            return
        if instruction.op in READERS or (reads and _takes_values_only(instruction)):
            if instruction.kind not in _FRAME_KINDS:  # what is constant in a frame is another thing
                self.reads.append(out)
        elif _may_change_variables(instruction):
            self.changes_variables = True

    def _kind(self, out: InstructionDef, instruction: Instruction, reads_reference: bool) -> None:
        op = instruction.op
        if instruction.kind in _FRAME_KINDS:
            out.kind = _FRAME_KINDS[instruction.kind]
            if instruction.kind is Kind.ENTER:
                out.frame = _utf8(instruction.attrs["frame_name"])
                out.is_constant = bool(instruction.attrs.get("is_constant"))
        elif instruction.loop is not None:
            self._loop(out, instruction, instruction.loop)
        elif instruction.copy is not None:
            self._copy(out, instruction, instruction.copy, reads_reference)
        elif instruction.kind is Kind.TRANSFER:
            out.kind = PlanKind.PLAN_TRANSFER
            out.callback = self._callback(instruction)
        elif op == "NoOp":
            out.kind = PlanKind.PLAN_NOTHING
        elif op == "Const" and not instruction.on_library and self._constant(out, instruction):
            pass
        elif op in FORWARDS and self._forwards(instruction, reads_reference):
            out.kind = PlanKind.PLAN_FORWARD
            if reads_reference:
                out.deref.extend(instruction.deref)
        elif not self._call(out, instruction):
            self._kernel(out, instruction, reads_reference)
        elif reads_reference:
            self.calls.append((out, instruction.deref))

    def _copy(
        self, out: InstructionDef, instruction: Instruction, to: CopyTo, reads_reference: bool
    ) -> None:
        out.kind = PlanKind.PLAN_COPY
        out.device = self._device(to.place)
        out.waits, out.is_constant = to.waits, to.is_kept
        if reads_reference:
            out.deref.extend(instruction.deref)

    def _device(self, name: str) -> int:
        """The number of a device; 0 for the host."""
        if name == HOST:
            return 0
        devices = self.out.plan.devices
        if name not in devices:
            devices.append(name)
        return list(devices).index(name) + 1

    def _loop(self, out: InstructionDef, instruction: Instruction, loop: Loop) -> None:
        """A loop of frames: its condition and its body are blocks of its own."""
        out.kind = PlanKind.PLAN_LOOP
        condition, body = self._inside(instruction, 2)
        for part, plan, at in (
            ("condition", loop.condition, condition), ("body", loop.body, body),
        ):  # fmt: skip
            number = len(self.out.plan.blocks)
            self.out.plan.blocks.add()
            self.waiting.append((f"{part} of {_utf8(loop.frame)}", plan, number, at))
            out.blocks.append(number)

    def _forwards(self, instruction: Instruction, reads_reference: bool) -> bool:
        """Whether the executor hands the inputs on itself.

        It reads variables of numbers that live in the host library; without plugins none does.
        """
        if instruction.on_library or not reads_reference:
            return not instruction.on_library
        return self.has_plugins and not any(t.base.is_object for t in instruction.output_types)

    def _constant(self, out: InstructionDef, instruction: Instruction) -> bool:
        """Whether the value is there: what is too large is left to the kernel, which says so."""
        dtype = instruction.attrs["dtype"].number
        try:
            stored = None if self.alone else _stored(instruction.attrs["value"], dtype)
            if stored is not None:
                return self._beside(out, stored, dtype, instruction.attrs["value"])
            value = instruction.attrs["value"].aligned(_BOUNDARY)
        except (MemoryError, DrystoneError):
            return False
        if _is_lazy(value) and not self.alone:
            return False
        if self.alone and not self.beside:
            proto = to_proto(value.astype(instruction.attrs["dtype"].np, copy=False))
            proto.dtype = dtype
            out.value = proto.SerializeToString()
            out.kind = PlanKind.PLAN_CONSTANT
            return True
        return self._beside(out, value, dtype, instruction.attrs["value"])

    def _beside(self, out: InstructionDef, value: Any, dtype: int, attr: TensorAttr) -> bool:
        """Hand a constant's value over beside the PlanDef; True."""
        self.out.constants.append((value, dtype))
        self.out.attrs.append(attr)
        out.kind = PlanKind.PLAN_CONSTANT
        out.constant = len(self.out.constants)
        return True

    def _call(self, out: InstructionDef, instruction: Instruction) -> bool:
        """Whether the instruction runs blocks."""
        called = self._called(instruction)
        if not called:
            return False
        try:
            ats = self._inside(instruction, len(called))
            blocks = [self._function(f, at) for f, at in zip(called, ats, strict=True)]
        except DrystoneError:
            return False
        known = CALLS.get(instruction.op)
        out.kind = PlanKind.PLAN_CALL if known is None else known[0]
        out.blocks.extend(blocks)
        return True

    def _inside(self, instruction: Instruction, count: int) -> list[Places | None]:
        """Where arguments and results are of the ``count`` plans that an instruction runs."""
        return [None] * count if self.places is None else self.places.inside(instruction, count)

    def _called(self, instruction: Instruction) -> Sequence[FunctionRef]:
        """The functions that an instruction runs."""
        if instruction.op in self.functions:
            return [FunctionRef(instruction.op, instruction.attrs)]
        if instruction.op not in CALLS:
            return []
        kind, names = CALLS[instruction.op]
        held = [instruction.attrs[name] for name in names]
        found: Sequence[FunctionRef] = held[0] if kind == PlanKind.PLAN_CASE else held
        return found

    def _kernel(self, out: InstructionDef, instruction: Instruction, reads_reference: bool) -> None:
        lazy = instruction.op == "Const" and not instruction.on_library
        is_kept = lazy or instruction.op in VARIABLES
        out.kind = PlanKind.PLAN_SESSION_CONSTANT if is_kept else PlanKind.PLAN_KERNEL
        if reads_reference:
            out.deref.extend(instruction.deref)
        if instruction.on_library:
            assert instruction.source is not None
            assert instruction.definition is not None
            out.node_def = described(instruction.source, instruction.stated)
            out.op = self._op(instruction.definition)
            there = instruction.on_device
            out.device = 0 if there is None else self._device(there.name)
            on_host = there is None or not any(there.inputs)  # where the NumPy kernel finds them
            out.callback = -self._fallback(instruction) if on_host else 0
        else:
            out.callback = self._callback(instruction, lazy=lazy)
            out.op = 0
            self._own(out, instruction)
            if not self.out.plan.op_defs:
                self.out.plan.op_defs.append(b"")

    def _own(self, out: InstructionDef, instruction: Instruction) -> None:
        """What the executor does itself: what a backend compiled, and reading with a version."""
        there = instruction.on_device
        out.own = instruction.attrs.get(OPERATOR_ATTR, 0) if there is None else _READS_THERE
        out.device = 0 if there is None else self._device(there.name)
        if out.own in (READS_VERSION, _READS_THERE):
            out.value_type = instruction.attrs["dtype"].number

    def _callback(self, instruction: Instruction, *, lazy: bool = False) -> int:
        """The number of a kernel of Python's, from 1."""
        self.out.kernels.append(instruction)
        shared = lazy or instruction.op in _IN_PLACE
        self.out.outputs.append(
            tuple(0 if shared else t.base.number for t in instruction.output_types)
        )
        return len(self.out.kernels)

    def _fallback(self, instruction: Instruction) -> int:
        """The number of the NumPy kernel for what the plugin's refuses; 0 where it never does."""
        by_kind = instruction.attrs.get("T") in (None, VARIANT)
        if self.alone or instruction.op not in _SHARED or not by_kind:
            return 0
        kernel = find_kernel(instruction.op)
        return 0 if kernel is None else self._callback(replace(instruction, kernel=kernel))

    def _op(self, definition: OpDef) -> int:
        if id(definition) not in self.op_numbers:
            self.op_numbers[id(definition)] = len(self.out.plan.op_defs)
            self.out.plan.op_defs.append(definition.to_proto().SerializeToString())
        return self.op_numbers[id(definition)]


def _hold_examples(block: BlockDef, examples: BatchLayout | NotBatchwise) -> None:
    """Say how feeds and fetches hold examples, or what mixes them."""
    from drystone_base.executor.micro_batches import NotBatchwise

    if isinstance(examples, NotBatchwise):
        named = f"{examples.node} ({examples.op})"
        block.whole_because = f"{named} is not known to compute each example by itself"
        return
    block.example_feeds.extend(examples.feeds)
    block.example_fetches.extend(examples.fetches)
    block.example_bytes = min(examples.bytes, _MOST_BYTES)
    block.least_examples = examples.least


def _stored(value: TensorAttr, dtype: int) -> Any:
    """A tensor of the host's for a large value that stays in a file; else None."""
    if value.dtype.number != dtype or value.dtype.is_object:
        return None
    from drystone_base.files.stored_tensors import stored_tensor

    return value.stored(lambda place, dims: stored_tensor(place, dtype, dims))


def _is_lazy(value: np.ndarray[Any, Any]) -> bool:
    """Whether a constant is one element seen many times: written out only if a kernel asks."""
    return value.nbytes > _LAZY_BYTES and not any(value.strides)


def _takes_values_only(instruction: Instruction) -> bool:
    return len(instruction.deref) == instruction.input_count


def _may_change_variables(instruction: Instruction) -> bool:
    """Whether an op that takes variables is named as those are that give them another value.

    One that is missed costs time only: who keeps what it made of a value holds that value.
    """
    if instruction.kind is not Kind.PLAIN or instruction.loop is not None:
        return False
    if instruction.op.startswith(("Assign", "Resource")):
        return not instruction.op.startswith("ResourceGather")
    definition = instruction.definition
    return definition is not None and any(arg.is_ref for arg in definition.inputs)


def _needs_python(kernels: Sequence[Instruction]) -> UnsupportedOp:
    ops = sorted({k.op for k in kernels})
    return UnsupportedOp(
        f"the plan cannot run without Python: {len(kernels)} of its nodes have NumPy kernels only",
        check="a plan for programs without Python must consist of kernels of plugins",
        found=", ".join(ops),
        needed="a plugin with kernels for these ops",
        remedy="install drystone-cpu, or fetch a tensor that does not need them",
        code="op-needs-python",
    )


def _utf8(name: str) -> str:
    """The name of a frame; one that is no UTF-8 is told apart by its bytes."""
    if name.isascii():
        return name
    held = name.encode("utf-8", "surrogateescape")
    return held.decode("utf-8", "ignore") + (f" of bytes {held.hex()}" if _lone(name) else "")


def _lone(name: str) -> bool:
    return any(0xD800 <= ord(letter) < 0xE000 for letter in name)
