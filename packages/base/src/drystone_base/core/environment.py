"""Environment variables: what each may say, and who reads it. No other code reads one of ours.

A package above this one states its variables with :class:`Variable` in a module of its own, and its
``drystone_base.modules.Module`` says where: ``variables="package.environment:VARIABLES"``.
"""

from __future__ import annotations

import os
import re
from typing import Any, Final, NamedTuple

from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described
from drystone_base.core.settings import (
    Kind,
    choice,
    flag,
    names,
    number,
    path,
    refusal,
    text,
    whole,
)

__all__ = [
    "CPU_LEVEL",
    "DEVELOPER_MODE",
    "DUMP_PASSES",
    "EXECUTOR",
    "GPU_DEVICE",
    "GPU_LIBRARIES",
    "GPU_SMALL_REGIONS",
    "HOST_LIBRARY",
    "KEY_PASSWORD",
    "NUM_THREADS",
    "PLAN_CACHE",
    "PLAN_CACHE_BYTES",
    "PLUGINS_DISABLE",
    "PLUGIN_ISOLATION",
    "PLUGIN_POLICY",
    "PLUGIN_PROBE_SECONDS",
    "PREFIX",
    "SUBGRAPH_BACKEND",
    "TF_PLUGINS",
    "TRUST_STORE",
    "VARIABLES",
    "VISIBLE_DEVICES",
    "Variable",
]

PREFIX: Final = "DRYSTONE_"


class Variable(NamedTuple):
    """One variable. ``default`` is what counts where it is not set, or empty; ``doc`` says so."""

    name: str
    kind: Kind
    default: Any
    doc: str
    owner: str = "drystone-base"
    code: str = "bad-variable"

    def value(self) -> Any:
        """What it says; raises ``BadRequest`` (its ``code``) for what means nothing."""
        given = os.environ.get(self.name, "").strip()
        if not given:
            return self.default
        try:
            return self.kind.take(self.kind.read(given))
        except (ValueError, TypeError, OverflowError):
            what = f"{described(given, 100)} is not a value of {self.name}"
            raise self.refusal(what, given) from None

    def needed(self) -> str:
        """What it can be, as it is written in a variable."""
        known = " or ".join(self.kind.choices)
        if known or self.kind.needed == "True or False":
            return known or "1 or 0"
        return self.kind.needed.replace("a list or tuple of names", "names with commas between")

    def refusal(self, what: str, given: str) -> BadRequest:
        """The error of a text that it cannot be."""
        remedy = f"set it again, or `unset {self.name}`"
        kind = self.kind._replace(needed=self.needed())
        return refusal(what, given, kind, remedy, self.code)


_PLUGINS: Final = {"code": "bad-plugin-setting"}
_FOLDER_OR_OFF: Final = path("a folder, or off")


def _devices() -> Kind:
    """Types of devices, or single ones, as (type, number); the number of a whole type is None."""

    def take(value: Any) -> tuple[tuple[str, int | None], ...]:
        parts = [one.partition(":") for one in value]
        if any(not re.fullmatch("[A-Z][A-Z_]*", kind) for kind, _, _ in parts):
            raise ValueError
        return tuple((kind, int(number) if colon else None) for kind, colon, number in parts)

    def read(given: str) -> tuple[str, ...]:
        return () if given == "none" else tuple(one.strip() for one in given.split(","))

    return Kind(take, "devices such as GPU:0 or GPU with commas between, or none", read=read)


VISIBLE_DEVICES: Final = Variable(
    "DRYSTONE_VISIBLE_DEVICES", _devices(), None,
    "Which devices of plugins sessions use, such as `GPU:0,GPU:1` or `GPU`, with the numbers that "
    "they have; `none`: no device (default: all).",
)  # fmt: skip
EXECUTOR: Final = Variable(
    "DRYSTONE_EXECUTOR", choice("native", "reference"), "native",
    "Which executor runs plans of sessions whose config names none.",
)  # fmt: skip
NUM_THREADS: Final = Variable(
    "DRYSTONE_NUM_THREADS", whole(0, 256), 0,
    "Threads of the process's one pool; 0: one per core.",
)  # fmt: skip
PLAN_CACHE: Final = Variable(
    "DRYSTONE_PLAN_CACHE", _FOLDER_OR_OFF, "",
    "The folder of the plan cache (default: one in the user's cache folder).",
)  # fmt: skip
PLAN_CACHE_BYTES: Final = Variable(
    "DRYSTONE_PLAN_CACHE_BYTES", whole(0, 1 << 50), 1 << 30,
    "How much the plan cache may hold, in bytes.",
)  # fmt: skip
DUMP_PASSES: Final = Variable(
    "DRYSTONE_DUMP_PASSES", path("a folder"), "",
    "A folder for the graphs before and after each pass, as text.",
)  # fmt: skip
HOST_LIBRARY: Final = Variable(
    "DRYSTONE_HOST_LIBRARY", path("a file"), "",
    "The host library to open instead of the one of drystone-base.",
)  # fmt: skip
SUBGRAPH_BACKEND: Final = Variable(
    "DRYSTONE_SUBGRAPH_BACKEND", text("names of backends with commas between, or none"), "",
    "Which backends run regions of graphs, where the session's config says nothing.",
    "drystone-subgraph",
)  # fmt: skip
CPU_LEVEL: Final = Variable(
    "DRYSTONE_CPU_LEVEL", choice("v2", "v3", "v4"), "",
    "The newest level of x86-64's instructions that kernels may use.", "drystone-cpu",
)  # fmt: skip
GPU_DEVICE: Final = Variable(
    "DRYSTONE_GPU_DEVICE", choice("host"), "",
    "`host`: regions for a GPU run on the processor, for tests where there is none.",
    "drystone-gpu",
)  # fmt: skip
GPU_LIBRARIES: Final = Variable(
    "DRYSTONE_GPU_LIBRARIES", text("folders with colons between"), "",
    "Where NVIDIA's libraries are looked for first.", "drystone-gpu",
)  # fmt: skip
GPU_SMALL_REGIONS: Final = Variable(
    "DRYSTONE_GPU_SMALL_REGIONS", flag(), False,
    "Regions without a product or a convolution go to the GPU, too.", "drystone-gpu",
)  # fmt: skip
KEY_PASSWORD: Final = Variable(
    "DRYSTONE_KEY_PASSWORD", text("a password"), "",
    "The password of a secret key, for `drystone plugins sign` and `keygen`.",
)  # fmt: skip
PLUGIN_POLICY: Final = Variable(
    "DRYSTONE_PLUGIN_POLICY", choice("strict", "default", "allow_unverified"), "default",
    "Which plugins are loaded: [plugins](../how-to/plugins.md).", **_PLUGINS,
)  # fmt: skip
DEVELOPER_MODE: Final = Variable(
    "DRYSTONE_DEVELOPER_MODE", flag(), False,
    "Load unsigned plugins, for those who make them.", **_PLUGINS,
)  # fmt: skip
PLUGINS_DISABLE: Final = Variable(
    "DRYSTONE_PLUGINS_DISABLE", names(), (),
    "Names of plugins or packages that are not loaded, with commas between; `*`: none is.",
    **_PLUGINS,
)  # fmt: skip
TF_PLUGINS: Final = Variable(
    "DRYSTONE_TF_PLUGINS", flag(), False,
    "Also search TensorFlow's own `tensorflow-plugins` folders.", **_PLUGINS,
)  # fmt: skip
PLUGIN_ISOLATION: Final = Variable(
    "DRYSTONE_PLUGIN_ISOLATION", choice("none", "unsigned", "process"), None,
    "Which plugins run in processes of their own, whatever their manifests say: none, those "
    "without a trusted signature, or all (`process`).", **_PLUGINS,
)  # fmt: skip
PLUGIN_PROBE_SECONDS: Final = Variable(
    "DRYSTONE_PLUGIN_PROBE_SECONDS", number(0, 86400, unit="seconds"), 20.0,
    "How long an untrusted plugin may take when it is tried; 0 tries none.",
    **_PLUGINS,
)  # fmt: skip
TRUST_STORE: Final = Variable(
    "DRYSTONE_TRUST_STORE", path("a folder"), "",
    "The folder of public keys that are trusted (default: the user's config folder).", **_PLUGINS,
)  # fmt: skip

VARIABLES: Final = tuple(one for one in list(globals().values()) if type(one) is Variable)
