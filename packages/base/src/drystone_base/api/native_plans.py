"""The native executor of a session, which takes its plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from drystone_base.api.prepared import Prepared

if TYPE_CHECKING:
    from drystone_base.api.config import SessionConfig
    from drystone_base.api.feeds import Feed
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.native import NativeSession, Program
    from drystone_base.state.runtime import Runtime

__all__ = ["NativePlans", "RuntimeOf"]

RuntimeOf: TypeAlias = "Callable[[FunctionCaller | None], Runtime]"
"""What kernels in Python are given in a run, by what calls functions for them."""


class NativePlans:
    """Plans of one session in the native executor, which begins with the first of them."""

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self._session: NativeSession | None = None

    def load(
        self,
        runtime_of: RuntimeOf,
        feeds: list[Feed],
        has_value: list[bool],
        program: Program,
        caller: FunctionCaller | None,
        *,
        copies: bool,
    ) -> Prepared:
        """A program in the native executor, ready to run; raises what the host library refuses."""
        from drystone_base.executor.native import NativePlan, NativeSession

        config = self._config
        if self._session is None:
            together = 1 if config.deterministic else config.inter_op_threads
            self._session = NativeSession(
                config.intra_op_threads, together, config.micro_batch_bytes
            )
        native = NativePlan(self._session, program, copies)
        quick = None
        if config.deadline is None:
            runtime = runtime_of(caller) if native.has_kernels else None
            quick = native.quick([feed.shape for feed in feeds], runtime)
        if quick is not None and not all(has_value):
            quick = _with_gaps(quick, has_value)
        return Prepared(feeds, has_value, copies, caller, native=native, quick=quick)

    def reset(self) -> None:
        """Have plans forget what they keep from run to run."""
        if self._session is not None:
            self._session.reset()


def _with_gaps(quick: Callable[..., Any], has_value: list[bool]) -> Callable[..., Any]:
    """``quick`` of a plan that has operations without values among its fetches: None for those.

    So steps of training take the shortest way, too.
    """

    def call(values: Sequence[Any], single: bool) -> Any:
        found = quick(values, False)
        if found is NotImplemented:
            return found
        given = iter(found)
        whole = [next(given) if has else None for has in has_value]
        return whole[0] if single else whole

    return call
