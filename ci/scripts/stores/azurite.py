"""Azurite, Microsoft's emulator of Azure Blob Storage, which checks keys and signatures.

`python -m ci.scripts.stores.azurite FOLDER` fetches it, a package of npm, where Node.js is
installed; tests that find no such folder are skipped and say so.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final
from urllib.error import HTTPError
from urllib.request import urlopen

from ci.scripts.stores.processes import free_ports, running, wait_for

__all__ = ["ACCOUNT", "KEY", "VARIABLE", "azurite", "connection_string", "fetch", "missing"]

VARIABLE: Final = "DRYSTONE_AZURITE"
ACCOUNT: Final = "testaccount"
KEY: Final = base64.b64encode(b"a-secret-that-must-not-show").decode()
_PACKAGE: Final = "azurite@3.37.0"
_PROGRAM: Final = "node_modules/azurite/dist/src/blob/main.js"


def fetch(folder: Path) -> None:
    """Fill ``folder`` with it and what it needs, once."""
    if (folder / _PROGRAM).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    subprocess.run(["npm", "install", *options, "--prefix", str(folder), _PACKAGE], check=True)


def missing() -> str:
    """Why it cannot be started, or ""."""
    if shutil.which("node") is None:
        return "Node.js is not installed"
    if not (Path(os.environ.get(VARIABLE) or "none") / _PROGRAM).exists():
        return f"{VARIABLE} names no folder that ci.scripts.stores.azurite has filled"
    return ""


def connection_string(address: str) -> str:
    """What its clients are told, of that address."""
    return f"AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={address}/{ACCOUNT}"


@contextmanager
def azurite(*containers: str) -> Iterator[str]:
    """A server with empty containers: its address; ``ACCOUNT`` and ``KEY`` open it."""
    if missing():
        raise FileNotFoundError(missing())
    with tempfile.TemporaryDirectory(prefix="azurite-") as name:
        folder = Path(name)
        (port,) = free_ports(1)
        command = [
            "env", f"AZURITE_ACCOUNTS={ACCOUNT}:{KEY}",
            "node", str(Path(os.environ[VARIABLE]).resolve() / _PROGRAM),
            "--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder),
            "--skipApiVersionCheck", "--disableTelemetry", "--silent",
        ]  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        with running(command, folder, folder / "log") as process:
            wait_for(lambda: _answers(address), process, folder / "log")
            blobs = import_module("azure.storage.blob")
            client = blobs.BlobServiceClient.from_connection_string(connection_string(address))
            for container in containers:
                client.create_container(container)
            yield address


def _answers(address: str) -> bool:
    """Whether it refuses who has no right, as it is to."""
    try:
        urlopen(address, timeout=5).close()
    except HTTPError as error:
        return error.code in (400, 403)
    return True


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
