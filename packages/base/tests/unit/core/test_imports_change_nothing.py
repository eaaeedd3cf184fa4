"""Importing a public module changes nothing for others: what plans depend on stays the same."""

from __future__ import annotations

import re
from pathlib import Path

from cached_plans import Cached

SOURCES = Path(__file__).parents[5]

EVERY_MODULE = """
import importlib, pkgutil
from drystone_base.executor.plan_cache.cache_key import cache_key
count = 0
for package in ("abi", "base", "optimizer", "subgraph", "filesystem"):
    try:
        root = importlib.import_module("drystone_" + package)
    except ImportError:  # base is tested alone, too
        continue
    before = cache_key(ds.SessionConfig())
    for found in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        if any(part.startswith(("_", "libdrystone_")) for part in found.name.split(".")):
            continue
        importlib.import_module(found.name)
        count += 1
        assert cache_key(ds.SessionConfig()) == before, found.name + " changes it"
        assert before is not None
assert count > 400, count
"""


def test_a_cached_plan_is_taken_whatever_was_imported(tmp_path: Path) -> None:
    """Every public module of the installed packages, one after another, before the model loads."""
    kept = Cached(tmp_path)
    kept.run(["y:0"])
    kept.run(["y:0"], before=EVERY_MODULE, after=CHECK)


CHECK = """
from drystone_base.api import preparing
def fail(session):
    raise AssertionError("a plan is made again")
preparing.Preparing = fail
model.session.make_callable(["y:0"], ["x:0"])
"""


def test_no_package_asks_which_modules_are_imported() -> None:
    """Of its own, that is: TensorFlow's libraries may be in the process, or not."""
    asks = re.compile(r"""sys\.modules(\.get\(["']|\.items|\.keys)|\bin sys\.modules""")
    found = {
        line.strip()
        for package in (*SOURCES.glob("packages/*/src"), SOURCES / "plugin-abi" / "src")
        for file in package.rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if asks.search(line) and "tensorflow" not in line
    }
    assert found == set()


def test_a_first_answer_imports_only_what_it_needs(tmp_path: Path) -> None:
    """Neither the other executor, nor how it calls plugins, nor what writes and builds graphs."""
    kept = Cached(tmp_path)
    kept.run(["y:0"], after=NOT_NEEDED)


NOT_NEEDED = """
import sys
late = ("executor.reference", "executor.plugin_kernels", "graph.builder", "graph.pbtxt",
        "placement.device")
assert not [name for name in late if "drystone_base." + name in sys.modules]
"""
