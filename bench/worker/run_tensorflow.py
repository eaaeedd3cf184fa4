"""TensorFlow: a session and a prepared call, its default optimizers and oneDNN.

With one thread everything runs in the calling thread, which is TensorFlow's fastest form.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.worker._form import Prepared, choose
from bench.worker._keras_step import prepare as keras_step

__all__ = ["prepare", "start"]


def start() -> None:
    """Import it."""
    import tensorflow  # noqa: F401


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """Load into a session and bind feeds and fetches."""
    import tensorflow as tf

    if "keras" in case["forms"]:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
        return keras_step(case, "tensorflow")
    v1 = tf.compat.v1
    form, file = choose(case, "graphdef", "savedmodel", "metagraph")
    settings = v1.ConfigProto(
        intra_op_parallelism_threads=threads,
        inter_op_parallelism_threads=-1 if threads == 1 else threads,
    )
    if case["precision"] == "bfloat16":
        rewriting = settings.graph_options.rewrite_options
        rewriting.auto_mixed_precision_onednn_bfloat16 = type(rewriting).ON
    with tf.Graph().as_default() as graph:
        session = v1.Session(graph=graph, config=settings)
        _load(v1, session, form, file)
    fetches = [*case["outputs"], *filter(None, [case["train_op"]])]
    call = session.make_callable(fetches, feed_list=list(case["inputs"]))
    reset = session.make_callable([case["init_op"]]) if case["init_op"] else None
    return call, reset


def _load(v1: Any, session: Any, form: str, file: str) -> None:
    if form == "graphdef":
        graph = v1.GraphDef()
        graph.ParseFromString(Path(file).read_bytes())
        v1.import_graph_def(graph, name="")
    elif form == "savedmodel":
        v1.saved_model.load(session, ["serve"], file)
    else:
        _restore(v1, session, Path(file))


def _restore(v1: Any, session: Any, folder: Path) -> None:
    """A MetaGraph and its checkpoint; shapes that an old writer noted wrongly are left out."""
    from tensorflow.core.protobuf.meta_graph_pb2 import MetaGraphDef

    found = MetaGraphDef.FromString(next(folder.glob("*.meta")).read_bytes())
    for node in found.graph_def.node:
        node.attr.pop("_output_shapes", None)
    checkpoint = str(next(folder.glob("*.index")).with_suffix(""))
    v1.train.import_meta_graph(found).restore(session, checkpoint)
