"""NumPy reference kernels: one file per op family; the oracle for every faster kernel."""

from drystone_base.kernels._registry import (
    Array,
    Call,
    Kernel,
    all_ops,
    find_kernel,
    kernel,
    kernel_of_package,
)

__all__ = [
    "Array",
    "Call",
    "Kernel",
    "all_ops",
    "find_kernel",
    "kernel",
    "kernel_of_package",
]
