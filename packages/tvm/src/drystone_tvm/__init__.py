"""Functions that TVM has compiled, in graphs and on arrays; TVM itself is not needed to run them.

A library that TVM exported (``export_library``), or any other of its calling convention, is called
by name: :func:`call` on tensors of a traced function and on arrays, :func:`load` for a library
whose functions are called as ``module["addone"](x)``. In a graph a call is one node,
``TvmRuntime``. :func:`compile` makes such libraries of functions and regions of graphs, where the
extra ``drystone-tvm[compile]`` is installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_tvm._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_tvm.calls import call as call
    from drystone_tvm.compiling.building import export as export
    from drystone_tvm.compiling.region import Region as Region
    from drystone_tvm.compiling.region import compile_region as compile  # noqa: A004
    from drystone_tvm.module import CompiledFunction as CompiledFunction
    from drystone_tvm.module import Module as Module
    from drystone_tvm.module import load as load

__version__ = "0.1.0"

# Where each public name lives: what the entry points of this package name is imported by every
# process of drystone, and must not bring all of it along.
_HOME = {
    "CompiledFunction": ".module",
    "Module": ".module",
    "Region": ".compiling.region",
    "call": ".calls",
    "compile": ".compiling.region:compile_region",
    "export": ".compiling.building",
    "load": ".module",
}

__all__ = [
    "CompiledFunction", "Module", "Region", "__version__", "call", "compile", "export", "load",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
