"""Who is let in: the token of a cluster, and certificates for mutual TLS."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from drystone_base.core.errors import BadRequest
from drystone_network.cluster.environment import CLUSTER_TLS, CLUSTER_TOKEN

__all__ = ["Tls", "key_of", "token"]


def token() -> str:
    """The token of the cluster, by ``$DRYSTONE_CLUSTER_TOKEN``; "" without one."""
    found: str = CLUSTER_TOKEN.value()
    return found


def key_of(token: str) -> bytes:
    """The key that proofs of a token are made with, whatever its letters are.

    It is not the token itself, to which NULs could be added.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


@dataclass(frozen=True)
class Tls:
    """Certificates (PEM) for mutual TLS: of this side, its key, and of who signed the other's."""

    certificate: bytes
    key: bytes
    authority: bytes

    @classmethod
    def of_environment(cls) -> Self | None:
        """Those of the folder that ``$DRYSTONE_CLUSTER_TLS`` names; None without one."""
        folder = CLUSTER_TLS.value()
        return cls.read(Path(folder)) if folder else None

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The ``cert.pem``, ``key.pem`` and ``ca.pem`` of a folder.

        Raises ``BadRequest`` (``bad-cluster-tls``).
        """
        try:
            found = [(folder / name).read_bytes() for name in ("cert.pem", "key.pem", "ca.pem")]
        except OSError as error:
            raise BadRequest(
                f"the certificates in {folder} cannot be read",
                check="mutual TLS needs a certificate, its key, and who signed the others'",
                found=str(error),
                needed="cert.pem, key.pem and ca.pem",
                remedy=f"put them there, or `unset {CLUSTER_TLS.name}`",
                code="bad-cluster-tls",
                status="NOT_FOUND",
                inner=error,
            ) from error
        return cls(*found)

    def server(self) -> Any:
        """What a gRPC server is given; a client must have a certificate, too."""
        import grpc

        return grpc.ssl_server_credentials(
            [(self.key, self.certificate)], self.authority, require_client_auth=True
        )

    def channel(self) -> Any:
        """What a gRPC channel is given."""
        import grpc

        return grpc.ssl_channel_credentials(self.authority, self.key, self.certificate)
