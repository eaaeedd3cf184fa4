"""Lower bounds that a release is refused for: names of extras, what is not required, headers."""

from __future__ import annotations

from pathlib import Path

from ci.checks import import_layers
from ci.release import gates, records
from ci.scripts.project import packages
from ci.tests.conftest import put

BASE = "packages/base/src/drystone_base/__init__.py"
OPTIMIZER = "packages/optimizer/pyproject.toml"
LOCK = '{"abi_version": "1.0", "hash": "a"}'
NEEDS = '[build-system]\nrequires = ["drystone-plugin-abi>={}"]\n\n'


def release(tree: Path, key: str) -> None:
    records.write(tree, records.of_tree(packages(tree)[key], "2030-01-01", []))


def asks(tree: Path, line: str) -> None:
    """State the requirements of the optimizer, which imports a name of base."""
    text = f'[project]\nname = "drystone-optimizer"\nversion = "0.1.0"\n{line}\n'
    put(tree, OPTIMIZER, text)
    put(tree, "packages/optimizer/src/drystone_opt/run.py", "from drystone_base import f\n")


def test_what_is_used_must_be_required(tree: Path) -> None:
    put(tree, BASE, '__version__ = "0.1.0"\n__all__ = ["f"]\n')
    asks(tree, "dependencies = []")
    (told,) = import_layers.find(tree)
    assert told == (
        "packages/optimizer/src/drystone_opt/run.py:1: optimizer does not require drystone-base "
        "(drystone_base)"
    )
    for line in ("dependencies", "dependencies = []\noptional-dependencies.more"):
        asks(tree, f'{line} = ["drystone-base>=0.1.0"]')
        assert import_layers.find(tree) == []


def test_an_extra_has_a_bound_too(tree: Path) -> None:
    extra = 'dependencies = []\noptional-dependencies.more = ["drystone-base>={}"]'
    put(tree, "plugin-abi/abi.lock", LOCK)
    release(tree, "base")
    put(tree, BASE, '__version__ = "0.1.0"\n__all__ = ["f"]\n')
    asks(tree, extra.format("0.1.0"))
    (told,) = gates.bound_problems(packages(tree)["optimizer"])
    assert told.startswith("optimizer uses drystone_base:f, which no release of base has: ")
    put(tree, "packages/base/pyproject.toml", '[project]\nname = "b"\nversion = "0.1.1"\n'
        "dependencies = []\n")  # fmt: skip
    release(tree, "base")
    (told,) = gates.bound_problems(packages(tree)["optimizer"])
    assert told.endswith("came with base 0.1.1: write drystone-base>=0.1.1")
    asks(tree, extra.format("0.1.1"))
    assert gates.bound_problems(packages(tree)["optimizer"]) == []


def test_a_header_comes_with_a_release(tree: Path) -> None:
    """An SDK in headers grows without a new ABI: a native package needs the release that has it."""
    put(tree, "plugin-abi/abi.lock", LOCK)
    put(tree, "plugin-abi/include/quarry/old.h", "")
    release(tree, "plugin-abi")
    put(tree, "plugin-abi/include/quarry/new.hpp", "")
    project = '[project]\nname = "drystone-optimizer"\nversion = "0.1.0"\ndependencies = []\n'
    put(tree, OPTIMIZER, NEEDS.format("0.1.0") + project)
    put(tree, "packages/optimizer/CMakeLists.txt", "find_package(DrystonePluginABI 1.0 CONFIG)\n")
    for folder, header in (("native", "old.h"), ("tests", "new.hpp")):
        put(tree, f"packages/optimizer/{folder}/a.cc", f'#include "quarry/{header}"\n')
    assert gates.contract_problems(packages(tree)["optimizer"]) == []
    put(tree, "packages/optimizer/native/a.cc", "#include <vector>\n#include <quarry/new.hpp>\n")
    (told,) = gates.contract_problems(packages(tree)["optimizer"])
    assert told == (
        "optimizer includes quarry/new.hpp, which no release of plugin-abi has: release plugin-abi "
        "first, then write that version into build-system.requires"
    )
    put(tree, "plugin-abi/pyproject.toml", '[project]\nname = "drystone-plugin-abi"\n'
        'version = "0.1.1"\ndependencies = []\n')  # fmt: skip
    release(tree, "plugin-abi")
    (told,) = gates.contract_problems(packages(tree)["optimizer"])
    assert told == (
        "optimizer includes quarry/new.hpp, which came with plugin-abi 0.1.1: write "
        "drystone-plugin-abi>=0.1.1 into build-system.requires"
    )
    put(tree, OPTIMIZER, NEEDS.format("0.1.1") + project)
    assert gates.contract_problems(packages(tree)["optimizer"]) == []
