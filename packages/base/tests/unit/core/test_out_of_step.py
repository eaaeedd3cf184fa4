"""A package that needs what the installed release of another has not says so, and what helps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from drystone_base import modules
from drystone_base.cli import _app
from drystone_base.core.errors import DrystoneError
from drystone_base.core.installed import EntryPoint
from drystone_base.core.lazy_names import lazy_names
from drystone_base.core.out_of_step import OutOfStep, out_of_step
from drystone_base.modules import _registry


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Packages: quarry 2.0, which lost a name, and cobble-stones 1.3, which needs it."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, version, requires in (
        ("quarry", "2.0", ""),
        ("cobble_stones", "1.3", "Requires-Dist: numpy\nRequires-Dist: Quarry<3,>=1\n"),
    ):
        info = tmp_path / f"{name}-{version}.dist-info"
        info.mkdir()
        called = name.replace("_", "-")
        head = f"Metadata-Version: 2.1\nName: {called}\nVersion: {version}\n{requires}"
        (info / "METADATA").write_text(head, encoding="utf-8")
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "quarry" / "stones.py").write_text("granite = 1\n", encoding="utf-8")
    yield tmp_path
    for module in [
        name for name in sys.modules if name.split(".")[0] in ("quarry", "cobble_stones")
    ]:
        del sys.modules[module]


def needs(site: Path, line: str) -> EntryPoint:
    """A plugin of cobble-stones whose module has that line."""
    (site / "cobble_stones" / "plugin.py").write_text(f"{line}\n", encoding="utf-8")
    return EntryPoint("cobble", "cobble_stones.plugin", "cobble-stones", "1.3")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from quarry.stones import marble", "no marble in quarry.stones"),
        ("from quarry import marble", "no marble in quarry"),
        ("import quarry.marble", "no module quarry.marble"),
        ("from quarry.marble import slab", "no module quarry.marble"),
        ("import quarry.stones as s; s.marble", "no marble in quarry.stones"),
        ("def f():\n  from quarry.stones import marble\nf()", "no marble in quarry.stones"),
    ],
)
def test_the_message_names_both_packages_and_what_helps(site: Path, line: str, found: str) -> None:
    with pytest.raises(ImportError) as caught:
        needs(site, line).load()
    error = caught.value
    assert isinstance(error, OutOfStep)
    assert str(error) == (
        "cobble-stones 1.3 cannot be used with quarry 2.0 [packages-out-of-step]\n"
        "  check: what a package needs of another must be in the release that is installed\n"
        f"  found: {found}\n"
        "  needed: a release of quarry that has it; cobble-stones 1.3 requires Quarry<3,>=1\n"
        "  remedy: pip install --upgrade cobble-stones quarry; where that changes nothing, install "
        'the quarry from before it was upgraded: pip install "quarry<2.0"\n'
        f"  caused by: {type(error.inner).__name__}: {error.inner}"
    )


def test_a_name_of_a_package_that_is_imported_when_it_is_asked_for(site: Path) -> None:
    needs(site, "from quarry.stones import marble")
    import_module("cobble_stones")
    find, _ = lazy_names("cobble_stones", {"pave": ".plugin"}, ["pave"])
    with pytest.raises(OutOfStep, match=r"cobble-stones 1\.3 cannot be used with quarry 2\.0"):
        find("pave")


def test_a_public_name_of_base_that_is_gone(site: Path) -> None:
    with pytest.raises(OutOfStep) as caught:
        needs(site, "import drystone_base as ds\nds.no_such_name").load()
    assert caught.value.found == "no no_such_name in drystone_base"
    assert "cobble-stones 1.3 cannot be used with drystone-base " in caught.value.what
    sys.modules.pop("cobble_stones.plugin", None)
    imports = needs(site, "from drystone_base import no_such_name")
    with pytest.raises(OutOfStep, match="no no_such_name in drystone_base"):
        imports.load()


def test_a_module_that_was_installed_with_nothing_is_named_itself(site: Path) -> None:
    (site / "loose.py").write_text("from quarry.stones import marble\n", encoding="utf-8")
    with pytest.raises(OutOfStep) as caught:
        EntryPoint("loose", "loose", "", "").load()
    assert caught.value.what == "module loose cannot be used with quarry 2.0"
    assert caught.value.needed == "a release of quarry that has it"
    assert caught.value.remedy.startswith("pip install --upgrade quarry; ")


@pytest.mark.parametrize(
    "line",
    [
        "from cobble_stones import nothing",  # its own
        "from json import nothing",  # Python's
        "import no_such_package_at_all",  # which is another error
        "import google.no_such_part",  # whose folder several packages share
        "(1).nothing",  # of no module
        "raise ImportError('by itself')",
    ],
)
def test_other_errors_are_as_they_were(site: Path, line: str) -> None:
    with pytest.raises((ImportError, AttributeError)) as caught:
        needs(site, line).load()
    assert not isinstance(caught.value, DrystoneError)
    assert out_of_step(caught.value) is None


def test_modules_that_import_each_other_are_no_matter_of_releases(site: Path) -> None:
    (site / "quarry" / "stones.py").write_text(
        "from cobble_stones.plugin import slab\n", encoding="utf-8"
    )
    with pytest.raises(ImportError, match="partially initialized") as caught:
        needs(site, "import quarry.stones\nslab = 1").load()
    assert not isinstance(caught.value, DrystoneError)


def test_stages_of_modules_import_late(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the command line says it of whatever else a command of a package imports."""
    point = needs(site, "from quarry.stones import marble")
    monkeypatch.setattr(_registry, "_MODULES", _registry.Registry("module"))
    monkeypatch.setattr(_registry, "_scanned", True)

    def polish() -> object:
        return import_module(point.value)

    module = modules.Module("m", (), lambda _library, _symbol: None, stages={"polish": polish})
    modules.register(module)
    (late,) = modules.stage("polish")
    with pytest.raises(OutOfStep, match=r"cobble-stones 1\.3 cannot be used with quarry 2\.0"):
        late()
    with pytest.raises(ImportError) as caught:
        polish()
    told = _app._foreign(caught.value)
    assert (told.code, _app.exit_code(told)) == ("packages-out-of-step", 2)
