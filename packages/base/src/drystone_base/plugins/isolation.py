"""Optimizers, kernels and filesystems of C plugins in a process of their own.

``isolation="process"`` (for a plugin by its manifest, for all or all unsigned ones by
``DRYSTONE_PLUGIN_ISOLATION``) opens a library in a child, and not here at all: bytes go in and out
over pipes. A plugin that crashes, hangs, eats memory or answers nonsense then costs an error here
and nothing else. The child is kept for further requests; see ``isolation_pool``.

An optimizer of a library that is open here may be run in a child, too, for one call. It must then
not put ops of its library into a graph: nodes of some plugins hold addresses of the process that
made them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drystone_abi.protos import GraphDef
from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import current
from drystone_base.core.registered import ENTRY_FUNCTIONS
from drystone_base.plugins._manager import manager
from drystone_base.plugins._record import Plugin, plugin_name
from drystone_base.plugins.in_process import run_here
from drystone_base.plugins.isolation_limits import Limits
from drystone_base.plugins.isolation_offered import Offered
from drystone_base.plugins.isolation_pool import asked, keep, lock, stop_workers

if TYPE_CHECKING:
    from drystone_base.host.optimizer import HostOptimizer
    from drystone_base.plugins.isolation_process import Worker

__all__ = [
    "Limits",
    "OptimizerPlugin",
    "load_isolated",
    "offered_apart",
    "optimizer_plugins",
    "stop_workers",
]


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
            ends = None if limits is None else limits.ends
            return run_here(self, graph, fetches, feeds, preserve, ends)
        names: dict[str, Any] = {
            "fetches": list(fetches),
            "feeds": list(feeds),
            "preserve": sorted(set(preserve)),
            **(more or {}),
        }
        given = limits or Limits()
        found = asked(
            self.name,
            self.version,
            self.path,
            given,
            lambda worker: worker.optimize(self.device, graph, names, given),
        )
        if found is not None and self.ops:
            _refuse_own_ops(self, found)
        return found


_isolated: Final[dict[str, tuple[Offered, list[OptimizerPlugin]]]] = {}


def optimizer_plugins(*, load: bool = False) -> list[OptimizerPlugin]:
    """Every optimizer that a C plugin registered, here or in its own process, by device type.

    ``load``: first load the installed plugins, if nothing has asked for them yet.
    """
    records = _records(load)
    from drystone_base.host.optimizer import optimizers

    found = [_of_host(one, records) for one in optimizers()]
    with lock:
        for _, plugins in _isolated.values():
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
        isolation=_chosen(record),
        ops=frozenset(record.registered.get("ops", ())) if record else frozenset(),
        ordered=one.ordered,
        phase=one.phase,
        priority=one.priority,
    )


def _chosen(record: Plugin | None) -> str:
    """Where the optimizer of a library runs that is open here."""
    chosen = current().isolation
    if chosen is None or (chosen == "unsigned" and record is not None):
        return record.isolation if record else "none"
    return "none" if chosen == "none" else "process"


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
    offered_apart(path, name, version, limits)
    return list(_isolated.get(os.path.realpath(path), ((), []))[1])


def offered_apart(
    path: str | os.PathLike[str], name: str = "", version: str = "", limits: Limits | None = None
) -> Offered:
    """The same, with all that it offers: optimizers, ops, kernels and schemes, known from now on.

    ``Offered.registered`` is empty where the library offers nothing that can be isolated.
    """
    real = os.path.realpath(path)
    name = name or plugin_name(os.path.basename(real))
    with lock:
        if real not in _isolated:
            from drystone_base.plugins.isolation_process import Worker

            worker = Worker(name, version, real, limits or Limits())
            offered = Offered.of(worker.offered)
            made = [_optimizer(name, version, real, one) for one in offered.optimizers]
            try:
                _refuse_taken(made)
                remarks = [*offered.remarks, *_take_rest(worker, offered)]
            except PluginError:
                worker.end()
                raise
            offered = offered._replace(remarks=remarks)
            if not any(offered.registered.values()):
                worker.end()
                return offered
            keep(worker)
            _isolated[real] = offered, made
            if made:
                ENTRY_FUNCTIONS.note("TF_InitGraph")
        return _isolated[real][0]


def _optimizer(name: str, version: str, path: str, one: dict[str, Any]) -> OptimizerPlugin:
    return OptimizerPlugin(
        name,
        version,
        path,
        one["device"],
        one["configs"],
        "process",
        True,
        ordered=one["ordered"],
        phase=one["phase"],
        priority=one["priority"],
    )


def _take_rest(worker: Worker, offered: Offered) -> list[str]:
    """Make known what is no optimizer; what of it cannot be."""
    remarks, plugin = [], (worker.name, worker.version, worker.path)
    if offered.ops or offered.kernels:
        from drystone_base.plugins.isolation_kernels import take_kernels

        remarks += take_kernels(*plugin, offered)
    if schemes := offered.registered.get("schemes"):
        from drystone_base.plugins.isolation_files import take_schemes

        remarks += take_schemes(*plugin, schemes)
    return remarks


def _refuse_taken(made: Sequence[OptimizerPlugin]) -> None:
    """RFC 318: no two optimizers for one device type; the second is refused."""
    taken = {one.device: one.path for one in optimizer_plugins() if not one.ordered}
    for one in made:
        if one.device in taken and not one.ordered:
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
