"""Secrets of stores never show: not in errors, logs, or what is printed of objects.

S2-filesystems.
"""

from __future__ import annotations

import json
import logging
import string
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import BadRequest, HostError
from drystone_base.core.redact import redacted
from drystone_base.files.uris import as_path
from drystone_base.host import filesystem as host
from drystone_filesystem import Stat, Store, StoreFailure
from drystone_filesystem._failures import text_of

SECRETS = st.text(string.ascii_letters + string.digits + "+/=-_.~", min_size=16, max_size=64)
PLACES = st.sampled_from(
    [
        "https://box.example/key?X-Amz-Signature={}&x=1",
        "https://box.example/key?x=1&X-Amz-Security-Token={}",
        "https://storage.example/o?access_token={}",
        "http://node:9870/webhdfs/v1/a?op=OPEN&delegation={}&user.name=me",
        "https://me:{}@box.example/key",
        "AccountName=me;AccountKey={}",
        "401: Authorization: Bearer {}",
        "401: authorization: basic {}",
        "403: Authorization: SharedKey myaccount:{}",
        "400: <Code>InvalidToken</Code><Token-0>{}</Token-0>",
        "403: <CanonicalRequest>GET /a x-amz-security-token:{} host</CanonicalRequest>",
    ]
)
VARIABLES = (
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "WEBHDFS_DELEGATION_TOKEN",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_KEY",
)


class Telling(Store):
    """A store whose client says too much when it fails."""

    text = ""

    def stat(self, path: str) -> Stat:
        """Fails."""
        raise StoreFailure("PERMISSION_DENIED", f"{path}: {self.text}")

    def children(self, path: str) -> list[str]:
        """Fails."""
        raise StoreFailure("PERMISSION_DENIED", f"{path}: {self.text}")

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """Fails."""
        del offset, buffer, version
        raise StoreFailure("PERMISSION_DENIED", f"{path}: {self.text}")


@settings(max_examples=60)
@given(SECRETS, PLACES)
def test_what_looks_like_a_secret_is_masked(secret: str, place: str) -> None:
    shown = text_of(OSError(place.format(secret)))
    assert secret not in shown
    assert "***" in shown


@pytest.mark.parametrize(
    "place",
    [
        "//me:{}@box/a",
        "//box/a?X-Amz-Credential=me&X-Amz-Signature={}&x=1",
        "//box/a?x=1&sig={}",
        "//box/a?token={}",
    ],
)
def test_paths_are_named_without_what_lets_in(place: str, serve: Callable[[Store], str]) -> None:
    """In errors of the host, in those of files, and in what is printed of paths."""
    secret, scheme = "a-Secret.0123", serve(Telling()).partition("//")[0]
    path = scheme + place.format(secret)
    shown = [repr(as_path(path)), repr(BadRequest(f"no {path}", found=path, needed=path).fields())]
    for call in (host.stat, host.read_bytes, lambda path: as_path(path).stat()):
        with pytest.raises((HostError, OSError)) as caught:
            call(path)
        shown.append("".join(traceback.format_exception(caught.value)))
    shown.append(text_of(FileNotFoundError(f"there is no {place[2:]}".format(secret))))
    for text in shown:
        assert secret not in text
        assert "***" in text
    assert redacted("abfs://box@account.dfs.core.windows.net/a") == (
        "abfs://box@account.dfs.core.windows.net/a"
    )
    assert redacted("hdfs://node:9870/me@home?monkey=1") == "hdfs://node:9870/me@home?monkey=1"


@pytest.mark.parametrize("variable", VARIABLES)
def test_values_of_variables_are_masked(
    variable: str,
    serve: Callable[[Store], str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Wherever they stand in a text: errors with all they carry, logs, and reports."""
    secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPLE"
    monkeypatch.setenv(variable, secret)
    store = Telling()
    store.text = f"the client was made of {{{secret!r}: 1}} and {secret}"
    root = serve(store)
    with caplog.at_level(logging.DEBUG), pytest.raises(HostError) as caught:
        host.stat(f"{root}box/a")
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
    assert caught.value.status == "PERMISSION_DENIED"
    assert secret not in shown
    assert secret not in str(host.filesystems())
    assert "***" in caught.value.found


def test_a_key_in_json_is_masked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
    key = {"client_email": "me@example", "private_key": f"-----BEGIN-----\n{line}\n-----END-----"}
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(key))
    shown = text_of(OSError(f"bad key for me@example: {line}"))
    assert line not in shown
    assert "me@example" in shown


def test_a_connection_string_is_masked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    key, said = "YS1zZWNyZXQtdGhhdC1tdXN0==", "sv=2021&sig=c2lnbmF0dXJl%3D"
    text = f"AccountName=myaccount;AccountKey={key};SharedAccessSignature={said}"
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", text)
    shown = text_of(OSError(f"{text} of myaccount: {key} and {said}"))
    assert key not in shown
    assert said not in shown
    assert "myaccount" in shown


def test_settings_of_fsspec_are_masked_where_they_are_passwords(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"host": "yard.example", "username": "mason", "password": "granite-and-slate"}
    monkeypatch.setenv("FSSPEC_SFTP", json.dumps(said))
    shown = text_of(OSError(f"no login at yard.example for mason with {said['password']!r}"))
    assert shown == "OSError: no login at yard.example for mason with '***'"


@settings(max_examples=40)
@given(SECRETS)
def test_where_a_secret_is_may_be_told(secret: str) -> None:
    """Errors name the file; a key that stands in its place is masked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/a/folder/key.json")
        patch.setenv("HADOOP_TOKEN_FILE_LOCATION", "/a/folder/tokens")
        told = text_of(OSError("no key in /a/folder/key.json, no token in /a/folder/tokens"))
        assert told.count("/a/folder/") == 2
        patch.setenv("GOOGLE_APPLICATION_CREDENTIALS", json.dumps({"private_key": secret}))
        assert secret not in text_of(OSError(f"no file {secret}"))
