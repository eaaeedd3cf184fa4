"""Runs traces in a session that has the state of the model's."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drystone_base.api.restored.captures import Call, Calls
from drystone_base.api.session import Session
from drystone_base.loaders._restore import object_variables

if TYPE_CHECKING:
    from drystone_base.api.restored.function import Trace
    from drystone_base.loaders import LoadedModel
    from drystone_base.state.variables import Variable

__all__ = ["Running"]


class Running:
    """What calls traces of a model: each in a graph of its own, made when it is first called."""

    def __init__(self, loaded: LoadedModel, session: Session | None) -> None:
        self._loaded = loaded
        self._session = session
        self._sessions: dict[str, tuple[Session, Call]] = {}
        self._lock = threading.Lock()

    @cached_property
    def shared(self) -> dict[int, str]:
        """Under which name the variable of an object is shared in the model's graph."""
        graph, meta = self._loaded.source.graph(), self._loaded.meta
        return {} if meta is None else object_variables(graph, meta, self._loaded.checkpoint)

    def variable(self, number: int) -> Variable | None:
        """The variable of an object, if it has a value."""
        assert self._session is not None
        return self._session.variables.get(self.shared.get(number, ""))

    def run(self, trace: Trace, values: Sequence[Any]) -> list[Any]:
        """The tensors of the trace's results."""
        session, call = self._prepared(trace)
        found: list[Any] = session.run(call.fetches, dict(zip(call.feeds, values, strict=True)))
        return found

    def _prepared(self, trace: Trace) -> tuple[Session, Call]:
        assert self._session is not None
        self._session.check_open()
        with self._lock:
            if trace.function not in self._sessions:
                calls = Calls(self._loaded, self.shared)
                call = calls.call(trace.function, trace.shapes(), trace.results())
                self._sessions[trace.function] = self._session.beside(calls.graph), call
            found = self._sessions[trace.function]
        if self._session.closed:  # while this was prepared
            self.close()
            self._session.check_open()
        return found

    def close(self) -> None:
        """Let go of all of them."""
        for session, _ in list(self._sessions.values()):
            session.close()
        self._sessions = {}
