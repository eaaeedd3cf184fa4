"""Small SavedModels and MetaGraphs made by hand, for tests of the loaders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from drystone_abi.protos import (
    DataType,
    GraphDef,
    MetaGraphDef,
    SavedModel,
    SavedObject,
    TrackableObjectGraph,
)
from drystone_base.checkpoint import save
from drystone_base.core.dtypes import FLOAT32, STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

WEIGHTS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def const(graph: Graph, name: str, value: Any, dtype: DType) -> Node:
    """A constant of that dtype; text becomes a string tensor."""
    if dtype is STRING:
        array = string_array([v.encode() for v in np.ravel(value).tolist()], np.shape(value))
    else:
        array = np.asarray(value, dtype.np)
    attrs = {"dtype": dtype, "value": TensorAttr(array=array)}
    return graph.add("Const", name, attrs=attrs)


def variable(graph: Graph, name: str, dtype: DType, shape: tuple[int, ...]) -> Node:
    """A resource variable whose node is named otherwise than what it is shared under."""
    attrs = {"dtype": dtype, "shape": shape, "shared_name": name, "container": ""}
    return graph.add("VarHandleOp", f"handles/{name}", attrs=attrs)


def model_graph(*, saver: bool = True) -> Graph:
    """``y = x @ w``; ``path`` holds the asset's path after initialisation."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    w = variable(graph, "w", FLOAT32, (3, 2))
    read = graph.add("ReadVariableOp", "w/read", [w], attrs={"dtype": FLOAT32})
    graph.add("MatMul", "y", [x, read], attrs={"T": FLOAT32})
    where = variable(graph, "where", STRING, ())
    graph.add("ReadVariableOp", "path", [where], attrs={"dtype": STRING})
    asset = const(graph, "asset", "nowhere", STRING)
    keep = graph.add("AssignVariableOp", "keep", [where, asset], attrs={"dtype": STRING})
    graph.add("NoOp", "init", controls=[keep])
    if saver:
        filename = const(graph, "save/filename", "model", STRING)
        names = const(graph, "save/names", ["weights"], STRING)
        slices = const(graph, "save/slices", [""], STRING)
        inputs = [filename, names, slices]
        value = graph.add("RestoreV2", "save/read", inputs, attrs={"dtypes": [FLOAT32]})
        put = graph.add("AssignVariableOp", "save/put", [w, value], attrs={"dtype": FLOAT32})
        graph.add("NoOp", "save/all", controls=[put])
    return graph


def meta_graph(graph: Graph, *, signature: bool = True) -> MetaGraphDef:
    """The MetaGraph of :func:`model_graph`, tagged for serving."""
    meta = MetaGraphDef(graph_def=GraphDef.FromString(graph.to_bytes()))
    meta.meta_info_def.tags.append("serve")
    if "save/all" in graph:
        meta.saver_def.filename_tensor_name = "save/filename:0"
        meta.saver_def.restore_op_name = "save/all"
    if signature:
        proto = meta.signature_def["serving_default"]
        for name, tensor, put in (("x", "x:0", proto.inputs), ("y", "y:0", proto.outputs)):
            put[name].name = tensor
            put[name].dtype = DataType.DT_FLOAT
            put[name].tensor_shape.dim.add(size=-1)
            put[name].tensor_shape.dim.add(size=3 if name == "x" else 2)
    init = meta.signature_def["__saved_model_init_op"]
    init.outputs["__saved_model_init_op"].name = "init"
    asset = meta.asset_file_def.add(filename="words.txt")
    asset.tensor_info.name = "asset:0"
    return meta


def write_saved_model(folder: Path, *metas: MetaGraphDef, key: str = "weights") -> Path:
    """A SavedModel folder with its checkpoint and asset."""
    (folder / "assets").mkdir(parents=True)
    (folder / "assets" / "words.txt").write_text("one\ntwo\n")
    model = SavedModel(saved_model_schema_version=1, meta_graphs=metas)
    (folder / "saved_model.pb").write_bytes(model.SerializeToString())
    save(folder / "variables" / "variables", {key: WEIGHTS})
    return folder


def with_objects(meta: MetaGraphDef, folder: Path) -> MetaGraphDef:
    """Give a MetaGraph an object graph, and write the checkpoint that goes with it.

    The two number their nodes differently: only the names of edges lead from one to the other.
    """
    root, layer, leaf = (SavedObject() for _ in range(3))
    root.user_object.identifier = layer.user_object.identifier = "_generic_user_object"
    root.children.add(node_id=1, local_name="layer")
    layer.children.add(node_id=2, local_name="kernel")
    layer.children.add(node_id=0, local_name="parent")
    leaf.variable.name = "w"
    meta.object_graph_def.nodes.extend([root, layer, leaf])
    stored = TrackableObjectGraph()
    for _ in range(4):
        stored.nodes.add()
    stored.nodes[0].children.add(node_id=3, local_name="layer")
    stored.nodes[3].children.add(node_id=1, local_name="kernel")
    key = "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    stored.nodes[1].attributes.add(name="VARIABLE_VALUE", checkpoint_key=key)
    objects = string_array([stored.SerializeToString()], ())
    tensors = {key: WEIGHTS, "_CHECKPOINTABLE_OBJECT_GRAPH": objects}
    save(folder / "variables" / "variables", tensors)
    return meta
