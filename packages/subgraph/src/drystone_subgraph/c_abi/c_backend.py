"""Backends of plugins: what a library offers by ``DS_InitSubgraph`` (``drystone/subgraph.h``)."""

from __future__ import annotations

import ctypes as c
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.core.errors import HostError, PluginError
from drystone_base.graph import Node
from drystone_base.host.backends import (
    accept_region,
    compile_region,
    destroy_executable,
    destroy_selector,
    filter_nodes,
    init_subgraph,
    new_selector,
    reset_selector,
    review_region,
    select_neighbour,
    select_node,
    serialize_executable,
)
from drystone_base.host.buffer import answer, filled
from drystone_base.host.operators import HostOperator
from drystone_base.host.status import Status
from drystone_base.modules import Library
from drystone_subgraph.c_abi.c_structs import VERSION, Backend, Fns, Params, SelectorFns, preset
from drystone_subgraph.c_abi.c_views import End, View, node_view, region_view
from drystone_subgraph.contract.backend import SubgraphBackend, find_installed, register_backend
from drystone_subgraph.contract.c_attrs import BadAttrsError, operator_attrs, written_attrs
from drystone_subgraph.contract.executable import CompileRequest, Handle
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode

__all__ = ["CBackend", "initialise", "offered"]

Array = np.ndarray[Any, Any]
_OFFERED: Final[dict[str, list[str]]] = {}
_GUARD: Final = bytes([0xD5]) * 256


def initialise(library: Library, symbol: str) -> None:
    """Register the backend of a library; raises ``HostError`` and ``PluginError`` to refuse it."""
    find_installed()  # they keep their names
    backend = CBackend(library, symbol)
    register_backend(backend, library.path)
    _OFFERED.setdefault(library.path, []).append(backend.name)


def offered(library: Library) -> list[str]:
    """The names of the backends that a library registered."""
    return _OFFERED.get(library.path, [])


class CBackend(SubgraphBackend):
    """The backend that a library offers; its structs live as long as the library."""

    def __init__(self, library: Library, symbol: str) -> None:
        self.library, self.path = library, library.path
        self.backend, self.selectors, self.fns = (preset(k) for k in (Backend, SelectorFns, Fns))
        major, minor, patch = VERSION
        params = preset(Params, major_version=major, minor_version=minor, patch_version=patch)
        params.backend, params.selector_fns = c.pointer(self.backend), c.pointer(self.selectors)
        params.fns = c.pointer(self.fns)
        address = library.symbol(symbol)
        with Status(f"{symbol} of {library.path} failed") as status:
            init_subgraph(address, c.pointer(params), status.pointer)
        self._check(params)
        self.name = self.backend.name.decode("utf-8", "replace")
        self.compiles = bool(self.fns.compile)
        self.keeps = self.compiles and bool(self.fns.serialize)
        self.version = (self.backend.version or b"").decode("utf-8", "replace")
        self.itself = c.pointer(self.backend)
        self.own = c.addressof(self.backend), c.addressof(self.fns)

    def _check(self, params: Params) -> None:
        """Look at what the plugin filled in; members beyond what it knows are null."""
        if params.major_version != VERSION[0]:
            self._refuse("the major version of the interface must be the host's",
                         params.major_version, VERSION[0])  # fmt: skip
        for struct in (self.backend, self.selectors, self.fns):
            kind, size = type(struct).__name__, struct.struct_size
            if size < c.sizeof(c.c_size_t):
                self._refuse("a struct must state its size", f"{kind} of {size} bytes", "its size")
            if size < c.sizeof(struct):
                c.memset(c.addressof(struct) + size, 0, c.sizeof(struct) - size)
        if not self.backend.name or not self.selectors.select:
            self._refuse("a backend has a name, and a function select", "NULL", "both")
        if self.fns.compile and not (self.fns.execute and self.fns.destroy_executable):
            self._refuse("a backend that compiles can execute and destroy what it compiled",
                         "compile alone", "execute and destroy_executable")  # fmt: skip
        if bool(self.fns.serialize) != bool(self.fns.deserialize):
            self._refuse("who writes executables can read them, and the other way round",
                         "one of serialize and deserialize", "both or neither")  # fmt: skip

    def _refuse(self, check: str, found: object, needed: object) -> None:
        raise PluginError(
            "a subgraph backend cannot be registered",
            check=check,
            found=f"{found}, and {check}",
            needed=needed,
            remedy="report this to the plugin's author",
            plugin=self.library.name,
            path=self.path,
            code="bad-subgraph-backend",
        )

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: what the library selects."""
        return [_CProperty(self)]

    def compile(self, request: CompileRequest) -> Handle:
        """What the library compiles; raises ``HostError`` where it does not."""
        view = _request_view(request)
        with Status(f"backend {self.name!r} cannot compile {request.name!r}") as status:
            made = compile_region(*self.own, view.pointer, None, status.pointer)
        return self._executable(made, f"compiled {request.name!r}", "compile")

    def save(self, executable: Any) -> bytes:
        """What the library writes; raises ``HostError``."""
        return answer(
            f"backend {self.name!r} cannot write an executable",
            lambda buffer, status: serialize_executable(
                *self.own, executable.handle, buffer, status
            ),
        )

    def load(self, request: CompileRequest, data: bytes) -> Handle:
        """What the library reads; raises ``HostError`` where it does not."""
        view, what = _request_view(request), f"an executable of {request.name!r}"
        with filled(data) as buffer, Status(f"backend {self.name!r} cannot read {what}") as status:
            made = compile_region(*self.own, view.pointer, buffer, status.pointer)
        return self._executable(made, f"read {what}", "deserialize")

    def _executable(self, made: int | None, done: str, by: str) -> Handle:
        if not made:
            raise HostError(
                f"backend {self.name!r} {done} to nothing",
                check=f"{by} gives an executable, or says why not",
                found="NULL and an OK status",
                needed="an executable",
                remedy="report this to the plugin's author",
            )
        return _CExecutable(self, made)

    def operator(
        self, inputs: Sequence[DType], weights: Sequence[int], outputs: Sequence[DType]
    ) -> HostOperator:
        """An operator in the host library for a region with these inputs and outputs."""
        return HostOperator(*self.own, inputs, weights, outputs)


def _request_view(request: CompileRequest) -> View:
    inputs = [End(i.dtype, i.shape, "", i.value, i.is_weight) for i in request.inputs]
    outputs = [End(dtype) for dtype in request.output_types]
    attrs = written_attrs(request.attrs)
    return region_view(request.name, request.body, inputs, outputs, request.threads, attrs)


def _offered_view(subgraph: Subgraph) -> View:
    inputs = [End(i.dtype, i.shape, i.source, i.value, False, i.device) for i in subgraph.inputs]
    outputs = [End(o.dtype, o.shape, o.source, device=o.device) for o in subgraph.outputs]
    return region_view(subgraph.name, subgraph.body, inputs, outputs)


class _Flags:
    """Flags that are set, for a library to clear, and bytes beside them that tell who goes on."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.array = (c.c_ubyte * (count + len(_GUARD)))(*[1] * count, *_GUARD)

    def read(self, what: str) -> list[bool]:
        """Those that are still set; raises ``HostError``."""
        found = bytes(self.array)
        if found[self.count :] != _GUARD:
            raise HostError(
                what,
                check="a backend writes to the flags that it is given, and nowhere else",
                found=f"it wrote past the {self.count} flags",
                needed="one flag for each node",
                remedy="report this to the plugin's author",
            )
        return [flag != 0 for flag in found[: self.count]]


class _CSelector(SubgraphSelector):
    """A selector of a library's; the views of nodes are made once."""

    def __init__(self, backend: CBackend) -> None:
        self.backend, self.fns = backend, backend.selectors
        self.views: dict[Node, View] = {}
        self.stateful = bool(self.fns.create_selector)
        self.own = c.addressof(backend.backend), c.addressof(self.fns)
        self.handle: int | None = None
        if self.stateful:
            with Status(f"backend {backend.name!r} has no selector") as status:
                self.handle = new_selector(*self.own, status.pointer)

    def __del__(self) -> None:
        if self.handle:
            destroy_selector(*self.own, self.handle)

    def _asked(self, function: Any, *arguments: Any) -> Any:
        with Status(f"a selector of backend {self.backend.name!r} failed") as status:
            return function(*self.own, self.handle, *arguments, status.pointer)

    def _view(self, node: Node) -> Any:
        if node not in self.views:
            self.views[node] = node_view(node)
        return self.views[node].pointer

    def select(self, node: Node) -> bool:
        return bool(self._asked(select_node, self._view(node)))

    def select_input(self, node: Node, new_node: Node) -> bool:
        return bool(self._asked(select_neighbour, self._view(node), self._view(new_node), 1))

    def select_output(self, node: Node, new_node: Node) -> bool:
        return bool(self._asked(select_neighbour, self._view(node), self._view(new_node), 0))

    def filter(self, candidates: Sequence[Node]) -> Sequence[Node]:
        if not self.fns.filter:
            return candidates
        keep = _Flags(len(candidates))
        views = [self._view(node) for node in candidates]
        array = (type(views[0]) * len(views))(*views)
        self._asked(filter_nodes, array, len(views), keep.array)
        flags = keep.read(f"a selector of backend {self.backend.name!r} failed")
        return [node for node, kept in zip(candidates, flags, strict=True) if kept]

    def reset(self) -> None:
        if self.fns.reset:
            self._asked(reset_selector)


class _CProperty(SubgraphProperty):
    def __init__(self, backend: CBackend) -> None:
        self.backend = backend
        self.name = backend.name
        self.minimum_size = max(1, backend.backend.minimum_size)

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _CSelector(self.backend)

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        backend, fns = self.backend, self.backend.fns
        if not (fns.accept or fns.review):
            return subgraph.node()
        view, what = _offered_view(subgraph), f"backend {backend.name!r} refuses {subgraph.name!r}"
        try:
            if fns.accept:
                with Status(what) as status:
                    accepted = accept_region(*backend.own, view.pointer, status.pointer)
                if not accepted:
                    return None
            return self._reviewed(subgraph, view, what) if fns.review else subgraph.node()
        except HostError as error:
            return subgraph.refuse(error.sentence)

    def _reviewed(self, subgraph: Subgraph, view: View, what: str) -> SubgraphNode | None:
        """What the library makes of a region that it accepted; raises ``HostError``."""
        own, count = self.backend.own, view.struct.num_nodes
        keep = _Flags(count)
        attrs = answer(
            what, lambda b, status: review_region(*own, view.pointer, keep.array, b, status)
        )
        flags = keep.read(what)
        if not all(flags):
            names = [node.contents.name.decode() for node in view.struct.nodes[:count]]
            return subgraph.narrow(n for n, kept in zip(names, flags, strict=True) if kept)
        try:
            return subgraph.node(**operator_attrs(attrs))
        except BadAttrsError as error:
            return subgraph.refuse(f"its attributes cannot be used: {error}")


class _CExecutable:
    """An executable of a library's, for an operator in the host library."""

    def __init__(self, backend: CBackend, handle: int) -> None:
        self.backend, self.handle = backend, handle

    def __del__(self) -> None:
        if self.handle:
            destroy_executable(*self.backend.own, self.handle)

    def release(self) -> int:
        """Its address, which is the caller's from now on."""
        found, self.handle = self.handle, 0
        return found
