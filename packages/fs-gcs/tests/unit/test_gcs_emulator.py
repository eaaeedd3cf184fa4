"""Where an emulator of Google's storage is. S2-filesystems."""

from __future__ import annotations

import pytest

from drystone_fs_gcs import _client


@pytest.mark.parametrize("said", ["http://127.0.0.1:4443", "127.0.0.1:4443"])
def test_with_and_without_a_scheme(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", said)
    client = _client("box")
    assert '"http://127.0.0.1:4443"' in client.config["service_account_key"]
    assert client.client_options["allow_http"] in (True, "true")


def test_an_empty_variable_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_SKIP_SIGNATURE", "true")
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "")
    assert "service_account_key" not in (_client("box").config or {})
