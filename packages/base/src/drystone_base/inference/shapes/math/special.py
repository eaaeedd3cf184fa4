"""Shapes of special functions: the input's, or the broadcast of all inputs."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "Erf", "Erfc", "Erfinv", "Ndtri", "Lgamma", "Digamma", "BesselI0", "BesselI0e", "BesselI1",
    "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e",
    "BesselY0", "BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence",
)  # fmt: skip
def unary(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("Igamma", "Igammac", "Zeta", "Polygamma")
def binary(c: ShapeCall) -> list[Shape]:
    """Both shapes broadcast."""
    return [c.broadcast(c.shape(0), c.shape(1))]


@shape("Betainc")
def betainc(c: ShapeCall) -> list[Shape]:
    """The shape of the arguments that are no scalars, which must agree."""
    given = [s for s in c.shapes if s != ()]
    if not given:
        return [()]
    merged = None
    for other in given:
        merged = c.merge(merged, other)
    # Any one of unknown rank may still turn out to be a scalar.
    return [merged]
