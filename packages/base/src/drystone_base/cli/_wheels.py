"""Signing the plugins in a wheel: signatures beside its libraries, and a RECORD that lists them.

A wheel is a zip archive whose ``RECORD`` has a digest of every file. Source: the binary
distribution format (PyPA specifications).
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from drystone_base.core.errors import BadRequest, PluginError
from drystone_base.files.writing import writing

__all__ = ["is_wheel", "sign_wheel"]

_LIBRARY: Final = re.compile(
    r"(?:[^/]+\.data/(?:plat|pure)lib/)?(?:drystone|tensorflow)-plugins/[^/]+\.so(?:\.\d+)*"
)
_RECORD: Final = re.compile(r"[^/]+\.dist-info/RECORD")
_SUFFIX: Final = ".minisig"


def is_wheel(file: Path) -> bool:
    """Whether a file is a wheel, by its name."""
    return file.suffix == ".whl"


def sign_wheel(file: Path, sign: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """Sign every plugin library in a wheel, which is replaced as a whole; the facts of it.

    ``sign`` writes the signature beside a library. Raises ``BadRequest`` for what is no wheel and
    ``PluginError`` (``plugin-not-found``) for one without plugins.
    """
    try:
        with zipfile.ZipFile(file) as wheel:
            names = wheel.namelist()
            (record,) = filter(_RECORD.fullmatch, names)
            libraries = list(filter(_LIBRARY.fullmatch, names))
            if not libraries:
                raise _no_plugins(file, names)
            made, facts = _signatures(wheel, libraries, sign)
            made[record] = _record(wheel.read(record), record, made)
            with writing(file):
                _replace(file, wheel, made)
    except (OSError, zipfile.BadZipFile, ValueError, csv.Error) as error:
        raise _no_wheel(file, error) from error
    return facts | {"file": str(file), "libraries": libraries}


def _signatures(
    wheel: zipfile.ZipFile, libraries: list[str], sign: Callable[[Path], dict[str, Any]]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The signature of each library by its name in the wheel, and the facts of the last one."""
    made: dict[str, bytes] = {}
    facts: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in wheel.namelist():  # manifests lie beside libraries, or serve their folder
            if any(os.path.dirname(name) == os.path.dirname(of) for of in libraries):
                wheel.extract(name, folder)
        for name in libraries:
            facts = sign(Path(folder, name))
            made[name + _SUFFIX] = Path(folder, name + _SUFFIX).read_bytes()
    return made, facts


def _record(before: bytes, name: str, made: dict[str, bytes]) -> bytes:
    """The RECORD with rows of the new files, and none of those that they replace."""
    rows = [row for row in csv.reader(before.decode("utf-8").splitlines()) if row]
    kept = [row for row in rows if row[0] not in made and row[0] != name]
    for path, data in made.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        kept.append([path, f"sha256={digest}", str(len(data))])
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([*kept, [name, "", ""]])
    return written.getvalue().encode()


def _replace(file: Path, wheel: zipfile.ZipFile, made: dict[str, bytes]) -> None:
    """Write the wheel beside itself, then put it in its own place."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as target:
            *others, last = _entries(wheel, made)
            for entry in others:
                target.writestr(entry, wheel.read(entry))
            for name in (*(n for n in made if n != last.filename), last.filename):
                entry = zipfile.ZipInfo(name, last.date_time)
                entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
                target.writestr(entry, made[name])
        draft.chmod(file.stat().st_mode & 0o777)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _entries(wheel: zipfile.ZipFile, made: dict[str, bytes]) -> list[zipfile.ZipInfo]:
    """What stays as it is, then the RECORD, which comes last in a wheel."""
    entries = wheel.infolist()
    kept = [entry for entry in entries if entry.filename not in made]
    return [*kept, next(entry for entry in entries if _RECORD.fullmatch(entry.filename))]


def _no_wheel(file: Path, error: Exception) -> BadRequest:
    return BadRequest(
        f"{file} is no wheel",
        check="a wheel is a zip archive with one RECORD in a folder .dist-info",
        found=f"{type(error).__name__}: {error}",
        needed="a wheel as a build wrote it",
        remedy="build it again: pip wheel --no-deps --wheel-dir dist .",
        code="bad-request",
    )


def _no_plugins(file: Path, names: list[str]) -> PluginError:
    found = ", ".join(sorted({name.split("/")[0] for name in names})[:8])
    return PluginError(
        f"{file} holds no plugin",
        check="plugins of a wheel are libraries in its folder drystone-plugins",
        found=f"no such library; the wheel has {found}",
        needed="a library NAME.so in drystone-plugins",
        remedy="install the library there: install(TARGETS NAME LIBRARY DESTINATION "
        "drystone-plugins)",
        path=file,
        code="plugin-not-found",
        status="NOT_FOUND",
    )
