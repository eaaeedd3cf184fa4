"""Regions of a graph for backends: selectors grow them, and each becomes one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_subgraph.contract._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_subgraph.bundled.patterns import Pattern as Pattern
    from drystone_subgraph.bundled.patterns import chain as chain
    from drystone_subgraph.bundled.patterns import pattern_properties as pattern_properties
    from drystone_subgraph.compiled.compiled import ExecutableStatus as ExecutableStatus
    from drystone_subgraph.compiled.status import executables as executables
    from drystone_subgraph.contract.backend import SubgraphBackend as SubgraphBackend
    from drystone_subgraph.contract.backend import backends as backends
    from drystone_subgraph.contract.backend import find_backend as find_backend
    from drystone_subgraph.contract.backend import register_backend as register_backend
    from drystone_subgraph.contract.config import PartitionConfig as PartitionConfig
    from drystone_subgraph.contract.conversion import Conversion as Conversion
    from drystone_subgraph.contract.conversion import ConversionRequest as ConversionRequest
    from drystone_subgraph.contract.conversion import ConvertedRegion as ConvertedRegion
    from drystone_subgraph.contract.executable import CompileInput as CompileInput
    from drystone_subgraph.contract.executable import CompileRequest as CompileRequest
    from drystone_subgraph.contract.executable import Executable as Executable
    from drystone_subgraph.contract.executable import Handle as Handle
    from drystone_subgraph.contract.executable import Updatable as Updatable
    from drystone_subgraph.contract.failure import SubgraphWarning as SubgraphWarning
    from drystone_subgraph.contract.property import ContainOpProperty as ContainOpProperty
    from drystone_subgraph.contract.property import SubgraphProperty as SubgraphProperty
    from drystone_subgraph.contract.selector import ContainOpSelector as ContainOpSelector
    from drystone_subgraph.contract.selector import NodeSelector as NodeSelector
    from drystone_subgraph.contract.selector import SubgraphSelector as SubgraphSelector
    from drystone_subgraph.contract.subgraph import Subgraph as Subgraph
    from drystone_subgraph.contract.subgraph import SubgraphInput as SubgraphInput
    from drystone_subgraph.contract.subgraph import SubgraphNode as SubgraphNode
    from drystone_subgraph.contract.subgraph import SubgraphOutput as SubgraphOutput
    from drystone_subgraph.regions.partitioner import partition as partition
    from drystone_subgraph.regions.partitioner import partition_with_report as partition_with_report
    from drystone_subgraph.regions.report import PartitionReport as PartitionReport
    from drystone_subgraph.regions.report import Segment as Segment

__version__ = "0.1.1"

# Where each public name lives; modules are imported when a name is first asked for.
_HOME = {
    "CompileInput": ".contract.executable",
    "CompileRequest": ".contract.executable",
    "ContainOpProperty": ".contract.property",
    "ContainOpSelector": ".contract.selector",
    "Conversion": ".contract.conversion",
    "ConversionRequest": ".contract.conversion",
    "ConvertedRegion": ".contract.conversion",
    "Executable": ".contract.executable",
    "ExecutableStatus": ".compiled.compiled",
    "Handle": ".contract.executable",
    "NodeSelector": ".contract.selector",
    "PartitionConfig": ".contract.config",
    "PartitionReport": ".regions.report",
    "Pattern": ".bundled.patterns",
    "Segment": ".regions.report",
    "Subgraph": ".contract.subgraph",
    "SubgraphBackend": ".contract.backend",
    "SubgraphInput": ".contract.subgraph",
    "SubgraphNode": ".contract.subgraph",
    "SubgraphOutput": ".contract.subgraph",
    "SubgraphProperty": ".contract.property",
    "SubgraphSelector": ".contract.selector",
    "SubgraphWarning": ".contract.failure",
    "Updatable": ".contract.executable",
    "backends": ".contract.backend",
    "chain": ".bundled.patterns",
    "executables": ".compiled.status",
    "find_backend": ".contract.backend",
    "partition": ".regions.partitioner",
    "partition_with_report": ".regions.partitioner",
    "pattern_properties": ".bundled.patterns",
    "register_backend": ".contract.backend",
}

__all__ = [
    "CompileInput",
    "CompileRequest",
    "ContainOpProperty",
    "ContainOpSelector",
    "Conversion",
    "ConversionRequest",
    "ConvertedRegion",
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

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
