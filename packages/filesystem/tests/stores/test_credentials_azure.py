"""Credentials of Azure: keys and signatures at Azurite, which checks them; tokens of servers here.

S2-filesystems.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module

import pytest
from answering import Asked, answering

from ci.scripts.stores.azurite import ACCOUNT, KEY, azurite, connection_string, missing
from drystone_base.core.errors import HostError
from drystone_base.host import filesystem
from drystone_filesystem import gfile

TOKEN = "a-token-that-must-not-show"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a server with a container and a blob."""
    if missing():
        pytest.skip(missing())
    with azurite("box") as found:
        blobs = import_module("azure.storage.blob")
        client = blobs.BlobServiceClient.from_connection_string(connection_string(found))
        client.get_blob_client("box", "a").upload_blob(b"bytes")
        marker = {"hdi_isfolder": "true"}
        client.get_blob_client("box", "folder").upload_blob(b"", metadata=marker)
        yield found


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No credentials but those of the test."""
    for name in tuple(os.environ):
        if name.startswith(("AZURE_", "IDENTITY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DRYSTONE_FILES_ATTEMPTS", "1")
    filesystem.cleanup()
    yield
    filesystem.cleanup()


def read(path: str, monkeypatch: pytest.MonkeyPatch, **variables: str) -> bytes:
    """The bytes at a path, with these variables set."""
    for name, value in variables.items():
        monkeypatch.setenv(f"AZURE_{name}", value)
    data: bytes = gfile.GFile(path, "rb").read()
    return data


def signature(*, hours: int) -> str:
    """A shared access signature that may read, until then."""
    blobs = import_module("azure.storage.blob")
    made: str = blobs.generate_account_sas(
        ACCOUNT, KEY, resource_types="sco", permission="rl",
        expiry=datetime.now(UTC) + timedelta(hours=hours),
    )  # fmt: skip
    return made


@pytest.mark.parametrize("scheme", ["az", "abfs", "abfss"])
def test_a_key(scheme: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    who = {"STORAGE_ACCOUNT": ACCOUNT, "STORAGE_KEY": KEY}
    place = f"{address}/{ACCOUNT}"
    assert read(f"{scheme}://box/a", monkeypatch, STORAGE_ENDPOINT=place, **who) == b"bytes"


def test_a_connection_string(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, said = f"abfs://box@{ACCOUNT}.dfs.core.windows.net/a", connection_string(address)
    assert read(path, monkeypatch, STORAGE_CONNECTION_STRING=said) == b"bytes"


@pytest.mark.parametrize("mark", ["", "?"])
def test_a_signature(mark: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    who = {"STORAGE_ACCOUNT": ACCOUNT, "STORAGE_SAS_TOKEN": mark + signature(hours=1)}
    place = f"{address}/{ACCOUNT}"
    assert read("az://box/a", monkeypatch, STORAGE_ENDPOINT=place, **who) == b"bytes"
    with pytest.raises(HostError) as caught, gfile.GFile("az://box/b", "wb") as file:
        file.write(b"what may not be written")
    assert caught.value.status == "PERMISSION_DENIED"


def test_what_is_refused_shows_no_secret(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, late = f"{address}/{ACCOUNT}", signature(hours=-1)
    with pytest.raises(HostError) as caught:
        read("az://box/a", monkeypatch, STORAGE_ACCOUNT=ACCOUNT, STORAGE_SAS_TOKEN=late,
             STORAGE_ENDPOINT=place)  # fmt: skip
    assert caught.value.status == "PERMISSION_DENIED"
    assert late.rpartition("sig=")[2] not in str(caught.value)
    filesystem.cleanup()
    with pytest.raises(HostError) as caught:
        read("az://box/a", monkeypatch, STORAGE_CONNECTION_STRING=f"{place};AccountKey={KEY}")
    assert caught.value.status == "UNAUTHENTICATED"
    assert KEY not in str(caught.value)


def test_a_wrong_key(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says whose storage it is, which is no secret, and nothing of the key."""
    wrong = base64.b64encode(b"a-key-of-another-account").decode()
    said = connection_string(address).replace(KEY, wrong)
    with pytest.raises(HostError, match=f"{ACCOUNT}/box/a") as caught:
        read("az://box/a", monkeypatch, STORAGE_CONNECTION_STRING=said)
    assert caught.value.status == "PERMISSION_DENIED"
    assert wrong not in str(caught.value)
    assert "SharedKey " not in str(caught.value)


def test_a_container_that_is_not_there(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HostError, match="container") as caught:
        read("az://none/a", monkeypatch, STORAGE_CONNECTION_STRING=connection_string(address))
    assert caught.value.status == "NOT_FOUND"


def test_markers_of_directories(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Hadoop leaves them, and accounts with hierarchical namespaces show them."""
    said = connection_string(address)
    assert read("az://box/a", monkeypatch, STORAGE_CONNECTION_STRING=said) == b"bytes"
    assert gfile.isdir("az://box/folder")
    assert gfile.listdir("az://box/folder") == []
    gfile.rmtree("az://box/folder")
    assert not gfile.exists("az://box/folder")


def test_a_managed_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives tokens is asked, and the store is shown what it gave."""

    def gives(_: Asked) -> tuple[int, str, bytes]:
        until = str(int((datetime.now(UTC) + timedelta(hours=1)).timestamp()))
        said = {"access_token": TOKEN, "expires_on": until, "token_type": "Bearer"}
        return 200, "text/json", json.dumps({**said, "resource": "x"}).encode()

    with (
        answering(gives) as (giver, asked),
        answering(lambda _: (206, "text/plain", b"bytes")) as (place, shown),
    ):
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{giver}/token")
        data = read("az://box/a", monkeypatch, STORAGE_ACCOUNT="mine", STORAGE_ENDPOINT=place)
    assert data == b"bytes"
    assert asked[0].path.startswith("/token?")
    assert shown[0].right == f"Bearer {TOKEN}"


def test_a_service_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its secret is shown over TLS or never."""
    with (
        answering(lambda _: (200, "text/json", b"{}")) as (giver, asked),
        pytest.raises(HostError) as caught,
    ):
        read(
            "az://box/a", monkeypatch, STORAGE_ACCOUNT="mine", TENANT_ID="t", CLIENT_ID="c",
            CLIENT_SECRET="a-secret-that-must-not-show", AUTHORITY_HOST=giver,
        )  # fmt: skip
    assert asked == []
    assert "a-secret-that-must-not-show" not in str(caught.value)
