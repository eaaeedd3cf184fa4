"""Run TensorFlow models without TensorFlow: `import drystone as ds`.

Every public name of `drystone_base` is available here, and each further package of the set as a
module (`ds.optimizer` is `drystone_optimizer`, `ds.io` is `drystone_filesystem`). `ds.ops` has
every op as a function. Packages beside the set are modules too where they are installed
(`ds.estimator` is `drystone_estimator`). All is loaded on first use, so importing drystone costs
next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import drystone_base.tracing.operations
    import drystone_estimator
    import drystone_filesystem
    import drystone_network
    import drystone_optimizer
    import drystone_subgraph
    from drystone import config as config

    distributed = drystone_network
    estimator = drystone_estimator
    io = drystone_filesystem
    optimizer = drystone_optimizer
    subgraph = drystone_subgraph
    ops = drystone_base.tracing.operations
    from drystone_base import *  # noqa: F403
    from drystone_base import __all__ as __all__

__version__ = "0.2.0"

_PACKAGES = {
    "config": "drystone.config",
    "io": "drystone_filesystem",
    "ops": "drystone_base.tracing.operations",
    "optimizer": "drystone_optimizer",
    "subgraph": "drystone_subgraph",
}
_BESIDE = {"distributed": "drystone_network", "estimator": "drystone_estimator"}
"""Not of the set: installed by those who need them, and in no list of names."""


def __getattr__(name: str) -> Any:
    """Resolve a public name of the set and keep it, so that it is looked up once.

    Raises `AttributeError` for any other name, `ModuleNotFoundError` where its package is missing.
    """
    drystone_base = _package("drystone_base")
    if name == "__all__":
        return [*drystone_base.__all__, *_PACKAGES]
    module = _PACKAGES.get(name) or _BESIDE.get(name)
    if module:
        value: Any = _package(module)
    elif name in drystone_base.__all__:
        value = getattr(drystone_base, name)
    else:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Names for tab completion: the public API of the installed set."""
    return sorted({*_package("drystone_base").__all__, *_PACKAGES, "__version__"})


def _package(module: str) -> ModuleType:
    """A package of the set; one that is not installed, or unfit, is named with what helps."""
    try:
        return import_module(module)
    except ImportError as error:
        from drystone._missing import named

        raise named(error) from None
