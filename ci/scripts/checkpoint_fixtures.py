"""Write the small checkpoints under packages/base/tests/unit/data/checkpoints with TensorFlow.

Run it with a Python that has TensorFlow 2.21. `plain` holds one tensor of each dtype, `sharded` a
partitioned variable over two shards; `v1` has a checkpoint of the older form and a sharded one with
its MetaGraph. `loaders/test_checkpoint.py` and `loaders/test_v1.py` expect these values.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 (gives NumPy the names of its dtypes)
import numpy as np
import tensorflow as tf

TARGET = Path(__file__).parents[2] / "packages/base/tests/unit/data/checkpoints"
DTYPES = [
    *("float16", "float32", "float64", "bfloat16", "float8_e5m2", "float8_e4m3fn"),
    *("int4", "int8", "int16", "int32", "int64"),
    *("uint4", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
]
V1_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "complex64", "complex128")


def plain() -> None:
    """One tensor of each dtype, strings, an empty tensor, a scalar."""
    values = {n: tf.constant(np.arange(6).reshape(2, 3).astype(np.dtype(n))) for n in DTYPES}
    values["bool"] = tf.constant([True, False])
    values["empty"] = tf.zeros([0, 4])
    values["scalar"] = tf.constant(2.5)
    values["string"] = tf.constant([b"", b"a", b"\xff\x00", b"x" * 300])
    values["string_scalar"] = tf.constant(b"one")
    values["qint8"] = tf.bitcast(tf.constant([-1, 7], tf.int8), tf.qint8)
    names = sorted(values)
    tf.raw_ops.SaveV2(
        prefix=str(TARGET / "plain"),
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[values[n] for n in names],
    )


def sharded() -> None:
    """A 5 x 4 variable in three parts over two shards, merged as a sharded saver does."""
    whole = np.arange(20, dtype=np.float32).reshape(5, 4)
    parts = {"a": ["5 4 0,2:-", "5 4 2,1:0,4"], "b": ["5 4 3,2:-"]}
    rows = {"5 4 0,2:-": whole[:2], "5 4 2,1:0,4": whole[2:3], "5 4 3,2:-": whole[3:]}
    for shard, slices in parts.items():
        tf.raw_ops.SaveV2(
            prefix=str(TARGET / shard),
            tensor_names=["part/w"] * len(slices) + [f"only_{shard}"],
            shape_and_slices=[*slices, ""],
            tensors=[rows[s] for s in slices] + [tf.constant([ord(shard)])],
        )
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(TARGET / s) for s in parts],
        destination_prefix=str(TARGET / "sharded"),
    )


def first_form() -> None:
    """V1 checkpoints: most dtypes, a partitioned variable; two shards with their MetaGraph."""
    v1, folder = tf.compat.v1, TARGET / "v1"
    with tf.Graph().as_default(), v1.Session() as session:
        dtypes = [*DTYPES[:3], *V1_INTEGERS]
        values: dict[str, Any] = {n: np.arange(6).reshape(2, 3).astype(n) for n in dtypes}
        values |= {"bool": [True, False], "string": [b"one", b""], "scalar": np.float32(2.5)}
        values["empty"] = np.zeros([0, 3], np.float32)
        for name, value in values.items():
            v1.get_variable(name, initializer=tf.constant(value), use_resource=False)
        v1.get_variable(
            "parted",
            initializer=tf.reshape(tf.range(8.0), (4, 2)),
            partitioner=v1.fixed_size_partitioner(2),
            use_resource=False,
        )
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(write_version=v1.train.SaverDef.V1)
        saver.save(session, str(folder / "plain"), write_meta_graph=False, write_state=False)
    config = v1.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), v1.Session(config=config) as session:
        for k, start in enumerate(([1.0, 2.0], [3, 4])):
            with tf.device(f"/cpu:{k}"):
                v1.get_variable(f"w{k}", initializer=tf.constant(start), use_resource=False)
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(write_version=v1.train.SaverDef.V1, sharded=True)
        saver.save(session, str(folder / "sharded"), write_state=False)


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in TARGET.glob("*.*-*"):
        old.unlink()
    plain()
    sharded()
    (TARGET / "v1").mkdir(exist_ok=True)
    first_form()
    sys.stdout.write(
        "\n".join(f"{p.stat().st_size:6} {p.name}" for p in sorted(TARGET.rglob("*"))) + "\n"
    )
