"""Facts about an installation and its machine, and checks that it works."""

from __future__ import annotations

import os
import platform
import re
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from drystone_base.cli._health_runs import check, run_checks

__all__ = ["examine"]

_ABSENT: Final = "not installed"
_LIBRARIES: Final = ("numpy", "ml-dtypes", "protobuf", "click", "rich")
_INSTRUCTIONS: Final = (
    "sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16",
    "amx_tile", "amx_bf16", "amx_int8", "asimd", "asimdhp", "sve", "bf16",
)  # fmt: skip


def examine() -> dict[str, Any]:
    """Everything that ``drystone doctor`` reports, ready for JSON."""
    from drystone_base.core.missing import kernels_to_install
    from drystone_base.kernels import all_ops
    from drystone_base.ops import defs

    return {
        "packages": _drystone_packages(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
        "machine": _machine(),
        "ops": {
            "known": len(defs.names()),
            "kernels": len(all_ops()),
            "to_install": kernels_to_install(),
            "definitions_from": f"TensorFlow {defs.tensorflow_version()}",
        },
        "plugins": _plugins(),
        "plans": _plans(),
        "checks": [_check_set(), _check_requirements(), *run_checks()],
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return _ABSENT


def _drystone_packages() -> dict[str, str]:
    names = {d.metadata["Name"] for d in metadata.distributions()}
    return {n: _version(n) for n in sorted(names) if re.match(r"drystone($|-)", n or "")}


def _machine() -> dict[str, Any]:
    cpu = _read("/proc/cpuinfo")
    memory = dict(re.findall(r"^(\w+):\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE))
    model = re.search(r"^model name\s*:\s*(.+)$", cpu, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", cpu, re.MULTILINE)
    has = set(flags[1].split()) if flags else set()
    return {
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "processor": model[1] if model else platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "instructions": [name for name in _INSTRUCTIONS if name in has],
        "memory": int(memory.get("MemTotal", 0)) * 1024,
        "memory_free": int(memory.get("MemAvailable", 0)) * 1024,
        "blas": _blas(),
    }


def _plans() -> dict[str, Any]:
    """The folder of the plan cache, "" where it is off, and what is there."""
    from drystone_base.executor.plan_cache.folder import store

    found = store()
    if found is None:
        return {"folder": "", "files": 0, "bytes": 0, "refused": []}
    files, size = found.totals()
    refused = found.refused()
    return {"folder": str(found.folder), "files": files, "bytes": size, "refused": refused}


def _plugins() -> dict[str, Any]:
    """The host library, the settings, and what came of each installed plugin."""
    from drystone_base import host
    from drystone_base.cli._plugins import loaded

    report = loaded()
    settings = report.settings
    return {
        "host_library": str(host.path()) if host.available() else "",
        "policy": settings.policy,
        "developer_mode": settings.developer_mode,
        "disabled": sorted(settings.disabled),
        "plugins": [
            {"name": p.name, "state": p.state, "isolated": p.is_isolated, "reason": p.reason}
            for p in report.plugins
        ],
        "devices": _devices(),
    }


def _devices() -> list[dict[str, Any]]:
    """Types of devices that plugins offer: how many there are, and how many ops have kernels."""
    from drystone_base.core.registered import DEVICE_ENTRY, ENTRY_FUNCTIONS
    from drystone_base.executor.selection import registered

    if DEVICE_ENTRY not in ENTRY_FUNCTIONS:
        return []
    from drystone_base.host.device import list_platforms

    ops = Counter(kind for rows in registered().values() for kind in {k.device for k in rows})
    return [
        {
            "type": p["type"],
            "count": p.get("device_count", 0),
            "ops": ops[p["type"]],
            "error": p.get("error", ""),
        }
        for p in list_platforms()
    ]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _blas() -> str:
    import numpy as np

    found: Any = np.show_config(mode="dicts")
    blas = (found or {}).get("Build Dependencies", {}).get("blas", {})
    text = f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
    threads = os.environ.get("OPENBLAS_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS")
    return text + (f", {threads} threads by environment" if threads else "")


def _check_set() -> dict[str, Any]:
    """The exact pins of the metapackage are the set that was tested together.

    Those under a marker, of extras or of some machines, count where their package is installed.
    """
    name = "versions are a tested set"
    try:
        pins = metadata.requires("drystone") or []
    except metadata.PackageNotFoundError:
        return check(
            name, True, "the drystone metapackage is not installed: no set to compare with"
        )
    wrong = []
    for pin in pins:
        requirement, _, marker = pin.partition(";")
        named, _, wanted = (part.strip() for part in requirement.partition("=="))
        package = named.partition("[")[0]
        version = _version(package)
        if version != wanted and not (marker and version == _ABSENT):
            wrong.append(f"{package} {version}, tested with {wanted}")
    return check(name, not wrong, "; ".join(wrong) or f"the set of drystone {_version('drystone')}")


def _check_requirements() -> dict[str, Any]:
    """Lower bounds of drystone-base, so far as whole numbers say; extras may be left out."""
    missing = []
    for text in metadata.requires("drystone-base") or []:
        found = re.match(r"([\w.-]+)\s*>=\s*([\d.]+)", text)
        if found is None:
            continue
        version = _version(found[1])
        if version == _ABSENT and re.search(r";.*\bextra\b", text):
            continue
        have, need = (_numbers(v) for v in (version, found[2]))
        if version == _ABSENT or have < need:
            missing.append(f"{found[1]} {version}, needs {found[2]}")
    return check("libraries are recent enough", not missing, "; ".join(missing) or "all of them")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:3]]
