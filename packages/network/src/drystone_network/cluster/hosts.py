"""Hosts of addresses: which are of this machine alone, and how they are written."""

from __future__ import annotations

import ipaddress

__all__ = ["bracketed", "canonical", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a host, in brackets or without, is this machine to itself alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bracketed(host: str) -> str:
    """A host as it is written before a port: addresses of IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def canonical(address: str) -> str:
    """``HOST:PORT`` as all that mean the same by it are written."""
    host, _, port = address.rpartition(":")
    try:
        host = str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        host = host.lower().removesuffix(".")
    return f"{host}:{int(port)}"
