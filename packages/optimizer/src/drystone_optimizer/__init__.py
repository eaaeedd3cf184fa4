"""Graph optimizers: runs those of plugins on a graph and checks what they give back."""

from drystone_optimizer.config import (
    OptimizerConfig,
    QueueRunner,
    Toggle,
    get_experimental_options,
    set_experimental_options,
)
from drystone_optimizer.pipeline import OptimizerWarning, optimize, optimize_with_report
from drystone_optimizer.report import Report, Run
from drystone_optimizer.sources import Optimizer, optimizers, register

__version__ = "0.1.0"

__all__ = [
    "Optimizer",
    "OptimizerConfig",
    "OptimizerWarning",
    "QueueRunner",
    "Report",
    "Run",
    "Toggle",
    "__version__",
    "get_experimental_options",
    "optimize",
    "optimize_with_report",
    "optimizers",
    "register",
    "set_experimental_options",
]
