"""Shapes of what comes from another device."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape

__all__: list[str] = []


@shape("_Recv", "_HostRecv")
def recv(_: ShapeCall) -> list[Shape]:
    """Not known here: the sender is in another graph."""
    return [None]


@shape("_Send", "_HostSend")
def send(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []
