"""Checkpoints and SavedModels between TensorFlow and drystone, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import SavedModel
from drystone_base.api.model import load
from drystone_base.checkpoint import BundleReader, BundleWriter, merge, save
from drystone_base.core.dtypes import from_numpy
from drystone_base.core.tensor import string_array
from drystone_base.loaders import load_model

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)

RNG = np.random.default_rng(7)
LABELS = (
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128"),
)


def tensors() -> dict[str, np.ndarray[Any, Any]]:
    made = {n: (RNG.standard_normal((3, 4)) * 50).astype(np.float32).astype(n) for n in LABELS}
    made["bfloat16"] = RNG.standard_normal(5).astype(tf.bfloat16.as_numpy_dtype)
    made["empty"] = np.zeros((0, 7), np.float32)
    made["text"] = string_array([b"", b"\0\xff", b"y" * 1000, "ü".encode()], (2, 2))
    made["a/long/name/" * 40] = np.array(3)
    return made | {f"many/{k:05d}": np.full(3, k) for k in range(3000)}


def restored(prefix: Path, name: str, dtype: Any, slices: str = "") -> Any:
    return tf.raw_ops.RestoreV2(
        prefix=str(prefix), tensor_names=[name], shape_and_slices=[slices], dtypes=[dtype]
    )[0].numpy()


def test_tensorflow_restores_what_we_write(tmp_path: Path) -> None:
    made = tensors()
    save(tmp_path / "x", made)
    reader = tf.train.load_checkpoint(str(tmp_path / "x"))
    assert sorted(reader.get_variable_to_shape_map()) == sorted(made)
    for name, value in made.items():
        if name.startswith("many/") and not name.endswith("7"):
            continue
        found = restored(tmp_path / "x", name, tf.as_dtype(from_numpy(value.dtype).label))
        assert found.tolist() == value.tolist(), name


def test_we_read_what_tensorflow_saves(tmp_path: Path) -> None:
    made = tensors()
    names = list(made)
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "x"),
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(made[n]) for n in names],
    )
    reader = BundleReader(tmp_path / "x")
    assert reader.keys() == sorted(names)
    for name, value in made.items():
        assert reader.tensor(name).tolist() == value.tolist(), name


def test_tensorflow_restores_our_partitioned_and_merged_checkpoint(tmp_path: Path) -> None:
    whole = RNG.standard_normal((70, 300)).astype(np.float32)
    for k, (start, length) in enumerate([(0, 64), (64, 6)]):
        with BundleWriter(tmp_path / f"shard{k}") as writer:
            spec = ((start, length), (0, -1))
            writer.add_slice("w", whole.shape, spec, whole[start : start + length])
    merge([tmp_path / "shard0", tmp_path / "shard1"], tmp_path / "all")
    assert (restored(tmp_path / "all", "w", tf.float32) == whole).all()
    part = restored(tmp_path / "all", "w", tf.float32, "70 300 60,8:0,300")
    assert (part == whole[60:68]).all()


def test_we_read_a_sharded_saver_with_a_partitioned_variable(tmp_path: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        v1 = tf.compat.v1
        parts = v1.get_variable(
            "p",
            initializer=tf.random.normal([10, 3]),
            partitioner=v1.fixed_size_partitioner(3),
            use_resource=False,
        )
        saver = v1.train.Saver(sharded=True)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            prefix = saver.save(session, str(tmp_path / "model"), global_step=3)
            want = session.run(parts.as_tensor())
    assert (BundleReader(prefix).tensor("p") == want).all()
    loaded = load_model(tmp_path)
    assert loaded.checkpoint == tmp_path / "model-3"
    # The graph's own restore nodes read the slices here.
    assert (load(tmp_path).run("p/part_1/read:0") == want[4:7]).all()


class Words(tf.Module):  # type: ignore[misc]
    """A module with variables in a nested object, an asset and a table."""

    def __init__(self, vocabulary: Path) -> None:
        super().__init__()
        init = tf.lookup.TextFileInitializer(
            str(vocabulary), tf.string, 0, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
        )
        self.table = tf.lookup.StaticHashTable(init, -1)
        self.inner = tf.Module()
        self.inner.w = tf.Variable(RNG.standard_normal((4, 2)).astype(np.float32), name="kernel")
        self.b = tf.Variable(np.float32([0.5, -0.5]), name="kernel")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])  # type: ignore[untyped-decorator]
    def __call__(self, words: Any) -> Any:
        return tf.gather(self.inner.w, self.table.lookup(words)) + self.b


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    folder = tmp_path_factory.mktemp("words")
    (folder / "words.txt").write_text("zero\none\ntwo\nthree\n")
    module = Words(folder / "words.txt")
    tf.saved_model.save(module, str(folder / "model"))
    (folder / "words.txt").unlink()
    return folder / "model", module(tf.constant(["two", "zero"])).numpy()


def test_a_saved_model_with_table_and_asset(words: tuple[Path, Any]) -> None:
    path, want = words
    out = load(path)(words=np.array([b"two", b"zero"], object))
    assert [v.tolist() for v in out.values()] == [want.tolist()]


def test_the_same_restored_by_object_graph(words: tuple[Path, Any], tmp_path: Path) -> None:
    """Without saver: two variables of one name are told apart by the object graph."""
    import shutil

    path, want = words
    shutil.copytree(path, tmp_path / "m")
    proto = SavedModel.FromString((path / "saved_model.pb").read_bytes())
    proto.meta_graphs[0].ClearField("saver_def")
    (tmp_path / "m" / "saved_model.pb").write_bytes(proto.SerializeToString())
    assert len(load_model(tmp_path / "m").variables) == 2
    out = load(tmp_path / "m")(words=np.array([b"two", b"zero"], object))
    assert [v.tolist() for v in out.values()] == [want.tolist()]
