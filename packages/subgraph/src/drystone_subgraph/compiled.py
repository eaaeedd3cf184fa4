"""The operator of a region that a backend compiles, in one session.

It holds an executable for each set of input shapes, up to a bound, and knows which values of
variables they were packed from. Where there is no executable (it is still being compiled, or that
failed, or it raised), the operator says so, and the host executor computes the region instead.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import ReferenceType

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_base.dtypes import DType, from_number
from drystone_base.graph import Function, FunctionLibrary
from drystone_subgraph.config import PartitionConfig
from drystone_subgraph.executable import CompileInput, CompileRequest, Executable
from drystone_subgraph.failure import SubgraphWarning

if TYPE_CHECKING:
    from drystone_subgraph.backend import SubgraphBackend

__all__ = ["CompileSource", "CompiledOperator", "ExecutableStatus"]

Array = np.ndarray[Any, Any]
Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class CompileSource:
    """What an operator is compiled from; ``weights`` are the numbers of inputs that are variables.

    ``library`` is a weak reference: a source lives as long as the library that its function is in.
    """

    name: str
    backend: SubgraphBackend
    function: FunctionDef
    library: ReferenceType[FunctionLibrary]
    constants: Mapping[int, Array]
    weights: tuple[int, ...]
    config: PartitionConfig


@dataclass(frozen=True)
class ExecutableStatus:
    """One executable of an operator, for reports. ``seconds``: how long it took to compile.

    ``runs`` counts calls that it computed, ``fallbacks`` those that the host executor did, and
    ``packs`` how often weights were packed.
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


@dataclass
class _Entry:
    """One specialisation. Calls take turns by ``lock``; ``held`` keeps the weights packed from.

    The memory of a variable's value is not written while somebody holds the value, so as long as
    a value is held, another one lies elsewhere: the address is its version. Where it lies elsewhere
    its bits decide, as a value may be copied on its way from the variable.
    """

    shapes: Shapes
    done: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    executable: Executable | None = None
    held: dict[int, Array] = field(default_factory=dict)
    reason: str = ""
    told: bool = False
    seconds: float = 0.0
    runs: int = 0
    fallbacks: int = 0
    packs: int = 0


class CompiledOperator:
    """The state of one operator in one session. Safe to use from several threads."""

    def __init__(self, source: CompileSource) -> None:
        self.source = source
        self._entries: OrderedDict[Shapes, _Entry] = OrderedDict()
        self._lock = threading.Lock()
        signature = source.function.signature
        self.output_types = [from_number(arg.type) for arg in signature.output_arg]
        self.input_types = [from_number(arg.type) for arg in signature.input_arg]

    def run(self, args: Sequence[Array], patience: float | None) -> list[Array] | None:
        """The outputs, or None where the host executor must compute them.

        ``patience``: how many seconds to wait for a compilation at most (None: until it is done).
        """
        entry = self._entry(tuple(a.shape for a in args), args)
        if not entry.done.is_set():
            entry.done.wait(patience)
        with entry.lock:
            outputs = self._compute(entry, args) if entry.done.is_set() else None
            entry.runs += outputs is not None
            entry.fallbacks += outputs is None
            news, entry.told = bool(entry.reason) and not entry.told, bool(entry.reason)
        if news:
            self._warn(entry)
        return outputs

    def status(self) -> list[ExecutableStatus]:
        """Every executable that there is, the one used last at the end."""
        with self._lock:
            entries = list(self._entries.values())
        return [self._status(entry) for entry in entries]

    def _status(self, e: _Entry) -> ExecutableStatus:
        state: Any = "failed" if e.reason else "ready" if e.done.is_set() else "compiling"
        name, backend = self.source.name, self.source.backend.name
        return ExecutableStatus(
            name, backend, e.shapes, state, e.seconds, e.runs, e.fallbacks, e.packs, e.reason
        )

    def _entry(self, shapes: Shapes, args: Sequence[Array]) -> _Entry:
        """The specialisation for these shapes; the one unused for longest goes where it is new."""
        with self._lock:
            entry = self._entries.get(shapes)
            if entry is not None:
                self._entries.move_to_end(shapes)
                return entry
            entry = self._entries[shapes] = _Entry(shapes)
            if len(self._entries) > self.source.config.specialisations:
                self._entries.popitem(last=False)
        name = f"compile {self.source.name}"
        given = list(args)
        work = threading.Thread(target=self._compile, args=(entry, given), name=name, daemon=True)
        work.start()
        return entry

    def _compile(self, entry: _Entry, args: Sequence[Array]) -> None:
        """Compile for these arguments, whatever comes of it."""
        begin = time.perf_counter()
        try:
            entry.executable = self.source.backend.compile(self._request(args))
            entry.held = {k: args[k] for k in self.source.weights}
            entry.packs += 1
        except Exception as error:  # a compilation that fails never fails a run
            entry.reason = f"cannot compile it: {type(error).__name__}: {error}"
        finally:
            entry.seconds = time.perf_counter() - begin
            entry.done.set()

    def _request(self, args: Sequence[Array]) -> CompileRequest:
        source = self.source
        library = source.library()
        if library is None:
            raise RuntimeError("the graph is gone")
        inputs = [
            CompileInput(
                dtype,
                array.shape,
                source.constants.get(k, array if k in source.weights else None),
                k in source.weights,
            )
            for k, (array, dtype) in enumerate(zip(args, self.input_types, strict=True))
        ]
        body = Function(source.function).body(library)
        return CompileRequest(source.name, body, inputs, self.output_types, source.config.threads)

    def _compute(self, entry: _Entry, args: Sequence[Array]) -> list[Array] | None:
        if entry.executable is None:
            return None
        try:
            self._repack(entry, args)
            found = list(entry.executable(args))
            return [_checked(*pair) for pair in zip(found, self.output_types, strict=True)]
        except Exception as error:  # the host executor knows what is wrong, or does better
            entry.executable = None
            entry.reason = f"failed while it ran: {type(error).__name__}: {error}"
            return None

    def _repack(self, entry: _Entry, args: Sequence[Array]) -> None:
        """Let the executable pack weights that have changed since it did so last."""
        moved = {k: args[k] for k, old in entry.held.items() if not _same(args[k], old)}
        new = {k: value for k, value in moved.items() if not _equal(value, entry.held[k])}
        entry.held.update(moved)
        if not new:
            return
        update = getattr(entry.executable, "update", None)
        if update is not None:
            update(new)
        else:
            entry.executable = self.source.backend.compile(self._request(args))
        entry.packs += 1

    def _warn(self, entry: _Entry) -> None:
        """Say once that an executable failed, in the thread of a run that went without it."""
        warnings.warn(
            f"subgraph backend {self.source.backend.name!r} and operator {self.source.name!r} for "
            f"inputs {_shown(entry.shapes)}: it {entry.reason}; the host executor runs it",
            SubgraphWarning,
            stacklevel=2,
        )


_SHOWN: Final = 4


def _shown(shapes: Shapes) -> str:
    texts = [str(list(shape)) for shape in shapes[:_SHOWN]]
    return ", ".join(texts) + (", ..." if len(shapes) > _SHOWN else "")


def _same(a: Array, b: Array) -> bool:
    """Whether two arrays are the same memory, seen in the same way."""
    if a is b:
        return True
    return (
        a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
        and a.shape == b.shape
        and a.strides == b.strides
    )


def _equal(a: Array, b: Array) -> bool:
    """Whether two arrays hold the same bits: one value that was copied on its way here."""
    if a.dtype.hasobject or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    return np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8))


def _checked(value: Array, dtype: DType) -> Array:
    found = np.asarray(value)
    if found.dtype != dtype.np:
        raise TypeError(f"an output is {found.dtype}, and must be {dtype}")
    return found
