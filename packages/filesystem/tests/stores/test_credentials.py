"""Credentials by each store's own conventions: from whom they come, and that they show nowhere.

What gives them in a cloud is played by servers here; keys and tokens end at the store's own door,
which notes what it was shown. S2-filesystems.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from answering import Asked, answering

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem
from drystone_filesystem import gfile

KEY, SECRET, TOKEN = "TESTKEYID", "a-secret-that-must-not-show", "a-token-that-must-not-show"


def store(_asked: Asked) -> tuple[int, str, bytes]:
    """A store with one object everywhere."""
    return 206, "text/plain", b"bytes"


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No credentials but those of the test."""
    import os

    for name in tuple(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "STORAGE_EMULATOR")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    filesystem.cleanup()
    yield
    filesystem.cleanup()


def until() -> str:
    """An hour from now."""
    return (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(path: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> bytes:
    """The bytes at a path, with these variables set."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    data: bytes = gfile.GFile(path, "rb").read()
    return data


# ---- Amazon --------------------------------------------------------------------------------------


def test_a_web_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As pods of a cluster have it: a token in a file is shown to Amazon, over TLS or never."""
    (tmp_path / "token").write_text(TOKEN)
    with (
        answering(lambda _asked: (200, "text/xml", b"")) as (role, asked),
        pytest.raises(HostError) as caught,
    ):
        read(
            "s3://box/a", monkeypatch, AWS_ENDPOINT_URL="http://127.0.0.1:1",
            AWS_ENDPOINT_URL_STS=role, AWS_WEB_IDENTITY_TOKEN_FILE=str(tmp_path / "token"),
            AWS_ROLE_ARN="arn:aws:iam::1:role/reader", DRYSTONE_FILES_ATTEMPTS="1",
        )  # fmt: skip
    assert asked == []
    assert "POST" in caught.value.found
    assert TOKEN not in str(caught.value)


def test_what_a_container_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "token"))
    keys = {"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": TOKEN, "Expiration": until()}
    with (
        answering(lambda _asked: (200, "text/json", json.dumps(keys).encode())) as (agent, by),
        answering(store) as (address, shown),
    ):
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{agent}/keys")
        assert read("s3://box/a", monkeypatch, AWS_ENDPOINT_URL=address) == b"bytes"
    assert [one.right for one in by] == [TOKEN]
    assert f"Credential={KEY}/" in shown[0].right


def profile(folder: Path, text: str) -> None:
    """The shared file, with that as its only profile."""
    (folder / ".aws").mkdir()
    (folder / ".aws" / "config").write_text(f"[default]\n{text}\n")


def test_a_program_that_tells_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A profile whose keys somebody is asked for: boto3 does that, as for SSO and roles."""
    pytest.importorskip("boto3")
    keys = {"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Expiration": until()}
    (tmp_path / "keys.py").write_text(f"print({json.dumps(json.dumps(keys))})")
    profile(tmp_path, f"credential_process = {sys.executable} {tmp_path}/keys.py")
    with answering(store) as (address, shown):
        assert read("s3://box/a", monkeypatch, AWS_ENDPOINT_URL=address) == b"bytes"
    assert f"Credential={KEY}/" in shown[0].right


def test_a_profile_of_sso_that_nobody_signed_in_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("boto3")
    profile(tmp_path, "sso_start_url = https://x\nsso_region = x\nsso_account_id = 1\n"
            "sso_role_name = r")  # fmt: skip
    with answering(store) as (address, _), pytest.raises(HostError) as caught:
        read("s3://box/a", monkeypatch, AWS_ENDPOINT_URL=address)
    assert "SSO" in caught.value.found
    assert caught.value.status == "UNAUTHENTICATED"


def test_what_needs_boto3_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.setitem(sys.modules, "boto3.session", None)
    profile(tmp_path, "role_arn = arn:aws:iam::1:role/reader\nsource_profile = other")
    with pytest.raises(HostError, match=r"drystone-fs-s3\[profiles") as caught:
        read("s3://box/a", monkeypatch, AWS_ENDPOINT_URL="http://127.0.0.1:1")
    assert "(role_arn)" in caught.value.found
    assert caught.value.status == "UNAUTHENTICATED"


# ---- Google --------------------------------------------------------------------------------------


def key_of_a_service(folder: Path) -> Path:
    """A key as a service account has it, made now."""
    pem = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    key = {"type": "service_account", "client_email": "me@x.iam", "private_key": pem,
           "private_key_id": "1", "token_uri": "https://oauth2.googleapis.com/token"}  # fmt: skip
    (folder / "key.json").write_text(json.dumps(key))
    return folder / "key.json"


def test_a_service_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its key signs what it shows: no question is asked."""
    path = key_of_a_service(tmp_path)
    with answering(store) as (address, shown):
        data = read("gs://box/a", monkeypatch, GOOGLE_BASE_URL=address,
                    GOOGLE_APPLICATION_CREDENTIALS=str(path))  # fmt: skip
    assert data == b"bytes"
    assert shown[0].right.startswith("Bearer ey")


def external(folder: Path, token_url: str) -> Path:
    """Credentials of somebody whom Google trusts: a token in a file is changed for one of its."""
    (folder / "token").write_text("who-this-is")
    said: dict[str, Any] = {
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/x",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": token_url,
        "credential_source": {"file": str(folder / "token")},
    }
    (folder / "external.json").write_text(json.dumps(said))
    return folder / "external.json"


def test_an_external_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("google.auth")
    given = {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"}
    given["issued_token_type"] = "urn:ietf:params:oauth:token-type:access_token"
    sts = json.dumps(given).encode()
    with (
        answering(lambda _asked: (200, "text/json", sts)) as (role, asked),
        answering(store) as (address, shown),
    ):
        path = external(tmp_path, f"{role}/v1/token")
        data = read("gs://box/a", monkeypatch, GOOGLE_BASE_URL=address,
                    GOOGLE_APPLICATION_CREDENTIALS=str(path))  # fmt: skip
    assert data == b"bytes"
    assert b"who-this-is" in asked[0].body
    assert shown[0].right == f"Bearer {TOKEN}"


@pytest.mark.parametrize("text", ["", "{", '{"type": 1}', '{"private_key": "a-secret-line"}'])
def test_a_file_that_is_no_key(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key.json").write_text(text)
    with pytest.raises(HostError, match=r"key\.json") as caught:
        read("gs://box/a", monkeypatch, GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "key.json"))
    assert caught.value.status == "UNAUTHENTICATED"
    assert "a-secret-line" not in str(caught.value)
    assert "gcloud auth application-default login" in caught.value.found


def test_what_needs_google_auth_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    path = external(tmp_path, "http://127.0.0.1:1/token")
    with pytest.raises(HostError, match=r"drystone-fs-gcs\[external") as caught:
        read("gs://box/a", monkeypatch, GOOGLE_APPLICATION_CREDENTIALS=str(path))
    assert "'external_account'" in caught.value.found
