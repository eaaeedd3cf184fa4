"""The plan cache: an entry is taken where nothing has changed, made again where anything has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cached_plans import PROGRAM, SMALL, Cached, model_of
from click.testing import CliRunner
from fresh_process import run_program, seldom
from hypothesis import given
from hypothesis import strategies as st

from drystone_base.cli import _health
from drystone_base.cli._app import app
from drystone_base.core.dtypes import from_numpy
from drystone_base.executor.plan_cache.arrays import Places, read_constants
from drystone_base.files.local import map_file
from drystone_base.ops.attrs import TensorAttr

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]


@pytest.fixture
def kept(tmp_path: Path) -> Cached:
    return Cached(tmp_path)


def test_a_second_process_takes_the_plan_and_reads_no_graph(kept: Cached) -> None:
    assert not kept.run()
    assert len(kept.files()) == 2, "the plan, and the signature of the model"
    assert kept.run()
    assert len(kept.files()) == 2


def test_a_process_that_takes_a_plan_imports_little(kept: Cached) -> None:
    alone = {"DRYSTONE_PLUGINS_DISABLE": "*"}  # to try one that is not trusted takes more
    assert not kept.run(**alone)
    code = PROGRAM.format(
        file=str(kept.file), fetches=["y:0", "s:0", "l:0"], settings="", after="", feed="x",
        before="start = {*sys.modules}",
    )  # fmt: skip
    code += 'print({"google", "html", "ml_dtypes", "pathlib"} & ({*sys.modules} - start))'
    lines = run_program(code, DRYSTONE_PLAN_CACHE=str(kept.plans), **alone).splitlines()
    assert lines[-2:] == ["False", "set()"]


@pytest.mark.parametrize(
    "other",
    [
        {"fetches": ["l:0", "y:0"]},
        {"settings": "intra_op_threads=1"},
        {"DRYSTONE_NUM_THREADS": "1"},
    ],
)
def test_another_request_is_another_plan(kept: Cached, other: dict[str, Any]) -> None:
    assert not kept.run()
    assert not kept.run(**other)
    assert kept.run(**other)


REMOVED = """
from drystone_base.passes import registry
registry().remove(registry().passes()[0].name)
"""
PASS = """
from drystone_base.passes import Grouping, graph_pass
graph_pass(Grouping.PRE_PLACEMENT, 0)(lambda options: False)
"""


@pytest.mark.parametrize(
    "how",
    [
        {"DRYSTONE_PLAN_CACHE": "off"},
        {"settings": 'executor="reference"'},
        {"settings": "seed=3"},
        {"settings": 'device_count={"CPU": 2}'},
        {"before": PASS},
        {"before": REMOVED},
        {"after": "model.graph"},
        {"before": "from drystone_base.ops.defs import *\nregister(OpDef('Mine', (), ()))"},
    ],
)
def test_what_no_file_tells_is_not_kept(kept: Cached, how: dict[str, Any]) -> None:
    """A graph that is handed out may be edited; ops that a program registers are in no file."""
    assert not kept.run(**how)
    assert kept.files() == []


def test_an_optimizer_of_the_program_is_in_no_file() -> None:
    """Whatever it is, and without an installed module that could refuse it."""
    code = """
from drystone_base import SessionConfig
from drystone_base.executor.plan_cache.cache_key import cache_key
for optimizer in ("off", SessionConfig()):
    print(cache_key(SessionConfig(optimizer=optimizer)) is None)
"""
    assert run_program(code).split() == ["False", "True"]


EDIT = """
g = model.graph
negated = g.add("Neg", "n", [g["x"]], attrs={"T": g["x"].attr("dtype")})
g.set_input(g["y"], 0, (negated, 0))
"""


def test_an_edited_graph_runs_as_it_is(kept: Cached) -> None:
    kept.run()
    code = PROGRAM.format(
        file=str(kept.file), fetches=["y:0"], settings="", before="", after=EDIT, feed="x"
    )
    (found, *_) = run_program(code, DRYSTONE_PLAN_CACHE=str(kept.plans)).splitlines()
    (value,) = json.loads(found)
    assert np.frombuffer(bytes.fromhex(value[0]), np.float32)[0] == -1


def test_another_model_of_that_name_is_another_plan(kept: Cached) -> None:
    kept.run()
    kept.small = SMALL + 1
    model_of(kept.file, kept.small)
    assert not kept.run()
    assert kept.run()


def test_a_copy_of_the_model_has_the_same_plan(kept: Cached, tmp_path: Path) -> None:
    kept.run()
    copy = tmp_path / "copy.pb"
    copy.write_bytes(kept.file.read_bytes())
    kept.file.unlink()
    kept.file = copy
    assert kept.run()


def _flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        _flipped,
        lambda data: data[:20] + b"\xff" * 8 + data[28:],
        *seldom(lambda data: data[: len(data) // 2], lambda data: b"x" + data),
    ],
)
def test_a_damaged_file_is_replaced(kept: Cached, damage: Callable[[bytes], bytes]) -> None:
    kept.run()
    whole = {file: file.stat().st_size for file in kept.files()}
    for file in whole:
        file.write_bytes(damage(file.read_bytes()))
    assert not kept.run()
    assert {file: file.stat().st_size for file in kept.files()} == whole
    assert kept.run()


@pytest.mark.parametrize(
    "facts",
    [
        {"constants_at": -1},
        {"plan_size": None},
        *seldom(
            {"constants_at": "0"},
            {"constants": [[3, [2, 3], 0, 1 << 40]]},
            {"constants": [[3, [-2, 3], 0, 0]]},
            {"constants": [[7, [1], 0, 0]]},
            {"constants": [[7, [100000], 0, 0]]},
            {"constants": [[1 << 20, [1], 0, 0]]},
            {"constants": 3},
            {"feeds": [["x:0"]]},
            {"feeds": None},
        ),
    ],
)
def test_facts_that_nobody_wrote_make_no_plan(kept: Cached, facts: dict[str, Any]) -> None:
    """Whoever can write there decides what runs, but a mistake must not end a process."""
    from drystone_base.files.store import Store

    kept.run()
    store = Store(kept.plans, None, "plan")
    for file in kept.files():
        found = store.read(file.stem)
        assert found is not None
        if "constants" in found[0]:
            store.write(file.stem, found[0] | facts, [bytes(found[1])])
    assert not kept.run()


def test_another_record_makes_another_plan(kept: Cached, tmp_path: Path) -> None:
    """As when a package that declares an entry point of ours is installed, or another version."""
    site = tmp_path / "site"
    before = f"sys.path.insert(0, {str(site)!r})"
    made = site / "more-1.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text("Name: more\nVersion: 1\n", encoding="utf-8")
    (made / "entry_points.txt").write_text("[drystone.more]\nm = os:path\n", encoding="utf-8")
    assert not kept.run()
    for text in ("more.py,sha256=1,1\n", "more.py,sha256=2,1\n"):
        (made / "RECORD").write_text(text, encoding="utf-8")
        assert not kept.run(before=before)
        assert kept.run(before=before)
    assert kept.run(), "what is not on the path does not matter"


def test_entries_do_not_depend_on_where_packages_and_folder_are(
    kept: Cached, tmp_path: Path
) -> None:
    """Those that were made for an image serve in its containers."""
    kept.run()
    kept.plans = kept.plans.rename(tmp_path / "moved")
    assert kept.run()


def test_a_file_that_cannot_be_hashed_is_read(kept: Cached) -> None:
    """As where no /proc is mounted: a mapping's descriptor has no path then."""
    before = """
from drystone_base.loaders import _graph_file
def fail(path):
    raise OSError(path)
_graph_file.sha256 = fail
"""
    assert not kept.run(before=before)
    assert kept.files() == []


def large_model(kept: Cached, filling: int) -> None:
    """A model of more than a megabyte, which nobody has written to for a while."""
    kept.small = np.full((520, 521), filling, np.int32)
    model_of(kept.file, kept.small)


HASHED = """
from drystone_base.executor.plan_cache import digest_cache
from drystone_base.loaders import _graph_file
hashed = _graph_file.sha256
def sha256(path):
    open({marker!r}, "w").close()
    return hashed(path)
_graph_file.sha256 = sha256
digest_cache._SETTLED = {settled}
"""


def is_hashed(kept: Cached, settled: int = -1) -> bool:
    """Whether a process reads the whole file; it takes any as settled that changed before now."""
    marker = kept.file.with_name("hashed")
    marker.unlink(missing_ok=True)
    kept.run(before=HASHED.format(marker=str(marker), settled=settled))
    return marker.exists()


def test_a_large_file_is_hashed_once_until_somebody_writes_to_it(kept: Cached) -> None:
    large_model(kept, 1)
    assert is_hashed(kept)
    assert len(kept.files()) == 4, "the plan, the signature, the digest of the file, its size"
    assert not is_hashed(kept)
    before = kept.file.stat()
    large_model(kept, 2)
    os.utime(kept.file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kept.file.stat().st_size == before.st_size
    assert is_hashed(kept), "of the same size and time, as its writer has it"
    with kept.file.open("r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(first)
    assert is_hashed(kept), "the same file, and the same bytes, but somebody wrote there"
    assert not is_hashed(kept)


def test_nothing_is_noted_of_a_file_that_changed_a_moment_ago(kept: Cached) -> None:
    large_model(kept, 3)
    assert is_hashed(kept, settled=3600 * 10**9)
    assert len(kept.files()) == 3, "the plan, the signature of the model, the size of the file"
    assert is_hashed(kept)


@pytest.mark.parametrize("digest", [None, "0" * 63, *seldom(7, "")])
def test_a_note_of_no_digest_is_none(kept: Cached, digest: Any) -> None:
    from drystone_base.files.store import Store

    large_model(kept, 4)
    assert is_hashed(kept)
    store = Store(kept.plans, None, "plan")
    for file in kept.files():
        found = store.read(file.stem)
        if found is not None and "digest" in found[0]:
            store.write(file.stem, found[0] | {"digest": digest}, [])
    assert is_hashed(kept)


def test_a_folder_that_cannot_be_used_costs_nothing(kept: Cached) -> None:
    kept.plans.write_text("a file", encoding="utf-8")
    assert not kept.run()
    assert not kept.run()


def test_without_a_home_nothing_is_kept(kept: Cached) -> None:
    code = "from drystone_base.executor.plan_cache.folder import store; print(store())"
    gone = {"HOME": "", "XDG_CACHE_HOME": "", "DRYSTONE_PLAN_CACHE": ""}
    assert "plans" in run_program(code, **(gone | {"HOME": "/home/me"}))


ASKED = """
import drystone_base as ds, numpy as np
model = ds.load({file!r}, config=ds.SessionConfig(optimizer="off"))
x = np.ones((1, 3), np.float32)
print(model.run(["y:0"], {{"x:0": x.tolist()}})[0])
with model.session.record() as record:
    model.run(["y:0"], {{"x:0": x}})
print(len(record.runs), len(model.session.describe(["y:0"], ["x:0"])["blocks"]))
for fetches, value in ((["y:0"], x[0]), ("nothing:0", x)):
    try:
        model.run(fetches, {{"x:0": value}})
    except ds.BadRequest as error:
        print(error.code, error.needed)
print(sorted(model(x)), len(model.graph))
"""


def test_all_there_is_to_ask_of_a_session_is_there(kept: Cached) -> None:
    """Conversions, a record, a description, errors, the graph: as with a plan made here."""
    code = ASKED.format(file=str(kept.file))
    first, second = (run_program(code, DRYSTONE_PLAN_CACHE=str(kept.plans)) for _ in range(2))
    assert first == second
    assert "wrong-feed [1, 3]" in first
    assert "unknown-fetch" in first


def test_the_doctor_says_where_plans_are(kept: Cached, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _health._plans() == {"folder": "", "files": 0, "bytes": 0, "refused": []}
    kept.run()
    monkeypatch.setenv("DRYSTONE_PLAN_CACHE", str(kept.plans))
    total = sum(file.stat().st_size for file in kept.files())
    found = {"folder": str(kept.plans), "files": 2, "bytes": total, "refused": []}
    assert _health._plans() == found
    shown = CliRunner().invoke(app, ["doctor"])
    assert "plan cache" in shown.output
    assert "2 files" in shown.output
    kept.files()[0].chmod(0o666)
    told = CliRunner().invoke(app, ["doctor"]).output
    assert "others could have written them" in " ".join(told.split())


def test_processes_share_the_folder(kept: Cached) -> None:
    """They find, write, damage and remove the same plans at once; each computes what is right."""
    code = PROGRAM.format(
        file=str(kept.file), fetches=["y:0", "s:0"], settings="", before="", after="", feed="x"
    )
    many = f"""
import os, subprocess, sys
from pathlib import Path
for k in range(4):
    one = subprocess.run([sys.executable, "-c", {code!r}], capture_output=True, text=True)
    print(one.stdout.splitlines()[0])
    for file in Path(os.environ["DRYSTONE_PLAN_CACHE"]).glob("*.plan"):
        try:
            other = file.with_suffix(f".{{os.getpid()}}")  # nobody writes into a file in its place
            other.write_bytes(b"damage")
            file.unlink() if k % 3 == 1 else other.replace(file)
        except OSError:
            pass
"""
    path = os.pathsep.join(filter(None, sys.path))
    env = os.environ | {"PYTHONPATH": path, "DRYSTONE_PLAN_CACHE": str(kept.plans)}
    running = [
        subprocess.Popen([sys.executable, "-c", many], env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    lines = [line for one in running for line in one.communicate(timeout=120)[0].splitlines()]
    assert len(lines) == 12
    assert len(set(lines)) == 1


TEXT = np.array([[b"a", b""], [b"\0long" * 99, b"\xff"]], object)
DTYPES = ("f2", "f4", "f8", "i1", "i4", "i8", "u2", "bool", "c8")


@given(
    arrays=st.lists(
        st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 5), max_size=3)), max_size=8
    ),
    wide=st.booleans(),
)
def test_constants_come_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, arrays: list[tuple[str, list[int]]], wide: bool
) -> None:
    """Of any dtype and shape, empty and scalar ones, too; large ones stay in the file."""
    random = np.random.default_rng(len(arrays))
    values = [
        np.frombuffer(random.bytes(np.dtype(d).itemsize * int(np.prod(s, dtype=int))), d).reshape(s)
        for d, s in arrays
        if d != "bool"
    ]
    values += [random.normal(size=(100, 200)), TEXT] if wide else []
    folder = tmp_path_factory.mktemp("constants")
    (folder / "model").write_bytes(b"model")
    places = Places(map_file(folder / "model"))
    assert all(
        places.add(TensorAttr(array=value), from_numpy(value.dtype).number) for value in values
    )
    (folder / "kept").write_bytes(b"".join([b"x" * 64, *places.parts]))
    rows = json.loads(json.dumps(places.rows))
    data = map_file(folder / "kept")[64:]
    found = read_constants(rows, data, map_file(folder / "model"))
    for (value, number), right in zip(found, values, strict=True):
        assert number == from_numpy(right.dtype).number
        if isinstance(value, np.ndarray):
            assert (value.shape, value.tolist()) == (right.shape, right.tolist()) or (
                value.tobytes() == right.tobytes()
            )
            assert not value.flags.writeable
        else:
            assert right.nbytes >= 1 << 16, "a tensor of the host, which stays in the file"


def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"model")
    places = Places(map_file(tmp_path / "model"))
    assert not places.add(TensorAttr(array=np.array(["text", 3], object)), 7)
    assert not places.add(TensorAttr(array=np.array([b"a variant"], object)), 21)
    held = TensorAttr(array=np.zeros(3, np.int64))
    assert not places.add(held, 3), "held in another type than its dtype's"
