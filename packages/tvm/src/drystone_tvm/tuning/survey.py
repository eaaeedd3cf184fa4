"""The regions that a model has, by a run of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone_base.graph import Body
from drystone_subgraph import CompileRequest, Executable, PartitionConfig, register_backend
from drystone_subgraph.compiled.aot import compile_ahead
from drystone_tvm.backend.backend import TvmBackend, parts_of, twin_of
from drystone_tvm.backend.measured import own_kernels
from drystone_tvm.backend.regions import Parts
from drystone_tvm.compiling.building import tuning_key

__all__ = ["Region", "survey"]

Array = np.ndarray[Any, Any]


class Region(NamedTuple):
    """A region for inputs of given shapes; ``calls``: how many operators of the model it serves."""

    name: str
    ops: tuple[str, ...]
    request: CompileRequest
    key: str
    calls: int = 1

    def parts(self) -> Parts:
        """What it is compiled from."""
        return parts_of(self._request())

    def own(self) -> Executable:
        """It, as drystone's own kernels run it."""
        return own_kernels(self._request().body)

    def arrays(self) -> list[Array]:
        """Weights and constants, and numbers for what a run feeds."""
        chance = np.random.default_rng(1)
        return [_numbers(one, chance) for one in self.request.inputs]

    def _request(self) -> CompileRequest:
        given = self.request
        body = twin_of(given.body)
        return CompileRequest(given.name, body, given.inputs, given.output_types, given.threads)


def _numbers(one: Any, chance: np.random.Generator) -> Array:
    if one.value is not None:
        found: Array = one.value
        return found
    drawn = chance.normal(size=one.shape) if one.dtype.np.kind == "f" else np.zeros(one.shape)
    cast: Array = drawn.astype(one.dtype.np)
    return cast


class _Surveyor(TvmBackend):
    """Cuts out what TVM would compile, and lets drystone's own kernels run it."""

    name = "tvm regions"
    keeps = False

    def __init__(self) -> None:
        self.found: list[CompileRequest] = []

    def compile(self, request: CompileRequest) -> Executable:
        """Note the region."""
        twin = twin_of(request.body)
        copy = CompileRequest(request.name, twin, request.inputs, request.output_types)
        self.found.append(copy)
        return own_kernels(request.body)


_SURVEYOR = _Surveyor()


def survey(model: Path, fetches: Sequence[str], feeds: Sequence[str], size: int) -> list[Region]:
    """The regions of a model, equal ones as one; ``size``: of dimensions that are not known."""
    from drystone_subgraph.contract.backend import backends

    if _SURVEYOR.name not in backends():
        register_backend(_SURVEYOR)
    _SURVEYOR.found.clear()
    compile_ahead(model, fetches, feeds, PartitionConfig(backends=(_SURVEYOR.name,)), size)
    regions: dict[str, Region] = {}
    for request in sorted(_SURVEYOR.found, key=lambda r: r.name):
        one = _region(request)
        known = regions.get(one.key, one._replace(calls=0))
        regions[one.key] = known._replace(calls=known.calls + 1)
    return list(regions.values())


def _region(request: CompileRequest) -> Region:
    ends: Body = request.body
    around = {node.name for node in (*ends.args, *ends.results)}
    ops = tuple(node.op for node in ends.graph if node.name not in around)
    bare = Region(request.name, ops, request, "")
    return bare._replace(key=tuning_key(*bare.parts()))
