"""The environment variables of clusters."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import path, text

__all__ = ["CLUSTER_TLS", "CLUSTER_TOKEN", "VARIABLES"]

_OWNER: Final = "drystone-network"

CLUSTER_TOKEN: Final = Variable(
    "DRYSTONE_CLUSTER_TOKEN", text("a secret that all tasks and clients of a cluster share"), "",
    "The token of the cluster.", _OWNER,
)  # fmt: skip
CLUSTER_TLS: Final = Variable(
    "DRYSTONE_CLUSTER_TLS", path("a folder with cert.pem, key.pem and ca.pem"), "",
    "Certificates for mutual TLS between clients and tasks.", _OWNER,
)  # fmt: skip

VARIABLES: Final = tuple(one for one in list(globals().values()) if type(one) is Variable)
