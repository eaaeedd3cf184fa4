"""Which versions of TensorFlow's graph and checkpoint formats are read.

A producer states the oldest consumer that may read what it wrote, and consumers that must not.
Source: TensorFlow's ``versions.proto`` and ``CheckVersions``.
"""

from __future__ import annotations

from typing import Final

from drystone_abi.protos import VersionDef
from drystone_base.core.errors import BadModelFile

__all__ = ["CONSUMER", "MIN_CONSUMER", "check_graph", "refused_consumer"]

CONSUMER: Final = 2474
"""TensorFlow 2.21's version of the graph format: what is read, and what new graphs state."""
MIN_CONSUMER: Final = 12
"""What new graphs ask of who reads them: functions."""


def refused_consumer(stated: VersionDef, consumer: int) -> str:
    """Why a consumer of that version may not read the data; "" where it may."""
    if stated.min_consumer > consumer:
        return f"min_consumer {stated.min_consumer}"
    if consumer in stated.bad_consumers:
        listed = ", ".join(map(str, sorted(set(stated.bad_consumers))[:8]))
        return f"bad_consumers {listed}"
    return ""


def check_graph(stated: VersionDef) -> None:
    """Raise ``BadModelFile`` (``graph-version``) for a graph that means something else to us."""
    refused = refused_consumer(stated, CONSUMER)
    if not refused:
        return
    raise BadModelFile(
        "may not be read by this release",
        subject="the graph",
        check="a graph's versions must allow the consumer that reads it",
        found=f"{refused} (written by producer {stated.producer})",
        needed=f"versions that allow consumer {CONSUMER}, TensorFlow 2.21's",
        remedy="export the model with TensorFlow 2.21 or older, or look for a newer drystone",
        code="graph-version",
        status="INVALID_ARGUMENT",
    )
