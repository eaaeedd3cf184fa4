"""Plans are written when no caller waits for the answer: a second later, or as the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from fresh_process import run_program

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.executor.plan_cache.background import Background
from drystone_base.graph import Graph
from drystone_base.loaders.graphdef import write_graph
from drystone_base.ops.attrs import TensorAttr

pytestmark = pytest.mark.cases_in_gate(3)

LONG = 3600.0  # seconds: nothing here waits for them

PROGRAM = """
import os, sys, time
from pathlib import Path
import numpy as np
import drystone_base as ds
from drystone_base.executor.plan_cache import digest_cache
from drystone_base.loaders import _graph_file
digest_cache._SETTLED = -1
hashed, hash_file = [], _graph_file.sha256
_graph_file.sha256 = lambda path: (hashed.append(path), hash_file(path))[1]
folder = Path(os.environ["DRYSTONE_PLAN_CACHE"])
def files():
    return len(list(folder.glob("*.plan")))
def answer():
    model = ds.load({file!r}, config=ds.SessionConfig(optimizer="off"))
    found, large = model.run(["y:0", "s:0"], {{"x:0": np.float32([[1, 2, 3]])}})
    return found.tolist(), int(large[0])
print(answer(), len(hashed), files(), "drystone_base.graph" in sys.modules)
{after}
"""


def write_model(file: Path, filling: int) -> None:
    """A model of more than a megabyte, whose y is x."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (1, 3)})
    graph.add("Identity", "y", [x], attrs={"T": FLOAT32})
    value = np.full(300_000, filling, np.int32)
    attrs = {"dtype": INT32, "value": TensorAttr(array=value)}
    held = graph.add("Const", "s/value", attrs=attrs)
    graph.add("Identity", "s", [held], attrs={"T": INT32})
    few = {**attrs, "value": TensorAttr(array=value[:2])}
    graph.add("Identity", "k", [graph.add("Const", "k/value", attrs=few)], attrs={"T": INT32})
    write_graph(graph, file)


class Model:
    """A file, a folder for plans, and processes that run it."""

    def __init__(self, folder: Path) -> None:
        self.file, self.plans = folder / "model.pb", folder / "plans"
        write_model(self.file, 7)

    def run(self, after: str = "") -> list[str]:
        """What a process prints: of its answer first, then of what it does after that."""
        code = PROGRAM.format(file=str(self.file), after=after)
        return run_program(code, DRYSTONE_PLAN_CACHE=str(self.plans)).splitlines()

    def files(self) -> int:
        return len(list(self.plans.glob("*.plan")))


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return Model(tmp_path)


MADE = "([[1.0, 2.0, 3.0]], 7) 0 0 True"
TAKEN = "([[1.0, 2.0, 3.0]], 7) 0 4 False"


def test_the_first_answer_waits_neither_for_a_digest_nor_for_files(model: Model) -> None:
    assert model.run() == [MADE]
    assert model.files() == 4, "the plan, the signature, the digest of the file, its size"
    assert model.run() == [TAKEN]


def test_what_runs_on_writes_a_second_later(model: Model) -> None:
    after = """
until = time.monotonic() + 60
while files() < 4 and time.monotonic() < until:
    time.sleep(0.05)
print(files(), len(hashed))
"""
    assert model.run(after) == [MADE, "4 1"]


def test_a_file_as_large_as_another_may_be_a_copy_of_it(model: Model, tmp_path: Path) -> None:
    assert model.run() == [MADE]
    first = model.file
    model.file = tmp_path / "copy.pb"
    model.file.write_bytes(first.read_bytes())
    assert model.run() == ["([[1.0, 2.0, 3.0]], 7) 1 4 False"], "it is hashed, and has the plan"
    write_model(model.file, 8)
    assert model.run() == ["([[1.0, 2.0, 3.0]], 8) 1 5 True"], "nobody has met this one"
    assert model.run() == ["([[1.0, 2.0, 3.0]], 8) 0 8 False"]


@pytest.mark.parametrize(
    "change",
    [
        "data = Path({file!r}).read_bytes(); Path({file!r}).write_bytes(data)",
        "os.utime({file!r}, ns=(1, 1))",
        "os.rename({file!r}, {file!r} + '.old')",
    ],
)
def test_of_a_file_that_somebody_touched_meanwhile_nothing_is_kept(
    model: Model, change: str
) -> None:
    """What was read from it, and what is hashed, may not be the same."""
    first, *_ = model.run("time.sleep(0.02)\n" + change.format(file=str(model.file)))
    assert first == MADE
    assert model.files() == 0


OVERWRITTEN = """
from drystone_base.executor.plan_cache.background import BACKGROUND
BACKGROUND.finish()
held = ds.load({file!r}, config=ds.SessionConfig(optimizer="off"))
with open({file!r}, "r+b") as file:
    file.write(Path({other!r}).read_bytes())
try:
    held.run(["k:0"], {{}})
except ds.DrystoneError as error:
    print(error.code)
"""
ASKED = """
print(int(ds.load({file!r}, config=ds.SessionConfig(optimizer="off")).run(["k:0"], {{}})[0][0]))
"""


def test_no_plan_is_kept_of_what_a_file_has_become(model: Model, tmp_path: Path) -> None:
    """Its digest was noted before, and the graph is read after somebody has written there."""
    before, other = model.file.read_bytes(), tmp_path / "other.pb"
    write_model(other, 8)
    assert other.stat().st_size == len(before)
    names = {"file": str(model.file), "other": str(other)}
    assert model.run(OVERWRITTEN.format(**names)) == [MADE, "file-changed"]
    with model.file.open("r+b") as file:
        file.write(before)
    assert model.run(ASKED.format(**names))[1] == "7"


def test_a_process_that_is_killed_keeps_nothing(model: Model) -> None:
    """Nobody waits for it either: no file is half there."""
    assert model.run("sys.stdout.flush(); os._exit(0)") == [MADE]
    assert model.files() == 0
    assert model.run() == [MADE]


FORKS = """
sys.stdout.flush()
child = os.fork()
if not child:
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), files())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_leaves_it_to_its_parent(model: Model) -> None:
    assert model.run(FORKS) == [MADE, "3 0"]
    assert model.run() == [TAKEN]


FORKED = """
sys.stdout.flush()
child = os.fork()
if not child:
    print(answer()[1], flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print(files(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_keeps_its_own(model: Model) -> None:
    before = "from drystone_base.executor.plan_cache import background\n"
    before += "background.BACKGROUND.finish()\n"
    clean = "for file in folder.glob('*'): file.unlink()\n"
    assert model.run(before + clean + FORKED) == [MADE, "7", "4"]


def test_a_session_that_is_made_as_the_process_ends_runs(model: Model) -> None:
    after = "import atexit\natexit.register(lambda: print(answer()[1]))"
    assert model.run(after) == [MADE, "7"]


def test_ctrl_c_ends_a_process_that_has_answered(model: Model) -> None:
    code = PROGRAM.format(
        file=str(model.file), after="sys.stdout.flush()\nwhile True: time.sleep(0.01)"
    )
    path = os.pathsep.join(filter(None, sys.path))
    env = os.environ | {"PYTHONPATH": path, "DRYSTONE_PLAN_CACHE": str(model.plans)}
    with subprocess.Popen(
        [sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stdout.readline() == f"{MADE}\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert model.run() == [TAKEN]


def test_work_is_done_in_order_and_once() -> None:
    later, done = Background(LONG), list[int]()
    for number in range(5):
        later.add(lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == []
    later.finish()
    later.finish()
    assert done == [0, 1, 2, 3, 4]
    later.add(lambda: done.append(5))
    later.finish()
    assert done == [0, 1, 2, 3, 4, 5]


def test_without_a_thread_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of an interpreter, from Python 3.12 on."""

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    later, done = Background(LONG), list[int]()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        later.add(lambda: done.append(1))
    later.finish()
    later.add(lambda: done.append(2))
    later.finish()
    assert done == [2]


def test_work_that_work_adds_is_done_too() -> None:
    later, done = Background(0.01), threading.Event()
    later.add(lambda: later.add(done.set))
    assert done.wait(60)
    later.finish()


def test_forgotten_work_is_not_done() -> None:
    later, done = Background(LONG), threading.Event()
    later.add(done.set)
    later.forget()
    later.finish()
    assert not done.is_set()


def test_after_work_that_fails_there_is_more(monkeypatch: pytest.MonkeyPatch) -> None:
    later, done, failed = Background(LONG), threading.Event(), list[object]()
    monkeypatch.setattr(threading, "excepthook", lambda told: failed.append(told.exc_type))
    later.add(lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    later.finish()
    later.add(done.set)
    later.finish()
    assert done.is_set()
    assert failed == [ZeroDivisionError]
