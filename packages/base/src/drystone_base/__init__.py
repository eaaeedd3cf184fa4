"""Load, inspect, edit and run TensorFlow graphs without TensorFlow."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from drystone_base.collector import no_cycle_collection
from drystone_base.late_names import late_names

if TYPE_CHECKING:
    from drystone_base import modules as modules
    from drystone_base import plugins as plugins
    from drystone_base.cancellation import Cancellation as Cancellation
    from drystone_base.config import SessionConfig as SessionConfig
    from drystone_base.dtypes import DType as DType
    from drystone_base.dtypes import as_dtype as as_dtype
    from drystone_base.errors import BadModelFile as BadModelFile
    from drystone_base.errors import BadRequest as BadRequest
    from drystone_base.errors import CheckpointError as CheckpointError
    from drystone_base.errors import DrystoneError as DrystoneError
    from drystone_base.errors import GraphError as GraphError
    from drystone_base.errors import HostError as HostError
    from drystone_base.errors import KernelError as KernelError
    from drystone_base.errors import PluginError as PluginError
    from drystone_base.errors import ShapeError as ShapeError
    from drystone_base.errors import UnsupportedOp as UnsupportedOp
    from drystone_base.graph import Graph as Graph
    from drystone_base.graph import Node as Node
    from drystone_base.graph.validate import validate as validate
    from drystone_base.loaders import read_graph as read_graph
    from drystone_base.loaders import write_graph as write_graph
    from drystone_base.model import Model as Model
    from drystone_base.model import load as load
    from drystone_base.ops.inference import Inference as Inference
    from drystone_base.ops.inference import infer as infer
    from drystone_base.policy import Access as Access
    from drystone_base.py_functions import register_py_func as register_py_func
    from drystone_base.record import Record as Record
    from drystone_base.saving import restore_checkpoint as restore_checkpoint
    from drystone_base.saving import save as save
    from drystone_base.saving import save_checkpoint as save_checkpoint
    from drystone_base.session import Session as Session

__version__ = "0.1.0"
STARTED = time.time()  # seconds since 1970: files of code that are newer are not what runs here

# Where each public name lives, "" for one that is itself a module. Modules are imported when a name
# is first asked for, so that `import drystone_base` costs next to nothing.
_HOME = {
    "Access": ".policy",
    "BadModelFile": ".errors",
    "BadRequest": ".errors",
    "Cancellation": ".cancellation",
    "CheckpointError": ".errors",
    "DType": ".dtypes",
    "DrystoneError": ".errors",
    "Graph": ".graph",
    "GraphError": ".errors",
    "HostError": ".errors",
    "Inference": ".ops.inference",
    "KernelError": ".errors",
    "Model": ".model",
    "Node": ".graph",
    "PluginError": ".errors",
    "Record": ".record",
    "Session": ".session",
    "SessionConfig": ".config",
    "ShapeError": ".errors",
    "UnsupportedOp": ".errors",
    "as_dtype": ".dtypes",
    "infer": ".ops.inference",
    "load": ".model",
    "modules": "",
    "plugins": "",
    "read_graph": ".loaders",
    "register_py_func": ".py_functions",
    "restore_checkpoint": ".saving",
    "save": ".saving",
    "save_checkpoint": ".saving",
    "validate": ".graph",
    "write_graph": ".loaders",
}

__all__ = [
    "Access",
    "BadModelFile",
    "BadRequest",
    "Cancellation",
    "CheckpointError",
    "DType",
    "DrystoneError",
    "Graph",
    "GraphError",
    "HostError",
    "Inference",
    "KernelError",
    "Model",
    "Node",
    "PluginError",
    "Record",
    "Session",
    "SessionConfig",
    "ShapeError",
    "UnsupportedOp",
    "__version__",
    "as_dtype",
    "infer",
    "load",
    "modules",
    "plugins",
    "read_graph",
    "register_py_func",
    "restore_checkpoint",
    "save",
    "save_checkpoint",
    "validate",
    "write_graph",
]

_find, __dir__ = late_names(__name__, _HOME, __all__)


def __getattr__(name: str) -> Any:
    with no_cycle_collection():
        return _find(name)
