"""Readers of model files: GraphDef, MetaGraph with checkpoint, SavedModel, TensorFlow.js."""

from drystone_base.loaders._loaded import LoadedModel, Signature, TensorSpec, default_signature
from drystone_base.loaders._recognise import load_model
from drystone_base.loaders.graphdef import read_graph, write_graph

__all__ = [
    "LoadedModel",
    "Signature",
    "TensorSpec",
    "default_signature",
    "load_model",
    "read_graph",
    "write_graph",
]
