"""Functions that TVM has compiled, in graphs and on arrays; TVM itself is not needed to run them.

A library that TVM exported (``export_library``), or any other of its calling convention, is called
by name: :func:`call` on tensors of a traced function and on arrays, :func:`load` for a library
whose functions are called as ``module["addone"](x)``. In a graph a call is one node,
``TvmRuntime``.
"""

from __future__ import annotations

try:
    import drystone_base  # noqa: F401 — before NumPy, so that it is what is missed
    from drystone_tvm.calls import call
    from drystone_tvm.module import CompiledFunction, Module, load
except ImportError as error:
    from drystone_tvm._missing import named

    raise named(error) from None

__all__ = ["CompiledFunction", "Module", "__version__", "call", "load"]

__version__ = "0.1.0"
