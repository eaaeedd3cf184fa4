"""Values that are given on the command line: texts such as ``x=[1, 2]``, and files of arrays.

Of ``NAME=VALUE``, the value is JSON (``{"b64": "..."}`` stands for bytes, as in TensorFlow
Serving), a file of values by its suffix (.npy, .npz, .json), or ``@FILE``, whose bytes are one
string, whatever they are; ``@-`` reads the standard input. One string is fed as a batch of one to
an input of the signature that is a vector.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

from drystone_base.cli._values import bad_array_file, read_arrays, read_npz
from drystone_base.core.errors import BadRequest
from drystone_base.files.local import missing_file
from drystone_base.files.uris import as_path

__all__ = ["parse_input", "parse_inputs", "read_inputs"]

_SUFFIXES: Final = (".npy", ".npz", ".json")
_FORMS: Final = 'JSON such as [1, 2], {"b64": "..."} or "text", FILE.npy, .npz or .json, or @FILE'


def parse_inputs(texts: Iterable[str]) -> dict[str, Any]:
    """Values by name of several texts ``NAME=VALUE``; raises as :func:`parse_input`."""
    found: dict[str, Any] = {}
    streamed = 0
    for text in texts:
        streamed += text.endswith("=@-")
        name, value = parse_input(text)
        if streamed > 1:
            _bad_value(text, "the standard input, a second time", "one value that reads it")
        if name in found:
            _bad_value(text, f"a second value for {name!r}", "one value for each name")
        found[name] = value
    return found


def parse_input(text: str) -> tuple[str, Any]:
    """The name and the value of ``NAME=VALUE``: an array, or what a feed may be.

    Raises ``BadRequest``: ``bad-input-value`` for a text, ``bad-array-file`` and ``file-not-found``
    for a file.
    """
    name, mark, value = text.partition("=")
    if not name or not mark:
        _bad_value(text, "no name, =, value", f"NAME=VALUE, where VALUE is {_FORMS}")
    if value == "@-":
        return name, sys.stdin.buffer.read()
    if value.startswith("@"):
        return name, _bytes_of(as_path(value[1:]))
    if value.lower().endswith(_SUFFIXES):
        return name, _read_value(as_path(value), name)
    try:
        return name, _decoded(_parse(value))
    except (ValueError, RecursionError) as error:
        _bad_value(text, f"{value!r:.60} ({error})", _FORMS, name)


def read_inputs(path: Path) -> dict[str, Any]:
    """The values of a file by name: an ``.npz``, or JSON with an object of them.

    Raises ``BadRequest``: ``bad-array-file``, ``file-not-found``.
    """
    if path.suffix.lower() != ".json":
        return dict(read_npz(path))
    found = _read_json(path)
    if not isinstance(found, dict):
        bad_array_file(path, f"JSON of a {type(found).__name__}", None)
    try:
        return {name: _decoded(value) for name, value in found.items()}
    except ValueError as error:
        bad_array_file(path, str(error), error)


def _bytes_of(path: Path) -> bytes:
    try:
        if not path.exists():
            missing_file(path, BadRequest)
        return path.read_bytes()
    except OSError as error:
        bad_array_file(path, "a file that cannot be read", error)


def _read_value(path: Path, name: str) -> Any:
    suffix = path.suffix.lower()
    if suffix == ".json":
        try:
            return _decoded(_read_json(path))
        except ValueError as error:
            bad_array_file(path, str(error), error)
    found = read_arrays(path)
    if name not in found and len(found) != 1:
        names = ", ".join(found) or "(none)"
        bad_array_file(path, f"the arrays {names}", None, needed=f"one array, or {name!r}")
    return found[name] if name in found else next(iter(found.values()))


def _read_json(path: Path) -> Any:
    try:
        return _parse(_bytes_of(path).decode())
    except (ValueError, RecursionError) as error:
        bad_array_file(path, f"no JSON: {error}", error)


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _decoded(value: Any) -> Any:
    """Nested lists in which bytes stand for objects ``{"b64": text}``; raises ``ValueError``."""
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    text = value.get("b64")
    if len(value) != 1 or not isinstance(text, str):
        raise ValueError('an object in a value must be {"b64": "..."}')
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r:.40} is not base64: {error}") from error


def _bad_value(text: str, found: str, needed: str, name: str = "x") -> NoReturn:
    raise BadRequest(
        f"--input {text!r:.60} cannot be read",
        check="an input must be one name and one value that is understood",
        found=found,
        needed=needed,
        remedy=f"for text: '{name}=\"hello\"'; for a file's bytes: {name}=@FILE",
        code="bad-input-value",
    )
