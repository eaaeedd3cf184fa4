"""The check of what the host library exports: planted violations are found."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from ci.checks import exported_symbols
from ci.scripts.project import ROOT
from ci.tests.conftest import put

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cc", "nm", "readelf")),
    reason="needs a C compiler, nm and readelf",
)
GOOD = {"TF_NewStatus", "TF_VLog", "DS_HostVersion"}


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A checkout whose contract has three functions."""
    functions = {"TF_NewStatus": "..", "TF_VLog": "..", "TF_Copy": "inline", "TF_InitGraph": ".."}
    put(tmp_path, "plugin-abi/abi.lock", json.dumps({"functions": functions}))
    put(tmp_path, "plugin-abi/tests/data/target_symbols.txt", "# who\n[a plugin 1]\n\nTF_VLog\n")
    header = "/* DS_Old(x) */ TF_CAPI_EXPORT extern const char*\nDS_HostVersion(void);\n"
    put(tmp_path, "packages/base/host/include/drystone_host/core.h", header)
    return tmp_path


def build(folder: Path, names: set[str], more: str = "") -> Path:
    source, out = folder / "lib.c", folder / exported_symbols.FILE
    source.write_text("".join(f"int {name}(void) {{ return 0; }}\n" for name in names) + more)
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(out)], check=True)
    return out


def test_a_good_library_passes(contract: Path) -> None:
    assert exported_symbols.find(build(contract, GOOD), contract) == []


def test_foreign_exports_are_found(contract: Path) -> None:
    library = build(contract, GOOD | {"helper", "_ZN4absl3fooEv"})
    assert exported_symbols.find(library, contract) == [
        "exports _ZN4absl3fooEv: only C names of the contract may be seen",
        "exports helper: only C names of the contract may be seen",
    ]


def test_missing_functions_are_found(contract: Path) -> None:
    library = build(contract, {"TF_NewStatus"})
    assert exported_symbols.find(library, contract) == [
        "does not export DS_HostVersion, which the headers declare",
        "does not export TF_VLog, which the headers declare",
        "does not export TF_VLog, which a target plugin needs",
    ]


def test_python_and_protobuf_are_found(contract: Path) -> None:
    used = "extern int PyErr_Clear(void), _ZN6google8protobuf7MessageD0Ev(void);\n"
    used += "int TF_More(void) { return PyErr_Clear() + _ZN6google8protobuf7MessageD0Ev(); }\n"
    library = build(contract, GOOD, used)
    assert exported_symbols.find(library, contract) == [
        "uses PyErr_Clear",
        "uses _ZN6google8protobuf7MessageD0Ev",
    ]


def test_libraries_in_wheels_are_checked(contract: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = build(contract, {"other"})
    with zipfile.ZipFile(contract / "drystone_base-1-py3-none-any.whl", "w") as archive:
        archive.write(library, f"drystone_base/host/{exported_symbols.FILE}")
    problems = exported_symbols.find_in_wheels(contract)
    assert problems[0].startswith("drystone_base-1-py3-none-any.whl: exports other")


def test_the_list_of_target_symbols_has_every_tier() -> None:
    names = exported_symbols.targets(ROOT)
    assert len(names) == 96, "95 of the target plugins, and the one that registers filesystems"
    assert {"TF_LookUpOpDef", "TF_StartThread", "TF_GetInputByName", "TF_VLog"} <= names
