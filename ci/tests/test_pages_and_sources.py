"""What pages say to type: packages that go together, and the sessions that there are."""

from __future__ import annotations

import ast
import re

from ci.apart import sessions as apart
from ci.nightly import sessions as nightly
from ci.scripts.project import ROOT, load_toml, packages

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_whoever_installs_the_metapackage_installs_what_it_pins() -> None:
    """No index has the pinned packages of a checkout: pip gives up where a line lacks one."""
    pins = load_toml(ROOT / "metapackage" / "pyproject.toml")["project"]["dependencies"]
    table = load_toml(ROOT / "ci" / "packages.toml")["packages"].values()
    folders = {one["distribution"]: one["dir"] for one in table}
    needed = {folders[pin.partition("==")[0]] for pin in pins}
    lines = [
        (page.name, set(re.findall(r"(?:\./|-e )([\w/-]+)", line)))
        for page in PAGES
        for line in page.read_text("utf-8").splitlines()
        if re.search(r"pip install(?! --no-deps)[^`]*(\./|-e )metapackage", line)
    ]
    assert lines
    assert [(name, sorted(needed - given)) for name, given in lines if needed - given] == []


def test_every_session_is_on_the_page_for_contributors() -> None:
    tree = ast.parse((ROOT / "noxfile.py").read_text("utf-8"))
    sessions = {
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and any("nox.session" in ast.unparse(decorator) for decorator in one.decorator_list)
    }
    sessions.update(nightly.__all__, apart.__all__)
    page = (
        (ROOT / "docs" / "how-to" / "contributing.md").read_text("utf-8").partition("## Checks")[0]
    )
    table = "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`(\w+)`", table)) == sessions


def test_the_page_of_each_package_with_floors_lists_them_in_order() -> None:
    for package in packages().values():
        if package.floors:
            text = (package.path / "README.md").read_text("utf-8")
            assert tuple(re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)) == package.floors
