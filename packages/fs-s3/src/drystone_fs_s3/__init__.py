"""Amazon S3, and what speaks its protocol, as ``s3://`` paths."""

from __future__ import annotations

import os
from typing import Any

from drystone_filesystem import ObjectStore, client_options, retry_options

__all__ = ["__version__", "store"]

__version__ = "0.1.0"


def store() -> ObjectStore:
    """The store of all buckets; places and credentials are those of the environment."""
    return ObjectStore(_client, sums=True)


def _client(bucket: str) -> Any:
    from obstore.store import S3Store

    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    more = {} if endpoint is None else {"endpoint": endpoint}
    return S3Store(
        bucket,
        region=region,
        checksum_algorithm="SHA256",
        client_options=client_options(http=(endpoint or "").startswith("http://")),
        retry_config=retry_options(),
        **more,
    )
