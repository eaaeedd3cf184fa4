"""TVM as a backend: regions compiled in the background, weights as arguments, kept on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from drystone_base.core.errors import BadRequest
from drystone_base.graph import Body
from drystone_subgraph import (
    CompileRequest,
    Conversion,
    ConversionRequest,
    Executable,
    Subgraph,
    SubgraphBackend,
    SubgraphNode,
    SubgraphProperty,
)
from drystone_subgraph.contract.selector import SubgraphSelector
from drystone_tvm.backend.measured import measure, own_kernels
from drystone_tvm.backend.regions import Given, Parts, parts
from drystone_tvm.backend.selecting import PIECES, Selector, computes, piece
from drystone_tvm.calls import Called, session_callable
from drystone_tvm.compiling.building import build, checked_target, require_tvm
from drystone_tvm.compiling.cuda import require_nvcc
from drystone_tvm.compiling.environment import MEASURED
from drystone_tvm.compiling.stated import stated
from drystone_tvm.compiling.tuned import stamp

__all__ = ["TvmBackend", "opened", "parts_of", "twin_of"]

Array = np.ndarray[Any, Any]


class _Property(SubgraphProperty):
    """Regions that do more than move elements."""

    name = "expressions"
    minimum_size = 2

    def create_subgraph_selector(self) -> SubgraphSelector:
        return Selector()

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        if not computes({node.op for node in subgraph.function.node_def}):
            return subgraph.refuse("nothing is computed in it, elements are moved only")
        part = piece(subgraph.function)
        return subgraph.node() if part is None else subgraph.narrow(part)


class SlowerThanOwn(Exception):
    """What TVM made of a region is slower than drystone's own kernels."""


class TvmBackend(SubgraphBackend):
    """Compiles regions for this very processor; what is slower than drystone's own is not used."""

    name = "tvm"
    compiles = True
    keeps = True

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule; raises ``BadRequest`` (``subgraph-package-missing``) without TVM.

        While a model is converted: the rule of that, which gives calls of libraries.
        """
        if find_spec("tvm") is None:
            raise BadRequest(
                "subgraph backend 'tvm' cannot be used",
                check="the package that it calls must be installed",
                found="no Python package tvm",
                needed="apache-tvm",
                remedy="pip install drystone-tvm[compile]",
                code="subgraph-package-missing",
                status="FAILED_PRECONDITION",
            )
        from drystone_tvm.converting.conversion import rules

        return rules() or [_Property()] * PIECES

    @property
    def version(self) -> str:  # type: ignore[override]
        """TVM's own, and what tuning has found."""
        from importlib.metadata import version

        return " ".join(filter(None, (version("apache-tvm"), stamp())))

    def compile(self, request: CompileRequest) -> Executable:
        """The region as a library, which is opened; raises where drystone's own code is faster."""
        require_tvm()
        twin = twin_of(request.body)
        found = parts_of(request)
        with tempfile.TemporaryDirectory(prefix="drystone-tvm-") as folder:
            path = Path(folder) / "region.so"
            build(found.graph, found.arguments, found.results, path, target="native")
            made = opened(path)
        if MEASURED.value():
            _check_speed(made, twin, request)
        return made

    def save(self, executable: Any) -> bytes:
        """The library."""
        data: bytes = executable.library
        return data

    def load(self, request: CompileRequest, data: bytes) -> Executable:  # noqa: ARG002 — the key
        """A library that was kept."""
        with tempfile.TemporaryDirectory(prefix="drystone-tvm-") as folder:
            path = Path(folder) / "region.so"
            path.write_bytes(data)
            return opened(path)

    def convert(self, request: ConversionRequest) -> Conversion:
        """A SavedModel whose regions are libraries, which carry what they need of a processor.

        Raises ``BadRequest``: ``not-compiled`` for an op without a rule that is asked for,
        ``unknown-target``, ``package-missing`` without a C compiler or, for CUDA, nvcc.
        """
        from drystone_tvm.converting.conversion import check_ops, convert_model

        if request.ops is not None:
            check_ops(request.ops)
        target = checked_target("llvm" if request.target is None else request.target)
        require_tvm()
        if target == "cuda":
            require_nvcc()
        return convert_model(request, target)


def parts_of(request: CompileRequest) -> Parts:
    """What a request is compiled from; its body is used up."""
    return parts(request.body, [_given(one) for one in request.inputs])


def _given(one: Any) -> Given:
    fixed = one.value is not None and not one.is_weight
    return Given(str(one.dtype), tuple(one.shape), one.value if fixed else None)


def twin_of(body: Body) -> Body:
    """A copy of a body."""
    graph = body.graph.copy()
    args, results = ([graph[n.name] for n in part] for part in (body.args, body.results))
    return Body(graph, args, results, [])


def _check_speed(made: _Executable, twin: Body, request: CompileRequest) -> None:
    arrays = [
        np.ones(one.shape, one.dtype.np) if one.value is None else one.value
        for one in request.inputs
    ]
    times = measure(made, own_kernels(twin), arrays)
    if times.compiled >= times.own:
        raise SlowerThanOwn(f"{times}; DRYSTONE_TVM_MEASURED=off uses it all the same")


def opened(path: Path) -> _Executable:
    """A library as an executable; raises ``ValueError`` for one that states nothing of itself."""
    form = stated(path)
    if form is None:
        raise ValueError("a library that states nothing of itself")
    called = Called(
        str(path),
        (),
        form.function,
        tuple(one.dtype for one in form.inputs),
        tuple(one.dtype for one in form.outputs),
        tuple(tuple(int(size) for size in one.sizes) for one in form.outputs),
    )
    return _Executable(session_callable(called), path.read_bytes())


class _Executable:
    """A library that is open, and its bytes."""

    def __init__(self, call: Any, library: bytes) -> None:
        self.call, self.library = call, library

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        found: Sequence[Array] = self.call(*inputs)
        return found

    def update(self, weights: Mapping[int, Array]) -> None:
        """Weights are arguments of every call: nothing is packed."""
