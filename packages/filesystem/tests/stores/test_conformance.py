"""The conformance suite on every filesystem here, and the page that says what came of it.

Row E17. S2-filesystems, S2-alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from conformance_page import confirm
from servers import Served

from ci.scripts.conformance import FILES, compile_example
from ci.scripts.tf_plugins import gcs
from ci.scripts.tf_plugins.gcs_emulator import served as emulator
from drystone_filesystem import native

HERE = Path(__file__).parent
NATIVE: Final = {"posix": "posix://{folder}", "ram": "ram://box/here"}


def conforms(
    name: str, place: str, folder: Path, *, least: int, lacks: Path | None = None, **variables: str
) -> None:
    """Everything that a filesystem does not say it lacks, in a process of its own."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--filesystem", place, "--plugin-report", str(report)]
    command += [] if lacks is None else ["--plugin-lacks", str(lacks)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600,
        env={**os.environ, **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["conforms"]
    assert found["counts"]["passed"] > least
    confirm(name, found)


def chosen(scheme: str, library: Path) -> dict[str, str]:
    """Variables that have a library serve a scheme."""
    where = {"DRYSTONE_FILESYSTEMS": f"{scheme}={library}"}
    return where | {"DRYSTONE_PLUGIN_POLICY": "allow_unverified"}


def test_local_files_conform(tmp_path: Path) -> None:
    lacks = HERE / "lacks" / "file.toml"
    conforms("file", f"file://{tmp_path}", tmp_path, least=60, lacks=lacks)


@pytest.mark.parametrize("scheme", NATIVE)
def test_what_comes_in_c_conforms(scheme: str, tmp_path: Path) -> None:
    library = native.library()
    if not library.is_file():  # a source tree
        library = compile_example(FILES, tmp_path)
    lacks = HERE.parents[1] / "native" / "libdrystone_files.lacks.toml"
    place = NATIVE[scheme].format(folder=tmp_path)
    conforms(scheme, place, tmp_path, least=60, lacks=lacks, **chosen(scheme, library))


def test_a_filesystem_of_fsspec_conforms(tmp_path: Path) -> None:
    conforms("memory", "memory://box/here", tmp_path, least=60)


def test_the_example_in_c_conforms(tmp_path: Path) -> None:
    library = compile_example("filesystem_c", tmp_path)
    beside = library.with_suffix(".lacks.toml")
    conforms(
        "example in C", "ramdemo://box/here", tmp_path, least=40,
        lacks=beside if beside.is_file() else None, **chosen("ramdemo", library),
    )  # fmt: skip


def test_what_was_made_for_tensorflow_conforms(tmp_path: Path) -> None:
    """All but what the file excuses, of Google's storage."""
    spec = find_spec("tensorflow_io_gcs_filesystem")
    if spec is None or spec.origin is None:
        pytest.skip("tensorflow-io-gcs-filesystem is not installed")
    library = gcs.library_in(Path(spec.origin).parent, tmp_path)
    lacks = Path(gcs.__file__).with_name("gcs.lacks.toml")
    with emulator(gcs.BUCKET) as (address, _):
        where = {"CLOUD_STORAGE_EMULATOR_ENDPOINT": address, "NO_PROXY": "127.0.0.1"}
        where |= {**gcs.ENVIRONMENT, **chosen("gs", library)}
        place = f"gs://{gcs.BUCKET}/conformance"
        conforms("gs, TensorFlow's", place, tmp_path, least=30, lacks=lacks, **where)


def test_a_store_conforms(served: Served, tmp_path: Path) -> None:
    lacks = HERE / "lacks" / f"{served.kind}.toml"
    least = 40 if served.writable else 5
    conforms(served.kind, f"{served.root}/conformance", tmp_path, least=least, lacks=lacks)
