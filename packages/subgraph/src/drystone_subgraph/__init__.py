"""Regions of a graph for backends: selectors grow them, and each becomes one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.late_names import late_names

if TYPE_CHECKING:
    from drystone_subgraph.backend import SubgraphBackend as SubgraphBackend
    from drystone_subgraph.backend import backends as backends
    from drystone_subgraph.backend import find_backend as find_backend
    from drystone_subgraph.backend import register_backend as register_backend
    from drystone_subgraph.compiled import ExecutableStatus as ExecutableStatus
    from drystone_subgraph.config import PartitionConfig as PartitionConfig
    from drystone_subgraph.executable import CompileInput as CompileInput
    from drystone_subgraph.executable import CompileRequest as CompileRequest
    from drystone_subgraph.executable import Executable as Executable
    from drystone_subgraph.executable import Handle as Handle
    from drystone_subgraph.executable import Updatable as Updatable
    from drystone_subgraph.failure import SubgraphWarning as SubgraphWarning
    from drystone_subgraph.partitioner import partition as partition
    from drystone_subgraph.partitioner import partition_with_report as partition_with_report
    from drystone_subgraph.patterns import Pattern as Pattern
    from drystone_subgraph.patterns import chain as chain
    from drystone_subgraph.patterns import pattern_properties as pattern_properties
    from drystone_subgraph.property import ContainOpProperty as ContainOpProperty
    from drystone_subgraph.property import SubgraphProperty as SubgraphProperty
    from drystone_subgraph.report import PartitionReport as PartitionReport
    from drystone_subgraph.report import Segment as Segment
    from drystone_subgraph.selector import ContainOpSelector as ContainOpSelector
    from drystone_subgraph.selector import NodeSelector as NodeSelector
    from drystone_subgraph.selector import SubgraphSelector as SubgraphSelector
    from drystone_subgraph.status import executables as executables
    from drystone_subgraph.subgraph import Subgraph as Subgraph
    from drystone_subgraph.subgraph import SubgraphInput as SubgraphInput
    from drystone_subgraph.subgraph import SubgraphNode as SubgraphNode
    from drystone_subgraph.subgraph import SubgraphOutput as SubgraphOutput

__version__ = "0.1.0"

# Where each public name lives; modules are imported when a name is first asked for.
_HOME = {
    "CompileInput": ".executable",
    "CompileRequest": ".executable",
    "ContainOpProperty": ".property",
    "ContainOpSelector": ".selector",
    "Executable": ".executable",
    "ExecutableStatus": ".compiled",
    "Handle": ".executable",
    "NodeSelector": ".selector",
    "PartitionConfig": ".config",
    "PartitionReport": ".report",
    "Pattern": ".patterns",
    "Segment": ".report",
    "Subgraph": ".subgraph",
    "SubgraphBackend": ".backend",
    "SubgraphInput": ".subgraph",
    "SubgraphNode": ".subgraph",
    "SubgraphOutput": ".subgraph",
    "SubgraphProperty": ".property",
    "SubgraphSelector": ".selector",
    "SubgraphWarning": ".failure",
    "Updatable": ".executable",
    "backends": ".backend",
    "chain": ".patterns",
    "executables": ".status",
    "find_backend": ".backend",
    "partition": ".partitioner",
    "partition_with_report": ".partitioner",
    "pattern_properties": ".patterns",
    "register_backend": ".backend",
}

__all__ = [
    "CompileInput",
    "CompileRequest",
    "ContainOpProperty",
    "ContainOpSelector",
    "Executable",
    "ExecutableStatus",
    "Handle",
    "NodeSelector",
    "PartitionConfig",
    "PartitionReport",
    "Pattern",
    "Segment",
    "Subgraph",
    "SubgraphBackend",
    "SubgraphInput",
    "SubgraphNode",
    "SubgraphOutput",
    "SubgraphProperty",
    "SubgraphSelector",
    "SubgraphWarning",
    "Updatable",
    "__version__",
    "backends",
    "chain",
    "executables",
    "find_backend",
    "partition",
    "partition_with_report",
    "pattern_properties",
    "register_backend",
]

__getattr__, __dir__ = late_names(__name__, _HOME, __all__)
