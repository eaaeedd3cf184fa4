"""The releases that are simulated, as data, and what each date must give.

A is drystone-base; B are the packages on it, the optimizer, the partitioner and the filesystems;
C is drystone, which pins a set of them. Base 1.1 brings a public name, base 2.0 takes it away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

__all__ = ["RELEASES", "WORLDS", "Release", "World"]

BASE, OPTIMIZER, SUBGRAPH = "drystone-base", "drystone-optimizer", "drystone-subgraph"
FILES, ABI, CPU, META = "drystone-filesystem", "drystone-plugin-abi", "drystone-cpu", "drystone"
INIT: Final = "drystone_base/__init__.py"
NEW_NAME: Final = "\n\ndef release_of_1_1() -> int:\n    return 11\n"
"""What base has from 1.1 to 1.9, and nobody else."""
USES_IT: Final = "\nfrom drystone_base import release_of_1_1 as _release_of_1_1\n"
ONE, TWO = ">=1.0,<2", ">=2.0,<3"


@dataclass(frozen=True)
class Release:
    """One package's release: its requirements on others of ours, and what its files say else."""

    date: str
    package: str
    version: str
    requires: dict[str, str] = field(default_factory=dict)
    edits: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """What a request installs at a date; a text stands for what the resolver says instead."""

    date: str
    asks: tuple[str, ...]
    gives: dict[str, str] | str
    pip: bool = False


def _set(date: str, version: str, **held: str) -> Release:
    pins = {
        name: f"=={held[key]}"
        for key, name in {
            "base": BASE,
            "optimizer": OPTIMIZER,
            "subgraph": SUBGRAPH,
            "files": FILES,
        }.items()
    }
    return Release(date, META, version, {**pins, ABI: "==1.0.0", CPU: "==1.0.0"})


_IN_OPTIMIZER = {"drystone_optimizer/pipeline/pipeline.py": ("", USES_IT)}
RELEASES: Final = (
    Release("2030-01-10", ABI, "1.0.0"),
    Release("2030-01-10", CPU, "1.0.0", {ABI: ">=1.0"}),
    Release("2030-01-10", BASE, "1.0.0", {ABI: ">=1.0"}),
    Release("2030-01-10", OPTIMIZER, "1.0.0", {BASE: ONE, ABI: ">=1.0"}),
    Release("2030-01-10", SUBGRAPH, "1.0.0", {BASE: ONE, ABI: ">=1.0"}),
    Release("2030-01-10", FILES, "1.0.0", {BASE: ONE}),
    _set("2030-01-11", "1.0.0", base="1.0.0", optimizer="1.0.0", subgraph="1.0.0", files="1.0.0"),
    # Base alone, with a new name; then the optimizer, which uses it and says so.
    Release("2030-02-01", BASE, "1.1.0", {ABI: ">=1.0"}, {INIT: ("", NEW_NAME)}),
    Release("2030-02-10", OPTIMIZER, "1.1.0", {BASE: ">=1.1,<2", ABI: ">=1.0"}, _IN_OPTIMIZER),
    Release("2030-02-15", SUBGRAPH, "1.1.0", {BASE: ONE, ABI: ">=1.0"}),
    # The set holds the partitioner's release back.
    _set("2030-02-20", "1.1.0", base="1.1.0", optimizer="1.1.0", subgraph="1.0.0", files="1.0.0"),
    # A major of base, without the name: ranges hold it back until each has a release for it.
    Release("2030-03-01", BASE, "2.0.0", {ABI: ">=1.0"}),
    Release("2030-03-05", OPTIMIZER, "2.0.0", {BASE: TWO, ABI: ">=1.0"}),
    Release("2030-03-10", SUBGRAPH, "2.0.0", {BASE: TWO, ABI: ">=1.0"}),
    Release("2030-03-10", FILES, "2.0.0", {BASE: TWO}),
    _set("2030-03-11", "2.0.0", base="2.0.0", optimizer="2.0.0", subgraph="2.0.0", files="2.0.0"),
)
WORLDS: Final = (
    World("2030-01-20", (META,), {META: "1.0.0", BASE: "1.0.0", OPTIMIZER: "1.0.0"}, pip=True),
    World("2030-02-05", (META,), {META: "1.0.0", BASE: "1.0.0"}),
    World("2030-02-05", (OPTIMIZER,), {OPTIMIZER: "1.0.0", BASE: "1.1.0"}),
    World("2030-02-12", (OPTIMIZER,), {OPTIMIZER: "1.1.0", BASE: "1.1.0"}),
    World("2030-02-12", (f"{OPTIMIZER}==1.0.0",), {OPTIMIZER: "1.0.0", BASE: "1.1.0"}),
    World(
        "2030-02-25", (META,), {META: "1.1.0", BASE: "1.1.0", OPTIMIZER: "1.1.0", SUBGRAPH: "1.0.0"}
    ),
    World(
        "2030-03-02", (OPTIMIZER, SUBGRAPH), {OPTIMIZER: "1.1.0", SUBGRAPH: "1.1.0", BASE: "1.1.0"}
    ),
    World("2030-03-02", (BASE,), {BASE: "2.0.0"}),
    World("2030-03-06", (OPTIMIZER,), {OPTIMIZER: "2.0.0", BASE: "2.0.0"}),
    World(
        "2030-03-06", (OPTIMIZER, SUBGRAPH), {SUBGRAPH: "1.1.0", OPTIMIZER: "1.1.0", BASE: "1.1.0"}
    ),
    World(
        "2030-03-06",
        (f"{OPTIMIZER}>=2", SUBGRAPH),
        "drystone-optimizer>=2.0.0 and all versions of drystone-subgraph are incompatible",
    ),
    World("2030-03-20", (META,), {META: "2.0.0", BASE: "2.0.0", SUBGRAPH: "2.0.0"}, pip=True),
)
