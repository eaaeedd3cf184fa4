"""SavedModels of Keras models: endpoints that are traced into one graph, with their variables.

``tf.saved_model.load`` and ``drystone.load`` give an object with a function for each endpoint, the
signatures and lists of variables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from keras.src import layers, tree
from keras.src.utils import io_utils

from drystone_base.api.called_form import CalledForm, tensors
from drystone_base.api.function import Spec, Traced
from drystone_base.api.saving import write_functions
from drystone_base.tracing.trace import Trace
from keras_drystone.src.tensor import wrapped
from keras_drystone.src.variable import Variable

__all__ = ["Endpoint", "Exported", "SavedModelExportArchive", "endpoint"]


class Endpoint(NamedTuple):
    """A function of tensors, and the nest of specs that it is called with."""

    function: Callable[..., Any]
    nest: Any
    names: list[str]
    specs: list[Spec]


def endpoint(function: Callable[..., Any], signature: Any) -> Endpoint:
    """The endpoint of a function whose arguments have the shapes and dtypes of ``signature``.

    Inputs have the names of their specs, or ``input_0``, ``input_1`` ...
    """
    nest = list(signature) if isinstance(signature, list | tuple) else [signature]
    flat = tree.flatten(nest)
    names = [getattr(spec, "name", None) or f"input_{k}" for k, spec in enumerate(flat)]
    if len(set(names)) < len(names):
        names = [f"input_{k}" for k in range(len(flat))]
    return Endpoint(function, nest, names, [_spec(spec) for spec in flat])


class Exported:
    """All endpoints in one graph, whose inputs and outputs begin with the name of their endpoint.

    ``signatures`` are inputs and outputs of each endpoint, by their own names, and of
    ``serving_default``, which is the first; ``functions`` tells how each is called. The graph has
    ``variables`` beside those that endpoints use.
    """

    def __init__(self, endpoints: dict[str, Endpoint], variables: Sequence[Any] = ()) -> None:
        self._outputs: dict[str, list[str]] = {}
        self._nests: dict[str, Any] = {}
        given = {
            name: dict(zip(one.names, one.specs, strict=True)) for name, one in endpoints.items()
        }

        def made(arguments: Any) -> Any:
            trace = Trace.active()
            for variable in variables:
                trace.handle(variable.held)  # type: ignore[union-attr]
            return self._call(endpoints, arguments)

        self.traced = Traced("export", made, given, None)
        inputs, outputs = self.traced.signature()
        found = {
            name: (
                {key: inputs[f"{name}_{key}"] for key in one.names},
                {key: outputs[f"{name}_{key}"] for key in self._outputs[name]},
            )
            for name, one in endpoints.items()
        }
        self.signatures = {"serving_default": found[next(iter(found))], **found}
        self.functions = {name: self._form(name, one) for name, one in endpoints.items()}

    def _call(self, endpoints: dict[str, Endpoint], arguments: Any) -> Any:
        found = {}
        for name, one in endpoints.items():
            flat = [wrapped(arguments[name][key]) for key in one.names]
            given = one.function(*tree.pack_sequence_as(one.nest, flat))
            found[name] = _named(given)
            self._outputs[name], self._nests[name] = list(found[name]), given
        return found

    def _form(self, name: str, one: Endpoint) -> CalledForm:
        """How an endpoint is called: with the nest of arguments that it was added for."""
        inputs, outputs = self.signatures[name]
        given, found = (tensors(self.traced.graph, side) for side in (inputs, outputs))
        args = tree.pack_sequence_as(one.nest, [given[key] for key in one.names])
        nest = self._nests[name]
        results = found if _is_flat(nest) else tree.pack_sequence_as(nest, list(found.values()))
        arguments = {f"args_{k}": arg for k, arg in enumerate(args)}
        return CalledForm.of(None, arguments, results, inputs, outputs)

    def named(self, variables: Iterable[Any]) -> list[str]:
        """The names that variables have in the graph."""
        names = {id(held): name for name, held in self.traced.named.items()}
        return [names[id(variable.held)] for variable in variables]


def _named(found: Any) -> dict[str, Any]:
    """Outputs by name: those of a dict, or ``output_0``, ``output_1`` ..."""
    if _is_flat(found):
        return {str(key): value for key, value in found.items()}
    return {f"output_{k}": value for k, value in enumerate(tree.flatten(found))}


def _is_flat(found: Any) -> bool:
    return isinstance(found, dict) and not any(tree.is_nested(value) for value in found.values())


def _spec(spec: Any) -> Spec:
    return Spec(list(spec.shape), str(np.dtype(spec.dtype)) if _is_numpy(spec) else spec.dtype)


def _is_numpy(spec: Any) -> bool:
    return isinstance(spec.dtype, np.dtype)


class SavedModelExportArchive:
    """What ``keras.export.ExportArchive`` is on drystone: endpoints, then ``write_out``.

    TensorFlow's loaders and TF Serving read what it writes.
    """

    def __init__(self) -> None:
        self._endpoints: dict[str, Endpoint] = {}
        self._tracked: list[Any] = []
        self._collections: dict[str, list[Any]] = {}

    @property
    def variables(self) -> list[Any]:
        """The variables of what is tracked."""
        return [v for layer in self._tracked for v in layer.variables]

    @property
    def trainable_variables(self) -> list[Any]:
        """Those that training changes."""
        return [v for layer in self._tracked for v in layer.trainable_variables]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """Those that it does not."""
        return [v for layer in self._tracked for v in layer.non_trainable_variables]

    def track(self, resource: Any) -> None:
        """Count the variables of a layer or model among those of the archive."""
        if not isinstance(resource, layers.Layer):
            raise ValueError(
                "Invalid resource type. Expected a Keras `Layer` or `Model`. "
                f"Received object {resource} of type '{type(resource)}'. "
            )
        if not resource.built:
            raise ValueError(
                "The layer provided has not yet been built. It must be built before export."
            )
        self._tracked.append(resource)

    def add_endpoint(
        self, name: str, fn: Callable[..., Any], input_signature: Any = None, **kwargs: Any
    ) -> Callable[..., Any]:
        """Add a function under a name, for arguments like ``input_signature``."""
        if name in self._endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if kwargs:
            raise ValueError(f"Arguments of another backend than drystone: {sorted(kwargs)}")
        if input_signature is None:
            raise ValueError(
                "You must provide an `input_signature` argument to specify the shape and dtype of "
                "the function arguments: [keras.InputSpec(shape=(None, 3), dtype='float32')]"
            )
        self._endpoints[name] = endpoint(fn, input_signature)
        return fn

    def track_and_add_endpoint(
        self, name: str, resource: Any, input_signature: Any, **kwargs: Any
    ) -> Callable[..., Any]:
        """Track a layer or model, and add its call as an endpoint."""
        self.track(resource)
        return self.add_endpoint(name, resource.__call__, input_signature, **kwargs)

    def add_variable_collection(self, name: str, variables: Sequence[Any]) -> None:
        """Have what is loaded again give these variables under a name."""
        if not isinstance(variables, list | tuple | set):
            raise ValueError(
                "Expected `variables` to be a list/tuple/set. "
                f"Received instead object of type '{type(variables)}'."
            )
        if not all(isinstance(variable, Variable) for variable in variables):
            kinds = sorted({type(variable).__name__ for variable in variables})
            raise ValueError(
                "Expected all elements in `variables` to be `keras.Variable` instances. "
                f"Found instead the following types: {kinds}"
            )
        self._collections[name] = list(variables)

    def write_out(
        self, filepath: str | os.PathLike[str], options: Any = None, verbose: bool = True
    ) -> None:
        """Write the SavedModel; the folder must be new or empty."""
        if options is not None:
            raise ValueError("options are those of TensorFlow's writer: drystone has none")
        if not self._endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        lists = {
            "variables": self.variables,
            "trainable_variables": self.trainable_variables,
            "non_trainable_variables": self.non_trainable_variables,
            **self._collections,
        }
        made = Exported(self._endpoints, [v for members in lists.values() for v in members])
        named = {name: made.named(members) for name, members in lists.items()}
        write_functions(
            made.traced, filepath, made.functions, signatures=made.signatures, lists=named
        )
        if verbose:
            lines = [
                f"* Endpoint '{name}': {', '.join(inputs)} -> {', '.join(outputs)}"
                for name, (inputs, outputs) in made.signatures.items()
            ]
            io_utils.print_msg("\n".join([f"Saved artifact at '{filepath}'.", *lines]))
