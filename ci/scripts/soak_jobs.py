"""What a soak runs: jobs that give the same answer every time, or fail in the same way.

A job is called from many threads at once. It returns bytes that must be equal from call to call,
and from one turn's sessions to the next one's.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np

import drystone_base as ds
from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

__all__ = ["Job", "lasting_jobs", "turn_jobs"]

Job: TypeAlias = Callable[[], bytes]
Executor: TypeAlias = Literal["native", "reference"]

STEPS: Final = 3
LASTING: Final = ("guesslang", "textgenrnn-v2cf")
FLOATS: Final = np.arange(1024, dtype=np.float32)


def digest(values: Any) -> bytes:
    """Of the bits, shapes and types of arrays."""
    sum_ = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        sum_.update(f"{array.dtype}{array.shape}".encode())
        sum_.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())
    return sum_.digest()


# ---- models ----------------------------------------------------------------------------------


def shared_session(folder: Path, sessions: ExitStack, executor: Executor) -> dict[str, Job]:
    """A job for each case of a model: all threads run it on one session."""
    facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    model = ds.load(folder / facts["model"], config=SessionConfig(executor=executor))
    sessions.enter_context(model.session)
    return {
        f"{folder.name} {number}, {executor}": model_case(
            model, folder / case["inputs"], case["fetches"]
        )
        for number, case in enumerate(facts["cases"])
    }


def model_case(model: ds.Model, inputs: Path, fetches: list[str]) -> Job:
    """The fetches of one recorded input."""
    with np.load(inputs, allow_pickle=True) as data:
        feeds = dict(data)
    return lambda: digest(model.run(fetches, feeds))


def reloaded(folder: Path) -> tuple[str, Job]:
    """A model that is loaded, run once and closed by each call."""
    facts = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    case = facts["cases"][0]
    with np.load(folder / case["inputs"], allow_pickle=True) as data:
        feeds = dict(data)

    def job() -> bytes:
        model = ds.load(folder / facts["model"])
        with model.session:
            return digest(model.run(case["fetches"], feeds))

    return f"load and close {folder.name}", job


def training(folder: Path, sessions: ExitStack) -> Iterator[tuple[str, Job]]:
    """Steps from the initial state, in a session of the call's own; and one that all share."""
    ref = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    with np.load(folder / ref["file"], allow_pickle=True) as data:
        batches = list(zip(data["x"], data["y"], strict=True))
    model, lock = ds.load(folder / "metagraph"), threading.Lock()
    sessions.enter_context(model.session)

    def steps(session: Session) -> Iterator[Any]:
        for x, y in batches[:STEPS]:
            yield session.run([ref["loss"], ref["train_op"]], {ref["x"]: x, ref["y"]: y})[0]

    def own() -> bytes:
        with Session(model.graph) as session:
            session.run(ref["init_op"])
            return digest(steps(session))

    def kept() -> bytes:
        with lock:
            model.session.run(ref["init_op"])
            return digest(steps(model.session))

    yield f"train {folder.name}, own session", own
    yield f"train {folder.name}, kept session", kept


def racing(folder: Path, sessions: ExitStack) -> tuple[str, Job]:
    """Training steps of many threads at once on one session: losses stay finite."""
    ref = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    with np.load(folder / ref["file"], allow_pickle=True) as data:
        feeds = {ref["x"]: data["x"][0], ref["y"]: data["y"][0]}
    model = ds.load(folder / "metagraph")
    sessions.enter_context(model.session)

    def job() -> bytes:
        loss, _ = model.run([ref["loss"], ref["train_op"]], feeds)
        return b"finite" if np.isfinite(loss).all() else f"loss {loss}".encode()

    return f"race {folder.name}", job


# ---- graphs made here ------------------------------------------------------------------------


def _constant(graph: Graph, name: str, value: Any, dtype: Any) -> Any:
    array = TensorAttr(array=np.asarray(value, dtype.np))
    return (graph.add("Const", name, attrs={"dtype": dtype, "value": array}), 0)


def _endless() -> Graph:
    """A loop of functions that does not end, and an Add beside it."""
    graph = Graph()
    true = _node("Const", "true", [], dtype=BOOL, value=TensorAttr(array=np.array(True)))
    neg = _node("Neg", "neg", ["x"], T=FLOAT32)
    for name, kind, node, out in (
        ("always", BOOL, true, "true:output:0"),
        ("negate", FLOAT32, neg, "neg:y:0"),
    ):
        proto = FunctionDef()
        proto.signature.name = name
        proto.signature.input_arg.add(name="x", type=FLOAT32.number)
        proto.signature.output_arg.add(name="y", type=kind.number)
        proto.ret["y"] = out
        proto.node_def.append(node)
        graph.functions.add(proto)
    x = (graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (1024,)}), 0)
    attrs = {"T": [FLOAT32], "cond": FunctionRef("always", {}), "body": FunctionRef("negate", {})}
    graph.add("While", "loop", [x], attrs=attrs)
    graph.add("AddV2", "sum", [x, x], attrs={"T": FLOAT32})
    return graph


def _node(op: str, name: str, inputs: list[str], **attrs: Any) -> NodeDef:
    proto = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    return proto


def failure_of(session: Session, fetch: str, feeds: Any) -> bytes:
    """The code and status of the error that a run raises."""
    try:
        session.run(fetch, feeds)
    except DrystoneError as error:
        return f"{error.code} {error.status}".encode()
    return b"no error"


def timed_out(sessions: ExitStack) -> tuple[str, Job]:
    """A run stopped by its deadline, then one that ends, in the same session."""
    session = sessions.enter_context(Session(_endless(), SessionConfig(deadline=0.05)))

    def job() -> bytes:
        said = failure_of(session, "loop:0", {"x:0": FLOATS})
        if b"DEADLINE" not in said:
            return said
        try:
            return said + digest([session.run("sum:0", {"x:0": FLOATS})])
        except DrystoneError as error:  # a busy machine gave the short run no time
            if error.status != "DEADLINE_EXCEEDED":
                raise
            return said + digest([FLOATS + FLOATS])

    return "deadline", job


def failing(sessions: ExitStack) -> tuple[str, Job]:
    """Runs that fail for their feeds, in a kernel and before any; then one that does not."""
    graph = Graph()
    a, b = (
        (graph.add("Placeholder", name, attrs={"dtype": FLOAT32, "shape": None}), 0)
        for name in "ab"
    )
    graph.add("MatMul", "product", [a, b], attrs={"T": FLOAT32})
    session = sessions.enter_context(Session(graph))
    square = np.ones((8, 8), np.float32)

    def job() -> bytes:
        said = [
            failure_of(session, "product:0", {"a:0": square, "b:0": square[:5]}),
            failure_of(session, "product:0", {"a:0": square, "b:0": np.array(["x"])}),
            failure_of(session, "nothing:0", {}),
        ]
        good = session.run("product:0", {"a:0": square, "b:0": square})
        return b" ".join(said) + digest([good])

    return "failures", job


def counting() -> tuple[str, Job]:
    """A session with a variable, made, counted up and closed by each call."""
    graph = Graph()
    handle = (
        graph.add("VarHandleOp", "v", attrs={"dtype": INT32, "shape": (), "shared_name": "v"}),
        0,
    )
    zero, one = _constant(graph, "zero", 0, INT32), _constant(graph, "one", 1, INT32)
    graph.add("AssignVariableOp", "reset", [handle, zero], attrs={"dtype": INT32})
    graph.add("AssignAddVariableOp", "count", [handle, one], attrs={"dtype": INT32})
    graph.add("ReadVariableOp", "read", [handle], attrs={"dtype": INT32})

    def job() -> bytes:
        with Session(graph) as session:
            session.run("reset")
            count = session.make_callable("count")
            for _ in range(50):
                count()
            return digest([session.run("read:0")])

    return "count", job


def lasting_jobs(data: Path, sessions: ExitStack) -> dict[str, Job]:
    """Jobs on sessions that stay open for all of the soak: what a session hoards is seen."""
    made = dict([timed_out(sessions), failing(sessions)])
    for name in LASTING:
        made.update(shared_session(data / name, sessions, "native"))
    for facts in sorted(data.glob("*/train.json")):
        made.update(training(facts.parent, sessions))
    return {f"{name}, lasting": job for name, job in made.items()}


def turn_jobs(data: Path, models: Path | None, sessions: ExitStack) -> dict[str, Job]:
    """Jobs on sessions of a turn: of the models in ``data``, on both executors, and ``models``."""
    made: dict[str, Job] = dict([counting(), *(reloaded(data / name) for name in LASTING)])
    folders = [facts.parent for facts in sorted(data.glob("*/cases.json"))]
    for folder in folders:
        made.update(shared_session(folder, sessions, "native"))
        made.update(shared_session(folder, sessions, "reference"))
    for facts in sorted(data.glob("*/train.json")):
        made.update([racing(facts.parent, sessions)])
    if models is not None and (models / "index.json").exists():
        made.update(recorded(models, {folder.name for folder in folders}, sessions))
    return made


def recorded(models: Path, known: set[str], sessions: ExitStack) -> Iterator[tuple[str, Job]]:
    """A job for the first case of each further model."""
    rows = json.loads((models / "index.json").read_text(encoding="utf-8"))["models"]
    for row in rows:
        refs = [ref for ref in row["refs"] if ref["kind"] != "train"]
        if row["format"] == "onnx" or row["name"] in known or not refs:
            continue
        folder = models / row["name"]
        with np.load(folder / refs[0]["file"], allow_pickle=True) as data:
            feeds = {tensor: data[key] for tensor, key in refs[0]["inputs"].items()}
        model = ds.load(folder / row["file"])
        sessions.enter_context(model.session)
        yield row["name"], fetching(model, list(refs[0]["outputs"]), feeds)


def fetching(model: ds.Model, fetches: list[str], feeds: dict[str, Any]) -> Job:
    """The fetches of feeds."""
    return lambda: digest(model.run(fetches, feeds))
