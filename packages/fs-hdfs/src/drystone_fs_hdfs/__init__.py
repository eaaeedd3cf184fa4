"""HDFS by WebHDFS as ``hdfs://`` paths, and web servers as ``http(s)://`` paths for reading."""

from __future__ import annotations

from typing import Any

from drystone_filesystem import ObjectStore, client_options, retry_options
from drystone_fs_hdfs.webhdfs import hdfs

__all__ = ["__version__", "hdfs", "http", "https"]

__version__ = "0.1.0"


def http() -> ObjectStore:
    """Web servers, without encryption."""
    return ObjectStore(lambda host: _client(f"http://{host}"), lists=False)


def https() -> ObjectStore:
    """Web servers."""
    return ObjectStore(lambda host: _client(f"https://{host}"), lists=False)


def _client(url: str) -> Any:
    from obstore.store import HTTPStore

    options = client_options(http=url.startswith("http://"))
    return HTTPStore.from_url(url, client_options=options, retry_config=retry_options())
