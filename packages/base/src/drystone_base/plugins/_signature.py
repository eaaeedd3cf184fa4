"""The step that decides whether a library is trusted.

``libfoo.so.minisig`` beside the library is its signature. A signature that does not fit the file is
refused under every policy; one that is missing, or by a key that is not trusted here, where the
policy asks for trust.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings, trust_store
from drystone_base.plugins._record import Plugin, StepResult, failed, passed
from drystone_base.plugins.first_party import installed_by

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_base.plugins._minisign import Signature
    from drystone_base.plugins._trust import TrustedKey

__all__ = [
    "check_signature",
    "check_signed",
    "covering",
    "manifest_problem",
    "signature_file",
]

_MANIFEST: Final = "manifest"
_ENDING: Final = ".minisig"
_INSTALL: Final = "pip install pynacl"


def signature_file(path: str) -> Path:
    """Where the signature of a library is looked for."""
    from pathlib import Path

    return Path(path + _ENDING)


def check_signature(plugin: Plugin, settings: Settings) -> StepResult:
    """The step: the signature, its key, and what the policy makes of them.

    Of drystone's own libraries, which come without one, that they are as their wheels brought them.
    """
    if not os.path.isfile(plugin.path + _ENDING):
        owner = installed_by(plugin.path)
        if owner:
            text = f"it is part of {owner}, which is drystone's own"
            return passed("signature", text=text, trusted=True, first_party=owner)
    return check_signed(plugin, settings)


def check_signed(plugin: Plugin, settings: Settings) -> StepResult:
    """The same by the file beside the library alone, however it was installed."""
    file = plugin.path + _ENDING
    if not os.path.isfile(file):
        return _doubtful(plugin, settings, "plugin-unsigned", "it has no signature", file=file)
    return _check_file(plugin, settings, signature_file(plugin.path))


def _check_file(plugin: Plugin, settings: Settings, file: Path) -> StepResult:
    """The step for a library with a signature; what reads those is imported here."""
    from drystone_base.plugins import _minisign as minisign
    from drystone_base.plugins._trust import find_key

    try:
        signature = minisign.parse_signature(minisign.read_text(file))
    except (OSError, ValueError) as error:
        return failed("signature", _bad(plugin, f"{file.name}: {error}"))
    facts = {"key": signature.key_name, "comment": signature.comment, "file": str(file)}
    if not minisign.available():
        text = f"its signature cannot be checked: {_INSTALL}"
        return _doubtful(plugin, settings, "plugin-signature-unchecked", text, **facts)
    trusted = find_key(signature.number)
    if trusted is None or trusted.key is None:
        text = f"it is signed with key {signature.key_name}, which is not trusted here"
        return _doubtful(plugin, settings, "plugin-untrusted-key", text, **facts)
    return _verified(plugin, settings, signature, trusted, facts)


def _verified(
    plugin: Plugin,
    settings: Settings,
    signature: Signature,
    trusted: TrustedKey,
    facts: dict[str, Any],
) -> StepResult:
    from drystone_base.files.contents import read_message
    from drystone_base.plugins._trust import expired

    if trusted.revoked:
        return failed("signature", _revoked(plugin, trusted), **facts)
    try:
        message, plugin.digest = read_message(plugin.path, signature.hashed)
        problem = signature.verify(trusted.key, message) if trusted.key else "no key"
    except OSError as error:
        problem = f"{plugin.path} cannot be read: {error.strerror}"
    problem = problem or manifest_problem(plugin, signature)
    if problem:
        return failed("signature", _bad(plugin, problem), **facts)
    for what, moment in (
        ("its signature", signature.fields().get("expires", "")),
        (f"the key {signature.key_name}", trusted.expires),
    ):
        if expired(moment):
            text = f"{what} has expired ({moment})"
            return _doubtful(plugin, settings, "plugin-signature-expired", text, **facts)
    if plugin.manifest is not None and _MANIFEST not in signature.fields():
        text = "its signature does not cover its manifest"
        return _doubtful(plugin, settings, "plugin-manifest-unsigned", text, **facts)
    return passed("signature", trusted=True, **facts)


def covering(manifest: bytes) -> str:
    """The part of a trusted comment by which a signature covers a manifest, too."""
    import hashlib

    return f"{_MANIFEST}:{hashlib.sha256(manifest).hexdigest()}"


def manifest_problem(plugin: Plugin, signature: Signature) -> str:
    """What speaks against the manifest that was read, where the signature covers one; or ""."""
    covered = signature.fields().get(_MANIFEST)
    if covered is None:
        return ""
    if plugin.manifest is None:
        return "the manifest that it covers is not there"
    if covering(plugin.manifest) != f"{_MANIFEST}:{covered.lower()}":
        return "the manifest is not the one that was signed"
    return ""


def _doubtful(plugin: Plugin, settings: Settings, code: str, text: str, **facts: Any) -> StepResult:
    """It is not trusted: the policy decides. The text says what is missing."""
    developer = settings.policy == "default" and settings.developer_mode
    if settings.policy == "allow_unverified" or developer:
        reason = "developer mode" if developer else "policy allow_unverified"
        return passed(
            "signature", reason=code, text=f"{text}; loaded by {reason}", trusted=False, **facts
        )
    return failed("signature", _untrusted(plugin, settings, code, text), trusted=False, **facts)


def _untrusted(plugin: Plugin, settings: Settings, code: str, text: str) -> PluginError:
    remedies = {
        "plugin-manifest-unsigned": "sign both again: "
        f"drystone plugins sign {plugin.path} --key KEY; or remove the manifest",
        "plugin-untrusted-key": "if you trust its maker: drystone plugins trust KEY.pub",
        "plugin-signature-unchecked": _INSTALL,
        "plugin-signature-expired": f"install a newer release of {plugin.package or plugin.name}",
    }
    own = (
        "if it is yours: DRYSTONE_DEVELOPER_MODE=1, or sign it: drystone plugins sign; "
        "to load all that is unsigned: DRYSTONE_PLUGIN_POLICY=allow_unverified"
    )
    if settings.policy == "strict":
        own = f"if it is yours, sign it: drystone plugins sign {plugin.path} --key KEY"
    return plugin.refuse(
        "is not trusted",
        check=f"policy {settings.policy}: a trusted key has signed the library",
        found=text,
        needed=f"{signature_file(plugin.path).name} by a key in {trust_store()}",
        remedy=remedies.get(code, own),
        code=code,
        status="PERMISSION_DENIED",
    )


def _bad(plugin: Plugin, problem: str) -> PluginError:
    return plugin.refuse(
        "has a signature that does not fit it",
        check="a signature must be the file's own, under every policy",
        found=problem,
        needed=f"{signature_file(plugin.path).name} as its maker published it",
        remedy="do not use the file; install the plugin again from where its maker publishes it",
        code="plugin-bad-signature",
        status="PERMISSION_DENIED",
    )


def _revoked(plugin: Plugin, trusted: TrustedKey) -> PluginError:
    name = trusted.key.name if trusted.key else ""
    return plugin.refuse(
        "is signed with a revoked key",
        check="a revoked key vouches for nothing, under every policy",
        found=f"key {name}, revoked by {trusted.file}",
        needed="a signature by another key",
        remedy=f"install a newer release of {plugin.package or plugin.name}",
        code="plugin-key-revoked",
        status="PERMISSION_DENIED",
    )
