"""One warning where NumPy computes what native kernels would compute many times faster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from drystone_base.core.printable import warn

__all__ = ["HEAVY", "SlowKernelsWarning", "tell_of_heavy"]

HEAVY: Final = frozenset(
    {
        "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv", "Conv2D", "Conv2DBackpropFilter",
        "Conv2DBackpropInput", "Conv3D", "DepthwiseConv2dNative", "Einsum", "MatMul",
        "_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul",
    }
)  # fmt: skip
"""Convolutions and products: what most of the time of most models goes to."""
_told: Final[set[str]] = set()


class SlowKernelsWarning(UserWarning):
    """A model's convolutions or products run in NumPy, for lack of a package."""


def tell_of_heavy(ops: Iterable[str]) -> None:
    """Warn once in a process, at the first plan in which NumPy has such an op to compute."""
    if _told:
        return
    op = next((op for op in ops if op in HEAVY), None)
    if op is None:
        return
    from drystone_base.core.missing import kernels_to_install

    package = kernels_to_install()
    if package:
        _told.add(package)
        warn(
            f"NumPy computes {op} here, which takes many times as long as native kernels do; "
            f"they come with {package}: pip install {package}",
            SlowKernelsWarning,
            stacklevel=2,
        )
