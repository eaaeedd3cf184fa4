"""Building a release and signing its files."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from ci.scripts.project import Package

__all__ = ["DEVELOPMENT_KEY", "build", "sign", "tags", "verify"]

DEVELOPMENT_KEY = Path("ci/config/keys/development.key")
"""Known to everybody: its signatures say that a file is whole, not who made it."""


def build(package: Package, folder: Path, links: Path | None = None) -> list[Path]:
    """An sdist and, from that, a wheel; `links` is a folder of wheels that the build may need.

    A package whose pyproject.toml knows DRYSTONE_PURE gets a wheel of Python alone, too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = dict(os.environ)
    if links is not None:
        settings["UV_FIND_LINKS"] = str(links)
    fresh = ("--refresh-package", "drystone-plugin-abi")
    command = ("uv", "build", "-q", "--no-sources", *fresh, "-o", str(folder))
    subprocess.run([*command, str(package.path)], env=settings, check=True)
    if "DRYSTONE_PURE" in (package.path / "pyproject.toml").read_text(encoding="utf-8"):
        alone = settings | {"DRYSTONE_PURE": "1"}
        subprocess.run([*command, "--wheel", str(package.path)], env=alone, check=True)
    stem = f"{package.distribution.replace('-', '_')}-{package.version}"
    return sorted(folder.glob(f"{stem}[-.]*[wz]*"))


def tags(files: list[Path]) -> list[str]:
    """The tags of the wheels among the files."""
    return ["-".join(file.stem.split("-")[2:]) for file in files if file.suffix == ".whl"]


def sign(file: Path, key: Path, password: str = "") -> Path:
    """Write the signature of a file beside it, in minisign's form."""
    from drystone_base.plugins import _minisign as minisign

    secret = minisign.parse_secret_key(key.read_text(encoding="utf-8"), password)
    comment = f"timestamp:{int(time.time())}\tfile:{file.name}"
    made = minisign.sign(secret, file, comment, hashed=True)
    target = file.with_name(f"{file.name}.minisig")
    target.write_text(made.text(f"signature from key {made.key_name}"), encoding="utf-8")
    return target


def verify(file: Path, public: Path) -> str:
    """What is wrong with the signature beside a file, by the key in `public`; "" for nothing."""
    from drystone_base.files.contents import read_message
    from drystone_base.plugins import _minisign as minisign

    beside = file.with_name(f"{file.name}.minisig")
    signature = minisign.parse_signature(beside.read_text(encoding="utf-8"))
    key = minisign.parse_public_key(public.read_text(encoding="utf-8"))
    message, _ = read_message(str(file), signature.hashed)
    return signature.verify(key, message)
