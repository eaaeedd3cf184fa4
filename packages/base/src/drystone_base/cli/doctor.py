"""``drystone doctor``: what is installed, on what machine, and whether it works."""

from __future__ import annotations

from typing import Any

import click

from drystone_base.cli._output import (
    common_options,
    duration,
    print_json,
    print_table,
    size,
    wants_json,
)

__all__ = ["doctor"]

EPILOG = """\b
Examples:
  drystone doctor
  drystone doctor --json > report.json
"""


@click.command(epilog=EPILOG)
@common_options
def doctor() -> None:
    """Check this installation and its machine.

    Versions, processor, ops with kernels; a small graph is run on each executor, and a kernel of
    each plugin beside the reference. Exits with 1 when something is wrong. The output belongs into
    every bug report.
    """
    from drystone_base.cli import _health

    report = _health.examine()
    if wants_json():
        print_json(report)
    else:
        machine = report["machine"]
        rows = [*report["packages"].items(), *report["libraries"].items()]
        print_table("versions", ("package", "version"), rows)
        rows = [
            ("Python", machine["python"]),
            ("system", machine["system"]),
            ("processor", f"{machine['processor']}, {machine['cores']} cores"),
            ("instructions", " ".join(machine["instructions"])),
            ("memory", f"{size(machine['memory'])}, {size(machine['memory_free'])} free"),
            ("BLAS", machine["blas"]),
            ("plan cache", _plans(report["plans"])),
            ("kernels", f"{report['ops']['kernels']} of {report['ops']['known']} known ops"),
            *_to_install(report["ops"]["to_install"]),
        ]
        print_table("machine", ("", ""), rows)
        print_table("plugins", ("", ""), _plugin_rows(report["plugins"]))
        rows = [
            (c["name"], "ok" if c["ok"] else "WRONG", c["found"], _took(c.get("seconds")))
            for c in report["checks"]
        ]
        print_table("checks", ("check", "", "found", "took"), rows, right=("took",))
    if not all(check["ok"] for check in report["checks"]):
        raise click.exceptions.Exit(1)


def _to_install(package: str) -> list[tuple[str, str]]:
    """The row that says how to get native kernels, where there are some to be had."""
    text = f"{package} is not installed: NumPy computes everything; pip install {package}"
    return [("native kernels", text)] if package else []


def _took(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _plans(found: dict[str, Any]) -> str:
    if not found["folder"]:
        return "none: DRYSTONE_PLAN_CACHE says so, or this is not Linux"
    text = f"{found['files']} files, {size(found['bytes'])}, in {found['folder']}"
    if not found["refused"]:
        return text
    first, *others = found["refused"]
    more = f" and {len(others)} more" if others else ""
    return f"{text}; not read, as others could have written them: {first}{more}"


def _plugin_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    states = [
        f"{p['name']}: {p['state']}"
        + (", isolated" if p["isolated"] else "")
        + (f" ({p['reason']})" if p["reason"] else "")
        for p in found["plugins"]
    ]
    mode = ", developer mode" if found["developer_mode"] else ""
    return [
        ("host library", found["host_library"] or "not there: no C plugin can be loaded"),
        ("policy", found["policy"] + mode),
        ("disabled", ", ".join(found["disabled"]) or "none"),
        ("installed", "; ".join(states) or "none"),
        *[("devices", "; ".join(map(_device, found["devices"])))][: bool(found["devices"])],
    ]


def _device(found: dict[str, Any]) -> str:
    """A type of devices in words."""
    count = f"{found['count'] or 'none'}" + (f" ({found['error']})" if found["error"] else "")
    kernels = (
        f"kernels for {found['ops']} ops" if found["ops"] else "no kernels: unused by sessions"
    )
    return f"{found['type']}: {count}, {kernels}"
