"""Numbers with a real and an imaginary part."""

from __future__ import annotations

import numpy as np

from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.writer import Value, Writer

__all__ = ["conjugate"]


@emits("Complex")
def joined(w: Writer, s: Site) -> Value:
    """A number of two parts."""
    real, imaginary = w.together(*s.inputs)
    return w.op("stablehlo.complex", [real, imaginary], real.shape, s.dtype("Tout"))


@emits("Real", "Imag")
def part(w: Writer, s: Site) -> Value:
    """One part."""
    (x,) = s.inputs
    return w.op(f"stablehlo.{s.op.lower()}", [x], x.shape, s.dtype("Tout"))


@emits("ComplexAbs")
def size(w: Writer, s: Site) -> Value:
    """How far a number is from zero."""
    (x,) = s.inputs
    return w.op("stablehlo.abs", [x], x.shape, s.dtype("Tout"))


@emits("Angle")
def angle(w: Writer, s: Site) -> Value:
    """Where a number lies around zero."""
    (x,), dtype = s.inputs, s.dtype("Tout")
    parts = [w.op(f"stablehlo.{name}", [x], x.shape, dtype) for name in ("imag", "real")]
    return w.same("stablehlo.atan2", *parts)


@emits("Conj")
def conj(w: Writer, s: Site) -> Value:
    """The number with the other imaginary part."""
    return conjugate(w, s.inputs[0])


def conjugate(w: Writer, x: Value) -> Value:
    """The same of any number; a real one is its own."""
    if x.dtype.kind != "c":
        return x
    dtype = np.dtype(np.float32 if x.dtype.itemsize == 8 else np.float64)
    real, imaginary = (w.op(f"stablehlo.{name}", [x], x.shape, dtype) for name in ("real", "imag"))
    negative = w.same("stablehlo.negate", imaginary)
    return w.op("stablehlo.complex", [real, negative], x.shape, x.dtype)
