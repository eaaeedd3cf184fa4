"""Every kernel and shape function on inputs that make no sense: an answer or an error, soon.

Values include huge and negative sizes: a kernel that trusts a shape would try to fill the memory.
"""

from __future__ import annotations

import random
import resource
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.core import dtypes
from drystone_base.core.dtypes import DType, from_number
from drystone_base.core.errors import DrystoneError
from drystone_base.executor.functions import FunctionCaller, call_function
from drystone_base.executor.plan import lower
from drystone_base.executor.reference import run
from drystone_base.graph import Graph
from drystone_base.inference.inference import infer
from drystone_base.kernels import _limits, all_ops
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.ops.defs import AttrDef, OpDef, op_def
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

pytestmark = pytest.mark.cases_in_gate(3)

ROUNDS = 25
MEMORY = 1 << 30
SECONDS = 5.0
WAIT = SECONDS / ROUNDS / 2  # what an op may wait for other threads, which are not there
INTS = [0, 1, 2, 3, -1, -2, 7, 2**31 - 1, -(2**31), 2**62, -(2**63)]
SHAPES: list[tuple[int, ...]] = [
    (),
    (0,),
    (1,),
    (2,),
    (3,),
    (2, 2),
    (1, 3),
    (0, 2),
    (2, 3, 1),
    (1, 4, 4, 2),
]

EXPECTED = frozenset(
    {
        "ran", "kernel-failed", "bad-shape", "bad-attr", "bad-resource", "bad-tensor",
        "wrong-fan-in", "missing-attr", "unknown-function", "uninitialized-variable",
        "dtype-mismatch", "placeholder-not-fed", "dead-fetch", "queue-would-block",
        "access-denied", "deadline-exceeded", "bad-graphdef",
        "plugin-kernel-failed",  # of another test's plugin, which overrides ops of the process
    }
)  # fmt: skip


def values(draw: random.Random, dtype: DType, shape: tuple[int, ...]) -> Any:
    """An array of ``dtype`` with extreme and ordinary values."""
    count = int(np.prod(shape))
    if dtype.is_object:
        out = np.empty(count, dtype=object)
        out[:] = [draw.choice([b"", b"a b", b"\xff", b"1,2", b"(", b"%s"]) for _ in range(count)]
        return out.reshape(shape)
    if dtype.is_floating or dtype.is_complex:
        pool = [0.0, -0.0, 1.0, -1.5, 1e30, float("inf"), float("nan")]
        with np.errstate(all="ignore"):
            return (
                np.array([draw.choice(pool) for _ in range(count)]).reshape(shape).astype(dtype.np)
            )
    flat = np.array([draw.choice(INTS) for _ in range(count)], dtype=np.int64)
    return flat.reshape(shape).astype(dtype.np)


def attr_value(draw: random.Random, declared: AttrDef) -> Any:
    """A value for an attribute: allowed ones where the op says, sometimes odd ones."""
    if declared.type.startswith("list("):
        inner = AttrDef(declared.name, declared.type[5:-1], allowed=declared.allowed)
        return [attr_value(draw, inner) for _ in range(draw.randint(declared.minimum or 0, 5))]
    if declared.has_default and draw.random() < 0.5:
        return declared.default
    if declared.allowed:
        return draw.choice(declared.allowed)
    simple: dict[str, Any] = {
        "int": draw.choice([declared.minimum or 0, 1, 2, -1]),
        "float": draw.choice([0.0, 1.0, -1.0]),
        "bool": draw.random() < 0.5,
        "string": draw.choice(["", "VALID", "SAME", "x", "N->Y", "ij,jk->ik"]),
        "type": draw.choice([dtypes.FLOAT32, dtypes.INT32, dtypes.INT64, dtypes.STRING]),
        "shape": draw.choice([None, (), (2,), (-1, 3), (2**40,)]),
    }
    if declared.type == "tensor":
        return TensorAttr(array=np.zeros(2, np.float32))
    if declared.type == "func":
        return FunctionRef(draw.choice(["nobody", ""]))
    return simple.get(declared.type)


def attrs_of(draw: random.Random, op: OpDef) -> dict[str, Any]:
    attrs = {name: attr_value(draw, a) for name, a in op.attrs.items()}
    for arg in op.inputs:
        if arg.number_attr:
            attrs[arg.number_attr] = draw.randint(op.attrs[arg.number_attr].minimum or 0, 3)
    return attrs


def graph_of(draw: random.Random, op: OpDef) -> tuple[Graph, list[Any]]:
    """The op alone, fed by placeholders, and arrays to feed; now and then a shape-like input."""
    attrs = attrs_of(draw, op)
    graph, inputs, feeds = Graph(), [], []
    for k, dtype in enumerate(op.input_types(attrs)):
        base = from_number(dtype.base.number)
        shape = draw.choice(SHAPES)
        node = graph.add("Placeholder", f"in{k}", attrs={"dtype": base, "shape": None})
        inputs.append((node, 0))
        feeds.append(values(draw, base, shape))
    graph.add(op.name, "op", inputs, attrs=attrs)
    return graph, feeds


def attempt(op: OpDef, seed: int) -> str:
    """How one round ended: ``ran``, or the code of the error."""
    draw = random.Random(seed)
    try:
        graph, feeds = graph_of(draw, op)
        node = graph["op"]
        placeholders = [(graph[f"in{k}"], 0) for k in range(len(feeds))]
        infer(graph, given={p: f.shape for p, f in zip(placeholders, feeds, strict=True)})
        outputs = [(node, k) for k in range(len(op.output_types(node.full_attrs())))]
        plan = lower(graph, outputs, [node], placeholders, call_function=call_function)
        caller = FunctionCaller(graph.functions)
        run(plan, feeds, Runtime(ResourceManager(), caller, deadline=time.monotonic() + WAIT))
    except DrystoneError as error:
        return "out of memory" if isinstance(error.inner, MemoryError) else error.code
    return "ran"


@pytest.fixture(autouse=True, scope="module")
def _little_memory() -> Iterator[None]:
    """Bound tensors to less than the address space: one that was made without asking shows."""
    machine = _limits.byte_limit
    _limits.byte_limit = lambda: MEMORY // 8  # type: ignore[assignment]
    limits = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MEMORY, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, limits)
    _limits.byte_limit = machine


@pytest.mark.parametrize("name", all_ops())
def test_any_input(name: str) -> None:
    op = op_def(name)
    start = time.process_time()
    ends = {attempt(op, zlib.crc32(f"{name}{k}".encode())) for k in range(ROUNDS)}
    assert ends <= EXPECTED, f"{name} ended with {ends - EXPECTED}"
    assert time.process_time() - start < SECONDS, f"{name} took too long on nonsense"
