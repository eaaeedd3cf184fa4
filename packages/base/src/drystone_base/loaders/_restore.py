"""How the variables of a graph get the values of a checkpoint."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from drystone_abi.protos import MetaGraphDef, SavedObjectGraph, SaverDef, TrackableObjectGraph
from drystone_base.checkpoint import BundleReader, Entry, V1Reader, open_checkpoint
from drystone_base.checkpoint._slices import extents
from drystone_base.checkpoint.objects import (
    OBJECT_GRAPH,
    VALUE,
    bad_objects,
    named_keys,
    object_graph,
)
from drystone_base.core.dtypes import DType, from_numpy
from drystone_base.core.errors import CheckpointError
from drystone_base.files.access import Access, checkpoint_reads
from drystone_base.files.uris import uri_of
from drystone_base.graph import Graph, Node, parse_tensor_name, reachable
from drystone_base.loaders._assets import path_tensor
from drystone_base.loaders._loaded import InitStep
from drystone_base.loaders._reached import (
    ASSIGNS,
    Source,
    assigned,
    reached,
    shared,
    source_of,
    texts_of,
    told,
)
from drystone_base.ops.properties import VARIABLES

__all__ = [
    "Restored",
    "has_saver",
    "object_variables",
    "restore",
    "variable_keys",
    "variable_names",
]

_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


class Restored(NamedTuple):
    """Steps to run, and values to assign before, by shared name.

    ``entries``: where in a checkpoint of ``shards`` files the values lie, if they are whole tensors
    there and nothing is to be run.
    """

    steps: list[InitStep]
    values: dict[str, np.ndarray[Any, Any]]
    entries: dict[str, Entry] | None = None
    shards: int = 0


def variable_names(graph: Graph) -> list[str]:
    """Names under which the graph's variables are shared."""
    return [shared(n) for n in graph if n.op in VARIABLES]


def restore(
    graph: Graph,
    meta: MetaGraphDef,
    prefix: Path,
    feeds: Mapping[str, np.ndarray[Any, Any]],
    access: Access,
    needed: Iterable[str] | None = None,
) -> Restored:
    """How the variables of a graph get the values of a checkpoint.

    Where the graph has a saver of its own, its nodes say which tensor each variable gets; it is run
    where that cannot be told, and where what it would do fails. Otherwise variables are found
    through the object graphs of model and checkpoint, then by name. Variables that none of the
    tensors ``needed`` reaches are left alone, where that can be told. Raises ``CheckpointError``,
    also where ``access`` does not reach all files of the checkpoint (``access-denied``).
    """
    _check_access(access, prefix)
    saver = meta.saver_def
    reader = open_checkpoint(prefix)
    wanted = None if needed is None else reached(graph, needed)
    if isinstance(reader, V1Reader):
        plain = {n: reader.tensor(n) for n in variable_names(graph) if n in reader}
        return Restored([], plain | _as_saver(graph, reader))
    if has_saver(graph, saver):
        left = _not_restored(graph, meta, reader)
        sources = assigned(graph, saver)
        if sources is not None and wanted is not None:
            sources = {name: source for name, source in sources.items() if name in wanted}
        if sources is None or not _fit(graph, sources, reader):
            given = {saver.filename_tensor_name: path_tensor(prefix), **feeds}
            return Restored([([saver.restore_op_name], given)], _values(reader, left))
        both = (sources | left).items()
        return _restored(reader, {n: s for n, s in both if wanted is None or n in wanted})
    keys = variable_keys(graph, meta.object_graph_def, reader)
    chosen = {n: Source(key) for n, key in keys.items() if wanted is None or n in wanted}
    return _restored(reader, chosen)


def _check_access(access: Access, prefix: Path) -> None:
    """Raise ``CheckpointError`` for a checkpoint with files elsewhere, links followed."""
    if access.may_read_checkpoint(prefix):
        return
    try:
        outside = [p for p in checkpoint_reads(prefix) if not access.may_read(p)]
    except OSError as error:
        _denied(access, prefix, f"a folder that cannot be listed: {error}", str(prefix.parent))
    real = [os.path.realpath(p) if uri_of(p) is None else os.fspath(p) for p in outside]
    _denied(access, prefix, ", ".join(dict.fromkeys(real)), os.path.dirname(real[0]))


def _denied(access: Access, prefix: Path, found: str, folder: str) -> NoReturn:
    raise CheckpointError(
        f"the model may not read checkpoint {prefix}",
        check="all files of a checkpoint must lie in the model's folder, links followed",
        found=found,
        needed=f"files in {' or '.join(map(str, access.read))}",
        remedy=f"if you trust the model: load(..., config=SessionConfig(access=Access().with_read("
        f"{folder!r}))), on the command line --allow-read {folder}",
        code="access-denied",
        status="PERMISSION_DENIED",
    )


def _restored(reader: BundleReader, sources: Mapping[str, Source]) -> Restored:
    """What variables get, without a step to run."""
    values = _values(reader, sources)
    entries = {name: reader.entry(source.name) for name, source in sources.items()}
    if any(s.part is not None for s in sources.values()) or any(e.slices for e in entries.values()):
        return Restored([], values)
    return Restored([], values, entries, reader.shards.count)


def _fit(graph: Graph, sources: Mapping[str, Source], reader: BundleReader) -> bool:
    """Whether variables can have what the saver would give them; if not, it says what is wrong."""
    return all(
        source.name in reader and _fits(node, source, reader.entry(source.name))
        for node in graph
        if node.op in VARIABLES and (source := sources.get(shared(node))) is not None
    )


def _fits(variable: Node, source: Source, entry: Entry) -> bool:
    """Whether a tensor has the dtype and the shape that a variable and its saver declare."""
    dtype = variable.attr("dtype")
    if not isinstance(dtype, DType) or entry.dtype is not dtype.base or variable.attr("container"):
        return False
    if from_numpy(entry.dtype.np) is not entry.dtype:  # as an array it would be another
        return False
    shape: tuple[int, ...] = entry.shape
    if source.part is not None:
        if source.whole != shape:
            return False
        shape = tuple(s.stop - s.start for s in extents(source.part, shape, source.name))
    declared = variable.attr("shape")
    if declared is None or (variable.op == "Variable" and declared == ()):
        return True
    return (
        isinstance(declared, tuple)
        and len(declared) == len(shape)
        and all(d in (-1, n) for d, n in zip(declared, shape, strict=True))
    )


def _values(reader: BundleReader, sources: Mapping[str, Source]) -> dict[str, np.ndarray[Any, Any]]:
    """The values of variables, read together."""
    with reader.ahead(source.name for source in sources.values()):
        return {
            name: reader.tensor(key) if part is None else reader.part(key, part)
            for name, (key, part, _) in sources.items()
        }


def _not_restored(graph: Graph, meta: MetaGraphDef, reader: BundleReader) -> dict[str, Source]:
    """Where the values are of variables that signatures use and the graph's saver leaves alone.

    Such are models of Keras 3 that ``tf.saved_model.save`` wrote: their saver restores copies.
    """
    used = _captured(graph, meta.object_graph_def)
    if not used:
        return {}
    saver = graph[meta.saver_def.restore_op_name]
    there = {shared(n) for n in reachable([saver]) if n.op in VARIABLES}
    if used.keys() <= there:
        return {}
    keys = variable_keys(graph, meta.object_graph_def, reader)
    return {n: Source(keys[n]) for n in used if n not in there and n in keys}


def _as_saver(graph: Graph, reader: BundleReader) -> dict[str, np.ndarray[Any, Any]]:
    """What the graph's restoring nodes would assign, by shared name."""
    values: dict[str, np.ndarray[Any, Any]] = {}
    texts = cache(texts_of)
    for node in graph:
        if node.op not in ASSIGNS or len(node.inputs) < 2:
            continue
        variable, source = node.inputs[0][0], source_of(node, lambda _: True, texts)
        if source is not None and variable.op in VARIABLES:
            values |= _values(reader, {shared(variable): source})
    return values


def has_saver(graph: Graph, saver: SaverDef) -> bool:
    """Whether the graph has the nodes that restore what the saver states."""
    filename = parse_tensor_name(saver.filename_tensor_name)[0]
    return saver.restore_op_name in graph and filename in graph


def variable_keys(graph: Graph, saved: SavedObjectGraph, reader: BundleReader) -> dict[str, str]:
    """Checkpoint keys by variable name: through object graphs, by full name, by plain name.

    Variables that the checkpoint does not have are left out.
    """
    keys = {name: name for name in reader.keys()}  # noqa: SIM118
    if OBJECT_GRAPH in reader:
        stored = object_graph(reader)
        keys |= named_keys(stored)
        objects = _walk(saved, stored, reader.prefix)
        keys |= _by_name(saved, objects)
        keys |= {n: objects[k] for n, k in _captured(graph, saved).items() if k in objects}
    return {n: keys[n] for n in variable_names(graph) if n in keys}


def object_variables(graph: Graph, meta: MetaGraphDef, prefix: Path | None) -> dict[int, str]:
    """By object of the object graph, under which name its variable is shared in the graph.

    As signatures capture them, else as the checkpoint's key says that both read.
    """
    saved = meta.object_graph_def
    found = {number: name for name, number in _captured(graph, saved).items()}
    reader = None if prefix is None else open_checkpoint(prefix)
    if reader is None or OBJECT_GRAPH not in reader:
        return found
    keys = _walk(saved, object_graph(reader), reader.prefix)
    if has_saver(graph, meta.saver_def):
        named = {key: name for name, key in told(graph, meta.saver_def).items()}
    else:
        named = {key: name for name, key in variable_keys(graph, saved, reader).items()}
    return {n: named[key] for n, key in keys.items() if key in named} | found


def _by_name(saved: SavedObjectGraph, objects: Mapping[int, str]) -> dict[str, str]:
    """Checkpoint keys of the variables whose name no other variable of the object graph has."""
    names = Counter(saved.nodes[k].variable.name for k in objects)
    return {
        name: key for k, key in objects.items() if names[name := saved.nodes[k].variable.name] == 1
    }


def _captured(graph: Graph, saved: SavedObjectGraph) -> dict[str, int]:
    """Objects by the name of the variable that stands for them in the graph.

    Names may differ: writers make those in the graph unique. But the graph calls each signature's
    function with the caller's arguments first and then with what the function is bound to.
    """
    found: dict[str, int] = {}
    for node in graph:
        if node.op not in _CALLS:
            continue
        function = getattr(node.attr("f"), "name", "")
        if function not in saved.concrete_functions:
            continue
        bound = list(saved.concrete_functions[function].bound_inputs)
        captures = node.inputs[max(len(node.inputs) - len(bound), 0) :]
        if len(captures) != len(bound):
            continue
        for (source, _), index in zip(captures, bound, strict=True):
            if source.op in VARIABLES:
                found[shared(source)] = index
    return found


def _walk(saved: SavedObjectGraph, stored: TrackableObjectGraph, prefix: str) -> dict[int, str]:
    """Checkpoint keys by variable: both graphs are walked from the root along equal edges."""
    keys: dict[int, str] = {}
    queue = deque([(0, 0)] if saved.nodes and stored.nodes else [])
    seen = {0}
    while queue:
        ours, theirs = queue.popleft()
        if not (0 <= ours < len(saved.nodes) and 0 <= theirs < len(stored.nodes)):
            raise bad_objects(prefix, f"a child {ours} or {theirs} that is not there")
        node, twin = saved.nodes[ours], stored.nodes[theirs]
        if node.WhichOneof("kind") == "variable":
            for attribute in twin.attributes:
                if attribute.name == VALUE:
                    keys[ours] = attribute.checkpoint_key
        edges = {c.local_name: c.node_id for c in twin.children}
        for child in [*node.children, *node.dependencies]:
            if child.local_name in edges and child.node_id not in seen:
                seen.add(child.node_id)
                queue.append((child.node_id, edges[child.local_name]))
    return keys
