"""Whose storage a path of Azure is in: by the path, by variables, by a connection string.

S2-filesystems.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem
from drystone_filesystem import StoreFailure, gfile
from drystone_fs_azure.account import account, over_http

STRING = "AZURE_STORAGE_CONNECTION_STRING"
KEY = "YS1zZWNyZXQtdGhhdC1tdXN0LW5vdC1zaG93"
WINDOWS = "core.windows.net"


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No account but those of the test."""
    for name in tuple(os.environ):
        if name.startswith(("AZURE_", "IDENTITY_")):
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("variables", "stated"),
    [
        ({"AZURE_STORAGE_ACCOUNT": "mine"}, {"account_name": "mine"}),
        (
            {"AZURE_STORAGE_ACCOUNT_NAME": "mine", "AZURE_STORAGE_KEY": KEY},
            {"account_name": "mine", "account_key": KEY},
        ),
        (
            {"AZURE_STORAGE_ACCOUNT": "mine", "AZURE_STORAGE_SAS_TOKEN": "sig=x"},
            {"account_name": "mine", "sas_key": "sig=x"},
        ),
        (
            {"AZURE_STORAGE_ACCOUNT": "mine", "IDENTITY_ENDPOINT": "http://here/token"},
            {"account_name": "mine", "msi_endpoint": "http://here/token"},
        ),
        (
            {
                STRING: f"DefaultEndpointsProtocol=https;AccountName=mine;AccountKey={KEY}==;"
                "EndpointSuffix=core.chinacloudapi.cn",
                "AZURE_STORAGE_ACCOUNT": "another",
            },
            {
                "account_name": "mine",
                "account_key": f"{KEY}==",
                "endpoint": "https://mine.blob.core.chinacloudapi.cn",
            },
        ),
        (
            {STRING: "BlobEndpoint=https://mine.blob.x/;SharedAccessSignature=sv=1&sig=x%3D"},
            {"account_name": "mine", "sas_key": "sv=1&sig=x%3D", "endpoint": "https://mine.blob.x"},
        ),
        (
            {STRING: f"BlobEndpoint=http://127.0.0.1:1/mine;AccountKey={KEY}"},
            {"account_name": "mine", "account_key": KEY, "endpoint": "http://127.0.0.1:1/mine"},
        ),
        ({STRING: "UseDevelopmentStorage=true"}, {"use_emulator": True}),
    ],
)
def test_variables(
    variables: dict[str, str], stated: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert account("") == stated
    assert over_http(stated) == stated.get("endpoint", "").startswith("http:")


@pytest.mark.parametrize("part", ["dfs", "blob"])
def test_an_account_in_a_path(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = f"mine.{part}.{WINDOWS}"
    place = {"account_name": "mine", "endpoint": f"https://mine.blob.{WINDOWS}"}
    assert account(host) == place
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "another")  # a token or identity is of no account
    assert account(host) == place
    monkeypatch.setenv("AZURE_STORAGE_KEY", KEY)
    with pytest.raises(StoreFailure, match="the path is of storage account 'mine'") as caught:
        account(host)
    assert caught.value.status_name == "UNAUTHENTICATED"
    assert KEY not in str(caught.value)
    monkeypatch.setenv(STRING, f"AccountName=mine;AccountKey={KEY};BlobEndpoint=http://x/mine")
    assert account(host)["endpoint"] == "http://x/mine"


@pytest.mark.parametrize(
    "host",
    [
        f"evil.example/x.dfs.{WINDOWS}",
        f"mine.dfs.{WINDOWS}.evil.example",
        f"mine.dfs.{WINDOWS}:80",
        f"a/b.dfs.{WINDOWS}",
        "mine",
        f"Mine.dfs.{WINDOWS}\n",
    ],
)
def test_no_other_host_is_shown_a_token(host: str) -> None:
    with pytest.raises(StoreFailure, match="is no storage account") as caught:
        account(host)
    assert caught.value.status_name == "INVALID_ARGUMENT"


def test_no_account() -> None:
    with pytest.raises(StoreFailure, match="set AZURE_STORAGE_ACCOUNT_NAME or") as caught:
        account("")
    assert caught.value.status_name == "INVALID_ARGUMENT"


@pytest.mark.parametrize("text", ["x", ";", f"AccountKey={KEY}", f"AccountName=mine;{KEY}"])
def test_what_is_no_connection_string(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STRING, text)
    with pytest.raises(StoreFailure, match="is no connection string") as caught:
        account("")
    assert caught.value.status_name == "UNAUTHENTICATED"
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("path", ["abfs://box@mine.dfs.core.windows.net/a", "az://box/a"])
def test_an_error_says_whose_storage_it_is_and_no_secret(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account's name is an address, in each path and request: what opens it is masked."""
    signature = "c2lnbmF0dXJlLXRoYXQtbXVzdC1ub3Qtc2hvdw%3D%3D"
    said = f"AccountName=mine;AccountKey={KEY};SharedAccessSignature=sv=2021&sig={signature};"
    monkeypatch.setenv(STRING, f"{said}BlobEndpoint=http://127.0.0.1:1/mine")
    monkeypatch.setenv("DRYSTONE_FILES_ATTEMPTS", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    filesystem.cleanup()
    with pytest.raises(HostError) as caught:
        gfile.GFile(path, "rb").read()
    filesystem.cleanup()
    assert caught.value.status == "UNAVAILABLE"
    assert path in str(caught.value)
    assert "http://127.0.0.1:1/mine/" in str(caught.value)
    assert KEY not in str(caught.value)
    assert signature not in str(caught.value)
