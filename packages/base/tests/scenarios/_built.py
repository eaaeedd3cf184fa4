"""Programs as they are built where TensorFlow is at hand."""

from __future__ import annotations

from scenarios._program import Step
from scenarios._registry import Scenario

__all__ = ["built"]


def built(item: Scenario) -> tuple[bytes, list[Step]]:
    """The graph's bytes and the steps of a scenario, built by TensorFlow where it asks for that."""
    if not item.by_tensorflow:
        program = item.program()
        return program.graph.to_bytes(), program.steps
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        program = item.program(tf)
        data: bytes = graph.as_graph_def(add_shapes=False).SerializeToString(deterministic=True)
    return data, program.steps
