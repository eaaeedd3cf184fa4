"""Names of packages that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import sys

import pytest
from fresh_process import run_program

from drystone_base.core.lazy_names import lazy_names

PACKAGES = ["drystone_base", "drystone_base.cli.kit", "drystone_base.loaders",
            "drystone_base.placement", "drystone_base.plugins"]  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES)
def test_all_public_names_are_there(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        assert vars(module)[name] is value, "the second time nothing is looked up"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nobody'"):
        _ = module.nobody


def test_modules_are_imported_when_a_name_is_asked_for() -> None:
    code = """
import sys, drystone_base
print("drystone_base.core.errors" in sys.modules, drystone_base.BadRequest.__module__)
print("drystone_base.placement" in sys.modules)
"""
    assert run_program(code).split() == ["False", "drystone_base.core.errors", "False"]


def test_homes_are_modules_with_or_without_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.import_module("json")
    homes = {"decoder": "", "JSONEncoder": ".encoder", "sep": "os.path:altsep", "join": "os.path"}
    find, names = lazy_names("json", homes, ["join", "decoder"])
    assert names() == ["decoder", "join"]
    for name in homes:
        monkeypatch.setattr(package, name, None, raising=False)
    assert find("decoder") is sys.modules["json.decoder"]
    assert find("JSONEncoder") is sys.modules["json.encoder"].JSONEncoder
    assert find("sep") is None
    assert find("join").__name__ == "join"
