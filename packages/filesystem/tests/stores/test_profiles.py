"""Credentials of S3 from the shared files, and from the service of a machine in the cloud.

S2-filesystems.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from answering import Asked, answering

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


def metadata(asked: Asked) -> tuple[int, str, bytes]:
    """What a machine in the cloud is told: a token, the name of its role, the keys of that."""
    if asked.method == "PUT":
        return 200, "text/plain", b"a-token"
    if asked.path.endswith("/"):
        return 200, "text/plain", b"role"
    until = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    keys = {"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "", "Code": "Success"}
    return 200, "text/json", json.dumps({**keys, "Expiration": until}).encode()


def test_both_open_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with seaweed("box") as address:
        written(tmp_path, address)
        monkeypatch.setenv("AWS_PROFILE", "work")
        with gfile.GFile("s3://box/a", "w") as file:
            file.write("by a profile")
        filesystem.cleanup()
        (tmp_path / "credentials").unlink()
        with answering(metadata) as (service, asked):
            monkeypatch.setenv("AWS_METADATA_ENDPOINT", service)
            assert gfile.GFile("s3://box/a").read() == "by a profile"
        assert any("security-credentials" in one.path for one in asked)
    filesystem.cleanup()
