"""Objects of a SavedModel that is written: what ``tf.saved_model.load`` gives attributes.

The root has functions by name, the signatures, and lists of variables. A function is a body in the
library that begins with the caller's tensors and goes on with what the graph holds: handles of
variables and tables, paths of assets, and constants that are too large to be there twice.
Source: TensorFlow ``saved_object_graph.proto``, ``save.py``.
"""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from drystone_abi.protos import MetaGraphDef, SavedObject, TrackableObjectGraph
from drystone_base.api.called_form import CalledForm
from drystone_base.api.restored.structures import Structure, Tensor, encode
from drystone_base.api.saved_bodies import Bodies
from drystone_base.checkpoint.objects import VALUE
from drystone_base.core.dtypes import RESOURCE, DType
from drystone_base.graph import Graph, Node
from drystone_base.graph.validate import output_dtypes
from drystone_base.loaders import Signature, TensorSpec
from drystone_base.ops.attrs import encode_shape
from drystone_base.ops.defs import find

__all__ = ["TRAINABLE", "can_have_objects", "write_objects"]

_LARGE: Final = 1 << 10
"""Bytes of a constant that functions take from the graph."""
_FILLED: Final = frozenset({"HashTableV2"})
"""Tables that an initialiser fills, after which they stay as they are."""
_HELD: Final = frozenset({"VarHandleOp", *_FILLED})
TRAINABLE: Final = "trainable_variables"
"""The list of variables that training changes."""


def can_have_objects(graph: Graph) -> bool:
    """Whether what the graph keeps from run to run is variables and tables that are filled once."""
    return all(
        node.op in _HELD or not (_is_resource(node) or any(t.ref for t in _types(node)))
        for node in graph
    )


def _types(node: Node) -> Sequence[DType]:
    return output_dtypes(node) or []


def _is_resource(node: Node) -> bool:
    """Whether a node makes a resource: it is stateful, has no inputs, and gives a handle."""
    definition = find(node.op)
    makes = definition is not None and definition.is_stateful and not node.inputs
    return makes and RESOURCE in _types(node)


def write_objects(
    graph: Graph,
    meta: MetaGraphDef,
    signatures: Iterable[Signature],
    functions: Mapping[str, CalledForm],
    lists: Mapping[str, Sequence[str]],
    init: Sequence[str] = (),
) -> TrackableObjectGraph:
    """State the objects in ``meta``, and put their functions into the graph's library.

    ``lists`` names variables, ``init`` nodes that fill tables. Gives the same objects as a
    checkpoint states them, with the keys of the variables.
    """
    objects = _Objects(graph, meta, init)
    objects.add_variables(frozenset(lists[TRAINABLE]))
    objects.add_lists(lists)
    objects.add_signatures(signatures)
    for name, form in functions.items():
        if form.can_be_stated():
            objects.add_function(name, form)
    return objects.stored()


class _Objects:
    """The object graph that grows: numbers of objects, and the functions that are made."""

    def __init__(self, graph: Graph, meta: MetaGraphDef, init: Sequence[str]) -> None:
        self.graph, self.init = graph, [graph[name] for name in init]
        self.saved = meta.object_graph_def
        self.assets = {a.tensor_info.name: k for k, a in enumerate(meta.asset_file_def)}
        self.held: dict[tuple[str, str], int] = {}
        self.bodies = Bodies(graph, self._holder)
        self.root = self._object("_generic_user_object")

    # ---- objects -------------------------------------------------------------------------------

    def _add(self, owner: int | None, name: str) -> tuple[int, SavedObject]:
        number, made = len(self.saved.nodes), self.saved.nodes.add()
        if owner is not None:
            self.saved.nodes[owner].children.add(node_id=number, local_name=name)
        return number, made

    def _object(self, identifier: str, owner: int | None = None, name: str = "") -> int:
        number, made = self._add(owner, name)
        made.user_object.identifier = identifier
        made.user_object.version.producer = made.user_object.version.min_consumer = 1
        return number

    def add_variables(self, trainable: Container[str]) -> None:
        """Each variable of the graph."""
        for node in self.graph:
            key = ("VarHandleOp", node.attr("shared_name") or node.name)
            if node.op == "VarHandleOp" and key not in self.held:
                self.held[key], made = self._add(None, "")
                variable = made.variable
                variable.dtype = node.attr("dtype").number
                variable.shape.CopyFrom(encode_shape(node.attr("shape")))
                variable.trainable, variable.name = key[1] in trainable, key[1]

    def add_lists(self, lists: Mapping[str, Sequence[str]]) -> None:
        """Lists of those variables that the graph has."""
        for name, members in lists.items():
            number = self._object("trackable_list_wrapper", self.root, name)
            numbers = [self.held.get(("VarHandleOp", member)) for member in members]
            for k, held in enumerate(n for n in numbers if n is not None):
                self.saved.nodes[number].children.add(node_id=held, local_name=str(k))

    def _holder(self, node: Node) -> int | None:
        """The object that has what a node of the graph gives; None for a node of functions."""
        asset = self.assets.get(f"{node.name}:0")
        if node.op in _HELD:
            key = (node.op, node.attr("shared_name") or node.name)
        elif asset is not None or _is_large(node):
            key = (node.op, node.name)
        else:
            return None
        if key not in self.held:
            self.held[key], made = self._add(None, "")
            if node.op in _FILLED:
                self._add_table(self.held[key], node)
            elif asset is not None:
                made.asset.asset_file_def_index = asset
            else:
                made.constant.operation = node.name
        return self.held[key]

    def _add_table(self, number: int, node: Node) -> None:
        """How a table is made; the first one that is used has the initialiser of all."""
        first = not any(node.WhichOneof("kind") == "resource" for node in self.saved.nodes)
        self.saved.nodes[number].resource.device = ""
        self.saved.nodes[self.root].children.add(node_id=number, local_name=f"_{node.name}")
        handle = Tensor("handle", RESOURCE, ())
        self._method(number, "_create_resource", self.bodies.made_by(node), handle)
        if first and self.init:
            self._method(number, "_initialize", self.bodies.function((), (), self.init), None)

    def _method(self, owner: int, name: str, function: str, results: Structure) -> None:
        nothing = inspect.FullArgSpec([], None, None, None, [], None, {})
        self._state(function, CalledForm(nothing, (), {}, results, {}, {}), owner, name)

    def _state(self, function: str, form: CalledForm, owner: int, name: str) -> int:
        """A function object, and how its body is called."""
        number, made = self._add(owner, name)
        made.function.concrete_functions.append(function)
        made.function.function_spec.fullargspec.CopyFrom(encode(form.parameters))
        made.function.function_spec.input_signature.CopyFrom(encode(None))
        self._concrete(function, (form.args, form.kwargs), form.results)
        return number

    def _concrete(self, function: str, inputs: Structure, outputs: Structure) -> None:
        concrete = self.saved.concrete_functions[function]
        concrete.bound_inputs.extend(self.bodies.bound[function])
        concrete.canonicalized_input_signature.CopyFrom(encode(inputs))
        concrete.output_signature.CopyFrom(encode(outputs))

    # ---- functions -----------------------------------------------------------------------------

    def add_signatures(self, signatures: Iterable[Signature]) -> None:
        """What ``loaded.signatures`` has."""
        known: dict[str, int] = {}
        owner = self._object("signature_map", self.root, "signatures")
        for one in signatures:
            given, results = (_sorted(side) for side in (one.inputs, one.outputs))
            inputs, outputs = ([spec.tensor for spec in side.values()] for side in (given, results))
            function = self.bodies.function(inputs, outputs)
            if function in known:
                children = self.saved.nodes[owner].children
                children.add(node_id=known[function], local_name=one.name)
                continue
            known[function], made = self._add(owner, one.name)
            made.bare_concrete_function.concrete_function_name = function
            made.bare_concrete_function.argument_keywords.extend(given)
            self._concrete(function, ((), _tensors(given)), _tensors(results))

    def add_function(self, name: str, form: CalledForm) -> None:
        """A function that is called as its Python original; the first one is the root's call."""
        children = self.saved.nodes[self.root].children
        first = not any(child.local_name == "__call__" for child in children)
        after = [self.graph[node] for node in form.after]
        number = self._state(self.bodies.another(*form.sides(), after), form, self.root, name)
        if first:
            children.add(node_id=number, local_name="__call__")

    # ---- checkpoint ----------------------------------------------------------------------------

    def stored(self) -> TrackableObjectGraph:
        """The same objects, with the keys that variables have in the checkpoint."""
        found = TrackableObjectGraph()
        for node in self.saved.nodes:
            twin = found.nodes.add(children=node.children)
            if node.WhichOneof("kind") == "variable":
                name = node.variable.name
                key = f"{name}/.ATTRIBUTES/{VALUE}"
                twin.attributes.add(name=VALUE, full_name=name, checkpoint_key=key)
                twin.has_checkpoint_values.value = True
        return found


def _is_large(node: Node) -> bool:
    return node.op == "Const" and node.attr("value").array.nbytes >= _LARGE


def _sorted(side: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    return {name: side[name] for name in sorted(side)}


def _tensors(side: Mapping[str, TensorSpec]) -> dict[str, Tensor]:
    return {name: Tensor(name, spec.dtype, spec.shape) for name, spec in side.items()}
