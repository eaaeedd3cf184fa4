"""Load, inspect, edit and run TensorFlow graphs without TensorFlow."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base import modules as modules
    from drystone_base import plugins as plugins
    from drystone_base.api.config import SessionConfig as SessionConfig
    from drystone_base.api.model import Model as Model
    from drystone_base.api.model import load as load
    from drystone_base.api.saving import restore_checkpoint as restore_checkpoint
    from drystone_base.api.saving import save as save
    from drystone_base.api.saving import save_checkpoint as save_checkpoint
    from drystone_base.api.session import Session as Session
    from drystone_base.api.summary_writer import SummaryWriter as SummaryWriter
    from drystone_base.autodiff import IndexedSlices as IndexedSlices
    from drystone_base.autodiff import gradient as gradient
    from drystone_base.autodiff import gradients as gradients
    from drystone_base.core.dtypes import DType as DType
    from drystone_base.core.dtypes import as_dtype as as_dtype
    from drystone_base.core.errors import BadModelFile as BadModelFile
    from drystone_base.core.errors import BadRequest as BadRequest
    from drystone_base.core.errors import CheckpointError as CheckpointError
    from drystone_base.core.errors import DrystoneError as DrystoneError
    from drystone_base.core.errors import GraphError as GraphError
    from drystone_base.core.errors import HostError as HostError
    from drystone_base.core.errors import KernelError as KernelError
    from drystone_base.core.errors import PluginError as PluginError
    from drystone_base.core.errors import ShapeError as ShapeError
    from drystone_base.core.errors import UnsupportedOp as UnsupportedOp
    from drystone_base.executor.record import Record as Record
    from drystone_base.files.access import Access as Access
    from drystone_base.graph import Builder as Builder
    from drystone_base.graph import Graph as Graph
    from drystone_base.graph import Node as Node
    from drystone_base.graph.validate import validate as validate
    from drystone_base.inference.inference import Inference as Inference
    from drystone_base.inference.inference import Shapes as Shapes
    from drystone_base.inference.inference import infer as infer
    from drystone_base.loaders import read_graph as read_graph
    from drystone_base.loaders import write_graph as write_graph
    from drystone_base.state.cancellation import Cancellation as Cancellation
    from drystone_base.state.py_functions import register_py_func as register_py_func

__version__ = "0.1.0"
STARTED = time.time()  # seconds since 1970: files of code that are newer are not what runs here

# Where each public name lives, "" for one that is itself a module. Modules are imported when a name
# is first asked for, so that `import drystone_base` costs next to nothing.
_HOME = {
    "Access": ".files.access",
    "BadModelFile": ".core.errors",
    "BadRequest": ".core.errors",
    "Builder": ".graph",
    "Cancellation": ".state.cancellation",
    "CheckpointError": ".core.errors",
    "DType": ".core.dtypes",
    "DrystoneError": ".core.errors",
    "Graph": ".graph",
    "GraphError": ".core.errors",
    "HostError": ".core.errors",
    "IndexedSlices": ".autodiff",
    "Inference": ".inference.inference",
    "KernelError": ".core.errors",
    "Model": ".api.model",
    "Node": ".graph",
    "PluginError": ".core.errors",
    "Record": ".executor.record",
    "Session": ".api.session",
    "SessionConfig": ".api.config",
    "ShapeError": ".core.errors",
    "Shapes": ".inference.inference",
    "SummaryWriter": ".api.summary_writer",
    "UnsupportedOp": ".core.errors",
    "as_dtype": ".core.dtypes",
    "gradient": ".autodiff",
    "gradients": ".autodiff",
    "infer": ".inference.inference",
    "load": ".api.model",
    "modules": "",
    "plugins": "",
    "read_graph": ".loaders",
    "register_py_func": ".state.py_functions",
    "restore_checkpoint": ".api.saving",
    "save": ".api.saving",
    "save_checkpoint": ".api.saving",
    "validate": ".graph",
    "write_graph": ".loaders",
}

__all__ = [
    "Access",
    "BadModelFile",
    "BadRequest",
    "Builder",
    "Cancellation",
    "CheckpointError",
    "DType",
    "DrystoneError",
    "Graph",
    "GraphError",
    "HostError",
    "IndexedSlices",
    "Inference",
    "KernelError",
    "Model",
    "Node",
    "PluginError",
    "Record",
    "Session",
    "SessionConfig",
    "ShapeError",
    "Shapes",
    "SummaryWriter",
    "UnsupportedOp",
    "__version__",
    "as_dtype",
    "gradient",
    "gradients",
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

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
