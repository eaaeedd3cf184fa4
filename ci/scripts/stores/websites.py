"""A web server of Python's own, with ranges and entity tags, plain or encrypted."""

from __future__ import annotations

import hashlib
import re
import ssl
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

__all__ = ["website"]


class _Files(BaseHTTPRequestHandler):
    """Files below a folder, for reading."""

    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = -1, True
    folder: ClassVar[Path]

    def do_GET(self) -> None:
        """The file, or a range of it."""
        path = (self.folder / self.path.partition("?")[0].lstrip("/")).resolve()
        if not (path.is_file() and path.is_relative_to(self.folder.resolve())):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = path.read_bytes()
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        body, size = data, len(data)
        if wanted and int(wanted[1]) < size:
            first, last = int(wanted[1]), min(int(wanted[2] or size), size - 1)
            body = data[first : last + 1]
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("ETag", tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - a name of http.server

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def website(folder: Path, *, encrypted: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """The files below ``folder``: the address, and the variables that make clients trust it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Files", (_Files,), {"folder": folder}))
    server.daemon_threads = True
    with tempfile.TemporaryDirectory() as name:
        trusted = _encrypt(server, Path(name)) if encrypted else {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scheme = "https" if encrypted else "http"
        try:
            yield f"{scheme}://127.0.0.1:{server.server_address[1]}", trusted
        finally:
            server.shutdown()
            server.server_close()


def _encrypt(server: ThreadingHTTPServer, folder: Path) -> dict[str, str]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
         "-keyout", str(key), "-out", str(certificate), "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return {"SSL_CERT_FILE": str(certificate)}
