"""Lowering: from a graph, fetches and feeds to a plan of flat, index-addressed instructions."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import UnsupportedOp, near_matches
from drystone_base.core.made_by import Made
from drystone_base.core.payloads import at_node
from drystone_base.core.registered import ENTRY_FUNCTIONS
from drystone_base.core.time_limits import look
from drystone_base.graph import Graph, Node, Output, needed_nodes, output_name, topological_order
from drystone_base.graph.topology import DEAD_WITH, TRANSFER_OPS
from drystone_base.graph.validate import definition_of, validate
from drystone_base.kernels import Kernel, find_kernel, kernel_of_package
from drystone_base.modules.wanted import refused_offer
from drystone_base.ops.defs import OpDef, find, names

if TYPE_CHECKING:
    from drystone_base.executor.copies import CopyTo
    from drystone_base.executor.micro_batches import BatchLayout, NotBatchwise
    from drystone_base.executor.selection import Candidate
    from drystone_base.executor.stated_shapes import StatedShapes
    from drystone_base.inference.calls import Given

__all__ = ["Instruction", "Kind", "Loop", "OnDevice", "Plan", "can_run", "lower", "runs_itself"]


class OnDevice(NamedTuple):
    """A device, and which inputs and outputs of a node lie in its memory."""

    name: str
    inputs: tuple[bool, ...]
    outputs: tuple[bool, ...]


class Kind(enum.IntEnum):
    """How the executor treats an instruction; all but PLAIN belong to control flow by frames."""

    PLAIN = 0
    SWITCH = 1
    MERGE = 2
    ENTER = 3
    EXIT = 4
    NEXT_ITERATION = 5
    TRIGGER = 6
    FETCH = 7
    LOOP = 8  # a loop of frames as one instruction, for the native executor
    COPY = 10  # hands on its input in another memory, for the native executor
    TRANSFER = 9  # sends or receives a value that may be dead; a dead one is None for its kernel


_KINDS: Final[dict[str, Kind]] = {
    "Switch": Kind.SWITCH,
    "RefSwitch": Kind.SWITCH,
    "_SwitchN": Kind.SWITCH,
    "Merge": Kind.MERGE,
    "RefMerge": Kind.MERGE,
    "Enter": Kind.ENTER,
    "RefEnter": Kind.ENTER,
    "Exit": Kind.EXIT,
    "RefExit": Kind.EXIT,
    "NextIteration": Kind.NEXT_ITERATION,
    "RefNextIteration": Kind.NEXT_ITERATION,
    "ControlTrigger": Kind.TRIGGER,
}


_REMEDIES: Final = {
    "XlaCallModule": "its program is one for XLA: pip install drystone-pjrt, which computes it by "
    "NumPy, and xla-cpu-pjrt as well, which compiles it where a session has "
    'SessionConfig(subgraphs="pjrt"); or export the model again with '
    "jax2tf.convert(f, native_serialization=False)",
}


_SHOWN: Final = 20


def _on_library(*_values: object) -> None:
    """Stands for a kernel that the host library finds and calls."""


def _with_kernels() -> str:
    """How many of the known ops run."""
    known = names()
    return f"{sum(map(can_run, known))} of {len(known)} known ops"


def runs_itself(op: str) -> bool:
    """Whether the executor runs nodes of that op without a kernel."""
    return op in _KINDS


def can_run(op: str) -> bool:
    """Whether nodes of that op run: the op has a kernel, or the executor itself knows it."""
    return op in _KINDS or op in _plugin_kernels() or find_kernel(op) is not None


def _plugin_kernels() -> Mapping[str, Any]:
    """The kernels of plugins by op: nothing is imported before a plugin registered something."""
    if not ENTRY_FUNCTIONS:
        return {}
    from drystone_base.executor.selection import registered

    return registered()


class Loop(NamedTuple):
    """What a LOOP runs: plans of its condition and its body, and the name of its frame.

    Both take the loop's variables and what is the same in all iterations, as the LOOP does;
    the body gives the variables of the next iteration.
    """

    condition: Plan
    body: Plan
    frame: str


@dataclass(eq=False, slots=True)
class Instruction:
    """One node, lowered. ``edges`` lists (output, consumer, consumer's input) by index.

    ``waits`` counts what must arrive before it runs: its data inputs and control edges.
    ``deref`` lists inputs that may carry a variable but must be read as a value. ``on_library``:
    the host library runs it with the kernel of a plugin that it finds itself, for ``source``, a
    node of ``definition``'s op; ``kernel`` is None then. ``on_device``: that kernel runs on a
    device of a plugin. ``copy``: what a COPY does. ``stated``: the shapes that the kernel of a
    plugin that is not trusted must keep to.
    """

    kind: Kind
    kernel: Kernel | None
    node: str
    op: str
    attrs: Mapping[str, Any]
    input_count: int
    output_count: int
    input_slices: Mapping[str, slice] = field(default_factory=dict)
    control_count: int = 0
    deref: tuple[int, ...] = ()
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    control_edges: list[int] = field(default_factory=list)
    device: str = ""
    output_types: Sequence[DType] = ()
    on_library: bool = False
    source: Node | None = None
    definition: OpDef | None = None
    loop: Loop | None = None
    on_device: OnDevice | None = None
    copy: CopyTo | None = None
    stated: Sequence[int] = ()

    @property
    def is_transfer(self) -> bool:
        """Whether a value that it takes or gives may be dead."""
        return self.kind is Kind.TRANSFER


@dataclass(eq=False, slots=True)
class Plan:
    """A lowered graph. ``sources`` run first; ``feeds`` lists, per feed, the inputs that it fills.

    Fetch ``k`` is instruction ``fetches[k]``; a fetch of a fed output is -1 - its feed index.
    ``has_plugins``: kernels of plugins are among the instructions. ``examples``: how feeds and
    fetches hold examples that are computed by themselves, or what mixes them. ``made_by``:
    plugins whose optimizers made nodes, by node. ``brief``: with so many bytes of feeds, a run was
    over in a moment.
    """

    instructions: list[Instruction]
    sources: list[int]
    feeds: list[list[tuple[int, int]]]
    fetches: list[int]
    feed_names: list[str]
    fetch_names: list[str]
    has_plugins: bool = False
    producer: int = 0
    examples: BatchLayout | NotBatchwise | None = None
    made_by: Made = field(default_factory=dict)
    brief: int = -1


def lower(
    graph: Graph,
    fetches: Sequence[Output],
    targets: Sequence[Node] = (),
    feeds: Sequence[Output] = (),
    *,
    call_function: Kernel,
    native: bool = False,
    device_types: Collection[str] = (),
    given: Callable[[], Sequence[Given] | None] | None = None,
) -> Plan:
    """The plan that computes ``fetches``, runs ``targets`` and takes ``feeds``.

    Only what they need is looked at. ``call_function`` is the kernel for nodes whose op is a
    function of the graph's library. ``native``: plugins' kernels are left to the host library.
    ``device_types``: nodes that were placed on devices of these types run there, where plugins have
    kernels for them. ``given`` says what is known of the feeds, where these are arguments.
    Raises ``GraphError`` for an invalid node that is reached and ``UnsupportedOp``
    (``op-not-implemented``, ``op-unknown``) for one without a kernel.
    """
    lowering = _Lowering(graph, fetches, targets, feeds, call_function, native)
    lowering.device_types, lowering.given = device_types, given
    return lowering.build()


class _Lowering:
    def __init__(
        self,
        graph: Graph,
        fetches: Sequence[Output],
        targets: Sequence[Node],
        feeds: Sequence[Output],
        call_function: Kernel,
        native: bool,
    ) -> None:
        self.native = native
        self.device_types: Collection[str] = ()
        self.given: Callable[[], Sequence[Given] | None] | None = None
        self.graph, self.fetches, self.targets, self.feeds = graph, fetches, targets, feeds
        self.call_function = call_function
        self.plugin_kernels = _plugin_kernels()
        self.has_plugins = False
        self.fed = {output: k for k, output in enumerate(feeds)}
        self.index: dict[Node, int] = {}
        self.instructions: list[Instruction] = []
        self.needed: Collection[Node] = ()
        self.stated: dict[Node, Sequence[int]] = {}

    def build(self) -> Plan:
        wanted = [node for node, k in self.fetches if (node, k) not in self.fed]
        needed = self.needed = needed_nodes([*wanted, *self.targets], self.fed)
        validate(self.graph, needed)
        for node in needed:
            look()
            self.index[node] = len(self.instructions)
            self.instructions.append(self._instruction(node))
        topological_order(needed, fed=self.fed)  # refuses a cycle, which would never become ready
        feeds: list[list[tuple[int, int]]] = [[] for _ in self.feeds]
        for node in needed:
            self._connect(node, feeds)
        fetches = [self._fetch(output) for output in self.fetches]
        sources = [
            k for k, i in enumerate(self.instructions) if not i.input_count and not i.control_count
        ]
        return Plan(
            self.instructions,
            sources,
            feeds,
            fetches,
            [output_name(f) for f in self.feeds],
            [output_name(f) for f in self.fetches],
            self.has_plugins,
            self.graph.producer,
        )

    def _instruction(self, node: Node) -> Instruction:
        definition = definition_of(node)
        there = self._on_device(node) if self.device_types else None
        kernel = self._kernel(node, definition) if there is None else None
        assert definition is not None
        attrs = node.full_attrs()
        refs = [
            arg.is_ref
            for arg, part in zip(
                definition.inputs, definition.input_slices(attrs).values(), strict=True
            )
            for _ in range(part.stop - part.start)
        ]
        transfers = node.op in TRANSFER_OPS and node.states(DEAD_WITH)
        return Instruction(
            Kind.TRANSFER if transfers else _KINDS.get(node.op, Kind.PLAIN),
            kernel,
            node.name,
            node.op,
            attrs,
            len(node.inputs),
            len(definition.output_types(attrs)),
            definition.input_slices(attrs),
            deref=tuple(k for k, ref in enumerate(refs) if not ref),
            device=node.device,
            output_types=definition.output_types(attrs),
            on_library=kernel is None and node.op not in _KINDS,
            source=node,
            definition=definition,
            on_device=there,
            stated=self.stated.get(node, ()),
        )

    def _on_device(self, node: Node) -> OnDevice | None:
        """The device that the node was placed on, if it is a plugin's and has a kernel for it."""
        from drystone_base.executor.plugin_devices import device_of, kernel_on, on_device

        kind = device_of(node.device)
        chosen = kernel_on(node, kind) if kind in self.device_types else None
        if chosen is None:
            return None
        self.has_plugins = True
        self._state(node, chosen)
        return on_device(node, chosen)

    def _state(self, node: Node, chosen: Candidate) -> Sequence[int]:
        """Note the shapes that a kernel must keep to, unless its library is trusted."""
        from drystone_base.host.library import is_vouched_for

        if is_vouched_for(chosen.library):
            return ()
        definition = definition_of(node)
        assert definition is not None
        count = len(definition.output_types(node.full_attrs()))
        stated = self.stated[node] = self.shapes.of(node, count)
        return stated

    @cached_property
    def shapes(self) -> StatedShapes:
        """What inference knows of what is lowered."""
        from drystone_base.executor.stated_shapes import StatedShapes

        return StatedShapes(self.graph, self.needed, self.fed, self.given)

    def _kernel(self, node: Node, definition: OpDef | None) -> Kernel | None:
        if node.op in _KINDS:
            return None
        if node.op in self.plugin_kernels and definition is not None:
            plugin = self._of_plugin(node, definition)
            if plugin is not None:
                self.has_plugins = True
                return None if plugin is _on_library else plugin
        found = find_kernel(node.op)
        if found is not None:
            return found
        if node.op in self.graph.functions:
            return self.call_function
        of_package = kernel_of_package(node.op)
        if of_package is not None:
            return of_package
        known = definition is not None and find(node.op) is not None
        near = near_matches(node.op, filter(can_run, names()) if known else names())
        refused = refused_offer("kernels", node.op)
        raise UnsupportedOp(
            f"node {node.name!r} cannot run: op {node.op!r} is "
            + ("known but not implemented" if known else "unknown")
            + (f"; plugin {refused.plugin} is not loaded: {refused.found}" if refused else ""),
            details=at_node(node.name, node.op),
            check="every op that a fetch reaches must have a kernel",
            found=self._lacking(node.op),
            needed=f"an op with a kernel: {_with_kernels()} have one",
            remedy=_REMEDIES.get(node.op, "fetch a tensor that does not need this node")
            + (f"; did you mean {', '.join(near)}?" if near else ""),
            code="op-not-implemented" if known else "op-unknown",
            inner=refused,
        )

    def _of_plugin(self, node: Node, definition: OpDef) -> Kernel | None:
        """The kernel of a plugin; ``_on_library`` for one that the host library calls itself."""
        from drystone_base.executor.selection import chosen_kernel

        chosen = chosen_kernel(node, own=self.native)
        if chosen is None:
            return None
        stated = self._state(node, chosen)
        if self.native and not chosen.isolated:
            return _on_library
        from drystone_base.executor.plugin_kernels import kernel_by

        return kernel_by(chosen, node, definition, self.fed, stated)

    def _lacking(self, op: str) -> str:
        """The op, and those others of what is lowered that have no kernel either."""
        ops = {node.op for node in self.needed} - {op}
        others = sorted(o for o in ops if not (can_run(o) or o in self.graph.functions))
        if not others:
            return op
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        return f"{op}; without a kernel as well: {', '.join(others[:_SHOWN])}{more}"

    def _connect(self, node: Node, feeds: list[list[tuple[int, int]]]) -> None:
        me = self.index[node]
        for slot, output in enumerate(node.inputs):
            if output in self.fed:
                feeds[self.fed[output]].append((me, slot))
            else:
                self.instructions[self.index[output[0]]].edges.append((output[1], me, slot))
        for source in dict.fromkeys(node.controls):
            if source in self.index:
                self.instructions[self.index[source]].control_edges.append(me)
                self.instructions[me].control_count += 1

    def _fetch(self, output: Output) -> int:
        """An instruction without a kernel that keeps one value; or the feed that is fetched."""
        if output in self.fed:
            return -1 - self.fed[output]
        me = len(self.instructions)
        name = output_name(output)
        self.instructions.append(Instruction(Kind.FETCH, None, name, "", {}, 1, 0, deref=(0,)))
        source = self.instructions[self.index[output[0]]]
        source.edges.append((output[1], me, 0))
        return me
