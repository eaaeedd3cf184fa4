"""How a session runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, Final, Literal

from drystone_base.core.environment import EXECUTOR
from drystone_base.core.settings import (
    Kind,
    Schema,
    Setting,
    choice,
    counts,
    flag,
    instance,
    number,
    switches,
    text,
    whole,
)
from drystone_base.files.access import Access

__all__ = ["SETTINGS", "SessionConfig"]

MOST_THREADS: Final = 1024
_MOST_DEVICES: Final = 256
_THREADS: Final = whole(0, MOST_THREADS, zero="one per core")


def _optimizer(value: Any) -> Any:
    """What modules that optimize are told; they look at configs of their own classes."""
    if value is None or isinstance(value, str):
        return choice("default", "off").take("default" if value is None else value)
    return _config_of_another(value)


def _subgraphs(value: Any) -> Any:
    """What the partitioner is told; it looks at configs of its own class, and at names."""
    return value if value is None or isinstance(value, str) else _config_of_another(value)


def _config_of_another(value: Any) -> Any:
    """What a package above looks at when it runs; such configs are dataclasses."""
    if isinstance(value, type) or not is_dataclass(value):
        raise ValueError
    return value


def _devices(value: Any) -> dict[str, int]:
    """Counts by type of device: of the CPU, of GPUs that graphs are made for, of those there."""
    known = {"CPU": (1, _MOST_DEVICES), "GPU": (0, _MOST_DEVICES)}
    if isinstance(value, Mapping) and not value.keys() <= known.keys():
        known |= {kind: (0, _MOST_DEVICES) for kind in _types_of_plugins() if kind != "CPU"}
    found: dict[str, int] = counts(known, "").take(value)
    return found


def _types_of_plugins() -> list[str]:
    from drystone_base import host
    from drystone_base.plugins import ensure_loaded

    ensure_loaded()
    if not host.available():
        return []
    from drystone_base.host.device import list_platforms

    return [str(one["type"]) for one in list_platforms()]


SETTINGS: Final = Schema(
    "SessionConfig",
    "bad-session-setting",
    Setting(
        "executor",
        choice("native", "reference"),
        "which executor runs plans: the host library's, or the small one in Python.",
        variable=EXECUTOR.name,
    ),
    Setting(
        "deadline",
        number(0, 1e9, none="never", unit="seconds"),
        "seconds after which a run is stopped, its preparation included.",
    ),
    Setting(
        "seed",
        whole(-(1 << 63), (1 << 64) - 1, none="arbitrary"),
        "base of the streams of random ops that state no seed.",
    ),
    Setting(
        "access",
        instance(Access, "an Access", none="no files"),
        "which files ops may read and write; a loaded model may read its own folder in any case.",
        remedy='SessionConfig(access=Access().with_read("data/"))',
    ),
    Setting(
        "optimizer",
        Kind(
            _optimizer,
            "'default', 'off', or an OptimizerConfig",
            ("default", "off"),
        ),
        "what the modules that optimize graphs are told.",
        code="bad-optimizer-option",
        remedy="SessionConfig(optimizer=OptimizerConfig(...))",
    ),
    Setting(
        "subgraphs",
        Kind(
            _subgraphs,
            "names of backends with commas between, 'off', a PartitionConfig, or None: what "
            "`$DRYSTONE_SUBGRAPH_BACKEND` says",
            ("off",),
        ),
        "which backends run regions of the graph; the first has the first choice.",
        code="bad-subgraph-option",
        remedy='SessionConfig(subgraphs="openvino,default")',
    ),
    Setting(
        "passes",
        switches("a dict of names of passes to True, False or a dict of settings"),
        "by name of a registered pass, whether it runs, or the settings that it runs with "
        "(`drystone passes` lists them).",
        remedy='SessionConfig(passes={"MarkForCompilationPass": True})',
    ),
    Setting(
        "device_count",
        Kind(
            _devices,
            f"a dict such as {{'CPU': 2}}: of CPUs 1 to {_MOST_DEVICES}, of GPUs and of types that "
            "an installed plugin brings 0 to as many",
        ),
        "how many devices there are. Those of a plugin with kernels for them run nodes (default: "
        "all that are there); others are virtual, and run their parts of the graph in threads of "
        "their own, on the CPU.",
        remedy='SessionConfig(device_count={"CPU": 2})',
    ),
    Setting(
        "allow_soft_placement",
        flag(),
        "a node whose device is not there runs on another one (False: it is an error).",
    ),
    Setting(
        "fetches_on_devices",
        flag(),
        "a fetch that a plugin's device computes stays there, as a ``DeviceArray``, which can be "
        "fed to any session and goes to other libraries by DLPack, without a copy.",
    ),
    Setting(
        "log_device_placement", flag(), "print where each node goes, to standard error."
    ),
    Setting(
        "intra_op_threads",
        _THREADS,
        "how many threads of the process's one pool one native kernel may use "
        "(``$DRYSTONE_NUM_THREADS``: how many that has).",
        code="bad-threads",
        remedy="0 takes as many as there are cores",
    ),
    Setting(
        "inter_op_threads",
        _THREADS,
        "how many native kernels may run at once, where measuring says that it pays, and "
        "micro-batches.",
        code="bad-threads",
        remedy="0 takes as many as there are cores",
    ),
    Setting(
        "deterministic",
        flag(),
        "run kernels one after another, so that the same feeds and state, with as many threads and "
        "a ``seed``, give the same bits in every run; otherwise a kernel may run on one thread now "
        "and on several later, which may round sums differently.",
    ),
    Setting(
        "micro_batch_bytes",
        whole(0, 1 << 62, none="batches run as a whole", zero="a quarter of the last cache"),
        "a graph that computes each example of a batch by itself runs on some examples at a time, "
        "a micro-batch, so that their values stay in the caches: about how many bytes these may "
        "take.",
        code="bad-micro-batch",
        remedy="None runs batches as a whole",
    ),
    Setting(
        "target",
        text("an address such as grpc://HOST:PORT, or '': this process"),
        "the address of a task of a cluster, on whose tasks the graph runs (drystone-network).",
        code="bad-target",
        remedy='SessionConfig(target="grpc://127.0.0.1:2222")',
    ),
    Setting(
        "plans",
        whole(1, 1 << 30),
        "how many plans a session keeps, one for each set of fetches and each order of feeds; "
        "beyond them the one that was not used for the longest time is let go. What kernels make "
        "of weights is shared by all of them.",
    ),
)  # fmt: skip


def _executor() -> Literal["native", "reference"]:
    """What is asked for; or the one that there is, in a wheel of Python alone."""
    from drystone_base.host._lib import is_left_out

    variable = EXECUTOR._replace(default="reference") if is_left_out() else EXECUTOR
    found: Literal["native", "reference"] = variable.value()
    return found


@dataclass(frozen=True, repr=False)
class SessionConfig:
    """How a session runs; raises ``BadRequest`` for a setting that means nothing.

    The codes are ``bad-session-setting``, ``bad-threads``, ``bad-micro-batch``,
    ``bad-optimizer-option``, ``bad-subgraph-option`` and ``bad-target``, and ``bad-variable`` for
    ``$DRYSTONE_EXECUTOR``.
    """

    executor: Literal["native", "reference"] = field(default_factory=_executor)
    deadline: float | None = None
    seed: int | None = None
    access: Access | None = None
    optimizer: Any = "default"
    subgraphs: Any = None
    passes: Mapping[str, bool | Mapping[str, Any]] = field(default_factory=dict)
    device_count: Mapping[str, int] = field(default_factory=dict)
    allow_soft_placement: bool = True
    fetches_on_devices: bool = False
    log_device_placement: bool = False
    intra_op_threads: int = 0
    inter_op_threads: int = 0
    deterministic: bool = False
    micro_batch_bytes: int | None = 0
    target: str = ""
    plans: int = 64

    def __post_init__(self) -> None:
        SETTINGS.settle(self)

    def __repr__(self) -> str:
        return SETTINGS.shown(self)


SessionConfig.__doc__ = SETTINGS.document(SessionConfig.__doc__)
