"""Run in a process of its own: a kernel library in one of two hosts, which cannot share a process.

``python kernel_hosts.py HOST LIBRARY GRAPH FETCH`` (HOST: ``tensorflow`` or ``drystone``) loads the
library, runs the GraphDef in the file GRAPH and prints the value of FETCH.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def in_tensorflow(library: str, proto: bytes, fetch: str) -> Any:
    """The value in TensorFlow."""
    import tensorflow as tf
    from tensorflow.python.framework import load_library

    framework = Path(tf.__file__).parent / "libtensorflow_framework.so.2"
    ctypes.CDLL(str(framework), mode=ctypes.RTLD_GLOBAL)
    load_library.load_pluggable_device_library(library)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(tf.compat.v1.GraphDef.FromString(proto), name="")
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run(fetch)


def in_drystone(library: str, proto: bytes, fetch: str) -> Any:
    """The value here."""
    import drystone_base as base
    from drystone_base.graph import Graph
    from drystone_base.host.library import open_library
    from drystone_base.inference.plugin_ops import sync

    open_library(library).initialise("TF_InitKernel")
    sync()
    return base.Session(Graph.from_bytes(proto)).run(fetch)


HOSTS: dict[str, Callable[[str, bytes, str], Any]] = {
    "tensorflow": in_tensorflow,
    "drystone": in_drystone,
}

if __name__ == "__main__":
    host, library_file, graph_file, fetched = sys.argv[1:]
    print(HOSTS[host](library_file, Path(graph_file).read_bytes(), fetched))
