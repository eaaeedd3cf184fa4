"""Functions that TVM has compiled, in graphs and on arrays; TVM itself is not needed to run them.

A library that TVM exported (``export_library``), or any other of its calling convention, is called
by name: :func:`call` on tensors of a traced function and on arrays, :func:`load` for a library
whose functions are called as ``module["addone"](x)``. In a graph a call is one node,
``TvmRuntime``. :func:`compile` makes such libraries of functions and regions of graphs, where the
extra ``drystone-tvm[compile]`` is installed.
"""

from __future__ import annotations

try:
    import drystone_base  # noqa: F401 — before NumPy, so that it is what is missed
    from drystone_tvm.calls import call
    from drystone_tvm.compiling.region import Region
    from drystone_tvm.compiling.region import compile_region as compile  # noqa: A004 — as one writes drystone_tvm.compile
    from drystone_tvm.module import CompiledFunction, Module, load
except ImportError as error:
    from drystone_tvm._missing import named

    raise named(error) from None

__all__ = ["CompiledFunction", "Module", "Region", "__version__", "call", "compile", "load"]

__version__ = "0.1.0"
