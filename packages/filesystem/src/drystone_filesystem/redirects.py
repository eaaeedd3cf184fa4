"""Redirects: a server leads a read of an op to nothing that the policy does not open to it."""

from __future__ import annotations

import posixpath
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from drystone_base.core.arguments import checked
from drystone_base.files.access import may_be_led_to
from drystone_filesystem._failures import StoreFailure

__all__ = ["check_plain", "redirected"]

_SCHEMES: Final = ("http", "https")


@checked
def redirected(path: str, url: str, location: str) -> str:
    """The URL that an answer to ``url`` leads on to, for the read of ``path``.

    Raises ``StoreFailure`` (``PERMISSION_DENIED``) where the op that reads may not read there.
    """
    try:
        target = urljoin(url, location)
        scheme, host, place, *_ = urlsplit(target)
    except ValueError as error:
        text = f"{path}: the server leads on to {location!r}, which is no URL: {error}"
        raise StoreFailure("FAILED_PRECONDITION", text) from error
    plain = f"{scheme}://{host}{posixpath.normpath(_as_servers_may(place) or '/')}"
    if scheme in _SCHEMES and may_be_led_to(plain) and may_be_led_to(target.partition("?")[0]):
        return target
    raise StoreFailure(
        "PERMISSION_DENIED",
        f"{path}: the server leads on to {target}, which the session's config does not open; "
        f"if you trust it: --allow-read {plain}",
    )


@checked
def check_plain(path: str) -> None:
    """Raise ``ValueError`` for a path that a server may take for one above it."""
    if any(part in (".", "..") for part in _as_servers_may(path).split("/")):
        raise ValueError(f"{path}: a part of a path must not be a dot, or two, encoded or not")


def _as_servers_may(path: str) -> str:
    """What some servers make of a path before they follow its dots.

    They decode what is percent-encoded, dots and slashes too, take backslashes for slashes, and
    leave out the parameters of a part, behind a semicolon.
    """
    parts = unquote(path).replace("\\", "/").split("/")
    return "/".join(part.partition(";")[0] for part in parts)
