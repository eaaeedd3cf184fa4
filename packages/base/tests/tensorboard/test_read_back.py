"""TensorBoard's own reader, and xprof, open what drystone writes (``nox -s tensorboard``)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from xprof.convert import raw_to_tool_data

import drystone_base as ds

FLOAT32 = ds.as_dtype("float32")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    graph.add("Relu", "y", [x], attrs={"T": FLOAT32})
    session = ds.Session(graph)
    with session.record() as record:
        for _ in range(3):
            session.run("y:0", {"x:0": np.ones(1000, np.float32)})
    with ds.SummaryWriter(folder) as writer:
        for step in range(5):
            writer.scalar("loss", 1 / (1 + step), step)
        writer.histogram("weights", np.arange(100.0), 0)
        writer.image("digits", np.zeros((2, 8, 6, 1), np.uint8), 0)
        writer.text("note", "*hello*", 0)
        writer.graph(graph)
        writer.run_metadata("step 0", record, 0)
    record.write_profile(folder)
    return folder


def test_tensorboard_reads_every_kind(logs: Path) -> None:
    read = EventAccumulator(str(logs), size_guidance={"images": 0})
    read.Reload()
    assert [event.value for event in read.Scalars("loss")] == [
        np.float32(1 / (1 + step)) for step in range(5)
    ]
    assert read.Histograms("weights")[0].histogram_value.num == 100
    image = read.Images("digits/image/1")[0]
    assert (image.width, image.height) == (6, 8)
    assert list(read.Tensors("note")[0].tensor_proto.string_val) == [b"*hello*"]
    assert {node.name for node in read.Graph().node} == {"x", "y"}
    stats = read.RunMetadata("step 0").step_stats.dev_stats[0].node_stats
    assert "y" in {node.node_name for node in stats}


def test_xprof_opens_the_profile(logs: Path) -> None:
    (path,) = logs.glob("plugins/profile/*/*.xplane.pb")
    text, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], "trace_viewer", {})
    named = [event.get("name") for event in json.loads(text)["traceEvents"]]
    assert named.count("y") == 3 or named.count("y:Relu") == 3
    assert {"run 0", "run 1", "run 2"} <= set(named)


def test_xprof_sees_runs_as_steps(logs: Path) -> None:
    (path,) = logs.glob("plugins/profile/*/*.xplane.pb")
    text, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], "input_pipeline_analyzer", {})
    tables = json.loads(text)
    steps = next(t for t in tables if t.get("cols") and t["cols"][0]["id"] == "stepnum")
    assert [row["c"][0]["v"] for row in steps["rows"]] == ["run 0", "run 1", "run 2"]
    assert float(steps["p"]["steptime_ms_average"]) > 0
    assert "No step marker" not in str(text)
