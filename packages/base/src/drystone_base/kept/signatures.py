"""Signatures of files whose plans are kept: with one, a model is there before its graph is read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from drystone_base.dtypes import from_number
from drystone_base.errors import DrystoneError
from drystone_base.kept.circumstances import home
from drystone_base.kept.folder import store
from drystone_base.kept.records import keep_record, kept_record, name_of
from drystone_base.loaders._loaded import Signature, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from drystone_base.store import Store

__all__ = ["keep_signature", "kept_signature"]


def _name(digest: str) -> str:
    return name_of([digest, home(), sys.version])


def keep_signature(
    where: Store, digest: str, signature: Signature, code: Mapping[str, Sequence[int]]
) -> bool:
    """Note how the graph in a file of this SHA-256 is called; whether that is kept."""
    rows = {
        "name": signature.name,
        "method": signature.method,
        "inputs": _rows(signature.inputs),
        "outputs": _rows(signature.outputs),
    }
    return keep_record(where, _name(digest), {"signature": rows}, [], code)


def kept_signature(digest: str) -> Signature | None:
    """What :func:`keep_signature` noted of a file; None where that is nothing."""
    where = store()
    found = None if where is None else kept_record(where, _name(digest))
    if found is None:
        return None
    try:
        rows = found[0]["signature"]
        inputs, outputs = _specs(rows["inputs"]), _specs(rows["outputs"])
        return Signature(rows["name"], inputs, outputs, rows["method"])
    except (DrystoneError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _rows(specs: Mapping[str, TensorSpec]) -> list[Any]:
    return [(name, s.tensor, s.dtype.number, s.shape) for name, s in specs.items()]


def _specs(rows: Iterable[Any]) -> dict[str, TensorSpec]:
    return {
        name: TensorSpec(tensor, from_number(dtype), None if shape is None else tuple(shape))
        for name, tensor, dtype, shape in rows
    }
