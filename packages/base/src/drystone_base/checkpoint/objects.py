"""The object graph in a checkpoint: which object has which of its tensors."""

from __future__ import annotations

from collections import deque
from typing import Final

from google.protobuf.message import DecodeError

from drystone_abi.protos import TrackableObjectGraph
from drystone_base.checkpoint.bundle import BundleReader
from drystone_base.core.errors import CheckpointError

__all__ = ["OBJECT_GRAPH", "VALUE", "bad_objects", "named_keys", "object_graph", "object_paths"]

OBJECT_GRAPH: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The name of the tensor that the object graph is in."""
VALUE: Final = "VARIABLE_VALUE"
"""The attribute under which a variable has its tensor."""


def object_graph(reader: BundleReader) -> TrackableObjectGraph:
    """The object graph of a checkpoint that has one; raises ``CheckpointError``."""
    value = reader.tensor(OBJECT_GRAPH)
    try:
        return TrackableObjectGraph.FromString(value.item())
    except (DecodeError, TypeError, ValueError) as error:
        raise bad_objects(reader.prefix, str(error)) from error


def named_keys(stored: TrackableObjectGraph) -> dict[str, str]:
    """The checkpoint key of each variable's value, by the full name of the variable."""
    return {
        a.full_name: a.checkpoint_key
        for node in stored.nodes
        for a in node.attributes
        if a.name == VALUE and a.full_name
    }


def bad_objects(prefix: str, found: str) -> CheckpointError:
    """The error of an object graph that does not hang together."""
    return CheckpointError(
        f"the object graph of checkpoint {prefix} cannot be read",
        check=f"{OBJECT_GRAPH} must hold a sound TrackableObjectGraph",
        found=found,
        needed="a checkpoint of tf.train.Checkpoint or tf.saved_model.save",
        remedy="save the checkpoint again",
        code="bad-checkpoint",
    )


def object_paths(stored: TrackableObjectGraph, prefix: str) -> dict[str, str]:
    """By checkpoint key, where its object is: ``model.layers.0.kernel``, the shortest path.

    What an optimizer keeps for a variable is ``optimizer[m of model.kernel]``. Attributes that are
    no variable's value are added as ``table:keys``. Raises ``CheckpointError``.
    """
    places = _places(stored, prefix)
    for number, place in list(places.items()):
        for slot in stored.nodes[number].slot_variables:
            owner = places.get(slot.original_variable_node_id, "?")
            places.setdefault(slot.slot_variable_node_id, f"{place}[{slot.slot_name} of {owner}]")
    paths: dict[str, str] = {}
    for number, place in places.items():
        if not 0 <= number < len(stored.nodes):
            raise bad_objects(prefix, f"object {number}, which is not there")
        for attribute in stored.nodes[number].attributes:
            more = "" if attribute.name == VALUE else f":{attribute.name}"
            paths.setdefault(attribute.checkpoint_key, f"{place}{more}")
    return paths


def _places(stored: TrackableObjectGraph, prefix: str) -> dict[int, str]:
    """The shortest path to each object."""
    places = {0: ""} if stored.nodes else {}
    queue = deque(places)
    while queue:
        number = queue.popleft()
        for child in stored.nodes[number].children:
            if not 0 <= child.node_id < len(stored.nodes):
                raise bad_objects(prefix, f"a child {child.node_id} that is not there")
            if child.node_id not in places:
                above = places[number]
                places[child.node_id] = f"{above}.{child.local_name}" if above else child.local_name
                queue.append(child.node_id)
    return places
