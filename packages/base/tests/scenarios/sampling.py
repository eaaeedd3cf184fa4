"""Generators and samplers over several runs, warm starts from files, batches of one call."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from typing import Any

import numpy as np
from stateful import f32, i32, i64

from scenarios import Program, scenario, with_tensorflow
from scenarios.datasets_files import Folder

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int32", "int64", "uint32", "uint64"]
TRUE = i64([[0, 1], [5, 3], [9, 2]])


def generator(p: Program, state: Any) -> Any:
    """A generator's variable with a state."""
    v = p("VarHandleOp", dtype="int64", shape=[len(state)], shared_name="g")
    p.step(p("AssignVariableOp", v, i64(state)))
    return v


@scenario(draws=12)
def generators(p: Program, rng: np.random.Generator) -> None:
    v = generator(p, rng.integers(-(2**63), 2**63 - 1, 3))
    alg, size = i64(rng.choice([1, 3])), i32(rng.integers(0, 6, rng.integers(0, 3)))
    dtype = FLOATS[int(rng.integers(4))]
    read = p("ReadVariableOp", v, dtype="int64")
    floats = ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal")
    draws = [p(op, v, alg, size, dtype=dtype) for op in floats]
    whole = INTEGERS[int(rng.integers(4))]
    draws.append(p("StatefulUniformFullInt", v, alg, size, dtype=whole))
    draws.append(p("StatefulUniformInt", v, alg, size, i32(-5), i32(90)))
    draws.append(p("RngReadAndSkip", v, i32(int(alg)), np.uint64(rng.integers(0, 2**40))))
    for node in draws * 2:
        p.step(node)
        p.step(read)
    p.step(p("RngSkip", v, alg, i64(rng.integers(0, 2**40))))
    p.step(read)


@scenario()
def refused_generators(p: Program) -> None:
    v, size = generator(p, [1, 2, 3]), i32([2])
    for alg in (0, 2, 9):
        p.step(p("StatefulUniform", v, i64(alg), size, dtype="float32"))
        p.step(p("RngSkip", v, i64(alg), i64(3)))
        p.step(p("RngReadAndSkip", v, i32(alg), np.uint64(3)))
    p.step(p("StatefulUniformInt", v, i64(1), size, i32(3), i32(3)))
    p.step(p("ReadVariableOp", v, dtype="int64"))
    p.step(p("AssignVariableOp", v, i64([1, 2])))
    p.step(p("StatefulUniform", v, i64(1), size, dtype="float32"))


@scenario(draws=6)
def binomials(p: Program, rng: np.random.Generator) -> None:
    v = generator(p, rng.integers(0, 2**40, 3))
    # TensorFlow loses an update of a state that shares its memory with the value assigned.
    p.step(p("AssignAddVariableOp", v, i64([0, 0, 0])))
    counts, probs = f32(rng.integers(0, 400, (3, 1))), f32(rng.uniform(0, 1, 4))
    draw = p("StatefulRandomBinomial", v, i64(1), i32([2, 3, 4]), counts, probs, dtype="int32")
    for _ in range(3):
        p.step(draw)
        p.step(p("ReadVariableOp", v, dtype="int64"))


@scenario(draws=6)
def seeded_draws(p: Program, rng: np.random.Generator) -> None:
    a, b = (int(v) for v in rng.integers(1, 2**31, 2))
    size = i32(rng.integers(0, 5, 2))
    draws = [
        p("RandomGamma", size, f32([0.5, 1, 3]), seed=a, seed2=b),
        p("RandomPoissonV2", size, f32([0.5, 3, 40]), seed=a, seed2=b, dtype="int32"),
        p("ParameterizedTruncatedNormal", i32([3, 4]), f32(0), f32(2), f32(-1), f32(3), seed=a,
          seed2=b),
    ]  # fmt: skip
    for node in draws * 3:
        p.step(node)


@scenario(draws=8)
def candidates(p: Program, rng: np.random.Generator) -> None:
    unique, seed = bool(rng.integers(2)), int(rng.integers(1, 999))
    given: dict[str, Any] = {
        "num_true": 2,
        "num_sampled": 6,
        "unique": unique,
        "range_max": 12,
        "seed": seed,
    }
    ops = [
        "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
        "ThreadUnsafeUnigramCandidateSampler",
    ]  # fmt: skip
    nodes = [p(op, TRUE, **given) for op in ops]
    weights = [float(w) for w in rng.integers(1, 9, 12)]
    nodes.append(p("FixedUnigramCandidateSampler", TRUE, unigrams=weights, **given))
    for node in nodes * 3:
        p.step(node, (node, 1), (node, 2))


@scenario()
def first_generation(p: Program) -> None:
    p.written_by(20)
    v = generator(p, [1, 5, 6, 7])
    normal = p("StatefulStandardNormal", v, i32([3, 2]), dtype="float32")
    poisson = p("RandomPoisson", i32([4]), f32([0.5, 3, 40]), seed=3, seed2=9)
    for node in (normal, poisson, normal, poisson):
        p.step(node)
    p.step(p("ReadVariableOp", v, dtype="int64"))
    p.step(p("AssignVariableOp", v, i64([9, 5, 6, 7])))
    p.step(normal)


@scenario()
def shrinking(p: Program) -> None:
    refs = [p("VariableV2", dtype="float32", shape=[3], shared_name=n) for n in "ab"]
    for ref, value in zip(refs, ([1, -0.1, -2], [0.2, 0.25, 5]), strict=True):
        p.step(p("Assign", ref, f32(value)))
    p.step(p("SdcaShrinkL1", refs, num_features=2, l1=0.5, l2=2.0))
    for ref in refs:
        p.step(ref)


@scenario()
def parts_of_batches(p: Program) -> None:
    wait: dict[str, Any] = {"timeout_micros": 20_000_000, "shared_name": "u", "T": "float32"}
    x, none = f32([[0, 1], [2, 3], [4, 5]]), np.zeros((0, 3), np.int64)
    index = i64([[6, 0, 1], [5, 1, 3]])
    p.step(p("Unbatch", x, index, i64(5), **wait))
    p.step(p("Unbatch", x[:0], none, i64(6), **wait))
    short = wait | {"timeout_micros": 1000, "shared_name": "v"}
    p.step(p("Unbatch", x[:0], none, i64(6), **short))
    p.step(p("Unbatch", x, i64([[5, 0]]), i64(5), **wait))
    p.step(p("Unbatch", x, i64([[5, 0, 9]]), i64(5), **wait))
    grads: dict[str, Any] = {"shared_name": "g", "T": "float32"}
    p.step(p("UnbatchGrad", x[:0], none, x[:1], i64(6), **grads))
    p.step(p("UnbatchGrad", x, index, x[1:], i64(5), **grads))


@with_tensorflow()
def batch_functions(tf: Any, p: Program) -> None:
    def made(function: Any) -> Any:
        signature = [tf.TensorSpec([None, 2]), tf.TensorSpec([])]
        return tf.function(function, input_signature=signature).get_concrete_function()

    scaled = made(lambda x, by: (x * by, tf.reduce_sum(x, 1)))
    first = made(lambda x, by: (x[:1] * by, x))
    rows = tf.constant(np.arange(18, dtype=np.float32).reshape(9, 2))
    given: dict[str, Any] = {"num_batch_threads": 1, "batch_timeout_micros": 1000}
    cases: list[tuple[Any, int, dict[str, Any]]] = [
        (scaled, 3, {"max_batch_size": 8}),
        (scaled, 3, {"max_batch_size": 8, "allowed_batch_sizes": [4, 8]}),
        (scaled, 9, {"max_batch_size": 16, "allowed_batch_sizes": [2, 4],
                     "enable_large_batch_splitting": True}),
        (scaled, 9, {"max_batch_size": 8}),
        (scaled, 3, {"max_batch_size": 8, "allowed_batch_sizes": [4, 6]}),
        (first, 3, {"max_batch_size": 8}),
    ]  # fmt: skip
    for function, count, attrs in cases:
        out = tf.raw_ops.BatchFunction(
            in_tensors=[rows[:count]], captured_tensors=[tf.constant(3.0)],
            f=function, Tout=[tf.float32, tf.float32], **given, **attrs,
        )  # fmt: skip
        p.step(out[0], out[1])


@with_tensorflow()
def words(tf: Any, p: Program) -> None:
    file = Folder(tf, p)
    new, old = file("new", b"a\nb\nc\nd\ne\n"), file("old", b"d\nx\na\nb\n")
    twice, gone = file("twice", b"a\nb\na\n"), file("gone", None)
    for first, count, size in ((0, 5, -1), (1, 3, 2), (2, 0, -1), (3, 3, -1), (0, 5, 9)):
        made = tf.raw_ops.GenerateVocabRemapping(
            new_vocab_file=new, old_vocab_file=old, new_vocab_offset=first, num_new_vocab=count,
            old_vocab_size=size,
        )  # fmt: skip
        p.step(made[0], made[1])
    for pair in ((twice, old), (new, twice), (new, gone), (gone, old)):
        made = tf.raw_ops.GenerateVocabRemapping(
            new_vocab_file=pair[0], old_vocab_file=pair[1], new_vocab_offset=0, num_new_vocab=2
        )
        p.step(made[0], made[1])


@with_tensorflow()
def warm_starts(tf: Any, p: Program) -> None:
    prefix = Folder(tf, p)("ckpt", None)
    names = ["m", "v", "d"]
    values = [np.arange(12, dtype=np.float32).reshape(4, 3), f32([1, 2]), np.zeros((2, 2))]
    p.step(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=[""] * 3,
                             tensors=values))  # fmt: skip
    cases: list[tuple[str, list[int], list[int], int]] = [
        ("m", [2, -1, 0], [1, 0, -1], 5), ("m", [2, -1, 0], [], 3), ("m", [-1], [-1, -1, -1], 3),
        ("m", [3, 2, 1, 0], [2, 1, 0], 0), ("m", [2, 2], [], 0), ("m", [1], [0, 1], 0),
        ("m", [0, -1], [], 2), ("m", [0, -1], [], 4), ("v", [0], [0], 0), ("d", [0], [0], 0),
        ("x", [0], [0], 0),
    ]  # fmt: skip
    for name, rows, columns, count in cases:
        p.step(tf.raw_ops.LoadAndRemapMatrix(
            ckpt_path=prefix, old_tensor_name=name, row_remapping=i64(rows),
            col_remapping=i64(columns), initializing_values=f32(np.arange(100, 100 + count)),
            num_rows=len(rows), num_cols=len(columns) or 3,
        ))  # fmt: skip
