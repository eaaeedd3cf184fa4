"""Dtypes where values cross: calls, branches, loops, datasets, variants, state.

Each graph declares a dtype wrongly at one seam. Both executors refuse it, with one code, whether
or not it is optimized.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pytest

from drystone_abi.protos import AttrValue, FunctionDef, GraphDef, NodeDef
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.host import available

TYPES: Final[dict[str, int]] = {"f": 1, "i": 3, "s": 7, "l": 9, "b": 10, "v": 21}
EXECUTORS = ["reference", *(["native"] if available() else [])]
X = np.array([1.5, 2.5], np.float32)


def attr(value: Any) -> AttrValue:
    """A letter is a type, a string of more a function, a list of letters types."""
    out = AttrValue()
    if isinstance(value, str) and value in TYPES:
        out.type = TYPES[value]  # type: ignore[assignment]
    elif isinstance(value, str):
        out.func.name = value
    elif isinstance(value, bytes):
        out.s = value
    elif isinstance(value, bool):
        out.b = value
    elif isinstance(value, int):
        out.i = value
    elif value is None:
        out.shape.unknown_rank = True
    elif value and value[0] is None:
        for _ in value:
            out.list.shape.add(unknown_rank=True)
    elif value and value[0] not in TYPES:
        for name in value:
            out.list.func.add(name=name)
    else:
        out.list.SetInParent()
        out.list.type.extend(TYPES[t] for t in value)  # type: ignore[misc]
    return out


class Made:
    """A graph, node by node; ``x`` is a float vector."""

    def __init__(self) -> None:
        self.proto = GraphDef()
        self.proto.versions.producer = 2000
        self("x", "Placeholder", dtype="f")

    def __call__(self, name: str, op: str, *inputs: str, **attrs: Any) -> Made:
        fill(self.proto.node.add(name=name, op=op, input=inputs), attrs)
        return self

    def const(self, name: str, kind: str, value: Any) -> Made:
        numpy = {"f": np.float32, "i": np.int32, "l": np.int64}[kind]
        array = np.asarray(value, numpy)
        self(name, "Const", dtype=kind)
        tensor = self.proto.node[-1].attr["value"].tensor
        tensor.dtype, tensor.tensor_content = TYPES[kind], array.tobytes()  # type: ignore[assignment]
        for size in array.shape:
            tensor.tensor_shape.dim.add(size=size)
        return self

    def function(self, name: str, takes: str, gives: str, real: str = "") -> Made:
        """``gives`` one value of zero of each argument's kind; ``real``: what the body makes."""
        function: FunctionDef = self.proto.library.function.add()
        function.signature.name = name
        for k, kind in enumerate(takes):
            function.signature.input_arg.add(name=f"a{k}", type=TYPES[kind])  # type: ignore[arg-type]
        for k, (kind, made) in enumerate(zip(gives, real or gives, strict=True)):
            function.signature.output_arg.add(name=f"o{k}", type=TYPES[kind])  # type: ignore[arg-type]
            node = function.node_def.add(name=f"n{k}", op="Const")
            fill(node, {"dtype": made})
            node.attr["value"].tensor.dtype = TYPES[made]  # type: ignore[assignment]
            function.ret[f"o{k}"] = f"n{k}:output:0"
        return self

    def dataset(self, name: str = "d", kind: str = "f") -> Made:
        return self(name, "TensorSliceDataset", "x", Toutput_types=[kind], output_shapes=[None])

    def element(self, source: str, kind: str) -> Made:
        """``y`` is the first element of a dataset."""
        spec = {"output_types": [kind], "output_shapes": [None]}
        self.const("one", "l", 1)("first", "TakeDataset", source, "one", **spec)
        return self("y", "DatasetToSingleElement", "first", **spec)


def fill(node: NodeDef, attrs: dict[str, Any]) -> None:
    for key, value in attrs.items():
        node.attr[key].CopyFrom(attr(value))


def outcomes(made: Made, fetch: str = "y:0") -> set[str]:
    """The codes of both executors, optimized and not."""
    found = set()
    data = made.proto.SerializeToString()
    for executor in EXECUTORS:
        for optimizer in ("off", "default"):
            config = SessionConfig(executor=executor, optimizer=optimizer, deadline=20.0)  # type: ignore[arg-type]
            try:
                Session(Graph.from_bytes(data), config).run(fetch, {"x:0": X})
                found.add("ran")
            except DrystoneError as error:
                found.add(error.code)
    return found


# ---- calls -------------------------------------------------------------------------------------

PLAIN = ("PartitionedCall", "StatefulPartitionedCall")
BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
LOOPS = ("While", "StatelessWhile", "For")
WRONG = {  # what the call declares, and what the function has
    "argument": (("f", "f"), ("i", "f")),
    "result": (("f", "i"), ("f", "f")),
    "string": (("f", "f"), ("s", "f")),
    "missing argument": (("f", "f"), ("ff", "f")),
    "one argument more": (("ff", "f"), ("f", "f")),
    "missing result": (("f", "ff"), ("f", "f")),
    "one result more": (("f", "f"), ("f", "ff")),
}


def call(op: str, declared: tuple[str, str], takes: str, gives: str) -> Made:
    made, (given, taken) = Made().function("F", takes, gives), declared
    inputs = ["x"] * len(given)
    types = {"Tin": list(given), "Tout": list(taken)}
    if op in PLAIN:
        return made("y", op, *inputs, f="F", **types)
    made.function("Same", given, taken)
    made("yes", "Placeholder", dtype="f").const("zero", "i", 0)
    if op.endswith("If"):
        return made("y", op, "zero", *inputs, Tcond="i", then_branch="Same", else_branch="F",
                    **types)  # fmt: skip
    return made("y", op, "zero", *inputs, branches=["Same", "F"], **types)


@pytest.mark.parametrize("op", [*PLAIN, *BRANCHES])
@pytest.mark.parametrize("wrong", WRONG)
def test_calls(op: str, wrong: str) -> None:
    declared, (takes, gives) = WRONG[wrong]
    assert outcomes(call(op, declared, takes, gives)) == {"bad-function-call"}
    assert outcomes(call(op, declared, *declared)) == {"ran"}


def loop(op: str, takes: str, gives: str, cond: str = "f", asks: str = "b") -> Made:
    made = Made().function("B", takes, gives).function("C", cond, asks)
    if op != "For":
        return made("y", op, "x", T=["f"], body="B", cond="C")
    for name, value in (("start", 0), ("limit", 2), ("delta", 1)):
        made.const(name, "i", value)
    return made("y", op, "start", "limit", "delta", "x", T=["f"], body="B")


@pytest.mark.parametrize("op", LOOPS)
@pytest.mark.parametrize(("takes", "gives"), [("i", "f"), ("f", "i"), ("ff", "f"), ("f", "ff")])
def test_loops(op: str, takes: str, gives: str) -> None:
    before = "i" if op == "For" else ""
    assert outcomes(loop(op, before + takes, gives)) == {"bad-function-call"}
    assert outcomes(loop(op, before + "f", "f")) == {"ran"}


@pytest.mark.parametrize("op", LOOPS[:2])
@pytest.mark.parametrize(("cond", "asks"), [("i", "b"), ("f", "bb"), ("ff", "b")])
def test_conditions(op: str, cond: str, asks: str) -> None:
    assert outcomes(loop(op, "f", "f", cond, asks)) == {"bad-function-call"}


@pytest.mark.parametrize("op", PLAIN)
def test_a_body_gives_what_its_signature_says(op: str) -> None:
    made = Made().function("F", "f", "f", real="i")
    assert outcomes(made("y", op, "x", f="F", Tin=["f"], Tout=["f"])) == {"dtype-mismatch"}


@pytest.mark.parametrize(("takes", "gives"), [("i", "f"), ("f", "i")])
def test_mapped_functions(takes: str, gives: str) -> None:
    made = Made().function("F", takes, gives)
    made("y", "MapDefun", "x", f="F", Targuments=["f"], output_types=["f"], output_shapes=[None])
    assert outcomes(made) == {"bad-function-call"}


# ---- datasets ----------------------------------------------------------------------------------


def datasets() -> Iterator[tuple[str, Made, str]]:
    """Pipelines whose iterators, functions or ops declare another dtype than comes."""
    spec = {"output_types": ["f"], "output_shapes": [None]}
    wrong = {"output_types": ["i"], "output_shapes": [None]}
    handle = {"shared_name": b"", "container": b""}
    made = Made().dataset()("it", "IteratorV2", **handle, **wrong)("mk", "MakeIterator", "d", "it")
    yield "iterator", made("y", "IteratorGetNext", "it", "^mk", **wrong), "kernel-failed"
    for op in ("IteratorGetNext", "IteratorGetNextSync"):
        made = Made().dataset()("it", "IteratorV2", **handle, **spec)
        made("mk", "MakeIterator", "d", "it")
        yield op, made("y", op, "it", "^mk", **wrong), "kernel-failed"
    yield "take", Made().dataset().element("d", "i"), "kernel-failed"
    for name, takes, gives, code in (("argument", "i", "f", "bad-function-call"),
                                     ("result", "f", "i", "kernel-failed")):  # fmt: skip
        made = Made().dataset().function("F", takes, gives)
        made("m", "MapDataset", "d", f="F", Targuments=[], **spec)
        yield f"map {name}", made.element("m", "f"), code
    made = Made().dataset().function("F", "i", "b")
    made("m", "FilterDataset", "d", predicate="F", Targuments=[], **spec)
    yield "filter", made.element("m", "f"), "bad-function-call"
    for name, takes, gives, code in (("argument", "fi", "f", "bad-function-call"),
                                     ("state", "ff", "i", "kernel-failed")):  # fmt: skip
        made = Made().dataset().function("F", takes, gives).const("zero", "f", 0)
        made("y", "ReduceDataset", "d", "zero", f="F", Tstate=["f"], Targuments=[], **spec)
        yield f"reduce {name}", made, code


@pytest.mark.parametrize(("made", "code"), [pytest.param(m, c, id=n) for n, m, c in datasets()])
def test_datasets(made: Made, code: str) -> None:
    assert outcomes(made) == {code}


# ---- variants and state --------------------------------------------------------------------------


def held() -> Iterator[tuple[str, Made]]:
    """What takes values in as one dtype and is to give them as another."""
    for op, inputs, more in (
        ("TensorListStack", ("l", "e"), {"num_elements": -1}),
        ("TensorListGetItem", ("l", "zero", "e"), {}),
        ("TensorListGather", ("l", "idx", "e"), {}),
        ("TensorListSetItem", ("l", "zero", "zero"), {}),
        ("TensorListPushBack", ("l", "zero"), {}),
        ("TensorListConcatLists", ("l", "l"), {}),
    ):
        made = Made().const("e", "i", []).const("zero", "i", 0).const("idx", "i", [0, 1])
        made("l", "TensorListFromTensor", "x", "e", element_dtype="f", shape_type="i")
        made("made", op, *inputs, element_dtype="i", **more)
        is_list = op not in ("TensorListStack", "TensorListGetItem", "TensorListGather")
        op = "TensorListLength" if is_list else "Identity"
        yield made.proto.node[-1].op, made("y", op, "made", **({} if is_list else {"T": "i"}))
    for kind, splits in (("i", "l"), ("f", "i")):
        made = Made().const("rows", "l", [0, 2])
        made("r", "RaggedTensorToVariant", "rows", "x", RAGGED_RANK=1, Tvalues="f", Tsplits="l",
             batched_input=False)  # fmt: skip
        made("y", "RaggedTensorFromVariant", "r", Tvalues=kind, Tsplits=splits,
             input_ragged_rank=1, output_ragged_rank=1)  # fmt: skip
        yield f"ragged {kind}{splits}", made
    made = Made()("o", "OptionalFromValue", "x", Toutput_types=["f"])
    yield "optional", made("y", "OptionalGetValue", "o", output_types=["i"], output_shapes=[None])
    made = Made()("q", "FIFOQueueV2", component_types=["f"])
    made("e", "QueueEnqueueV2", "q", "x", Tcomponents=["f"])
    yield "queue", made("y", "QueueDequeueV2", "q", "^e", component_types=["i"])
    made = Made()("v", "VarHandleOp", dtype="f", shape=None)("a", "AssignVariableOp", "v", "x",
                                                             dtype="f")  # fmt: skip
    yield "variable", made("y", "ReadVariableOp", "v", "^a", dtype="i")
    made = Made().const("n", "i", 2)("s", "StackV2", "n", elem_type="f", stack_name=b"")
    made("p", "StackPushV2", "s", "x", T="f")
    yield "stack", made("y", "StackPopV2", "s", "^p", elem_type="i")
    made = Made().const("n", "i", 2).const("zero", "i", 0)("t", "TensorArrayV3", "n", dtype="f")
    made("w", "TensorArrayWriteV3", "t", "zero", "x", "t:1", T="f")
    yield "array", made("y", "TensorArrayReadV3", "t", "zero", "w", dtype="i")


@pytest.mark.parametrize("made", [pytest.param(made, id=name) for name, made in held()])
def test_variants_and_state(made: Made) -> None:
    assert outcomes(made) == {"kernel-failed"}
