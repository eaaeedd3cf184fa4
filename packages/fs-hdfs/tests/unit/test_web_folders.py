"""Models in folders of ordinary web servers: 301 to the slash, listings, and servers without."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.files.uris import NotOffered, as_path
from drystone_base.graph import Graph
from drystone_fs_hdfs._listings import listed


class Plain(SimpleHTTPRequestHandler):
    """Python's own server, which lists folders."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Unlisted(Plain):
    """One that leads on to the slash, and shows no folder."""

    def list_directory(self, path: Any) -> None:  # noqa: ARG002 - as the base has it
        """Refuse."""
        self.send_error(HTTPStatus.FORBIDDEN)


@pytest.fixture(params=[Plain, Unlisted])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    handler = functools.partial(request.param, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def doubling(folder: Path) -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1,)})
    graph.add("AddV2", "y", [x, x], attrs={"T": FLOAT32})
    ds.save(graph, folder)


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_saved_model_in_a_folder(served: str, tmp_path: Path, slash: str) -> None:
    doubling(tmp_path / "a b" / "m")
    model = ds.load(f"{served}/a b/m{slash}")
    assert model(x=np.ones(2, np.float32))["y"].tolist() == [2, 2]


class Moved(Plain):
    """A site of which all has moved: to the name as it is, or to that with a slash at once."""

    def do_GET(self) -> None:
        """The page, or where it is now."""
        old, _, rest = self.path.lstrip("/").partition("/")
        if old not in ("old", "older"):
            super().do_GET()
            return
        slash = "" if old == "old" or "." in rest or rest.endswith("/") else "/"
        self.send_response(301)
        self.send_header("Location", f"/new/{rest}{slash}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def list_directory(self, path: Any) -> Any:
        """With links from the top of the site, as IIS has them."""
        links = "".join(f'<a href="{self.path}{p.name}">.</a>' for p in Path(path).iterdir())
        page = f"<title>Directory listing</title>{links}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        return io.BytesIO(page)

    do_HEAD = do_GET  # noqa: N815


@pytest.mark.parametrize("place", ["old", "older"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_a_saved_model_that_has_moved(place: str, slash: str, tmp_path: Path) -> None:
    doubling(tmp_path / "new" / "m")
    handler = functools.partial(Moved, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        top = f"http://127.0.0.1:{server.server_address[1]}/{place}"
        names = [p.name for p in as_path(f"{top}/m{slash}").iterdir()]
        assert "saved_model.pb" in names
        model = ds.load(f"{top}/m{slash}")
        assert model(x=np.ones(2, np.float32))["y"].tolist() == [2, 2]
    finally:
        server.shutdown()
        server.server_close()


def test_folders_and_files_are_told_apart(served: str, tmp_path: Path) -> None:
    doubling(tmp_path / "m")
    folder, file = as_path(f"{served}/m"), as_path(f"{served}/m/saved_model.pb")
    assert (folder.is_dir(), folder.is_file()) == (True, False)
    assert (file.is_dir(), file.is_file()) == (False, True)
    assert as_path(served).is_dir()
    assert not as_path(f"{served}/none").exists()
    with pytest.raises(OSError, match="directory"):
        folder.read_bytes()


def test_listings(served: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    doubling(tmp_path / "m")
    (tmp_path / "m" / "a b%").write_bytes(b"x")
    (tmp_path / "m" / "more").mkdir()
    folder = as_path(f"{served}/m")
    if "Unlisted" in request.node.name:
        with pytest.raises(NotOffered, match="does not tell the names"):
            list(folder.iterdir())
        return
    assert [p.name for p in folder.iterdir()] == [
        "a b%",
        "fingerprint.pb",
        "more",
        "saved_model.pb",
    ]


APACHE = b"""<html><head><title>Index of /m</title></head><body><h1>Index of /m</h1>
<a href="?C=N;O=D">Name</a> <a href="/">Parent Directory</a> <a href="../">..</a>
<a href="saved_model.pb">saved_model.pb</a> <a href="/m/variables/">variables/</a>
<a href="http://elsewhere/m/other">other</a> <a href="a/b">deep</a> <a href="%2e%2e%2fup">up</a>
<a href="#top">top</a> <a href="gr%C3%B6%C3%9Fe">x</a></body></html>"""


def test_pages_of_servers() -> None:
    assert listed(APACHE, "http://host/m/") == ["größe", "saved_model.pb", "variables"]
    assert listed(APACHE.replace(b"Index of", b"Welcome to"), "http://host/m/") is None
    assert listed(b"\xff<title>Directory listing for /</title>", "http://host/") == []
