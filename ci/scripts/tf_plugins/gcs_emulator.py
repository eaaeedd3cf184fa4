"""A Google Cloud Storage of this machine only: the requests that the GCS filesystem plugin makes.

Buckets and objects are kept in memory. Metadata, listing, copies and uploads come by the JSON
interface, downloads and markers of directories by the XML interface, which is what a C++ client
uses unless it is told otherwise. A client that speaks XML alone finds listing, copies, deletion and
uploads in parts there, too.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlencode, urlsplit
from xml.sax.saxutils import escape

from ci.scripts.project import ROOT

__all__ = ["Storage", "apart", "served"]

_PAGE: Final = 1000


@dataclass(frozen=True)
class Object:
    """One version of an object."""

    data: bytes
    generation: int
    time: str
    parts: bool = False

    @cached_property
    def digest(self) -> bytes:
        """The MD5 sum."""
        return hashlib.md5(self.data, usedforsecurity=False).digest()

    @property
    def md5(self) -> str:
        """The MD5 sum as the interfaces write it."""
        return base64.b64encode(self.digest).decode()

    @cached_property
    def crc32c(self) -> str:
        """The other sum that they write."""
        from google_crc32c import value

        return base64.b64encode(value(self.data).to_bytes(4, "big")).decode()

    @property
    def hashes(self) -> str:
        """Both, as a header."""
        return f"crc32c={self.crc32c},md5={self.md5}"

    @property
    def tag(self) -> str:
        """The entity tag of the XML interface: the MD5 sum, but of objects uploaded in parts."""
        return f'"{self.generation}-parts"' if self.parts else f'"{self.digest.hex()}"'


@dataclass
class Storage:
    """Buckets of objects, and the requests that were served."""

    buckets: dict[str, dict[str, Object]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    generation: int = 0
    uploads: dict[str, dict[int, bytes]] = field(default_factory=dict)

    def put(self, bucket: str, name: str, data: bytes, *, parts: bool = False) -> Object:
        """Store a new version."""
        self.generation += 1
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        made = self.buckets[bucket][name] = Object(data, self.generation, time, parts)
        return made


class Request(NamedTuple):
    """What a handler needs to know."""

    storage: Storage
    query: dict[str, str]
    headers: Any
    body: bytes


class Answer(NamedTuple):
    """Status, body and headers of a response."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = MappingProxyType({})


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        error = {"code": status, "message": text}
        self.answer = Answer(status, json.dumps({"error": error}).encode(), _JSON)


_JSON: Final = {"Content-Type": "application/json"}
_XML: Final = {"Content-Type": "application/xml"}
_Handler = Callable[..., Answer]
_ROUTES: Final[list[tuple[str, re.Pattern[str], _Handler]]] = []


def _route(method: str, pattern: str) -> Callable[[_Handler], _Handler]:
    """Serve paths that match: ``{b}`` is a part, ``{b*}`` all that is left, percent-decoded."""
    pattern = re.sub(r"\{(\w)\*\}", r"(?P<\1>.+)", pattern)
    compiled = re.compile(re.sub(r"\{(\w)\}", r"(?P<\1>[^/]+)", pattern))

    def add(handler: _Handler) -> _Handler:
        _ROUTES.append((method, compiled, handler))
        return handler

    return add


def _bucket(request: Request, name: str) -> dict[str, Object]:
    if name not in request.storage.buckets:
        raise Refused(404, f"there is no bucket {name}")
    return request.storage.buckets[name]


def _object(request: Request, bucket: str, name: str) -> Object:
    objects = _bucket(request, bucket)
    if name not in objects:
        raise Refused(404, f"there is no object {bucket}/{name}")
    return objects[name]


def _resource(bucket: str, name: str, item: Object) -> dict[str, Any]:
    return {
        "kind": "storage#object",
        "name": name,
        "bucket": bucket,
        "size": str(len(item.data)),
        "generation": str(item.generation),
        "metageneration": "1",
        "md5Hash": item.md5,
        "timeCreated": item.time,
        "updated": item.time,
        "timeStorageClassUpdated": item.time,
        "storageClass": "STANDARD",
    }


def _json(value: dict[str, Any]) -> Answer:
    return Answer(200, json.dumps(value).encode(), _JSON)


def _content(request: Request, item: Object) -> Answer:
    """The bytes of an object, or the range that was asked for."""
    headers = {
        "Content-Type": "application/octet-stream",
        "x-goog-generation": str(item.generation),
        "x-goog-stored-content-length": str(len(item.data)),
        "ETag": item.tag,
        "x-goog-hash": item.hashes,
        "Last-Modified": format_datetime(datetime.fromisoformat(item.time), usegmt=True),
    }
    if request.headers.get("If-Match") not in (None, headers["ETag"]):
        return Answer(412, b"", headers)
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("Range") or "")
    if wanted is None:
        return Answer(200, item.data, headers)
    first, size = int(wanted[1]), len(item.data)
    if first >= size:
        return Answer(416, b"", {**headers, "Content-Range": f"bytes */{size}"})
    last = min(int(wanted[2] or size), size - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Answer(206, item.data[first : last + 1], headers)


def _store(request: Request, bucket: str, name: str, data: bytes, expected: str | None) -> Object:
    """Store unless a version is there that was not expected (0: none may be)."""
    objects = _bucket(request, bucket)
    present = objects[name].generation if name in objects else 0
    if expected is not None and int(expected) != present:
        raise Refused(412, f"{bucket}/{name} has generation {present}, not {expected}")
    return request.storage.put(bucket, name, data)


@_route("POST", "/storage/v1/b")
def _create_bucket(request: Request) -> Answer:
    name = str(json.loads(request.body)["name"])
    if name in request.storage.buckets:
        raise Refused(409, f"there is a bucket {name}")
    request.storage.buckets[name] = {}
    return _json({"kind": "storage#bucket", "name": name})


@_route("GET", "/storage/v1/b/{b}")
def _get_bucket(request: Request, b: str) -> Answer:
    _bucket(request, b)
    return _json({"kind": "storage#bucket", "name": b, "location": "LOCAL"})


@_route("GET", "/storage/v1/b/{b}/o")
def _list_objects(request: Request, b: str) -> Answer:
    prefix, delimiter = request.query.get("prefix", ""), request.query.get("delimiter", "")
    found: dict[str, dict[str, Any] | None] = {}
    for name, item in _bucket(request, b).items():
        if not name.startswith(prefix):
            continue
        head, mark, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
        if mark:
            found[prefix + head + mark] = None
        else:
            found[name] = _resource(b, name, item)
    keys = sorted(key for key in found if key > request.query.get("pageToken", ""))
    page = keys[: int(request.query.get("maxResults", _PAGE))]
    answer: dict[str, Any] = {
        "kind": "storage#objects",
        "items": [found[key] for key in page if found[key] is not None],
        "prefixes": [key for key in page if found[key] is None],
    }
    if len(page) < len(keys):
        answer["nextPageToken"] = page[-1]
    return _json(answer)


@_route("GET", "/storage/v1/b/{b}/o/{o}")
def _get_object(request: Request, b: str, o: str) -> Answer:
    item = _object(request, b, o)
    return _content(request, item) if "alt" in request.query else _json(_resource(b, o, item))


@_route("GET", "/download/storage/v1/b/{b}/o/{o}")
def _get_media(request: Request, b: str, o: str) -> Answer:
    return _content(request, _object(request, b, o))


@_route("DELETE", "/storage/v1/b/{b}/o/{o}")
def _delete_object(request: Request, b: str, o: str) -> Answer:
    _object(request, b, o)
    del request.storage.buckets[b][o]
    return Answer(204)


@_route("POST", "/storage/v1/b/{b}/o/{o}/rewriteTo/b/{c}/o/{p}")
def _rewrite(request: Request, b: str, o: str, c: str, p: str) -> Answer:
    data = _object(request, b, o).data
    made = _store(request, c, p, data, request.query.get("ifGenerationMatch"))
    size = str(len(data))
    done = {"kind": "storage#rewriteResponse", "done": True, "resource": _resource(c, p, made)}
    return _json({**done, "objectSize": size, "totalBytesRewritten": size})


@_route("POST", "/storage/v1/b/{b}/o/{o}/compose")
def _compose(request: Request, b: str, o: str) -> Answer:
    names = [source["name"] for source in json.loads(request.body)["sourceObjects"]]
    data = b"".join(_object(request, b, name).data for name in names)
    made = _store(request, b, o, data, request.query.get("ifGenerationMatch"))
    return _json(_resource(b, o, made))


@_route("POST", "/upload/storage/v1/b/{b}/o")
def _upload(request: Request, b: str) -> Answer:
    kind, data = request.query.get("uploadType"), request.body
    name = request.query.get("name", "")
    if kind == "multipart":
        described, data = _parts(request)
        name = name or str(described.get("name", ""))
    elif kind == "resumable":
        return _resume(request, b, name)
    elif kind != "media":
        raise Refused(400, f"uploads of type {kind} are not served here")
    made = _store(request, b, name, data, request.query.get("ifGenerationMatch"))
    return _json(_resource(b, name, made))


def _resume(request: Request, bucket: str, name: str) -> Answer:
    """Begin an upload of pieces that follow each other, or take the next piece."""
    uploads, number = request.storage.uploads, request.query.get("upload_id")
    if number is None:
        number = f"upload-{len(request.storage.requests)}"
        uploads[number] = {}
        name = name or str(json.loads(request.body or b"{}").get("name", ""))
        query = urlencode({"uploadType": "resumable", "upload_id": number, "name": name})
        place = f"http://{request.headers['Host']}/upload/storage/v1/b/{bucket}/o?{query}"
        return Answer(200, b"", {"Location": place})
    said = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", request.headers.get("Content-Range") or "")
    pieces = uploads[number]
    pieces[int(said[1]) if said else 0] = request.body
    if said and said[3] != str(int(said[2]) + 1):
        return Answer(308, b"", {"Range": f"bytes=0-{said[2]}"})
    data = b"".join(pieces[place] for place in sorted(uploads.pop(number)))
    made = _store(request, bucket, name, data, request.query.get("ifGenerationMatch"))
    return _json(_resource(bucket, name, made))


@_route("PUT", "/upload/storage/v1/b/{b}/o")
def _upload_piece(request: Request, b: str) -> Answer:
    return _resume(request, b, request.query.get("name", ""))


def _parts(request: Request) -> tuple[dict[str, Any], bytes]:
    """The description and the bytes of an upload in two parts."""
    boundary = re.search(r"boundary=\"?([^\";]+)", request.headers.get("Content-Type") or "")
    if boundary is None:
        raise Refused(400, "an upload in parts without a boundary")
    line = b"--" + boundary[1].encode()
    head = request.body.split(line, 2)
    if len(head) != 3:
        raise Refused(400, "an upload in parts without two parts")
    end = head[2].rindex(line + b"--")
    end -= 2 if head[2][end - 2 : end] == b"\r\n" else 1
    described, data = (re.split(rb"\r?\n\r?\n", part, maxsplit=1)[-1]
                       for part in (head[1], head[2][:end]))  # fmt: skip
    return json.loads(described or b"{}"), data


@_route("GET", "/{b}")
def _list_as_xml(request: Request, b: str) -> Answer:
    """Keys below a prefix, and with a delimiter the prefixes that follow; all on one page."""
    prefix, delimiter = request.query.get("prefix", ""), request.query.get("delimiter", "")
    items, prefixes = [], set()
    for name, item in sorted(_bucket(request, b).items()):
        rest = name.removeprefix(prefix)
        if not name.startswith(prefix):
            continue
        if delimiter and delimiter in rest:
            prefixes.add(prefix + rest.partition(delimiter)[0] + delimiter)
            continue
        items.append(
            f"<Contents><Key>{escape(name)}</Key><LastModified>{item.time}</LastModified>"
            f"<ETag>{item.tag}</ETag><Size>{len(item.data)}</Size></Contents>"
        )
    items += [
        f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
        for one in sorted(prefixes)
    ]
    body = f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(items)}</ListBucketResult>"
    return Answer(200, body.encode(), _XML)


@_route("DELETE", "/{b}/{o*}")
def _delete_as_xml(request: Request, b: str, o: str) -> Answer:
    if "uploadId" in request.query:
        request.storage.uploads.pop(request.query["uploadId"], None)
        return Answer(204)
    _object(request, b, o)
    del request.storage.buckets[b][o]
    return Answer(204)


@_route("GET", "/{b}/{o*}")
def _download(request: Request, b: str, o: str) -> Answer:
    return _content(request, _object(request, b, o))


@_route("POST", "/{b}/{o*}")
def _upload_in_parts(request: Request, b: str, o: str) -> Answer:
    """Begin an upload in parts, or make its parts an object."""
    uploads = request.storage.uploads
    if "uploads" in request.query:
        _bucket(request, b)
        number = f"upload-{len(request.storage.requests)}"
        uploads[number] = {}
        name = "InitiateMultipartUploadResult"
        inside = f"<Bucket>{b}</Bucket><Key>{escape(o)}</Key><UploadId>{number}</UploadId>"
        return Answer(200, f"<{name}>{inside}</{name}>".encode(), _XML)
    parts = uploads.pop(request.query.get("uploadId", ""), None)
    if parts is None:
        raise Refused(404, "there is no such upload")
    wanted = [int(n) for n in re.findall(rb"<PartNumber>(\d+)</PartNumber>", request.body)]
    data = b"".join(parts[n] for n in wanted)
    made = request.storage.put(b, o, data, parts=True)
    name = "CompleteMultipartUploadResult"
    body = f"<{name}><Bucket>{b}</Bucket><Key>{escape(o)}</Key><ETag>{made.tag}</ETag></{name}>"
    return Answer(200, body.encode(), {**_XML, "x-goog-generation": str(made.generation)})


@_route("PUT", "/{b}/{o*}")
def _put(request: Request, b: str, o: str) -> Answer:
    upload = request.query.get("uploadId")
    if upload is not None:
        if upload not in request.storage.uploads:
            raise Refused(404, "there is no such upload")
        request.storage.uploads[upload][int(request.query["partNumber"])] = request.body
        digest = hashlib.md5(request.body, usedforsecurity=False).hexdigest()
        return Answer(200, b"", {"ETag": f'"{digest}"'})
    expected = request.headers.get("x-goog-if-generation-match")
    source = unquote(request.headers.get("x-goog-copy-source") or "").lstrip("/").partition("/")
    data = _object(request, source[0], source[2]).data if source[2] else request.body
    made = _store(request, b, o, data, expected)
    headers = {
        "x-goog-generation": str(made.generation),
        "x-goog-hash": made.hashes,
        "ETag": made.tag,
    }
    return Answer(200, b"", headers)


class _Connection(BaseHTTPRequestHandler):
    """Finds the route of a request and writes the answer."""

    protocol_version = "HTTP/1.1"
    wbufsize, disable_nagle_algorithm = -1, True  # an answer is sent at once, not in two halves
    storage: ClassVar[Storage]

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are kept in the storage and not printed."""

    def _serve(self) -> None:
        url = urlsplit(self.path)
        found = parse_qs(url.query, keep_blank_values=True)
        query = {key: values[0] for key, values in found.items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.storage, query, self.headers, body)
        with self.storage.lock:
            self.storage.requests.append(f"{self.command} {self.path}")
            answer = self._answer(request, url.path)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _answer(self, request: Request, path: str) -> Answer:
        for method, pattern, handler in _ROUTES:
            match = pattern.fullmatch(path)
            if method != self.command.replace("HEAD", "GET") or match is None:
                continue
            try:
                return handler(request, **{k: unquote(v) for k, v in match.groupdict().items()})
            except Refused as refused:
                return refused.answer
            except (KeyError, ValueError) as error:
                return Refused(400, f"a request that cannot be read: {error}").answer
        return Refused(404, f"{self.command} {path} is not served here").answer

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - names of http.server


@contextmanager
def served(*buckets: str) -> Iterator[tuple[str, Storage]]:
    """A server on a free port of this machine: its address, and what it stores."""
    storage = Storage({bucket: {} for bucket in buckets})
    connection = type("_Served", (_Connection,), {"storage": storage})
    server = ThreadingHTTPServer(("127.0.0.1", 0), connection)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", storage
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def apart(*buckets: str) -> Iterator[str]:
    """The same in a process of its own, for measuring: its address."""
    command = [sys.executable, "-m", "ci.scripts.tf_plugins.gcs_emulator", *buckets]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


if __name__ == "__main__":
    with served(*sys.argv[1:]) as (_address, _):
        print(_address, flush=True)
        sys.stdin.read()
