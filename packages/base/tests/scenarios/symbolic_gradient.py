"""SymbolicGradient of functions: op by op, and of random compositions."""

# ruff: noqa: D103 - scenarios are named by what they run

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from scenarios import Program, with_tensorflow

Form = Callable[..., Any]


def gradient(tf: Any, p: Program, form: Form, values: list[np.ndarray[Any, Any]]) -> None:
    """A step that fetches the gradients of ``form`` at ``values`` for random dy."""
    specs = [tf.TensorSpec(v.shape, v.dtype) for v in values]
    function = tf.function(form).get_concrete_function(*specs)
    function.add_to_graph()
    fed = [tf.compat.v1.placeholder(v.dtype, v.shape) for v in values]
    rng = np.random.default_rng(3)
    outs = function.outputs
    dys = [tf.constant(rng.normal(size=out.shape.as_list()), out.dtype) for out in outs]
    found = tf.raw_ops.SymbolicGradient(
        input=[*fed, *dys], Tout=[v.dtype for v in values], f=function
    )
    p.step(*found, feeds=dict(zip(fed, values, strict=True)))


# Not Asinh and Acosh: TensorFlow 2.21 multiplies by cosh(y) and sinh(y), instead of dividing by it.
RAW_UNARY = [
    "Abs", "Neg", "Reciprocal", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sinh",
    "Cosh", "Atanh", "Tanh", "Sigmoid", "Sign", "Sin", "Cos", "Tan", "Asin",
    "Acos", "Atan",
]  # fmt: skip


@with_tensorflow(draws=40, tol=4)
def one_input(tf: Any, p: Program, rng: np.random.Generator) -> None:
    op = RAW_UNARY[int(rng.integers(len(RAW_UNARY)))]
    for dtype in ("float32", "float64"):
        x = rng.uniform(0.1, 0.9, [2, 3]).astype(dtype)
        gradient(tf, p, lambda v: getattr(tf.raw_ops, op)(x=v), [x])


@with_tensorflow(draws=24, tol=4)
def two_inputs(tf: Any, p: Program, rng: np.random.Generator) -> None:
    raw = tf.raw_ops
    names = ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "Pow", "Maximum", "Minimum",
             "SquaredDifference", "DivNoNan"]  # fmt: skip
    op = names[int(rng.integers(len(names)))]
    shapes = [([2, 3], [2, 3]), ([2, 3], [3]), ([], [2, 3]), ([2, 1], [1, 3]), ([4, 1, 2], [3, 1])]
    first, second = shapes[int(rng.integers(len(shapes)))]
    x = rng.uniform(0.2, 2, first).astype("f4")
    y = rng.uniform(0.2, 2, second).astype("f4")
    gradient(tf, p, lambda a, b: getattr(raw, op)(x=a, y=b), [x, y])


@with_tensorflow(draws=24, tol=8)
def reductions_and_products(tf: Any, p: Program, rng: np.random.Generator) -> None:
    raw = tf.raw_ops
    x = rng.normal(size=[2, 3, 4]).astype("f4")
    axes = np.array([[0], [1, 2], [2], [], [0, 1, 2]][int(rng.integers(5))], "i4")
    keep = bool(rng.integers(2))
    for op in ("Sum", "Mean", "Max", "Min"):
        kept = keep and op in ("Sum", "Mean")  # TensorFlow's rule for Max and Min ignores it
        form = partial(getattr(raw, op), axis=axes, keep_dims=kept)
        gradient(tf, p, lambda v, form=form: form(input=v), [x])
    a, b = rng.normal(size=[3, 2]).astype("f4"), rng.normal(size=[2, 4]).astype("f4")
    left, right = bool(rng.integers(2)), bool(rng.integers(2))
    a, b = (a.T.copy() if left else a), (b.T.copy() if right else b)
    gradient(tf, p, lambda v, w: raw.MatMul(a=v, b=w, transpose_a=left, transpose_b=right), [a, b])
    c, d = rng.normal(size=[2, *a.shape]).astype("f4"), rng.normal(size=[2, *b.shape]).astype("f4")
    gradient(tf, p, lambda v, w: raw.BatchMatMul(x=v, y=w, adj_x=left, adj_y=right), [c, d])
    e = rng.normal(size=[3, 1, *a.shape]).astype("f4")
    gradient(tf, p, lambda v, w: raw.BatchMatMulV2(x=v, y=w, adj_x=left, adj_y=right), [e, d])


@with_tensorflow(draws=8, tol=4)
def arrays(tf: Any, p: Program, rng: np.random.Generator) -> None:
    raw = tf.raw_ops
    x, y = rng.normal(size=[2, 3]).astype("f4"), rng.normal(size=[2, 3]).astype("f4")
    axis = int(rng.integers(-2, 2))
    forms: list[Form] = [
        lambda v, w: raw.Pack(values=[v, w], axis=axis),
        lambda v, w: raw.ConcatV2(values=[v, w, v], axis=axis),
        lambda v, w: raw.Concat(concat_dim=max(axis, 0), values=[v, w]),
        lambda v, w: raw.Select(condition=raw.Greater(x=v, y=w), x=v, y=w),
        lambda v, w: raw.Transpose(x=raw.Mul(x=v, y=w), perm=[1, 0]),
        lambda v, w: raw.Reshape(tensor=raw.Sub(x=v, y=w), shape=[3, 2]),
        lambda v, w: raw.Slice(input=raw.Mul(x=v, y=w), begin=[0, 1], size=[2, 2]),
        lambda v, w: raw.ReverseV2(tensor=raw.Mul(x=v, y=w), axis=[axis]),
        lambda v, w: raw.ExpandDims(input=raw.Mul(x=v, y=w), axis=axis),
        lambda v, w: raw.Cast(x=raw.Mul(x=v, y=w), DstT=tf.float64),
        lambda v, w: raw.Softmax(logits=raw.Mul(x=v, y=w)),
        lambda v, w: raw.Relu(features=raw.Sub(x=v, y=w)),
        lambda v, w: raw.Relu6(features=raw.Sub(x=v, y=w)),
        lambda v, w: raw.StridedSlice(
            input=raw.Mul(x=v, y=w), begin=[0, 1], end=[2, 3], strides=[1, 2], begin_mask=1
        ),
        lambda v, w: raw.Fill(dims=[2, 2], value=raw.Sum(input=raw.Mul(x=v, y=w), axis=[0, 1])),
        lambda v, w: (raw.Split(axis=1, value=raw.Mul(x=v, y=w), num_split=3)[1],),
        lambda v, w: (raw.Unpack(value=raw.Mul(x=v, y=w), num=2, axis=0)[axis],),
    ]
    for k in rng.permutation(len(forms))[:9]:
        gradient(tf, p, forms[k], [x, y])


@with_tensorflow(draws=8, tol=16)
def layers(tf: Any, p: Program, rng: np.random.Generator) -> None:
    raw = tf.raw_ops
    x = rng.normal(size=[2, 5, 5, 2]).astype("f4")
    w, bias = rng.normal(size=[3, 3, 2, 3]).astype("f4"), rng.normal(size=[3]).astype("f4")
    padding = ["SAME", "VALID"][int(rng.integers(2))]
    stride = int(rng.integers(1, 3))

    def net(v: Any, u: Any, b: Any) -> Any:
        y = raw.Conv2D(input=v, filter=u, strides=[1, stride, stride, 1], padding=padding)
        y = raw.Relu(features=raw.BiasAdd(value=y, bias=b))
        y = raw.MaxPool(input=y, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding=padding)
        return raw.Mean(input=y, axis=[1, 2])

    gradient(tf, p, net, [x, w, bias])


@with_tensorflow()
def refusals(tf: Any, p: Program) -> None:
    x = np.ones([3], "f4")
    gradient(tf, p, lambda v: tf.raw_ops.GuaranteeConst(input=v), [x])
