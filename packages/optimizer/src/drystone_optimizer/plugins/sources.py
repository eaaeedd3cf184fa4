"""The optimizers that there are: those of C plugins, and those of Python packages.

An entry point in the group ``drystone.graph_optimizers`` names a callable. Its attribute ``takes``
says what it is called with: ``"bytes"`` (the default), and it returns bytes; ``"graph"``, and it
returns a ``Graph``; ``"work"``, a :class:`Work` with what is fetched, fed and to be preserved, and
it returns bytes, or None for no change. ``device_type`` (``"CPU"``) says for which graphs it is,
``configs`` are its wishes, by toggle, ``phase`` and ``priority`` say where it runs (``ordering``).
``isolation = "process"`` runs it in a process of its own, as a config may (``isolated``).
A program has the same rights: :func:`graph_optimizer` decorates a function, :func:`register` adds
anything that can be called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeVar

from drystone_base.core.arguments import checked
from drystone_base.core.errors import PluginError
from drystone_base.core.printable import warn
from drystone_base.core.registered import OPTIMIZERS
from drystone_base.graph import Graph
from drystone_base.modules import EntryPoint, points
from drystone_base.plugins import report
from drystone_base.plugins.isolation import Limits, OptimizerPlugin, optimizer_plugins
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.core.failure import OptimizerWarning
from drystone_optimizer.plugins.ordering import END, START, check_phase, refuse_second
from drystone_optimizer.plugins.presence import GROUP

__all__ = [
    "Optimizer",
    "Work",
    "caller",
    "failures",
    "graph_optimizer",
    "listed",
    "optimizers",
    "register",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Work(NamedTuple):
    """What an optimizer is given: GraphDef bytes, and what must not be touched."""

    graph: bytes
    fetches: Sequence[str]
    feeds: Sequence[str]
    preserve: frozenset[str]
    config: OptimizerConfig
    parameters: Mapping[str, Any] = MappingProxyType({})
    """What ``OptimizerConfig.custom_optimizers`` states for this one."""
    iteration: int = 1
    """Which of the iterations of the built-in passes it is."""
    deadline: float | None = None
    """When the time for optimizing is over, as ``time.monotonic`` tells it; None: never."""
    where: str = ""
    """The function whose body the graph is; "" for the graph itself."""


@dataclass(frozen=True)
class Optimizer:
    """One optimizer, wherever it is from. ``run`` gives new GraphDef bytes, None for no change.

    ``phase``: ``"start"``, ``"end"``, ``"before NAME"`` or ``"after NAME"`` of a built-in pass; of
    one phase, higher priorities run first. ``ordered``: it said so itself, and may share its
    device type.
    """

    name: str
    version: str
    path: str
    device: str
    run: Callable[[Work], bytes | None]
    configs: Mapping[str, str] = field(default_factory=dict)
    phase: str = END
    priority: int = 0
    ordered: bool = False
    kind: Literal["c", "python"] = "python"
    custom: bool = False
    """It runs only where ``OptimizerConfig.custom_optimizers`` names it, on any device."""

    def is_unsigned(self) -> bool:
        """Whether it is from an untrusted library, which was loaded all the same."""
        if self.kind != "c":
            return False
        known = (p for p in report().plugins if p.path == self.path and p.state == "loaded")
        return any(p.fact("signature", "trusted") is False for p in known)


_lock: Final = threading.Lock()
_python: dict[str, Optimizer] = {}
_failed: dict[str, PluginError] = {}
_at_the_end: Final[set[str]] = set()
"""Files of plugins whose phase is not known, and which were warned of."""
_scanned = False


@checked
def optimizers(*, load: bool = True) -> list[Optimizer]:
    """Every optimizer, sorted by device type and name, C plugins before Python ones.

    ``load``: first load the plugins that are installed, unless that was done. One in Python that
    declares no phase, while a C plugin that declares none has its device type, is left out; see
    :func:`failures`.
    """
    native = [_of_plugin(plugin) for plugin in optimizer_plugins(load=load)]
    _scan()
    python = [one for one in _python.values() if _may_run(one, native)]
    return sorted(native, key=_order) + sorted(python, key=_order)


def _may_run(one: Optimizer, native: Sequence[Optimizer]) -> bool:
    try:
        refuse_second(one, native)
    except PluginError as error:
        if one.name not in _failed:
            _failed[one.name] = error
            warn(str(error), OptimizerWarning, stacklevel=4)
        return False
    return True


def _order(optimizer: Optimizer) -> tuple[str, str, str]:
    return optimizer.device, optimizer.name, optimizer.path


def _of_plugin(plugin: OptimizerPlugin) -> Optimizer:
    def run(work: Work) -> bytes | None:
        config = work.config
        chosen = config.isolation
        if isinstance(chosen, Mapping):
            chosen = chosen.get(plugin.name)
        return plugin.run(
            work.graph,
            work.fetches,
            work.feeds,
            work.preserve,
            isolation=chosen,
            limits=Limits(config.deadline, config.memory_limit, work.deadline),
        )

    return Optimizer(
        plugin.name,
        plugin.version,
        plugin.path,
        plugin.device,
        run,
        dict(plugin.configs),
        _known_phase(plugin),
        plugin.priority,
        plugin.ordered,
        "c",
    )


def _known_phase(plugin: OptimizerPlugin) -> str:
    """The phase of a C plugin; the end, with a warning, where its pass is not one of ours."""
    if plugin.phase in (START, END):
        return plugin.phase
    try:
        check_phase(plugin.phase, plugin.name, plugin.version, plugin.path)
    except PluginError as error:
        _failed[plugin.name] = error
        if plugin.path not in _at_the_end:
            _at_the_end.add(plugin.path)
            warn(f"it runs at the end: {error}", OptimizerWarning, stacklevel=4)
        return END
    return plugin.phase


@checked
def register(
    function: Callable[..., Any], *, name: str = "", version: str = "", origin: str = ""
) -> Optimizer:
    """Add an optimizer written in Python, as an entry point would; the newest of a name counts.

    Raises ``PluginError``: ``bad-graph-optimizer`` for attributes that make no sense,
    ``already-registered`` where its device type has one and neither declares a phase.
    """
    device = getattr(function, "device_type", "CPU")
    takes = getattr(function, "takes", "bytes")
    name = name or getattr(function, "__name__", type(function).__name__)
    if (
        takes not in ("bytes", "graph", "work")
        or not isinstance(device, str)
        or not callable(function)
    ):
        raise PluginError(
            f"graph optimizer {name!r} cannot be used",
            check="it must be callable, device_type a text, and takes 'bytes', 'graph' or 'work'",
            found=f"takes={takes!r}, device_type={device!r}, callable={callable(function)}",
            needed="takes = 'bytes'",
            remedy="correct the attributes of the callable",
            plugin=name,
            version=version,
            path=origin,
            code="bad-graph-optimizer",
        )
    phase, priority = getattr(function, "phase", None), getattr(function, "priority", 0)
    made = Optimizer(
        name,
        version,
        origin or getattr(function, "__module__", "") or "",
        device,
        _anywhere(function, takes, name, version, origin),
        dict(getattr(function, "configs", {})),
        END if phase is None else phase,
        int(priority),
        phase is not None,
        custom=bool(getattr(function, "custom", False)),
    )
    check_phase(made.phase, name, version, made.path)
    with _lock:
        refuse_second(made, list(_python.values()))
        _python[name] = made
    OPTIMIZERS.note(name)
    return made


@checked
def graph_optimizer(
    *,
    name: str = "",
    device_type: str = "CPU",
    takes: str = "graph",
    phase: str | None = None,
    priority: int = 0,
    configs: Mapping[str, str] | None = None,
    custom: bool = False,
) -> Callable[[_Function], _Function]:
    """Register the decorated function as an optimizer; raises as :func:`register` does.

    ``takes``: ``"graph"``, ``"bytes"`` or ``"work"``, see this module. ``phase``, ``priority``:
    where it runs. ``configs``: ``"on"`` or ``"off"`` by toggle, its wishes about built-in passes.
    ``custom``: it runs only where a config names it, with parameters.
    """

    def decorate(function: _Function) -> _Function:
        said = {"device_type": device_type, "takes": takes, "phase": phase, "priority": priority,
                "custom": custom}  # fmt: skip
        for key, value in said.items():
            setattr(function, key, value)
        function.configs = dict(configs or {})  # type: ignore[attr-defined]
        register(function, name=name)
        return function

    return decorate


def _anywhere(
    function: Callable[..., Any], takes: str, name: str, version: str, origin: str
) -> Callable[[Work], bytes | None]:
    """The callable in this process, or in its own where the config or its ``isolation`` says so."""
    here, stated = caller(function, takes), getattr(function, "isolation", None)

    def run(work: Work) -> bytes | None:
        chosen = work.config.isolation
        if isinstance(chosen, Mapping):
            chosen = chosen.get(name)
        if (chosen or report().settings.isolation or stated or "none") == "none":
            return here(work)
        from drystone_optimizer.plugins.isolated import place_of, run_isolated

        return run_isolated(name, version, place_of(function, origin), work)

    return run


def caller(function: Callable[..., Any], takes: str) -> Callable[[Work], bytes | None]:
    """The callable as a function of the work, whatever it takes."""

    def on_bytes(work: Work) -> bytes | None:
        found = function(work if takes == "work" else work.graph)
        if found is None and takes == "work":
            return None
        if not isinstance(found, bytes | bytearray | memoryview):
            raise TypeError(f"it returned a {type(found).__name__}, not bytes")
        data = bytes(found)
        return None if data == work.graph else data

    def on_graph(work: Work) -> bytes | None:
        found = function(Graph.from_bytes(work.graph))
        if not isinstance(found, Graph):
            raise TypeError(f"it returned a {type(found).__name__}, not a Graph")
        data = found.to_bytes()
        return None if data == work.graph else data

    return _once(function, on_graph if takes == "graph" else on_bytes)


class _Running(threading.local):
    """The optimizers in Python that this thread is in."""

    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []


_running: Final = _Running()


def _once(
    function: Callable[..., Any], run: Callable[[Work], bytes | None]
) -> Callable[[Work], bytes | None]:
    """A run that is refused inside a run of the same function.

    One that runs a session would be asked to optimize that session's graph, without end.
    """

    def guarded(work: Work) -> bytes | None:
        if any(one is function for one in _running.functions):
            raise RecursionError("it was called for a session that it runs itself")
        _running.functions.append(function)
        try:
            return run(work)
        finally:
            _running.functions.pop()

    return guarded


def _scan() -> None:
    """Read the entry points, once; one that fails is remembered and named by ``failures``.

    Those that the settings disable are left out; the policy ``strict`` refuses all of them.
    """
    global _scanned
    with _lock:
        if _scanned:
            return
        settings = report().settings
        _scanned = True
    for point in points(GROUP):
        if settings.disabling(point.name, point.package):
            continue
        error = _unverifiable(point) if settings.policy == "strict" else _load(point)
        if error is not None:
            _failed[point.name] = error
            warn(str(error), OptimizerWarning, stacklevel=3)


def _load(point: EntryPoint) -> PluginError | None:
    """Register what an entry point names; why that cannot be done."""
    try:
        register(point.load(), name=point.name, version=point.version, origin=point.value)
    except Exception as error:
        if isinstance(error, PluginError) and error.code == "already-registered":
            return error
        return _broken(point, error)
    return None


def _unverifiable(point: EntryPoint) -> PluginError:
    return PluginError(
        f"graph optimizer {point.name!r} is not trusted",
        check="policy strict: a trusted key has signed the library",
        found="Python code, which carries no signature",
        needed="a signed library",
        remedy="use the policy default: DRYSTONE_PLUGIN_POLICY=default",
        plugin=point.name,
        version=point.version,
        path=point.value,
        code="plugin-unsigned",
        status="PERMISSION_DENIED",
    )


def _broken(point: EntryPoint, error: Exception) -> PluginError:
    return PluginError(
        f"graph optimizer {point.name!r} cannot be loaded",
        check=f"an entry point of {GROUP} must name a callable that can be imported",
        found=point.value,
        needed="a callable",
        remedy="reinstall its package, or uninstall it",
        plugin=point.name,
        version=point.version,
        path=point.value,
        code="bad-graph-optimizer",
        inner=error,
    )


def listed() -> list[dict[str, str]]:
    """The optimizers in Python, those that were refused among them, in words."""
    rows = [
        {"name": o.name, "version": o.version, "state": "loaded", "text": _in_words(o),
         "path": o.path}
        for o in optimizers()
        if o.kind == "python"
    ]  # fmt: skip
    return rows + [
        {"name": name, "version": error.version, "state": "failed",
         "text": f"{error.code}: {error.what}", "path": error.path}
        for name, error in failures().items()
    ]  # fmt: skip


def _in_words(one: Optimizer) -> str:
    order = f" with priority {one.priority}" if one.priority else ""
    where = {START: "at the start", END: "at the end"}.get(one.phase, one.phase)
    return f"optimizer in Python for {one.device}, {where}{order}"


def failures() -> dict[str, PluginError]:
    """Entry points that could not be loaded, by name, with why."""
    _scan()
    return dict(_failed)
