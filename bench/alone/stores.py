"""Stores beside their own clients: ``python -m bench.alone.stores [--quick] [--publish]``.

Each client moves the same 256 MB object and the same 1,000 files of 4 KB (HDFS: 40), to
and from a server that is started for it on this machine, round after round in turn, so that a slow
spell of the machine hits all alike. The table has the median of the rounds, in MB/s and in files a
second; *beside* is the median over the rounds of ours to the best of the others in that round. The
servers: SeaweedFS (s3), an emulator of this repository in a process of its own (gs, http), Azurite
(az) and Hadoop (hdfs), where ``ci.scripts.stores.azurite`` and ``.hadoop`` have been run.
``--publish`` writes the table into docs/how-to/filesystem.md; with ``--only``, the rows of those
stores.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.machine import processor

__all__ = ["main"]

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "filesystem.md"
BEGIN, END = "<!-- store speed: begin -->\n", "<!-- store speed: end -->\n"
LARGE, SMALL, FILES = 256 << 20, 4096, {"hdfs": 40}
"""Bytes of the large object and of a small file, and how many of those, where not 1,000.

A name node makes a few files in a second, for any number of clients.
"""
OURS: Final = "drystone"


class Client(NamedTuple):
    """What one client does; None for what it cannot."""

    name: str
    read: Callable[[], int] | None
    write: Callable[[], object] | None
    read_all: Callable[[], int] | None = None
    write_all: Callable[[], object] | None = None
    fill: Callable[[], object] | None = None  # makes the object that all read


# ---- clients -------------------------------------------------------------------------------------


def _ours(root: str, data: bytes, small: dict[str, bytes], *, writes: bool = True) -> Client:
    from drystone_filesystem import DrystoneFileSystem, gfile

    scheme, _, base = root.partition("://")
    files = DrystoneFileSystem(scheme, skip_instance_cache=True)
    named = {f"{base}/small/{name}": value for name, value in small.items()}

    def write(name: str = f"large-{OURS}") -> None:
        with gfile.GFile(f"{root}/{name}", "wb") as file:
            file.write(data)

    def read() -> int:
        with gfile.GFile(f"{root}/large", "rb") as file:
            return len(file.read())

    return Client(
        OURS,
        read,
        write if writes else None,
        lambda: sum(map(len, files.cat(list(named)).values())),
        (lambda: files.pipe(named)) if writes else None,
        lambda: write("large"),
    )


def _obstore(store: Any, data: bytes, *, writes: bool = True) -> Client:
    import obstore

    return Client(
        "obstore",
        lambda: len(obstore.get(store, "large").bytes()),
        (lambda: obstore.put(store, "large-obstore", data)) if writes else None,
    )


def _fsspec(name: str, files: Any, base: str, data: bytes, small: dict[str, bytes],
            *, writes: bool = True) -> Client:  # fmt: skip
    named = {f"{base}/small/{key}": value for key, value in small.items()}
    return Client(
        name,
        lambda: len(files.cat_file(f"{base}/large")),
        (lambda: files.pipe_file(f"{base}/large-{name}", data)) if writes else None,
        lambda: sum(map(len, files.cat(list(named)).values())),
        (lambda: files.pipe(named)) if writes else None,
    )


# ---- stores --------------------------------------------------------------------------------------


@contextmanager
def _s3(data: bytes, small: dict[str, bytes]) -> Iterator[list[Client]]:
    from obstore.store import S3Store

    from ci.scripts.stores.seaweed import KEY, SECRET, seaweed

    with seaweed("box") as address:
        os.environ.update(
            AWS_ENDPOINT_URL=address, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET
        )
        store = S3Store("box", endpoint=address, region="us-east-1", access_key_id=KEY,
                        secret_access_key=SECRET,
                        client_options={"allow_http": True, "timeout": "1h"})  # fmt: skip
        clients = [_ours("s3://box", data, small), _obstore(store, data)]
        if find_spec("s3fs"):
            s3fs = import_module("s3fs")

            files = s3fs.S3FileSystem(key=KEY, secret=SECRET, endpoint_url=address)
            clients.append(_fsspec("s3fs", files, "box", data, small))
        yield clients


@contextmanager
def _gs(data: bytes, small: dict[str, bytes]) -> Iterator[list[Client]]:
    from ci.scripts.tf_plugins.gcs_emulator import apart

    with apart("box") as address:
        os.environ["STORAGE_EMULATOR_HOST"] = address
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        clients = [_ours("gs://box", data, small), _obstore(_gcs_store(address), data)]
        if find_spec("gcsfs"):
            gcsfs = import_module("gcsfs")

            files = gcsfs.GCSFileSystem(token="anon", endpoint_url=address, project="none")
            clients.append(_fsspec("gcsfs", files, "box", data, small))
        yield clients


@contextmanager
def _az(data: bytes, small: dict[str, bytes]) -> Iterator[list[Client]]:
    from obstore.store import AzureStore

    from ci.scripts.stores.azurite import ACCOUNT, KEY, azurite, connection_string

    with azurite("box") as address:
        said = os.environ["AZURE_STORAGE_CONNECTION_STRING"] = connection_string(address)
        store = AzureStore("box", endpoint=f"{address}/{ACCOUNT}", account_name=ACCOUNT,
                           account_key=KEY,
                           client_options={"allow_http": True, "timeout": "1h"})  # fmt: skip
        service = import_module("azure.storage.blob").BlobServiceClient
        theirs = service.from_connection_string(said).get_container_client("box")
        clients = [_ours("az://box", data, small), _obstore(store, data), _azure(theirs, data)]
        if find_spec("adlfs"):
            files = import_module("adlfs").AzureBlobFileSystem(connection_string=said)
            clients.append(_fsspec("adlfs", files, "box", data, small))
        yield clients


def _azure(container: Any, data: bytes) -> Client:
    """Microsoft's own, with as many requests at once as ours may make."""

    def write() -> None:
        blob = container.get_blob_client("large-azure")
        blob.upload_blob(data, overwrite=True, max_concurrency=8)

    def read() -> int:
        return len(container.get_blob_client("large").download_blob(max_concurrency=8).readall())

    return Client("azure-storage-blob", read, write)


def _gcs_store(address: str) -> Any:
    from obstore.store import GCSStore

    key = {"gcs_base_url": address, "disable_oauth": True, "client_email": ""}
    key |= {"private_key": "", "private_key_id": ""}
    options: Any = {"allow_http": True, "timeout": "1h"}
    return GCSStore("box", service_account_key=json.dumps(key), client_options=options)


@contextmanager
def _http(data: bytes, small: dict[str, bytes]) -> Iterator[list[Client]]:
    import obstore
    from obstore.store import HTTPStore

    from ci.scripts.tf_plugins.gcs_emulator import apart

    with apart("box") as address:
        behind = _gcs_store(address)
        obstore.put(behind, "large", data)
        for name, value in small.items():
            obstore.put(behind, f"small/{name}", value)
        options: Any = {"allow_http": True, "timeout": "1h"}
        store = HTTPStore.from_url(f"{address}/box", client_options=options)
        clients = [_ours(f"{address}/box", data, small, writes=False)]
        clients.append(_obstore(store, data, writes=False))
        if find_spec("aiohttp"):
            import fsspec

            files = fsspec.filesystem("http")
            clients.append(_fsspec("fsspec", files, f"{address}/box", data, small, writes=False))
        yield clients


@contextmanager
def _hdfs(data: bytes, small: dict[str, bytes]) -> Iterator[list[Client]]:
    from ci.scripts.stores.hadoop import VARIABLE, hadoop

    with hadoop(Path(os.environ.get(VARIABLE, "no such folder"))) as (address, _):
        os.environ["HADOOP_USER_NAME"] = "test"
        place = address.removeprefix("http://")
        clients = [_ours(f"hdfs://{place}/box", data, small)]
        if find_spec("requests"):
            from fsspec.implementations.webhdfs import WebHDFS

            host, _, port = place.partition(":")
            files = WebHDFS(host, int(port), user="test")
            clients.append(_fsspec("fsspec", files, "/box", data, small))
        if find_spec("hdfs"):
            cli = import_module("hdfs").InsecureClient
            clients.append(_hdfscli(cli(address, user="test"), data))
        yield clients


def _hdfscli(client: Any, data: bytes) -> Client:
    def read() -> int:
        with client.read("/box/large") as file:
            return len(file.read())

    return Client("HdfsCLI", read, lambda: client.write("/box/large-HdfsCLI", data, overwrite=True))


STORES: Final[dict[str, Callable[..., Any]]] = {
    "s3": _s3,
    "gs": _gs,
    "az": _az,
    "http": _http,
    "hdfs": _hdfs,
}


# ---- measuring -----------------------------------------------------------------------------------


def measured(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each, round after round in turn; the first round does not count."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            if number:
                taken[name].append(time.perf_counter() - begin)
    return taken


def row(title: str, taken: dict[str, list[float]], amount: float, unit: str) -> str:
    """One line: each client's median, and ours to the best of the others."""
    others = [name for name in taken if name != OURS]
    best = [min(taken[name][k] for name in others) for k in range(len(taken[OURS]))]
    beside = statistics.median(b / ours for b, ours in zip(best, taken[OURS], strict=True))
    middle = {name: amount / statistics.median(seconds) for name, seconds in taken.items()}
    theirs = ", ".join(f"{name} {middle[name]:,.0f}" for name in others)
    return f"| {title} | {middle[OURS]:,.0f} {unit} | {theirs} | {beside:.2f}x |\n"


def bench(store: str, rounds: int, size: int, count: int) -> Iterator[str]:
    """The lines of one store."""
    data = b"".join(random.Random(k).randbytes(1 << 20) for k in range(size >> 20))
    small = {f"{k:04d}": random.Random(k).randbytes(SMALL) for k in range(count)}
    with ExitStack() as stack:
        clients = stack.enter_context(STORES[store](data, small))
        ours = clients[0]
        if ours.write is not None:
            assert ours.fill is not None
            ours.fill()
            calls = {c.name: c.write for c in clients if c.write}
            yield row(f"{store}, write 256 MB", measured(calls, rounds), size / 1e6, "MB/s")
        for client in clients:
            assert client.read is None or client.read() == size, client.name
        calls = {c.name: c.read for c in clients if c.read}
        yield row(f"{store}, read 256 MB", measured(calls, rounds), size / 1e6, "MB/s")
        for title, pick in (("write", "write_all"), ("read", "read_all")):
            calls = {c.name: getattr(c, pick) for c in clients if getattr(c, pick)}
            if calls:
                taken = measured(calls, rounds)
                yield row(f"{store}, {title} {count:,} x 4 KB", taken, count, "files/s")


def main() -> int:
    """Measure, print, and write the page where asked."""
    parser = argparse.ArgumentParser(prog="bench.alone.stores")
    parser.add_argument("--quick", action="store_true", help="16 MB, 100 files, one round")
    parser.add_argument("--publish", action="store_true", help="write the table into the page")
    parser.add_argument("--only", action="append", choices=list(STORES))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    size, count = (16 << 20, 100) if options.quick else (LARGE, 1000)
    rounds = 1 if options.quick else options.rounds
    os.environ["NO_PROXY"] = "127.0.0.1"
    table = "| | drystone | others | beside |\n|---|---|---|---|\n"
    print(table, end="", flush=True)
    for store in options.only or STORES:
        for line in bench(store, rounds, size, min(count, FILES.get(store, count))):
            print(line, end="", flush=True)
            table += line
    if options.publish:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        old, after = rest.split(END)
        rest_of = [f"| {store}," for store in STORES if store not in (options.only or STORES)]
        lines = old.splitlines(keepends=True)
        table += "".join(line for line in lines if line.startswith(tuple(rest_of)))
        where = f"{processor()}, {os.cpu_count()} cores, medians of {rounds} rounds.\n\n"
        PAGE.write_text(f"{before}{BEGIN}{where}{table}{END}{after}", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
