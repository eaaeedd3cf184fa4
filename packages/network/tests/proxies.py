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
    of a connection is changed. ``drop``: from which byte on 100 are left out. ``swap``: from which
    byte on 8 change places with the 8 after them.
    """

    def __init__(
        self,
        port: int,
        *,
        delay: float = 0.0,
        cut_after: int | None = None,
        flip: int | None = None,
        drop: int | None = None,
        swap: int | None = None,
    ) -> None:
        self.port, self.delay, self.cut_after = port, delay, cut_after
        self.flip, self.drop, self.swap = flip, drop, swap
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
                target.sendall(self._spoiled(data, passed) if there else data)
                passed += len(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _spoiled(self, data: bytes, passed: int) -> bytes:
        """What a piece becomes that begins after so many bytes."""
        out = bytearray(data)
        if self.flip is not None and passed <= self.flip < passed + len(data):
            out[self.flip - passed] ^= 0xFF
        if self.drop is not None and passed <= self.drop < passed + len(data):
            del out[self.drop - passed : self.drop - passed + 100]
        if self.swap is not None and passed <= self.swap < passed + len(data):
            at = self.swap - passed
            out[at : at + 16] = out[at + 8 : at + 16] + out[at : at + 8]
        return bytes(out)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        for one in self._sockets:
            one.close()
