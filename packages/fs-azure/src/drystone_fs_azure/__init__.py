"""Azure Blob Storage as ``az://`` and ``abfs://`` paths."""

from __future__ import annotations

from typing import Any

try:
    from drystone_filesystem import ObjectStore, client_options, retry_options
    from drystone_fs_azure.account import account, over_http
except ImportError as error:
    from drystone_fs_azure._missing import named

    raise named(error) from None

__all__ = ["__version__", "store"]

__version__ = "0.1.1"


def store() -> ObjectStore:
    """The store of all containers; accounts and credentials are those of paths and variables."""
    return ObjectStore(_client, folder_metadata="hdi_isfolder")


def _client(container: str) -> Any:
    """A client of ``container``, or of ``container@account.dfs.core.windows.net``."""
    from obstore.store import AzureStore

    name, _, host = container.partition("@")
    stated = account(host)
    return AzureStore(
        name,
        client_options=client_options(http=over_http(stated)),
        retry_config=retry_options(),
        **stated,
    )
