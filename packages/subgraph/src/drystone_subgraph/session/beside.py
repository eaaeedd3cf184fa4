"""A SavedModel with executables beside it, of a backend that can keep them."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.loaders.saved_writing import new_folder
from drystone_base.modules import stage
from drystone_subgraph.compiled.aot import compile_ahead
from drystone_subgraph.compiled.compiled import ExecutableStatus
from drystone_subgraph.contract.backend import SubgraphBackend
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.contract.conversion import (
    Conversion,
    ConversionRequest,
    ConvertedRegion,
    folder_of,
)
from drystone_subgraph.regions.partitioner import partition_with_report
from drystone_subgraph.regions.report import Segment

__all__ = ["FOLDER", "convert_beside"]

FOLDER: Final = "assets.extra/executables"
"""Where executables of a SavedModel are, from its folder."""
_TARGET: Final = "native"


def convert_beside(backend: SubgraphBackend, request: ConversionRequest) -> Conversion:
    """Copy the model, and compile for each signature and size what its runs would compile.

    Raises ``BadRequest``: ``subgraph-backend-keeps-nothing`` for a backend without executables
    that outlive a process, ``bad-subgraph-option`` where ops are asked for, ``unknown-target`` for
    another processor than this one, ``format-not-supported``, ``path-taken``, ``cannot-write``.
    """
    source = folder_of(request.model)
    _check(backend, request)
    config = PartitionConfig(backends=(backend.name,), why=True)
    made: dict[str, ExecutableStatus] = {}

    def fill(folder: Path) -> None:
        shutil.copytree(source, folder, dirs_exist_ok=True)
        writes = replace(config, artefacts=str(folder / FOLDER), writes_artefacts=True)
        for fetches, feeds in _ends(request):
            for size in request.sizes:
                request.tell(f"compiling for {', '.join(fetches)}, size {size}")
                for one in compile_ahead(folder, fetches, feeds, writes, size):
                    known = made.get(one.operator)
                    if known is None or not known.kept:
                        made[one.operator] = one

    new_folder(request.output, fill)
    return _conversion(backend, request, config, made)


def _ends(request: ConversionRequest) -> Iterator[tuple[list[str], list[str]]]:
    for signature in request.model.signatures.values():
        ends = (signature.outputs, signature.inputs)
        fetches, feeds = ([spec.tensor for spec in part.values()] for part in ends)
        if fetches:
            yield fetches, feeds


def _check(backend: SubgraphBackend, request: ConversionRequest) -> None:
    name = backend.name
    if not (backend.compiles and backend.keeps):
        raise BadRequest(
            f"subgraph backend {name!r} cannot convert a model",
            check="what a model carries are executables that outlive a process",
            found="a backend that keeps none" if backend.compiles else "one that compiles nothing",
            needed="a backend that compiles and keeps, or has a convert() of its own",
            remedy=f"let a session use it as it is: SessionConfig(subgraphs={name!r})",
            code="subgraph-backend-keeps-nothing",
        )
    if request.ops is not None:
        raise BadRequest(
            f"subgraph backend {name!r} is not told which ops to take",
            check="only a backend with a convert() of its own takes regions of chosen ops",
            found=f"--ops {','.join(request.ops)}",
            needed="no ops",
            remedy=f"leave --ops out; `drystone partition MODEL --backend {name} --report` shows "
            "what it takes",
            code="bad-subgraph-option",
        )
    if request.target not in (None, _TARGET):
        raise BadRequest(
            f"there is no target {request.target!r}",
            check="executables are compiled for the machine at hand",
            found=repr(request.target),
            needed=repr(_TARGET),
            remedy="leave --target out, and convert on such a machine",
            code="unknown-target",
        )


def _conversion(
    backend: SubgraphBackend,
    request: ConversionRequest,
    config: PartitionConfig,
    made: dict[str, ExecutableStatus],
) -> Conversion:
    """What the regions are of, which runs found again by the names of their operators."""
    taken: dict[str, tuple[Segment, Graph]] = {}
    left: dict[tuple[str, str], str] = {}
    nodes = 0
    for fetches, feeds in _ends(request):
        graph = request.model.graph
        for simplify in stage("simplify", "optimize"):
            graph = simplify(graph, fetches, feeds, "default")
        _, report = partition_with_report(graph, fetches, feeds, config, placed=True)
        nodes = max(nodes, report.nodes)
        taken |= {segment.node: (segment, graph) for segment in report.taken}
        for (where, name), reasons in report.why.items():
            if backend.name in reasons and not where:
                left[name, graph[name].op] = reasons[backend.name]
    regions, failed = [], Counter[tuple[str, str]]()
    for operator, one in made.items():
        found = taken.get(operator)
        names = () if found is None else found[0].nodes
        ops: Counter[str] = Counter()
        if found is not None and not found[0].where:
            ops.update(found[1][name].op for name in names)
        if one.kept:
            shapes = tuple(str(list(shape)) for shape in one.shapes)
            regions.append(ConvertedRegion(operator, names, ops, FOLDER, shapes))
        else:
            failed.update({(op, one.reason): count for op, count in ops.items()})
    whole = Counter((op, reason) for (_, op), reason in left.items())
    folder = request.output / FOLDER
    return Conversion(
        _TARGET,
        nodes,
        tuple(regions),
        f'SessionConfig(subgraphs=PartitionConfig(backends=("{backend.name}",), '
        f'artefacts="{folder}"))',
        whole + failed,
    )
