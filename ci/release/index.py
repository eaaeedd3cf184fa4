"""A local package index of the files in a folder, as of now or as of any date.

`python -m ci.release.index FOLDER [--port N]`: PEP 691 and 700 JSON under `/simple/`, with upload
times from the folder's uploads.json, or else the times of the files. `/until/2027-02-01/simple/` is
the index as it was at that moment, which any installer can use.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["INDEX", "UPLOADS", "File", "files", "main", "page", "serving"]

INDEX = Path(".drystone-env/index")
"""Where files of releases lie, as `nox -s index` serves them."""
UPLOADS = "uploads.json"
_TYPE = "application/vnd.pypi.simple.v1+json"
_FOLDER = re.compile(r"(?:/until/(?P<until>[^/]+))?/simple/(?P<name>[^/]+)/?")


class File(NamedTuple):
    """A wheel or sdist, the project and version it is of, and when it was uploaded (ISO 8601)."""

    path: Path
    project: str
    version: str
    uploaded: str


def files(folder: Path) -> list[File]:
    """The distributions in a folder, by time of upload."""
    log = folder / UPLOADS
    stated = json.loads(log.read_text(encoding="utf-8")) if log.exists() else {}
    found = []
    for path in folder.iterdir():
        if path.name.endswith((".whl", ".tar.gz")):
            project, version = path.name.removesuffix(".tar.gz").split("-")[:2]
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            uploaded = stated.get(path.name, f"{changed:%Y-%m-%dT%H:%M:%SZ}")
            found.append(File(path, _normal(project), version, uploaded))
    return sorted(found, key=lambda file: (file.uploaded, file.path.name))


def page(folder: Path, project: str, until: str = "", base: str = "") -> dict[str, Any] | None:
    """The page of a project as JSON, of files uploaded before `until`; None for an unknown one."""
    name = _normal(project)
    held = [f for f in files(folder) if f.project == name and (not until or f.uploaded < until)]
    if not held:
        return None
    return {
        "meta": {"api-version": "1.1"},
        "name": name,
        "versions": sorted({file.version for file in held}),
        "files": [_entry(file, base) for file in held],
    }


def _entry(file: File, base: str) -> dict[str, Any]:
    metadata = _metadata(file.path)
    python = (
        re.search(r"(?m)^Requires-Python: (.+)$", metadata.decode("utf-8")) if metadata else None
    )
    entry: dict[str, Any] = {
        "filename": file.path.name,
        "url": f"{base}/files/{file.path.name}",
        "hashes": {"sha256": _digest(file.path, file.path.stat().st_mtime_ns)},
        "size": file.path.stat().st_size,
        "upload-time": file.uploaded,
    }
    if metadata:
        entry["core-metadata"] = {"sha256": sha256(metadata).hexdigest()}
    return entry | ({"requires-python": python[1]} if python else {})


@lru_cache(maxsize=256)
def _digest(path: Path, _changed: int) -> str:
    """What installers check a file by; a page is asked for many times."""
    return sha256(path.read_bytes()).hexdigest()


@lru_cache(maxsize=256)
def _metadata(wheel: Path) -> bytes:
    """The METADATA of a wheel; nothing for an sdist."""
    if wheel.suffix != ".whl":
        return b""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return archive.read(name)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class _Handler(BaseHTTPRequestHandler):
    """Answers of the index."""

    protocol_version = "HTTP/1.1"

    def __init__(self, folder: Path, *arguments: Any) -> None:
        self.folder = folder
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """A page, a file, or the metadata of a wheel."""
        found = _FOLDER.fullmatch(self.path)
        if found:
            host = f"http://{self.headers['Host']}"
            made = page(self.folder, found["name"], found["until"] or "", host)
            self._answer(None if made is None else json.dumps(made).encode(), _TYPE)
            return
        name = self.path.rpartition("/")[2]
        there = {file.path.name: file.path for file in files(self.folder)}
        if self.path.startswith("/files/") and name in there:
            self._answer(there[name].read_bytes(), "application/octet-stream")
        elif self.path.startswith("/files/") and name.removesuffix(".metadata") in there:
            self._answer(_metadata(there[name.removesuffix(".metadata")]), "text/plain")
        else:
            self._answer(None, "")

    do_HEAD = do_GET  # noqa: N815

    def _answer(self, content: bytes | None, kind: str) -> None:
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nothing: installers say what they ask for."""


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[str]:
    """The index of a folder on this machine; its address, without `/simple/`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a folder until Ctrl-C."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8765)
    given = parser.parse_args(arguments)
    with serving(given.folder, given.port) as address:
        print(f"pip install --extra-index-url {address}/simple/ drystone", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
