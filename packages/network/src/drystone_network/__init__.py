"""Graphs over several processes and machines: transports, clusters, workers, collectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_network.transports._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_network.cluster.spec import ClusterSpec as ClusterSpec
    from drystone_network.cluster.spec import Task as Task
    from drystone_network.collectives.group import Group as Group
    from drystone_network.collectives.shared import all_reduce as all_reduce
    from drystone_network.collectives.shared import data_parallel as data_parallel
    from drystone_network.collectives.shared import join as join
    from drystone_network.session.master import reset as reset
    from drystone_network.session.server import Server as Server
    from drystone_network.transports.engine import Engine as Engine
    from drystone_network.transports.registry import schemes as schemes

__all__ = [
    "ClusterSpec",
    "Engine",
    "Group",
    "Server",
    "Task",
    "all_reduce",
    "data_parallel",
    "join",
    "reset",
    "schemes",
]
__version__ = "0.1.0"

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "ClusterSpec": ".cluster.spec",
        "Engine": ".transports.engine",
        "Group": ".collectives.group",
        "Server": ".session.server",
        "Task": ".cluster.spec",
        "all_reduce": ".collectives.shared",
        "data_parallel": ".collectives.shared",
        "join": ".collectives.shared",
        "reset": ".session.master",
        "schemes": ".transports.registry",
    },
    __all__,
)
