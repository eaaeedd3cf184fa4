"""Name nodes by their web interface, WebHDFS, which sends requests for bytes to a data node."""

from __future__ import annotations

import getpass
import json
import os
import re
import secrets
import threading
from contextlib import suppress
from typing import Any, Final
from urllib.parse import quote, urlencode

from drystone_filesystem import Sending, SpooledUpload, Stat, StoreFailure, Take, Upload
from drystone_filesystem.environment import WEBHDFS_HTTPS
from drystone_fs_hdfs._web import WebStore, asked, failure
from drystone_fs_hdfs.tokens import token_for

__all__ = ["WebHdfs", "hdfs"]

_PORT: Final = 9870
_DRAFT: Final = re.compile(r"\.[0-9a-f]{8}\.drystone$")
_BY_EXCEPTION: Final = {
    "FileNotFoundException": "NOT_FOUND",
    "FileAlreadyExistsException": "ALREADY_EXISTS",
    "PathIsNotEmptyDirectoryException": "FAILED_PRECONDITION",
    "ParentNotDirectoryException": "FAILED_PRECONDITION",
    "AccessControlException": "PERMISSION_DENIED",
    "SecurityException": "UNAUTHENTICATED",
    "InvalidToken": "UNAUTHENTICATED",
    "StandbyException": "UNAVAILABLE",
    "RetriableException": "UNAVAILABLE",
    "SafeModeException": "UNAVAILABLE",
    "UnsupportedOperationException": "UNIMPLEMENTED",
}


class WebHdfs(WebStore):
    """``host:port/path``: each name node by the address of its web interface."""

    def __init__(self) -> None:
        self._making = threading.Lock()

    # ---- requests ------------------------------------------------------------------------------

    def _url(self, path: str, op: str, **more: Any) -> str:
        node, _, rest = path.partition("/")
        if not node:
            raise ValueError("a path must name its name node, as hdfs://host:port/path")
        host, _, port = node.rpartition(":") if ":" in node else (node, "", str(_PORT))
        scheme = "https" if WEBHDFS_HTTPS.value() else "http"
        token = os.environ.get("WEBHDFS_DELEGATION_TOKEN") or token_for(node)
        user = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
        who = {"delegation": token} if token else {"user.name": user}
        place = quote("/" + rest, errors="surrogateescape")
        return f"{scheme}://{host}:{port}/webhdfs/v1{place}?{urlencode({'op': op, **more, **who})}"

    def _ask(self, method: str, path: str, op: str, **more: Any) -> dict[str, Any]:
        """The JSON that the name node answers."""
        answer = asked(path, method, self._url(path, op, **more), redirect=False)
        if answer.status >= 300:
            raise _refusal(path, answer.status, answer.body)
        found: dict[str, Any] = json.loads(answer.body or b"{}")
        return found

    def _holds(self, method: str, path: str, op: str, **more: Any) -> None:
        """Ask for something that the name node answers with true or false."""
        if not self._ask(method, path, op, **more).get("boolean", True):
            raise StoreFailure("FAILED_PRECONDITION", f"{path}: the name node refused {op}")

    # ---- paths ---------------------------------------------------------------------------------

    def stat(self, path: str) -> Stat:
        """The status; number, time and length together change with the file."""
        found = self._ask("GET", path, "GETFILESTATUS")["FileStatus"]
        length, time = int(found["length"]), int(found["modificationTime"])
        if found["type"] == "DIRECTORY":
            return Stat(0, time * 1_000_000, True)
        return Stat(length, time * 1_000_000, False, f"{found.get('fileId')}-{time}-{length}")

    def begin(self, path: str, size: int) -> tuple[Stat, bytes]:
        """The first bytes, then the status: of a file that is longer they may be another version's.

        So a small file costs three requests: two for its bytes, and one for what it is.
        """
        head = bytearray()

        def take(piece: memoryview) -> bool:
            head.extend(piece)
            return True

        with suppress(StoreFailure, OSError):  # a directory, or nothing: the status tells
            self.receive(path, 0, size, take)
        found = self.stat(path)
        return found, bytes(head) if len(head) == found.length else b""

    def children(self, path: str) -> list[str]:
        """The names in a directory, without files that are on their way."""
        return [name for name in self._names(path) if not _DRAFT.search(name)]

    def _names(self, path: str) -> list[str]:
        listed = self._ask("GET", path, "LISTSTATUS")["FileStatuses"]["FileStatus"]
        return [one["pathSuffix"] for one in listed if one["pathSuffix"]]

    def make_directory(self, path: str) -> None:
        """One directory: the name node would make all above it, too, and one that is there.

        So of several programs that make the same one at once, more than one may succeed.
        """
        with self._making:
            with suppress(FileNotFoundError):
                self.stat(path)
                raise FileExistsError(f"{path} is there already")
            if not self.stat(path.rpartition("/")[0] or path).is_directory:
                raise NotADirectoryError(f"{path} is in a file")
            self._holds("PUT", path, "MKDIRS")

    def _no_directory(self, path: str) -> None:
        with suppress(FileNotFoundError):
            if self.stat(path).is_directory:
                raise IsADirectoryError(f"{path} is a directory")

    def remove_directory(self, path: str) -> None:
        """One empty directory, with what writers that ended early have left."""
        names = self._names(path)
        if all(map(_DRAFT.search, names)):  # else it stays, with what others are writing there
            for name in names:
                self.delete(f"{path}/{name}")
        self._holds("DELETE", path, "DELETE", recursive="false")

    def delete(self, path: str) -> None:
        """One file."""
        self._holds("DELETE", path, "DELETE", recursive="false")

    def rename(self, source: str, target: str) -> None:
        """By the name node, at once, over a file that is there."""
        node, _, rest = target.partition("/")
        if node != source.partition("/")[0]:
            super().rename(source, target)
            return
        self._ask("PUT", source, "RENAME", destination="/" + rest, renameoptions="OVERWRITE")

    def copy(self, source: str, target: str) -> None:
        """By way of here: WebHDFS has no copy."""
        file, found = self.write(target), self.stat(source)

        def take(piece: memoryview) -> bool:
            file.append(piece)
            return True

        try:
            self.receive(source, 0, found.length, take)
            self.confirm(source, found.version)
        except BaseException:
            file.abandon()
            raise
        file.close()

    # ---- bytes ---------------------------------------------------------------------------------

    def receive(self, path: str, offset: int, size: int, take: Take, version: str = "") -> None:
        """One ranged request; whether it was of that version, :meth:`confirm` says."""
        del version
        url = self._url(path, "OPEN", offset=offset, length=size)
        answer = asked(path, "GET", url, into=lambda _answer, piece: take(piece))
        if answer.status != 200:
            raise _refusal(path, answer.status, answer.body)

    def confirm(self, path: str, version: str) -> None:
        """Raise if the file is no longer the one that was opened: a data node is not told which."""
        if version and self.stat(path).version != version:
            raise StoreFailure(
                "FAILED_PRECONDITION", f"{path} was changed while it was read: open it again"
            )

    def write(self, path: str) -> Upload:
        """Sent under another name when it is closed, and renamed once it is whole."""
        self._no_directory(path)
        draft = f"{path}.{secrets.token_hex(4)}.drystone"

        def send(sending: Sending) -> None:
            try:
                self._send("PUT", draft, sending, op="CREATE", overwrite="true")
                arrived = self.stat(draft).length
                if arrived != sending.sent:
                    lost = f"{path}: {arrived} of {sending.sent} bytes arrived"
                    raise StoreFailure("DATA_LOSS", lost)
                self.rename(draft, path)
            except BaseException:
                with suppress(Exception):
                    self.delete(draft)
                raise

        return SpooledUpload(path, send)

    def append_to(self, path: str) -> Upload:
        """After what is there; the data node shows what has arrived, so it is tried only once."""

        self._no_directory(path)

        def send(sending: Sending) -> None:
            try:
                before = self.stat(path).length
            except FileNotFoundError:
                before = 0
                self._send("PUT", path, sending, op="CREATE", overwrite="false")
            else:  # one that goes now is a failure: a part of the bytes may be sent
                self._send("POST", path, sending, op="APPEND")
            if self.stat(path).length != before + sending.sent:
                lost = f"{path}: less than {sending.sent} bytes were appended"
                raise StoreFailure("UNKNOWN", lost)

        return SpooledUpload(path, send, attempts=1, early=False)

    def _send(self, method: str, path: str, sending: Sending, op: str, **more: Any) -> None:
        """Ask the name node where to, then send the bytes there."""
        answer = asked(path, method, self._url(path, op, **more), redirect=False)
        if answer.status != 307:
            raise _refusal(path, answer.status, answer.body)
        headers = {"Content-Type": "application/octet-stream"}
        place = answer.headers["location"]
        answer = asked(path, method, place, headers=headers, body=sending, redirect=False)
        if answer.status >= 300:
            raise _refusal(path, answer.status, answer.body)


def hdfs() -> WebHdfs:
    """All name nodes."""
    return WebHdfs()


def _refusal(path: str, code: int, body: bytes | bytearray) -> Exception:
    """What the name node, or a data node, says went wrong."""
    try:
        said = json.loads(body)["RemoteException"]
        kind, text = str(said["exception"]), str(said["message"]).partition("\n")[0]
    except (ValueError, KeyError, TypeError):
        return failure(path, code)
    status = _BY_EXCEPTION.get(kind)
    if status == "NOT_FOUND":
        return FileNotFoundError(f"there is no {path}")
    if status is None and code == 403:  # what it answers for all that its rules forbid
        status = "FAILED_PRECONDITION"
    if status is None:
        return failure(path, code, f"{kind}: {text}")
    return StoreFailure(status, f"{path}: {kind}: {text}")
