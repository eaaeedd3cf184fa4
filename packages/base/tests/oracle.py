"""Golden cases: declared once, answered by TensorFlow, held against the reference kernels.

A module of ``golden/cases`` declares ``CASES``. ``ci/scripts/golden_record.py`` runs each through
``tf.raw_ops`` and writes ``golden/data/<family>.npz``; the default tests compare with that file,
the ``tf_parity`` session with TensorFlow itself.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from drystone_base.core.dtypes import RESOURCE, DType, as_dtype, from_numpy
from drystone_base.core.errors import DrystoneError
from drystone_base.core.tensor import to_proto
from drystone_base.executor.testing import as_array, infer_shapes, run_op
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.defs import op_def
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

HERE = Path(__file__).parent
DATA = HERE / "golden" / "data"


@dataclass
class Case:
    """One op with inputs (arrays; nested lists for list arguments are given flat) and attributes.

    ``tol`` bounds ``|a-b| / (|b| + std b)``; 0 asks for equal bits (NaN equal to NaN). A case that
    TensorFlow refuses is recorded as its status name and must be refused with the same.
    ``compared`` is how many leading outputs count, where TensorFlow leaves the others
    uninitialised.
    """

    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    tol: float = 1e-5
    note: str = ""
    compared: int | None = None

    def label(self) -> str:
        """How a failure names the case."""
        shapes = ",".join(f"{np.asarray(v).dtype}{list(np.shape(v))}" for v in self.inputs)
        return f"{self.op}({shapes}) {self.note}".strip()


def case(op: str, *inputs: Any, **options: Any) -> Case:
    """A :class:`Case`; options other than its ``tol``, ``note`` and ``compared`` are attributes."""
    own = {name: options.pop(name) for name in ("tol", "note", "compared") if name in options}
    return Case(op, inputs, options, **own)


def families() -> list[str]:
    """Names of the case modules, sorted."""
    return sorted(p.stem for p in (HERE / "golden" / "cases").glob("*.py") if p.stem != "__init__")


def load(family: str) -> list[Case]:
    """The cases of a family."""
    return list(importlib.import_module(f"golden.cases.{family}").CASES)


def difference(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> float:
    """Worst ``|a-b| / (|b| + std b)``; inf for another dtype, shape, NaN or infinity pattern."""
    if got.shape != want.shape:
        return np.inf
    if want.dtype.kind in "SO":
        return 0.0 if as_array(got).tolist() == as_array(want).tolist() else np.inf
    if got.dtype != want.dtype:
        return np.inf
    if want.dtype.kind not in "fcV":
        return 0.0 if np.array_equal(got, want) else np.inf
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    a, b = got.astype(wide), want.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    if not (np.isfinite(a) | same).all() or not (np.isfinite(b) | same).all():
        return np.inf
    with np.errstate(over="ignore"):
        spread = float(np.std(b[np.isfinite(b)]))
    spread = spread if np.isfinite(spread) else 0.0  # its squares may overflow
    with np.errstate(invalid="ignore"):  # of infinities that agree
        diff = np.where(same, 0, np.abs(a - b)) / (np.abs(np.where(same, 1, b)) + spread + 1e-30)
    return float(np.max(diff))


class Refusal(str):
    """The name of TensorFlow's error, with what it says."""

    message: str

    def __new__(cls, status: str, message: str = "") -> Self:
        """A refusal with a status name."""
        made = super().__new__(cls, status)
        made.message = message
        return made


def _held(item: Case) -> list[int]:
    """Inputs that are variables: given as first values, answered with the last ones."""
    return [k for k, arg in enumerate(op_def(item.op).inputs) if arg.type is RESOURCE]


def ours(item: Case) -> list[Any] | str:
    """Our outputs, then the values of variables afterwards; or the status that we refuse with."""
    values = list(item.inputs)
    variables = []
    for k in _held(item):
        first = np.asarray(values[k])
        variables.append(Variable(f"v{k}", from_numpy(first.dtype), first.shape))
        variables[-1].write(first)
        values[k] = handle_array(ResourceHandle("Variable", f"v{k}", "", variables[-1]))
    try:
        outputs = run_op(item.op, *values, **item.attrs)
    except DrystoneError as error:
        return error.status
    return [*outputs, *(v.read() for v in variables)]


def _raw_arguments(item: Case, variables: dict[int, Any]) -> dict[str, Any]:
    import tensorflow as tf

    definition = op_def(item.op)
    attrs = {k: _attribute(definition.attrs[k].type, v) for k, v in item.attrs.items()}
    values = [tf.constant(as_array(v)) if np.asarray(v).dtype.kind in "SUO" else tf.constant(v)
              for v in item.inputs]  # fmt: skip
    for k, variable in variables.items():
        values[k] = variable.handle
    slices = definition.input_slices(_counts(item))
    for arg, name in zip(definition.inputs, _python_names(definition), strict=True):
        part = values[slices[arg.name]]
        if arg.type_attr in item.attrs:
            # What TensorFlow reads off a tensor is no argument; a quantized type must be put on.
            attrs.pop(arg.type_attr, None)
            kind = tf.as_dtype(str(item.attrs[arg.type_attr]))
            part = [tf.bitcast(v, kind) if kind.is_quantized else v for v in part]
        attrs[name] = part if arg.number_attr or arg.type_list_attr else part[0]
    renamed = {"squeeze_dims": "axis"}  # the only attribute that Python calls otherwise
    return {renamed.get(k, k): v for k, v in attrs.items() if not _is_count(definition, k)}


def _attribute(kind: str, value: Any) -> Any:
    """An attribute's value as Python's TensorFlow takes it."""
    import tensorflow as tf

    if kind == "type":
        return tf.as_dtype(str(value))
    if kind == "list(type)":
        return [tf.as_dtype(str(v)) for v in value]
    if kind == "string" and isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if kind == "list(shape)":
        return [None if s is None else [None if d < 0 else d for d in s] for s in value]
    return value


def _python_names(definition: Any) -> list[str]:
    """Names of the inputs in Python, where TensorFlow renames some (``axis``, ``x``)."""
    import tensorflow as tf

    names = inspect.signature(getattr(tf.raw_ops, definition.name)).parameters
    others = [n for n in names if n != "name" and n not in definition.attrs]
    return others[: len(definition.inputs)]


def _is_count(definition: Any, name: str) -> bool:
    return any(name in (a.number_attr, a.type_list_attr) for a in definition.inputs)


def _counts(item: Case) -> dict[str, Any]:
    from drystone_base.executor.testing import _infer_attrs

    return _infer_attrs(op_def(item.op), [as_array(v) for v in item.inputs], dict(item.attrs))


def theirs(item: Case) -> list[Any] | str:
    """TensorFlow's outputs and variables, or the status name that it refuses with."""
    import tensorflow as tf

    if not hasattr(tf.raw_ops, item.op) or needs_onednn(item):
        return _through_graph(item)
    variables = {k: tf.Variable(item.inputs[k]) for k in _held(item)}
    try:
        out = getattr(tf.raw_ops, item.op)(**_raw_arguments(item, variables))
    except tf.errors.OpError as error:
        return Refusal(type(error).__name__, error.message or "")
    flat: list[Any] = []
    for value in out if isinstance(out, list | tuple) else [] if out is None else [out]:
        flat.extend(value) if isinstance(value, list) else flat.append(value)
    flat += [v.value() for v in variables.values()]
    return [_array(_plain(v)) for v in flat]


def needs_onednn(item: Case) -> bool:
    """Whether TensorFlow answers only with TF_ENABLE_ONEDNN_OPTS=1: else its kernels do nothing."""
    signed = "qint8" in (item.attrs.get("Tfilter"), item.attrs.get("T2"))
    return item.op == "QuantizedConcatV2" or (signed and item.op != "QuantizedBiasAdd")


def _through_graph(item: Case) -> list[Any] | str:
    """TensorFlow's outputs or status for an op that its Python does not offer."""
    from scenarios import Program
    from scenarios._answers import UNFIT
    from scenarios._answers import theirs as answers

    from drystone_base.graph.validate import output_dtypes

    program, definition, attrs = Program(), op_def(item.op), _counts(item)
    values = [as_array(v) for v in item.inputs]
    slices = definition.input_slices(attrs)
    given: list[Any] = []
    for arg in definition.inputs:
        part = values[slices[arg.name]]
        kind = as_dtype(str(attrs[arg.type_attr])) if arg.type_attr else None
        nodes = [program.const(v) for v in part]
        if kind is not None and kind.is_quantized:
            nodes = [_quantized_constant(program.graph, v, kind) for v in part]
        given.append(nodes if arg.is_list else nodes[0])
    node = program(item.op, *given, **item.attrs)
    kinds = output_dtypes(node)
    assert kinds is not None
    program.step(*(
        program("Bitcast", (node, k), type=t.label.removeprefix("q")) if t.is_quantized
        else (node, k) for k, t in enumerate(kinds)
    ))  # fmt: skip
    (answer,) = answers(program.graph.to_bytes(), program.steps)
    return "INVALID_ARGUMENT" if answer == UNFIT else answer


def _quantized_constant(graph: Any, value: Any, kind: DType) -> Any:
    """A constant of a quantized type: oneDNN's kernels take weights as nothing else."""
    proto = to_proto(np.asarray(value))
    proto.dtype = kind.number  # type: ignore[assignment]
    attrs = {"dtype": kind, "value": TensorAttr(proto)}
    return graph.add("Const", graph.unique_name("Const"), attrs=attrs)


def refuses_in_graph(item: Case) -> bool:
    """Whether TensorFlow refuses to put the case into a graph, where its shapes are inferred.

    Run at once, op by op, it does not infer them, and some kernels then look at less.
    """
    import tensorflow as tf

    with tf.Graph().as_default():
        try:
            getattr(tf.raw_ops, item.op)(**_raw_arguments(item, {}))
        except ValueError:
            return True
    return False


def _array(value: Any) -> np.ndarray[Any, Any]:
    """A tensor as an array; NumPy would cut zero bytes off the end of a scalar string."""
    return np.asarray(value.numpy(), object if value.dtype.name == "string" else None)


def _plain(value: Any) -> Any:
    """A quantized tensor as the integers that hold it."""
    import tensorflow as tf

    if not value.dtype.is_quantized:
        return value
    return tf.bitcast(value, value.dtype.name.removeprefix("q"))


_STATUS = {
    "InvalidArgumentError": "INVALID_ARGUMENT",
    "OutOfRangeError": "OUT_OF_RANGE",
    "UnimplementedError": "UNIMPLEMENTED",
    "FailedPreconditionError": "FAILED_PRECONDITION",
    "NotFoundError": "NOT_FOUND",
    "InternalError": "INTERNAL",
    "ResourceExhaustedError": "RESOURCE_EXHAUSTED",
    "AlreadyExistsError": "ALREADY_EXISTS",
    "DataLossError": "DATA_LOSS",
    "AbortedError": "ABORTED",
    "UnknownError": "UNKNOWN",
}


def disagreement(item: Case, want: list[Any] | str) -> str | None:
    """What differs between our answer and ``want``, or None."""
    got = ours(item)
    if isinstance(want, str) or isinstance(got, str):
        want_status = _STATUS.get(want, want) if isinstance(want, str) else "outputs"
        got_status = got if isinstance(got, str) else "outputs"
        return None if want_status == got_status else f"got {got_status}, want {want_status}"
    if len(got) != len(want):
        return f"got {len(got)} outputs, want {len(want)}"
    for k, (a, b) in enumerate(zip(got[: item.compared], want, strict=False)):
        worst = difference(np.asarray(a), b)
        if worst > item.tol:
            return (
                f"output {k}: differs by {worst:.3g} (allowed {item.tol:g}); "
                f"got {np.asarray(a).dtype}{list(np.shape(a))}, want {b.dtype}{list(b.shape)}"
            )
    return None if _held(item) else _shape_disagreement(item, want)


def _shape_disagreement(item: Case, want: list[Any]) -> str | None:
    """Whether the inferred shapes, with and without known values, admit the real ones."""
    values = [as_array(v) for v in item.inputs]
    types = [_label(v) for v in values]
    shapes = [v.shape for v in values]
    for known in (None, values):
        inferred = infer_shapes(item.op, shapes, values=known, dtypes_in=types, **item.attrs)
        if len(inferred) != len(want):
            return f"shape function gives {len(inferred)} shapes for {len(want)} outputs"
        for k, (guess, real) in enumerate(zip(inferred, want, strict=True)):
            if guess is not None and (
                len(guess) != real.ndim
                or any(g >= 0 and g != r for g, r in zip(guess, real.shape, strict=True))
            ):
                return f"output {k}: inferred {guess} does not admit {real.shape}"
    return None


def _label(value: np.ndarray[Any, Any]) -> str:
    return from_numpy(value.dtype).label


def recorded(family: str) -> Iterator[tuple[Case, list[Any] | str]]:
    """Each case with TensorFlow's recorded answer."""
    cases = load(family)
    with np.load(DATA / f"{family}.npz", allow_pickle=False) as data:
        for k, item in enumerate(cases):
            yield item, unpack(data, k)


def pack(answers: list[list[Any] | str]) -> dict[str, np.ndarray[Any, Any]]:
    """Answers as arrays for one ``.npz``: statuses as text, bfloat16 and float8 as raw bytes."""
    out: dict[str, np.ndarray[Any, Any]] = {}
    for k, answer in enumerate(answers):
        if isinstance(answer, str):
            out[f"{k}:status"] = np.array(answer)
            continue
        if len(answer) != 1:
            out[f"{k}:n"] = np.array(len(answer))
        for j, value in enumerate(answer):
            out |= _pack_value(f"{k}:{j}", value)
    return out


def _pack_value(key: str, value: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    if value.dtype.kind == "O":
        flat = value.ravel().tolist()
        lengths = np.array([len(v) for v in flat], np.int64).reshape(value.shape)
        return {f"{key}:len": lengths, f"{key}:bytes": np.frombuffer(b"".join(flat), np.uint8)}
    if value.dtype.kind == "V" or value.dtype.name.startswith(
        ("bfloat", "float8", "int4", "uint4")
    ):
        return {f"{key}:as:{value.dtype.name}": value.view(f"u{value.dtype.itemsize}")}
    return {key: value}


def unpack(data: Any, k: int) -> list[Any] | str:
    """The answer of case ``k`` out of a loaded ``.npz``."""
    if f"{k}:status" in data:
        return str(data[f"{k}:status"])
    count = int(data[f"{k}:n"]) if f"{k}:n" in data else 1
    return [_unpack_value(data, f"{k}:{j}") for j in range(count)]


def _unpack_value(data: Any, key: str) -> np.ndarray[Any, Any]:
    if key in data:
        return np.asarray(data[key])
    if f"{key}:len" in data:
        lengths, raw = data[f"{key}:len"], data[f"{key}:bytes"].tobytes()
        ends = np.cumsum(lengths.ravel())
        flat = [raw[e - n : e] for e, n in zip(ends, lengths.ravel(), strict=True)]
        out = np.empty(len(flat), dtype=object)
        out[:] = flat
        return out.reshape(lengths.shape)
    name = next(n for n in data.files if n.startswith(f"{key}:as:"))
    return np.asarray(data[name]).view(as_dtype(name.rsplit(":", 1)[1]).np)
