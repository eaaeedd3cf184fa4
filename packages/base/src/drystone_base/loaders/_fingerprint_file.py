"""``fingerprint.pb``: what tells one SavedModel from another without reading it.

The fields are TensorFlow's; each is the beginning of a SHA-256 of what it stands for. Two saves of
the same model have the same fingerprint (decision 0064).
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from google.protobuf.message import Message

from drystone_abi.protos import FingerprintDef, MetaGraphDef

__all__ = ["FILE", "fingerprint"]

FILE: Final = "fingerprint.pb"


def fingerprint(
    whole: Iterable[bytes], meta: MetaGraphDef, graph: bytes, index: Path
) -> FingerprintDef:
    """The fingerprint of a model: the pieces of ``saved_model.pb``, its parts, its checkpoint.

    ``meta`` is without its graph; ``index`` need not be there.
    """
    signatures = sorted(meta.signature_def.items())
    stated = [part for name, s in signatures for part in (name.encode(), _bytes(s))]
    everything = hashlib.sha256()
    for piece in whole:
        everything.update(piece)
    found = FingerprintDef(
        saved_model_checksum=int.from_bytes(everything.digest()[:8], "little"),
        graph_def_program_hash=_hash([graph]),
        signature_def_hash=_hash(stated),
        saved_object_graph_hash=_hash([_bytes(meta.object_graph_def)]),
        checkpoint_hash=_hash([index.read_bytes()]) if index.is_file() else 0,
    )
    found.uuid = str(uuid.UUID(bytes=_digest([_bytes(found)])[:16], version=5))
    return found


def _bytes(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _digest(parts: Iterable[bytes]) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.digest()


def _hash(parts: Iterable[bytes]) -> int:
    return int.from_bytes(_digest(parts)[:8], "little")
