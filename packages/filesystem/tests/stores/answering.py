"""A web server of a test's own, which notes what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Asked", "answering"]


@dataclass
class Asked:
    """A request; ``right`` is its header ``Authorization``."""

    method: str
    path: str
    right: str
    body: bytes


Answer = Callable[[Asked], tuple[int, str, bytes]]
"""What the status, the type and the body of an answer are."""


@contextmanager
def answering(answer: Answer) -> Iterator[tuple[str, list[Asked]]]:
    """One on this machine: its address, and all that it was asked so far."""
    seen: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            right = self.headers.get("Authorization") or ""
            seen.append(Asked(self.command, self.path, right, body))
            status, kind, text = answer(seen[-1])
            self.send_response(status)
            for name, value in {
                "Content-Type": kind, "Content-Length": str(len(text)), "ETag": '"1"',
                "Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT",
                "Content-Range": f"bytes 0-{len(text) - 1}/{len(text)}",
            }.items():  # fmt: skip
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = do_POST = _answer  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{made.server_address[1]}", seen
    finally:
        made.shutdown()
        made.server_close()
