"""The meta-optimizer: passes over a graph, then the optimizers of plugins, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.late_names import late_names

if TYPE_CHECKING:
    from drystone_optimizer.config import OptimizerConfig as OptimizerConfig
    from drystone_optimizer.config import QueueRunner as QueueRunner
    from drystone_optimizer.config import Toggle as Toggle
    from drystone_optimizer.config import get_experimental_options as get_experimental_options
    from drystone_optimizer.config import set_experimental_options as set_experimental_options
    from drystone_optimizer.failure import OptimizerWarning as OptimizerWarning
    from drystone_optimizer.pipeline import optimize as optimize
    from drystone_optimizer.pipeline import optimize_with_report as optimize_with_report
    from drystone_optimizer.report import Report as Report
    from drystone_optimizer.report import Run as Run
    from drystone_optimizer.report import Step as Step
    from drystone_optimizer.sources import Optimizer as Optimizer
    from drystone_optimizer.sources import graph_optimizer as graph_optimizer
    from drystone_optimizer.sources import optimizers as optimizers
    from drystone_optimizer.sources import register as register

__version__ = "0.1.0"

# Where each public name lives; modules are imported when a name is first asked for.
_HOME = {
    "Optimizer": ".sources",
    "OptimizerConfig": ".config",
    "OptimizerWarning": ".failure",
    "QueueRunner": ".config",
    "Report": ".report",
    "Run": ".report",
    "Step": ".report",
    "Toggle": ".config",
    "get_experimental_options": ".config",
    "graph_optimizer": ".sources",
    "optimize": ".pipeline",
    "optimize_with_report": ".pipeline",
    "optimizers": ".sources",
    "register": ".sources",
    "set_experimental_options": ".config",
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

__getattr__, __dir__ = late_names(__name__, _HOME, __all__)
