"""The lock of the plugin ABI: `python -m ci.scripts.abi_lock [--check | --update]`.

`plugin-abi/abi.lock` holds every struct (size, offset and type of each member, hash), enum, typedef
and prototype of the headers, with the ABI version they belong to. A change of the headers needs

- a new MINOR in plugin-abi/VERSION when something was appended,
- a new MAJOR when something that was there is gone, moved or of another type,

and then `--update`. While a version has no folder in plugin-abi/frozen/ it is not released, and its
lock may be updated freely.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci.scripts import abi_model
from ci.scripts.project import ROOT

__all__ = ["Change", "changes", "check", "current", "frozen_folder", "main", "needed", "update"]

LOCK = Path("plugin-abi/abi.lock")
HELP = "python -m ci.scripts.abi_lock --update"


@dataclass(frozen=True)
class Change:
    """One difference; `breaks` when plugins built before it would notice."""

    text: str
    breaks: bool


def current(root: Path = ROOT) -> dict[str, Any] | None:
    """What the lock should hold, or None without a GCC to ask."""
    cc = abi_model.compiler()
    if cc is None:
        return None
    model = abi_model.read(root / "plugin-abi" / "include", cc)
    return {"abi_version": _version(root), "hash": abi_model.fingerprint(model), **model}


def _version(root: Path) -> str:
    return (root / "plugin-abi" / "VERSION").read_text(encoding="utf-8").strip()


def frozen_folder(root: Path, version: str) -> Path:
    """Where the headers of a released version are kept."""
    return root / "plugin-abi" / "frozen" / f"v{version.replace('.', '_')}"


def changes(before: dict[str, Any], now: dict[str, Any]) -> list[Change]:
    """Every difference between two models."""
    found = list(_structs(before["structs"], now["structs"]))
    for kind in ("typedefs", "functions", "constants"):
        found += _table(kind.removesuffix("s"), before[kind], now[kind])
    for name in sorted(before["enums"].keys() | now["enums"].keys()):
        old, new = before["enums"].get(name, {}), now["enums"].get(name, {})
        found += _table(f"constant of {name}", old, new)
    return found


def _table(what: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield Change(f"{what} {name} is gone", breaks=True)
        elif name not in before:
            yield Change(f"{what} {name} is new", breaks=False)
        elif before[name] != now[name]:
            yield Change(f"{what} {name} was {before[name]}, is {now[name]}", breaks=True)


def _structs(before: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    for name in sorted(before.keys() | now.keys()):
        if name not in now:
            yield Change(f"struct {name} is gone", breaks=True)
        elif name not in before:
            yield Change(f"struct {name} is new", breaks=False)
        elif before[name] != now[name]:
            yield from _members(name, before[name], now[name])


def _members(name: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[Change]:
    """Differences of one struct; only one that states its size may grow, and only at its end."""
    old = {entry["name"]: entry for entry in before["members"]}
    new = {entry["name"]: entry for entry in now["members"]}
    end = max(entry["offset"] + entry["size"] for entry in before["members"])
    for member in old.keys() | new.keys():
        was, entry = old.get(member), new.get(member)
        if entry is None:
            yield Change(f"{name}.{member} is gone", breaks=True)
        elif was is None:
            appended = entry["offset"] >= end and before["stated_size"] is not None
            where = "appended" if appended else "inserted, or the struct states no size"
            yield Change(f"{name}.{member} is new: {where}", breaks=not appended)
        elif was != entry:
            yield Change(f"{name}.{member} was {_place(was)}, is {_place(entry)}", breaks=True)
    grown = new.keys() - old.keys()
    if not grown and (before["size"], before["stated_size"]) != (now["size"], now["stated_size"]):
        yield Change(f"{name} changed its size without a member", breaks=True)


def _place(entry: dict[str, Any]) -> str:
    return f"{entry['type']} at {entry['offset']}"


def needed(found: list[Change], before: str, now: str) -> str | None:
    """Which bump `found` still needs between two versions, or None."""
    old, new = ([int(part) for part in version.split(".")] for version in (before, now))
    if any(change.breaks for change in found) and new[0] <= old[0]:
        return f"MAJOR: {before} must become {old[0] + 1}.0 in plugin-abi/VERSION and version.h"
    if found and new <= old:
        return (
            f"MINOR: {before} must become {old[0]}.{old[1] + 1} in plugin-abi/VERSION and version.h"
        )
    return None


def check(root: Path = ROOT) -> list[str]:
    """Differences between the headers and the lock, and what they need."""
    now = current(root)
    if now is None:
        print("abi_lock: no GCC to ask: the headers are not compared with the lock")
        return []
    if not (root / LOCK).is_file():
        return [f"{LOCK} is missing: run {HELP}"]
    before = json.loads((root / LOCK).read_text(encoding="utf-8"))
    found = changes(before, now)
    problems = [f"{'breaks' if item.breaks else 'adds'}: {item.text}" for item in found]
    bump = needed(found, before["abi_version"], now["abi_version"])
    if bump and frozen_folder(root, before["abi_version"]).is_dir():
        problems.append(f"needs a new {bump}")
    elif found or before != now:
        problems.append(f"{LOCK} is out of date: run {HELP}")
    return problems


def update(root: Path = ROOT) -> list[str]:
    """Write the lock, unless a released version would change without a bump."""
    now = current(root)
    if now is None:
        return ["no GCC to ask"]
    if (root / LOCK).is_file():
        before = json.loads((root / LOCK).read_text(encoding="utf-8"))
        found = changes(before, now)
        bump = needed(found, before["abi_version"], now["abi_version"])
        if bump and frozen_folder(root, before["abi_version"]).is_dir():
            return [*(change.text for change in found), f"needs a new {bump}"]
    text = json.dumps(now, indent=1, sort_keys=True)
    (root / LOCK).write_text(_narrow(text) + "\n", encoding="utf-8")
    return []


def _narrow(text: str) -> str:
    """Put each member on one line, so that a difference reads as one."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if inside:
            lines[-1] += line.strip() + ("" if line.strip().startswith("}") else " ")
            inside = not line.strip().startswith("}")
        else:
            lines.append(line)
            inside = line == "    {"
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Check or update, and print what was found."""
    parser = argparse.ArgumentParser(prog="python -m ci.scripts.abi_lock", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the lock")
    parser.add_argument("--check", action="store_true", help="compare only (the default)")
    asked = parser.parse_args(arguments)
    problems = update() if asked.update else check()
    print(*(problems or [f"{LOCK}: ok"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
