"""A SavedModel with regions of its graph as libraries beside it."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from drystone_abi.protos import MetaGraphDef
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.graph import Function, Graph
from drystone_base.graph.calls import reachable_functions
from drystone_base.loaders import LoadedModel
from drystone_base.loaders.saved_model import init_ops
from drystone_base.loaders.saved_writing import new_folder, write_saved_model
from drystone_base.modules import stage
from drystone_subgraph import (
    Conversion,
    ConversionRequest,
    ConvertedRegion,
    PartitionConfig,
    PartitionReport,
    Subgraph,
    SubgraphInput,
    SubgraphNode,
    SubgraphProperty,
    partition_with_report,
)
from drystone_subgraph.contract.conversion import folder_of
from drystone_subgraph.contract.selector import SubgraphSelector
from drystone_tvm.backend.regions import Given, Parts, parts
from drystone_tvm.backend.selecting import PIECES, Selector, computes, known_ops, piece
from drystone_tvm.compiling.building import build
from drystone_tvm.compiling.emission import distinct, emit
from drystone_tvm.compiling.rules import Refusal
from drystone_tvm.compiling.tools import interruptible

__all__ = ["FOLDER", "check_ops", "convert_model", "rules"]

FOLDER: Final = "assets.extra/tvm"
"""Where the libraries of a SavedModel are, from its folder."""
_ROUNDS: Final = 50
"""How often a graph is cut into regions, each time without the nodes that have no rule."""
_SMALLEST: Final = 2
_RUNNING: ContextVar[_Work | None] = ContextVar("conversion that cuts regions", default=None)


@dataclass
class _Work:
    """What is asked for, and what came of it. ``refused``: by node, why it is in no region."""

    folder: Path
    target: str
    ops: Collection[str] | None
    tell: Callable[[str], None]
    refused: dict[str, str] = field(default_factory=dict)
    made: list[ConvertedRegion] = field(default_factory=list)
    writes: bool = False
    report: PartitionReport = field(default_factory=PartitionReport)
    op_of: dict[str, str] = field(default_factory=dict)

    def left(self) -> Counter[tuple[str, str]]:
        """Why nodes are in no region, by op and reason."""
        found: Counter[tuple[str, str]] = Counter()
        for (_, name), reasons in self.report.why.items():
            reason = self.refused.get(name) or reasons.get("tvm", "")
            found[self.op_of.get(name, "?"), reason] += 1
        return found


def rules() -> list[SubgraphProperty] | None:
    """The rules of the conversion that runs; None where none does."""
    running = _RUNNING.get()
    return None if running is None else [_Property(running)] * PIECES


def check_ops(names: Sequence[str]) -> tuple[str, ...]:
    """Ops that there are rules for; raises ``BadRequest`` (``not-compiled``) for others."""
    for name in names:
        if name not in known_ops():
            near = near_matches(name, known_ops())
            raise BadRequest(
                f"there is no rule for op {name!r}",
                check="ops that are asked for must be such as can be compiled",
                found=name,
                needed=" or ".join(near) or f"one of the {len(known_ops())} with a rule",
                remedy="docs/how-to/tvm.md lists them",
                code="not-compiled",
            )
    return tuple(names)


def convert_model(request: ConversionRequest, target: str) -> Conversion:
    """Write the model with its libraries to a new folder.

    Its signatures stay, and the checkpoint; what says how objects are called does not. Raises
    ``BadRequest`` (``path-taken``, ``cannot-write``, ``format-not-supported``).
    """
    loaded = request.model
    source = folder_of(loaded)
    graph, meta = loaded.graph.copy(), MetaGraphDef()
    if loaded.meta is not None:
        meta.CopyFrom(loaded.meta)
    fetches, feeds = _ends(loaded, graph, meta)
    request.tell("preparing the graph")
    for simplify in stage("simplify", "optimize"):
        graph = simplify(graph, fetches, feeds, "default")
    meta.ClearField("object_graph_def")
    work = _Work(request.output, target, request.ops, request.tell)

    def fill(folder: Path) -> None:
        work.folder = folder / FOLDER
        after = _converted(graph, fetches, feeds, work)
        for name in ("variables", "assets"):
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / name)
        write_saved_model(folder, after, meta, {})

    new_folder(request.output, fill)
    remedy = f"--allow-library {request.output}"
    return Conversion(target, work.report.nodes, tuple(work.made), remedy, work.left())


def _ends(loaded: LoadedModel, graph: Graph, meta: MetaGraphDef) -> tuple[list[str], list[str]]:
    """What must keep its name: signatures, saving and restoring, initialization."""
    fetches, feeds = [], []
    for signature in loaded.signatures.values():
        fetches += [spec.tensor for spec in signature.outputs.values()]
        feeds += [spec.tensor for spec in signature.inputs.values()]
    saver = meta.saver_def
    fetches += [saver.save_tensor_name, saver.restore_op_name, *init_ops(meta, graph)]
    feeds += [saver.filename_tensor_name]
    feeds += [asset.tensor_info.name for asset in meta.asset_file_def]
    known = [[n for n in dict.fromkeys(part) if _is_there(graph, n)] for part in (fetches, feeds)]
    return known[0], known[1]


def _is_there(graph: Graph, tensor: str) -> bool:
    return bool(tensor) and tensor.rpartition(":")[0 if ":" in tensor else 2] in graph


def _converted(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], conversion: _Work
) -> Graph:
    """The graph with libraries for regions; the nodes without rules are found in turns."""
    token = _RUNNING.set(conversion)
    try:
        config = PartitionConfig(backends=("tvm",), functions=False, why=True)
        for _ in range(_ROUNDS):
            known = len(conversion.refused)
            conversion.tell(f"looking for regions ({known} nodes left out)")
            partition_with_report(graph, fetches, feeds, config, placed=True)
            if len(conversion.refused) == known:
                break
        conversion.writes = True
        conversion.op_of = {node.name: node.op for node in graph}
        found, conversion.report = partition_with_report(graph, fetches, feeds, config, placed=True)
    finally:
        _RUNNING.reset(token)
    after = found.copy() if found is graph else found
    kept = {function.name for function in reachable_functions(after)}
    for name in [function.name for function in after.functions if function.name not in kept]:
        after.functions.remove(name)
    return after


class _Property(SubgraphProperty):
    """Regions that have code; each becomes a call of its library."""

    name = "libraries"
    minimum_size = _SMALLEST

    def __init__(self, conversion: _Work) -> None:
        self.conversion = conversion

    def create_subgraph_selector(self) -> SubgraphSelector:
        return Selector(self.conversion.ops, self.conversion.refused)

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        ops = tuple(node.op for node in subgraph.function.node_def)
        if self.conversion.ops is None and not computes(ops):
            return subgraph.refuse("nothing is computed in it, elements are moved only")
        part = piece(subgraph.function)
        if part is not None:
            return subgraph.narrow(part)
        unknown = next((one for one in subgraph.inputs if one.shape is None), None)
        if unknown is not None:
            return self._refuse(subgraph, _readers(subgraph, unknown),
                                f"the rank of {unknown.source} is not known")  # fmt: skip
        found = _parts(subgraph)
        try:
            if not self.conversion.writes:
                with interruptible():
                    emit(found.graph, distinct(found.arguments), [o for _, o in found.results])
                return subgraph.node()
            return self._compiled(subgraph, found, ops)
        except Refusal as error:
            blamed = [error.node.name] if error.node.name in subgraph.nodes else subgraph.nodes
            return self._refuse(subgraph, blamed, error.reason)

    def _refuse(
        self, subgraph: Subgraph, names: Collection[str], reason: str
    ) -> SubgraphNode | None:
        self.conversion.refused.update(dict.fromkeys(names or subgraph.nodes, reason))
        return subgraph.refuse(reason)

    def _compiled(self, subgraph: Subgraph, found: Parts, ops: tuple[str, ...]) -> SubgraphNode:
        folder = self.conversion.folder
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{re.sub(r'[^A-Za-z0-9_]', '_', subgraph.name)}.so"
        self.conversion.tell(f"compiling {subgraph.name}: {len(subgraph.nodes)} nodes")
        form = build(
            found.graph, found.arguments, found.results, folder / name,
            target=self.conversion.target,
        )  # fmt: skip
        library = f"{FOLDER}/{name}"
        inputs, outputs = (tuple(map(str, part)) for part in (form.inputs, form.outputs))
        self.conversion.made.append(
            ConvertedRegion(
                subgraph.name, subgraph.nodes, Counter(ops), library, inputs, outputs, form.needs
            )
        )
        shapes = form.output_shapes()
        attrs: dict[str, Any] = {
            "lib_path": library,
            "function_name": form.function,
            "Tin": list(subgraph.input_types),
            "Tout": list(subgraph.output_types),
            "output_shapes": [tuple(-1 if isinstance(k, tuple) else k for k in s) for s in shapes],
            "sizes_of": [n for s in shapes for k in s if isinstance(k, tuple) for n in k],
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        }
        return SubgraphNode("TvmRuntime", attrs)


def _readers(subgraph: Subgraph, unknown: SubgraphInput) -> list[str]:
    """The nodes of a region that read an input."""
    position = list(subgraph.inputs).index(unknown)
    function = subgraph.function
    argument = function.signature.input_arg[position].name
    return [node.name for node in function.node_def if argument in node.input]


def _parts(subgraph: Subgraph) -> Parts:
    body = Function(subgraph.function).body(subgraph.library)
    given = [Given(str(one.dtype), tuple(one.shape or ()), one.value) for one in subgraph.inputs]
    return parts(body, given)
