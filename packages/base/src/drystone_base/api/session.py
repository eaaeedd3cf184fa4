"""Sessions: run any fetches of a graph, with state kept from run to run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self

from drystone_base.api.config import SessionConfig
from drystone_base.api.fetches import Fetches, check_feeds, flatten
from drystone_base.api.in_time import prepared_for_ctrl_c, prepared_in_time
from drystone_base.api.native_plans import NativePlans
from drystone_base.api.prepared import Plans, Prepared, Split
from drystone_base.api.remote import Remote, open_target, refuse_remote
from drystone_base.api.session_graph import SessionGraph, closed_source, refuse_closed
from drystone_base.core.arguments import blame, checked
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.core.time_limits import OutOfTime, until
from drystone_base.files.access import Access
from drystone_base.loaders._source import GraphSource
from drystone_base.modules.variables import check_environment
from drystone_base.plugins import ensure_loaded
from drystone_base.state.variables import VARIABLE_KIND, ResourceManager, Step

if TYPE_CHECKING:
    from drystone_base.api.cached_plans import CachedPlan, CachedPlans
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.record import Record
    from drystone_base.graph import Graph
    from drystone_base.kernels import Array
    from drystone_base.placement import Decision
    from drystone_base.placement.parts import Part
    from drystone_base.state.cancellation import Cancellation
    from drystone_base.state.runtime import Runtime
    from drystone_base.state.variables import Variable

__all__ = ["Session", "SessionConfig"]

_TO_NAME_TASKS: Final = 1.5
"""Seconds beyond the deadline in which a target says which of its tasks did not answer."""


class Session:
    """Runs parts of one graph. Variables, tables and queues live as long as the session.

    Safe to use from several threads. The graph must not be edited while a session uses it.
    """

    @checked
    def __init__(self, graph: Graph | GraphSource, config: SessionConfig | None = None) -> None:
        check_environment()
        ensure_loaded()
        self.config = config or SessionConfig()
        source = graph if isinstance(graph, GraphSource) else GraphSource.of(graph)
        self._graph = SessionGraph(source, self.config.seed)
        self.access = self.config.access or Access.nothing()
        self.resources = ResourceManager()
        self._record: Record | None = None
        self._seeds: dict[str, Any] = {}
        self._prepared = Plans(self.config.plans)
        self._lock = threading.Lock()
        self._native = NativePlans(self.config)
        self._generation = self.resources.generation
        self._target = open_target(self.config)
        self._closed = False

    def __repr__(self) -> str:
        if self._closed:
            return "<Session: closed>"
        held = sum(1 for _ in self.resources.items(VARIABLE_KIND))
        return f"<Session of {self._graph.source!r}, {self.config.executor}, {held} variables>"

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph.source.hand_out()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def variables(self) -> Mapping[str, Variable]:
        """The variables that exist now, by name; their values are what runs read and assign.

        Raises ``BadRequest``: ``model-closed``, and ``remote-session`` where they are elsewhere.
        """
        self.check_open()
        if self._target is not None:
            raise refuse_remote("variables")
        return dict(self.resources.items(VARIABLE_KIND))

    def beside(self, graph: Graph) -> Session:
        """A session of another graph with the same state: variables, tables, what ops may reach."""
        self.check_open()
        other = Session(graph, self.config)
        other.resources, other.access = self.resources, self.access
        return other

    def close(self) -> None:
        """Let go of the graph, of variables, tables and plans. To close it again does nothing.

        Runs of other threads that have begun end as they would; what is asked of the session
        afterwards raises ``BadRequest`` (``model-closed``).
        """
        self._closed = True
        self._let_go()

    def _let_go(self) -> None:
        """Hold nothing any more. Runs under way have what they use in hands of their own."""
        self._graph = SessionGraph(closed_source(), None)
        self.resources = ResourceManager()
        self.resources.generation, self._generation = -2, -1  # no plan goes on with what it keeps
        self._prepared = Plans(self.config.plans)
        self._seeds, self._native = {}, NativePlans(self.config)
        if self._target is not None:
            self._target.close()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._closed

    def check_open(self) -> None:
        """Raise ``BadRequest`` (``model-closed``) for a session that is closed."""
        if self._closed:
            refuse_closed()

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
        try:
            given = feeds or {}
            if type(fetches) is str and cancellation is None:
                quick = self._prepared.quick.get((fetches, *given))
                if quick is not None and self._is_plain():
                    found = quick(tuple(given.values()), True)
                    if found is not NotImplemented:
                        return found
            names: list[str] = []
            rebuild = flatten(fetches, names)
            ends = self._ends()
            plan = sorted(set(names))  # whatever their order, and how often, they have one plan
            prepared = self._prepare(plan, list(given), ends, cancellation)
            if type(fetches) is str and prepared.quick is not None:
                self._prepared.quick[fetches, *given] = prepared.quick
                if self._closed:  # meanwhile
                    self._let_go()
            values = self._execute(prepared, tuple(given.values()), cancellation, ends)
            return rebuild(map(values.__getitem__, _places(names, plan)))
        except DrystoneError:
            raise
        except Exception as error:
            blame(Session.run, error, self, fetches, feeds, cancellation=cancellation)

    @contextmanager
    def record(self) -> Iterator[Record]:
        """Record the runs of the block: which node took how long and how much memory.

        One record at a time; runs of other threads go into it, too, and what profilers of plugins
        say of their devices. A profiler that fails costs a ``PluginWarning``. ::

            with session.record() as record:
                session.run("y:0", {"x:0": x})
            record.by_op()
        """
        from drystone_base.executor.record import Record
        from drystone_base.plugins.profiles import device_profiles

        if self._target is not None:
            raise refuse_remote("recordings")
        with device_profiles() as devices:
            self._record = record = Record(devices)
            try:
                yield record
            finally:
                self._record = None

    @checked
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
        plan = sorted(set(names))
        prepared = self._prepare(plan, list(feeds), self._ends())
        quick = prepared.quick if cancellation is None else None
        single = type(fetches) is str
        as_given = single or (type(fetches) is list and fetches == plan)  # the plan's own form
        places = _places(names, plan)

        def call(*values: Any) -> Any:
            if quick is not None and self._is_plain():
                found = quick(values, single)
                if found is not NotImplemented:
                    return found if as_given else rebuild(map(found.__getitem__, places))
            if len(values) != len(prepared.feeds):
                raise BadRequest(
                    "a prepared call was given the wrong number of values",
                    check="a call must give one value per feed",
                    found=len(values),
                    needed=f"{len(prepared.feeds)}: {', '.join(f.name for f in prepared.feeds)}",
                    remedy="give the values in the order of the feeds",
                    code="wrong-argument-count",
                )
            found = self._execute(prepared, values, cancellation, self._ends())
            return rebuild(map(found.__getitem__, places))

        return call

    @checked
    def plan(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> bytes:
        """A serialized PlanDef for programs without Python, of ``fetches`` from ``feeds``.

        See ``drystone/session.h``. Raises as :meth:`run` does, and ``UnsupportedOp``
        (``op-needs-python``) where a node has no kernel of a plugin.
        """
        from drystone_base.api.preparing import Preparing

        preparing = partial(Preparing, self._graph, self.config, self.access)
        return prepared_in_time(lambda: preparing().standalone(fetches, feeds), self._ends())

    @checked
    def placement(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> list[Decision]:
        """Where each node that ``fetches`` need runs, and why; raises as :meth:`run` does."""
        from drystone_base.api.preparing import Preparing

        preparing = partial(Preparing, self._graph, self.config, self.access, self._target)
        return prepared_in_time(lambda: preparing().placement(fetches, feeds), self._ends())

    @checked
    def describe(self, fetches: Sequence[str], feeds: Sequence[str] = ()) -> dict[str, Any]:
        """What the native executor runs for ``fetches``: blocks of instructions and their kernels.

        Values as ``DS_DescribePlan`` in ``drystone/session.h`` gives them.
        """
        prepared = self._prepare(list(fetches), list(feeds), self._ends())
        if not isinstance(prepared, Prepared) or prepared.native is None:
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

    @checked
    def make_part(
        self, fetches: Sequence[str], feeds: Sequence[str], sends: Sequence[str]
    ) -> Callable[[Sequence[Any], Step, Cancellation | None, float | None], list[Any]]:
        """What runs a part of a graph that was split: of values, a step and limits, the fetches.

        ``sends``: nodes that must run whatever is fetched. The step's resources hold the rendezvous
        in which parts meet. For packages that run parts on several machines; raises as :meth:`run`.
        """
        count = len(fetches)
        prepared = self._prepare([*fetches, *sends], list(feeds), self._ends())

        def run(
            values: Sequence[Any], step: Step, cancellation: Cancellation | None, ends: float | None
        ) -> list[Any]:
            return self._execute(prepared, tuple(values), cancellation, ends, step)[:count]

        return run

    # ---- preparing -----------------------------------------------------------------------------

    def _ends(self) -> float | None:
        """When a run that begins now must be done, its preparation included."""
        limit = self.config.deadline
        return None if limit is None else time.monotonic() + limit

    def _prepare(
        self,
        fetches: list[str],
        feeds: list[str],
        ends: float | None,
        cancellation: Cancellation | None = None,
    ) -> Prepared | Split | Remote:
        key = (tuple(fetches), tuple(feeds))
        self.check_open()
        with self._lock:
            found = self._prepared.get(key)
            if found is None:
                work = partial(self._lower, fetches, feeds)
                # Tasks that are silent are named by the target, which waits a little longer.
                grace = 0.0 if self._target is None or ends is None else _TO_NAME_TASKS
                limit = None if ends is None else ends + grace
                found = prepared_in_time(work, limit, cancellation)
                self._prepared.add(key, found)
        if self._closed:  # while this was prepared
            self._let_go()
            refuse_closed()
        return found

    def _lower(self, fetches: list[str], feeds: list[str]) -> Prepared | Split | Remote:
        """What runs a signature: from a file that has its plan, else made from the graph."""
        check_feeds(feeds)
        plans = self._plans()
        found = None if plans is None else plans.find(fetches, feeds)
        if plans is not None and found is not None:
            try:
                return self._from_cache(found)
            except DrystoneError:  # the host does not take what the file says
                plans.discard(fetches, feeds)
        from drystone_base.api.preparing import Preparing

        load = partial(self._native.load, self._runtime)
        preparing = Preparing(self._graph, self.config, self.access, self._target)
        work = partial(preparing.lowered, fetches, feeds, load, plans)
        return prepared_for_ctrl_c(work, preparing.graph)

    def _plans(self) -> CachedPlans | None:
        """The cached plans of the file that the graph is from."""
        file = self._graph.source.file
        if file is None or self._target is not None:
            return None
        from drystone_base.api.cached_plans import CachedPlans

        return CachedPlans.of(file, self.config)

    def _from_cache(self, cached: CachedPlan) -> Prepared:
        from drystone_base.api.feeds import Feed
        from drystone_base.core.dtypes import from_number

        feeds = [Feed(name, from_number(dtype), shape) for name, dtype, shape in cached.feeds]
        return self._native.load(
            self._runtime, feeds, cached.has_value, cached.program, None, copies=cached.copies
        )

    # ---- running -------------------------------------------------------------------------------

    def _is_plain(self) -> bool:
        """Whether no recording is under way, and plans may use what they keep."""
        return self._record is None and self._generation == self.resources.generation

    def _execute(
        self,
        prepared: Prepared | Split | Remote,
        values: tuple[Any, ...],
        cancellation: Cancellation | None,
        ends: float | None,
        step: Step | None = None,
    ) -> list[Any]:
        if isinstance(prepared, Split):
            return self._execute_parts(prepared, values, cancellation, ends)
        if isinstance(prepared, Remote):
            return prepared.run(self._arrays(prepared, values, ends), cancellation, ends)
        if prepared.quick is not None and cancellation is None and step is None:
            found: list[Any] = prepared.quick(values, False) if self._is_plain() else NotImplemented
            if found is not NotImplemented:
                return found
        if not prepared.may_mix():
            return self._run(prepared, values, cancellation, ends, step)
        from drystone_base.host.memory import aligned_arrays

        with aligned_arrays():
            return self._run(prepared, values, cancellation, ends, step)

    def _execute_parts(
        self,
        split: Split,
        values: Sequence[Any],
        cancellation: Cancellation | None,
        ends: float | None,
    ) -> list[Any]:
        from drystone_base.placement.parts import run_parts

        def run(part: Part, given: Sequence[Any], step: Step) -> list[Any]:
            return self._execute(part.plan, tuple(given), cancellation, ends, step)

        return run_parts(split.parts, values, run)

    def _runtime(
        self,
        caller: FunctionCaller | None,
        step: Step | None = None,
        deadline: float | None = None,
        cancellation: Cancellation | None = None,
        record: Record | None = None,
    ) -> Runtime:
        from drystone_base.state.runtime import Runtime

        resources, producer = self.resources, 0 if caller is None else self._graph.producer()
        self.check_open()
        return Runtime(
            resources,
            caller or _no_functions,
            self._seeds,
            step,
            deadline=deadline,
            record=record,
            access=self.access,
            producer=producer,
            cancellation=cancellation,
        )

    def _run(
        self,
        prepared: Prepared,
        values: Sequence[Any],
        cancellation: Cancellation | None,
        ends: float | None,
        step: Step | None,
    ) -> list[Any]:
        arrays = self._arrays(prepared, values, ends)
        runtime = self._runtime(prepared.caller, step, ends, cancellation, self._record)
        if runtime.record is None:
            fetched = iter(self._compute(prepared, arrays, runtime))
        else:
            with runtime.record.run():
                fetched = iter(self._compute(prepared, arrays, runtime))
        return [next(fetched) if has_value else None for has_value in prepared.has_value]

    def _arrays(
        self, prepared: Prepared | Remote, values: Sequence[Any], ends: float | None
    ) -> list[Array]:
        from drystone_base.api.feeds import fed_to_host, to_array

        is_native = isinstance(prepared, Prepared) and prepared.native is not None
        copies = isinstance(prepared, Prepared) and prepared.copies_feeds and not is_native
        pairs = zip(prepared.feeds, values, strict=True)
        try:
            with nullcontext() if ends is None else until(ends):
                found = [to_array(feed, value, copies) for feed, value in pairs]
                return found if is_native else fed_to_host(found)
        except OutOfTime:
            from drystone_base.state.cancellation import deadline_exceeded

            raise deadline_exceeded("the run was stopped while its feeds were read") from None

    def _compute(self, prepared: Prepared, arrays: Sequence[Array], runtime: Runtime) -> list[Any]:
        if prepared.native is None:
            from drystone_base.executor import reference

            assert prepared.plan is not None
            return reference.run_leaving(prepared.plan, arrays, runtime)
        generation = runtime.resources.generation
        if self._generation != generation:
            self._generation = generation
            self._native.reset()
        return prepared.native.run(arrays, runtime)


def _places(names: list[str], plan: list[str]) -> list[int]:
    """Where the values of ``names`` are among those of a plan."""
    at = {name: place for place, name in enumerate(plan)}
    return [at[name] for name in names]


def _no_functions(_runtime: Runtime, function: Any, _args: Any) -> Any:
    """What stands for functions in a plan from a file, of which no kernel is in Python."""
    raise AssertionError(f"a plan from a file called {function!r}")
