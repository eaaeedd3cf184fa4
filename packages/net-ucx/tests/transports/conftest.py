"""Ports for tasks."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_ports() -> list[int]:
    """Two that nobody listened at a moment ago."""
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports
