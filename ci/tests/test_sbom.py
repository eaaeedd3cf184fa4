"""The bill of materials in a wheel, and the check that what a wheel says of itself is complete."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from ci.checks import wheel_metadata
from ci.release import sbom
from ci.release.archive import record
from ci.scripts import wheels
from ci.scripts.project import ROOT, load_toml, packages

INFO = "quarry_stones-1.3.dist-info"
METADATA = """Metadata-Version: 2.4
Name: quarry-stones
Version: 1.3
Summary: Stones.
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY.md
Requires-Python: >=3.11
Description-Content-Type: text/markdown
Classifier: Development Status :: 4 - Beta
Classifier: Intended Audience :: Developers
Classifier: Operating System :: OS Independent
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development
Classifier: Typing :: Typed

Stones, described.
"""
TABLE = """# Of others

| file | is | version | from | licence | changes |
|---|---|---|---|---|---|
| `quarry/libslab.so.3` | slab | 3.2 | https://slab.example/ | BSD-3-Clause | its name |
| `quarry/libslab.so.3` | chip | in slab 3.2 | https://chip.example/ | MIT | |
"""


def wheel(folder: Path, metadata: str = METADATA, table: str = TABLE) -> Path:
    """A wheel with a library of others."""
    file = folder / "quarry_stones-1.3-py3-none-any.whl"
    contents = {
        "quarry/__init__.py": b"one = 1\n",
        "quarry/libslab.so.3": b"ELF",
        f"{INFO}/METADATA": metadata.encode(),
        f"{INFO}/licenses/LICENSE": b"Do.",
        f"{INFO}/licenses/THIRD_PARTY.md": table.encode(),
    }
    contents[f"{INFO}/RECORD"] = record(contents, f"{INFO}/RECORD")
    with zipfile.ZipFile(file, "w") as archive:
        for path, content in contents.items():
            archive.writestr(zipfile.ZipInfo(path, (2026, 1, 2, 3, 4, 6)), content)
    return file


def test_the_bill_names_the_package_and_what_it_holds_of_others(tmp_path: Path) -> None:
    file = wheel(tmp_path)
    sbom.add(file)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        found = json.loads(archive.read(f"{INFO}/sboms/quarry_stones.cdx.json"))
        times = {entry.date_time for entry in archive.infolist()}
        rows = archive.read(f"{INFO}/RECORD").decode().splitlines()
        names = archive.namelist()
    assert times == {(2026, 1, 2, 3, 4, 6)}, "the same wheel gets the same bill"
    assert sorted(row.split(",")[0] for row in rows) == sorted(names)
    assert (found["bomFormat"], found["specVersion"]) == ("CycloneDX", "1.6")
    own = found["metadata"]["component"]
    assert (own["name"], own["purl"]) == ("quarry-stones", "pkg:pypi/quarry-stones@1.3")
    assert own["licenses"] == [{"expression": "Apache-2.0"}]
    assert [(one["name"], one["version"]) for one in found["components"]] == [
        ("slab", "3.2"), ("chip", "in slab 3.2"),
    ]  # fmt: skip
    assert found["components"][0]["pedigree"] == {"notes": "its name"}
    assert "pedigree" not in found["components"][1]
    assert found["dependencies"][0]["dependsOn"] == ["slab@3.2", "chip@in-slab-3.2"]


def test_adding_it_again_changes_nothing(tmp_path: Path) -> None:
    file = wheel(tmp_path)
    sbom.add(file)
    before = file.read_bytes()
    sbom.add(file)
    assert file.read_bytes() == before
    assert wheel_metadata.find(tmp_path) == []


def test_what_the_table_names_must_be_there(tmp_path: Path) -> None:
    file = wheel(tmp_path, table=TABLE.replace("libslab.so.3", "libslab.so.4"))
    with pytest.raises(ValueError, match=r"has no quarry/libslab\.so\.4"):
        sbom.add(file)
    file = wheel(tmp_path, table="| file | is |\n|---|---|\n| a | b |\n")
    with pytest.raises(ValueError, match="needs one table with the columns file, is, version"):
        sbom.add(file)


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        ("Summary: Stones.\n", "METADATA has no Summary"),
        ("License-Expression: Apache-2.0\n", "METADATA has no License-Expression"),
        ("Stones, described.\n", "METADATA has no description"),
        ("Classifier: Typing :: Typed\n", "METADATA has no classifier Typing"),
        ("License-File: LICENSE\nLicense-File: THIRD_PARTY.md\n", "METADATA has no License-File"),
    ],
)
def test_what_is_left_out_is_found(tmp_path: Path, gone: str, problem: str) -> None:
    file = wheel(tmp_path, METADATA.replace(gone, ""))
    sbom.add(file)
    assert wheel_metadata.find(tmp_path) == [f"{file.name}: {problem}"]


def test_a_bill_that_is_not_there_or_of_another_wheel_is_found(tmp_path: Path) -> None:
    file = wheel(tmp_path)
    (problem,) = wheel_metadata.find(tmp_path)
    assert "has no quarry_stones-1.3.dist-info/sboms/quarry_stones.cdx.json" in problem
    sbom.add(file)
    other = METADATA.replace("Stones.", "Other stones.").encode()
    with zipfile.ZipFile(file) as archive:
        bill = archive.read(sbom.place(file))
    wheel(tmp_path, other.decode())
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(sbom.place(file), bill)
    assert wheel_metadata.find(tmp_path) == [f"{file.name}: {sbom.place(file)} is of another wheel"]


def test_a_library_of_the_compiler_is_found_in_the_binary(tmp_path: Path) -> None:
    """Zig's compiler links LLVM's library of C++ into each object: no table can say so."""
    file = wheel(tmp_path)
    with zipfile.ZipFile(file, "a") as archive:
        for name in ("a", "b"):
            content = b"ELF\0libc++abi: \0libunwind: %s\0clang version 22.1.8\0"
            archive.writestr(f"quarry/{name}.so", content)
        archive.writestr("quarry/plain.so", b"ELF\0clang version 22.1.8\0")
    found = sbom.bill(file)
    ours = [one for one in found["components"] if one["version"] == "22.1.8"]
    assert [one["name"] for one in ours] == ["libc++ and libc++abi", "libunwind"]
    where = [{"location": "quarry/a.so"}, {"location": "quarry/b.so"}]
    assert all(one["evidence"]["occurrences"] == where for one in ours)
    assert {one["licenses"][0]["expression"] for one in ours} == {"Apache-2.0 WITH LLVM-exception"}
    refs = [one["bom-ref"] for one in found["components"]]
    assert len(refs) == len(set(refs)) == 4


def test_our_own_tables_can_be_read(tmp_path: Path) -> None:
    for table in [*ROOT.glob("packages/*/THIRD_PARTY.md")]:
        file = tmp_path / "t.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x/THIRD_PARTY.md", table.read_text(encoding="utf-8"))
        with zipfile.ZipFile(file) as archive:
            assert sbom.parts(archive)


def test_versions_of_what_is_linked_in_are_those_that_the_build_requires() -> None:
    """What drystone-gpu holds of NVIDIA's comes with the wheels that its build installs."""
    folder = ROOT / "packages" / "gpu"
    required = load_toml(folder / "pyproject.toml")["build-system"]["requires"]
    pinned = dict(text.split("==") for text in required if "==" in text)
    table = (folder / "THIRD_PARTY.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"the distribution ([\w-]+) ([\d.]+)", table))
    assert stated == {name: pinned[name] for name in ("nvidia-cuda-runtime", "nvidia-cuda-crt")}


@pytest.mark.parametrize("quick", [False, True])
def test_builds_have_bills_and_a_wheel_of_python_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    """Quick ones are for tests of this machine, and have no bill."""
    called: list[tuple[str, bool]] = []
    billed: list[Path] = []
    folder = tmp_path / "made"

    def run(words: list[str], settings: dict[str, str]) -> bool:
        package = Path(words[-1] if words[-1] != "--wheel" else words[-2]).name
        alone = settings.get("DRYSTONE_PURE") == "1"
        called.append((package, alone))
        to = Path(words[words.index("-o") + 1])
        to.mkdir(exist_ok=True)
        apart = to / package  # several are built at once
        apart.mkdir()
        wheel(apart).rename(to / f"drystone_{package}-1.3-py3-none-{alone}.whl")
        return True

    monkeypatch.setattr(wheels, "_run", run)
    monkeypatch.setattr(sbom, "add", lambda wheel: billed.append(wheel.relative_to(folder)))
    every = packages()
    assert wheels.build([every["base"], every["optimizer"]], folder, quick, alone=not quick) == []
    ours, other = Path("drystone_base-1.3-py3-none-False.whl"), "drystone_optimizer-1.3"
    if quick:
        assert (sorted(called), billed) == ([("base", False), ("optimizer", False)], [])
        return
    assert sorted(called) == [("base", False), ("base", True), ("optimizer", False)]
    alone = Path("alone/drystone_base-1.3-py3-none-True.whl")
    assert sorted(billed) == sorted([alone, ours, Path(f"{other}-py3-none-False.whl")])
