"""What the operators of a session have compiled."""

from __future__ import annotations

from drystone_base.arguments import checked
from drystone_base.session import Session
from drystone_subgraph.compiled import CompiledOperator, ExecutableStatus

__all__ = ["executables"]


@checked
def executables(session: Session) -> list[ExecutableStatus]:
    """The executables of a session's operators, by operator."""
    from drystone_subgraph.attach import KIND

    return [
        status
        for _, operator in session.resources.items(KIND)
        if isinstance(operator, CompiledOperator)
        for status in operator.status()
    ]
