"""``drystone inspect CHECKPOINT``: its tensors, by the objects that they belong to."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np

from drystone_base.checkpoint import V1Reader, latest_checkpoint, open_checkpoint, v1_files
from drystone_base.checkpoint.objects import OBJECT_GRAPH, object_graph, object_paths
from drystone_base.checkpoint.shards import index_path
from drystone_base.cli._output import print_json, print_table, say, size, wants_json
from drystone_base.core.dtypes import STRING
from drystone_base.core.errors import near_matches
from drystone_base.core.printable import plain
from drystone_base.core.shown import shape_text

if TYPE_CHECKING:
    from drystone_base.checkpoint import BundleReader, Entry

__all__ = ["find_checkpoint", "show_checkpoint"]

_DATA: Final = re.compile(r"(.+)\.data-\d+-of-\d+")
_MODELS: Final = (".pb", ".pbtxt", ".meta", ".json")
_SAVED_MODELS: Final = ("saved_model.pb", "saved_model.pbtxt", "model.json")


def find_checkpoint(path: Path) -> Path | None:
    """The prefix of the checkpoint that is meant; None for what may be a model.

    A prefix, one of its files, or a folder whose ``checkpoint`` file names the latest one and that
    holds no model. What cannot be looked at may be a model, whose loader says why.
    """
    try:
        return _found(path)
    except OSError:
        return None


def _found(path: Path) -> Path | None:
    if path.suffix in _MODELS:
        return None
    if path.is_dir():
        files = [p.name for p in path.iterdir()]
        if any(n in _SAVED_MODELS or n.endswith(_MODELS) for n in files):
            return None
        return latest_checkpoint(path) or _only(path, files)
    if path.name.endswith(".index"):
        return path.with_name(path.name.removesuffix(".index"))
    data = _DATA.fullmatch(path.name)
    if data is not None:
        return path.with_name(data[1])
    return path if index_path(path).is_file() or v1_files(path) else None


def _only(folder: Path, files: list[str]) -> Path | None:
    """The one checkpoint of a folder that names none, such as ``variables`` of a SavedModel."""
    found = [name.removesuffix(".index") for name in files if name.endswith(".index")]
    return folder / found[0] if len(found) == 1 else None


def show_checkpoint(prefix: Path, values: Iterable[str]) -> None:
    """Print what a checkpoint holds, or the tensors that ``values`` names by key or by path."""
    reader = open_checkpoint(prefix)
    rows = _tensors(reader)
    wanted = [_named(rows, name) for name in values]
    if wanted:
        _show_values(reader, wanted)
        return
    facts = _facts(reader, rows)
    if wants_json():
        print_json(facts | {"tensors": rows})
        return
    summary = [
        ("checkpoint", facts["path"]),
        ("form", f"{facts['form']}, {facts['shards']} files of data"),
        ("tensors", f"{facts['count']}, {facts['numbers']:,} values, {size(facts['bytes'])}"),
        ("dtypes", ", ".join(f"{name} {size(n)}" for name, n in facts["dtypes"].items())),
    ]
    print_table("", ("", ""), summary)
    listed = [
        (row["object"] or row["name"], row["dtype"], shape_text(row["shape"]), size(row["bytes"]))
        for row in rows
    ]
    print_table("", ("tensor", "dtype", "shape", "bytes"), listed, right=("bytes",))


def _tensors(reader: BundleReader) -> list[dict[str, Any]]:
    """Each tensor: of which object, dtype, shape, bytes; sorted by object, then by name."""
    paths: dict[str, str] = {}
    if OBJECT_GRAPH in reader:
        paths = object_paths(object_graph(reader), reader.prefix)
    rows = []
    for name in reader.keys():  # noqa: SIM118 (a reader is no mapping)
        entry = reader.entry(name)
        row: dict[str, Any] = {
            "name": name,
            "object": paths.get(name, ""),
            "dtype": entry.dtype.label,
        }
        row |= {"shape": list(entry.shape), "bytes": _bytes(entry)}
        rows.append(row | ({"slices": len(entry.slices)} if entry.slices else {}))
    return sorted(rows, key=lambda row: (not row["object"], row["object"], row["name"]))


def _bytes(entry: Entry) -> int:
    """Bytes as stored, those of its slices where it is partitioned."""
    if entry.size or entry.dtype is STRING:
        return entry.size
    return math.prod(entry.shape) * entry.dtype.size


def _facts(reader: BundleReader, rows: list[dict[str, Any]]) -> dict[str, Any]:
    dtypes: Counter[str] = Counter()
    for row in rows:
        dtypes[row["dtype"]] += row["bytes"]
    first = isinstance(reader, V1Reader)
    return {
        "path": reader.prefix,
        "kind": "checkpoint",
        "form": "V1" if first else "V2",
        "shards": len(v1_files(reader.prefix)) if first else reader.shards.count,
        "count": len(rows),
        "numbers": sum(math.prod(row["shape"]) for row in rows),
        "bytes": sum(dtypes.values()),
        "dtypes": dict(dtypes.most_common()),
    }


def _named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found = [row for row in rows if name in (row["name"], row["object"])]
    if name and found:
        return found[0]
    known = [text for row in rows for text in (row["object"], row["name"]) if text]
    near = near_matches(name, known)
    more = f"; did you mean {', '.join(near)}?" if near else ""
    raise click.BadParameter(
        f"the checkpoint has no tensor {plain(name)!r}{more}", param_hint="--values"
    )


def _show_values(reader: BundleReader, rows: list[dict[str, Any]]) -> None:
    found = [(row, reader.tensor(row["name"])) for row in rows]
    if wants_json():
        print_json({"tensors": [row | {"values": value.tolist()} for row, value in found]})
        return
    for row, value in found:
        where = f"{row['object']} " if row["object"] else ""
        say(f"{where}({row['name']}): {row['dtype']} {shape_text(row['shape'])}")
        say(*np.array2string(value).split("\n"))
