"""Real servers of stores, each behind a proxy that can make requests fail."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import obstore
import pytest
from faults import Proxy, proxied
from obstore.store import GCSStore, S3Store

from ci.scripts.tf_plugins.gcs_emulator import served as gcs

KINDS = ("s3", "gs", "http")
_HTTP: Any = {"allow_http": True}


@dataclass
class Served:
    """A store: where its test objects go, and the proxy that its client talks to."""

    kind: str
    root: str
    proxy: Proxy
    behind: Any  # a client of the store itself

    @property
    def writable(self) -> bool:
        """Whether objects can be written."""
        return self.kind != "http"


@contextmanager
def moto() -> Iterator[str]:
    """The S3 of moto, with a bucket named box."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(300):
                try:
                    urlopen(Request(f"{address}/box", method="PUT"), timeout=5).close()
                    break
                except URLError:
                    time.sleep(0.1)
            yield address
        finally:
            server.terminate()


@pytest.fixture(scope="session", params=KINDS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Each store; HTTP is the emulator of Google's, asked as any web server."""
    from drystone_base.host import filesystem

    with ExitStack() as stack:
        kind = request.param
        address = stack.enter_context(moto()) if kind == "s3" else stack.enter_context(gcs("box"))
        server = address if isinstance(address, str) else address[0]
        proxy = stack.enter_context(proxied(server))
        settings = {
            "AWS_ENDPOINT_URL": proxy.address,
            "AWS_ACCESS_KEY_ID": "TESTKEYID",
            "AWS_SECRET_ACCESS_KEY": "a-secret-that-must-not-show",
            "STORAGE_EMULATOR_HOST": proxy.address,
            "DRYSTONE_FILES_PART_MB": "1",
            "DRYSTONE_FILES_TIMEOUT": "1",
            "NO_PROXY": "127.0.0.1",
        }
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in settings.items():
            patch.setenv(name, value)
        root = f"{proxy.address}/box" if kind == "http" else f"{kind}://box"
        filesystem.cleanup()
        yield Served(kind, root, proxy, _direct(kind, server))
        filesystem.cleanup()


def _direct(kind: str, server: str) -> Any:
    """A client of the store itself, past the proxy."""
    if kind == "s3":
        return S3Store("box", endpoint=server, region="us-east-1", client_options=_HTTP)
    key = {"gcs_base_url": server, "disable_oauth": True, "client_email": ""}
    key |= {"private_key": "", "private_key_id": ""}
    return GCSStore("box", service_account_key=json.dumps(key), client_options=_HTTP)


def put(served: Served, name: str, data: bytes) -> None:
    """Store an object past the proxy."""
    obstore.put(served.behind, name, data, use_multipart=False)


def there(served: Served, name: str) -> bytes | None:
    """What the store itself has, past the proxy."""
    try:
        return bytes(obstore.get(served.behind, name).bytes())
    except FileNotFoundError:
        return None
