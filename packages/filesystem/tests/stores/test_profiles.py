"""Credentials of S3 from the shared files, and from the service of a machine in the cloud.

S2-filesystems.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ci.scripts.stores.seaweed import KEY, SECRET, seaweed
from drystone_base.host import filesystem
from drystone_filesystem import gfile
from drystone_fs_s3.profiles import profile


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials but those of the test."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    filesystem.cleanup()


def written(folder: Path, endpoint: str = "http://127.0.0.1:1") -> None:
    """The two files, with a profile named work."""
    (folder / "config").write_text(
        f"[profile work]\nregion = eu-west-1\nendpoint_url = {endpoint}\n[default]\nregion = x\n"
    )
    (folder / "credentials").write_text(
        f"[work]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    )


def test_a_profile_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert profile() == {}
    written(tmp_path)
    assert profile() == {"region": "x"}
    monkeypatch.setenv("AWS_PROFILE", "work")
    place = {"region": "eu-west-1", "endpoint": "http://127.0.0.1:1"}
    assert profile() == {**place, "access_key_id": KEY, "secret_access_key": SECRET}
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "another")
    assert profile() == place
    (tmp_path / "config").write_text("no section\n")
    assert profile() == {}


@contextmanager
def metadata_service() -> Iterator[tuple[str, list[str]]]:
    """What a machine in the cloud asks for its role's keys: the address, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
            keys = {"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "", "Code": "Success"}
            body = b"a-token"
            if self.command == "GET":
                body = b"role" if self.path.endswith("/") else b""
                body = body or json.dumps({**keys, "Expiration": until}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = _answer  # noqa: N815 - names of http.server

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_both_open_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with seaweed("box") as address:
        written(tmp_path, address)
        monkeypatch.setenv("AWS_PROFILE", "work")
        with gfile.GFile("s3://box/a", "w") as file:
            file.write("by a profile")
        filesystem.cleanup()
        (tmp_path / "credentials").unlink()
        with metadata_service() as (service, asked):
            monkeypatch.setenv("AWS_METADATA_ENDPOINT", service)
            assert gfile.GFile("s3://box/a").read() == "by a profile"
        assert any("security-credentials" in one for one in asked)
    filesystem.cleanup()
