"""Readers of model files: GraphDef, MetaGraph with checkpoint, SavedModel, TensorFlow.js."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base.loaders._default_signature import default_signature as default_signature
    from drystone_base.loaders._loaded import LoadedModel as LoadedModel
    from drystone_base.loaders._loaded import Signature as Signature
    from drystone_base.loaders._loaded import TensorSpec as TensorSpec
    from drystone_base.loaders._recognise import load_model as load_model
    from drystone_base.loaders.graphdef import read_graph as read_graph
    from drystone_base.loaders.graphdef import write_graph as write_graph

# Modules are imported when a name is first asked for: one with cached plans needs few of them.
_HOME = {
    "LoadedModel": "._loaded",
    "Signature": "._loaded",
    "TensorSpec": "._loaded",
    "default_signature": "._default_signature",
    "load_model": "._recognise",
    "read_graph": ".graphdef",
    "write_graph": ".graphdef",
}

__all__ = [
    "LoadedModel",
    "Signature",
    "TensorSpec",
    "default_signature",
    "load_model",
    "read_graph",
    "write_graph",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
