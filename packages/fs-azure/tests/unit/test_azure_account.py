"""Whose storage a path of Azure is in: by the path, by variables, by a connection string.

S2-filesystems.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from drystone_filesystem import StoreFailure
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
