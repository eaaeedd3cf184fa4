"""How a function that is written with a SavedModel is called: parameters, and nests of tensors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from drystone_base.api.restored.structures import Structure, Tensor, encode, leaves
from drystone_base.graph.extract import output_dtype
from drystone_base.inference.inference import infer
from drystone_base.tracing.nests import mapped
from drystone_base.tracing.tensor import Tensor as Symbolic

if TYPE_CHECKING:
    from drystone_base.api.function import Traced
    from drystone_base.graph import Graph

__all__ = ["CalledForm", "form_of", "tensors"]

_Kind: Final = inspect.Parameter


class CalledForm(NamedTuple):
    """A function's Python parameters, its arguments as traced, and its results.

    ``args`` go by position, ``kwargs`` by name. ``inputs`` and ``outputs`` tell the graph's tensor
    of each :class:`Tensor` in the nests, by its name; ``after`` nodes that run whatever is fetched.
    """

    parameters: inspect.FullArgSpec
    args: tuple[Structure, ...]
    kwargs: dict[str, Structure]
    results: Structure
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    after: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        signature: inspect.Signature | None,
        arguments: Mapping[str, Structure],
        results: Structure,
        inputs: Mapping[str, str],
        outputs: Mapping[str, str],
        after: tuple[str, ...] = (),
    ) -> CalledForm:
        """The form of a function that was called with these arguments, by parameter."""
        known = {} if signature is None else signature.parameters
        kinds = {n: known[n].kind if n in known else _Kind.POSITIONAL_OR_KEYWORD for n in arguments}
        args: list[Structure] = []
        kwargs: dict[str, Structure] = {}
        for name, value in arguments.items():
            if kinds[name] is _Kind.VAR_POSITIONAL:
                args += value
            elif kinds[name] is _Kind.VAR_KEYWORD:
                kwargs |= value
            elif kinds[name] is _Kind.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        found = _parameters(kinds, {n: p.default for n, p in known.items()})
        return cls(found, tuple(args), kwargs, results, inputs, outputs, after)

    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The graph's tensors of all arguments and of all results, as ``tf.nest`` flattens them."""
        given = tuple(self.inputs[name] for name in _named((self.args, self.kwargs)))
        return given, tuple(self.outputs[name] for name in _named(self.results))

    def can_be_stated(self) -> bool:
        """Whether its Python values are ones that a SavedModel can state."""
        try:
            encode((self.parameters, self.args, self.kwargs, self.results))
        except TypeError:
            return False
        return True


def form_of(traced: Traced) -> CalledForm:
    """How a trace is called: as its function, with the array arguments as tensors."""
    inputs, outputs = traced.signature()
    given, found = (iter(tensors(traced.graph, side).values()) for side in (inputs, outputs))

    def argument(leaf: Any) -> Structure:
        return next(given) if isinstance(leaf, Symbolic) else leaf

    def result(leaf: Any) -> Structure:
        return None if leaf is None or not outputs else next(found)

    arguments, results = mapped(traced.given, argument), mapped(traced.nest, result)
    after = (traced.outputs[""],) if "" in traced.outputs else ()
    return CalledForm.of(traced.parameters, arguments, results, inputs, outputs, after)


def tensors(graph: Graph, named: Mapping[str, str]) -> dict[str, Tensor]:
    """Tensors of a graph as nests state them, by the same names."""
    shapes, found = infer(graph), {}
    for name, tensor in named.items():
        place = graph.output(tensor)
        dtype = output_dtype(place)
        assert dtype is not None, tensor
        found[name] = Tensor(name, dtype, shapes.shape(place))
    return found


def _parameters(kinds: Mapping[str, Any], defaults: Mapping[str, Any]) -> inspect.FullArgSpec:
    def of(*wanted: Any) -> list[str]:
        return [name for name, kind in kinds.items() if kind in wanted]

    def default(names: list[str]) -> dict[str, Any]:
        return {n: defaults[n] for n in names if defaults.get(n, _Kind.empty) is not _Kind.empty}

    names, only = of(_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD), of(_Kind.KEYWORD_ONLY)
    more, more_named = [*of(_Kind.VAR_POSITIONAL), None], [*of(_Kind.VAR_KEYWORD), None]
    given = tuple(default(names).values()) or None
    return inspect.FullArgSpec(
        names, more[0], more_named[0], given, only, default(only) or None, annotations={}
    )


def _named(structure: Structure) -> Iterator[str]:
    return (leaf.name for leaf in leaves(structure) if isinstance(leaf, Tensor))
