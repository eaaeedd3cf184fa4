"""Of a model behind a scheme only what is reached is read.

S2-filesystems.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import drystone_base as ds
from drystone_base.api.model import Model
from drystone_base.checkpoint import BundleReader
from drystone_base.cli._app import app
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.loaders import load_model
from drystone_base.loaders._assets import path_tensor
from drystone_filesystem import Stat, Store

DATA = Path(__file__).resolve().parents[4] / "integration_tests" / "data"
COUNT = 300_000
SIZE = 4 * COUNT


class Counting(Store):
    """The files of a folder; every read of a shard is written down."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lock = folder, threading.Lock()
        self.reads: list[tuple[int, int]] = []

    def stat(self, path: str) -> Stat:
        """Of the file."""
        found = (self.folder / path).stat()
        return Stat(found.st_size, found.st_mtime_ns, (self.folder / path).is_dir(), "one")

    def children(self, path: str) -> list[str]:
        """Of the folder."""
        return os.listdir(self.folder / path)

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        """A range."""
        del version
        data = (self.folder / path).read_bytes()[offset : offset + len(buffer)]
        buffer[: len(data)] = data
        if ".data-" in path:
            with self.lock:
                self.reads.append((offset, len(data)))
        return len(data)

    @property
    def asked(self) -> int:
        """Bytes of shards."""
        return sum(size for _, size in self.reads)


def large_model() -> ds.Session:
    """Variables ``a``, ``b`` and ``c``, each with a signature that reads it."""
    graph = ds.Graph()
    for name in "abc":
        kind = {"dtype": FLOAT32, "shape": (COUNT,)}
        value = graph.add("Placeholder", f"{name}/value", attrs=kind)
        v = graph.add("VarHandleOp", name, attrs={**kind, "shared_name": name})
        graph.add("AssignVariableOp", f"{name}/put", [v, value], attrs={"dtype": FLOAT32})
        graph.add("ReadVariableOp", f"{name}/got", [v], attrs={"dtype": FLOAT32})
    session = ds.Session(graph)
    for k, name in enumerate("abc"):
        session.run(f"{name}/put", {f"{name}/value": np.full(COUNT, k, np.float32)})
    return session


@pytest.fixture
def shop(serve: Callable[[object], str], tmp_path: Path) -> tuple[str, Counting]:
    """A scheme over a folder with the model, and what counts its reads."""
    store = Counting(tmp_path)
    signatures: dict[str, tuple[dict[str, str], dict[str, str]]]
    signatures = {f"get_{name}": ({}, {"y": f"{name}/got:0"}) for name in "abc"}
    ds.save(large_model(), tmp_path / "box" / "model", signatures=signatures)
    return f"{serve(store)}box/model", store


def test_a_signature_reads_its_own_variables(shop: tuple[str, Counting]) -> None:
    path, store = shop
    model = ds.load(path, needed=["get_b"])
    np.testing.assert_array_equal(model.signatures["get_b"]()["y"], np.full(COUNT, 1))
    assert SIZE <= store.asked < 1.2 * SIZE
    with pytest.raises(DrystoneError, match="a"):
        model.signatures["get_a"]()


def test_the_command_reads_what_it_fetches(shop: tuple[str, Counting]) -> None:
    path, store = shop
    answer = CliRunner().invoke(app, ["run", path, "--fetch", "c/got:0"])
    assert answer.exit_code == 0, answer.output
    assert SIZE <= store.asked < 1.2 * SIZE


def test_all_variables_are_read_by_default_in_one_range(shop: tuple[str, Counting]) -> None:
    path, store = shop
    model = ds.load(path)
    for k, name in enumerate("abc"):
        np.testing.assert_array_equal(model.signatures[f"get_{name}"]()["y"], np.full(COUNT, k))
    assert 3 * SIZE <= store.asked < 3.2 * SIZE
    assert max(size for _, size in store.reads) == 3 * SIZE


def test_far_tensors_are_asked_for_apart(shop: tuple[str, Counting]) -> None:
    path, store = shop
    reader = BundleReader(f"{path}/variables/variables")
    keys = [key for key in reader.keys() if reader.entry(key).size == SIZE]  # noqa: SIM118
    keys.sort(key=lambda key: reader.entry(key).offset)
    with reader.ahead([keys[0], keys[2]]):
        before = store.asked
        assert before < 2.2 * SIZE
        reader.tensor(keys[0]), reader.tensor(keys[2])
        assert store.asked == before
    assert reader.tensor(keys[1]).shape == (COUNT,)


@pytest.mark.parametrize("name", ["guesslang", "basic-pitch"])
def test_models_that_were_saved_elsewhere_answer_the_same(name: str) -> None:
    """What the saver would assign is found without running it, also inside its function."""
    folder = DATA / name / "saved_model"
    whole, part = load_model(folder), load_model(folder, needed=["serving_default"])
    assert part.variables.keys() <= whole.variables.keys()
    assert part.variables
    assert whole.meta is not None
    assert whole.checkpoint is not None
    saver = whole.meta.saver_def
    run = [saver.restore_op_name], {saver.filename_tensor_name: path_tensor(whole.checkpoint)}
    restored = whole._replace(variables={}, init_steps=[run, *whole.init_steps])
    signature = whole.signatures["serving_default"]
    with np.load(next((DATA / name).glob("*.in.npz")), allow_pickle=False) as given:
        feeds = {key: given[key] for key in given}
    fetches = {key: spec.tensor for key, spec in signature.outputs.items()}
    answers = [Model(loaded).run(fetches, feeds) for loaded in (restored, whole, part)]
    for key in fetches:
        np.testing.assert_array_equal(answers[0][key], answers[1][key])
        np.testing.assert_array_equal(answers[0][key], answers[2][key])
