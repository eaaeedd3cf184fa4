"""The step that reads what a library was built for, in its bytes, before it is opened.

Operating system, architecture, byte order, every recorded processor feature and the version of the
plugin ABI must fit this host.
"""

from __future__ import annotations

import os
import platform
import sys
from typing import Any, Final

from drystone_abi import ABI_VERSION
from drystone_abi.platform_strings import ABI_VERSION_RECORD, FORMAT_RECORD, parse_records
from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings
from drystone_base.core.processor import ALWAYS, features, needed_features
from drystone_base.files.contents import platform_strings
from drystone_base.plugins._record import Plugin, StepResult, failed, passed

__all__ = ["MACHINES", "ORDERS", "OURS", "SYSTEMS", "check_platform"]

# The host's own loader has copies of these tables: python -m ci.scripts.platform_tables.

SYSTEMS: Final = {
    "__linux__": "Linux",
    "__APPLE__": "Darwin",
    "_WIN32": "Windows",
    "__FreeBSD__": "FreeBSD",
    "__NetBSD__": "NetBSD",
    "__OpenBSD__": "OpenBSD",
    "__CYGWIN__": "Cygwin",
    "__ANDROID__": "Android",
}
MACHINES: Final = {
    "__x86_64__": "x86_64", "_M_X64": "x86_64", "__i386__": "x86", "_M_IX86": "x86",
    "__aarch64__": "aarch64", "_M_ARM64": "aarch64", "__arm__": "arm", "_M_ARM": "arm",
    "__powerpc64__": "powerpc64", "__powerpc__": "powerpc", "__s390x__": "s390x",
    "__mips64__": "mips64", "__mips32__": "mips32", "__riscv": "riscv", "__sparc64__": "sparc64",
    "__loongarch64": "loongarch64", "__alpha__": "alpha", "__ia64__": "ia64",
}  # fmt: skip
OURS: Final = {
    "amd64": "x86_64", "arm64": "aarch64", "ppc64le": "powerpc64", "ppc64": "powerpc64",
    "riscv64": "riscv", "i686": "x86", "i386": "x86",
}  # fmt: skip
ORDERS: Final = {"1234": "little", "4321": "big"}


def check_platform(plugin: Plugin, settings: Settings) -> StepResult:
    """The step: compare the library's platform strings with this host."""
    try:
        records = parse_records(platform_strings(plugin.path))
    except OSError as error:
        return failed("platform", plugin.unreadable(error))
    if FORMAT_RECORD not in records:
        return _without(plugin, settings)
    for check in (_format, _system, _processor, _abi):
        wrong = check(plugin, records)
        if wrong is not None:
            return failed("platform", wrong, records=records)
    return _with(records)


def _without(plugin: Plugin, settings: Settings) -> StepResult:
    """A library without platform strings loads by policy only, and the report says so."""
    if settings.policy == "allow_unverified":
        text = "carries no platform strings; nothing is known of the machine it was built for"
        return passed("platform", reason="plugin-no-platform-strings", text=text)
    return failed(
        "platform",
        plugin.refuse(
            "does not say what it was built for",
            check=f"policy {settings.policy}: a library carries platform strings",
            found="no platform strings in the file",
            needed="TF_PLATFORM_STRINGS() in one of its source files",
            remedy=plugin.advice(
                user="if you trust it with this machine: DRYSTONE_PLUGIN_POLICY=allow_unverified",
                author="build it with drystone_add_plugin, or put TF_PLATFORM_STRINGS() into one "
                "of its sources",
            ),
            code="plugin-no-platform-strings",
        ),
    )


def _with(records: dict[str, str]) -> StepResult:
    facts: dict[str, Any] = {
        "features": sorted(needed_features(records)),
        "abi": records.get(ABI_VERSION_RECORD, ""),
    }
    built, ours = _version(facts["abi"]), _version(ABI_VERSION)
    if built is None:
        text = "states no version of the plugin ABI; taken to be TensorFlow's interface"
        return passed("platform", reason="plugin-abi-unknown", text=text, **facts)
    if ours is not None and built > ours:
        text = f"built for the newer plugin ABI {facts['abi']}; this host has {ABI_VERSION}"
        return passed("platform", reason="plugin-abi-newer", text=text, **facts)
    return passed("platform", **facts)


def _version(text: str) -> tuple[int, int] | None:
    parts = text.split(".")
    if len(parts) != 2 or not all(part.isdecimal() and len(part) <= 6 for part in parts):
        return None
    return int(parts[0]), int(parts[1])


def _format(plugin: Plugin, records: dict[str, str]) -> PluginError | None:
    if records[FORMAT_RECORD].split(".")[0] == "1":
        return None
    return plugin.refuse(
        "has platform strings of an unknown format",
        check=f"the record {FORMAT_RECORD} must be one this host reads",
        found=f"{FORMAT_RECORD}={records[FORMAT_RECORD]}",
        needed=f"{FORMAT_RECORD}=1.0",
        remedy="update drystone-base",
        code="plugin-bad-platform-strings",
    )


def _system(plugin: Plugin, records: dict[str, str]) -> PluginError | None:
    """Operating system, architecture and byte order."""
    machine = platform.machine().lower()
    ours = (platform.system(), OURS.get(machine, machine), sys.byteorder)
    systems = {name for macro, name in SYSTEMS.items() if macro in records}
    machines = {name for macro, name in MACHINES.items() if macro in records}
    order = ORDERS.get(records.get("__BYTE_ORDER__", ""))
    orders = {order} if order else set()
    if "__BIG_ENDIAN__" in records:
        orders.add("big")
    if "__powerpc64__" in records:
        machines.discard("powerpc")
    found = (systems, machines, orders)
    fits = all(not has or mine in has for mine, has in zip(ours, found, strict=True))
    if fits and "__ANDROID__" not in records:
        return None
    words = [" or ".join(sorted(has)) or "unknown" for has in found]
    return plugin.refuse(
        "is built for another platform",
        check="its platform strings must name this system, architecture and byte order",
        found=f"{words[0]}, {words[1]}, {words[2]}-endian",
        needed=f"{ours[0]}, {ours[1]}, {ours[2]}-endian",
        remedy=f"install the build of {plugin.package or plugin.name} for this platform",
        code="plugin-wrong-platform",
    )


def _processor(plugin: Plugin, records: dict[str, str]) -> PluginError | None:
    needed = needed_features(records)
    asked = set(needed) - ALWAYS.get(platform.machine(), frozenset())
    missing = [f"{name} ({needed[name]})" for name in sorted(asked and asked - features())]
    if not missing:
        return None
    known = bool(features())
    return plugin.refuse(
        "needs a processor that this is not",
        check="every processor feature it was compiled with must be there",
        found=f"this processor lacks {', '.join(missing)}"
        if known
        else "the features of this processor cannot be found out",
        needed=", ".join(sorted(needed)),
        remedy=plugin.advice(
            user=f"install a build of {plugin.package or plugin.name} for this processor",
            author="build for processors that are older, for instance with -march=x86-64-v2",
        ),
        code="plugin-wrong-processor",
    )


def _abi(plugin: Plugin, records: dict[str, str]) -> PluginError | None:
    """Equal major versions, and the manifest's own range."""
    text = records.get(ABI_VERSION_RECORD, "")
    built, ours = _version(text), _version(ABI_VERSION)
    if ABI_VERSION_RECORD in records and (built is None or (ours and built[0] != ours[0])):
        package = plugin.package or os.path.basename(plugin.path)
        older = built is not None and ours is not None and built[0] < ours[0]
        return plugin.refuse(
            "is built for another plugin ABI",
            check="the major versions of plugin and host must be equal",
            found=f"plugin ABI {text or 'without a number'}",
            needed=f"plugin ABI {ABI_VERSION.split('.')[0]}.x (this host has {ABI_VERSION})",
            remedy=f"pip install --upgrade {package if older else 'drystone-base'}",
            code="plugin-wrong-abi",
        )
    return None
