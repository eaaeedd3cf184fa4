"""Keras's files as models of base: ``ds.load("m.keras")``, ``drystone run m.h5``.

What an archive says of itself is looked at before Keras sees it; code in it (``Lambda`` layers,
classes of others) is not run: Keras's safe mode is on.
"""

from __future__ import annotations

import stat
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, Final, NoReturn

from drystone_base.core.errors import BadModelFile

__all__ = ["load_model", "read"]

_LARGEST: Final = 1 << 36
"""Bytes that all files of an archive may have together."""
_RATIO: Final = 200
"""How many times the archive's size they may have: weights hardly shrink, bombs do."""
_SMALL: Final = 1 << 24
"""Bytes that any archive may unpack to."""
_JSON: Final = ("metadata.json", "config.json")


def load_model(path: Path) -> Any:
    """The Keras model of a file, not compiled; raises ``BadModelFile``.

    Codes: ``keras-archive`` for an archive that is broken, or larger unpacked than it may be, or
    has paths that leave it; ``keras-code`` for one that would run code; ``keras-model`` for what
    Keras refuses for another reason.
    """
    if path.suffix.lower() == ".keras":
        _check_archive(path)
    import keras

    try:
        return keras.saving.load_model(path, compile=False, safe_mode=True)
    except Exception as error:
        _refuse(path, error)


def read(path: Path) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The graph, signatures and values of a file, as base asks for them."""
    model = load_model(path)
    from keras_drystone.src.exported_graph import as_loaded  # which Keras is imported before

    try:
        return as_loaded(model)
    except Exception as error:
        _refuse(path, error)


def _check_archive(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            names = {part.filename for part in parts}
            broken = None if set(_JSON) <= names else f"no {' and '.join(_JSON)} in it"
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        parts, broken = [], str(error)
    if broken:
        _bad(
            path, "a .keras file must be a whole zip archive", broken, "the file as Keras wrote it"
        )
    counts = Counter(part.filename for part in parts)
    twice = next((name for name, count in counts.items() if count > 1), None)
    if twice is not None:
        _bad(path, "an archive must have each file once", f"{twice} twice", "one file of a name")
    for part in parts:
        if stat.S_ISLNK(part.external_attr >> 16):
            _bad(path, "an archive must hold files", f"{part.filename}, a link", "no links")
        steps = part.filename.replace("\\", "/").split("/")
        if part.filename.startswith(("/", "\\")) or ".." in steps or ":" in steps[0]:
            _bad(path, "paths in an archive must stay in it", part.filename, "relative paths")
    size = sum(part.file_size for part in parts)
    most = min(_LARGEST, max(_SMALL, _RATIO * path.stat().st_size))
    if size > most:
        _bad(path, "an archive must not be many times larger when it is unpacked",
             f"{size} bytes from {path.stat().st_size}", f"{most} bytes at most")  # fmt: skip


def _bad(path: Path, check: str, found: str, needed: str) -> NoReturn:
    raise BadModelFile(
        f"{path} cannot be read",
        check=check,
        found=found,
        needed=needed,
        remedy="copy the file again, from a place that you trust",
        code="keras-archive",
    )


def _refuse(path: Path, error: Exception) -> NoReturn:
    text = str(error)
    unsafe = "safe_mode" in text or "Lambda" in text or "arbitrary code" in text
    unknown = "Could not locate class" in text or "Unknown layer" in text
    if unsafe or unknown:
        raise BadModelFile(
            f"{path} has code in it, which is not run",
            check="a model must be made of Keras's own layers",
            found=text.strip().partition("\n")[0],
            needed="layers without Python code of others",
            remedy="if you trust the file, load it in Keras with safe_mode=False or "
            "custom_objects=, and write it with model.export(FOLDER): load that folder",
            code="keras-code",
            inner=error,
        ) from error
    raise BadModelFile(
        f"{path} is no model that Keras loads",
        check="Keras must be able to build the model of the file, with its weights",
        found=f"{type(error).__name__}: {text.strip().partition(chr(10))[0]}",
        needed="a .keras or .h5 file that keras.saving.load_model reads",
        remedy="save the whole model again, by model.save(FILE) in a Keras of today",
        code="keras-model",
        inner=error,
    ) from error
