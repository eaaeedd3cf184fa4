"""Sessions: run any fetches of a graph, with state kept from run to run."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from drystone_base._entry_points import declared
from drystone_base._feeds import Feed, to_array
from drystone_base._fetches import Fetches, flatten
from drystone_base.collector import no_cycle_collection
from drystone_base.config import SessionConfig
from drystone_base.errors import BadRequest, GraphError, near_matches
from drystone_base.executor import reference
from drystone_base.executor.functions import FunctionCaller, call_function
from drystone_base.executor.plan import Plan, lower
from drystone_base.executor.runtime import Runtime
from drystone_base.graph import Graph, Node, Output, output_name, placeholder_shape
from drystone_base.graph.pages import let_go_of_files
from drystone_base.graph.validate import output_dtypes
from drystone_base.kernels import Array
from drystone_base.late_tuples import NamedTuple
from drystone_base.ops.defs import find
from drystone_base.plugins import ensure_loaded
from drystone_base.policy import Access
from drystone_base.state import ResourceManager, Step

if TYPE_CHECKING:
    from drystone_base.cancellation import Cancellation
    from drystone_base.executor.native import NativePlan, NativeSession
    from drystone_base.placement import Decision, Partitions
    from drystone_base.placement.parts import Part
    from drystone_base.record import Record

__all__ = ["Session", "SessionConfig"]


class _Prepared(NamedTuple):
    """A plan with what its caller must know: the feeds, and which fetches are tensors."""

    plan: Plan
    feeds: list[Feed]
    has_value: list[bool]
    keeps_feeds: bool
    caller: FunctionCaller
    native: NativePlan | None
    quick: Callable[..., Any] | None


class _Split(NamedTuple):
    """A signature whose graph runs on several devices."""

    parts: list[Part]
    feeds: list[Feed]
    quick: None = None


class Session:
    """Runs parts of one graph. Variables, tables and queues live as long as the session.

    Safe to use from several threads. The graph must not be edited while a session uses it.
    """

    def __init__(self, graph: Graph, config: SessionConfig | None = None) -> None:
        ensure_loaded()
        self.graph = graph
        self.config = config or SessionConfig()
        self.access = self.config.access or Access.nothing()
        self.resources = ResourceManager()
        self._record: Record | None = None
        self._caller = FunctionCaller(graph.functions)
        self._seeded: Graph | None = None
        self._seeds: dict[str, Any] = {}
        self._prepared: dict[Any, _Prepared | _Split] = {}
        self._quick: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._lock = threading.Lock()
        self._native: NativeSession | None = None
        self._generation = self.resources.generation

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop all state: variables, tables, plans."""
        self.resources.clear()
        self._prepared.clear()
        self._quick.clear()

    def run(
        self,
        fetches: Fetches,
        feeds: Mapping[str, Any] | None = None,
        *,
        cancellation: Cancellation | None = None,
    ) -> Any:
        """Values of ``fetches``, in the same structure.

        Arrays that the session goes on holding (constants, variables) are read-only: copy them to
        change them. A fetch is ``node:k`` (an array), ``node`` (its output 0, or None for a node
        without outputs), or a list, tuple or dict of fetches. ``feeds`` maps tensor names to
        anything that NumPy can turn into an array. ``cancellation`` lets another thread stop the
        run; Ctrl-C stops it in the main thread. Raises ``BadRequest`` for feeds and fetches that
        do not fit, ``UnsupportedOp`` for a reached op without a kernel, ``KernelError`` from a
        kernel, with the codes ``deadline-exceeded`` and ``run-cancelled`` for a run that was
        stopped.
        """
        given = feeds or {}
        if type(fetches) is str and cancellation is None:
            quick = self._quick.get((fetches, *given))
            if quick is not None and self._is_plain():
                found = quick(tuple(given.values()), True)
                if found is not NotImplemented:
                    return found
        names: list[str] = []
        rebuild = flatten(fetches, names)
        prepared = self._prepare(names, list(given))
        if type(fetches) is str and prepared.quick is not None:
            self._quick[fetches, *given] = prepared.quick
        values = self._execute(prepared, tuple(given.values()), cancellation)
        return rebuild(iter(values))

    @contextmanager
    def record(self) -> Iterator[Record]:
        """Record the runs of the block: which node took how long and how much memory.

        One record at a time; runs of other threads go into it, too. ::

            with session.record() as record:
                session.run("y:0", {"x:0": x})
            record.by_op()
        """
        from drystone_base.record import Record

        self._record = record = Record()
        try:
            yield record
        finally:
            self._record = None

    def make_callable(
        self,
        fetches: Fetches,
        feeds: Sequence[str] = (),
        *,
        cancellation: Cancellation | None = None,
    ) -> Callable[..., Any]:
        """A function of the values of ``feeds``, in order, that gives what ``run`` would."""
        names: list[str] = []
        rebuild = flatten(fetches, names)
        prepared = self._prepare(names, list(feeds))
        quick = prepared.quick if type(fetches) is str and cancellation is None else None

        def call(*values: Any) -> Any:
            if quick is not None and self._is_plain():
                found = quick(values, True)
                if found is not NotImplemented:
                    return found
            if len(values) != len(prepared.feeds):
                raise BadRequest(
                    "a prepared call was given the wrong number of values",
                    check="a call must give one value per feed",
                    found=len(values),
                    needed=f"{len(prepared.feeds)}: {', '.join(f.name for f in prepared.feeds)}",
                    remedy="give the values in the order of the feeds",
                    code="wrong-argument-count",
                )
            return rebuild(iter(self._execute(prepared, values, cancellation)))

        return call

    def plan(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> bytes:
        """A serialized PlanDef for programs without Python, of ``fetches`` from ``feeds``.

        See ``drystone/session.h``. Raises as :meth:`run` does, and ``UnsupportedOp``
        (``op-needs-python``) where a node has no kernel of a plugin.
        """
        from drystone_base.executor.native import standalone

        described = self._describe_feeds(feeds)
        config = replace(self.config, device_count={})
        (graph,) = self._graphs(list(fetches), list(feeds), config).graphs.values()
        plan = self._plan_of(graph, fetches, described, (), native=True)
        return standalone(plan, [f.dtype for f in described], graph)

    def describe(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> dict[str, Any]:
        """What the native executor runs for ``fetches``: blocks of instructions and their kernels.

        Values as ``DS_DescribePlan`` in ``drystone/session.h`` gives them.
        """
        prepared = self._prepare(list(fetches), list(feeds))
        if isinstance(prepared, _Split) or prepared.native is None:
            raise BadRequest(
                "only the native executor has plans to describe, one for each device",
                check="the session's executor must be the native one, with one device",
                found=f"{self.config.executor}, device_count {dict(self.config.device_count)}",
                needed='SessionConfig(executor="native")',
                remedy="open a session with that config",
                code="no-native-plan",
            )
        described: dict[str, Any] = json.loads(prepared.native.describe())
        return described

    # ---- preparing -----------------------------------------------------------------------------

    def _prepare(self, fetches: list[str], feeds: list[str]) -> _Prepared | _Split:
        key = (tuple(fetches), tuple(feeds))
        with self._lock:
            if key not in self._prepared:
                with no_cycle_collection():
                    self._prepared[key] = self._lower(fetches, feeds)
            return self._prepared[key]

    def _lower(self, fetches: list[str], feeds: list[str]) -> _Prepared | _Split:
        described = self._describe_feeds(feeds)
        for name in fetches:
            self._find(name, "fetch")
        parts = self._graphs(fetches, feeds, self.config)
        let_go_of_files(self.graph)  # the optimizer has read what it folds
        if len(parts.graphs) > 1:
            return self._lower_parts(parts, fetches, described)
        (graph,) = parts.graphs.values()
        return self._lower_graph(graph, fetches, described, ())

    def _lower_parts(self, parts: Partitions, fetches: list[str], feeds: list[Feed]) -> _Split:
        """One plan for each device: what it fetches, and what it must send to others."""
        from drystone_base.placement.parts import Part

        made = []
        for device, graph in parts.graphs.items():
            fetched = [k for k, name in enumerate(fetches) if name.split(":")[0] in graph]
            fed = [k for k, feed in enumerate(feeds) if feed.output[0].name in graph]
            plan = self._lower_graph(
                graph, [fetches[k] for k in fetched], [feeds[k] for k in fed], parts.sends[device]
            )
            made.append(Part(device, plan, tuple(fed), tuple(fetched)))
        return _Split(made, feeds)

    def _plan_of(
        self, graph: Graph, fetches: Sequence[str], feeds: Sequence[Feed], targets: Sequence[Node],
        *, native: bool,
    ) -> Plan:  # fmt: skip
        found = [self._find(name, "fetch") for name in fetches]
        return lower(
            graph,
            [(graph[f[0].name], f[1]) for f in found if isinstance(f, tuple)],
            [*(graph[f.name] for f in found if isinstance(f, Node)), *targets],
            [(graph[f.output[0].name], f.output[1]) for f in feeds],
            call_function=call_function,
            native=native,
        )

    def _lower_graph(
        self, graph: Graph, fetches: list[str], feeds: list[Feed], targets: Sequence[Node]
    ) -> _Prepared:
        native_wanted = self.config.executor == "native"
        plan = self._plan_of(graph, fetches, feeds, targets, native=native_wanted)
        stateful = any(
            (d := find(i.op)) is None or d.is_stateful for i in plan.instructions if i.op
        )
        caller = self._caller if graph is self.graph else FunctionCaller(graph.functions)
        has_value = [isinstance(self._find(name, "fetch"), tuple) for name in fetches]
        native = self._load(plan, feeds, graph, caller, stateful)
        quick = None
        if native is not None and all(has_value) and self.config.deadline is None:
            quick = native.quick([feed.shape for feed in feeds], self._runtime(caller))
        return _Prepared(plan, feeds, has_value, stateful, caller, native, quick)

    def _load(
        self, plan: Plan, feeds: list[Feed], graph: Graph, caller: FunctionCaller, copies: bool
    ) -> NativePlan | None:
        """The plan in the native executor, if that is the one that runs it."""
        if self.config.executor != "native":
            return None
        from drystone_base.executor.native import NativePlan, NativeSession

        if self._native is None:
            together = 1 if self.config.deterministic else self.config.inter_op_threads
            self._native = NativeSession(self.config.intra_op_threads, together)
        types = [feed.dtype for feed in feeds]
        return NativePlan(self._native, plan, types, caller, graph.functions, copies)

    def _with_seeds(self) -> Graph:
        """The graph, in which the session's seed has given random nodes theirs."""
        if self.config.seed is None:
            return self.graph
        if self._seeded is None:
            from drystone_base._seeding import with_seeds

            self._seeded = with_seeds(self.graph, self.config.seed)
        return self._seeded

    def _optimize(self, fetches: list[str], feeds: list[str]) -> Graph:
        """The graph as the installed modules optimize it for these fetches, once per signature."""
        graph = self._with_seeds()
        if self.config.optimizer == "off" or not (
            "drystone_base.modules" in sys.modules or declared("drystone.modules")
        ):
            return graph
        from drystone_base.modules import stage

        for optimize in stage("optimize"):
            graph = optimize(graph, fetches, feeds, self.config.optimizer)
        return graph

    def _graphs(self, fetches: list[str], feeds: list[str], config: SessionConfig) -> Partitions:
        """The graph of every device: optimized, passed, placed and split."""
        from drystone_base.placement.partitions import whole

        graph = self._optimize(fetches, feeds)
        wanted = config.passes or config.device_count or "drystone_base.passes" in sys.modules
        if not wanted and not declared("drystone.passes"):
            return self._partition(whole(graph), fetches, feeds)
        from drystone_base.passes import prepare

        return self._partition(prepare(graph, fetches, feeds, config), fetches, feeds)

    def _partition(self, parts: Partitions, fetches: list[str], feeds: list[str]) -> Partitions:
        """The graphs with regions as operators of the backends that the config asks for."""
        wish = self.config.subgraphs
        off = wish == "off" or (wish is None and "DRYSTONE_SUBGRAPH_BACKEND" not in os.environ)
        if off and not self.config.passes:
            return parts
        from drystone_base._partitioning import has_operators, partition_parts

        if off and not has_operators(parts):
            return parts
        return partition_parts(parts, fetches, feeds, wish)

    def placement(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> list[Decision]:
        """Where each node that ``fetches`` need runs, and why; raises as :meth:`run` does."""
        from drystone_base.passes import place_for

        graph = self._optimize(list(fetches), list(feeds))
        return place_for(graph, fetches, feeds, self.config).decisions

    def _find(self, name: str, role: str) -> Output | Node:
        """The output or node that a feed or fetch names; raises ``BadRequest``."""
        try:
            node, index = self.graph.output(name)
        except GraphError as error:
            near = near_matches(name.split(":")[0], (n.name for n in self.graph))
            raise BadRequest(
                f"{role} {name!r} is not in the graph",
                check=f"a {role} must name a tensor of the graph as node:k",
                found=name,
                needed="the name of a node, with an output index",
                remedy=f"did you mean {', '.join(near)}?"
                if near
                else "`drystone inspect` lists names",
                code=f"unknown-{role}",
                status="NOT_FOUND",
            ) from error
        types = output_dtypes(node)
        if types is not None and not types and name == node.name and role == "fetch":
            return node
        if types is not None and index >= len(types):
            raise BadRequest(
                f"{role} {name!r} is not an output that its node has",
                check="the output index must be below the number of outputs",
                found=index,
                needed=f"{node.op} has {len(types)} outputs",
                remedy="`drystone inspect` lists nodes and their outputs",
                code=f"unknown-{role}",
                status="NOT_FOUND",
            )
        return (node, index)

    def _describe_feeds(self, names: Sequence[str]) -> list[Feed]:
        described = [self._describe_feed(name) for name in names]
        if len({f.output for f in described}) < len(described):
            raise BadRequest(
                "a tensor is fed twice",
                check="a tensor may be fed once",
                found=", ".join(names),
                needed="different tensors",
                remedy="leave one of the two out: 'x' and 'x:0' are one tensor",
                code="duplicate-feed",
            )
        return described

    def _describe_feed(self, name: str) -> Feed:
        found = self._find(name, "feed")
        assert isinstance(found, tuple)
        node, index = found
        types = output_dtypes(node)
        if types is None:
            raise BadRequest(
                f"feed {name!r} has no known dtype",
                check="a fed tensor must have a dtype",
                found=f"op {node.op!r} is unknown",
                needed="an op with a definition",
                remedy="feed the output of another node, or register the op",
                code="unknown-feed",
            )
        shape = placeholder_shape(node) if node.op.startswith("Placeholder") else None
        return Feed(output_name(found), found, types[index].base, shape)

    # ---- running -------------------------------------------------------------------------------

    def _is_plain(self) -> bool:
        """Whether nobody records runs, and plans may use what they keep."""
        return self._record is None and self._generation == self.resources.generation

    def _execute(
        self,
        prepared: _Prepared | _Split,
        values: tuple[Any, ...],
        cancellation: Cancellation | None,
        step: Step | None = None,
    ) -> list[Any]:
        if isinstance(prepared, _Split):
            return self._execute_parts(prepared, values, cancellation)
        if prepared.quick is not None and cancellation is None and step is None:
            found: list[Any] = prepared.quick(values, False) if self._is_plain() else NotImplemented
            if found is not NotImplemented:
                return found
        native = prepared.native
        if not (prepared.plan.has_plugins if native is None else native.has_kernels):
            return self._run(prepared, values, cancellation, step)
        from drystone_base.host.memory import aligned_arrays

        with aligned_arrays():
            return self._run(prepared, values, cancellation, step)

    def _execute_parts(
        self, split: _Split, values: Sequence[Any], cancellation: Cancellation | None
    ) -> list[Any]:
        from drystone_base.placement.parts import run_parts

        def run(part: Part, given: Sequence[Any], step: Step) -> list[Any]:
            return self._execute(part.plan, tuple(given), cancellation, step)

        return run_parts(split.parts, values, run)

    def _runtime(
        self,
        caller: FunctionCaller,
        step: Step | None = None,
        deadline: float | None = None,
        cancellation: Cancellation | None = None,
        record: Record | None = None,
    ) -> Runtime:
        return Runtime(
            self.resources,
            caller,
            self._seeds,
            step,
            deadline=deadline,
            record=record,
            access=self.access,
            producer=self.graph.producer,
            cancellation=cancellation,
        )

    def _run(
        self,
        prepared: _Prepared,
        values: Sequence[Any],
        cancellation: Cancellation | None,
        step: Step | None,
    ) -> list[Any]:
        arrays = [
            to_array(feed, value, prepared.keeps_feeds and prepared.native is None)
            for feed, value in zip(prepared.feeds, values, strict=True)
        ]
        limit = self.config.deadline
        deadline = None if limit is None else time.monotonic() + limit
        runtime = self._runtime(prepared.caller, step, deadline, cancellation, self._record)
        if runtime.record is None:
            fetched = iter(self._compute(prepared, arrays, runtime))
        else:
            with runtime.record.run():
                fetched = iter(self._compute(prepared, arrays, runtime))
        return [next(fetched) if has_value else None for has_value in prepared.has_value]

    def _compute(self, prepared: _Prepared, arrays: Sequence[Array], runtime: Runtime) -> list[Any]:
        if prepared.native is None:
            return reference.run(prepared.plan, arrays, runtime)
        if self._native is not None and self._generation != self.resources.generation:
            self._generation = self.resources.generation
            self._native.reset()
        return prepared.native.run(arrays, runtime)
