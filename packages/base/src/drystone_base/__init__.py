"""Load, inspect, edit and run TensorFlow graphs without TensorFlow."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base import dtypes as dtypes
    from drystone_base import graph_editor as graph_editor
    from drystone_base import modules as modules
    from drystone_base import plugins as plugins
    from drystone_base.api.config import SessionConfig as SessionConfig
    from drystone_base.api.function import Function as Function
    from drystone_base.api.function import RetraceWarning as RetraceWarning
    from drystone_base.api.function import Spec as Spec
    from drystone_base.api.function import Traced as Traced
    from drystone_base.api.function import function as function
    from drystone_base.api.function import grad as grad
    from drystone_base.api.function import value_and_grad as value_and_grad
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
    from drystone_base.checkpoint.state import latest_checkpoint as latest_checkpoint
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
    from drystone_base.tracing.control_flow import cond as cond
    from drystone_base.tracing.control_flow import switch as switch
    from drystone_base.tracing.control_flow import while_loop as while_loop
    from drystone_base.tracing.gradient import custom_gradient as custom_gradient
    from drystone_base.tracing.gradient import recompute as recompute
    from drystone_base.tracing.store import VariableStore as VariableStore
    from drystone_base.tracing.tensor import Tensor as Tensor
    from drystone_base.tracing.variable import Variable as Variable

__version__ = "0.2.0"
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
    "Function": ".api.function",
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
    "RetraceWarning": ".api.function",
    "Session": ".api.session",
    "SessionConfig": ".api.config",
    "ShapeError": ".core.errors",
    "Shapes": ".inference.inference",
    "Spec": ".api.function",
    "SummaryWriter": ".api.summary_writer",
    "Tensor": ".tracing.tensor",
    "Traced": ".api.function",
    "UnsupportedOp": ".core.errors",
    "Variable": ".tracing.variable",
    "VariableStore": ".tracing.store",
    "as_dtype": ".core.dtypes",
    "cond": ".tracing.control_flow",
    "custom_gradient": ".tracing.gradient",
    "dtypes": "",
    "function": ".api.function",
    "grad": ".api.function",
    "gradient": ".autodiff",
    "gradients": ".autodiff",
    "graph_editor": "",
    "infer": ".inference.inference",
    "latest_checkpoint": ".checkpoint.state",
    "load": ".api.model",
    "modules": "",
    "plugins": "",
    "read_graph": ".loaders",
    "recompute": ".tracing.gradient",
    "register_py_func": ".state.py_functions",
    "restore_checkpoint": ".api.saving",
    "save": ".api.saving",
    "save_checkpoint": ".api.saving",
    "switch": ".tracing.control_flow",
    "validate": ".graph",
    "value_and_grad": ".api.function",
    "while_loop": ".tracing.control_flow",
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
    "Function",
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
    "RetraceWarning",
    "Session",
    "SessionConfig",
    "ShapeError",
    "Shapes",
    "Spec",
    "SummaryWriter",
    "Tensor",
    "Traced",
    "UnsupportedOp",
    "Variable",
    "VariableStore",
    "__version__",
    "as_dtype",
    "cond",
    "custom_gradient",
    "dtypes",
    "function",
    "grad",
    "gradient",
    "gradients",
    "graph_editor",
    "infer",
    "latest_checkpoint",
    "load",
    "modules",
    "plugins",
    "read_graph",
    "recompute",
    "register_py_func",
    "restore_checkpoint",
    "save",
    "save_checkpoint",
    "switch",
    "validate",
    "value_and_grad",
    "while_loop",
    "write_graph",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
