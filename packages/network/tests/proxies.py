"""A network that delays, stalls, cuts and spoils what goes through it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Self


class Proxy:
    """Passes bytes on to a port of this machine, at ``address``.

    ``delay``: seconds that each piece takes. ``cut_after``: how many bytes of a connection go
    through before it is closed. ``stalls``: while true nothing goes through. ``flip``: which byte
    of a connection is changed.
    """

    def __init__(
        self,
        port: int,
        *,
        delay: float = 0.0,
        cut_after: int | None = None,
        flip: int | None = None,
    ) -> None:
        self.port, self.delay, self.cut_after, self.flip = port, delay, cut_after, flip
        self.stalls = False
        self._closed = False
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.address = f"tcp://127.0.0.1:{self._sockets[0].getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while not self._closed:
            with contextlib.suppress(OSError):
                one = self._sockets[0].accept()[0]
                other = socket.create_connection(("127.0.0.1", self.port))
                self._sockets += [one, other]
                threading.Thread(target=self._pass, args=(one, other, True), daemon=True).start()
                threading.Thread(target=self._pass, args=(other, one, False), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, there: bool) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                while self.stalls and not self._closed:
                    time.sleep(0.01)
                time.sleep(self.delay)
                if there and self.cut_after is not None and passed + len(data) > self.cut_after:
                    target.sendall(data[: self.cut_after - passed])
                    break
                if there and self.flip is not None and passed <= self.flip < passed + len(data):
                    spoiled = bytearray(data)
                    spoiled[self.flip - passed] ^= 0xFF
                    data = bytes(spoiled)
                target.sendall(data)
                passed += len(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for one in self._sockets:
            one.close()
