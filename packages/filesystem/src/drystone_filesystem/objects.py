"""Object stores by obstore: S3, Google Cloud Storage and Azure as stores of drystone.

What a store package adds is how a client of a bucket is made. Directories are the prefixes of
objects: they are there as long as something is in them.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.arguments import checked
from drystone_filesystem._failures import StoreFailure
from drystone_filesystem.environment import TIMEOUT
from drystone_filesystem.spool import Sending, SpooledUpload
from drystone_filesystem.store import Stat, Store, Take, Upload

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ObjectStore", "client_options", "retry_options"]

_MD5: Final = re.compile(r'"?([0-9a-f]{32})"?')
_SAID: Final = re.compile(r"status code: (\d{3})")
_BY_CODE: Final = {
    "400": "INVALID_ARGUMENT",
    "401": "UNAUTHENTICATED",
    "403": "PERMISSION_DENIED",
    "404": "NOT_FOUND",
    "405": "UNIMPLEMENTED",
    "411": "INVALID_ARGUMENT",
    "416": "OUT_OF_RANGE",
}
_TOO_FAST: Final = ("429", "503")
_SLOW_DOWN: Final = 1.0
"""Seconds that a store is left alone that wants fewer requests: the client does not tell how many
it asks for."""
_PIECE: Final = 4 << 20
_UPLOADED: Final = 8 << 20
_AT_ONCE: Final = 8
_EXPIRED: Final = re.compile(
    "ExpiredToken|TokenRefreshRequired|InvalidToken|token expired|not valid in the specified time"
)
_SKEWED: Final = re.compile(
    "RequestTimeTooSkewed|[Rr]equest is not yet valid|Signature expired|Request date header too"
)
_TOO_LARGE: Final = re.compile("EntityTooLarge|larger than the maximum allowable size")
"""What S3 says of copies of more than 5 GiB by one request."""
_NOT_ITS_BYTES: Final = ("NOT_FOUND", "OUT_OF_RANGE", "INVALID_ARGUMENT")
"""What a store says of the first bytes of a directory, or of an empty object."""
_CHANGED: Final = "was changed while it was read: open it again"
_STATUS: Final = {
    "NotFoundError": "NOT_FOUND",
    "AlreadyExistsError": "ALREADY_EXISTS",
    "PermissionDeniedError": "PERMISSION_DENIED",
    "UnauthenticatedError": "UNAUTHENTICATED",
    "PreconditionError": "FAILED_PRECONDITION",
    "InvalidPathError": "INVALID_ARGUMENT",
    "NotSupportedError": "UNIMPLEMENTED",
    "UnknownConfigurationKeyError": "INVALID_ARGUMENT",
}


@checked
def client_options(*, http: bool) -> dict[str, Any]:
    """Options of the HTTP client; ``DRYSTONE_FILES_TIMEOUT`` is the seconds that nothing comes."""
    seconds = f"{TIMEOUT.value():g}"
    return {
        "allow_http": http,
        "connect_timeout": f"{seconds}s",
        "read_timeout": f"{seconds}s",
        "timeout": "1h",
    }


def retry_options() -> Any:
    """How the client itself tries again; reads are tried again here, part by part, as well."""
    from datetime import timedelta

    waits = {"init_backoff": timedelta(milliseconds=50), "max_backoff": timedelta(seconds=2)}
    return {
        "max_retries": 4,
        "retry_timeout": timedelta(seconds=60),
        "backoff": {**waits, "base": 2},
    }


def _failure(path: str, error: BaseException) -> StoreFailure:
    """What a failure of the client means."""
    name = "NotFoundError" if isinstance(error, FileNotFoundError) else type(error).__name__
    text = str(error).partition("\n\nDebug source:")[0]  # what follows repeats it, at length
    said = _SAID.search(text)
    status = _STATUS.get(name) or _BY_CODE.get(said[1] if said else "", "UNAVAILABLE")
    if _EXPIRED.search(text) or (said and said[1] == "401"):
        text = f"the credentials are not, or no longer, accepted: renew them; {text}"
        return StoreFailure("UNAUTHENTICATED", f"{path}: {text}", passes=True)
    if _SKEWED.search(text):
        now = datetime.now(UTC).isoformat(timespec="seconds")
        text = f"the store's clock is not this machine's, which says {now}: set it; {text}"
        return StoreFailure("UNAUTHENTICATED", f"{path}: {text}")
    if name == "PreconditionError":
        text = f"{_CHANGED}; {text}"
    after = _SLOW_DOWN if said is not None and said[1] in _TOO_FAST else 0.0
    return StoreFailure(status, f"{path}: {text}", after=after)


_asked_in: Final[list[int]] = []
"""The process whose threads serve all clients."""


def _check_process(path: str) -> None:
    """Refuse what a forked process would wait for without end: it lacks the client's threads."""
    if not _asked_in:
        _asked_in.append(os.getpid())
    if _asked_in[0] != os.getpid():
        raise StoreFailure(
            "FAILED_PRECONDITION",
            f"{path}: this process was forked from one that had asked an object store, and the "
            "client's threads are only there: start it by multiprocessing's spawn or forkserver, "
            "or ask object stores only after the fork",
        )


class ObjectStore(Store):
    """Buckets (the first part of a path) of objects, through a client that ``make`` makes of each.

    ``sums`` says that a plain entity tag of the store is the object's MD5 sum. Objects whose
    metadata say ``true`` under the name ``folder_metadata`` are markers of directories.
    """

    implicit_directories = True

    def __init__(
        self, make: Callable[[str], Any], *, sums: bool = False, folder_metadata: str = ""
    ) -> None:
        self._make, self._sums, self._folder_metadata = make, sums, folder_metadata
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def _made(self, bucket: str) -> Any:
        from obstore.exceptions import BaseError

        try:
            return self._make(bucket)
        except BaseError as error:
            raise _failure(bucket, error) from error

    @contextmanager
    def _asking(self, path: str) -> Iterator[None]:
        """Failures of the client become those of stores.

        One whose credentials expired is forgotten: the next is made with those that are there then.
        """
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            made = _failure(path, error)
            if made.passes:
                with self._lock:
                    self._clients.pop(path.partition("/")[0], None)
            raise made from error

    def _split(self, path: str) -> tuple[Any, str]:
        """The client of the path's bucket, and the key."""
        _check_process(path)
        bucket, _, key = path.partition("/")
        if not bucket:
            raise ValueError("a path must begin with a bucket, as scheme://bucket/path")
        with self._lock:
            if bucket not in self._clients:
                self._clients[bucket] = self._made(bucket)
            return self._clients[bucket], key

    def _object(self, path: str) -> tuple[Any, str]:
        """The same for what must be an object: asked to write or delete "", stores mean buckets."""
        client, key = self._split(path)
        if not key:
            raise IsADirectoryError(f"{path} is a bucket: a file has a name in it")
        return client, key

    def stat(self, path: str) -> Stat:
        """The object, else whether there are objects below it."""
        import obstore

        client, key = self._split(path)
        if key:
            try:
                with self._asking(path):
                    found = obstore.get(client, key, options={"head": True})
                return self._stat(found)
            except StoreFailure as error:
                if error.status_name != "NOT_FOUND":
                    raise
        with self._asking(path):
            below = next(iter(obstore.list(client, f"{key}/" if key else None, chunk_size=1)), None)
        if not below and key:
            raise FileNotFoundError(f"there is no object {path}, and none below it")
        return Stat(0, 0, True)

    def begin(self, path: str, size: int) -> tuple[Stat, bytes]:
        """By one request, which is all that a small object costs."""
        import obstore

        client, key = self._split(path)
        if key:
            try:
                with self._asking(path):
                    found = obstore.get(client, key, options={"range": (0, size)})
                    return self._stat(found), bytes(found.bytes())
            except StoreFailure as error:
                if error.status_name not in _NOT_ITS_BYTES:
                    raise
        return self.stat(path), b""

    def _stat(self, found: Any) -> Stat:
        meta = found.meta
        if self._folder_metadata and found.attributes.get(self._folder_metadata) == "true":
            return Stat(0, 0, True)
        tag = meta.get("e_tag") or ""
        plain = _MD5.fullmatch(tag) if self._sums else None
        time = int(meta["last_modified"].timestamp() * 1_000_000_000)
        return Stat(meta["size"], time, False, tag, f"md5:{plain[1]}" if plain else "")

    def children(self, path: str) -> list[str]:
        """The next parts of the keys below."""
        import obstore

        client, key = self._split(path)
        with self._asking(path):
            found = obstore.list_with_delimiter(client, f"{key}/" if key else None)
        keys = [*found["common_prefixes"], *(meta["path"] for meta in found["objects"])]
        below = (one.rstrip("/") for one in keys)  # other tools' marker of the directory is not
        return sorted({one.rsplit("/", 1)[-1] for one in below if one != key})

    def _get(self, path: str, offset: int, size: int, version: str) -> Any:
        """The answer to a ranged request, of the version that was opened."""
        import obstore

        client, key = self._split(path)
        options: Any = {"range": (offset, offset + size)}
        if version and not version.startswith("W/"):
            options["if_match"] = version
        found = obstore.get(client, key, options=options)
        if version and (found.meta["e_tag"] or "") != version:  # it knows no If-Match
            raise StoreFailure("FAILED_PRECONDITION", f"{path} {_CHANGED}")
        return found

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """One ranged request."""
        with self._asking(path):
            data = memoryview(self._get(path, offset, len(buffer), version).bytes())
        buffer[: len(data)] = data
        return len(data)

    def receive(self, path: str, offset: int, size: int, take: Take, version: str = "") -> None:
        """One ranged request, in pieces: each costs a change of threads."""
        with self._asking(path):
            found = self._get(path, offset, size, version)
            for piece in found.stream(min_chunk_size=_PIECE):
                if not take(memoryview(piece)):
                    return

    def write(self, path: str) -> Upload:
        """Uploaded in parts while it is written, if it is large; it shows when all are there."""
        import obstore

        self._object(path)

        def send(sending: Sending) -> None:
            client, key = self._split(path)
            with self._asking(path):
                if sending.size is not None and sending.size <= _UPLOADED:
                    obstore.put(client, key, sending.read(_UPLOADED))
                else:
                    parts = sending.pieces(_UPLOADED)
                    obstore.put(client, key, parts, chunk_size=_UPLOADED, max_concurrency=_AT_ONCE)

        # The client tries each request again; twice in all, for credentials that expired.
        return SpooledUpload(path, send, attempts=2)

    def make_directory(self, path: str) -> None:
        """Nothing to do: directories are prefixes."""
        self._split(path)

    def remove_directory(self, path: str) -> None:
        """Nothing to do for an empty one, which is not there, unless it has a marker."""
        if self.children(path):
            raise OSError(39, f"{path} is not empty")
        if self._folder_metadata and path.partition("/")[2]:
            with suppress(FileNotFoundError):
                if self.stat(path).is_directory:
                    self.delete(path)

    def delete(self, path: str) -> None:
        """The object."""
        import obstore

        client, key = self._object(path)
        with self._asking(path):
            obstore.delete(client, key)

    def copy(self, source: str, target: str) -> None:
        """Inside the store; between two buckets, and what is too large for it, by way of here."""
        import obstore

        (client, key), (other, new) = self._object(source), self._object(target)
        if client is other:
            try:
                with self._asking(source):
                    obstore.copy(client, key, new)
                return
            except StoreFailure as error:
                if not _TOO_LARGE.search(str(error)):
                    raise
        file = self.write(target)
        try:
            with self._asking(source):
                for piece in obstore.get(client, key).stream(min_chunk_size=_PIECE):
                    file.append(memoryview(piece))
        except BaseException:
            file.abandon()
            raise
        file.close()
