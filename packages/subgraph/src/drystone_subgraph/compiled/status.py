"""What the operators of a session have compiled."""

from __future__ import annotations

from drystone_base.api.session import Session
from drystone_base.core.arguments import checked
from drystone_subgraph.compiled.compiled import CompiledOperator, ExecutableStatus

__all__ = ["executables"]


@checked
def executables(session: Session) -> list[ExecutableStatus]:
    """The executables of a session's operators, by operator."""
    from drystone_subgraph.compiled.attach import KIND

    return [
        status
        for _, operator in session.resources.items(KIND)
        if isinstance(operator, CompiledOperator)
        for status in operator.status()
    ]
