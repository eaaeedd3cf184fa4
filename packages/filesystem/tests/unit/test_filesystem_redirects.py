"""Where a server may lead the read of an op."""

from __future__ import annotations

import pytest

from drystone_base.files.access import ACTING, Access
from drystone_filesystem import StoreFailure, check_plain, http_seconds, redirected, retry_after

FIRST = "http://good/open/a"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("b", "http://good/open/b"),
        ("/open/c/../d?q=../e", "http://good/open/d?q=../e"),
        ("HTTP://good/open/x", "http://good/open/x"),
        ("/open/x;v=1/y", "http://good/open/x;v=1/y"),
    ],
)
def test_an_op_is_led_on_below_what_is_open(location: str, target: str) -> None:
    token = ACTING.set(Access(read=["http://good/open"]))
    try:
        assert redirected("p", FIRST, location) == target
    finally:
        ACTING.reset(token)


@pytest.mark.parametrize(
    "location",
    [
        "../secret", "/open/%2e%2e/secret", "/open/..%2fsecret", "/open/..\\secret",
        "/open/..%5csecret", "/open/..;/secret", "/open/..;a=b/secret", "/open/%2e.%3b/secret",
        "//evil/open/x", "http://good@evil/open/x", "http://good\\@evil/open", "//good:80/open/x",
        "https://good/open/x", "file:///etc/passwd", "data:text/plain,hi", "http://[bad/open",
        "http://good./open/x", "http://good/openx",
    ],
)  # fmt: skip
def test_an_op_is_led_nowhere_else(location: str) -> None:
    token = ACTING.set(Access(read=["http://good/open", "/etc"]))
    try:
        with pytest.raises(StoreFailure, match="p: the server leads on to"):
            redirected("p", FIRST, location)
    finally:
        ACTING.reset(token)


@pytest.mark.parametrize("path", ["h/..\\x", "h/%2e%2e;a/x", "h/.;/x", "h/..", "h/a%5c..%5cx"])
def test_paths_with_dots_for_some_servers_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match="must not be a dot"):
        check_plain(path)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7), (" 7 ", 7), ("0", 0), ("99999999999", 86400), ("-5", 0), ("soon", 0), ("", 0),
        ("1e9", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("Sun, 06 Nov 1994 08:00:00 GMT", 0),
        ("Sunday, 06-Nov-94 08:50:07 GMT", 30), ("Sun, 06 Nov 2094 08:49:37 GMT", 86400),
        ("\u00b2", 0), ("\u0667", 0), ("Sun, 99 Nov 1994", 0),
    ],
)  # fmt: skip
def test_a_server_is_left_alone_as_long_as_it_says(said: str, seconds: float) -> None:
    headers = {"retry-after": said, "date": "Sun, 06 Nov 1994 08:49:37 GMT"}
    assert retry_after(headers) == seconds
    assert retry_after({}) == http_seconds(None) == http_seconds("soon") == 0
