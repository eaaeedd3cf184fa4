"""Upcalls: what a lower floor of this package calls in a higher one, found by name at the call.

Imports run downwards only; docs/explanation/architecture.md lists the floors. Where the host
library or a file asks for what is built on it, the name of that stands here, and its module is
imported when the call is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, Generic, ParamSpec, TypeVar

__all__ = [
    "ALL",
    "BUILTIN_MODULES",
    "FIND_REFUSED_OFFER",
    "GRADIENT_FUNCTION",
    "INFER_PROPERTIES",
    "LOAD_PLUGINS",
    "OWN_OPS",
    "REFERENCE_KERNELS",
    "SYNC_OPS",
    "SYNC_PASSES",
    "VALUE_OF_HANDLE",
    "Upcall",
]

P = ParamSpec("P")
R = TypeVar("R")


class Upcall(Generic[P, R]):
    """A function of a higher floor, by the name ``module:attribute``."""

    __slots__ = ("_home", "target")

    def __init__(self, target: str) -> None:
        self.target = target
        self._home: Any = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """What the function gives; raises what it raises."""
        module, _, attribute = self.target.partition(":")
        found = self._home
        if found is None:
            found = self._home = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        result: R = found(*args, **kwargs)
        return result


BUILTIN_MODULES: Final = Upcall[[], "tuple[Any, ...]"](
    "drystone_base.host.builtin_modules:builtin_modules"
)
LOAD_PLUGINS: Final = Upcall[[], None]("drystone_base.plugins._manager:manager.ensure_loaded")
FIND_REFUSED_OFFER: Final = Upcall[[Any, str], Any]("drystone_base.plugins._offers:find_refused")
OWN_OPS: Final = Upcall[[], bytes]("drystone_base.ops.defs:own_ops")
REFERENCE_KERNELS: Final = Upcall[[], "frozenset[str]"]("drystone_base.kernels._registry:known_ops")
SYNC_OPS: Final = Upcall[[], None]("drystone_base.inference.plugin_ops:sync")
SYNC_PASSES: Final = Upcall[[], None]("drystone_base.passes._plugins:sync")
GRADIENT_FUNCTION: Final = Upcall[[Any], Any](
    "drystone_base.autodiff.symbolic_gradient:GradientFunction"
)
INFER_PROPERTIES: Final = Upcall[..., bytes]("drystone_base.inference.properties:properties_of")
VALUE_OF_HANDLE: Final = Upcall[[int, int], Any]("drystone_base.executor.handles:resolve")
ALL: Final = tuple(one for one in list(globals().values()) if isinstance(one, Upcall))
