"""The index of kernels and shape functions says what their modules register, and is used."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from drystone_base.core.families import Families
from drystone_base.inference.shapes._registry import SHAPES
from drystone_base.kernels._registry import KERNELS

LOADED = """
import sys
from drystone_base.kernels._registry import KERNELS, find_kernel
from drystone_base.inference.shapes._registry import SHAPES, find_shape_function
assert find_kernel("Einsum").__name__ == "einsum"
assert find_shape_function("Einsum") is not None
for families in (KERNELS, SHAPES):
    inside = families.package + "."
    found = [m for m in sys.modules if m.startswith(inside) and "._" not in m]
    print(*sorted(m for m in found if not hasattr(sys.modules[m], "__path__")))
"""


@pytest.mark.parametrize("families", [KERNELS, SHAPES], ids=["kernels", "shapes"])
def test_the_index_is_what_the_modules_register(families: Families[Any]) -> None:
    assert families.index == families.registered(), "run python -m ci.scripts.families_index"


def test_finding_one_op_imports_its_module_only() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [KERNELS.index["Einsum"], SHAPES.index["Einsum"]]


def _package(monkeypatch: pytest.MonkeyPatch, index: str) -> Families[Any]:
    """A registry of a package without files, whose index is ``index``."""
    monkeypatch.setitem(sys.modules, "toy", SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "toy._index", SimpleNamespace(INDEX=index))
    monkeypatch.setitem(sys.modules, "toy.a", SimpleNamespace())
    return Families("toy", "a toy")


def test_an_op_that_the_index_lacks_is_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = _package(monkeypatch, "\na One Two\n  Three\n")
    assert toys.index == {"One": "toy.a", "Two": "toy.a", "Three": "toy.a"}
    decorate = (lambda *ops: toys.register(*ops))("New", "Newer")
    decorate(max)
    assert toys.find("New") is toys.find("Newer") is max
    assert toys.find("Three") is None
    assert toys.find("Nothing") is None


def test_an_op_has_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    toys = _package(monkeypatch, "\n")
    (lambda: toys.register("One"))()(max)
    with pytest.raises(ValueError, match="op 'One' already has a toy <built-in function max>"):
        (lambda: toys.register("One"))()(min)
