"""How models are called and restored, in the plan cache: a process that has it reads no graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from drystone_base.core.dtypes import from_number
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.plan_cache.cache_key import home_key
from drystone_base.executor.plan_cache.records import read_record, write_record
from drystone_base.loaders._loaded import Signature, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from drystone_base.checkpoint.shards import Entry
    from drystone_base.files.store import Store

__all__ = ["Loading", "read_loading", "write_loading"]


class Loading(NamedTuple):
    """What reading a model gave beside its graph.

    ``variables``: where in a checkpoint of ``shards`` files the value of each lies, by shared name.
    ``steps``: nodes to run then, with the tensors that take the paths of ``assets`` meanwhile;
    ``assets``: the names of files in the model's folder for them, by tensor.
    """

    signatures: Mapping[str, Signature]
    tags: tuple[str, ...]
    variables: Mapping[str, Entry]
    shards: int
    steps: Sequence[tuple[Sequence[str], Sequence[str]]] = ()
    assets: Mapping[str, str] = {}  # it is not changed


def write_loading(where: Store, key: Sequence[Any], loading: Loading, model: str) -> None:
    """Note what reading files gave, which ``key`` tells from all others; ``model``: for people."""
    made_from = _made_from(key)
    if made_from is None:
        return
    facts = {
        "signatures": [
            (
                s.name,
                s.method,
                _spec_rows(s.inputs),
                _spec_rows(s.outputs),
                s.positional,
                {name: _text_of(value) for name, value in s.defaults.items()},
            )
            for s in loading.signatures.values()
        ],
        "tags": loading.tags,
        "model": model,
        "variables": [(name, *_entry_row(entry)) for name, entry in loading.variables.items()],
        "shards": loading.shards,
        "steps": list(loading.steps),
        "assets": dict(loading.assets),
    }
    write_record(where, made_from, facts)


def read_loading(where: Store, key: Sequence[Any]) -> Loading | None:
    """What :func:`write_loading` noted; None where that is nothing."""
    made_from = _made_from(key)
    found = None if made_from is None else read_record(where, made_from)
    if found is None:
        return None
    facts = found[0]
    try:
        signatures = {
            name: Signature(
                name, _specs(inputs), _specs(outputs), method, tuple(order), _arrays(defaults)
            )
            for name, method, inputs, outputs, order, defaults in facts["signatures"]
        }
        variables = {name: _entry(row) for name, *row in facts["variables"]}
        steps = [(list(map(str, targets)), list(map(str, fed))) for targets, fed in facts["steps"]]
        tags, assets = tuple(facts["tags"]), {k: str(v) for k, v in facts["assets"].items()}
        if not all(tensor in assets for _, fed in steps for tensor in fed):
            return None
        return Loading(signatures, tags, variables, int(facts["shards"]), steps, assets)
    except (DrystoneError, LookupError, TypeError, ValueError, AttributeError):
        return None


def _made_from(key: Sequence[Any]) -> list[Any] | None:
    beside = home_key()
    return None if beside is None else ["loading", *key, *beside]


def _spec_rows(specs: Mapping[str, TensorSpec]) -> list[Any]:
    return [(name, s.tensor, s.dtype.number, s.shape, s.optional) for name, s in specs.items()]


def _specs(rows: Iterable[Any]) -> dict[str, TensorSpec]:
    return {
        name: TensorSpec(
            tensor, from_number(dtype), None if shape is None else tuple(shape), bool(optional)
        )
        for name, tensor, dtype, shape, optional in rows
    }


def _text_of(value: np.ndarray[Any, Any]) -> str:
    from drystone_base.core.tensor import to_proto

    return to_proto(value).SerializeToString().hex()


def _arrays(texts: Mapping[str, str]) -> dict[str, np.ndarray[Any, Any]]:
    """What :func:`_text_of` has written; nearly no signature has any."""
    if not texts:
        return {}
    from drystone_abi.protos import TensorProto
    from drystone_base.core.tensor import from_proto

    return {n: from_proto(TensorProto.FromString(bytes.fromhex(t))) for n, t in texts.items()}


def _entry_row(e: Entry) -> tuple[Any, ...]:
    return e.name, e.dtype.number, e.shape, e.shard, e.offset, e.size, e.crc


def _entry(row: Sequence[Any]) -> Entry:
    from drystone_base.checkpoint.shards import Entry

    name, dtype, shape, *place = row
    return Entry(name, from_number(dtype), tuple(shape), *place)
