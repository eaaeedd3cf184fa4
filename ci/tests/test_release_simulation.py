"""What `nox -s release_simulation` is made of: wheels of other versions, releases as data."""

from __future__ import annotations

import base64
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from ci.release.records import number
from ci.release.simulation import failures, page, timeline
from ci.release.simulation.reversion import reversion
from ci.scripts.project import packages
from ci.scripts.session_parts import SIMULATED

METADATA = """Metadata-Version: 2.4
Name: drystone-x
Version: 0.1.0
Requires-Dist: drystone-base>=0.1.0
Requires-Dist: drystone-cpu==0.1.0; sys_platform == "linux"
Requires-Dist: drystone-base[images]==0.1.0; extra == "images"
Requires-Dist: numpy>=2.0

Text that says Version: 0.1.0
"""


def test_the_wheels_of_all_that_is_released_are_built() -> None:
    released = {one.package for one in (*timeline.RELEASES, *failures.RELEASES)}
    assert {packages()[key].distribution for key in SIMULATED} == released


def built(folder: Path) -> Path:
    wheel = folder / "drystone_x-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("drystone_x/__init__.py", '"""X."""\n__version__ = "0.1.0"\n')
        archive.writestr("drystone_x/a.py", "one = 1\n")
        archive.writestr("drystone_x-0.1.0.dist-info/METADATA", METADATA)
        archive.writestr("drystone_x-0.1.0.dist-info/RECORD", "")
    return wheel


def test_a_wheel_of_another_version(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    pins = {"drystone-base": ">=1.0,<2", "drystone-cpu": "==1.0.0"}
    edits = {"drystone_x/a.py": ("one = 1", "one = 2")}
    made = reversion(built(tmp_path), "1.0.0", out, requires=pins, edits=edits)
    assert made.name == "drystone_x-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(made) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert contents["drystone_x/__init__.py"] == b'"""X."""\n__version__ = "1.0.0"\n'
    assert contents["drystone_x/a.py"] == b"one = 2\n"
    metadata = contents["drystone_x-1.0.0.dist-info/METADATA"].decode()
    assert metadata.splitlines()[2:7] == [
        "Version: 1.0.0",
        "Requires-Dist: drystone-base>=1.0,<2",
        'Requires-Dist: drystone-cpu==1.0.0; sys_platform == "linux"',
        'Requires-Dist: drystone-base[images]>=1.0,<2; extra == "images"',
        "Requires-Dist: numpy>=2.0",
    ]
    assert "Text that says Version: 0.1.0" in metadata
    rows = contents["drystone_x-1.0.0.dist-info/RECORD"].decode().splitlines()
    listed = {row.split(",")[0]: row.split(",")[1] for row in rows}
    assert listed.keys() == contents.keys()
    digest = base64.urlsafe_b64encode(sha256(b"one = 2\n").digest()).rstrip(b"=").decode()
    assert listed["drystone_x/a.py"] == f"sha256={digest}"


def test_what_is_not_there_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no 'two' to replace"):
        reversion(built(tmp_path), "1.0.0", tmp_path, edits={"drystone_x/a.py": ("two", "")})


@pytest.mark.parametrize("releases", [timeline.RELEASES, failures.RELEASES])
def test_releases_are_in_order_of_dates_and_versions(
    releases: tuple[timeline.Release, ...],
) -> None:
    assert [one.date for one in releases] == sorted(one.date for one in releases)
    for package in {one.package for one in releases}:
        versions = [number(one.version) for one in releases if one.package == package]
        assert versions == sorted(set(versions))


@pytest.mark.parametrize(
    ("stands", "runs"),
    [
        ("nox -s release -- optimizer 0.1.1 --check", "nox -s release -- optimizer 0.3.3 --check"),
        (
            "nox -s release -- metapackage 0.1.1 --hold drystone-optimizer==0.1.0",
            "nox -s release -- metapackage 1.0.1 --hold drystone-optimizer==0.3.2",
        ),
        ("git add packages/optimizer/changelog.d", "git add packages/optimizer/changelog.d"),
    ],
)
def test_commands_of_the_page_have_versions_that_follow_the_last(stands: str, runs: str) -> None:
    assert page.as_of_now(stands, {"optimizer": "0.3.2", "metapackage": "1.0.0"}) == runs
