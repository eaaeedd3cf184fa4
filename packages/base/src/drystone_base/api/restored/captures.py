"""The graph in which restored functions are called: their arguments, and what they captured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from drystone_abi.protos import SavedObject
from drystone_base.api.restored.structures import bad_objects
from drystone_base.core.dtypes import STRING, DType, from_number
from drystone_base.core.errors import UnsupportedOp
from drystone_base.graph import Graph, Node
from drystone_base.loaders._assets import path_tensor
from drystone_base.ops.attrs import FunctionRef, TensorAttr, decode_shape

if TYPE_CHECKING:
    from drystone_base.loaders import LoadedModel

__all__ = ["Call", "Calls"]


class Call(NamedTuple):
    """A call in the graph: the tensors that are fed, and the fetches, in order."""

    feeds: list[str]
    fetches: list[str]


class Calls:
    """A graph beside the model's, with its function library, that calls one trace after another.

    Objects of the object graph are named by number; ``shared`` says under which names the model's
    graph has its variables.
    """

    def __init__(self, loaded: LoadedModel, shared: Mapping[int, str]) -> None:
        self.loaded = loaded
        self.model = loaded.source.graph()
        meta = loaded.meta
        assert meta is not None
        self.meta, self.saved = meta, meta.object_graph_def
        self.graph = Graph()
        self.graph.functions = self.model.functions
        self.shared = shared
        self._captured: dict[int, Node] = {}

    def call(self, function: str, shapes: Sequence[Any], results: int) -> Call:
        """A call of a function whose first arguments are tensors of these shapes.

        It must have so many ``results``.

        Raises ``BadModelFile`` (``bad-saved-model``) for one that does not fit the object graph,
        and ``UnsupportedOp`` (``bad-captured-object``).
        """
        name = self.graph.unique_name("call")
        node, fed = self._call(name, function, shapes)
        outputs = [f"{node.name}:{k}" for k in range(len(node.attr("Tout")))]
        if len(outputs) != results:
            found = f"{function!r} gives {len(outputs)} tensors, not {results}"
            raise bad_objects(str(self.loaded.place), found)
        return Call([f"{n.name}:0" for n in fed], outputs or [node.name])

    def _call(self, name: str, function: str, shapes: Sequence[Any]) -> tuple[Node, list[Node]]:
        if function not in self.model.functions or function not in self.saved.concrete_functions:
            raise bad_objects(str(self.loaded.place), f"function {function!r}, which is not there")
        signature = self.model.functions[function].signature
        bound = list(self.saved.concrete_functions[function].bound_inputs)
        types = [arg.type for arg in signature.inputs]
        results = [arg.type for arg in signature.outputs]
        if len(types) != len(shapes) + len(bound) or None in types or None in results:
            found = f"{function!r} takes {len(types)} tensors, not {len(shapes)} and {len(bound)}"
            raise bad_objects(str(self.loaded.place), found)
        fed = [
            self.graph.add(
                "Placeholder",
                self.graph.unique_name(argument.name),  # what errors call it
                attrs={"dtype": argument.type, "shape": shape},
            )
            for argument, shape in zip(signature.inputs, shapes, strict=False)
        ]
        captured = [self._object(number) for number in bound]
        attrs = {"f": FunctionRef(function), "Tin": types, "Tout": results}
        return self.graph.add("StatefulPartitionedCall", name, [*fed, *captured], attrs=attrs), fed

    def _object(self, number: int) -> Node:
        if number not in self._captured:
            if not 0 <= number < len(self.saved.nodes):
                raise bad_objects(str(self.loaded.place), f"object {number}, which is not there")
            self._captured[number] = self._made(number, self.saved.nodes[number])
        return self._captured[number]

    def _made(self, number: int, saved: SavedObject) -> Node:
        name = self.graph.unique_name(f"object{number}")
        kind = saved.WhichOneof("kind")
        if kind == "variable" and number in self.shared:
            return self._variable(name, number, saved)
        if kind == "constant" and saved.constant.operation in self.model:
            return self.graph.adopt(self.model[saved.constant.operation], name)
        if kind == "asset":
            return self._asset(name, saved.asset.asset_file_def_index)
        creators = [c.node_id for c in saved.children if c.local_name == "_create_resource"]
        for creator in creators if kind == "resource" else ():
            if 0 <= creator < len(self.saved.nodes):
                for function in self.saved.nodes[creator].function.concrete_functions:
                    return self._call(name, function, ())[0]
        raise UnsupportedOp(
            f"a function of {self.loaded.place} cannot be called",
            check="what a function captured must be a variable, a constant, a table or an asset",
            found=f"object {number}, {kind or 'of no kind'}",
            needed="one of these",
            remedy="call a signature of the model, or export the function as one",
            code="bad-captured-object",
        )

    def _variable(self, name: str, number: int, saved: SavedObject) -> Node:
        found = from_number(saved.variable.dtype)
        dtype: DType = found.base
        shape = decode_shape(saved.variable.shape) if saved.variable.HasField("shape") else None
        attrs = {"dtype": dtype, "shape": shape, "container": ""}
        attrs["shared_name"] = self.shared[number]
        return self.graph.add("VarHandleOp", name, attrs=attrs)

    def _asset(self, name: str, index: int) -> Node:
        files = self.meta.asset_file_def
        tensor = files[index].tensor_info.name if 0 <= index < len(files) else ""
        if tensor not in self.loaded.assets:
            raise bad_objects(str(self.loaded.place), f"asset {index}, which is not there")
        value = TensorAttr(array=np.asarray(path_tensor(self.loaded.assets[tensor])))
        return self.graph.add("Const", name, attrs={"dtype": STRING, "value": value})
