"""Load the installed plugin once, whoever signed it."""

from __future__ import annotations

from importlib.metadata import files

import pytest

from drystone_base.plugins import Plugin, load_library


@pytest.fixture(scope="session", autouse=True)
def plugin() -> Plugin:
    """The library of the installed wheel; developer mode lets it be unsigned."""
    (library,) = [one for one in files("drystone-example-kernels-c") or [] if one.suffix == ".so"]
    return load_library(str(library.locate()), developer_mode=True)
