"""Upcalls: each names a function that is there, and none is called by who stands above it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from drystone_base.core import upcalls
from drystone_base.core.upcalls import Upcall


@pytest.mark.parametrize("upcall", upcalls.ALL, ids=lambda upcall: upcall.target)
def test_what_is_named_is_there(upcall: Upcall[..., object]) -> None:
    code = f"""if True:
        from importlib import import_module
        module, _, attribute = {upcall.target!r}.partition(":")
        found = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        assert callable(found)
    """
    subprocess.run([sys.executable, "-c", code], check=True)  # by itself, before anything else


def test_all_are_listed() -> None:
    named = {name for name in upcalls.__all__ if name.isupper()} - {"ALL"}
    assert {id(getattr(upcalls, name)) for name in named} == {id(one) for one in upcalls.ALL}


def test_what_it_gives_and_raises_goes_through() -> None:
    assert Upcall[[str, str], int]("operator:countOf")("abba", "b") == 2
    with pytest.raises(TypeError):
        Upcall[[int], int]("operator:neg")("text")  # type: ignore[arg-type]
    with pytest.raises(ModuleNotFoundError):
        Upcall[[], None]("drystone_base.nowhere:nothing")()
