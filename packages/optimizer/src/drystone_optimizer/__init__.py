"""The meta-optimizer: passes over a graph, then the optimizers of plugins, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_optimizer.core._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_optimizer.core.config import OptimizerConfig as OptimizerConfig
    from drystone_optimizer.core.config import QueueRunner as QueueRunner
    from drystone_optimizer.core.config import Toggle as Toggle
    from drystone_optimizer.core.config import get_experimental_options as get_experimental_options
    from drystone_optimizer.core.config import set_experimental_options as set_experimental_options
    from drystone_optimizer.core.failure import OptimizerWarning as OptimizerWarning
    from drystone_optimizer.core.report import Report as Report
    from drystone_optimizer.core.report import Run as Run
    from drystone_optimizer.core.report import Step as Step
    from drystone_optimizer.pipeline.pipeline import optimize as optimize
    from drystone_optimizer.pipeline.pipeline import optimize_with_report as optimize_with_report
    from drystone_optimizer.plugins.sources import Optimizer as Optimizer
    from drystone_optimizer.plugins.sources import graph_optimizer as graph_optimizer
    from drystone_optimizer.plugins.sources import optimizers as optimizers
    from drystone_optimizer.plugins.sources import register as register

__version__ = "0.1.1"

# Where each public name lives; modules are imported when a name is first asked for.
_HOME = {
    "Optimizer": ".plugins.sources",
    "OptimizerConfig": ".core.config",
    "OptimizerWarning": ".core.failure",
    "QueueRunner": ".core.config",
    "Report": ".core.report",
    "Run": ".core.report",
    "Step": ".core.report",
    "Toggle": ".core.config",
    "get_experimental_options": ".core.config",
    "graph_optimizer": ".plugins.sources",
    "optimize": ".pipeline.pipeline",
    "optimize_with_report": ".pipeline.pipeline",
    "optimizers": ".plugins.sources",
    "register": ".plugins.sources",
    "set_experimental_options": ".core.config",
}

__all__ = [
    "Optimizer",
    "OptimizerConfig",
    "OptimizerWarning",
    "QueueRunner",
    "Report",
    "Run",
    "Step",
    "Toggle",
    "__version__",
    "get_experimental_options",
    "graph_optimizer",
    "optimize",
    "optimize_with_report",
    "optimizers",
    "register",
    "set_experimental_options",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
