"""fsspec's own filesystem of the web: its redirects are held to what the policy opens.

What an op of a model reads may be led only below what the session's config opens to it, as by our
own reader of the web (see ``redirects``). Its sessions are aiohttp's, which tell each redirect
before they follow it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from drystone_filesystem._failures import StoreFailure
from drystone_filesystem._fsspec_kinds import behind, is_one_of, own, protocols
from drystone_filesystem.answers import retry_after
from drystone_filesystem.redirects import redirected

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

__all__ = ["hold_redirects", "reason", "web_scheme"]

_WEB: Final = ("http", "https")
_HELD: Final = "_drystone_redirects"
_TOO_MANY: Final = 429
_OWN_FAULT: Final = 500


def web_scheme(filesystem: AbstractFileSystem, scheme: str) -> str:
    """How URLs of the web's filesystem begin that serves ``scheme``; "" of another filesystem.

    It takes whole URLs. What is made for a protocol, as caches are, says which; else it is https.
    """
    if not is_one_of(filesystem, *_WEB):
        return ""
    made_for = (own(one).get("target_protocol") for one in behind(filesystem))
    return next((name for name in (scheme, *made_for) if name in _WEB), _WEB[-1])


def hold_redirects(filesystem: AbstractFileSystem) -> None:
    """Have sessions that it makes, or has made, ask before they follow a redirect.

    So do those of filesystems that it is a folder, a cache or an archive of. Programs that use the
    same filesystem by themselves are led on as before.
    """
    for one in behind(filesystem):
        attributes = own(one)
        make = attributes.get("get_client")
        if make is None or _HELD in attributes or not set(_WEB).intersection(protocols(one)):
            continue
        attributes[_HELD] = True
        attributes["get_client"] = _asking(make)
        if attributes.get("_session") is not None:
            _ask(attributes["_session"])


def reason(error: FileNotFoundError) -> StoreFailure | None:
    """What was wrong where fsspec says of anything that there is no such file; None for that.

    Servers that are busy or cannot be reached may answer later, after what Retry-After asks for.
    """
    cause: Any = error.__cause__
    if cause is None or isinstance(cause, StoreFailure):
        return cause
    if type(cause).__module__.partition(".")[0] != "aiohttp":
        return None
    status = getattr(cause, "status", None)
    if status is None:
        return StoreFailure("UNAVAILABLE", f"{error}: {cause}", passes=True)
    if status == _TOO_MANY or status >= _OWN_FAULT:
        after = retry_after(getattr(cause, "headers", None) or {})
        text = f"{error}: the server answered {status}"
        return StoreFailure("UNAVAILABLE", text, passes=True, after=after)
    return None


def _asking(make: Any) -> Any:
    """What makes sessions, so that they ask."""

    async def get_client(**options: Any) -> Any:
        return _ask(await make(**options))

    return get_client


def _ask(session: Any) -> Any:
    import aiohttp

    config = aiohttp.TraceConfig()
    config.on_request_redirect.append(_on_redirect)
    config.freeze()
    session.trace_configs.append(config)
    return session


async def _on_redirect(_session: Any, _context: Any, said: Any) -> None:
    """Raise ``StoreFailure`` where the op that reads may not read there."""
    headers, url = said.response.headers, str(said.url)
    redirected(url, url, headers.get("Location") or headers.get("URI") or "")
