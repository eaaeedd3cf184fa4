"""Records of runs: on both executors, as tables, traces and event files."""

import json
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from random_programs import draw
from random_programs.agree import Failed, outcome
from tiny_models import affine, write

from drystone_abi.protos import Event, GraphDef, RunMetadata
from drystone_base.api.session import Session, SessionConfig
from drystone_base.cli._app import app
from drystone_base.core import dtypes
from drystone_base.core.errors import BadRequest, KernelError
from drystone_base.executor.record import NodeRun, Record
from drystone_base.graph import Graph, Node
from drystone_base.host import available
from drystone_base.kernels.io._records import read_records
from drystone_base.ops.attrs import TensorAttr

EXECUTORS = ["reference", *(["native"] if available() else [])]
ARITHMETIC = {"AddV2", "Sub", "Mul", "Maximum", "Minimum", "Neg", "Abs", "Square", "MatMul"}
X = np.ones((5, 3), np.float32)


def recorded(graph: Graph, executor: str, fetches: list[str], feeds: dict[str, object]) -> Record:
    config = SessionConfig(executor=executor, optimizer="off")  # type: ignore[arg-type]
    session = Session(graph, config)
    with session.record() as record:
        session.run(fetches, feeds)
    session.run(fetches, feeds)
    return record


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_record_has_every_node_of_its_runs(executor: str) -> None:
    record = recorded(affine(), executor, ["y:0"], {"x:0": X})
    assert [n.op for n in record.nodes if n.op != "Const"] == ["Mul", "AddV2", "Relu"]
    assert len(record.runs) == 1
    assert {n.bytes for n in record.nodes if n.op != "Const"} == {60}
    start, end = record.runs[0]
    assert all(start <= n.start <= n.end <= end for n in record.nodes)
    assert record.nodes[-1].kernel


@pytest.mark.parametrize("seed", range(8))
def test_executors_record_the_same_arithmetic(seed: int) -> None:
    program = draw(seed)
    counts = []
    for executor in EXECUTORS:
        config = SessionConfig(executor=executor, optimizer="off")  # type: ignore[arg-type]
        session = Session(program.graph, config)
        until = 0  # the end of the last run that did not fail
        with session.record() as record:
            for fetches, feeds in program.runs:
                if isinstance(outcome(session, fetches, feeds), Failed):
                    break
                until = record.runs[-1][1]
        if record.nodes:
            assert sum(row["share"] for row in record.by_op()) == pytest.approx(1)
            assert min(row["seconds"] for row in record.by_op()) >= 0
        complete = [n.op for n in record.nodes if n.end <= until]
        counts.append(Counter(op for op in complete if op in ARITHMETIC))
    assert all(found == counts[0] for found in counts)


@pytest.mark.skipif(not available(), reason="the host library is not built")
def test_values_are_counted_while_they_are_held() -> None:
    record = recorded(affine(), "native", ["y:0"], {"x:0": X})
    held = [n.held for n in record.nodes if n.op != "Const"]
    assert record.peak is not None
    assert all(h is not None and 60 <= h <= 600 for h in held)
    assert record.peak == max(h for h in held if h is not None)


def test_what_runs_inside_is_not_counted_twice() -> None:
    record = Record()
    record.runs.append((0, 100))
    record.nodes = [
        NodeRun("a", "Add", "body", "", 1, 10, 30, 4, 8),
        NodeRun("b", "Add", "body", "", 1, 30, 70, 4, 16),
        NodeRun("w", "While", "", "", 1, 5, 75, 4, 8),
        NodeRun("n", "Neg", "", "", 1, 75, 80, 4, None),
    ]
    rows = {row["op"]: row for row in record.by_op()}
    times = {op: round(row["seconds"] * 1e9) for op, row in rows.items()}
    assert times == {"Add": 60, "While": 10, "Neg": 5, "(executor)": 25}
    assert rows["Add"]["calls"] == 2
    assert record.peak == 16


@pytest.mark.skipif(not available(), reason="the host library is not built")
def test_a_run_that_fails_is_recorded_up_to_there() -> None:
    graph = affine()
    total = graph["layer/sum"]
    graph.add("MatMul", "bad", [total, total], attrs=dict(total.attrs))
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    with session.record() as record, pytest.raises(KernelError, match="'bad'"):
        session.run("bad:0", {"x:0": X})
    assert [n.op for n in record.nodes] == ["Mul", "AddV2"]
    assert session.run("y:0", {"x:0": X}).shape == (5, 3)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_the_command_line_saves_what_ran(tmp_path: Path, executor: str) -> None:
    model, trace = write(affine(), tmp_path / "m.pb"), tmp_path / "t.json"
    arguments = ["run", model, "--trace", str(trace), "--events", str(tmp_path / "logs")]
    environment = {"DRYSTONE_EXECUTOR": executor}
    done = CliRunner().invoke(app, [*arguments, "--profile"], env=environment)
    assert done.exit_code == 0, done.output
    assert "one run by op" in done.output
    events = json.loads(trace.read_text())["traceEvents"]
    relu = next(e for e in events if e["name"] == "Relu")
    assert relu["ph"] == "X"
    assert relu["args"]["node"] == "y"
    assert relu["args"]["bytes"] > 0
    (file,) = (path for path in (tmp_path / "logs").iterdir() if path.is_file())
    assert len(list((tmp_path / "logs").glob("plugins/profile/*/*.xplane.pb"))) == 1
    with file.open("rb") as stream:
        records = [Event.FromString(record) for record in read_records(stream)]
    graph = GraphDef.FromString(next(r.graph_def for r in records if r.graph_def))
    assert {"x", "y"} <= {node.name for node in graph.node}
    metadata = RunMetadata.FromString(records[-1].tagged_run_metadata.run_metadata)
    assert "y" in {s.node_name for s in metadata.step_stats.dev_stats[0].node_stats}


def test_the_profile_is_json_where_json_is_wanted(tmp_path: Path) -> None:
    model = write(affine(), tmp_path / "m.pb")
    done = CliRunner().invoke(app, ["run", model, "--profile", "--json"])
    report = json.loads(done.stdout)
    assert {row["op"] for row in report["profile"]} >= {"Mul", "AddV2", "Relu", "(executor)"}


def stack_loop() -> Graph:
    """A loop of frames that keeps ``x``, ``x + 1`` and so on, on a stack of references; ``y``."""
    graph, floats = Graph(), {"T": dtypes.FLOAT32}

    def const(name: str, value: float) -> Node:
        held = TensorAttr(array=np.float32(value))
        return graph.add("Const", name, attrs={"dtype": dtypes.FLOAT32, "value": held})

    def enter(name: str, source: Node, op: str = "Enter", **more: object) -> Node:
        frame = {"frame_name": "f", "is_constant": True, "parallel_iterations": 10}
        return graph.add(op, name, [source], attrs=floats | frame | more)

    x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": ()})
    most = graph.add("Placeholder", "most", attrs={"dtype": dtypes.FLOAT32, "shape": ()})
    stack = graph.add("Stack", "stack", attrs={"elem_type": dtypes.FLOAT32, "stack_name": "s"})
    handle = enter("handle", stack, "RefEnter", T=dtypes.STRING)
    limit, one = enter("limit", most), enter("one", const("c1", 1.0))
    first = enter("first", x, is_constant=False)
    merge = graph.add("Merge", "merge", [first, first], attrs=floats | {"N": 2})
    less = graph.add("Less", "less", [merge, limit], attrs=floats)
    go = graph.add("LoopCond", "go", [less])
    switch = graph.add("Switch", "switch", [merge, go], attrs=floats)
    inside = graph.add("Identity", "inside", [(switch, 1)], attrs=floats)
    pushed = graph.add("StackPush", "push", [handle, inside], attrs=floats | {"swap_memory": False})
    total = graph.add("AddV2", "total", [pushed, one], attrs=floats)
    back = graph.add("NextIteration", "back", [total], attrs=floats)
    graph.set_input(merge, 1, (back, 0))
    left = graph.add("Exit", "left", [(switch, 0)], attrs=floats)
    pop = graph.add("StackPop", "pop", [stack], controls=[left],
                    attrs={"elem_type": dtypes.FLOAT32})  # fmt: skip
    graph.add("AddV2", "y", [left, pop], attrs=floats)
    return graph


@pytest.mark.parametrize("executor", EXECUTORS)
def test_recording_a_loop_takes_time_by_its_rounds(executor: str) -> None:
    session = Session(stack_loop(), SessionConfig(executor=executor, optimizer="off"))  # type: ignore[arg-type]

    def seconds(rounds: int) -> float:
        feeds = {"x:0": np.float32(0), "most:0": np.float32(rounds)}
        begin = time.process_time()
        with session.record() as record:
            assert session.run("y:0", feeds) == 2 * rounds - 1
        assert sum(node.op == "StackPushV2" for node in record.nodes) == rounds
        return time.process_time() - begin

    rounds = 2400 if executor == "native" else 600
    few = rounds // 2  # eight times as many take 8 times as long, or 64 times if each looks back
    assert min(seconds(8 * few) for _ in range(2)) < 32 * min(seconds(few) for _ in range(3))


def test_a_stack_whose_handle_is_fetched_stays_one_of_references() -> None:
    session = Session(stack_loop(), SessionConfig(optimizer="off"))
    with session.record() as record:
        session.run(["y:0", "stack"], {"x:0": np.float32(0), "most:0": np.float32(3)})
    assert {"StackPush", "StackPop"} <= {node.op for node in record.nodes}


@pytest.mark.parametrize("trace", [b"", b"[]", b'{"events": [[0, 0, 1, 2, 3, 0, [], []]]}'])
def test_a_trace_of_no_plan_is_refused(trace: bytes) -> None:
    with pytest.raises(BadRequest, match="bad-argument"):
        Record().add_native(trace, [])
