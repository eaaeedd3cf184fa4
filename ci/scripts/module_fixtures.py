"""Write a model of `tf.Module` objects, and what its functions give, with TensorFlow.

Run it with a Python that has TensorFlow 2.21. packages/base/tests/unit/data/modules then has the
SavedModels (`everything`, `stateful`, `bare`) in one archive, and for the first two a file of calls
in a row, with what TensorFlow's own loader gave or that it refused. `test_restored.py` does the
same calls. In the file, {"array": ...} is an array, {"tuple": ...}, {"named": ...}, {"ragged": ...}
and {"sparse": ...} (lists of arrays) are what they say; anything else is itself.
"""

# What the methods of the modules do is what their functions are for: they have no docstrings.
# ruff: noqa: D102
# mypy: disable-error-code="untyped-decorator,misc"

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

TARGET = Path(__file__).parents[2] / "packages/base/tests/unit/data/modules"
FLOAT, INT = tf.float32, tf.int64
Pair = namedtuple("Pair", ["first", "second"])  # noqa: PYI024
KEYS = tf.lookup.KeyValueTensorInitializer(["x", "y"], [1, 2])


def spec(*shape: int | None, dtype: Any = FLOAT, name: str | None = None) -> Any:
    """A tensor of an input signature."""
    return tf.TensorSpec(shape, dtype, name=name)


class Scale(tf.Module):
    """Multiplies by a variable."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = tf.Variable(by, name="by")

    @tf.function(input_signature=[spec(None)])
    def apply(self, x: Any) -> Any:
        return x * self.by


class Everything(tf.Module):
    """Functions of every kind, with all that they may capture."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable([1.0, 2.0, 3.0], name="w")
        self.count = tf.Variable(0, dtype=INT, name="count")
        self.inner = Scale(2.0)
        self.parts = [Scale(3.0), Scale(4.0)]
        self.named = {"a": Scale(5.0)}
        self.shift = tf.constant([10.0, 20.0, 30.0])
        self.table = tf.lookup.StaticHashTable(KEYS, -1)

    @tf.function
    def f(self, x: Any, training: bool = False, factor: float = 2.0) -> Any:
        y = x * self.w * factor
        if training:
            y = -y
        return {"y": y, "pair": (tf.reduce_sum(y), tf.shape(y)), "none": None, "list": [y + 1]}

    @tf.function
    def bump(self, by: Any) -> Any:
        return self.count.assign_add(by)

    @tf.function(input_signature=[])
    def reset(self) -> None:
        self.count.assign(0)

    @tf.function
    def shifted(self, x: Any) -> Any:
        return x + self.shift

    @tf.function
    def look(self, words: Any) -> Any:
        return self.table.lookup(words)

    @tf.function
    def nest(self, values: Any, *, mode: str = "sum") -> Any:
        if mode == "sum":
            return values["a"] + values["b"][0]
        return Pair(values["a"], values["b"][0])

    @tf.function(input_signature=[spec(None, 2, name="first"), spec(dtype=tf.int32)])
    def fixed(self, z: Any, a: Any) -> Any:
        return z + tf.cast(a, FLOAT), z - tf.cast(a, FLOAT)

    @tf.function
    def either(self, x: Any, flag: Any = True) -> Any:
        return x if flag is True else x + tf.cast(flag, FLOAT)

    @tf.function
    def sparse(self, s: Any) -> Any:
        return tf.sparse.to_dense(s), s * 2.0

    @tf.function
    def ragged(self, r: Any) -> Any:
        return r.row_lengths(), r * 2.0

    @tf.function
    def many(self, *xs: Any, **named: Any) -> Any:
        return tf.add_n(list(xs)) + named["extra"]

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def served(self, words: Any) -> Any:
        return {"number": self.table.lookup(words)}


class Stateful(tf.Module):
    """Variables without names of their own, beside state of other kinds that a saver restores."""

    def __init__(self, vocabulary: Path) -> None:
        super().__init__()
        lines = tf.lookup.TextFileIndex
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, INT, -1)
        self.table.insert(["k"], [7])
        self.generator = tf.random.Generator.from_seed(5)
        self.file = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                str(vocabulary), tf.string, lines.WHOLE_LINE, INT, lines.LINE_NUMBER
            ),
            2,
        )
        self.text = tf.Variable("hello")
        self.grown = tf.Variable([[1.0]], shape=tf.TensorShape(None))
        self.nested = [tf.Variable(1.0), {"k": tf.Variable(2.0)}]

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def look(self, x: Any) -> Any:
        return self.table.lookup(x)

    @tf.function(input_signature=[spec(None, dtype=tf.string), spec(None, dtype=INT)])
    def put(self, k: Any, v: Any) -> Any:
        self.table.insert(k, v)
        return self.table.size()

    @tf.function(input_signature=[])
    def draw(self) -> Any:
        return self.generator.uniform([3], maxval=100, dtype=tf.int32)

    @tf.function(input_signature=[spec(None, dtype=tf.string)])
    def words(self, x: Any) -> Any:
        return self.file.lookup(x)

    @tf.function(input_signature=[])
    def say(self) -> Any:
        return tf.strings.join([self.text, " world"])

    @tf.function(input_signature=[spec(None, None)])
    def grow(self, x: Any) -> Any:
        self.grown.assign(tf.concat([self.grown, x], 0))
        return self.grown.read_value()

    @tf.function(input_signature=[spec()])
    def add(self, x: Any) -> Any:
        return x + self.nested[0] + 10.0 * self.nested[1]["k"]


def stateful_calls() -> list[tuple[str, list[Any], dict[str, Any]]]:
    """The same of `Stateful`."""
    return [
        ("look", [["k", "z"]], {}), ("put", [["z"], [3]], {}), ("look", [["k", "z"]], {}),
        ("draw", [], {}), ("draw", [], {}), ("words", [["one", "two", "x"]], {}), ("say", [], {}),
        ("grow", [f32([2], [3])], {}), ("grow", [f32([4])], {}), ("add", [1.0], {}),
    ]  # fmt: skip


class Bare(tf.Module):
    """A model without signatures; the first of its variables is an asset's."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.v = tf.Variable(7.0)
        self.file = tf.saved_model.Asset(str(file))

    @tf.function(input_signature=[spec()])
    def __call__(self, x: Any) -> Any:
        return x + self.v

    @tf.function(input_signature=[])
    def read(self) -> Any:
        return tf.io.read_file(self.file)


def traced() -> Everything:
    """The module, its functions traced."""
    made = Everything()
    values = {"a": spec(2), "b": [spec(2)]}
    traces: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (made.f, (spec(None, 3),), {"training": False}),
        (made.f, (spec(None, 3),), {"training": True}),
        (made.f, (spec(None, 3), True, 3.0), {}),
        (made.f, (spec(3),), {}),
        (made.bump, (spec(dtype=INT),), {}),
        (made.shifted, (spec(3),), {}),
        (made.look, (spec(None, dtype=tf.string),), {}),
        (made.nest, (values,), {}),
        (made.nest, (values,), {"mode": "pair"}),
        (made.either, (spec(), spec()), {}),
        (made.either, (spec(), True), {}),
        (made.sparse, (tf.SparseTensorSpec([None, 3], FLOAT),), {}),
        (made.ragged, (tf.RaggedTensorSpec([None, None], FLOAT),), {}),
        (made.many, (spec(2), spec(2)), {"extra": spec()}),
    ]
    for function, args, kwargs in traces:
        function.get_concrete_function(*args, **kwargs)
    made.only = made.fixed.get_concrete_function()
    return made


def f32(*values: Any) -> Any:
    """An array."""
    return np.array(values, np.float32)


def calls() -> list[tuple[str, list[Any], dict[str, Any]]]:
    """Paths and arguments, in the order in which they are called."""
    ones, two = f32([1, 1, 1]), f32([1, 1, 1], [2, 2, 2])
    nested = {"a": f32(1, 2), "b": [f32(3, 4)]}
    ragged = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [2, 0, 1])
    sparse = tf.SparseTensor([[0, 1], [1, 2]], [5.0, 6.0], [2, 3])
    return [
        ("f", [two], {}), ("f", [two, True], {}), ("f", [two], {"training": True, "factor": 3.0}),
        ("f", [], {"x": f32(1, 1, 1)}), ("f", [[[1.0, 1.0, 1.0]]], {}), ("f", [ones, 0], {}),
        ("f", [two], {"factor": 5.0}), ("f", [np.array([1, 2, 3])], {}), ("f", [], {}),
        ("f", [two], {"nothing": 1}), ("f", [two, True, 3.0, 4], {}), ("f", [f32(1, 2)], {}),
        ("bump", [np.int64(3)], {}), ("bump", [2], {}), ("reset", [], {}), ("bump", [1], {}),
        ("bump", [2.5], {}), ("bump", [True], {}), ("bump", [None], {}),
        ("shifted", [f32(1, 2, 3)], {}), ("look", [["x", "q"]], {}),
        ("nest", [nested], {}), ("nest", [nested], {"mode": "pair"}), ("nest", [nested, "sum"], {}),
        ("nest", [{"a": f32(1, 2)}], {}), ("nest", [{**nested, "c": 1}], {}),
        ("fixed", [f32([1, 2]), 3], {}), ("fixed", [], {"a": 3, "z": f32([1, 2])}),
        ("either", [f32(1)[0]], {}), ("either", [f32(1)[0], True], {}),
        ("either", [f32(1)[0], f32(2)[0]], {}), ("either", [1.5, True], {}),
        ("either", [1.5, 2], {}), ("sparse", [sparse], {}), ("ragged", [ragged], {}),
        ("many", [f32(1, 2), f32(3, 4)], {"extra": 5.0}), ("many", [f32(1, 2)], {"extra": 5.0}),
        ("inner.apply", [f32(1, 2)], {}), ("parts.1.apply", [[1.0]], {}),
        ("named.a.apply", [f32(1)], {}), ("served", [["y"]], {}),
        ("only", [], {"first": f32([1, 2]), "a": np.int32(3)}),
    ]  # fmt: skip


def encode(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, tf.RaggedTensor):
        return {"ragged": [encode(value.values), encode(value.row_splits)]}
    if isinstance(value, tf.SparseTensor):
        return {"sparse": [encode(v) for v in (value.indices, value.values, value.dense_shape)]}
    if isinstance(value, tf.Tensor | np.ndarray | np.generic):
        array = np.asarray(value)
        strings = array.dtype == object
        listed = np.vectorize(bytes.decode, otypes="O")(array) if strings else array
        dtype = "string" if strings else array.dtype.name
        return {"array": listed.tolist(), "dtype": dtype, "shape": list(array.shape)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": {k: encode(v) for k, v in zip(value._fields, value, strict=True)}}
    if isinstance(value, dict):
        return {"dict": {k: encode(v) for k, v in value.items()}}
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    return [encode(v) for v in value] if isinstance(value, list) else value


def at(root: Any, path: str) -> Callable[..., Any]:
    """What a path leads to."""
    for name in path.split("."):
        if isinstance(root, dict):
            root = root[name]
        else:
            root = root[int(name)] if name.isdecimal() else getattr(root, name)
    found: Callable[..., Any] = root
    return found


def tensors(value: Any) -> Any:
    """Arrays as tensors, which TensorFlow tells from Python values."""
    return tf.nest.map_structure(
        lambda v: tf.constant(v) if isinstance(v, np.ndarray | np.generic) else v, value
    )


def recorded(
    model: Any, asked: list[tuple[str, list[Any], dict[str, Any]]]
) -> list[dict[str, Any]]:
    """The calls, with what they give."""
    rows = []
    for path, args, kwargs in asked:
        row: dict[str, Any] = {"path": path, "args": [encode(a) for a in args]}
        row["kwargs"] = {k: encode(v) for k, v in kwargs.items()}
        try:
            row["gives"] = encode(at(model, path)(*tensors(args), **tensors(kwargs)))
        except (ValueError, TypeError):
            row["refused"] = True
        rows.append(row)
    return rows


def main() -> None:
    """Write both models and the calls."""
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        words, models = Path(scratch, "words.txt"), Path(scratch, "models")
        words.write_text("one\ntwo\n")
        made = traced()
        tf.saved_model.save(made, str(models / "everything"), {"serving_default": made.served})
        tf.saved_model.save(Bare(words), str(models / "bare"))
        tf.saved_model.save(Stateful(words), str(models / "stateful"))
        for name, asked in (("everything", calls()), ("stateful", stateful_calls())):
            rows = recorded(tf.saved_model.load(str(models / name)), asked)
            text = ",\n".join(json.dumps(row) for row in rows)
            (TARGET / f"{name}.json").write_text(f"[\n{text}\n]\n")
        shutil.make_archive(str(TARGET / "models"), "zip", models)
    for path in sorted(TARGET.iterdir()):
        sys.stdout.write(f"{path.stat().st_size:6} {path.name}\n")


if __name__ == "__main__":
    main()
