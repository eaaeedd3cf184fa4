"""Training graphs that TensorFlow builds here: the same losses and variables, step by step."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import drystone_base as ds

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)
v1 = tf.compat.v1
STEPS = 5

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda: v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adagrad": lambda: v1.train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: v1.train.AdagradDAOptimizer(
        0.1, v1.train.get_global_step(), l1_regularization_strength=0.001
    ),
    "adadelta": lambda: v1.train.AdadeltaOptimizer(1.0, 0.9),
    "rmsprop": lambda: v1.train.RMSPropOptimizer(0.01, momentum=0.5),
    "centered_rmsprop": lambda: v1.train.RMSPropOptimizer(0.01, centered=True),
    "adam": lambda: v1.train.AdamOptimizer(0.01),
    "ftrl": lambda: v1.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.01
    ),
    "ftrl_shrinkage": lambda: v1.train.FtrlOptimizer(
        0.1, l2_shrinkage_regularization_strength=0.02
    ),
    "proximal_sgd": lambda: v1.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.001
    ),
    "proximal_adagrad": lambda: v1.train.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.001
    ),
}


def embedding(initializer: Any) -> Any:
    """Loss of rows of a table through a dense layer: sparse and dense gradients."""
    ids = v1.placeholder(tf.int32, [None, 3], "ids")
    target = v1.placeholder(tf.float32, [None], "target")
    table = v1.get_variable("table", [11, 4], initializer=initializer)
    w = v1.get_variable("w", [4, 1], initializer=initializer)
    b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
    rows = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), 1)
    out = tf.squeeze(tf.tanh(tf.matmul(rows, w) + b), 1)
    tf.reduce_mean(tf.square(out - target), name="loss")
    return "loss:0"


def batches(seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "ids:0": rng.integers(0, 11, (6, 3)).astype(np.int32),
            "target:0": rng.standard_normal(6).astype(np.float32),
        }
        for _ in range(STEPS)
    ]


def compare(graph: Any, feeds: list[dict[str, Any]], loss: str) -> None:
    """Initialise in both, run the same steps, compare losses and all variables."""
    ours = ds.Session(ds.read_graph(graph.as_graph_def().SerializeToString()))
    with v1.Session(graph=graph) as theirs:
        names = {v.op.name: v for v in v1.global_variables()}
        assert names
        for session in (ours, theirs):
            session.run("init")
        held(ours, theirs, names, 2e-6)  # functions of normal numbers differ in the last places
        for k, feed in enumerate(feeds):
            got, _ = ours.run([loss, "train"], feed)
            want, _ = theirs.run([loss, "train"], feed)
            assert got == pytest.approx(want, rel=2e-5), f"step {k}"
        held(ours, theirs, names, 1e-5)


def held(ours: ds.Session, theirs: Any, names: dict[str, Any], tolerance: float) -> None:
    values = dict(ours.resources.items("variable"))
    assert set(values) == set(names)
    for name, variable in names.items():
        want = theirs.run(variable)
        np.testing.assert_allclose(
            values[name].read(), want, rtol=tolerance, atol=tolerance, err_msg=name
        )


CASES = list(itertools.product(OPTIMIZERS, (False, True)))


@pytest.mark.parametrize(("name", "resource"), CASES)
def test_optimizer(name: str, resource: bool) -> None:
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(5)
        v1.get_variable_scope().set_use_resource(resource)
        step = v1.train.get_or_create_global_step()
        loss = embedding(v1.random_uniform_initializer(-0.5, 0.5))
        made = OPTIMIZERS[name]().minimize(graph.get_tensor_by_name(loss), global_step=step)
        with tf.control_dependencies([made]):
            tf.no_op("train")
        tf.group(v1.global_variables_initializer(), name="init")
        compare(graph, batches(3), loss)


INITIALIZERS = {
    "truncated": lambda: v1.truncated_normal_initializer(stddev=0.3),
    "normal": lambda: v1.random_normal_initializer(stddev=0.3),
    "glorot_uniform": v1.glorot_uniform_initializer,
    "glorot_normal": v1.glorot_normal_initializer,
    "scaling": lambda: v1.variance_scaling_initializer(distribution="uniform"),
    "orthogonal": lambda: v1.orthogonal_initializer(gain=0.5),
}


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initial_values_from_a_seed(name: str) -> None:
    """Streams of random ops are TensorFlow's own, so initial values agree."""
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(11)
        v1.get_variable_scope().set_use_resource(True)
        loss = embedding(INITIALIZERS[name]())
        made = v1.train.AdamOptimizer(0.01).minimize(graph.get_tensor_by_name(loss))
        with tf.control_dependencies([made]):
            tf.no_op("train")
        tf.group(v1.global_variables_initializer(), name="init")
        compare(graph, batches(4), loss)
