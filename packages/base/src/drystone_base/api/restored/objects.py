"""The objects of a SavedModel: modules, lists, variables and functions, by attribute path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from drystone_abi.protos import SavedObject, SavedObjectGraph
from drystone_base.api.restored.arguments import Parameters
from drystone_base.api.restored.function import RestoredFunction, Trace
from drystone_base.api.restored.running import Running
from drystone_base.api.restored.structures import Tensor, bad_objects, decode, leaves
from drystone_base.core.errors import near_matches
from drystone_base.core.named import NoSuchName
from drystone_base.core.printable import plain

if TYPE_CHECKING:
    from drystone_base.api.session import Session
    from drystone_base.loaders import LoadedModel
    from drystone_base.state.variables import Variable

__all__ = ["ModelObject", "ObjectGraph"]

_HIDDEN: Final = frozenset({"signatures"})
_FUNCTIONS: Final = ("function", "bare_concrete_function")
_SHOWN: Final = 12


class ModelObject:
    """An object that was saved with a model: ``model.encoder.layers[0].weights``.

    Attributes, keys and places in lists lead on to what it holds: functions that can be called,
    variables, and other objects. One whose original could be called can be called.
    """

    def __init__(self, graph: ObjectGraph, number: int, path: str) -> None:
        self._graph = graph
        self._number = number
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of Python, copies and notebooks
            raise AttributeError(name)
        return self._graph.attribute(self._number, self._path, name)

    def __getitem__(self, key: str | int) -> Any:
        """What a list has at a place, or a dict under a key."""
        names = self._graph.names(self._number)
        name = str(len(names) + key if isinstance(key, int) and key < 0 else key)
        if name in names:
            return self._graph.attribute(self._number, self._path, name)
        near = near_matches(name, names)
        raise NoSuchName(
            f"{self._path or 'the model'!r} holds no {key!r}",
            check="a key must be one of those that the object was saved with",
            found=repr(key),
            needed=", ".join(map(plain, names[:_SHOWN])) or "an object that holds something",
            remedy=f"did you mean {', '.join(near)}?" if near else "dir(...) lists them",
            code="unknown-object",
            status="NOT_FOUND",
        )

    def __len__(self) -> int:
        return len(self._graph.names(self._number))

    def __iter__(self) -> Iterator[Any]:
        """What it holds, in order."""
        names = self._graph.names(self._number)
        return (self._graph.attribute(self._number, self._path, name) for name in names)

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        held = self._graph.names(self._number)
        return [*super().__dir__(), *filter(str.isidentifier, held)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the object's own function gives."""
        return self._graph.attribute(self._number, self._path, "__call__")(*args, **kwargs)

    def __repr__(self) -> str:
        names = self._graph.names(self._number)
        more = ", ..." if len(names) > _SHOWN else ""
        return f"<object {self._path!r}: {', '.join(map(plain, names[:_SHOWN]))}{more}>"


class ObjectGraph:
    """The objects of one model; without a session, to look at.

    Raises ``BadModelFile`` (``bad-saved-model``) where they do not hang together.
    """

    def __init__(self, loaded: LoadedModel, session: Session | None = None) -> None:
        meta = loaded.meta
        self.saved = SavedObjectGraph() if meta is None else meta.object_graph_def
        self.what = str(loaded.place)
        self.running = Running(loaded, session)
        self._functions: dict[int, RestoredFunction] = {}

    def names(self, number: int = 0) -> list[str]:
        """What an object's attributes are called, those of TensorFlow's own left out."""
        if not self.saved.nodes:
            return []
        return [
            c.local_name
            for c in self._node(number).children
            if not c.local_name.startswith("_") and c.local_name not in _HIDDEN
        ]

    def attribute(self, number: int, path: str, name: str) -> Any:
        """What an object has under a name; raises ``AttributeError``."""
        children = self._node(number).children if self.saved.nodes else ()
        for child in children:
            if child.local_name == name and name not in _HIDDEN:
                return self.value(child.node_id, f"{path}.{name}" if path else name)
        near = near_matches(name, self.names(number))
        owner = f"object {path!r}" if path else "the model"
        also = f"; did you mean {', '.join(near)}?" if near else ""
        raise AttributeError(f"{owner} has no attribute {name!r}{also}")

    def value(self, number: int, path: str) -> Any:
        """An object as its users see it: a function, a variable, or what holds others."""
        node = self._node(number)
        kind = node.WhichOneof("kind")
        if kind in _FUNCTIONS:
            if number not in self._functions:
                self._functions[number] = self._function(node, path)
            return self._functions[number]
        if kind == "variable":
            return self._variable(number, path)
        return ModelObject(self, number, path)

    def functions(self) -> dict[str, RestoredFunction]:
        """Every function by its shortest path from the model, as ``encoder.apply``."""
        found: dict[str, RestoredFunction] = {}
        if not self.saved.nodes:
            return found
        level, seen = [(0, "")], {0}
        while level:
            following: list[tuple[int, str]] = []
            for number, path in level:
                for child in self._node(number).children:
                    name = child.local_name
                    hidden = name.startswith("_") and name != "__call__"
                    if child.node_id in seen or hidden or name in _HIDDEN:
                        continue
                    seen.add(child.node_id)
                    below = f"{path}.{name}" if path else name
                    if self._node(child.node_id).WhichOneof("kind") in _FUNCTIONS:
                        found[below] = self.value(child.node_id, below)
                    else:
                        following.append((child.node_id, below))
            level = following
        return found

    def _node(self, number: int) -> SavedObject:
        if not 0 <= number < len(self.saved.nodes):
            raise bad_objects(self.what, f"object {number} of {len(self.saved.nodes)}")
        return self.saved.nodes[number]

    def _variable(self, number: int, path: str) -> Variable:
        found = self.running.variable(number)
        if found is None:
            raise AttributeError(f"variable {path!r} has no value: it was not read from the model")
        return found

    def _function(self, node: SavedObject, path: str) -> RestoredFunction:
        if node.WhichOneof("kind") == "bare_concrete_function":
            bare = node.bare_concrete_function
            trace = self._trace(bare.concrete_function_name)
            tensors = [leaf for leaf in leaves(trace.inputs) if isinstance(leaf, Tensor)]
            names = tuple(bare.argument_keywords)
            if len(names) == len(tensors):  # it is called with its tensors
                trace = Trace(trace.function, (tuple(tensors), {}), trace.outputs)
                return RestoredFunction(path, Parameters(names, {}), [trace], self.running)
            return RestoredFunction(path, Parameters((), {}, more=True), [trace], self.running)
        parameters = Parameters.of(node.function.function_spec, f"{self.what} ({path})")
        traces = [self._trace(name) for name in node.function.concrete_functions]
        return RestoredFunction(path, parameters, traces, self.running)

    def _trace(self, name: str) -> Trace:
        if name not in self.saved.concrete_functions:
            raise bad_objects(self.what, f"function {name!r}, which is not there")
        concrete = self.saved.concrete_functions[name]
        inputs = decode(concrete.canonicalized_input_signature, f"{self.what} ({name})")
        sound = isinstance(inputs, tuple) and len(inputs) == 2
        if not sound or not isinstance(inputs[0], tuple) or not isinstance(inputs[1], dict):
            raise bad_objects(self.what, f"the arguments of {name!r}")
        return Trace(name, (inputs[0], inputs[1]), decode(concrete.output_signature, self.what))
