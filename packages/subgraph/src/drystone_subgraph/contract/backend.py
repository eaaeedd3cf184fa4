"""Backends by name: chains of properties. Entry points in ``drystone.subgraph_backends`` are found.

An entry point names a :class:`SubgraphBackend` or a callable without arguments that makes one.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.arguments import checked, explained
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import BadRequest, PluginError, near_matches
from drystone_base.core.printable import warn
from drystone_base.modules import EntryPoint, Registry, points
from drystone_base.plugins import ensure_loaded, report
from drystone_subgraph.contract.config import OFF, PREFIX
from drystone_subgraph.contract.executable import CompileRequest, Executable, Handle
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import NodeSelector, SubgraphSelector

if TYPE_CHECKING:
    from drystone_base.host.operators import HostOperator
    from drystone_subgraph.contract.conversion import Conversion, ConversionRequest

__all__ = [
    "GROUP",
    "SubgraphBackend",
    "backends",
    "find_backend",
    "find_installed",
    "register_backend",
]

GROUP: Final = "drystone.subgraph_backends"
_OWN: Final = {
    "cpu": "drystone_subgraph.bundled.cpu:CpuBackend",
    "openvino": "drystone_subgraph.bundled.openvino:OpenVinoBackend",
}
"""Backends of this package, named as in entry points: they are built on this module."""
_NAME: Final = re.compile(rf"(?!{PREFIX})[^\s,]([^,]*[^\s,])?")
"""What can stand between commas where backends are named."""


class SubgraphBackend(ABC):
    """What runs regions of a graph: a name, and properties that run in their order.

    With ``compiles = True``, :meth:`compile` is asked for executables of the regions that its
    properties cut out; otherwise the host executor runs them.
    """

    name = ""
    compiles = False
    keeps = False
    """Whether :meth:`save` and :meth:`load` are there: executables are kept on disk then."""

    device = "cpu"
    """The kind of device that computes: ``cpu``, ``gpu``, ``npu`` or another, for policies."""

    version = ""
    """Of what compiles: an executable of another version is not loaded."""

    @abstractmethod
    def properties(self) -> Sequence[SubgraphProperty]:
        """The rules by which regions are cut out, the first first.

        A ``BadRequest`` says that the backend cannot be used here: who asked for it is told so.
        """

    def compile(self, request: CompileRequest) -> Executable | Handle:
        """An executable of a region for inputs of given shapes; called in a thread of its own.

        If it raises, the host executor runs the region for these shapes, and a warning says so.
        """
        raise PluginError(
            f"subgraph backend {self.name!r} compiles nothing",
            check="a backend with compiles = True has a compile() of its own",
            found=f"none for {request.name!r}",
            needed="a method that gives an executable, or compiles = False",
            remedy="leave the backend out, and tell its author",
            code="subgraph-backend-failed",
        )

    def save(self, executable: Executable | Handle) -> bytes:
        """The bytes of an executable, for :meth:`load` in another process."""
        raise NotImplementedError(f"{self.name!r} keeps no executables, not {executable!r}")

    def load(self, request: CompileRequest, data: bytes) -> Executable | Handle:
        """The executable that was saved for the same request: region, shapes, values of weights."""
        raise NotImplementedError(f"{self.name!r} keeps no {len(data)} bytes of {request.name!r}")

    def convert(self, request: ConversionRequest) -> Conversion | None:  # noqa: ARG002
        """Write a SavedModel whose graph calls what was compiled; what ``drystone convert`` shows.

        None: this backend writes no nodes; its executables go beside the model if it keeps them.
        """
        return None

    def operator(
        self,
        inputs: Sequence[DType],  # noqa: ARG002 — for backends of plugins
        weights: Sequence[int],  # noqa: ARG002
        outputs: Sequence[DType],  # noqa: ARG002
    ) -> HostOperator | None:
        """An operator in the host library that calls executables without Python, or None."""
        return None


class _Everything(NodeSelector):
    def wants(self, node: Any) -> bool:  # noqa: ARG002 — the interface's signature
        return True


class _DefaultProperty(SubgraphProperty):
    name = "everything"
    minimum_size = 2

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _Everything()


class DefaultBackend(SubgraphBackend):
    """Takes every node that can be part of a region; the host executor runs the regions."""

    name = "default"

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: everything."""
        return [_DefaultProperty()]


_BACKENDS: Final[Registry[SubgraphBackend]] = Registry("subgraph backend")
_BACKENDS.register("default", DefaultBackend(), "drystone-subgraph")
_LOCK: Final = threading.RLock()  # a package may ask for other backends while it is loaded
_scanned = False


@explained
def register_backend(backend: SubgraphBackend, origin: str = "the program") -> None:
    """Make a backend known.

    Raises ``PluginError``: ``already-registered`` for a taken name, ``bad-subgraph-backend`` for
    what is no backend, or has a name that cannot be asked for.
    """
    given: Any = backend
    if not isinstance(given, SubgraphBackend):
        found = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
        raise _refused(origin, found, "an object of a subclass of SubgraphBackend")
    name: Any = given.name
    is_name = isinstance(name, str) and name.isprintable() and _NAME.fullmatch(name)
    if not is_name or name.lower() in OFF:
        others = ", ".join(OFF)
        needed = f"a printable name without a comma, which is neither {others} nor a policy's"
        raise _refused(origin, f"the name {name!r}", needed)
    _BACKENDS.register(backend.name, backend, origin)


def _refused(origin: str, found: str, needed: str) -> PluginError:
    return PluginError(
        f"a subgraph backend of {origin} cannot be registered",
        check="a backend is an object with a name by which it can be asked for",
        found=found,
        needed=needed,
        remedy="give it such a name, and call register_backend with the object",
        path=origin,
        code="bad-subgraph-backend",
    )


def backends() -> Mapping[str, SubgraphBackend]:
    """Every backend by name, those of installed packages and plugins included."""
    ensure_loaded()
    find_installed()
    return _BACKENDS.items()


def find_installed() -> None:
    """Make known the backends of this package and those that installed packages name, once."""
    global _scanned
    with _LOCK:
        if not _scanned:
            _scanned = True
            for name, place in _OWN.items():
                try:
                    backend = EntryPoint(name, place, "drystone-subgraph", "").load()()
                    _BACKENDS.register(backend.name, backend, "drystone-subgraph")
                except PluginError as error:  # the program was first
                    warn(str(error), stacklevel=2)
            for point in points(GROUP):
                _add(point)


def _add(point: Any) -> None:
    try:
        found = point.load()
        register_backend(found if isinstance(found, SubgraphBackend) else found(), point.package)
    except Exception as error:  # one broken package must not take the others' backends away
        warn(
            f"subgraph backend {point.name!r} of package {point.package} ({point.value}) "
            f"cannot be used: {type(error).__name__}: {error}",
            stacklevel=4,
        )


@checked
def find_backend(name: str) -> SubgraphBackend:
    """The backend of that name; raises ``BadRequest`` (``unknown-subgraph-backend``)."""
    known = backends()
    if name in known:
        return known[name]
    near = near_matches(name, known)
    remedy = f"did you mean {', '.join(near)}?" if near else "install the package that brings it"
    refused = next((p for p in report().named(name) if p.state != "loaded"), None)
    if refused is not None:
        remedy = f"`drystone plugins explain {name}` says more"
    raise BadRequest(
        f"there is no subgraph backend {name!r}",
        check="backends are named as they registered",
        found=f"plugin {name}, {refused.state}: {refused.text}" if refused else name,
        needed=", ".join(known),
        remedy=remedy,
        code="unknown-subgraph-backend",
        status="NOT_FOUND",
    )
