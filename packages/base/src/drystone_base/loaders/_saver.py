"""Saver nodes: what a graph needs so that its variables and tables are saved and restored.

The nodes are those that ``tf.compat.v1.train.Saver`` makes: a filename to feed, one ``SaveV2``, one
``RestoreV2``, and an assignment or a table import for each thing that has state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from drystone_abi.protos import MetaGraphDef, SaverDef, TrackableObjectGraph, VariableDef
from drystone_base.checkpoint.objects import OBJECT_GRAPH
from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph, Node, Output
from drystone_base.ops.attrs import TensorAttr

__all__ = ["add_saver"]

_REFERENCES: Final = frozenset({"Variable", "VariableV2"})
_TABLES: Final = frozenset(
    f"Mutable{kind}{version}"
    for kind in ("HashTable", "HashTableOfTensors", "DenseHashTable")
    for version in ("", "V2")
)
_PARTS: Final = ("keys", "values")
_CHECKPOINT_HOURS: Final = 10000.0  # what TensorFlow's own saver states


@dataclass(frozen=True)
class _Item:
    """One thing with state: its node and, by checkpoint key, the dtypes of its tensors."""

    node: Node
    tensors: dict[str, DType]


def _items(graph: Graph, keys: Mapping[str, str]) -> list[_Item]:
    """Variables, each once however many handles it has, and tables that can change."""
    found: dict[tuple[str, str, str], _Item] = {}
    for node in graph:
        name = node.attr("shared_name") or node.name
        place = (node.attr("container", ""), name)
        if node.op == "VarHandleOp" or node.op in _REFERENCES:
            tensors = {keys.get(name, name): node.attr("dtype")}
            found.setdefault(("variable", *place), _Item(node, tensors))
        elif node.op in _TABLES:
            types = (node.attr("key_dtype"), node.attr("value_dtype"))
            tensors = {f"{name}-{p}": t for p, t in zip(_PARTS, types, strict=True)}
            found.setdefault(("table", *place), _Item(node, tensors))
    return list(found.values())


def add_saver(
    graph: Graph,
    meta: MetaGraphDef,
    keys: Mapping[str, str] | None = None,
    objects: TrackableObjectGraph | None = None,
) -> bool:
    """Add saver nodes to the graph and state them in ``meta``; whether there is anything to save.

    ``keys`` tells the checkpoint key of a variable where that is not its name, and ``objects``
    what is saved beside the variables: which object has which key.
    """
    items = _items(graph, keys or {})
    if items or objects is not None:
        _Builder(graph, items, objects).build(meta)
    return bool(items) or objects is not None


class _Builder:
    """Adds the nodes of one saver under a scope that the graph does not have yet."""

    def __init__(
        self, graph: Graph, items: Sequence[_Item], objects: TrackableObjectGraph | None
    ) -> None:
        self._graph = graph
        self._items = items
        self._objects = objects
        self._scope = _free_scope(graph)
        self._names = [key for item in items for key in item.tensors]
        self._types = [dtype for item in items for dtype in item.tensors.values()]

    def build(self, meta: MetaGraphDef) -> None:
        """Add all nodes; ``meta`` gets the saver and the collection of variables."""
        default = self._text("filename/input", "model", ())
        filename = self._add("PlaceholderWithDefault", "Const", [default], dtype=STRING, shape=())
        saved = self._save(filename)
        restored = self._restore(filename, meta)
        meta.saver_def.CopyFrom(
            SaverDef(
                filename_tensor_name=f"{filename.name}:0",
                save_tensor_name=f"{saved.name}:0",
                restore_op_name=restored.name,
                max_to_keep=5,
                keep_checkpoint_every_n_hours=_CHECKPOINT_HOURS,
                version=SaverDef.V2,
            )
        )

    def _save(self, filename: Node) -> Node:
        values: list[Output] = []
        for item in self._items:
            values += self._read(item)
        keys, types = list(self._names), list(self._types)
        if self._objects is not None:
            whole = self._objects.SerializeToString(deterministic=True)
            values.append((self._text("objects", whole, ()), 0))
            keys.append(OBJECT_GRAPH)
            types.append(STRING)
        names = self._text("SaveV2/tensor_names", keys)
        slices = self._text("SaveV2/shape_and_slices", [""] * len(keys))
        inputs = [(n, 0) for n in (filename, names, slices)]
        save = self._add("SaveV2", "SaveV2", [*inputs, *values], dtypes=types)
        return self._add("Identity", "control_dependency", [filename], controls=[save], T=STRING)

    def _read(self, item: _Item) -> list[Output]:
        """The tensors that hold the state."""
        node, (dtype, *rest) = item.node, item.tensors.values()
        if node.op == "VarHandleOp":
            return [(self._add("ReadVariableOp", f"read/{node.name}", [node], dtype=dtype), 0)]
        if node.op in _REFERENCES:
            return [(node, 0)]
        op = "LookupTableExportV2" if node.op.endswith("V2") else "LookupTableExport"
        export = self._add(op, f"export/{node.name}", [node], Tkeys=dtype, Tvalues=rest[0])
        return [(export, 0), (export, 1)]

    def _restore(self, filename: Node, meta: MetaGraphDef) -> Node:
        if not self._items:
            return self._add("NoOp", "restore_all")
        names = self._text("RestoreV2/tensor_names", self._names)
        slices = self._text("RestoreV2/shape_and_slices", [""] * len(self._names))
        restore = self._add("RestoreV2", "RestoreV2", [filename, names, slices], dtypes=self._types)
        values = iter([(restore, k) for k in range(len(self._names))])
        writes = [self._write(item, values) for item in self._items]
        if "variables" not in meta.collection_def:
            collected = meta.collection_def["variables"].bytes_list.value
            for item, write in zip(self._items, writes, strict=True):
                if item.node.op not in _TABLES:
                    collected.append(self._describe(item, write).SerializeToString())
        return self._add("NoOp", "restore_all", controls=writes)

    def _write(self, item: _Item, values: Iterator[Output]) -> Node:
        """The node that puts the restored state in place."""
        node, (dtype, *rest) = item.node, item.tensors.values()
        name = f"Assign/{node.name}"
        if node.op == "VarHandleOp":
            inputs = [(node, 0), next(values)]
            return self._add("AssignVariableOp", name, inputs, dtype=dtype)
        if node.op in _REFERENCES:
            return self._add("Assign", name, [(node, 0), next(values)], T=dtype)
        op = "LookupTableImportV2" if node.op.endswith("V2") else "LookupTableImport"
        inputs = [(node, 0), next(values), next(values)]
        return self._add(op, f"import/{node.name}", inputs, Tin=dtype, Tout=rest[0])

    def _describe(self, item: _Item, write: Node) -> VariableDef:
        """The variable as TensorFlow's collections state it."""
        node, (dtype,) = item.node, item.tensors.values()
        resource = node.op == "VarHandleOp"
        if resource:
            snapshot = self._graph[f"{self._scope}/read/{node.name}"]
        else:
            snapshot = self._add("Identity", f"read/{node.name}", [node], T=dtype)
        return VariableDef(
            variable_name=f"{node.name}:0",
            initializer_name=write.name if resource else f"{write.name}:0",
            snapshot_name=f"{snapshot.name}:0",
            is_resource=resource,
            trainable=dtype.is_floating,
        )

    def _text(
        self, name: str, value: str | bytes | list[str], shape: tuple[int, ...] | None = None
    ) -> Node:
        texts = value if isinstance(value, list) else [value]
        encoded = [
            t if isinstance(t, bytes) else t.encode("utf-8", "surrogateescape") for t in texts
        ]
        array = string_array(encoded, (len(texts),) if shape is None else shape)
        return self._add("Const", name, dtype=STRING, value=TensorAttr(array=array))

    def _add(
        self,
        op: str,
        name: str,
        inputs: Sequence[Node | Output] = (),
        controls: Sequence[Node] = (),
        **attrs: Any,
    ) -> Node:
        return self._graph.add(op, f"{self._scope}/{name}", inputs, controls=controls, attrs=attrs)


def _free_scope(graph: Graph) -> str:
    """``save``, or ``save_1``, ``save_2``... where the graph has nodes under it."""
    taken = {n.name.partition("/")[0] for n in graph}
    number = 0
    while (scope := f"save_{number}" if number else "save") in taken:
        number += 1
    return scope
