"""Keys and signatures in minisign's file format: Ed25519, plain ("Ed") or over a hash ("ED").

Files made here can be used with the ``minisign`` command, and the other way round. Source: the
format's description at https://jedisct1.github.io/minisign/.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import BadRequest
from drystone_base.files.contents import read_message

if TYPE_CHECKING:
    from nacl.signing import SigningKey

__all__ = [
    "BadKeyFile",
    "PublicKey",
    "SecretKey",
    "Signature",
    "available",
    "encrypted",
    "generate",
    "parse_public_key",
    "parse_secret_key",
    "parse_signature",
    "sign",
]

_PLAIN, _HASHED, _SCRYPT, _NO_KDF, _CHECKSUM = b"Ed", b"ED", b"Sc", b"\0\0", b"B2"
_UNTRUSTED: Final = "untrusted comment: "
_TRUSTED: Final = "trusted comment: "
_LARGEST: Final = 16384
_OPERATIONS, _MEMORY = 1 << 22, 1 << 27
_MOST_MEMORY: Final = 1 << 31


class BadKeyFile(BadRequest):
    """A key file cannot be used: another format, a wrong password, a damaged file."""

    default_code = "bad-key-file"


def available() -> bool:
    """Whether signatures can be checked: the package ``pynacl`` is installed."""
    try:
        import nacl.signing  # noqa: F401
    except ImportError:
        return False
    return True


@dataclass(frozen=True)
class PublicKey:
    """A public key, its number and what its file says of it."""

    number: bytes
    key: bytes
    comment: str = ""

    @property
    def name(self) -> str:
        """The key's number as minisign prints it."""
        return self.number[::-1].hex().upper()

    def text(self) -> str:
        """Contents of its file."""
        comment = self.comment or f"minisign public key {self.name}"
        return f"{_UNTRUSTED}{comment}\n{_encode(_PLAIN + self.number + self.key)}\n"


@dataclass(frozen=True)
class SecretKey:
    """A secret key: ``seed`` is what the rest follows from."""

    number: bytes
    seed: bytes

    def _signer(self) -> SigningKey:
        from nacl.signing import SigningKey

        return SigningKey(self.seed)

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of a message."""
        return self._signer().sign(message).signature

    def public(self, comment: str = "") -> PublicKey:
        """Its public half."""
        return PublicKey(self.number, self._signer().verify_key.encode(), comment)

    def text(self, password: str = "") -> str:
        """Contents of its file, encrypted where there is a password."""
        secret = self.number + self.seed + self.public().key
        secret += _checksum(self.number, secret[8:])
        salt = os.urandom(32) if password else bytes(32)
        limits = (_OPERATIONS, _MEMORY) if password else (0, 0)
        if password:
            secret = _mask(secret, password, salt, *limits)
        head = _PLAIN + (_SCRYPT if password else _NO_KDF) + _CHECKSUM + salt
        line = _encode(head + struct.pack("<QQ", *limits) + secret)
        kind = "encrypted" if password else "unencrypted"
        return f"{_UNTRUSTED}minisign {kind} secret key\n{line}\n"


@dataclass(frozen=True)
class Signature:
    """A signature file: two signatures, of the file and of the comment with the first."""

    hashed: bool
    number: bytes
    signature: bytes
    comment: str
    global_signature: bytes

    @property
    def key_name(self) -> str:
        """Number of the key it was made with."""
        return self.number[::-1].hex().upper()

    def fields(self) -> dict[str, str]:
        """The ``name:value`` parts of the trusted comment, which tabs separate."""
        parts = (part.partition(":") for part in self.comment.split("\t"))
        return {name.strip(): value.strip() for name, colon, value in parts if colon}

    def verify(self, key: PublicKey, message: bytes) -> str:
        """Check a message, as ``read_message`` reads it; "" where all is well, else what is not."""
        from nacl.exceptions import BadSignatureError
        from nacl.signing import VerifyKey

        if key.number != self.number:
            return f"it was made with key {self.key_name}, not {key.name}"
        comment = self.comment.encode("utf-8", "surrogateescape")
        checks = (
            (self.signature, message, "the file is not the one that was signed"),
            (self.global_signature, self.signature + comment, "its trusted comment was changed"),
        )
        for signature, signed, text in checks:
            try:
                VerifyKey(key.key).verify(signed, signature)
            except BadSignatureError:
                return text
        return ""

    def text(self, comment: str) -> str:
        """Contents of its file."""
        kind = _HASHED if self.hashed else _PLAIN
        first = _encode(kind + self.number + self.signature)
        last = _encode(self.global_signature)
        return f"{_UNTRUSTED}{comment}\n{first}\n{_TRUSTED}{self.comment}\n{last}\n"


def generate() -> SecretKey:
    """A new secret key."""
    return SecretKey(os.urandom(8), os.urandom(32))


def sign(
    key: SecretKey, path: str | os.PathLike[str], comment: str, *, hashed: bool = True
) -> Signature:
    """Sign a file; ``comment`` becomes the trusted comment, one line."""
    if "\n" in comment or "\r" in comment:
        raise ValueError("a trusted comment is one line")
    message, _ = read_message(path, hashed)
    signature = key.sign(message)
    return Signature(hashed, key.number, signature, comment, key.sign(signature + comment.encode()))


def parse_public_key(text: str) -> PublicKey:
    """A public key from its file or from its second line alone; raises ``ValueError``."""
    lines = _lines(text)
    comment = ""
    if len(lines) > 1 and lines[0].startswith(_UNTRUSTED):
        comment, lines = lines[0][len(_UNTRUSTED) :], lines[1:]
    if not lines:
        raise ValueError("the file holds no key")
    raw = _decode(lines[0], 42, "a public key")
    if raw[:2] != _PLAIN:
        raise ValueError(f"the key is for the algorithm {raw[:2]!r}, not Ed25519")
    return PublicKey(raw[2:10], raw[10:], comment)


def parse_signature(text: str) -> Signature:
    """A signature from its file; raises ``ValueError``."""
    lines = _lines(text)
    if len(lines) < 4:
        raise ValueError(f"a signature file has 4 lines, found {len(lines)}")
    for line, start in ((lines[0], _UNTRUSTED), (lines[2], _TRUSTED)):
        if not line.startswith(start):
            raise ValueError(f"a line must begin with {start!r}, found {line[:40]!r}")
    raw = _decode(lines[1], 74, "a signature")
    if raw[:2] not in (_PLAIN, _HASHED):
        raise ValueError(f"the signature is of the algorithm {raw[:2]!r}, not Ed25519")
    last = _decode(lines[3], 64, "the signature of the trusted comment")
    comment = lines[2][len(_TRUSTED) :]
    return Signature(raw[:2] == _HASHED, raw[2:10], raw[10:], comment, last)


def encrypted(text: str) -> bool:
    """Whether the file of a secret key asks for a password; raises ``ValueError``."""
    return _secret_key_bytes(text)[2:4] == _SCRYPT


def _secret_key_bytes(text: str) -> bytes:
    lines = _lines(text)
    raw = _decode(lines[1] if len(lines) > 1 else "", 158, "a secret key")
    if raw[:2] != _PLAIN or raw[4:6] != _CHECKSUM or raw[2:4] not in (_SCRYPT, _NO_KDF):
        raise ValueError(f"the key is of the kind {raw[:6]!r}")
    return raw


def parse_secret_key(text: str, password: str = "") -> SecretKey:
    """A secret key from its file; raises ``ValueError``."""
    import hmac

    raw = _secret_key_bytes(text)
    operations, memory = struct.unpack("<QQ", raw[38:54])
    secret = raw[54:]
    if raw[2:4] == _SCRYPT:
        secret = _mask(secret, password, raw[6:38], operations, memory)
    number, pair, checksum = secret[:8], secret[8:72], secret[72:]
    if not hmac.compare_digest(checksum, _checksum(number, pair)):
        locked = raw[2:4] == _SCRYPT
        raise ValueError("the password is wrong" if locked else "the key is damaged")
    return SecretKey(number, pair[:32])


def _checksum(number: bytes, pair: bytes) -> bytes:
    return hashlib.blake2b(_PLAIN + number + pair, digest_size=32).digest()


def _mask(secret: bytes, password: str, salt: bytes, operations: int, memory: int) -> bytes:
    """Encrypt or decrypt: XOR with what scrypt makes of the password."""
    cost, blocks, lanes = _scrypt_costs(operations, memory)
    room = 128 * blocks * (cost + lanes) + (1 << 20)
    if room > _MOST_MEMORY:
        raise ValueError(f"the key asks for {room >> 20} MiB of memory to be decrypted")
    stream = hashlib.scrypt(
        password.encode(), salt=salt, n=cost, r=blocks, p=lanes, maxmem=room, dklen=len(secret)
    )
    return bytes(a ^ b for a, b in zip(secret, stream, strict=True))


def _scrypt_costs(operations: int, memory: int) -> tuple[int, int, int]:
    """scrypt's N, r and p for libsodium's limits, which is how minisign stores them."""
    operations, blocks = max(operations, 32768), 8
    small = operations < memory // 32
    most = operations // (blocks * 4) if small else memory // (blocks * 128)
    cost = 2
    while cost <= most // 2 and cost < 1 << 40:
        cost *= 2
    lanes = 1 if small else max(1, min(operations // 4 // cost, 0x3FFFFFFF) // blocks)
    return cost, blocks, lanes


def _lines(text: str) -> list[str]:
    if len(text) > _LARGEST:
        raise ValueError(f"the file is larger than {_LARGEST} characters")
    return [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def _decode(line: str, size: int, what: str) -> bytes:
    try:
        raw = base64.b64decode(line.strip().encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError) as error:
        raise ValueError(f"{what} must be base64: {error}") from error
    if len(raw) != size:
        raise ValueError(f"{what} has {size} bytes, found {len(raw)}")
    return raw


def _encode(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def read_text(path: str | os.PathLike[str]) -> str:
    """A small text file; raises ``ValueError`` and ``OSError``."""
    with open(path, "rb") as file:
        raw = file.read(_LARGEST + 1)
    return raw.decode("utf-8", "surrogateescape")
