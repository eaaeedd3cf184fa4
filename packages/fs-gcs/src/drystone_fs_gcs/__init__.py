"""Google Cloud Storage as ``gs://`` paths."""

from __future__ import annotations

import json
import os
from typing import Any

from drystone_filesystem import ObjectStore, client_options, retry_options

__all__ = ["__version__", "store"]

__version__ = "0.1.0"


def store() -> ObjectStore:
    """The store of all buckets; places and credentials are those of the environment."""
    return ObjectStore(_client, sums=True)


def _client(bucket: str) -> Any:
    from obstore.store import GCSStore

    endpoint = os.environ.get("STORAGE_EMULATOR_HOST")
    more: dict[str, Any] = {}
    if endpoint is not None:
        more["service_account_key"] = json.dumps(
            {
                "gcs_base_url": endpoint,
                "disable_oauth": True,
                "client_email": "",
                "private_key": "",
                "private_key_id": "",
            }
        )
    return GCSStore(
        bucket,
        client_options=client_options(http=(endpoint or "").startswith("http://")),
        retry_config=retry_options(),
        **more,
    )
