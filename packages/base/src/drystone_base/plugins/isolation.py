"""Optimizers of C plugins, in this process or in one of their own.

``isolation="process"`` (for one call, for a plugin by its manifest, for all by
``DRYSTONE_PLUGIN_ISOLATION``) runs an optimizer in a child that opens the library itself: bytes go
in and out over pipes. A plugin that crashes, hangs, eats memory or answers nonsense then costs an
error here and nothing else. The child is kept for further graphs. A library that has nothing but an
optimizer is not opened here at all. One that has ops as well is, but its optimizer must then not
put those ops into a graph from the other process: nodes of some plugins hold addresses of the
process that made them.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drystone_abi.protos import GraphDef
from drystone_base.errors import PluginError
from drystone_base.late_dataclasses import dataclass
from drystone_base.plugins._manager import manager
from drystone_base.plugins._record import Plugin, plugin_name
from drystone_base.plugins._settings import current
from drystone_base.plugins.isolation_limits import Limits

if TYPE_CHECKING:
    from drystone_base.host.optimizer import HostOptimizer
    from drystone_base.plugins.isolation_process import Worker

__all__ = [
    "Limits",
    "OptimizerPlugin",
    "load_isolated",
    "optimizer_plugins",
    "stop_workers",
]

_MOST_STRIKES: Final = 3
_STRIKES: Final = {
    "isolated-plugin-deadline": _MOST_STRIKES,
    "isolated-plugin-crashed": 1,
    "isolated-plugin-memory": 1,
    "isolated-plugin-reply": 1,
}


@dataclass(frozen=True)
class OptimizerPlugin:
    """One optimizer of a C plugin. ``configs`` are its wishes: ``"on"`` or ``"off"`` by toggle.

    ``isolation`` is ``"process"`` where it must not run in this process unless a call says so;
    ``only_isolated`` where this process has not even opened its library. ``ops`` are those that the
    library registered in this process. ``ordered``: it declared ``phase`` and ``priority``, and may
    share its device type with others.
    """

    name: str
    version: str
    path: str
    device: str
    configs: Mapping[str, str] = field(default_factory=dict)
    isolation: str = "none"
    only_isolated: bool = False
    ops: frozenset[str] = frozenset()
    ordered: bool = False
    phase: str = "end"
    priority: int = 0

    def run(
        self,
        graph: bytes,
        fetches: Sequence[str] = (),
        feeds: Sequence[str] = (),
        preserve: Collection[str] = (),
        *,
        isolation: str | None = None,
        limits: Limits | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> bytes | None:
        """New GraphDef bytes, or None for no change; raises ``PluginError`` and ``HostError``.

        ``more`` is for optimizers in Python, whose ``path`` says how to load them; see
        ``isolation_worker``.
        """
        if not self.only_isolated and (isolation or self.isolation) != "process":
            from drystone_base.host.optimizer import run

            library = self.path if self.ordered else ""
            return run(self.device, graph, fetches, feeds, preserve, library=library)
        names: dict[str, Any] = {
            "fetches": list(fetches),
            "feeds": list(feeds),
            "preserve": sorted(set(preserve)),
            **(more or {}),
        }
        found = _run_isolated(self, graph, names, limits or Limits())
        if found is not None and self.ops:
            _refuse_own_ops(self, found)
        return found


_lock: Final = threading.RLock()
_workers: Final[dict[str, Worker]] = {}
_strikes: Final[dict[str, int]] = {}
_last_error: Final[dict[str, PluginError]] = {}
_isolated: Final[dict[str, list[OptimizerPlugin]]] = {}


def optimizer_plugins(*, load: bool = False) -> list[OptimizerPlugin]:
    """Every optimizer that a C plugin registered, here or in its own process, by device type.

    ``load``: first load the installed plugins, if nothing has asked for them yet.
    """
    records = _records(load)
    from drystone_base.host.optimizer import optimizers

    found = [_of_host(one, records) for one in optimizers()]
    with _lock:
        for plugins in _isolated.values():
            taken = {(one.device, one.path) for one in found}
            taken |= {(one.device, "") for one in found if not one.ordered}
            found += [
                one
                for one in plugins
                if (one.device, "" if not one.ordered else one.path) not in taken
            ]
    return sorted(found, key=lambda one: (one.device, one.path))


def _of_host(one: HostOptimizer, records: Mapping[str, Plugin]) -> OptimizerPlugin:
    record = records.get(one.library)
    return OptimizerPlugin(
        name=record.name if record else plugin_name(Path(one.library).name),
        version=record.version if record else "",
        path=one.library,
        device=one.device,
        configs=one.configs,
        isolation=current().isolation or (record.isolation if record else "none"),
        ops=frozenset(record.registered.get("ops", ())) if record else frozenset(),
        ordered=one.ordered,
        phase=one.phase,
        priority=one.priority,
    )


def _refuse_own_ops(plugin: OptimizerPlugin, graph: bytes) -> None:
    """Nodes for the plugin's own kernels must come from the process that will run them."""
    from google.protobuf.message import DecodeError

    try:
        nodes = GraphDef.FromString(graph).node
    except DecodeError:
        return  # who reads the answer says what it is
    node = next((n for n in nodes if n.op in plugin.ops), None)
    if node is not None:
        raise PluginError(
            f"plugin {plugin.name} ({plugin.path}) cannot optimize in a process of its own",
            check="a graph from another process must not hold nodes for the plugin's own kernels",
            found=f"node {node.name!r} has op {node.op!r}, which the plugin registered",
            needed="ops that anybody may run, because such nodes may hold addresses",
            remedy="run its optimizer in this process: OptimizerConfig(isolation='none')",
            plugin=plugin.name,
            version=plugin.version,
            path=plugin.path,
            code="isolated-plugin-ops",
        )


def _records(load: bool) -> Mapping[str, Plugin]:
    """What is known of loaded plugins, by path."""
    if load:
        manager.ensure_loaded()
    return {plugin.path: plugin for plugin in manager.found.plugins if plugin.library is not None}


def load_isolated(
    path: str | os.PathLike[str], name: str = "", version: str = "", limits: Limits | None = None
) -> list[OptimizerPlugin]:
    """Open a library in a process of its own, and there only; the optimizers that it has.

    They are then in :func:`optimizer_plugins`. Raises ``PluginError`` where it fails, and where a
    device type has an optimizer already.
    """
    real = os.path.realpath(path)
    name = name or plugin_name(os.path.basename(real))
    with _lock:
        if real not in _isolated:
            from drystone_base.plugins.isolation_process import Worker

            worker = Worker(name, version, real, limits or Limits())
            made = [
                OptimizerPlugin(
                    name,
                    version,
                    real,
                    one["device"],
                    one["configs"],
                    "process",
                    True,
                    ordered=one["ordered"],
                    phase=one["phase"],
                    priority=one["priority"],
                )
                for one in worker.optimizers
            ]
            _refuse_taken(made, worker)
            if not made:
                worker.end()
                return []
            _keep(real, worker)
            _isolated[real] = made
        return list(_isolated[real])


def _refuse_taken(made: Sequence[OptimizerPlugin], worker: Worker) -> None:
    """RFC 318: no two optimizers for one device type; the second is refused."""
    taken = {one.device: one.path for one in optimizer_plugins() if not one.ordered}
    for one in made:
        if one.device in taken and not one.ordered:
            worker.end()
            raise PluginError(
                f"the optimizer of plugin {one.name} ({one.path}) was refused",
                check="a device type has one optimizer, beside those that say where they run",
                found=f"{one.device} has that of {taken[one.device]}",
                needed="only one of the two plugins",
                remedy=f"disable one of them: DRYSTONE_PLUGINS_DISABLE={one.name}; authors may "
                "declare where theirs runs (DS_OrderOptimizer), and so share a device type",
                plugin=one.name,
                version=one.version,
                path=one.path,
                code="already-registered",
                status="ALREADY_EXISTS",
            )


def _keep(path: str, worker: Worker) -> None:
    if not _workers:
        atexit.register(stop_workers)
    before = _workers.get(path)
    _workers[path] = worker
    if before is not None:
        before.end()


def _run_isolated(
    plugin: OptimizerPlugin, graph: bytes, names: dict[str, Any], limits: Limits
) -> bytes | None:
    if _strikes.get(plugin.path, 0) >= _MOST_STRIKES:
        raise _last_error[plugin.path]
    try:
        return _worker(plugin, limits).optimize(plugin.device, graph, names, limits)
    except PluginError as error:
        hurried = error.code == "isolated-plugin-deadline" and limits.is_over
        if error.code in _STRIKES and not hurried:
            with _lock:
                _strikes[plugin.path] = _strikes.get(plugin.path, 0) + _STRIKES[error.code]
                _last_error[plugin.path] = error
        raise


def _worker(plugin: OptimizerPlugin, limits: Limits) -> Worker:
    """The plugin's process: the one there is, or a new one."""
    with _lock:
        worker = _workers.get(plugin.path)
        if worker is None or not worker.alive or worker.memory != limits.memory:
            from drystone_base.plugins.isolation_process import Worker

            worker = Worker(plugin.name, plugin.version, plugin.path, limits)
            _keep(plugin.path, worker)
        return worker


def stop_workers() -> None:
    """End all processes of isolated plugins, and forget how often they failed."""
    with _lock:
        for worker in _workers.values():
            worker.end()
        _workers.clear()
        _strikes.clear()
        _last_error.clear()


def _forget_workers() -> None:
    """In a forked child: the processes are the parent's."""
    _workers.clear()


os.register_at_fork(after_in_child=_forget_workers)
