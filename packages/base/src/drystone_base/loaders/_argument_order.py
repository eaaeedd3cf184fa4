"""In which order the inputs of a signature may be given by position.

A signature is a map. The order is that of the function that was exported, which the object graph of
a SavedModel states: the arguments of each traced function, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drystone_abi.protos import SavedObjectGraph, StructuredValue

__all__ = ["argument_orders", "order_of"]

_DEEPEST = 32


def argument_orders(objects: SavedObjectGraph) -> list[tuple[str, ...]]:
    """The names of the positional arguments of every traced function, nested ones flattened."""
    found = []
    for concrete in objects.concrete_functions.values():
        parts = concrete.canonicalized_input_signature.tuple_value.values
        if parts:
            found.append(tuple(_leaves(parts[0], 0)))
    return found


def _leaves(value: StructuredValue, depth: int) -> Iterator[str]:
    """Names of tensors as ``tf.nest`` flattens them; "" for what has none."""
    kind = value.WhichOneof("kind")
    inner: Iterable[StructuredValue] = ()
    if kind in ("tensor_spec_value", "bounded_tensor_spec_value"):
        yield getattr(value, kind).name
    elif depth == _DEEPEST or kind == "type_spec_value":
        yield ""
    elif kind in ("list_value", "tuple_value"):
        inner = getattr(value, kind).values
    elif kind == "dict_value":
        fields = value.dict_value.fields
        inner = [fields[key] for key in sorted(fields)]
    elif kind == "named_tuple_value":
        inner = [pair.value for pair in value.named_tuple_value.values]
    for item in inner:
        yield from _leaves(item, depth + 1)


def order_of(names: Iterable[str], orders: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The one order in which functions take exactly these names; empty for none, or several."""
    wanted = sorted(names)
    found = {order for order in orders if sorted(order) == wanted}
    return found.pop() if len(found) == 1 else ()
