"""``drystone inspect CHECKPOINT``: tensors by object, both forms, values, and what is refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from drystone_abi.protos import TrackableObjectGraph
from drystone_base.checkpoint import save, state_latest
from drystone_base.cli._app import app
from drystone_base.core.tensor import string_array

DATA = Path(__file__).parents[1] / "data"


def inspect(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["inspect", *map(str, arguments)], catch_exceptions=False)


def facts(*arguments: str | Path) -> dict[str, Any]:
    done = inspect(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The variables of a model that TensorFlow wrote."""
    folder = tmp_path_factory.mktemp("models")
    shutil.unpack_archive(DATA / "modules/models.zip", folder)
    return folder / "everything/variables"


@pytest.mark.parametrize(
    "place", ["variables", "variables.index", "variables.data-00000-of-00001", ""]
)
def test_a_checkpoint_is_known_by_its_prefix_its_files_or_its_folder(
    saved: Path, place: str
) -> None:
    found = facts(saved / place)
    assert (found["kind"], found["form"], found["shards"]) == ("checkpoint", "V2", 1)
    assert found["path"] == str(saved / "variables")


def test_tensors_are_shown_by_the_objects_that_they_belong_to(saved: Path) -> None:
    rows = {row["object"]: row for row in facts(saved)["tensors"]}
    assert rows["w"] == {
        "name": "w/.ATTRIBUTES/VARIABLE_VALUE", "object": "w", "dtype": "float32", "shape": [3],
        "bytes": 12,
    }  # fmt: skip
    assert {"count", "inner.by", "parts.0.by", "parts.1.by", "named.a.by"} <= rows.keys()
    table = inspect(saved).stdout
    assert "parts.1.by" in table
    assert "tensors" in table


def test_slots_of_an_optimizer_name_their_variable(tmp_path: Path) -> None:
    stored = TrackableObjectGraph()
    root, w, optimizer, slot = (stored.nodes.add() for _ in range(4))
    root.children.add(node_id=1, local_name="w")
    root.children.add(node_id=2, local_name="optimizer")
    keys = {"w": w, "m": slot}
    for key, node in keys.items():
        node.attributes.add(name="VARIABLE_VALUE", checkpoint_key=key)
    optimizer.slot_variables.add(
        original_variable_node_id=1, slot_name="m", slot_variable_node_id=3
    )
    objects = string_array([stored.SerializeToString()], ())
    values = {key: np.zeros(2, np.float32) for key in keys}
    save(tmp_path / "c", values | {"_CHECKPOINTABLE_OBJECT_GRAPH": objects})
    rows = {row["name"]: row["object"] for row in facts(tmp_path / "c")["tensors"]}
    assert (rows["w"], rows["m"]) == ("w", "optimizer[m of w]")


def test_the_latest_of_a_folder(tmp_path: Path) -> None:
    for number in (1, 2):
        save(tmp_path / f"c-{number}", {"x": np.array([number], np.int32)})
        state_latest(tmp_path / f"c-{number}")
    assert facts(tmp_path)["path"] == str(tmp_path / "c-2")


@pytest.mark.parametrize(
    ("prefix", "form", "shards", "count"),
    [("sharded", "V2", 2, 3), ("v1/sharded", "V1", 2, 2), ("v1/plain", "V1", 1, None)],
)
def test_both_forms_and_shards(prefix: str, form: str, shards: int, count: int | None) -> None:
    found = facts(DATA / "checkpoints" / prefix)
    assert (found["form"], found["shards"]) == (form, shards)
    assert count in (None, found["count"])


def test_a_partitioned_tensor_counts_once() -> None:
    found = facts(DATA / "checkpoints/sharded")
    (part,) = [row for row in found["tensors"] if "slices" in row]
    assert (part["name"], part["shape"], part["bytes"]) == ("part/w", [5, 4], 80)
    assert found["numbers"] == 22


def test_values_by_name_and_by_object(saved: Path) -> None:
    text = inspect(saved, "--values", "w", "--values", "inner.by").stdout
    assert text.splitlines() == [
        "w (w/.ATTRIBUTES/VARIABLE_VALUE): float32 [3]", "[1. 2. 3.]",
        "inner.by (inner/by/.ATTRIBUTES/VARIABLE_VALUE): float32 []", "2.",
    ]  # fmt: skip
    found = facts(saved, "--values", "w/.ATTRIBUTES/VARIABLE_VALUE")["tensors"]
    assert [row["values"] for row in found] == [[1, 2, 3]]


def test_values_of_every_dtype_are_json() -> None:
    prefix = DATA / "checkpoints/plain"
    names = [row["name"] for row in facts(prefix)["tensors"]]
    assert len(names) > 20
    shown = facts(prefix, *(word for name in names for word in ("--values", name)))
    assert len(shown["tensors"]) == len(names)


def test_what_means_nothing_is_refused(saved: Path, tmp_path: Path) -> None:
    wrong = inspect(saved, "--values", "inner.bye")
    assert (wrong.exit_code, "no tensor 'inner.bye'; did you mean" in wrong.stderr) == (2, True)
    assert inspect(saved, "--values", "").exit_code == 2
    drawn = inspect(saved, "--graph", tmp_path / "x.svg")
    assert (drawn.exit_code, "are for models" in drawn.stderr) == (2, True)
    model = inspect(saved.parent, "--values", "w")
    assert (model.exit_code, "is no checkpoint" in model.stderr) == (2, True)


def test_a_damaged_checkpoint_exits_with_three(tmp_path: Path) -> None:
    save(tmp_path / "c", {"x": np.zeros(3, np.float32)})
    (tmp_path / "c.index").write_bytes(b"junk" * 30)
    done = inspect(tmp_path / "c")
    assert (done.exit_code, "remedy:" in done.stderr) == (3, True)


def test_names_are_shown_harmless(tmp_path: Path) -> None:
    save(tmp_path / "c", {"a\x1b[31m\u202eb": np.zeros(1, np.float32)})
    shown = (
        inspect(tmp_path / "c").stdout
        + inspect(tmp_path / "c", "--values", "a\x1b[31m\u202eb").stdout
    )
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "a\\x1b[31m\\u202eb" in shown
