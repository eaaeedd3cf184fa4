"""import_layers, public_symbols and version_sync, each with a planted violation."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import import_layers, public_symbols, version_sync
from ci.release import records
from ci.scripts import metapackage_pins
from ci.scripts.project import packages
from ci.tests.conftest import ENTRY, put

BASE = "packages/base/src/drystone_base"
OPTIMIZER = "packages/optimizer/src/drystone_opt"


def test_clean_tree_passes(tree: Path) -> None:
    put(tree, f"{BASE}/thing.py", "from drystone_abi import __version__\n")
    assert import_layers.find(tree) == []
    assert version_sync.find(tree) == []


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        (f"{BASE}/thing.py", "import drystone_opt", "base (layer 1) must not import optimizer"),
        (f"{BASE}/thing.py", "import drystone", "must not import metapackage"),
        (f"{OPTIMIZER}/a.py", "import drystone_abi", "must not import plugin-abi"),
        (f"{OPTIMIZER}/a.py", "import drystone_base._x", "drystone_base._x is private to base"),
        (f"{OPTIMIZER}/a.py", "from drystone_base import hidden", "hidden is not in __all__"),
        (f"{OPTIMIZER}/a.py", "from drystone_base import _sub", "_sub is not in __all__"),
        (f"{OPTIMIZER}/a.py", "from drystone_base.sub import x", "x is not in __all__"),
        ("integration_tests/test_a.py", "import drystone", "see installed wheels only"),
    ],
)
def test_import_that_breaks_a_rule(tree: Path, file: str, line: str, text: str) -> None:
    put(tree, f"{BASE}/sub.py", '__all__ = ["y"]\nx = y = 1\n')
    put(tree, f"{BASE}/_sub.py", "")
    put(tree, file, f"def late():\n    {line}\n")
    (problem,) = import_layers.find(tree)
    assert problem.startswith(f"{file}:2: ")
    assert text in problem


def _with_floors(tree: Path) -> None:
    path = tree / "ci/packages.toml"
    text = path.read_text(encoding="utf-8")
    line = 'import_name = "drystone_base"\n'
    path.write_text(text.replace(line, f'{line}floors = ["low", "high"]\n'), encoding="utf-8")
    put(tree, f"{BASE}/low/__init__.py", "")
    put(tree, f"{BASE}/high/__init__.py", "")
    put(tree, f"{BASE}/high/b.py", "from drystone_base.low import a\n")


@pytest.mark.parametrize(
    "text",
    [
        "\n\nfrom drystone_base.high import b\n",
        "def late():\n    if late:\n        from drystone_base.high.b import name\n",
        "\ntry:\n    import drystone_base.high.b\nexcept ImportError: pass\n",
        "TYPE_CHECKING = 0\nif not TYPE_CHECKING:\n    from drystone_base import high\n",
        "if TYPE_CHECKING:\n    pass\nelse: from drystone_base import high\n",
    ],
)
def test_an_import_upwards_is_refused(tree: Path, text: str) -> None:
    _with_floors(tree)
    put(tree, f"{BASE}/low/a.py", text)
    (problem,) = import_layers.find(tree)
    assert problem.startswith(f"{BASE}/low/a.py:3: low must not import high, which stands on it")


def test_an_import_for_types_may_run_upwards(tree: Path) -> None:
    _with_floors(tree)
    put(tree, f"{BASE}/low/a.py", "if TYPE_CHECKING:\n    from drystone_base.high import b\n")
    assert import_layers.find(tree) == []


@pytest.mark.parametrize("file", ["loose.py", "_loose.py", "attic/a.py"])
def test_a_file_beside_the_floors_is_refused(tree: Path, file: str) -> None:
    _with_floors(tree)
    put(tree, f"{BASE}/{file}", "")
    (problem,) = import_layers.find(tree)
    assert problem == f"{BASE}/{file}:1: stands on no floor of base (ci/packages.toml)"


@pytest.mark.parametrize(
    "line", ["from drystone_base.sub import y", "from drystone_base import sub"]
)
def test_public_import_passes(tree: Path, line: str) -> None:
    put(tree, f"{BASE}/sub.py", '__all__ = ["y"]\ny = 1\n')
    put(tree, f"{OPTIMIZER}/a.py", line)
    assert import_layers.find(tree) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "text"),
    [
        (
            f"{BASE}/__init__.py",
            "0.1.0",
            "0.2.0",
            "__version__ is 0.2.0, pyproject.toml says 0.1.0",
        ),
        ("packages/base/pyproject.toml", '"0.1.0"', '"0.2.0"', "ci/compat.toml has drystone-base"),
        ("ci/compat.toml", 'base = "0.1.0"', 'base = "0.2.0"', "metapackage pins differ"),
        ("ci/compat.toml", 'base = "0.1.0"', 'base = "0.2.0"', "docs/reference/compat.md differs"),
        (
            "packages/base/pyproject.toml",
            "dependencies = [",
            'dependencies = ["drystone-plugin-abi>=9",',
            "needs drystone-plugin-abi>=9, the tree has 0.1.0",
        ),
        ("packages/base/pyproject.toml", "= [", '= ["numpy",', "numpy has no lower bound"),
        ("packages/base/pyproject.toml", "= [", '= ["numpy==2.0",', "exact pins belong to"),
    ],
)
def test_versions_that_disagree(tree: Path, file: str, old: str, new: str, text: str) -> None:
    path = tree / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    assert any(text in problem for problem in version_sync.find(tree))


def test_a_new_package_joins_a_set_when_it_is_released(tree: Path) -> None:
    """Unless one of ours requires it: then the set would not install."""
    entry = ENTRY.format(
        key="new", dir="packages/new", dist="drystone-new", name="new", layer=2, depends=""
    )
    put(tree, "ci/packages.toml", (tree / "ci/packages.toml").read_text() + entry)
    project = '[project]\nname = "drystone-new"\nversion = "0.1.0"\ndependencies = []\n'
    put(tree, "packages/new/pyproject.toml", project)
    put(tree, "packages/new/src/new/__init__.py", '__version__ = "0.1.0"\n')
    assert version_sync.find(tree) == []
    base = tree / "packages/base/pyproject.toml"
    base.write_text(base.read_text().replace("= [", '= ["drystone-new>=0.1.0",'))
    wanted = "ci/compat.toml has drystone-new None, pyproject.toml says 0.1.0"
    assert wanted in version_sync.find(tree)


def test_pins_are_generated_from_the_newest_set(tree: Path) -> None:
    assert not metapackage_pins.outdated(tree)
    put(tree, "ci/compat.toml", (tree / "ci/compat.toml").read_text().replace("0.1.0", "0.3.0"))
    assert metapackage_pins.outdated(tree)
    text = metapackage_pins.render(tree)
    assert 'version = "0.3.0"' in text
    assert '"drystone-base==0.3.0",\n' in text


LOAD = '__version__ = "0.1.0"\n__all__ = ["load"]\n\ndef load(path, tags=()): ...\n'


@pytest.fixture
def released(tree: Path) -> Path:
    """The tree with a record of base 0.1.0, which has a public function of two arguments."""
    put(tree, f"{BASE}/__init__.py", LOAD)
    put(tree, "plugin-abi/abi.lock", '{"abi_version": "1.0", "hash": "a"}')
    records.write(tree, records.of_tree(packages(tree)["base"], "2026-01-01", []))
    return tree


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (", tags=()", "", "Parameter was removed"),
        (", tags=()", ", tags", "Parameter is now required"),
        ("path,", "place,", "Parameter was removed"),
        ("tags=()):", "tags=(), *, now):", "Parameter was added as required"),
        ('["load"]', "[]", "load is gone"),
    ],
)
def test_a_break_that_nothing_announces(released: Path, old: str, new: str, text: str) -> None:
    put(released, f"{BASE}/__init__.py", LOAD.replace(old, new))
    problem = public_symbols.find(released)[0]
    assert problem.startswith("base since 0.1.0: load")
    assert text in problem
    put(released, "packages/base/changelog.d/load.removed.md", "`load` takes less.\n")
    assert public_symbols.find(released) == []


def test_what_callers_do_not_notice_passes(released: Path) -> None:
    put(released, f"{BASE}/__init__.py", LOAD.replace("tags=()", "tags=(), more=1"))
    assert public_symbols.find(released) == []


def test_new_minor_version_may_break(released: Path) -> None:
    put(released, f"{BASE}/__init__.py", '__version__ = "0.2.0"\n')
    path = released / "packages/base/pyproject.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("0.1.0", "0.2.0"), encoding="utf-8")
    assert public_symbols.find(released) == []


def test_no_record_is_said_and_passes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert public_symbols.find(tree) == []
    assert "ci/released has nothing of base: no baseline" in capsys.readouterr().out
