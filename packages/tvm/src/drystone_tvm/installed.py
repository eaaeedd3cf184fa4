"""What this package adds to ``drystone_base.modules``: commands, variables, a shape function.

It is imported by every process that has this package installed, so it imports next to nothing.
"""

from __future__ import annotations

from typing import Final

from drystone_base.modules import Library, Module

__all__ = ["MODULE"]


def _initialise(library: Library, symbol: str) -> None:
    """Nothing: the op of the plugin is the kernels interface's, and no symbol is asked for."""
    raise NotImplementedError(f"{symbol} of {library.name}")


MODULE: Final = Module(
    "tvm",
    (),
    _initialise,
    commands={"tvm": "drystone_tvm.tuning.command:tvm"},
    variables="drystone_tvm.compiling.environment:VARIABLES",
    shapes={"TvmRuntime": "drystone_tvm.shapes:shapes_of"},
)
