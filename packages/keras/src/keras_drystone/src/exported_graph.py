"""A Keras model as a graph with signatures and values, for base to run."""

from __future__ import annotations

from typing import Any

from keras.src.export.export_utils import get_input_signature

import drystone_base as ds
from drystone_base.graph.validate import output_dtypes
from drystone_base.loaders import Signature, TensorSpec
from keras_drystone.src.export import Exported, endpoint

__all__ = ["as_loaded"]

_NAME = "serving_default"


def as_loaded(model: Any) -> tuple[ds.Graph, dict[str, Signature], dict[str, Any]]:
    """The graph of a model's call, one signature, and the values of its variables by name."""
    made = Exported({"serve": endpoint(model.__call__, get_input_signature(model))})
    graph = made.traced.graph.copy()
    shapes = ds.infer(graph)
    inputs, outputs = made.signatures["serve"]
    sides = [
        {name: _spec(graph, shapes, tensor) for name, tensor in side.items()}
        for side in (inputs, outputs)
    ]
    positional = tuple(inputs)
    signature = Signature(_NAME, sides[0], sides[1], positional=positional)
    values = {name: variable.value for name, variable in made.traced.session.variables.items()}
    return graph, {_NAME: signature}, values


def _spec(graph: ds.Graph, shapes: ds.Inference, tensor: str) -> TensorSpec:
    node, index = graph.output(tensor)
    kinds = output_dtypes(node) or []
    shape = shapes.shape((node, index))
    known = None if shape is None else tuple(max(d, -1) for d in shape)
    return TensorSpec(tensor, kinds[index].base, known)
