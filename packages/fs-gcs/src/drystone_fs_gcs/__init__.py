"""Google Cloud Storage as ``gs://`` paths."""

from __future__ import annotations

import json
import os
from typing import Any

try:
    from drystone_filesystem import ObjectStore, client_options, retry_options
    from drystone_fs_gcs.credentials import provider
except ImportError as error:
    from drystone_fs_gcs._missing import named

    raise named(error) from None

__all__ = ["__version__", "store"]

__version__ = "0.1.1"


def store() -> ObjectStore:
    """The store of all buckets; places and credentials are those of the environment."""
    return ObjectStore(_client, sums=True)


def _emulator() -> str:
    """Where one is, or ""; Google's own tools take it with and without ``http://``."""
    said = os.environ.get("STORAGE_EMULATOR_HOST") or ""
    return f"http://{said}" if said and "://" not in said else said


def _client(bucket: str) -> Any:
    from obstore.store import GCSStore

    endpoint = _emulator()
    more: dict[str, Any] = {}
    if endpoint:
        more["service_account_key"] = json.dumps(
            {
                "gcs_base_url": endpoint,
                "disable_oauth": True,
                "client_email": "",
                "private_key": "",
                "private_key_id": "",
            }
        )
    place = endpoint or os.environ.get("GOOGLE_BASE_URL") or ""
    return GCSStore(
        bucket,
        credential_provider=None if more else provider(),
        client_options=client_options(http=place.startswith("http://")),
        retry_config=retry_options(),
        **more,
    )
