"""Real servers of stores, each behind a proxy that can make requests fail."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import obstore
import pytest
from faults import AZURE, Proxy, proxied
from obstore.store import AzureStore, GCSStore, S3Store
from page import KINDS

from ci.scripts.stores import azurite
from ci.scripts.stores.hadoop import VARIABLE, hadoop
from ci.scripts.stores.seaweed import KEY, SECRET, seaweed
from ci.scripts.tf_plugins.gcs_emulator import served as gcs

_HTTP: Any = {"allow_http": True}


@dataclass
class Served:
    """A store: where its test objects go, and the proxy that its client talks to."""

    kind: str
    root: str
    proxy: Proxy
    put: Callable[[str, bytes], Any]  # past the proxy
    get: Callable[[str], bytes]

    @property
    def writable(self) -> bool:
        """Whether objects can be written."""
        return self.kind != "http"


def _no_hadoop() -> str:
    """Why no real HDFS can be started, or ""."""
    if shutil.which("java") is None:
        return "java is not installed"
    where = os.environ.get(VARIABLE, "")
    if not (where and Path(where).is_dir()):
        return f"{VARIABLE} names no folder that ci.scripts.stores.hadoop has filled"
    return ""


def _start(kind: str, stack: ExitStack) -> Served:
    """The server and, before it, the proxy."""
    if kind == "hdfs":
        if _no_hadoop():
            pytest.skip(_no_hadoop())
        names, data = stack.enter_context(hadoop(Path(os.environ[VARIABLE])))
        proxy = stack.enter_context(proxied(data))
        front = stack.enter_context(proxied(names, {data: proxy.address}))
        behind = _Hdfs(names)
        return Served(kind, f"hdfs://{front.netloc}/box", proxy, behind.put, behind.get)
    if kind == "s3":
        address = stack.enter_context(seaweed("box"))
        client: Any = S3Store("box", endpoint=address, region="us-east-1", access_key_id=KEY,
                              secret_access_key=SECRET, client_options=_HTTP)  # fmt: skip
    elif kind == "az":
        if azurite.missing():
            pytest.skip(azurite.missing())
        address = stack.enter_context(azurite.azurite("box"))
        client = AzureStore("box", endpoint=f"{address}/{azurite.ACCOUNT}", client_options=_HTTP,
                            account_name=azurite.ACCOUNT, account_key=azurite.KEY)  # fmt: skip
    else:
        address, _ = stack.enter_context(gcs("box"))
        key = {"gcs_base_url": address, "disable_oauth": True, "client_email": ""}
        key |= {"private_key": "", "private_key_id": ""}
        client = GCSStore("box", service_account_key=json.dumps(key), client_options=_HTTP)
    proxy = stack.enter_context(proxied(address, refused=AZURE if kind == "az" else None))
    root = f"{proxy.address}/box" if kind == "http" else f"{kind}://box"
    return Served(
        kind,
        root,
        proxy,
        lambda name, data: obstore.put(client, name, data, use_multipart=False),
        lambda name: bytes(obstore.get(client, name).bytes()),
    )


class _Hdfs:
    """Files of the store itself, by the web interface."""

    def __init__(self, address: str) -> None:
        self.root = f"{address.replace('http:', 'hdfs:')}/box"

    def put(self, name: str, data: bytes) -> None:
        """Another client's file: a plain one, without the name node that tests talk to."""
        from drystone_fs_hdfs import hdfs

        upload = hdfs().write(f"{self.root.partition('://')[2]}/{name}")
        upload.append(memoryview(data))
        upload.close()

    def get(self, name: str) -> bytes:
        """Its bytes; ``FileNotFoundError`` for none."""
        from drystone_fs_hdfs import hdfs

        store, path = hdfs(), f"{self.root.partition('://')[2]}/{name}"
        room = bytearray(store.stat(path).length)
        assert store.read_into(path, 0, memoryview(room)) == len(room)
        return bytes(room)


@pytest.fixture(scope="session", params=KINDS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """Each store; HTTP is the emulator of Google's, asked as any web server."""
    from drystone_base.host import filesystem

    with ExitStack() as stack:
        found = _start(request.param, stack)
        found.put("first", b"what a server does slowly the first time")
        settings = {
            "AWS_ENDPOINT_URL": found.proxy.address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AZURE_STORAGE_CONNECTION_STRING": azurite.connection_string(found.proxy.address),
            "STORAGE_EMULATOR_HOST": found.proxy.address,
            "HADOOP_USER_NAME": "test",
            "DRYSTONE_FILES_PART_MB": "1",
            # Azurite takes its time with parts that come at once.
            "DRYSTONE_FILES_TIMEOUT": "2" if request.param == "az" else "1",
            "NO_PROXY": "127.0.0.1",
        }
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in settings.items():
            patch.setenv(name, value)
        filesystem.cleanup()
        yield found
        filesystem.cleanup()


def put(served: Served, name: str, data: bytes) -> None:
    """Store an object past the proxy."""
    served.put(name, data)


def there(served: Served, name: str) -> bytes | None:
    """What the store itself has, past the proxy."""
    try:
        return served.get(name)
    except FileNotFoundError:
        return None
