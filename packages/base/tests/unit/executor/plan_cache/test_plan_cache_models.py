"""SavedModels and MetaGraphs in the plan cache."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh_process import run_program, seldom
from model_files import WEIGHTS, const, with_objects, write_saved_model

from drystone_abi.protos import DataType, GraphDef, MetaGraphDef, SavedModel
from drystone_base.checkpoint import save
from drystone_base.core.dtypes import FLOAT32, INT64, STRING
from drystone_base.core.errors import CheckpointError
from drystone_base.files.store import Store
from drystone_base.graph import Graph

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

PROGRAM = """
import json, sys
import numpy as np
import drystone_base as ds
config = ds.SessionConfig(optimizer="off")
try:
    model = ds.load({path!r}, config=config, {options})
    found = model.run(["w", "x/again"], {{"x:0": np.float32([[7]])}})
    print(json.dumps([v.tolist() for v in found]))
except ds.DrystoneError as error:
    print(json.dumps([type(error).__name__, error.code, str(error)]))
print("drystone_base.graph" in sys.modules)
{after}
"""


def meta(*, saver: bool = True) -> MetaGraphDef:
    """A MetaGraph that the host runs without other kernels: it gives ``w``, and hands ``x`` on."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (1, 1)})
    graph.add("Identity", "x/again", [x], attrs={"T": FLOAT32})
    w = graph.add("VariableV2", "w", attrs={"dtype": FLOAT32, "shape": (3, 2)})
    if saver:
        filename = const(graph, "save/filename", "model", STRING)
        names, slices = (
            const(graph, f"save/{k}", [v], STRING)
            for k, v in (("names", "weights"), ("slices", ""))
        )
        inputs = [filename, names, slices]
        value = graph.add("RestoreV2", "save/read", inputs, attrs={"dtypes": [FLOAT32]})
        put = graph.add("Assign", "save/put", [w, value], attrs={"T": FLOAT32})
        graph.add("NoOp", "save/all", controls=[put])
    made = MetaGraphDef(graph_def=GraphDef.FromString(graph.to_bytes()))
    made.meta_info_def.tags.append("serve")
    if saver:
        made.saver_def.filename_tensor_name = "save/filename:0"
        made.saver_def.restore_op_name = "save/all"
    return made


class Model:
    """A model's files, a folder for plans, and processes that run the model."""

    def __init__(self, tmp_path: Path, path: Path) -> None:
        self.plans, self.path = tmp_path / "plans", path

    def run(self, options: str = "", after: str = "") -> tuple[Any, bool, list[str]]:
        """What a process gives or raises, whether it took what was kept, and what it says more."""
        code = PROGRAM.format(path=str(self.path), options=options, after=after)
        chosen = {"DRYSTONE_PLAN_CACHE": str(self.plans)}
        found, read, *more = run_program(code, **chosen).splitlines()
        return json.loads(found), read == "False", more

    def rewrite(self, key: str, facts: Callable[[Any], dict[str, Any]]) -> None:
        """Write other facts into the record that has the key, whole and with its checksums."""
        store, written = Store(self.plans, None, "plan"), 0
        for file in self.plans.glob("*.plan"):
            found = store.read(file.stem)
            assert found is not None
            if key in found[0]:
                store.write(file.stem, found[0] | facts(found[0][key]), [bytes(found[1])])
                written += 1
        assert written == 1

    def assert_right(self, weights: Any = WEIGHTS, options: str = "", *, kept: bool) -> None:
        """A process gives the weights; whether it took what was kept."""
        found, taken, _ = self.run(options)
        assert found == [weights.tolist(), [[7.0]]]
        assert taken == kept


def saved(tmp_path: Path, *metas: MetaGraphDef) -> Model:
    folder = write_saved_model(tmp_path / "m", *(metas or [meta()]))
    shutil.rmtree(folder / "assets")
    return Model(tmp_path, folder)


def by_objects(tmp_path: Path) -> Model:
    model = saved(tmp_path)
    made = with_objects(meta(saver=False), model.path)
    whole = SavedModel(saved_model_schema_version=1, meta_graphs=[made])
    (model.path / "saved_model.pb").write_bytes(whole.SerializeToString())
    return model


def meta_file(tmp_path: Path) -> Model:
    folder = tmp_path / "metagraph"
    folder.mkdir()
    (folder / "m.meta").write_bytes(meta().SerializeToString())
    save(folder / "ckpt", {"weights": WEIGHTS})
    return Model(tmp_path, folder)


@pytest.mark.parametrize("make", [saved, by_objects, meta_file])
def test_a_second_process_reads_no_graph(tmp_path: Path, make: Any) -> None:
    model = make(tmp_path)
    model.assert_right(kept=False)
    assert len(list(model.plans.glob("*.plan"))) == 2, "the plan, and how the model is loaded"
    model.assert_right(kept=True)
    model.assert_right(kept=True)


def prefix_of(model: Model) -> Path:
    return model.path / "variables" / "variables"


def test_other_weights_take_the_same_plan(tmp_path: Path) -> None:
    """As after more training: the graph is read once more, to see what each variable gets."""
    model = saved(tmp_path)
    model.assert_right(kept=False)
    for factor in (2, 3):
        save(prefix_of(model), {"weights": WEIGHTS * factor, "more": np.ones(1)})
        model.assert_right(WEIGHTS * factor, kept=False)
        model.assert_right(WEIGHTS * factor, kept=True)
    assert len(list(model.plans.glob("*.plan"))) == 4, "one plan, three ways to load it"


def test_another_graph_is_another_model(tmp_path: Path) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    other = meta()
    other.graph_def.node.add(name="nothing", op="NoOp")
    whole = SavedModel(saved_model_schema_version=1, meta_graphs=[other])
    (model.path / "saved_model.pb").write_bytes(whole.SerializeToString())
    model.assert_right(kept=False)
    model.assert_right(kept=True)


def test_each_metagraph_of_a_model_is_its_own(tmp_path: Path) -> None:
    """Which one is meant depends on the tags that are asked for."""
    train = meta()
    train.meta_info_def.tags[:] = ["train"]
    (read,) = [n for n in train.graph_def.node if n.name == "save/names"]
    read.attr["value"].tensor.string_val[:] = [b"others"]
    model = saved(tmp_path, meta(), train)
    others = WEIGHTS + 1
    save(prefix_of(model), {"weights": WEIGHTS, "others": others})
    for kept in (False, True):
        model.assert_right(kept=kept)
        model.assert_right(others, 'tags="train"', kept=kept)
        model.assert_right(others, 'tags=["train", "train"]', kept=True)


def test_variables_that_nobody_needs_stay_without_a_value(tmp_path: Path) -> None:
    model = saved(tmp_path)
    for kept in (False, True):
        found, taken, _ = model.run('needed=["x/again:0"]')
        assert (found[1], taken) == ("uninitialized-variable", kept)
    model.assert_right(kept=False)


def with_table(made: MetaGraphDef) -> None:
    """Give a model a table that a file of its fills when it is loaded."""
    graph = Graph.from_proto(made.graph_def)
    kinds = {"key_dtype": INT64, "value_dtype": STRING}
    named = kinds | {"shared_name": "words", "container": "", "use_node_name_sharing": False}
    table = graph.add("HashTableV2", "table", attrs=named)
    path = const(graph, "asset", "nowhere", STRING)
    lines = {"key_index": -1, "value_index": -2, "vocab_size": -1, "delimiter": "\t", "offset": 0}
    fill = graph.add("InitializeTableFromTextFileV2", "fill", [table, path], attrs=lines)
    graph.add("NoOp", "init", controls=[fill])
    key, other = const(graph, "key", 1, INT64), const(graph, "other", "none", STRING)
    types = {"Tin": INT64, "Tout": STRING}
    graph.add("LookupTableFindV2", "word", [table, key, other], attrs=types)
    made.graph_def.ParseFromString(graph.to_bytes())
    made.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "init"
    made.asset_file_def.add(filename="more/words.txt").tensor_info.name = "asset:0"


def test_tables_are_filled_by_cached_plans(tmp_path: Path) -> None:
    """From assets: where those lie is told by the folder that the model is in now."""
    made = meta()
    with_table(made)
    model = saved(tmp_path, made)
    (model.path / "assets" / "more").mkdir(parents=True)
    words = model.path / "assets" / "more" / "words.txt"
    words.write_text("one\ntwo\n", encoding="utf-8")
    after = 'print(model.run("word").item().decode(), "drystone_base.graph" in sys.modules)'
    for kept in (False, True):
        found, taken, more = model.run(after=after)
        assert (found, taken) == ([WEIGHTS.tolist(), [[7.0]]], kept)
        assert more == [f"two {not kept}"]
    moved = model.path.rename(tmp_path / "moved")
    model.path, words = moved, moved / "assets" / "more" / "words.txt"
    words.write_text("one\nthree\n", encoding="utf-8")
    found, taken, more = model.run(after=after)
    assert (taken, more) == (True, ["three False"])
    words.unlink()
    (name, code, text), taken, _ = model.run()
    assert (name, code, taken) == ("BadModelFile", "missing-asset", False)
    assert "needed: more/words.txt" in text


def test_what_a_run_computes_is_computed(tmp_path: Path) -> None:
    """A step that needs more of Python makes the process read the graph: values are right."""
    made = meta()
    (w,) = [n for n in made.graph_def.node if n.name == "w"]
    made.graph_def.node.add().CopyFrom(w)
    made.graph_def.node[-1].name = "late"
    copied = made.graph_def.node.add(name="fill", op="Assign", input=["late", "w"])
    copied.attr["T"].type = DataType.DT_FLOAT
    made.signature_def["__saved_model_init_op"].outputs["__saved_model_init_op"].name = "fill"
    model = saved(tmp_path, made)
    for _ in range(2):
        found, taken, more = model.run(after='print(model.run("late").tolist())')
        assert found == [WEIGHTS.tolist(), [[7.0]]]
        assert not taken
        assert more == [str(WEIGHTS.tolist())]


CHANGED = """
print(model.run("w").tolist())
model.run("save/put", {{"save/read:0": {value}}})
print(model.run(["w", "x/again"], {{"x:0": np.float32([[7]])}})[0].tolist())
print(model.loaded.meta.meta_info_def.tags, model.loaded.tags, len(model.graph))
ds.save(model, {out!r})
print(ds.load({out!r}, config=config).run("w").tolist())
"""


def test_all_there_is_to_ask_of_a_model_is_there(tmp_path: Path) -> None:
    """Its variables change, its graph and what else its file says are read when asked for."""
    model = saved(tmp_path)
    value = (WEIGHTS * 5).tolist()
    rows = []
    for k in range(2):
        given = f"np.float32({value})"
        after = CHANGED.format(value=given, out=str(tmp_path / f"copy{k}"))
        found, taken, more = model.run(after=after)
        assert (found, taken) == ([WEIGHTS.tolist(), [[7.0]]], bool(k))
        rows.append(more)
    assert rows[0] == rows[1]
    assert rows[0][1] == rows[0][3] == str(value)


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda f: f.write_bytes(bytes([f.read_bytes()[0] ^ 1]) + f.read_bytes()[1:]), "checksum"),
        (lambda f: f.write_bytes(f.read_bytes()[:-1]), "truncated"),
        (lambda f: f.unlink(), "missing-shard"),
    ],
)
def test_damaged_data_are_refused_as_ever(tmp_path: Path, damage: Any, error: str) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    (data,) = model.path.glob("variables/variables.data-*")
    damage(data)
    (name, code, text), taken, _ = model.run()
    assert (name, code, taken) == (CheckpointError.__name__, f"checkpoint-{error}", False)
    shutil.rmtree(model.plans)
    assert model.run()[0] == [name, code, text]


def test_a_note_of_another_checkpoint_is_written_anew(tmp_path: Path) -> None:
    """Whoever wrote it: what it says of the data does not hold, and the index tells what does."""
    model = saved(tmp_path)
    model.assert_right(kept=False)
    model.rewrite("variables", lambda rows: {"variables": [[*rows[0][:-1], rows[0][-1] ^ 1]]})
    model.assert_right(kept=False)
    model.assert_right(kept=True)


def test_a_damaged_note_is_written_anew(tmp_path: Path) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    for file in model.plans.glob("*.plan"):
        data = file.read_bytes()
        file.write_bytes(data.replace(b"made_from", b"made_form"))
        assert file.read_bytes() != data
    model.assert_right(kept=False)
    model.assert_right(kept=True)


def test_signatures_are_of_the_ops_that_a_process_knows(tmp_path: Path) -> None:
    """A graph without signatures ends where its known ops do."""
    model = meta_file(tmp_path)
    (file,) = model.path.glob("*.meta")
    made = MetaGraphDef.FromString(file.read_bytes())
    made.graph_def.node.add(name="mine", op="MyOp", input=["x"])
    file.write_bytes(made.SerializeToString())
    program = """
import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.ops.defs import ArgDef, OpDef, register
if {registers}:
    register(OpDef("MyOp", *((ArgDef(n, FLOAT32, "", "", "", False),) for n in "xy")))
model = ds.load({path!r}, config=ds.SessionConfig(optimizer="off"))
print(sorted(model.default_signature().signature.outputs))
model.run(["w", "x/again"], {{"x:0": [[7]]}})
"""
    outputs = [
        run_program(
            program.format(registers=registers, path=str(model.path)),
            DRYSTONE_PLAN_CACHE=str(model.plans),
        ).strip()
        for registers in (False, True, False)
    ]
    assert outputs == ["['x/again']", "['mine', 'x/again']", "['x/again']"]


def test_a_checkpoint_that_was_put_elsewhere_is_not_followed(tmp_path: Path) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    (model.path / "variables").rename(tmp_path / "elsewhere")
    (model.path / "variables").symlink_to(tmp_path / "elsewhere")
    (name, code, _), _, _ = model.run()
    assert (name, code) == (CheckpointError.__name__, "access-denied")


@pytest.mark.parametrize(
    "facts",
    [
        {"signatures": [["a", "", [["x", "x:0", 1 << 20, None]], []]]},
        {"variables": [["w"]]},
        *seldom(
            {"signatures": 3},
            {"variables": [["w", "weights", 1 << 20, [3, 2], 0, 0, 24, 0]]},
            {"shards": "many"},
            {"tags": None},
            {"steps": [["init"]]},
            {"steps": 1},
            {"assets": ["words.txt"]},
            {"steps": [[["w"], ["asset:0"]]]},
        ),
    ],
)
def test_facts_that_nobody_wrote_load_nothing(tmp_path: Path, facts: dict[str, Any]) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    model.rewrite("signatures", lambda _: facts)
    model.assert_right(kept=False)
    model.assert_right(kept=True)


ROW = ["VariableV2", "w", "", 1, {}, {}, []]


@pytest.mark.parametrize(
    "facts",
    [
        {"kernels": [["NoSuchOp", *ROW[1:]]]},
        {"kernels": [[*ROW[:4], {"dtype": ["dtype", 1 << 20]}, {}, []]]},
        *seldom(
            {"kernels": [ROW[:2]]},
            {"kernels": [[*ROW[:4], {"dtype": 3}, {}, []]]},
            {"kernels": [[*ROW[:5], {"x": [1]}, []]]},
            {"kernels": [ROW, ROW]},
            {"kernels": 3},
            {"outputs": [["1 <<"]]},
            {"outputs": None},
            {"has_value": 3},
        ),
    ],
)
def test_kernels_that_nobody_wrote_make_no_plan(tmp_path: Path, facts: dict[str, Any]) -> None:
    model = saved(tmp_path)
    model.assert_right(kept=False)
    model.rewrite("kernels", lambda _: facts)
    model.assert_right(kept=False)
    model.assert_right(kept=True)
