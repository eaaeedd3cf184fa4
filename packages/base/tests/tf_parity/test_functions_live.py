"""What functions compute, their gradients, and what is saved of them, beside TensorFlow's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.autodiff import gradients
from drystone_base.autodiff._slices import dense as whole
from drystone_base.graph import Builder, Graph
from drystone_base.tracing import operations as ops

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)
RNG = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    return RNG.uniform(0.2, 1, shape).astype(np.float32)


def test_a_saved_function_runs_in_tensorflow(tmp_path: Path) -> None:
    w = ds.Variable(floats(3, 2), "w")

    @ds.function(signature=[ds.Spec([None, 3])])
    def predict(x: Any) -> Any:
        y = ds.cond(x.sum() > 1, lambda: x @ w, lambda: -(x @ w))
        _, y = ds.while_loop(lambda k, _: k < 3, lambda k, v: (k + 1, v * 1.5), (0, y))
        return {"scores": ops.softmax(y), "rows": x.sum(1)}

    ds.save(predict, tmp_path / "model")
    theirs = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    for x in (floats(4, 3), -floats(2, 3)):
        found, ours = theirs(x=tf.constant(x)), predict(x)
        for name, value in ours.items():
            np.testing.assert_allclose(found[name].numpy(), value, rtol=1e-5)


def test_tensorflow_calls_saved_functions_and_trains_their_variables(tmp_path: Path) -> None:
    with ds.VariableStore():
        w, count = ds.Variable(floats(3, 2), "dense/w"), ds.Variable(0, "count", trainable=False)

    @ds.function(signature=[ds.Spec([None, 3])])
    def predict(x: Any, training: bool = False, *, scale: float = 2.0) -> Any:
        count.assign_add(1)
        y = ds.cond(x.sum() > 1, lambda: x @ w, lambda: -(x @ w))
        return {"scores": ops.softmax(y), "parts": [y.sum() * scale, None]}

    ds.save(predict, tmp_path / "model")
    theirs = tf.saved_model.load(str(tmp_path / "model"))
    x = floats(4, 3)
    ours = predict(x)
    for call in (theirs.predict, theirs, lambda x: theirs.predict(x, False, scale=2.0)):
        found = call(tf.constant(x))
        np.testing.assert_allclose(found["scores"].numpy(), ours["scores"], rtol=1e-5)
        assert found["parts"][1] is None
    assert [v.name for v in theirs.non_trainable_variables] == ["count:0"]
    assert len(theirs.variables) == 2
    assert theirs.non_trainable_variables[0].numpy() == 3
    with tf.GradientTape() as tape:
        total = theirs.predict(tf.constant(x))["parts"][0]
    (slope,) = tape.gradient(total, theirs.trainable_variables)
    np.testing.assert_allclose(slope.numpy(), 2 * np.tile(x.sum(0)[:, None], (1, 2)), rtol=1e-5)
    theirs.trainable_variables[0].assign(np.zeros((3, 2), np.float32))
    served = theirs.signatures["serving_default"](x=tf.constant(x))["scores"]
    np.testing.assert_allclose(served.numpy(), np.full((4, 2), 0.5))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:  # as TF Serving loads it
        meta = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        signature = meta.signature_def["serving_default"]
        name, given = signature.outputs["scores"].name, signature.inputs["x"].name
        np.testing.assert_allclose(session.run(name, {given: x}), ours["scores"], rtol=1e-5)
    tf.saved_model.save(theirs, str(tmp_path / "again"), signatures=theirs.signatures)
    assert ds.load(tmp_path / "again").predict(x)["scores"].tolist() == [[0.5, 0.5]] * 4


def test_tensorflow_finds_tables_assets_and_large_constants_of_functions(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("zero\none\n")
    numbers = np.arange(2000, dtype=np.float32)

    @ds.function(signature=[ds.Spec([None], "string")])
    def look_up(words: Any) -> Any:
        table = ops.hash_table_v2(key_dtype="string", value_dtype="int64")
        path = ops.identity(np.array(b"words.txt", object), name="path")
        ops.initialize_table_from_text_file_v2(
            table, path, key_index=-2, value_index=-1, name="fill"
        )
        return ops.gather(numbers, ops.lookup_table_find_v2(table, words, np.int64(7)))

    assets = {"path:0": tmp_path / "words.txt"}
    ds.save(look_up, tmp_path / "model", assets=assets, init=["fill"])
    (tmp_path / "words.txt").unlink()
    theirs = tf.saved_model.load(str(tmp_path / "model"))
    words = tf.constant(["one", "two"])
    assert theirs.look_up(words).numpy().tolist() == [1, 7]
    (served,) = theirs.signatures["serving_default"](words=words).values()
    assert served.numpy().tolist() == [1, 7]


def test_a_saved_gradient_runs_in_tensorflow(tmp_path: Path) -> None:
    @ds.function(signature=[ds.Spec([3], "float64"), ds.Spec([], "int32")])
    def slope(x: Any, n: Any) -> Any:
        _, y = ds.while_loop(
            lambda k, _: k < n,
            lambda k, v: (k + 1, ds.cond(v.sum() > 0, lambda: ops.sin(v * x), lambda: v - x)),
            (0, x),
        )
        return ds.gradients(y, [x])[0]

    ds.save(slope, tmp_path / "model")
    theirs = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    x = np.array([0.3, -0.2, 0.8])
    for n in (0, 1, 4):
        (found,) = theirs(x=tf.constant(x), n=tf.constant(n)).values()
        np.testing.assert_allclose(found.numpy(), slope(x, np.int32(n)), rtol=1e-9)


def dense(x: Any, w: Any) -> Any:
    hidden = tf.nn.relu(x @ w)
    return tf.reduce_mean(tf.nn.softmax(hidden) ** 2)


def layers(x: Any, w: Any) -> Any:
    images = tf.reshape(x, [2, 4, 4, 1])
    filters = tf.reshape(w, [2, 2, 1, 2])
    y = tf.nn.elu(tf.nn.conv2d(images, filters, 1, "SAME"))
    y = tf.nn.depthwise_conv2d(y, tf.reshape(w, [1, 2, 2, 2]), [1, 1, 1, 1], "VALID")
    y = tf.nn.max_pool2d(y, 2, 2, "SAME")
    return tf.reduce_sum(tf.nn.avg_pool2d(y, 2, 1, "SAME") * tf.sin(y))


def gathers(x: Any, w: Any) -> Any:
    rows = tf.gather(x, [1, 0, 1])
    columns = tf.gather(w, [0, 1, 1], axis=-1)
    ids = tf.constant([0, 2, 0])
    return tf.reduce_sum(tf.math.unsorted_segment_sum(rows, ids, 3)) * tf.reduce_prod(columns[:2])


def scans(x: Any, w: Any) -> Any:
    y = tf.cumsum(x, axis=1) * tf.reverse(x, [0])
    y = tf.pad(y, [[0, 1], [1, 0]])[..., 1:, tf.newaxis]
    return tf.reduce_max(y) + tf.reduce_sum(tf.tile(w, [2, 1])) + tf.norm(tf.transpose(w))


def special(x: Any, w: Any) -> Any:
    y = tf.math.erf(x) + tf.math.lgamma(x) + tf.math.xlogy(x, x) + tf.math.atan2(x, x + 1)
    return tf.reduce_sum(tf.where(y > 0.5, y, x) * tf.clip_by_value(x, 0.3, 0.8)) + tf.einsum(
        "ij,ij->", w, w
    )


def systems(x: Any, w: Any) -> Any:
    a, right = tf.reshape(x, [2, 4, 4]) + 4 * tf.eye(4), tf.reshape(w, [2, 4, 4])
    bands = a[:, :3] + tf.constant([[0.0], [5.0], [0.0]])
    found = [
        tf.linalg.tridiagonal_solve(bands, right, diagonals_format="compact"),
        tf.linalg.tridiagonal_matmul(bands, right, diagonals_format="compact"),
        tf.linalg.banded_triangular_solve(bands[:, 1:], right),
        tf.linalg.lstsq(a[:, :, :3], right),
        tf.linalg.lstsq(a[:, :3], right[:, :3], l2_regularizer=0.5),
        tf.linalg.sqrtm(a),
    ]
    colors = tf.image.rgb_to_hsv(tf.reshape(tf.reshape(x, [-1])[:30], [5, 2, 3]))
    return tf.add_n([tf.reduce_sum(y**2) for y in found]) + tf.reduce_sum(colors**2)


def uneven(x: Any, w: Any) -> Any:
    rows = tf.RaggedTensor.from_row_splits(w, [0, 3, 3, 16], validate=False)
    whole, taken = rows.to_tensor(default_value=0.5), tf.gather(rows, [2, 0, 2])
    return tf.reduce_sum(whole**2) + tf.reduce_sum(taken.flat_values**2) + tf.reduce_sum(x)


@pytest.mark.parametrize("compute", [dense, layers, gathers, scans, special, systems, uneven])
def test_gradients_of_tensorflows_graphs(compute: Any) -> None:
    """A graph that TensorFlow made, with TensorFlow's gradients in it: ours beside them."""
    shapes = {"x": [2, 16], "w": [16, 2]}
    if compute is layers:
        shapes["w"] = [4, 2]
    with tf.Graph().as_default() as theirs:
        given = [tf.compat.v1.placeholder(tf.float32, s, n) for n, s in shapes.items()]
        y = compute(*given)
        slopes = [tf.convert_to_tensor(g) for g in tf.gradients(y, given)]
        definition = theirs.as_graph_def().SerializeToString()
    graph = Graph.from_bytes(definition)
    found = gradients(graph.output(y.name), [graph.output(t.name) for t in given])
    feeds = {f"{name}:0": floats(*shape) for name, shape in shapes.items()}
    b = Builder(graph)
    names = [f"{node.name}:{k}" for node, k in (whole(b, g) for g in found)]
    session = ds.Session(graph)
    ours, expected = session.run(names, feeds), session.run([t.name for t in slopes], feeds)
    with tf.compat.v1.Session(graph=theirs) as run:
        recorded = run.run(slopes, {t: feeds[t.name] for t in given})
    for a, b_, c in zip(ours, expected, recorded, strict=True):
        np.testing.assert_allclose(a, c, rtol=2e-4, atol=1e-5)
        np.testing.assert_allclose(b_, c, rtol=2e-4, atol=1e-5)
