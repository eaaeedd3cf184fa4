"""How a session runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from drystone_base.errors import BadRequest
from drystone_base.late_dataclasses import dataclass
from drystone_base.policy import Access

__all__ = ["SessionConfig"]

_MOST_THREADS: Final = 1024
_MOST_BYTES: Final = 1 << 62


def _default_executor() -> Any:
    """``$DRYSTONE_EXECUTOR``, else the default."""
    return os.environ.get("DRYSTONE_EXECUTOR") or "native"


@dataclass(frozen=True)
class SessionConfig:
    """How a session runs.

    ``executor``: which executor runs plans: the host library's, or the small one in Python
    (default: ``$DRYSTONE_EXECUTOR``). ``deadline``: seconds after which a run is stopped, its
    preparation included (None: never). ``seed``: base of the streams of random ops that state no
    seed (None: arbitrary). ``access``: which files ops may read and write (None: none; a loaded
    model may read its own folder in any case). ``optimizer``: what the modules that optimize graphs
    are told: ``"default"``, ``"off"``, or the config of an installed one (drystone-optimizer's
    ``OptimizerConfig``). ``subgraphs``: which backends run regions of the graph: names with commas
    between, the first has the first choice; ``"off"``; drystone-subgraph's ``PartitionConfig``; or
    None, what ``$DRYSTONE_SUBGRAPH_BACKEND`` says. ``passes``: by name of a registered
    pass, whether it runs, or the settings that it runs with (`drystone passes` lists them).
    ``device_count``: how many virtual devices the CPU is, such as ``{"CPU": 2}``; each runs its
    part of the graph in a thread of its own. ``allow_soft_placement``: a node whose device is
    not there runs on another one (False: it is an error). ``log_device_placement``: print where
    each node goes, to standard error.

    ``intra_op_threads``: how many threads one native kernel may use, and ``inter_op_threads``: how
    many native kernels may run at once, where measuring says that it pays, and tiles of a batch (0:
    one per core, or ``$DRYSTONE_NUM_THREADS``); all are of the process's one pool.
    ``deterministic``: run kernels one after another, so that the same feeds and state, with as many
    threads and a ``seed``, give the same bits in every run; otherwise a kernel may run on one
    thread now and on several later, which may round sums differently. ``tile_bytes``: a graph that
    computes each example of a batch by itself runs on some examples at a time, a tile, so that
    their values stay in the caches: about how many bytes these may take (0: a quarter of the last
    cache, 4 to 8 MiB; None: batches run as a whole). Raises ``BadRequest`` (``bad-threads``,
    ``bad-tile``) for negative numbers.
    """

    executor: Literal["native", "reference"] = field(default_factory=_default_executor)
    deadline: float | None = None
    seed: int | None = None
    access: Access | None = None
    optimizer: Any = "default"
    subgraphs: Any = None
    passes: Mapping[str, bool | Mapping[str, Any]] = field(default_factory=dict)
    device_count: Mapping[str, int] = field(default_factory=dict)
    allow_soft_placement: bool = True
    log_device_placement: bool = False
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    deterministic: bool = False
    tile_bytes: int | None = 0

    def __post_init__(self) -> None:
        for name in ("intra_op_threads", "inter_op_threads"):
            threads = getattr(self, name)
            if not 0 <= threads <= _MOST_THREADS:
                raise BadRequest(
                    f"SessionConfig.{name} is out of range",
                    check="a number of threads must not be negative or absurd",
                    found=threads,
                    needed=f"0 (one per core) to {_MOST_THREADS}",
                    remedy="0 takes as many as there are cores",
                    code="bad-threads",
                )
        if self.tile_bytes is not None and not 0 <= self.tile_bytes <= _MOST_BYTES:
            raise BadRequest(
                "SessionConfig.tile_bytes is out of range",
                check="a number of bytes must not be negative or absurd",
                found=self.tile_bytes,
                needed=f"0 (what the caches hold) to {_MOST_BYTES}, or None",
                remedy="None runs batches as a whole",
                code="bad-tile",
            )
