"""Grappler on one graph, for a process of its own: what else is loaded there cannot disturb it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

__all__ = ["grappler"]

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def grappler(
    graph: bytes, fetches: Sequence[str], feeds: Sequence[str], repeats: int
) -> tuple[bytes, float]:
    """The GraphDef that Grappler makes of one, at TensorFlow's defaults, and the least seconds.

    Only the deadline, five minutes of a clock, is off: on a busy machine it would end the work.
    """
    import tensorflow as tf
    from tensorflow.core.protobuf import config_pb2, meta_graph_pb2
    from tensorflow.python.grappler import tf_optimizer

    meta = meta_graph_pb2.MetaGraphDef()
    meta.graph_def.ParseFromString(graph)
    functions = meta.graph_def.library.function
    for node in (*meta.graph_def.node, *(n for f in functions for n in f.node_def)):
        node.device = DEVICE  # a session places nodes before it optimizes
    signature = meta.signature_def["serving_default"]
    for group, names in ((signature.inputs, feeds), (signature.outputs, fetches)):
        for k, name in enumerate(names):
            group[str(k)].name = name
            group[str(k)].dtype = tf.float32.as_datatype_enum
    nodes = meta.collection_def["train_op"].node_list.value
    nodes.extend(sorted({name.partition(":")[0] for name in fetches}))
    best, found = math.inf, b""
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.meta_optimizer_timeout_ms = -1
    for _ in range(repeats):
        begin = time.process_time()
        after = tf_optimizer.OptimizeGraph(config, meta, verbose=False)
        best = min(best, time.process_time() - begin)
        found = after.SerializeToString()
    return found, best
