"""HDFS by WebHDFS as ``hdfs://`` paths, and web servers as ``http(s)://`` paths for reading."""

from __future__ import annotations

try:
    from drystone_fs_hdfs.web import Web
    from drystone_fs_hdfs.webhdfs import hdfs
except ImportError as error:
    from drystone_fs_hdfs._missing import named

    raise named(error) from None

__all__ = ["__version__", "hdfs", "http", "https"]

__version__ = "0.1.1"


def http() -> Web:
    """Web servers, without encryption."""
    return Web("http")


def https() -> Web:
    """Web servers."""
    return Web("https")
