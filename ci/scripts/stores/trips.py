"""One SavedModel saved to, loaded from and run from every kind of path, on servers started here.

`python -m ci.scripts.stores.trips` prints a table, one line for each: who serves it, how long each
step took, and how many bytes of it came. The model has an asset of 8 MB that no signature reaches,
which must stay where it is. The exit status is 1 when a
step failed, or when something real is missing (see `hadoop`) and a line could not be made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from ci.scripts.project import ROOT
from ci.scripts.stores.azurite import azurite, connection_string
from ci.scripts.stores.hadoop import VARIABLE, hadoop
from ci.scripts.stores.seaweed import KEY, SECRET, seaweed
from ci.scripts.stores.websites import website
from ci.scripts.tf_plugins.gcs import ENVIRONMENT
from ci.scripts.tf_plugins.gcs_emulator import served as gcs

__all__ = ["main"]

UNREACHED: Final = 8_000_000


class Place(NamedTuple):
    """Where a model goes: by whom it is served, its path, and what the process needs to know."""

    server: str
    path: str
    environment: dict[str, str]
    source: str = ""  # a local copy, where the store cannot be written to


# ---- in a process of its own ---------------------------------------------------------------------


def trip(path: str, source: str) -> dict[str, Any]:
    """Save (or take what is there), load, run; seconds of each, and bytes that were asked for."""
    import numpy as np

    import drystone_base as ds
    from drystone_filesystem import progress

    took: dict[str, Any] = {}
    begin = time.perf_counter()
    if not source:
        save(path)
        took["saved"] = time.perf_counter() - begin
        begin = time.perf_counter()
    seen: list[int] = []
    with progress(lambda _path, count, _size: seen.append(count)):
        model = ds.load(path)
        answer = model.signatures["twice"](x=np.array([1, 2], np.float32))
    np.testing.assert_array_equal(answer["y"], [6, 8])
    took["loaded and run"] = time.perf_counter() - begin
    took["bytes"] = sum(seen)
    return took


def save(path: str) -> None:
    """A model of a variable, and of an asset that nothing reads."""
    import numpy as np

    import drystone_base as ds
    from drystone_base.core.dtypes import FLOAT32
    from drystone_filesystem import gfile

    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    kind = {"dtype": FLOAT32, "shape": (2,)}
    v = graph.add("VarHandleOp", "v", attrs={**kind, "shared_name": "v"})
    graph.add("AssignVariableOp", "put", [v, x], attrs={"dtype": FLOAT32})
    got = graph.add("ReadVariableOp", "got", [v], attrs={"dtype": FLOAT32})
    total = graph.add("AddV2", "sum", [x, got], attrs={"T": FLOAT32})
    graph.add("AddV2", "y", [total, total], attrs={"T": FLOAT32})
    session = ds.Session(graph)
    session.run("put", {"x": np.array([2, 2], np.float32)})
    ds.save(session, path, signatures={"twice": ({"x": "x:0"}, {"y": "y:0"})})
    gfile.makedirs(gfile.join(path, "assets"))
    with gfile.GFile(gfile.join(path, "assets", "large"), "wb") as file:
        file.write(bytes(UNREACHED))


# ---- servers -------------------------------------------------------------------------------------


@contextmanager
def _file() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        yield Place("this machine's disk", f"{folder}/model", {})


@contextmanager
def _memory() -> Iterator[Place]:
    yield Place("this process", "memory://box/model", {})


@contextmanager
def _s3() -> Iterator[Place]:
    with seaweed("box") as address:
        who = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        yield Place("SeaweedFS", "s3://box/model", {"AWS_ENDPOINT_URL": address, **who})


@contextmanager
def _gs() -> Iterator[Place]:
    with gcs("box") as (address, _):
        here = {"STORAGE_EMULATOR_HOST": address}
        yield Place("an emulator of this repository", "gs://box/model", here)


@contextmanager
def _az() -> Iterator[Place]:
    with azurite("box") as address:
        who = {"AZURE_STORAGE_CONNECTION_STRING": connection_string(address)}
        yield Place("Azurite", "az://box/model", who)


@contextmanager
def _gs_by_tensorflow() -> Iterator[Place]:
    spec = find_spec("tensorflow_io_gcs_filesystem")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("tensorflow-io-gcs-filesystem is not installed")
    library = next(Path(spec.origin).parent.rglob("libtensorflow_io_gcs_filesystem.so"))
    with gcs("box") as (address, _):
        chosen = {"DRYSTONE_FILESYSTEMS": f"gs={library}"}
        chosen |= {"DRYSTONE_PLUGIN_POLICY": "allow_unverified"}
        chosen |= {"CLOUD_STORAGE_EMULATOR_ENDPOINT": address, **ENVIRONMENT}
        yield Place("the same, by tensorflow-io-gcs-filesystem", "gs://box/model", chosen)


@contextmanager
def _hdfs() -> Iterator[Place]:
    with hadoop(Path(os.environ.get(VARIABLE, "no such folder"))) as (address, _):
        path = f"hdfs://{address.removeprefix('http://')}/box/model"
        yield Place("Hadoop 2.7.3", path, {"HADOOP_USER_NAME": "test"})


@contextmanager
def _web(*, encrypted: bool) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(str(folder / "model"))
        with website(folder, encrypted=encrypted) as (address, trusted):
            place = f"{address}/model/saved_model.pb"
            yield Place("a web server of Python's", place, trusted, source=str(folder / "model"))


PLACES: Final[dict[str, Callable[[], Any]]] = {
    "file": _file,
    "memory": _memory,
    "s3": _s3,
    "gs": _gs,
    "gs, chosen": _gs_by_tensorflow,
    "az": _az,
    "hdfs": _hdfs,
    "http": lambda: _web(encrypted=False),
    "https": lambda: _web(encrypted=True),
}


def main() -> int:
    """Make the trips; 0 when each came home."""
    rows: list[tuple[str, ...]]
    rows, failed = [("path", "served by", "save", "load and run", "read")], 0
    for name, place in PLACES.items():
        try:
            with ExitStack() as stack:
                rows.append(_row(name, stack.enter_context(place())))
        except (OSError, RuntimeError) as error:
            failed += 1
            rows.append((name, f"FAILED: {error}", "", "", ""))
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
    print(f"{len(rows) - 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


def _row(name: str, place: Place) -> tuple[str, ...]:
    command = [sys.executable, "-m", "ci.scripts.stores.trips", place.path, place.source]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", **place.environment}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, timeout=300, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError("\n".join(done.stderr.splitlines()[-12:]))
    took = json.loads(done.stdout.splitlines()[-1])
    # Requests for a local file are not counted, and a library's own way of reading is its own.
    counted = took["bytes"] and f"{took['bytes'] / 1e3:.1f} KB"
    if took["bytes"] >= UNREACHED:
        raise RuntimeError(f"{counted} were read: what the signature does not reach, too")
    saved = f"{took['saved']:.2f} s" if "saved" in took else "read-only"
    return name, place.server, saved, f"{took['loaded and run']:.2f} s", counted or "not counted"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(trip(*sys.argv[1:])))
    else:
        sys.exit(main())
