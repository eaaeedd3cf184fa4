"""The operator of a region that a backend compiles, in one session.

It holds an executable for each set of input shapes, up to a bound, and knows which versions of
variables they were packed from. Executables of plugins are called by the native executor itself; it
comes here where it has none. Where there is no executable (it is still being compiled, or that
failed, or it raised), the operator says so, and the host executor computes the region instead.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_base.core.detached import LOOKS
from drystone_base.core.dtypes import from_number
from drystone_base.core.payloads import Value
from drystone_base.graph import Function, FunctionLibrary
from drystone_base.host.operators import HostExecutable, HostOperator
from drystone_base.state.cancellation import Cancellation, cancelled
from drystone_subgraph.compiled.artefacts import Artefacts, region_key
from drystone_subgraph.compiled.outputs import Shape, checked_outputs, shapes_of_outputs
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.contract.executable import CompileInput, CompileRequest, Executable, Handle
from drystone_subgraph.contract.failure import details_of, shown, warn_of

if TYPE_CHECKING:
    from drystone_subgraph.contract.backend import SubgraphBackend

__all__ = ["CompileSource", "CompiledOperator", "ExecutableStatus"]

Array = np.ndarray[Any, Any]
Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class CompileSource:
    """What an operator is compiled from.

    ``constants`` and ``weights`` are the numbers of inputs that are such, or values of variables.

    ``host``: the operator in the host library, for a backend of a plugin. ``attrs``: those that
    the creator gave the operator.

    ``library``: the functions as they were when the operator was made; what is optimized for the
    host executor since then is none of the backend's.
    """

    name: str
    backend: SubgraphBackend
    function: FunctionDef
    library: FunctionLibrary
    constants: frozenset[int]
    weights: tuple[int, ...]
    config: PartitionConfig
    host: HostOperator | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExecutableStatus:
    """One executable of an operator, for reports. ``seconds``: how long it took to compile.

    ``runs`` counts calls that it computed, ``fallbacks`` those that the host executor did, and
    ``packs`` how often weights were packed. ``loaded``: it was kept on disk, and not compiled.
    ``kept``: it is on disk, for other processes.
    ``arena``: bytes in which its runs keep what they compute on the way, 0 where the host knows of
    no such memory. ``reason``: why it failed; ``details``: what that is about, by key, with the
    payloads that the backend attached to its status.
    """

    operator: str
    backend: str
    shapes: Shapes
    state: Literal["compiling", "ready", "failed"]
    seconds: float
    runs: int
    fallbacks: int
    packs: int
    reason: str = ""
    loaded: bool = False
    arena: int = 0
    kept: bool = False
    details: Mapping[str, Value] = field(default_factory=dict)


class _StaleError(Exception):
    """An executable was packed from other weights, and cannot pack new ones."""


_TRIES: Final = 4
"""How often a run has an executable compiled again while other runs come with other weights."""


@dataclass
class _Entry:
    """One specialisation. Calls take turns by ``lock``. ``versions``: of the weights packed."""

    shapes: Shapes
    done: threading.Event = field(default_factory=threading.Event)
    work: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    executable: Executable | Handle | HostExecutable | None = None
    results: tuple[Shape, ...] = ()
    versions: tuple[int, ...] = ()
    reason: str = ""
    details: Mapping[str, Value] = field(default_factory=dict)
    loaded: bool = False
    kept: bool = False
    told: bool = False
    seconds: float = 0.0
    used: int = 0
    runs: int = 0
    fallbacks: int = 0
    packs: int = 0

    def facts(self) -> tuple[int, int, float]:
        """Runs, packs, and a number that is larger for what was used later."""
        held = self.executable  # another thread may let go of it
        if isinstance(held, HostExecutable):
            state = held.state()
            return self.runs + state.runs, self.packs + state.packs, state.used
        return self.runs, self.packs, self.used if self.done.is_set() else math.inf

    def arena(self) -> int:
        """Bytes that the runs of a plan share."""
        held = self.executable
        return held.state().arena if isinstance(held, HostExecutable) else 0

    def is_lost(self) -> bool:
        """Whether the compilation will never end: a fork takes no threads along."""
        work = self.work
        return work is not None and not work.is_alive() and not self.done.is_set()

    def failed(self, what: str, error: BaseException) -> None:
        """Note why there is no executable."""
        self.reason, self.details = f"{what}: {shown(error)}", details_of(error)

    def close(self) -> None:
        """Let go of the executable, and keep its numbers."""
        self.runs, self.packs, _ = self.facts()
        if isinstance(self.executable, HostExecutable):
            self.executable.close()
        self.executable = None


class CompiledOperator:
    """The state of one operator in one session. Safe to use from several threads."""

    def __init__(self, source: CompileSource) -> None:
        self.source = source
        self._entries: dict[Shapes, _Entry] = {}
        self._lock = threading.Lock()
        self._clock = itertools.count(1)
        self._digests: dict[int, bytes] = {}
        self.artefacts = Artefacts(source.config.artefacts, source.config.writes_artefacts)
        signature = source.function.signature
        self.output_types = [from_number(arg.type) for arg in signature.output_arg]
        self.input_types = [from_number(arg.type) for arg in signature.input_arg]

    def run(
        self,
        args: Sequence[Array],
        versions: Sequence[int],
        patience: float | None,
        stop: Cancellation | None = None,
    ) -> list[Array] | None:
        """The outputs, or None where the host executor must compute them.

        ``versions``: of the weights. ``patience``: how many seconds to wait for a compilation at
        most (None: until it is done). Raises ``KernelError`` (``run-cancelled``) where ``stop``
        says so meanwhile; the compilation goes on.
        """
        until = math.inf if patience is None else time.monotonic() + patience
        entry = self._entry(tuple(a.shape for a in args), args, versions)
        outputs: list[Array] | None = None
        for _ in range(_TRIES):
            self._wait(entry, until, stop)
            with entry.lock:
                entry.used, ready = next(self._clock), entry.done.is_set()
                try:
                    outputs = self._compute(entry, args, versions) if ready else None
                except _StaleError:
                    self._start(entry, args, versions)
                    continue
            if ready or time.monotonic() >= until:
                break
        if outputs is None:
            self._fell_back(entry)
        return outputs

    def _wait(self, entry: _Entry, until: float, stop: Cancellation | None) -> None:
        """Return when it is compiled, or at that time."""
        while not entry.done.wait(min(LOOKS, max(0.0, until - time.monotonic()))):
            if stop is not None and stop.cancelled:
                raise cancelled(f"the run was cancelled while {self.source.name!r} was compiled")
            if time.monotonic() >= until:
                return

    def _fell_back(self, entry: _Entry) -> None:
        """Count a run that the host executor computes; why, is told once."""
        with entry.lock:
            entry.fallbacks += 1
            news, entry.told = bool(entry.reason) and not entry.told, bool(entry.reason)
        if news:
            self._warn(entry)

    def status(self) -> list[ExecutableStatus]:
        """Every executable that there is, the one used last at the end."""
        with self._lock:
            entries = list(self._entries.values())
        return [self._status(entry) for entry in sorted(entries, key=lambda e: e.facts()[2])]

    def _status(self, e: _Entry) -> ExecutableStatus:
        state: Any = "failed" if e.reason else "ready" if e.done.is_set() else "compiling"
        name, backend = self.source.name, self.source.backend.name
        runs, packs, _ = e.facts()
        return ExecutableStatus(
            name,
            backend,
            e.shapes,
            state,
            e.seconds,
            runs,
            e.fallbacks,
            packs,
            e.reason,
            e.loaded,
            e.arena(),
            e.kept,
            e.details,
        )

    def _entry(self, shapes: Shapes, args: Sequence[Array], versions: Sequence[int]) -> _Entry:
        """The specialisation for these shapes; the one unused for longest goes where it is new."""
        with self._lock:
            entry = self._entries.get(shapes)
            if entry is not None and not entry.is_lost():
                return entry
            if entry is not None:
                del self._entries[shapes]
            if len(self._entries) >= self.source.config.specialisations:
                oldest = min(self._entries.values(), key=lambda e: e.facts()[2])
                del self._entries[oldest.shapes]
            entry = self._entries[shapes] = _Entry(shapes)
            if not self._start(entry, args, versions):
                del self._entries[shapes]  # the next run tries again
        return entry

    def _start(self, entry: _Entry, args: Sequence[Array], versions: Sequence[int]) -> bool:
        """Whether an executable is now being compiled for these, in a thread of its own."""
        entry.work = None  # until it has begun it looks as if it were lost
        entry.done.clear()
        name = f"compile {self.source.name}"
        given = entry, list(args), tuple(versions)
        work = threading.Thread(target=self._compile, args=given, name=name, daemon=True)
        try:
            work.start()
        except RuntimeError as error:  # the system has no more threads
            entry.close()
            entry.reason = f"cannot compile it: {error}"
            entry.done.set()
            return False
        entry.work = work
        return True

    def _compile(self, entry: _Entry, args: Sequence[Array], versions: tuple[int, ...]) -> None:
        """Compile for these arguments, whatever comes of it."""
        begin = time.perf_counter()
        try:
            self._make(entry, args, versions)
        except BaseException as error:  # a compilation that fails never fails a run
            entry.failed("cannot compile it", error)
        finally:
            entry.seconds = time.perf_counter() - begin
            entry.done.set()

    def _make(self, entry: _Entry, args: Sequence[Array], versions: Sequence[int]) -> None:
        """A new executable, packed from these arguments."""
        entry.close()
        backend, request = self.source.backend, self._request(args)
        entry.results = shapes_of_outputs(request)
        key = self._key(request) if backend.keeps else ""
        made = self.artefacts.load(backend, key, request) if key else None
        entry.loaded = entry.kept = made is not None
        if made is None:
            request = self._request(args)  # that one may have been taken apart
            made = backend.compile(request)
            if key:
                entry.kept = self.artefacts.keep(backend, key, request, made)
        if self.source.host is not None and isinstance(made, Handle):
            host, results = self.source.host, entry.results
            entry.executable = host.add(made.release(), entry.shapes, versions, results)
        elif not callable(made):
            raise TypeError(f"a backend gives an executable, and not {made!r}")
        else:
            entry.executable, entry.packs = made, entry.packs + 1
        entry.versions = tuple(versions)

    def _key(self, request: CompileRequest) -> str:
        source = self.source
        return region_key(source.function, source.library, request, self._digests)

    def _request(self, args: Sequence[Array]) -> CompileRequest:
        source = self.source
        inputs = [
            CompileInput(
                dtype,
                array.shape,
                array if k in source.constants or k in source.weights else None,
                k in source.weights,
            )
            for k, (array, dtype) in enumerate(zip(args, self.input_types, strict=True))
        ]
        body = Function(source.function).body(source.library)
        threads, attrs = source.config.threads, source.attrs
        return CompileRequest(source.name, body, inputs, self.output_types, threads, attrs)

    def _compute(
        self, entry: _Entry, args: Sequence[Array], versions: Sequence[int]
    ) -> list[Array] | None:
        if entry.executable is None:
            return None
        try:
            if isinstance(entry.executable, HostExecutable):
                return self._in_host(entry, entry.executable, args, versions)
            self._repack(entry, args, versions)
            assert callable(entry.executable)
            found = list(entry.executable(args))
            outputs = checked_outputs(found, self.output_types, entry.results)
        except _StaleError:
            raise
        except Exception as error:  # the host executor knows what is wrong, or does better
            entry.close()
            entry.failed("failed while it ran", error)
            return None
        entry.runs += 1
        return outputs

    def _in_host(
        self, entry: _Entry, held: HostExecutable, args: Sequence[Array], versions: Sequence[int]
    ) -> list[Array] | None:
        """As the executor calls it; what cannot pack new weights by itself is compiled again."""
        found = held.operator.run(args, versions)
        failure = None if found is not None else held.state().failure
        if found is None and failure is None:
            if entry.versions == tuple(versions):
                return None  # of a plan: the host says what is wrong with these inputs
            raise _StaleError
        if failure is not None:
            raise failure
        return found

    def _repack(self, entry: _Entry, args: Sequence[Array], versions: Sequence[int]) -> None:
        """Let the executable pack weights that have changed since it did so last."""
        pairs = zip(self.source.weights, entry.versions, versions, strict=True)
        new = {k: args[k] for k, old, now in pairs if old != now}
        if not new:
            return
        update = getattr(entry.executable, "update", None)
        if update is None:
            raise _StaleError
        update(new)
        entry.versions, entry.packs = tuple(versions), entry.packs + 1

    def _warn(self, entry: _Entry) -> None:
        """Say once that an executable failed, in the thread of a run that went without it."""
        warn_of(
            f"subgraph backend {self.source.backend.name!r} and operator {self.source.name!r} for "
            f"inputs {_shown(entry.shapes)}: it {entry.reason}; the host executor runs it",
            entry.details,
            stacklevel=2,
        )


_SHOWN: Final = 4


def _shown(shapes: Shapes) -> str:
    texts = [str(list(shape)) for shape in shapes[:_SHOWN]]
    return ", ".join(texts) + (", ..." if len(shapes) > _SHOWN else "")
