"""Numerical integration, worked out when a kernel first needs it."""

from __future__ import annotations

from functools import cache

import numpy as np

from drystone_base.kernels._registry import Array

__all__ = ["unit_interval"]


@cache
def unit_interval(count: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature with ``count`` points from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2
