"""Building a release and signing its files."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from ci.release import sbom
from ci.scripts.project import Package
from ci.scripts.wheels import ALONE, can_be_alone

__all__ = ["DEVELOPMENT_KEY", "build", "sign", "tags", "verify"]

DEVELOPMENT_KEY = Path("ci/config/keys/development.key")
"""Known to everybody: its signatures say that a file is whole, not who made it."""


def build(package: Package, folder: Path, links: Path | None = None) -> list[Path]:
    """An sdist and, from that, a wheel; `links` is a folder of wheels that the build may need.

    A package that can be Python alone gets a wheel of that, too. Each has its bill of materials.
    """
    folder.mkdir(parents=True, exist_ok=True)
    settings = dict(os.environ)
    if links is not None:
        settings["UV_FIND_LINKS"] = str(links)
    fresh = ("--refresh-package", "drystone-plugin-abi")
    command = ("uv", "build", "-q", "--no-sources", *fresh, "-o", str(folder))
    subprocess.run([*command, str(package.path)], env=settings, check=True)
    if can_be_alone(package):
        words = [*command, "--wheel", str(package.path)]
        subprocess.run(words, env=settings | ALONE, check=True)
    stem = f"{package.distribution.replace('-', '_')}-{package.version}"
    made = sorted(folder.glob(f"{stem}[-.]*[wz]*"))
    for file in made:
        if file.suffix == ".whl":
            sbom.add(file)
    return made


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
