"""Saving: checkpoints of what a session holds, and SavedModels that TensorFlow loads too."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from drystone_abi.protos import MetaGraphDef, SaverDef
from drystone_base.api.called_form import CalledForm, form_of
from drystone_base.api.function import Function, Traced
from drystone_base.api.model import Model
from drystone_base.api.saved_objects import TRAINABLE, can_have_objects, write_objects
from drystone_base.api.session import Session
from drystone_base.checkpoint import BundleReader, BundleWriter, state_latest
from drystone_base.checkpoint.objects import OBJECT_GRAPH, named_keys, object_graph
from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest
from drystone_base.files.access import checkpoint_files
from drystone_base.files.uris import as_path
from drystone_base.graph import Graph, parse_tensor_name, placeholder_shape
from drystone_base.graph.validate import output_dtypes
from drystone_base.inference.inference import Inference, infer
from drystone_base.loaders import Signature, TensorSpec, default_signature
from drystone_base.loaders._assets import path_tensor
from drystone_base.loaders._meta import collection, hidden_signature
from drystone_base.loaders._restore import has_saver, variable_keys
from drystone_base.loaders._saver import add_saver
from drystone_base.loaders.saved_writing import (
    new_folder,
    set_assets,
    set_init,
    set_signatures,
    write_saved_model,
)
from drystone_base.tracing.store import VariableStore

__all__ = ["restore_checkpoint", "save", "save_checkpoint", "write_functions"]

_STATED: Final = "_output_shapes"

Names: TypeAlias = Mapping[str, str]
"""Tensors (``node:k``) by the name of an argument or result."""


@checked
def save_checkpoint(
    source: Model | Session | VariableStore, prefix: str | os.PathLike[str]
) -> None:
    """Write the values of all variables and changeable tables as a checkpoint (V2).

    A model that came with a saver is saved by it, under the names that its graph restores; any
    other under the names of its variables, with ``NAME-keys`` and ``NAME-values`` for a table; a
    store of variables under their names. The folder's ``checkpoint`` file names it as the latest. A
    stop at any point leaves what was there, or the new one, whole. Raises ``BadRequest``
    (``nothing-to-save``, ``cannot-write``), ``KernelError`` (``uninitialized-variable``).
    """
    if isinstance(source, VariableStore):
        _save_store(source, prefix)
    else:
        session, saver = _saver_of(source, {})
        _run_save(session, saver, as_path(prefix))
    state_latest(prefix)


@checked
def restore_checkpoint(
    source: Model | Session | VariableStore, prefix: str | os.PathLike[str]
) -> None:
    """Give all variables and changeable tables the values of a checkpoint.

    Reads what :func:`save_checkpoint` or TensorFlow wrote, by names or by object graph. Raises
    ``CheckpointError``, with the name of what the checkpoint lacks (``checkpoint-no-tensor``);
    ``BadRequest`` (``variable-mismatch``) for values of another dtype or shape, before any is set.
    """
    if isinstance(source, VariableStore):
        _restore_store(source, prefix)
        return
    graph, objects = _session_of(source).graph, _meta_of(source).object_graph_def
    keys = variable_keys(graph, objects, BundleReader(prefix))
    session, saver = _saver_of(source, keys)
    session.access = session.access.with_read(*checkpoint_files(prefix))
    session.run(saver.restore_op_name, {saver.filename_tensor_name: path_tensor(as_path(prefix))})


@checked
def save(
    source: Model | Session | Graph | Function | Traced,
    path: str | os.PathLike[str],
    *,
    signatures: Mapping[str, tuple[Names, Names]] | None = None,
    assets: Mapping[str, str | os.PathLike[str]] | None = None,
    init: Sequence[str] = (),
) -> None:
    """Write a SavedModel folder: the graph, the present state, signatures and assets.

    ``signatures`` gives inputs and outputs by signature name, as tensor names; without it, those of
    the model, else one ``serving_default`` from placeholders to sinks. Of a function its one trace,
    or that of its stated signature, is written, with the variables that it uses; inputs are named
    as its parameters, and what :func:`load` and ``tf.saved_model.load`` give can be called, and has
    it under its name. ``assets`` are files by the string tensor that is fed their path; ``init``
    names nodes to run on loading, such as table initialisers.
    What a loaded model came with (assets, object graph, initialisation) is kept, but the object
    graph gives way to stated signatures. ``path`` must be new or an empty folder.
    Raises ``BadRequest`` (``path-taken``, ``cannot-write``, ``unknown-fetch``,
    ``not-traced``), ``GraphError``
    (``unknown-node``), ``KernelError`` (``uninitialized-variable``).
    """
    if isinstance(source, Function | Traced):
        traced = source.only() if isinstance(source, Function) else source
        write_functions(traced, path, {traced.name: form_of(traced)}, signatures=signatures,
                        assets=assets, init=init)  # fmt: skip
        return
    _write(source, path, signatures, assets or {}, init)


def write_functions(
    traced: Traced,
    path: str | os.PathLike[str],
    functions: Mapping[str, CalledForm],
    *,
    signatures: Mapping[str, tuple[Names, Names]] | None = None,
    assets: Mapping[str, str | os.PathLike[str]] | None = None,
    init: Sequence[str] = (),
    lists: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write a trace as :func:`save` does; ``functions`` of its tensors become objects, by name.

    ``lists`` are names of its variables; without it there are three, called as Keras calls them.
    """
    signatures = signatures or {"serving_default": traced.signature()}
    objects = Objects(functions, lists or _variable_lists(traced))
    _write(traced.session, path, signatures, assets or {}, init, objects)


class Objects(NamedTuple):
    """What an object graph is made of beside the signatures: functions, and lists of variables."""

    functions: Mapping[str, CalledForm]
    lists: Mapping[str, Sequence[str]]


def _variable_lists(traced: Traced) -> dict[str, Sequence[str]]:
    """All variables, those that training changes and those that it does not, as Keras has them."""
    named = traced.named
    return {
        "variables": list(named),
        TRAINABLE: [name for name in named if named[name].trainable],
        f"non_{TRAINABLE}": [name for name in named if not named[name].trainable],
    }


def _write(
    source: Model | Session | Graph,
    path: str | os.PathLike[str],
    signatures: Mapping[str, tuple[Names, Names]] | None,
    assets: Mapping[str, str | os.PathLike[str]],
    init: Sequence[str],
    objects: Objects | None = None,
) -> None:
    session = _session_of(source)
    graph, meta = session.graph.copy(), _meta_of(source)
    if not meta.meta_info_def.tags:
        meta.meta_info_def.tags.append("serve")
    kept = _can_save(graph, meta.saver_def)
    if not kept or (signatures is not None and meta.HasField("object_graph_def")):
        # TensorFlow takes signatures and the names of a checkpoint from the object graph.
        kept = False
        meta.ClearField("object_graph_def")
        meta.ClearField("saver_def")
    stated = _signatures(source, graph, signatures)
    if stated is not None:
        set_signatures(meta, stated)
    _spell_out(graph)
    known = source.loaded.assets if isinstance(source, Model) else {}
    files = set_assets(meta, known, assets)
    stored = None
    if objects is not None and stated is not None and can_have_objects(graph):
        stored = write_objects(graph, meta, stated, objects.functions, objects.lists, init)
    keys = {} if stored is None else named_keys(stored)
    stateful = kept or add_saver(graph, meta, keys, stored)
    set_init(graph, meta, [*_table_initializers(source, meta, graph), *init])

    def fill(folder: Path) -> None:
        if stateful:
            prefix = folder / "variables" / "variables"
            _run_save(session.beside(graph), meta.saver_def, prefix)
        write_saved_model(folder, graph, meta, files)

    new_folder(as_path(path), fill)


def _spell_out(graph: Graph) -> None:
    """Change what TensorFlow would take otherwise than we do.

    A handle without shared name is named by its node here; in TensorFlow all such are one variable.
    Stated shapes are but hints, but TensorFlow refuses a graph that states wrong ones.
    """
    for node in graph:
        if _STATED in node.attrs:
            graph.remove_attr(node, _STATED)
        if node.op in ("VarHandleOp", "HashTableV2") and not node.attr("shared_name"):
            graph.set_attr(node, "shared_name", node.name)


def _save_store(store: VariableStore, prefix: str | os.PathLike[str]) -> None:
    values = {name: (variable.value, variable.dtype) for name, variable in store.items()}
    if not values:
        raise _nothing("a store of variables without any")
    with BundleWriter(prefix) as writer:
        for name, (value, dtype) in values.items():
            writer.add(name, value, dtype)


def _restore_store(store: VariableStore, prefix: str | os.PathLike[str]) -> None:
    reader = BundleReader(prefix)
    keys = named_keys(object_graph(reader)) if OBJECT_GRAPH in reader else {}
    named = {name: keys.get(name, name) for name in store}
    with reader.ahead(named.values()):
        values = {name: reader.tensor(key) for name, key in named.items()}
    for name, value in values.items():
        store[name].check(value.shape, reader.entry(named[name]).dtype)
    for name, value in values.items():
        store[name].assign(value.copy())


def _session_of(source: Model | Session | Graph) -> Session:
    if isinstance(source, Graph):
        return Session(source)
    return source.session if isinstance(source, Model) else source


def _meta_of(source: Model | Session | Graph) -> MetaGraphDef:
    """A copy of what came with the model beside its graph."""
    meta = MetaGraphDef()
    if isinstance(source, Model) and source.loaded.meta is not None:
        meta.CopyFrom(source.loaded.meta)
    return meta


def _saver_of(source: Model | Session, keys: Mapping[str, str]) -> tuple[Session, SaverDef]:
    """A session with the source's state whose graph has a saver: the source's own, or a new one."""
    session, meta = _session_of(source), _meta_of(source)
    if _can_save(session.graph, meta.saver_def):
        return session.beside(session.graph), meta.saver_def
    graph = session.graph.copy()
    if not add_saver(graph, meta, keys):
        raise _nothing(f"{len(graph)} nodes, none of them a variable or such a table")
    return session.beside(graph), meta.saver_def


def _nothing(found: str) -> BadRequest:
    return BadRequest(
        "there is no state to save",
        check="a checkpoint is of variables and tables that can change",
        found=found,
        needed="a graph or a store with variables",
        remedy="use drystone.write_graph or drystone.save, which need no state",
        code="nothing-to-save",
        status="FAILED_PRECONDITION",
    )


def _can_save(graph: Graph, saver: SaverDef) -> bool:
    return has_saver(graph, saver) and parse_tensor_name(saver.save_tensor_name)[0] in graph


def _run_save(session: Session, saver: SaverDef, prefix: Path) -> None:
    files = checkpoint_files(prefix)
    session.access = session.access.with_read(*files).with_write(*files)
    session.run(saver.save_tensor_name, {saver.filename_tensor_name: path_tensor(prefix)})


def _table_initializers(
    source: Model | Session | Graph, meta: MetaGraphDef, graph: Graph
) -> list[str]:
    """What a MetaGraph's session runs once; a SavedModel's own initialisation is stated in it."""
    if not isinstance(source, Model) or source.loaded.kind != "metagraph":
        return []
    return [name for name in collection(meta, "table_initializer") if name in graph]


# ---- signatures --------------------------------------------------------------------------------


def _signatures(
    source: Model | Session | Graph,
    graph: Graph,
    named: Mapping[str, tuple[Names, Names]] | None,
) -> list[Signature] | None:
    """The signatures to state; None when the model's MetaGraph has them already."""
    if named is not None:
        inferred = infer(graph)
        return [
            Signature(name, _specs(graph, inputs, inferred), _specs(graph, outputs, inferred))
            for name, (inputs, outputs) in named.items()
        ]
    if isinstance(source, Model):
        meta = source.loaded.meta
        if meta is not None and any(not hidden_signature(n) for n in meta.signature_def):
            return None
        given: Iterable[Signature] = source.loaded.signatures.values()
    else:
        given = [default_signature(graph)]
    return [
        Signature("serving_default" if s.name == "default" else s.name, _due(s.inputs), s.outputs)
        for s in given
    ]


def _due(inputs: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    """Inputs without those that the graph has a value for: in TensorFlow all must be given."""
    return {name: spec for name, spec in inputs.items() if not spec.optional}


def _specs(graph: Graph, names: Names, inferred: Inference) -> dict[str, TensorSpec]:
    return {name: _spec(graph, tensor, inferred) for name, tensor in names.items()}


def _spec(graph: Graph, tensor: str, inferred: Inference) -> TensorSpec:
    node, index = graph.output(tensor)
    types = output_dtypes(node) or []
    if index >= len(types):
        raise BadRequest(
            f"a signature cannot have {tensor!r}",
            check="a tensor of a signature must be an output that its node has",
            found=f"output {index}",
            needed=f"{node.op} has {len(types)} outputs",
            remedy="name an output below that number",
            code="unknown-fetch",
            status="NOT_FOUND",
        )
    shape = placeholder_shape(node) if node.op == "Placeholder" else inferred.shape((node, index))
    return TensorSpec(f"{node.name}:{index}", types[index].base, shape)
