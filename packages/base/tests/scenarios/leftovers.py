"""Ops that no other family reaches: old versions, handles without a name, files, references."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from exact import gram
from stateful import f32, i32, i64

from drystone_base.executor.testing import as_array
from drystone_base.graph import Node
from scenarios import Program, scenario
from scenarios._draw import pick, values
from scenarios.internal import run
from scenarios.readers import records, strings, write

REAL = ["float32", "float64"]
ANY = [*REAL, "complex64", "complex128"]


def matrices(rng: np.random.Generator, dtype: str, *shape: int) -> Any:
    """Random numbers; square matrices have a heavy diagonal."""
    x = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    if shape[-1] == shape[-2]:
        x = x + 4 * np.eye(shape[-1])
    return x.astype(dtype)


def definite(rng: np.random.Generator, dtype: str, *shape: int) -> Any:
    product = gram(matrices(rng, dtype, *shape))
    return (product if dtype.startswith("complex") else product.real).astype(dtype)


# ---- ops that newer graphs may not hold ------------------------------------------------------


@scenario(draws=8, tol=10)
def batch_solving(p: Program, rng: np.random.Generator) -> None:
    p.written_by(12)
    dtype = pick(rng, REAL)
    x, y = matrices(rng, dtype, 2, 3, 3), matrices(rng, dtype, 2, 3, 2)
    flags: dict[str, Any] = {"adjoint": bool(rng.integers(2))}
    p.step(p("BatchMatrixDeterminant", x))
    p.step(p("BatchMatrixSolve", x, y, **flags))
    p.step(p("BatchMatrixTriangularSolve", x, y, lower=bool(rng.integers(2)), **flags))
    rows = p.feed(dtype)
    p.step(p("BatchMatrixSolve", x, rows, **flags), feeds={rows: y[:, :2]})
    p.step(p("BatchMatrixSolve", np.zeros_like(x), y))
    p.step(p("BatchMatrixInverse", x, **flags))
    p.step(p("BatchMatrixSolveLs", x, y, np.float64(0.5), fast=True))


@scenario(draws=8, tol=10)
def batch_decomposing(p: Program, rng: np.random.Generator) -> None:
    p.written_by(12)
    dtype = pick(rng, ANY)
    x = definite(rng, dtype, 2, 3, 3)
    p.step(p("BatchSvd", x, compute_uv=False))
    if dtype in REAL:
        p.step(p("BatchSelfAdjointEigV2", x, compute_v=False))
        factor = p("BatchCholesky", x)
        p.step(factor)
        p.step(p("BatchCholeskyGrad", factor, matrices(rng, dtype, 2, 3, 3)))


@scenario(draws=4, tol=10)
def eigenvalues_in_the_first_row(p: Program, rng: np.random.Generator) -> None:
    p.written_by(10)
    x = definite(rng, pick(rng, REAL), 2, 3, 3)
    first = (np.zeros(3, np.int32), np.array([-1, 1, -1], np.int32))
    p.step(p("Slice", p("BatchSelfAdjointEig", x), *first))
    p.step(p("Slice", p("SelfAdjointEig", x[0]), *(v[1:] for v in first)))


@scenario(draws=12)
def batch_diagonals(p: Program, rng: np.random.Generator) -> None:
    p.written_by(13)
    dtype = pick(rng, [*ANY, "int32", "int64", "uint8", "float16", "bfloat16"])
    x = values(rng, dtype, [2, 3, 4])
    below, above = (np.int64(rng.integers(-1, 3)) for _ in range(2))
    p.step(p("BatchMatrixBandPart", x, below, above))
    p.step(p("BatchMatrixDiag", x[0]))
    p.step(p("BatchMatrixDiagPart", x))
    p.step(p("BatchMatrixSetDiag", x, x[..., 0]))
    n = p.feed(dtype)
    p.step(p("BatchMatrixDiagPart", n), feeds={n: x[0, 0]})


@scenario(draws=4)
def first_normalization(p: Program, rng: np.random.Generator) -> None:
    p.written_by(8)
    dtype = pick(rng, REAL)
    x = rng.normal(size=(2, 3, 2, 4)).astype(dtype)
    mean, variance, beta, gamma = (rng.uniform(0.5, 2, 4).astype(dtype) for _ in range(4))
    for scaled in (True, False):
        p.step(p("BatchNormWithGlobalNormalization", x, mean, variance, beta, gamma,
                 variance_epsilon=0.01, scale_after_normalization=scaled))  # fmt: skip


@scenario(draws=6, tol=10)
def first_volumes(p: Program, rng: np.random.Generator) -> None:
    p.written_by(9)
    dtype = pick(rng, REAL)
    stride, padding = int(rng.integers(1, 3)), pick(rng, ["SAME", "VALID"])
    attrs: dict[str, Any] = {"strides": [1, *[stride] * 3, 1], "padding": padding}
    x = p.const(rng.normal(size=(1, 4, 5, 4, 2)).astype(dtype))
    w = p.const(rng.normal(size=(2, 3, 2, 2, 3)).astype(dtype))
    back = p("OnesLike", p("Conv3D", x, w, **attrs))
    p.step(p("Conv3DBackpropInput", x, w, back, **attrs))
    p.step(p("Conv3DBackpropFilter", x, w, back, **attrs))


@scenario(draws=4, tol=10)
def exponential_of_a_matrix(p: Program, rng: np.random.Generator) -> None:
    p.written_by(26)
    p.step(p("MatrixExponential", rng.normal(size=(2, 3, 3)).astype(pick(rng, REAL))))


@scenario()
def fed_with_a_stated_shape(p: Program) -> None:
    p.written_by(22)
    x = p("PlaceholderV2", dtype="float32", shape=[2])
    p.step(p("Neg", x), feeds={x: f32([1, 2])})
    p.step(p("Neg", x))


@scenario()
def first_quantization(p: Program) -> None:
    p.written_by(21)
    x = f32([[-1.3, 0.2, 0.8, 2.6]])
    p.step(p("QuantizeAndDequantize", x))
    p.step(p("QuantizeAndDequantize", x, range_given=True, input_min=-1.0, input_max=1.0))


@scenario()
def first_sounds(p: Program) -> None:
    p.written_by(14)
    p.step(p("AudioSummary", "a", f32([[0.5, -0.5, 0]]), sample_rate=8000.0, max_outputs=1))


@scenario(draws=6)
def array_packed(p: Program, rng: np.random.Generator) -> None:
    p.written_by(15)
    dtype = pick(rng, [*REAL, "int32", "string", "bool"])
    array = p("TensorArray", np.int32(3), dtype=dtype)
    flow = p("TensorArrayUnpack", array, values(rng, dtype, [3, 2]), np.float32(0))
    p.step(p("TensorArrayPack", array, flow, dtype=dtype))


# ---- references, sessions, waiting -----------------------------------------------------------


@scenario(draws=4)
def counted(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, ["int32", "int64"])
    v = p("VariableV2", dtype=dtype, shape=[])
    counter = p("CountUpTo", v, limit=3)
    p.step(counter)
    p.step(p("Assign", v, np.asarray(1, dtype)))
    for _ in range(3):
        p.step(counter)
    p.step(v)


@scenario()
def references_passed_on(p: Program) -> None:
    v = p("VariableV2", dtype="float32", shape=[2])
    p.step(p("Assign", v, f32([1, 2])))
    for op in ("RefIdentity", "DebugGradientRefIdentity"):
        p.step(p("AssignAdd", p(op, v), f32([1, 1])))
        p.step(v)


@scenario()
def references_in_a_frame(p: Program) -> None:
    v = p("VariableV2", dtype="float32", shape=[2])
    p.step(p("Assign", v, f32([1, 2])))
    entered = p("RefEnter", v, frame_name="one")
    p.step(p("Identity", p("RefExit", entered)))
    other = p("RefEnter", v, frame_name="two")
    p.step(p("Identity", p("RefExit", p("RefNextIteration", other))))


@scenario()
def staged_by_key(p: Program) -> None:
    kinds: dict[str, Any] = {"dtypes": ["float32", "string"], "shared_name": "s"}
    p.step(p("MapStage", np.int64(5), i32([0, 1]), [f32([1, 2]), as_array(b"x")], **kinds))
    taken = p("MapUnstageNoKey", i32([0, 1]), **kinds)
    p.step((taken, 0), (taken, 1), (taken, 2))
    p.step(p("MapSize", dtypes=kinds["dtypes"], shared_name="s"))


@scenario()
def queue_closed(p: Program) -> None:
    q = p("FIFOQueue", component_types=["int32"])
    p.step(p("QueueIsClosed", q))
    p.step(p("QueueClose", q))
    p.step(p("QueueIsClosed", q))


@scenario()
def variables_together(p: Program) -> None:
    kinds = ["float32", "int32"]
    several = run(p, "_VarHandlesOp", containers=["", ""], shared_names=["a", "b"], N=2,
                  dtypes=kinds, shapes=[[2], []])  # fmt: skip
    both = run(p, "_ReadVariablesOp", [(several, 0), (several, 1)], dtypes=kinds)
    p.step((both, 0), (both, 1))
    p.step(p("AssignVariableOp", (several, 0), f32([1, 2])))
    p.step(p("AssignVariableOp", (several, 1), np.int32(3)))
    p.step((both, 0), (both, 1))
    p.step(p("DisableCopyOnRead", (several, 0)))
    p.step((both, 0), (both, 1))


@scenario()
def one_call_of_a_batch(p: Program) -> None:
    made = p("Batch", [f32([[1, 2]])], num_batch_threads=1, max_batch_size=1,
             batch_timeout_micros=0, grad_timeout_micros=0)  # fmt: skip
    p.step(made)


@scenario()
def session_handles(p: Program) -> None:
    x = p.const(f32([1, 2]))
    p.step(p("NoOp", controls=[p("GetSessionHandle", x)]))
    p.step(p("NoOp", controls=[p("GetSessionHandleV2", x)]))


# ---- handles without a name ------------------------------------------------------------------


@scenario(draws=6)
def nameless_tables(p: Program, rng: np.random.Generator) -> None:
    key, value = pick(rng, [("int64", "float32"), ("string", "int64"), ("int32", "int32")])
    shape = [2] if rng.integers(2) else []
    kinds: dict[str, Any] = {"key_dtype": key, "value_dtype": value}
    keys = values(rng, key, [4], unique=True)
    dense = p("AnonymousMutableDenseHashTable", keys[0], keys[1], value_shape=shape, **kinds)
    plain = p("AnonymousMutableHashTable", **kinds)
    tensors = p("AnonymousMutableHashTableOfTensors", value_shape=[2], **kinds)
    for table, row in ((dense, shape), (plain, []), (tensors, [2])):
        put = p("LookupTableInsertV2", table, keys[2:], values(rng, value, [2, *row]))
        found = p("LookupTableFindV2", table, keys[2:], values(rng, value, row), controls=[put])
        p.step(found, p("LookupTableSizeV2", table, controls=[put]))
        p.step(p("LookupTableSizeV2", table))


def one_spec() -> dict[str, Any]:
    return {"output_types": ["int64"], "output_shapes": [[]]}


def numbers_to(p: Program, stop: int) -> Node:
    return p("RangeDataset", np.int64(0), np.int64(stop), np.int64(1), **one_spec())


@scenario()
def nameless_iterators(p: Program) -> None:
    made = p("AnonymousIteratorV2", **one_spec())
    start = p("MakeIterator", numbers_to(p, 2), made)
    got: list[Node] = []
    for _ in range(2):
        got.append(p("IteratorGetNext", made, controls=[start, *got], **one_spec()))
    gone = p("DeleteIterator", made, (made, 1), controls=got)
    p.step(*got, gone)
    p.step(p("NoOp", controls=[p("DeleteIterator", made, (made, 1))]))


@scenario()
def nameless_iterators_of_devices(p: Program) -> None:
    for op in ("AnonymousMultiDeviceIterator", "AnonymousMultiDeviceIteratorV3"):
        made = p(op, devices=["/device:CPU:0"], **one_spec())
        start = p("MultiDeviceIteratorInit", numbers_to(p, 2), made, np.int64(1))
        got: list[Node] = []
        for _ in range(2):
            got.append(p("MultiDeviceIteratorGetNextFromShard", made, np.int32(0), start,
                         controls=got, **one_spec()))  # fmt: skip
        after: list[Node] = []
        if not op.endswith("V3"):
            after.append(p("DeleteMultiDeviceIterator", made, [], (made, 1), controls=got, N=0))
        p.step(*got, *after)


# ---- files -----------------------------------------------------------------------------------


@scenario()
def contents(p: Program) -> None:
    (path,) = write(p, [b"a\x00b"])
    name = p.feed("string", [])
    for given in (path, b"{tmp}/missing"):
        p.step(p("ReadFile", name), feeds={name: as_array(given)})


@scenario(draws=16)
def old_readers(p: Program, rng: np.random.Generator) -> None:
    p.written_by(25)
    data = [b"one\ntwo\n", b"", b"three"]
    op = ["TextLineReader", "WholeFileReader", "IdentityReader",
          "TFRecordReader"][int(rng.integers(4))]  # fmt: skip
    if op == "TFRecordReader":
        data = [records(b"x", b"yy"), records()]
    names = write(p, data)
    reader = p(op)
    q = p("FIFOQueue", component_types=["string"], shapes=[[]])
    name = p.feed("string")
    p.step(p("QueueEnqueueMany", q, [name]), feeds={name: strings(names)})
    p.step(p("QueueClose", q))
    one = p("ReaderRead", reader, q)
    many = p("ReaderReadUpTo", reader, q, np.int64(2))
    for taken in (one, many, one):
        p.step((taken, 1))
        p.step(p("ReaderNumRecordsProduced", reader), p("ReaderNumWorkUnitsCompleted", reader))
    state, text = p("ReaderSerializeState", reader), p.feed("string", [])
    if op == "IdentityReader":
        p.step(state)
    p.step(p("ReaderRestoreState", reader, text), feeds={text: b""})
    p.step(p("ReaderReset", reader))
    p.step(p("ReaderNumRecordsProduced", reader))


@scenario()
def old_words_of_a_file(p: Program) -> None:
    (path,) = write(p, [b"alpha\nbeta\n"])
    name = p.feed("string", [])
    table = p("HashTable", key_dtype="string", value_dtype="int64", shared_name="t")
    fill = p("InitializeTableFromTextFile", table, name, key_index=-2, value_index=-1)
    p.step(fill, feeds={name: as_array(path)})
    p.step(p("LookupTableFind", table, as_array([b"beta", b"x", b"alpha"]), np.int64(-1)))


@scenario()
def saved(p: Program) -> None:
    name = p.feed("string", [])
    here: dict[Any, Any] = {name: b"{tmp}/old"}
    parts = as_array([b"x", b"y"])
    p.step(p("Save", name, parts, [f32([[1, 2]]), i64([3])]), feeds=here)
    p.step(p("Restore", name, "x", dt="float32"), p("Restore", name, "y", dt="int64"), feeds=here)
    p.step(p("Restore", name, "z", dt="int64"), feeds=here)
    p.step(p("RestoreSlice", name, "x", "1 2 0,1:1,1", dt="float32"), feeds=here)
    there: dict[Any, Any] = {name: b"{tmp}/slices"}
    p.step(p("SaveSlices", name, as_array([b"x"]), as_array([b"2 2 0,1:-"]), [f32([[1, 2]])]),
           feeds=there)  # fmt: skip
    p.step(p("RestoreSlice", name, "x", "2 2 0,1:0,1", dt="float32"), feeds=there)


@scenario()
def saved_in_parts(p: Program) -> None:
    name, plain = p.feed("string", []), as_array([b""])
    parts: dict[bytes, Any] = {b"{tmp}/a": f32([1, 2]), b"{tmp}/b": f32([3])}
    for k, (prefix, value) in enumerate(parts.items()):
        p.step(p("SaveV2", name, as_array([b"x%d" % k]), plain, [value]), feeds={name: prefix})
    read = p("RestoreV2", name, as_array([b"x0", b"x1"]), as_array([b"", b""]),
             dtypes=["float32", "float32"])  # fmt: skip
    p.step((read, 0), feeds={name: b"{tmp}/a"})
    several = p.feed("string")
    p.step(p("MergeV2Checkpoints", several, name),
           feeds={several: strings(list(parts)), name: b"{tmp}/all"})  # fmt: skip
    p.step((read, 0), (read, 1), feeds={name: b"{tmp}/all"})


@scenario()
def files_that_are_missing(p: Program) -> None:
    p.step(p("RecordInput", file_pattern="/none/at/all*", batch_size=1))
    p.step(p("ImmutableConst", dtype="float32", shape=[2], memory_region_name="/none/at/all"))


# ---- lists -----------------------------------------------------------------------------------


@scenario(draws=10)
def first_lists(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, ["float32", "int32", "string", "bool", "int64"])
    rows = values(rng, dtype, [3, 2])
    made = p("TensorListScatter", rows, i32(rng.permutation(3)), i32([2]), element_dtype=dtype)
    p.step(p("TensorListStack", made, np.int32(-1), element_dtype=dtype))
    at = i32(rng.integers(0, 4, 3))
    changed = p("TensorListScatterIntoExistingList", made, rows, at)
    p.step(p("TensorListStack", changed, np.int32(-1), element_dtype=dtype))
    deep = p("TensorListFromTensor", values(rng, dtype, [2, 3, 2]), i32([3, 2]))
    whole = p("TensorListConcat", deep, element_dtype=dtype, element_shape=[3, 2])
    p.step((whole, 0), (whole, 1))


@scenario(draws=4)
def array_of_gradients(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, REAL)
    a = p("TensorArrayV3", np.int32(2), dtype=dtype, element_shape=[2])
    flow = p("TensorArrayScatterV3", a, i32([0, 1]), values(rng, dtype, [2, 2]), (a, 1))
    g = p("TensorArrayGradWithShape", a, flow, i32([3]), source="g")
    put = p("TensorArrayWriteV3", g, np.int32(1), values(rng, dtype, [3, 2]), (g, 1))
    p.step(p("TensorArrayReadV3", g, np.int32(1), put, dtype=dtype))
    p.step(p("TensorArrayReadV3", g, np.int32(0), put, dtype=dtype))


@scenario(draws=4)
def ragged_gradient(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, REAL)
    splits = i64([0, 2, 2, 3])
    coded = p("RaggedTensorToVariant", [splits], values(rng, dtype, [3, 2]), batched_input=True)
    p.step(p("RaggedTensorToVariantGradient", coded, splits, i32([3, 2]), Tvalues=dtype))


# ---- one op and its answer -------------------------------------------------------------------


@scenario(draws=6)
def of_no_fixed_value(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, ["float32", "int32", "string", "bool", "complex64"])
    shape = i32(rng.integers(0, 4, 2))
    p.step(p("Shape", p("Empty", shape, dtype=dtype)), p("Empty", shape, dtype=dtype, init=True))
    p.step(p("Shape", p("NonDeterministicInts", shape, dtype="int32")))
    p.step(p("Greater", p("Timestamp"), np.float64(1.5e9)))
    p.step(p("Shape", p("FakeParam", dtype=dtype, shape=[2, 3])))
    p.step(p("HostConst", dtype="float32", value=f32([1, 2])))
    p.step(p("DeviceIndex", device_names=["GPU", "CPU"]), p("DeviceIndex", device_names=["TPU"]))


@scenario()
def told(p: Program) -> None:
    x = f32([1, 2, 3])
    p.step(p("Print", x, [x, as_array(b"a")], message="m", summarize=2, first_n=1))
    p.step(p("PrintV2", "text", output_stream="stderr"))


@scenario(draws=4)
def summed(p: Program, rng: np.random.Generator) -> None:
    dtype = pick(rng, [*REAL, "int32"])
    several = [values(rng, dtype, [2, 3]) for _ in range(3)]
    p.step(p("AccumulateNV2", several, shape=[2, 3]))


@scenario()
def lists_and_arrays(p: Program) -> None:
    a, b = f32([1]), f32([2, 3])
    out = run(p, "_ListToArray", [a, b], T="float32", N=2)
    p.step((out, 0), (out, 1))
    back = run(p, "_ArrayToList", [a, b], out_types=["float32", "float32"])
    p.step((back, 0), (back, 1))
    p.step(run(p, "_EagerConst", b))
    p.step(p("XlaSpmdShardToFullShape", b, manual_sharding="", full_shape=[2]))


@scenario()
def switched_to_one_of_several(p: Program) -> None:
    index = p.feed("int32", [])
    out = run(p, "_SwitchN", f32([1, 2]), index, num_outs=3)
    for k in (0, 1, 2, 5, -1):
        p.step(p("Merge", [(out, j) for j in range(3)]), feeds={index: k})
    p.step((out, 1), feeds={index: 0})


@scenario()
def order_of_columns(p: Program) -> None:
    dense = f32(np.diag([1, 2, 3]))
    at = np.argwhere(dense).astype("i8")
    matrix = p("DenseToCSRSparseMatrix", dense, at)
    p.step(p("SparseMatrixOrderingAMD", matrix))


# ---- fused by TensorFlow's optimizer ---------------------------------------------------------


@scenario(draws=10, tol=10)
def fused_products(p: Program, rng: np.random.Generator) -> None:
    a, b = f32(rng.normal(size=(3, 4))), f32(rng.normal(size=(4, 2)))
    follows = pick(rng, [[], ["Relu"], ["Relu6"], ["Elu"], ["LeakyRelu"], ["Tanh"], ["Sigmoid"]])
    ops = ["BiasAdd", *follows]
    p.step(run(p, "_FusedMatMul", a, b, [f32(rng.normal(size=2))], fused_ops=ops,
               leakyrelu_alpha=0.3))  # fmt: skip
    given = [f32(rng.normal(size=2))]
    p.step(run(p, "_FusedMatMul", a.T.copy(), b.T.copy(), given, fused_ops=["BiasAdd"],
               transpose_a=True, transpose_b=True))  # fmt: skip


@scenario(draws=10, tol=10)
def fused_convolutions(p: Program, rng: np.random.Generator) -> None:
    x, w = f32(rng.normal(size=(1, 5, 6, 2))), f32(rng.normal(size=(3, 2, 2, 4)))
    ops = pick(rng, [["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "Elu"],
                     ["BiasAdd", "LeakyRelu"], ["FusedBatchNorm"],
                     ["FusedBatchNorm", "Relu"]])  # fmt: skip
    count = 1 if ops[0] == "BiasAdd" else 4
    more = [f32(rng.uniform(0.5, 2, 4)) for _ in range(count)]
    stride = int(rng.integers(1, 3))
    p.step(run(p, "_FusedConv2D", x, w, more, [], num_args=count, fused_ops=ops, epsilon=0.01,
               strides=[1, stride, stride, 1], padding=pick(rng, ["SAME", "VALID"]),
               num_host_args=0, T="float32", leakyrelu_alpha=0.3))  # fmt: skip


@scenario(draws=4)
def groups_of_one(p: Program, rng: np.random.Generator) -> None:
    x = values(rng, pick(rng, [*REAL, "int32"]), [2, 2])
    key = int(rng.integers(1000, 9999))
    p.step(p("CollectiveGather", x, group_size=1, group_key=key, instance_key=key, shape=[2, 2]))
