"""Write docs/reference/native.json: the ops that our plugins have kernels for, by dtype.

Run from the repository root: `python -m ci.scripts.native_ops [--check]`, with a Python that has
drystone_base and drystone-cpu; `$DRYSTONE_CPU_PLUGIN` names a built one that is not installed. The
page docs/reference/coverage.md is made from that file, so that it needs no plugin.
`--check` only compares.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ci.scripts.project import ROOT

__all__ = ["Native", "cell", "load", "main", "measure", "render"]

FILE = ROOT / "docs" / "reference" / "native.json"
PLUGINS = {"cpu": "drystone_cpu"}
"""Plugins by the name that the page shows, with what their libraries' names hold."""

Native = dict[str, dict[str, dict[str, list[str]]]]
"""Plugin, op, attribute: dtypes. An op whose kernels take any dtype has no attribute here."""


def measure() -> Native:
    """What the loaded plugins register."""
    from drystone_base.executor.selection import registered

    sys.path[:0] = [str(ROOT / "packages" / path) for path in ("cpu/tests/golden", "base/tests")]
    import native_ops

    native_ops.load()
    out: Native = {}
    for plugin, library in PLUGINS.items():
        ops = out.setdefault(plugin, {})
        for op, rows in sorted(registered().items()):
            ours = [dict(row.constraints) for row in rows if library in row.library]
            if ours:
                ops[op] = _united(ours)
    return out


def _united(kernels: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """The dtypes of each attribute that all kernels of an op constrain."""
    attrs = set.intersection(*(set(kernel) for kernel in kernels))
    return {
        attr: sorted({str(dtype) for kernel in kernels for dtype in kernel[attr]})
        for attr in sorted(attrs)
    }


def render(native: Native) -> str:
    """The file as text: an op a line."""
    plugins = []
    for plugin, ops in native.items():
        lines = [f"  {json.dumps(op)}: {json.dumps(attrs)}" for op, attrs in ops.items()]
        plugins.append(f" {json.dumps(plugin)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(plugins) + "\n}\n"


def load(file: Path = FILE) -> Native:
    """What is recorded."""
    native: Native = json.loads(file.read_text(encoding="utf-8"))
    return native


def cell(native: Native, op: str, dtypes: Mapping[str, Iterable[str]]) -> str:
    """How the page shows an op: the plugins that have it, and how many of `dtypes`, if not all.

    `dtypes` are those that run in drystone, by attribute.
    """
    shown = []
    for plugin, ops in native.items():
        if op not in ops:
            continue
        held = [(attr, label) for attr, labels in dtypes.items() for label in labels]
        fit = [pair for pair in held if pair[1] in ops[op].get(pair[0], [pair[1]])]
        shown.append(plugin if len(fit) == len(held) else f"{plugin} {len(fit)} of {len(held)}")
    return ", ".join(shown)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or with `--check` exit 1 when it is outdated."""
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.native_ops", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    options = parser.parse_args(arguments)
    native = measure()
    away = [name for name, ops in native.items() if not ops]
    if away:
        which = ", ".join(f"drystone-{name}" for name in away)
        print(f"docs/reference/native.json: left as it is; {which} is not loaded here")
        print("install it, or name a built one by DRYSTONE_CPU_PLUGIN; `drystone plugins` says why")
        return 1
    text = render(native)
    if FILE.exists() and FILE.read_text(encoding="utf-8") == text:
        print("docs/reference/native.json: up to date")
        return 0
    if options.check:
        print("docs/reference/native.json: outdated; run python -m ci.scripts.native_ops")
        return 1
    FILE.write_text(text, encoding="utf-8")
    print("docs/reference/native.json: written; run python -m ci.scripts.coverage_generate")
    return 0


if __name__ == "__main__":
    sys.exit(main())
