"""Fuzz targets over models: what reads model files, and sessions that run mutated programs.

A target is a function of bytes. It ends in values or in a DrystoneError, in bounded time and
memory; anything else is a finding. ``ci/scripts/fuzz_models.py`` drives them by coverage, the
default tests replay the corpus.
"""

from __future__ import annotations

import bisect
import functools
import math
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from google.protobuf import text_format
from google.protobuf.message import Message
from model_files import meta_graph, model_graph

from drystone_abi.protos import AttrValue, GraphDef, NodeDef, SavedModel
from drystone_base.api.model import Model
from drystone_base.api.session import Session, SessionConfig
from drystone_base.checkpoint import BundleReader, BundleWriter
from drystone_base.core.dtypes import from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import to_proto
from drystone_base.graph import Graph, validate
from drystone_base.inference.inference import infer
from drystone_base.kernels import all_ops
from drystone_base.loaders import load_model

__all__ = ["DEADLINE", "TARGETS", "seeds"]

Target: TypeAlias = Callable[[bytes], None]

DEADLINE: Final = 2.0
DATA: Final = Path(__file__).parents[3] / "integration_tests" / "data"
FILES: Final = ("m.pb", "m.pbtxt", "m.meta", "saved_model.pb", "model.json", "ckpt.index", "ckpt")
EDGES: Final = (0, 1, -1, 2, 7, 255, 1 << 20, (1 << 31) - 1, -(1 << 31), (1 << 63) - 1, -(1 << 63))
FLOATS: Final = (0.0, -0.0, 1.0, -1.5, 1e-30, 1e30, math.inf, -math.inf, math.nan)
TEXTS: Final = (b"", b"SAME", b"VALID", b"NHWC", b"NCHW", b"\xff\x00", b"a" * 300, b"../x", b"{}(")
SHAPES: Final[tuple[list[int], ...]] = (
    [],
    [0],
    [1],
    [-1],
    [2, 3],
    [1, 1, 1, 1],
    [1 << 40, 1 << 40],
    [-1, -1],
    [3] * 9,
)


class Choices:
    """Decisions read off the bytes of an input; zeros once they are used up."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def below(self, count: int) -> int:
        """A number below ``count``, 1 or more."""
        width = 1 if count <= 256 else 2 if count <= 65536 else 4
        raw = self.data[self.at : self.at + width]
        self.at += width
        return int.from_bytes(raw, "little") % count

    def one(self, items: Any) -> Any:
        """One of the items."""
        return items[self.below(len(items))]

    @property
    def used_up(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.data)


# ---- loaders -----------------------------------------------------------------------------------


@functools.cache
def _shard() -> dict[str, bytes]:
    """The files of a small checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        with BundleWriter(Path(folder) / "ckpt") as writer:
            writer.add("w", np.arange(6, dtype=np.float32).reshape(3, 2))
            writer.add("text", np.array([b"one", b""], object))
        return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def load_bytes(data: bytes) -> None:
    """Read a file whose format the first byte chooses."""
    name = FILES[(data[:1] or b"\0")[0] % len(FILES)]
    folder = Path(tempfile.mkdtemp())
    try:
        for shard, content in _shard().items():
            (folder / shard).write_bytes(content)
        (folder / "a.bin").write_bytes(bytes(64))
        (folder / name).write_bytes(data[1:])
        if name.startswith("ckpt"):
            _read_checkpoint(folder / "ckpt")
        else:
            _touch(load_model(folder if name == "saved_model.pb" else folder / name).graph)
    except DrystoneError:
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_checkpoint(prefix: Path) -> None:
    reader = BundleReader(prefix)
    for key in list(reader.keys())[:50]:
        _unless_refused(reader.tensor, key)


def _touch(graph: Graph) -> None:
    """Decode what is decoded lazily, and infer."""
    for node in graph:
        _unless_refused(node.full_attrs)
    _unless_refused(validate, graph)
    _unless_refused(infer, graph)


def _unless_refused(do: Callable[..., object], *given: Any) -> None:
    try:
        do(*given)
    except DrystoneError as error:
        if isinstance(error.inner, MemoryError):
            raise AssertionError("memory must be bounded before it is taken") from error


# ---- programs ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """A sound program: a graph, and runs of it; or a model file and its default signature."""

    name: str
    graph: bytes
    steps: list[tuple[list[str], dict[str, Any]]]
    model: Path | None = None


@functools.cache
def bases() -> list[Base]:
    """Small models of the integration tests, every scenario, and one case of every other op.

    In the order of a checksum of their names, see :func:`_chosen`.
    """
    from scenarios import families
    from scenarios._answers import programs

    models = [_of_model(name) for name in ("gen-controlflow-v1/model.pb",
              "train-embedding-sparse-ref/metagraph/model.meta",
              "train-embedding-sparse-resource/metagraph/model.meta",
              "train-gru-while-v1/metagraph/model.meta")]  # fmt: skip
    scenarios = [
        Base(f"{family}/{item.label}", graph, [(s.fetches, s.feeds) for s in steps])
        for family in families()
        for item, graph, steps in programs(family)
    ]
    return sorted([*models, *scenarios, *_of_ops()], key=lambda base: _place(base.name))


def _place(name: str) -> int:
    return zlib.crc32(name.encode()) & 0xFFFF


def _chosen(place: int, items: list[Any], name: Callable[[Any], str]) -> Any:
    """The item next to a place: new items change little of what an old input chooses."""
    return items[bisect.bisect_left(items, place, key=lambda x: _place(name(x))) % len(items)]


@functools.cache
def _ops() -> list[str]:
    return sorted(all_ops(), key=_place)


def _of_model(name: str) -> Base:
    path = DATA / name
    loaded = load_model(path)
    cases = sorted(path.parent.glob("case_*.in.npz"))
    feeds: dict[str, Any] = {}
    if cases:
        with np.load(cases[0]) as given:
            feeds = {k: v.astype(object) if v.dtype.kind == "S" else v for k, v in given.items()}
    fetches = [o.tensor for s in loaded.signatures.values() for o in s.outputs.values()]
    return Base(name, loaded.graph.to_bytes(), [(fetches, feeds)], path)


def _of_ops() -> list[Base]:
    from parity.draft import draw_case
    from parity.recorded import load

    first = {row["op"]: row["seed"] for row in reversed(load())}
    found = []
    for op, seed in first.items():
        graph = Graph()
        try:
            _add_case(graph, draw_case(op, seed))
        except (DrystoneError, KeyError):  # drawn to be wrong in a way that no graph can hold
            continue
        found.append(Base(op, graph.to_bytes(), [(["node"], {})]))
    return found


def _add_case(graph: Graph, item: Any) -> None:
    from drystone_base.core.dtypes import as_dtype
    from drystone_base.executor.testing import _infer_attrs, as_array
    from drystone_base.ops.attrs import TensorAttr
    from drystone_base.ops.defs import op_def

    definition = op_def(item.op)
    values = [as_array(v) for v in item.inputs]
    types = {n for n, a in definition.attrs.items() if a.type == "type"}
    given = {k: as_dtype(v) if k in types else v for k, v in item.attrs.items()}
    attrs = _infer_attrs(definition, values, given)
    inputs = [
        graph.add("Const", f"c{k}",
                  attrs={"dtype": from_numpy(v.dtype), "value": TensorAttr(array=v)})
        for k, v in enumerate(values)
    ]  # fmt: skip
    graph.add(item.op, "node", inputs, attrs=attrs)


def run_mutated(data: bytes) -> None:
    """Run a program with a few of its nodes changed."""
    choices = Choices(data)
    base = _chosen(choices.below(65536), bases(), lambda base: base.name)
    proto = GraphDef.FromString(base.graph)
    nodes = [*proto.node, *(n for f in proto.library.function for n in f.node_def)]
    for _ in range(8):
        if choices.used_up or not nodes:
            break
        _mutate(choices.one(nodes), nodes, choices)
    _unless_refused(_run, base, proto)


def _run(base: Base, proto: GraphDef) -> None:
    graph = Graph.from_bytes(proto.SerializeToString())
    _unless_refused(validate, graph)
    _unless_refused(infer, graph)
    config = SessionConfig(deadline=DEADLINE)
    with np.errstate(all="ignore"):
        if base.model is not None:
            session = Model(load_model(base.model).with_graph(graph), config).session
        else:
            session = Session(graph, config)
        with session:
            for fetches, feeds in base.steps[:6]:
                _unless_refused(session.run, list(fetches), feeds)


# ---- mutations ---------------------------------------------------------------------------------


def _mutate(node: NodeDef, nodes: list[NodeDef], choices: Choices) -> None:
    match choices.below(8):
        case 0:
            node.op = _chosen(choices.below(65536), _ops(), str)
        case 1 if node.input:
            node.input[choices.below(len(node.input))] = _some_output(nodes, choices)
        case 2 if node.input:
            del node.input[choices.below(len(node.input))]
        case 3:
            other = choices.one(nodes).name
            node.input.insert(len(node.input), choices.one([f"^{other}", other]))
        case 4 if node.attr:
            del node.attr[choices.one(sorted(node.attr))]
        case _ if node.attr:
            _change(node.attr[choices.one(sorted(node.attr))], choices)


def _some_output(nodes: list[NodeDef], choices: Choices) -> str:
    name: str = choices.one(nodes).name
    return name if choices.below(4) else f"{name}:{choices.below(4)}"


def _change(attr: AttrValue, choices: Choices) -> None:
    """Another value, mostly of the same kind."""
    kind = attr.WhichOneof("value")
    match kind if choices.below(16) else choices.one(["i", "f", "b", "s", "type", "shape"]):
        case "i":
            attr.i = choices.one(EDGES)
        case "f":
            attr.f = choices.one(FLOATS)
        case "b":
            attr.b = not attr.b
        case "s":
            attr.s = choices.one(TEXTS)
        case "type":
            attr.type = choices.below(30)  # type: ignore[assignment]
        case "shape":
            attr.shape.Clear()
            for d in choices.one(SHAPES):
                attr.shape.dim.add(size=d)
        case "tensor":
            _change_tensor(attr, choices)
        case "func":
            attr.func.name = choices.one(["", "nothing", attr.func.name])
        case "list":
            _change_list(attr.list, choices)


def _change_tensor(attr: AttrValue, choices: Choices) -> None:
    from drystone_base.core.tensor import from_proto

    try:
        array = np.array(from_proto(attr.tensor))
    except DrystoneError:
        return
    how = choices.below(4)
    if how == 0:
        array = np.resize(array, choices.one([(), (0,), (1,), (2, 2), (7,), (1, 1, 1), array.size]))
    elif array.size and array.dtype.kind in "iu":
        info = np.iinfo(array.dtype)
        array.flat[choices.below(array.size)] = min(max(choices.one(EDGES), info.min), info.max)
    elif array.size and array.dtype.kind in "fc":
        with np.errstate(all="ignore"):
            array.flat[choices.below(array.size)] = choices.one(FLOATS)
    elif array.size and array.dtype.kind == "O":
        array.flat[choices.below(array.size)] = choices.one(TEXTS)
    attr.tensor.CopyFrom(to_proto(array))


def _change_list(values: Message, choices: Choices) -> None:
    for field, items in values.ListFields():
        if field.name in ("i", "f", "type", "b", "s"):
            edges = {"i": EDGES, "f": FLOATS, "s": TEXTS, "type": range(24), "b": [False, True]}
            items[choices.below(len(items))] = choices.one(edges[field.name])
            if choices.below(4) == 0:
                del items[choices.below(len(items))]
            return


TARGETS: Final[dict[str, Target]] = {"load": load_bytes, "run": run_mutated}


def seeds(name: str) -> list[bytes]:
    """Inputs to start from."""
    if name == "run":
        return [(k * 1021 % 65536).to_bytes(2, "little") + bytes([k, k % 7, 3]) for k in range(64)]
    graph = model_graph()
    meta = meta_graph(graph)
    control_flow = (DATA / "gen-controlflow-v1/model.pb").read_bytes()
    formats = [
        (0, graph.to_bytes()),
        (0, control_flow[: 1 << 14]),
        (1, text_format.MessageToString(graph.to_proto()).encode()),
        (2, meta.SerializeToString()),
        (3, SavedModel(meta_graphs=[meta]).SerializeToString()),
        (4, _tfjs()),
        (5, _shard()["ckpt.index"]),
        (6, (Path(__file__).parent / "conftest.py").read_bytes()[:200]),
    ]
    return [bytes([kind]) + content for kind, content in formats]


def _tfjs() -> bytes:
    text = (
        '{"format": "graph-model", "modelTopology": {"node": [{"name": "x", "op": "Placeholder", '
        '"attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "-1"}]}}}}, '
        '{"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}, "value": {"tensor": '
        '{"dtype": "DT_FLOAT", "tensorShape": {}}}}}, {"name": "y", "op": "Mul", "input": ["x", '
        '"w"], "attr": {"T": {"type": "DT_FLOAT"}}}], "versions": {"producer": 1}}, '
        '"weightsManifest": [{"paths": ["a.bin"], "weights": [{"name": "w", "dtype": "float32", '
        '"shape": [4], "quantization": {"dtype": "uint8", "min": 0, "scale": 1}}]}], '
        '"signature": {"inputs": {"x": {"name": "x:0", "dtype": "DT_FLOAT"}}, '
        '"outputs": {"y": {"name": "y:0"}}}}'
    )
    return text.encode()
