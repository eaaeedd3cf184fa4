"""A small but complete checkout, in which tests plant one violation at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.scripts import compat_page

PACKAGES = """
[budgets]
import_seconds = 0.15
first_use_seconds = 0.6
file_lines = 20
function_lines = 5
data_megabytes = 0.001
"""
ENTRY = """
[packages.{key}]
dir = "{dir}"
distribution = "{dist}"
import_name = "{name}"
layer = {layer}
depends_on = [{depends}]
owners = []
native = false
wheel_kib = 1
installed_kib = 2
"""
PROJECT = """[project]
name = "{dist}"
version = "0.1.0"
dependencies = [
{requires}]
"""
LAYOUT = {
    "plugin-abi": ("plugin-abi", "drystone-plugin-abi", "drystone_abi", 0, "", ""),
    "base": ("packages/base", "drystone-base", "drystone_base", 1, '"plugin-abi"', ">=0.1.0"),
    "optimizer": ("packages/optimizer", "drystone-optimizer", "drystone_opt", 2, '"base"', ""),
    "metapackage": ("metapackage", "drystone", "drystone", 3, '"base"', "=="),
}
COMPAT = """[[sets]]
drystone = "0.1.0"
[sets.packages]
drystone-base = "0.1.0"
drystone-optimizer = "0.1.0"
drystone-plugin-abi = "0.1.0"
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Root of a checkout with four packages that keeps every promise."""
    return make_tree(tmp_path)


def make_tree(root: Path) -> Path:
    """Write that checkout."""
    put(root, "ci/compat.toml", COMPAT)
    table = PACKAGES
    for key, (folder, dist, name, layer, depends, _) in LAYOUT.items():
        table += ENTRY.format(
            key=key, dir=folder, dist=dist, name=name, layer=layer, depends=depends
        )
        put(
            root,
            f"{folder}/src/{name}/__init__.py",
            '__version__ = "0.1.0"\n__all__ = ["__version__"]\n',
        )
        below = LAYOUT[depends.strip('"')][1] if depends else ""
        requires = f'    "{below}>=0.1.0",\n' if below else ""
        put(root, f"{folder}/pyproject.toml", PROJECT.format(dist=dist, requires=requires))
    put(root, "ci/packages.toml", table)
    pins = "".join(
        f'    "drystone-{part}==0.1.0",\n' for part in ("base", "optimizer", "plugin-abi")
    )
    put(root, "metapackage/pyproject.toml", PROJECT.format(dist="drystone", requires=pins))
    put(root, "ci/matrix.toml", '[python]\ntested = ["3.11"]\n[os]\ntested = ["linux-x86_64"]\n')
    put(root, "docs/reference/compat.md", compat_page.render(root))
    return root


def put(root: Path, name: str, text: str) -> Path:
    """Write a file of the small checkout."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
