"""Signatures: minisign's format both ways, trust, and what each policy makes of doubt."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_files import OPEN, plugin

from drystone_base.core.errors import DrystoneError
from drystone_base.core.plugin_settings import Settings
from drystone_base.files.contents import read_message
from drystone_base.plugins import _minisign as minisign
from drystone_base.plugins import _trust
from drystone_base.plugins._manifest import take_manifest
from drystone_base.plugins._record import Plugin, StepResult
from drystone_base.plugins._signature import check_signature, covering

DEVELOPER = Settings(developer_mode=True)
STRICT = Settings(policy="strict", developer_mode=True)

# A key and two signatures of the bytes "test" that minisign's author publishes with his libraries.
PUBLISHED_KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
PUBLISHED = {
    False: "untrusted comment: signature from minisign secret key\n"
    "RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSS"
    "bXxwA=\ntrusted comment: timestamp:1555779966\tfile:test\n"
    "QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==\n",
    True: "untrusted comment: signature from minisign secret key\n"
    "RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8K"
    "LzZwo=\ntrusted comment: timestamp:1556193335\tfile:test\n"
    "y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==\n",
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "store"
    monkeypatch.setenv("DRYSTONE_TRUST_STORE", str(folder))
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "libcobble.so"
    file.write_bytes(b"not really a library" * 1000)
    return file


def sign(
    library: Path, key: minisign.SecretKey, comment: str = "file:libcobble.so", **options: bool
) -> minisign.Signature:
    made = minisign.sign(key, library, comment, **options)
    library.with_name(library.name + ".minisig").write_text(made.text("a test"), encoding="utf-8")
    return made


def error(result: StepResult) -> DrystoneError:
    assert result.state == "failed"
    assert result.error is not None
    assert result.reason == result.error.code
    return result.error


@pytest.mark.parametrize("hashed", [False, True])
def test_signatures_that_minisign_made(tmp_path: Path, hashed: bool) -> None:
    key = minisign.parse_public_key(PUBLISHED_KEY)
    assert key.name == "E7620F1842B4E81F"
    file = tmp_path / "test"
    file.write_bytes(b"test")
    signature = minisign.parse_signature(PUBLISHED[hashed])
    assert signature.hashed == hashed
    assert signature.verify(key, read_message(file, hashed)[0]) == ""
    assert signature.fields()["file"] == "test"
    file.write_bytes(b"Test")
    assert (
        signature.verify(key, read_message(file, hashed)[0])
        == "the file is not the one that was signed"
    )


@pytest.mark.parametrize("hashed", [False, True])
def test_sign_and_verify(library: Path, hashed: bool) -> None:
    key = minisign.generate()
    made = sign(library, key, hashed=hashed)
    text = library.with_name(library.name + ".minisig").read_text(encoding="utf-8")
    assert minisign.parse_signature(text) == made
    message, _ = read_message(library, hashed)
    assert made.verify(key.public(), message) == ""
    other = minisign.generate().public()
    assert "it was made with key" in made.verify(other, message)


def test_a_changed_comment_is_noticed(library: Path) -> None:
    key = minisign.generate()
    made = sign(library, key, "expires:2020-01-01")
    forged = minisign.Signature(
        made.hashed, made.number, made.signature, "expires:2090-01-01", made.global_signature
    )
    message, _ = read_message(library, True)
    assert forged.verify(key.public(), message) == "its trusted comment was changed"


@pytest.mark.parametrize("password", ["", "a wall needs no mortar"])
def test_secret_keys_survive_their_files(password: str) -> None:
    key = minisign.generate()
    text = key.text(password)
    assert minisign.parse_secret_key(text, password) == key
    if password:
        with pytest.raises(ValueError, match="the password is wrong"):
            minisign.parse_secret_key(text, "another")


def test_public_keys_survive_their_files() -> None:
    key = minisign.generate().public("of the mason")
    assert minisign.parse_public_key(key.text()) == key
    assert minisign.parse_public_key(key.text().replace("\n", "\r\n")) == key


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file holds no key"),
        ("hello", "a public key must be base64"),
        ("aGVsbG8=", "a public key has 42 bytes, found 5"),
        ("untrusted comment: x\n" + "A" * 56, "the key is for the algorithm"),
        ("x" * 20000, "the file is larger than 16384 characters"),
    ],
)
def test_bad_public_keys(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        minisign.parse_public_key(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a signature file has 4 lines, found 0"),
        ("a\nb\nc\nd", "a line must begin with 'untrusted comment: '"),
        ("untrusted comment: \nb\nc\nd", "a line must begin with 'trusted comment: '"),
        ("untrusted comment: x\nb\ntrusted comment: x\nd", "a signature must be base64"),
        (PUBLISHED[True].replace("RUQ", "QUQ", 1), "the signature is of the algorithm"),
    ],
)
def test_bad_signatures_are_refused_under_every_policy(
    library: Path, text: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        minisign.parse_signature(text)
    library.with_name(library.name + ".minisig").write_text(text, encoding="utf-8")
    for settings in (OPEN, DEVELOPER, STRICT, Settings()):
        found = error(check_signature(plugin(library), settings))
        assert found.code == "plugin-bad-signature"
        assert problem in found.found


def test_a_key_that_asks_for_too_much_memory() -> None:
    import base64
    import struct

    key = minisign.generate().text("x")
    line = bytearray(base64.b64decode(key.splitlines()[1]))
    line[38:54] = struct.pack("<QQ", 1 << 50, 1 << 50)
    with pytest.raises(ValueError, match="MiB of memory"):
        minisign.parse_secret_key(f"untrusted comment: \n{base64.b64encode(line).decode()}\n", "x")


def test_scrypt_costs_are_libsodiums() -> None:
    assert minisign._scrypt_costs(33554432, 1073741824) == (1 << 20, 8, 1)
    assert minisign._scrypt_costs(524288, 16777216) == (1 << 14, 8, 1)


def test_a_trusted_signature_passes_under_every_policy(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public("mason"))
    for settings in (OPEN, DEVELOPER, STRICT, Settings()):
        result = check_signature(plugin(library), settings)
        assert result.state == "passed"
        assert result.facts["trusted"] is True
        assert result.facts["key"] == key.public().name


def tamper(library: Path) -> None:
    library.write_bytes(library.read_bytes()[:-1] + b"!")


def test_a_changed_file_is_refused_under_every_policy(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public())
    tamper(library)
    for settings in (OPEN, DEVELOPER, STRICT, Settings()):
        found = error(check_signature(plugin(library), settings))
        assert found.code == "plugin-bad-signature"
        assert found.found == "the file is not the one that was signed"
        assert found.remedy.startswith("do not use the file")


def test_a_revoked_key_is_refused_under_every_policy(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public())
    (file,) = _trust.revoke_key(key.public().name.lower())
    assert file.suffix == ".revoked"
    for settings in (OPEN, DEVELOPER, STRICT, Settings()):
        found = error(check_signature(plugin(library), settings))
        assert found.code == "plugin-key-revoked"
        assert key.public().name in found.found


def doubts(library: Path, code: str, text: str) -> None:
    """What every policy makes of a library that is not trusted."""
    for settings, why in ((OPEN, "policy allow_unverified"), (DEVELOPER, "developer mode")):
        result = check_signature(plugin(library), settings)
        assert (result.state, result.reason) == ("passed", code)
        assert result.text == f"{text}; loaded by {why}"
        assert result.facts["trusted"] is False
    for settings in (STRICT, Settings()):
        found = error(check_signature(plugin(library), settings))
        assert found.code == code
        assert found.check == f"policy {settings.policy}: a trusted key has signed the library"
        assert found.found == text
        assert "libcobble.so.minisig" in found.needed


def test_no_signature(library: Path, store: Path) -> None:
    doubts(library, "plugin-unsigned", "it has no signature")
    remedy = error(check_signature(plugin(library), Settings())).remedy
    assert "DRYSTONE_DEVELOPER_MODE=1" in remedy
    assert "DRYSTONE_PLUGIN_POLICY=allow_unverified" in remedy
    remedy = error(check_signature(plugin(library), STRICT)).remedy
    assert "DRYSTONE_DEVELOPER_MODE" not in remedy
    assert "allow_unverified" not in remedy
    assert "drystone plugins sign" in remedy


def test_an_unknown_key(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    text = f"it is signed with key {key.public().name}, which is not trusted here"
    doubts(library, "plugin-untrusted-key", text)


def test_an_expired_signature(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key, "expires:2020-01-01")
    _trust.add_key(key.public())
    doubts(library, "plugin-signature-expired", "its signature has expired (2020-01-01)")


def test_an_expired_key(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public("mason expires:1577836800"))
    text = f"the key {key.public().name} has expired (1577836800)"
    doubts(library, "plugin-signature-expired", text)


def described(library: Path, text: str) -> Plugin:
    """A record of the library with this manifest, read as loading reads it."""
    library.with_name(library.name + ".toml").write_text(text, encoding="utf-8")
    record = plugin(library)
    assert take_manifest(record).state == "passed"
    return record


MANIFEST = 'name = "cobble"\n'


def test_a_signature_that_covers_the_manifest(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key, covering(MANIFEST.encode()))
    _trust.add_key(key.public())
    assert check_signature(described(library, MANIFEST), STRICT).facts["trusted"] is True
    for settings in (OPEN, DEVELOPER, STRICT, Settings()):
        found = error(check_signature(described(library, MANIFEST + "# a word\n"), settings))
        assert found.code == "plugin-bad-signature"
        assert found.found == "the manifest is not the one that was signed"
        found = error(check_signature(plugin(library), settings))
        assert found.found == "the manifest that it covers is not there"


def test_a_manifest_that_no_signature_covers(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public())
    record = described(library, MANIFEST)
    for settings in (OPEN, DEVELOPER):
        result = check_signature(record, settings)
        assert (result.state, result.reason) == ("passed", "plugin-manifest-unsigned")
    for settings in (STRICT, Settings()):
        found = error(check_signature(record, settings))
        assert found.code == "plugin-manifest-unsigned"
        assert found.found == "its signature does not cover its manifest"
        assert found.remedy.startswith("sign both again: drystone plugins sign")


def test_without_pynacl(library: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sign(library, minisign.generate())
    monkeypatch.setattr(minisign, "available", lambda: False)
    text = "its signature cannot be checked: pip install pynacl"
    doubts(library, "plugin-signature-unchecked", text)


@pytest.mark.parametrize(
    ("moment", "over"),
    [
        ("", False), ("2020-01-01", True), ("9999-01-01", False), ("0", True),
        ("99999999999", False), ("soon", True), ("9" * 30, True),
        ("2020-01-01T00:00:00+02:00", True),
    ],
)  # fmt: skip
def test_moments(moment: str, over: bool) -> None:
    assert _trust.expired(moment) == over


def test_unreadable_keys_are_listed_and_harmless(library: Path, store: Path) -> None:
    key = minisign.generate()
    sign(library, key)
    _trust.add_key(key.public(), "good")
    (store / "bad.pub").write_text("nonsense", encoding="utf-8")
    (store / "readme.txt").write_text("ignored", encoding="utf-8")
    bad, good = _trust.trusted_keys()
    assert bad.problem == "a public key has 42 bytes, found 6"
    assert good.key == key.public(good.key.comment if good.key else "")
    assert check_signature(plugin(library), STRICT).state == "passed"
