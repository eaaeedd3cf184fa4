"""An executable that runs its region in a session: what compiling backends of tests give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

import drystone_base as ds
from drystone_subgraph import (
    CompileRequest,
    ContainOpProperty,
    Executable,
    Handle,
    SubgraphBackend,
    SubgraphProperty,
    register_backend,
)

__all__ = ["Compiling", "Interpreter", "Keeping"]


class Interpreter:
    """Runs the body in a session of its own."""

    def __init__(self, request: CompileRequest) -> None:
        body = request.body
        self.feeds = [f"{arg.name}:0" for arg in body.args]
        self.fetches = [f"{s.name}:{k}" for s, k in (r.inputs[0] for r in body.results)]
        config = ds.SessionConfig(executor="reference", optimizer="off", subgraphs="off")
        self.session = ds.Session(body.graph, config)

    def __call__(self, inputs: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        """The results, for the arguments."""
        feeds = dict(zip(self.feeds, inputs, strict=True))
        found: list[np.ndarray[Any, Any]] = self.session.run(self.fetches, feeds)
        return found


class Compiling(SubgraphBackend):
    """Compiles regions of the given ops by ``make``; keeps the requests."""

    compiles = True

    def __init__(
        self,
        ops: Collection[str],
        make: Callable[[CompileRequest], Executable] = Interpreter,
        name: str = "fake",
    ) -> None:
        self.name, self.ops, self.make = name, ops, make
        self.requests: list[CompileRequest] = []
        register_backend(self)

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: the ops."""
        return [ContainOpProperty(self.ops)]

    def compile(self, request: CompileRequest) -> Executable:
        """What ``make`` makes of it."""
        self.requests.append(request)
        return self.make(request)


class Keeping(Compiling):
    """Its executables are bytes that say how often it has compiled, and the region itself."""

    keeps, version = True, "1"

    def save(self, executable: Executable | Handle) -> bytes:
        """What stands for the executable."""
        assert isinstance(executable, Interpreter)
        return b"region"

    def load(self, request: CompileRequest, data: bytes) -> Executable:
        """The executable again."""
        if data != b"region":
            raise ValueError("foreign bytes")
        return Interpreter(request)
