"""Graphs and checkpoints that exclude consumers of our version are refused, wherever they lie."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format, text_format
from model_files import meta_graph, model_graph, write_saved_model
from tiny_models import affine

import drystone_base as ds
from drystone_abi.protos import GraphDef, VersionDef
from drystone_base.checkpoint import open_checkpoint, v1_writer
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadModelFile, CheckpointError
from drystone_base.graph.versions import CONSUMER, MIN_CONSUMER, refused_consumer

EXCLUDES = [
    (VersionDef(producer=999_999, min_consumer=999_999), "min_consumer 999999"),
    (VersionDef(producer=CONSUMER, min_consumer=CONSUMER + 1), f"min_consumer {CONSUMER + 1}"),
    (VersionDef(producer=3000, bad_consumers=[CONSUMER, 7]), f"bad_consumers 7, {CONSUMER}"),
]
ALLOWS = [
    VersionDef(producer=999_999),
    VersionDef(producer=1, min_consumer=CONSUMER, bad_consumers=[CONSUMER - 1, CONSUMER + 1]),
    VersionDef(),
]


def graph_with(versions: VersionDef) -> GraphDef:
    graph = GraphDef.FromString(affine().to_bytes())
    graph.versions.CopyFrom(versions)
    return graph


def as_pb(graph: GraphDef, folder: Path) -> Path:
    (folder / "m.pb").write_bytes(graph.SerializeToString())
    return folder / "m.pb"


def as_text(graph: GraphDef, folder: Path) -> Path:
    (folder / "m.pbtxt").write_text(text_format.MessageToString(graph))
    return folder / "m.pbtxt"


def as_meta(graph: GraphDef, folder: Path) -> Path:
    meta = meta_graph(affine(), signature=False)
    meta.graph_def.CopyFrom(graph)
    (folder / "m.meta").write_bytes(meta.SerializeToString())
    return folder / "m.meta"


def as_saved_model(graph: GraphDef, folder: Path) -> Path:
    meta = meta_graph(model_graph())
    meta.graph_def.versions.CopyFrom(graph.versions)
    return write_saved_model(folder / "m", meta)


def as_tfjs(graph: GraphDef, folder: Path) -> Path:
    topology = json_format.MessageToDict(graph)
    model = {"format": "graph-model", "modelTopology": topology, "weightsManifest": []}
    (folder / "model.json").write_text(json.dumps(model))
    return folder / "model.json"


FORMS = [as_pb, as_text, as_meta, as_saved_model, as_tfjs]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("versions", "found"), EXCLUDES)
def test_graphs_that_exclude_us(
    form: Callable[[GraphDef, Path], Path], versions: VersionDef, found: str, tmp_path: Path
) -> None:
    with pytest.raises(BadModelFile, match="graph-version") as error:
        ds.load(form(graph_with(versions), tmp_path))
    assert error.value.found == f"{found} (written by producer {versions.producer})"
    assert str(CONSUMER) in error.value.needed


@pytest.mark.parametrize("versions", ALLOWS)
@pytest.mark.parametrize("form", [as_pb, as_text])
def test_graphs_that_do_not(form: Any, versions: VersionDef, tmp_path: Path) -> None:
    path = form(graph_with(versions), tmp_path)
    model = ds.load(path)
    assert model.graph.producer == versions.producer
    ds.write_graph(model.graph, tmp_path / "again.pb")  # what was stated stays stated
    again = GraphDef.FromString((tmp_path / "again.pb").read_bytes())
    assert again.versions == versions


def test_other_meta_graphs_may_exclude_us(tmp_path: Path) -> None:
    mine, other = meta_graph(model_graph()), meta_graph(model_graph())
    other.meta_info_def.tags[:] = ["train"]
    other.graph_def.versions.min_consumer = CONSUMER + 1
    folder = write_saved_model(tmp_path / "m", mine, other)
    ds.load(folder)
    with pytest.raises(BadModelFile, match="graph-version"):
        ds.load(folder, tags=["train"])


def test_new_graphs_state_what_tensorflow_does() -> None:
    stated = GraphDef.FromString(ds.Graph().to_bytes()).versions
    assert stated == VersionDef(producer=CONSUMER, min_consumer=MIN_CONSUMER)
    assert not refused_consumer(stated, CONSUMER)


def test_v1_checkpoints_state_versions_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stated(producer: int) -> VersionDef:
        return VersionDef(producer=producer, bad_consumers=[1])

    monkeypatch.setattr(v1_writer, "VersionDef", stated)
    writer = v1_writer.V1Writer(tmp_path / "old.ckpt")
    writer.add("x", np.zeros(2, np.float32), FLOAT32)
    writer.finish()
    with pytest.raises(CheckpointError, match="found: bad_consumers 1") as error:
        open_checkpoint(tmp_path / "old.ckpt")
    assert error.value.code == "checkpoint-unsupported"
