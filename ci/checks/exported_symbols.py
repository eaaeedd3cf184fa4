"""The host library shows C functions of the contract and nothing else, and leaves none out.

Checked on `$DRYSTONE_HOST_LIBRARY`, else on the library beside the package's sources, and on the
one in the wheel of drystone-base when wheels are given:

- every exported name begins with TF_, TSL_, TP_, SE_ or DS_;
- every function that the headers declare is exported, and all that the target plugins need
  (plugin-abi/tests/data/target_symbols.txt);
- it needs neither Python nor protobuf nor absl.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ci.checks._report import report
from ci.scripts.project import ROOT

__all__ = ["declared", "find", "find_in_wheels", "main", "targets"]

FILE = "libdrystone_host.so"
OURS = re.compile(r"(TF|TSL|TP|SE|DS)_\w+")
ENTRY = re.compile(
    r"(TF|SE)_Init(Graph|GraphPlugin|Kernel|Plugin|Profiler)|DS_Init(Network|Passes|Subgraph)|DS_OrderOptimizer"
)
NOT_NEEDED = re.compile(r"lib(python|protobuf|absl)")
NOT_USED = re.compile(r"_?Py[A-Z_]\w+|_Z\w*(absl|6google8protobuf)\w*")


def targets(root: Path = ROOT) -> set[str]:
    """Symbols that plugins built for TensorFlow need."""
    file = root / "plugin-abi" / "tests" / "data" / "target_symbols.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and line[0] not in "#["}


def declared(root: Path = ROOT) -> set[str]:
    """Functions of the host that the headers of the contract and of the embedding declare."""
    lock = json.loads((root / "plugin-abi" / "abi.lock").read_text(encoding="utf-8"))
    contract = {name for name, text in lock["functions"].items() if text != "inline"}
    own: set[str] = set()
    for header in (root / "packages/base/host/include/drystone_host").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        own |= set(re.findall(r"TF_CAPI_EXPORT[^;]*?\b(DS_\w+)\(", text))
    return {name for name in contract | own if not ENTRY.fullmatch(name)}


def find(library: Path, root: Path = ROOT) -> list[str]:
    """What is wrong with one built library."""
    exported, used = _names(library, "--defined-only"), _names(library, "--undefined-only")
    problems = [
        f"exports {name}: only C names of the contract may be seen"
        for name in sorted(exported)
        if not OURS.fullmatch(name)
    ]
    problems += [
        f"does not export {name}, which the headers declare"
        for name in sorted(declared(root) - exported)
    ]
    problems += [
        f"does not export {name}, which a target plugin needs"
        for name in sorted(targets(root) - exported)
    ]
    problems += [f"uses {name}" for name in sorted(used) if NOT_USED.fullmatch(name)]
    return problems + [f"needs {name}" for name in _needed(library) if NOT_NEEDED.match(name)]


def _names(library: Path, which: str) -> set[str]:
    """Dynamic symbols, without version."""
    text = _run("nm", "-D", which, "--format=posix", str(library))
    return {line.split()[0].split("@")[0] for line in text.splitlines() if line.strip()}


def _needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*?)\]", _run("readelf", "-d", str(library)))


def _run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def find_in_wheels(folder: Path) -> list[str]:
    """The same for the library in a wheel of drystone-base; a wheel without one is pure Python."""
    problems = []
    for wheel in sorted(folder.glob("drystone_base-*.whl")):
        with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as place:
            for name in archive.namelist():
                if name.endswith(f"/{FILE}"):
                    found = find(Path(archive.extract(name, place)))
                    problems += [f"{wheel.name}: {problem}" for problem in found]
    return problems


def main(arguments: list[str] | None = None) -> int:
    """Check the library that this checkout would load, or those in a folder of wheels."""
    missing = [tool for tool in ("nm", "readelf") if shutil.which(tool) is None]
    if missing:
        return report("exported_symbols", [], f"not checked: no {' and no '.join(missing)}")
    if arguments:
        return report("exported_symbols", find_in_wheels(Path(arguments[0])))
    beside = ROOT / "packages/base/src/drystone_base/host" / FILE
    library = Path(os.environ.get("DRYSTONE_HOST_LIBRARY") or beside)
    if not library.is_file():
        return report("exported_symbols", [], "not checked: the host library is not built")
    count = len(_names(library, "--defined-only"))
    return report("exported_symbols", find(library), f"{count} symbols")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
