"""What a program answers, step by step: ours, TensorFlow's, and the record of TensorFlow's."""

from __future__ import annotations

import io
import json
import lzma
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import oracle
from parity.judge import TOLERANCE

from drystone_abi.protos import GraphDef
from drystone_base import Access, Graph, Inference, Session, SessionConfig, infer
from drystone_base.core.errors import DrystoneError, ShapeError
from drystone_base.core.tensor import string_array
from drystone_base.graph import Output
from drystone_base.graph.versions import CONSUMER
from scenarios._program import Step
from scenarios._registry import Scenario, load

__all__ = ["Held", "ours", "problems", "programs", "read", "theirs", "write"]

Answer: TypeAlias = "list[Any] | str"
Held: TypeAlias = "tuple[Scenario, bytes, list[Step], list[Answer]]"

DATA = Path(__file__).parents[1] / "golden" / "scenarios"

UNFIT = "the shapes do not fit"  # refused before any step, when shapes are inferred
DECLARED = ("Variable", "VariableV2")  # validate_shape=false may belie them, in TensorFlow too
_STATUS = """
    OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS
    PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED
    INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"""


# ---- running ---------------------------------------------------------------------------------


def ours(graph: bytes, steps: list[Step], deadline: float = 60.0) -> list[Answer]:
    """Our answers: arrays, or the status of the refusal."""
    read = Graph.from_bytes(graph)
    try:
        known = infer(read, strict=True)
    except ShapeError:
        return [UNFIT] * len(steps)
    config = SessionConfig(access=Access.anywhere(), deadline=deadline)
    with Session(read, config) as session:
        answers = _answers(steps, session.run, lambda error: error.status, DrystoneError)
    for step, answer in zip(steps, answers, strict=True):
        if not isinstance(answer, str):
            tensors = [name for name in step.fetches if ":" in name]
            for name, value in zip(tensors, answer, strict=True):
                _check_admitted(known, read.output(name), value.shape)
    return answers


def _check_admitted(known: Inference, output: Output, real: tuple[int, ...]) -> None:
    """An error where the inferred shape does not admit what there was."""
    inferred = known.shape(output)
    if inferred is None or output[0].op in DECLARED:
        return
    fits = len(inferred) == len(real) and all(
        d < 0 or d == n for d, n in zip(inferred, real, strict=True)
    )
    assert fits, f"{output[0].name}:{output[1]}: {inferred} does not admit {real}"


def theirs(graph: bytes, steps: list[Step]) -> list[Answer]:
    """TensorFlow's answers, nothing of the graph optimized."""
    import tensorflow as tf

    v1 = tf.compat.v1
    config = v1.ConfigProto()
    options = config.graph_options
    options.optimizer_options.opt_level = -1
    options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as holder:
        try:
            tf.import_graph_def(v1.GraphDef.FromString(graph), name="")
        except ValueError as error:
            if not isinstance(error.__context__, tf.errors.InvalidArgumentError):
                raise
            return [UNFIT] * len(steps)
        with v1.Session(graph=holder, config=config) as session:
            return _answers(
                steps,
                session.run,
                lambda error: _STATUS.split()[error.error_code],
                tf.errors.OpError,
            )


def _answers(
    steps: list[Step],
    run: Callable[[list[str], dict[str, Any]], list[Any]],
    status: Callable[[Any], str],
    refusal: type[Exception],
) -> list[Answer]:
    out: list[Answer] = []
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        there = folder.encode()
        for fetches, feeds in steps:
            fed = {k: _replaced(v, b"{tmp}", there) for k, v in feeds.items()}
            try:
                values = run(list(fetches), fed)
            except refusal as error:
                out.append(status(error))
                continue
            arrays = [_array(v) for v in values if v is not None]
            out.append([_replaced(v, there, b"{tmp}") for v in arrays])
    return out


def _array(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(value, object if isinstance(value, bytes) else None)


def _replaced(value: Any, old: bytes, new: bytes) -> Any:
    """A tensor with a part of its texts replaced; itself where it holds no texts."""
    if value.dtype.kind != "O" or not all(isinstance(v, bytes) for v in value.ravel().tolist()):
        return value
    return string_array([v.replace(old, new) for v in value.ravel().tolist()], value.shape)


# ---- comparing -------------------------------------------------------------------------------


def problems(got: list[Answer], want: list[Answer], tol: float) -> Iterator[str]:
    """What differs, step by step."""
    if (UNFIT in got) != (UNFIT in want):
        yield f"got {got[0] if UNFIT in got else 'steps'}, want {want[0]}"
        return
    for k, (mine, other) in enumerate(zip(got, want, strict=True)):
        if isinstance(mine, str) or isinstance(other, str):
            a, b = (v if isinstance(v, str) else "values" for v in (mine, other))
            if a != b and (b != "INTERNAL" or a == "values"):  # any refusal is better than that
                yield f"step {k}: got {a}, want {b}"
            continue
        if len(mine) != len(other):
            yield f"step {k}: got {len(mine)} values, want {len(other)}"
            continue
        for j, (a, b) in enumerate(zip(mine, other, strict=True)):
            far = oracle.difference(a, b)
            if far > tol * TOLERANCE.get(b.dtype.name, 0.0):
                yield f"step {k} value {j} differs by {far:.2g}: got {_brief(a)}, want {_brief(b)}"


def _brief(value: np.ndarray[Any, Any]) -> str:
    some = np.array2string(value.ravel()[:8], precision=6).replace("\n", "")
    return f"{value.dtype}{list(value.shape)} {some}"


# ---- the record ------------------------------------------------------------------------------


def write(family: str, held: list[Held]) -> int:
    """Write the record of a family; its size in bytes."""
    flat = [answer for _, _, _, answers in held for answer in answers]
    arrays = oracle.pack(flat)
    for k, (item, graph, steps, _) in enumerate(held):
        if item.by_tensorflow:
            arrays[f"graph{k}"] = np.frombuffer(graph, np.uint8)
            arrays |= _pack_feeds(k, steps)
    rows = [[s.label, len(steps), _sum(s, graph, steps)] for s, graph, steps, _ in held]
    arrays["rows"] = np.frombuffer(json.dumps(rows).encode(), np.uint8)
    raw = io.BytesIO()
    np.savez(raw, allow_pickle=False, **arrays)
    packed = lzma.compress(raw.getvalue(), preset=9)
    DATA.mkdir(exist_ok=True)
    (DATA / f"{family}.npz.xz").write_bytes(packed)
    return len(packed)


def _sum(item: Scenario, graph: bytes, steps: list[Step]) -> int:
    """A checksum of what is built without TensorFlow: whether the record is of this program."""
    if item.by_tensorflow:
        return 0
    told = [[s.fetches, {k: [str(v.dtype), v.tolist()] for k, v in s.feeds.items()}] for s in steps]
    return zlib.crc32(repr(told).encode(), zlib.crc32(_without_our_version(graph)))


def _without_our_version(graph: bytes) -> bytes:
    """A graph without the version that all new ones state: it rises with TensorFlow's releases."""
    proto = GraphDef.FromString(graph)
    if proto.versions.producer == CONSUMER:
        proto.ClearField("versions")
    return proto.SerializeToString(deterministic=True)


def _pack_feeds(k: int, steps: list[Step]) -> dict[str, np.ndarray[Any, Any]]:
    told = json.dumps([[s.fetches, list(s.feeds)] for s in steps]).encode()
    fed = [value for s in steps for value in s.feeds.values()]
    packed = oracle.pack([fed]) if fed else {}
    return {f"steps{k}": np.frombuffer(told, np.uint8)} | {
        f"feeds{k}:{name}": value for name, value in packed.items()
    }


class _Arrays(dict[str, np.ndarray[Any, Any]]):
    """A record in memory, in the form that ``oracle.unpack`` reads."""

    @property
    def files(self) -> list[str]:
        return list(self)

    def part(self, prefix: str) -> _Arrays:
        """The entries with that prefix, without it."""
        return _Arrays((k[len(prefix) :], v) for k, v in self.items() if k.startswith(prefix))


def _recorded(family: str) -> _Arrays:
    raw = io.BytesIO(lzma.decompress((DATA / f"{family}.npz.xz").read_bytes()))
    with np.load(raw, allow_pickle=False) as data:
        return _Arrays(data.items())


def programs(family: str) -> Iterator[tuple[Scenario, bytes, list[Step]]]:
    """The scenarios of a family as programs, whatever their record says; none without one."""
    if (DATA / f"{family}.npz.xz").exists():
        arrays = _recorded(family)
        for k, item in enumerate(load(family)):
            if not item.by_tensorflow or f"graph{k}" in arrays:
                yield item, *_program(item, k, arrays)


def read(family: str, chosen: Callable[[Scenario], bool] = lambda _: True) -> Iterator[Held]:
    """Each chosen scenario of a family with its record; an error where it must be made again."""
    arrays = _recorded(family)
    rows = json.loads(arrays["rows"].tobytes())
    again = f"record it again: ci/scripts/scenario_record.py {family}"
    items = load(family)
    assert [s.label for s in items] == [row[0] for row in rows], again
    first = 0
    for k, (item, (_, count, checksum)) in enumerate(zip(items, rows, strict=True)):
        if chosen(item):
            graph, steps = _program(item, k, arrays)
            assert _sum(item, graph, steps) == checksum, f"{item.label} is another program; {again}"
            yield item, graph, steps, [oracle.unpack(arrays, first + j) for j in range(count)]
        first += count


def _program(item: Scenario, k: int, arrays: _Arrays) -> tuple[bytes, list[Step]]:
    if not item.by_tensorflow:
        program = item.program()
        return program.graph.to_bytes(), program.steps
    told = json.loads(arrays[f"steps{k}"].tobytes())
    fed = iter(oracle.unpack(arrays.part(f"feeds{k}:"), 0) if any(n for _, n in told) else [])
    steps = [Step(fetches, {name: next(fed) for name in names}) for fetches, names in told]
    return arrays[f"graph{k}"].tobytes(), steps
