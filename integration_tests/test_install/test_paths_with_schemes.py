"""Every command with models, inputs and outputs behind a scheme. S2-filesystems."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration_tests.support import InstalledEnv

pytestmark = pytest.mark.cases_in_gate(3)

_MAKE = """
import sys
import numpy as np
import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_filesystem import gfile
root = sys.argv[1]
graph = ds.Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
n = graph.add("Identity", "n", [x], attrs={"T": FLOAT32})
graph.add("Identity", "y", [n], attrs={"T": FLOAT32})
ds.save(graph, f"{root}/model")
ds.write_graph(graph, f"{root}/m.pb")
ds.write_graph(graph, f"{root}/m.pbtxt")
with gfile.GFile(f"{root}/in.npz", "wb") as file:
    np.savez(file._file, x=np.array([1, 2], np.float32))
"""

_COMMANDS = {
    "inspect {root}/model --graph {root}/new/g.html": ("g.html",),
    "run {root}/m.pbtxt --inputs {root}/in.npz --outputs {root}/new/out.npz": ("out.npz",),
    "run {root}/m.pb --trace {root}/new/t.json --events {root}/new/events": ("t.json", "events"),
    "bench {root}/m.pb --repeat 2 --inputs {root}/in.npz --trace {root}/new/b.json": ("b.json",),
    "explain {root}/m.pb --plan {root}/new/m.plan": ("m.plan",),
    "diff {root}/m.pb {root}/m.pbtxt --inputs {root}/in.npz": (),
    "optimize {root}/m.pb {root}/new/o.pb --verify --html {root}/new/o.html": ("o.pb", "o.html"),
    "partition {root}/m.pb --backend default --output {root}/new/p.pbtxt": ("p.pbtxt",),
    "bisect {root}/m.pb --inputs {root}/in.npz --minimal {root}/new/smallest.pb": (),
}
"""Each command, and what it leaves in the folder ``new``, which is not there before."""

_REFUSED = {
    "optimize {root}/m.pb {root}/m.pb": (2, "would replace what is read"),
    "optimize {root}/model {root}/model/saved_model.pb": (2, "would replace what is read"),
    "run {root}/m.pb --outputs nobody://a/b.npz": (6, "[no-filesystem]"),
    "run {root}/none.pb": (3, "[file-not-found]"),
    "run {root}/m.pb --outputs {root}/in.npz/out.npz": (2, "none can be made"),
    "partition {root}/m.pb --backend default --compile --output {root}/new": (
        2,
        "is not a local path, and the system loads executables from local ones",
    ),
}


@pytest.fixture(scope="module")
def folder(installed_env: InstalledEnv, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models and inputs, written by way of ``posix://``."""
    made = tmp_path_factory.mktemp("behind")
    installed_env.run(installed_env.python, "-c", _MAKE, f"posix://{made}")
    return made


@pytest.mark.parametrize("command", _COMMANDS)
def test_a_command_takes_them(command: str, folder: Path, installed_env: InstalledEnv) -> None:
    installed_env.run(installed_env.drystone, *command.format(root=f"posix://{folder}").split())
    for left in _COMMANDS[command]:
        assert (folder / "new" / left).stat().st_size > 0


@pytest.mark.parametrize("command", _REFUSED)
def test_what_is_refused(command: str, folder: Path, installed_env: InstalledEnv) -> None:
    status, text = _REFUSED[command]
    words = command.format(root=f"posix://{folder}").split()
    done = installed_env.run(installed_env.drystone, *words, ok=False)
    assert done.returncode == status
    assert text in " ".join(done.stderr.replace("│", " ").split())
