"""Shape, dtype and constant inference: the public face of the engine in ``ops.shapes``."""

from drystone_base.inference.shapes._engine import Inference, Known, infer, relax
from drystone_base.inference.shapes._incremental import Shapes
from drystone_base.inference.shapes._registry import Shape, ShapeCall, contradict

__all__ = [
    "Inference", "Known", "Shape", "ShapeCall", "Shapes", "contradict", "infer", "relax",
]  # fmt: skip
