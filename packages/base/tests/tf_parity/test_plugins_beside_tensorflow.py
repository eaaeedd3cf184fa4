"""A plugin in a process with TensorFlow: bound to drystone's host, with TensorFlow unharmed.

Imported the other way round, after the host has taken TensorFlow's library names, TensorFlow is
refused with an error that says what to do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_files import VARIANTS, Compile

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

LOAD = """
import json, sys
from drystone_base.plugins import load_library
plugin = load_library(sys.argv[1], policy="allow_unverified")
ops = plugin.registered["ops"]
"""


def run(program: str, *arguments: object) -> Any:
    settings = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | settings | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module", params=["bare", "needs TensorFlow"])
def library(request: pytest.FixtureRequest, compile_library: Compile) -> Path:
    """A plugin linked with nothing, and one that needs a library of TensorFlow by name."""
    if request.param == "bare":
        return compile_library(VARIANTS, flags=['-DOP="BesideBare"'])
    name = "libtensorflow_framework.so.2"
    empty = compile_library("loader_empty.c", flags=[f"-Wl,-soname,{name}"])
    return compile_library(VARIANTS, flags=['-DOP="BesideNeeds"', "-Wl,--no-as-needed", str(empty)])


def test_tensorflow_first(library: Path) -> None:
    """The op is registered with drystone, not with TensorFlow, which still works."""
    program = (
        "import tensorflow as tf\n"
        + LOAD
        + "from tensorflow.python.framework import op_def_registry\n"
        "theirs = op_def_registry.get(ops[0])\n"
        "product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).numpy().tolist()\n"
        "print(json.dumps([ops, theirs is None, product]))\n"
    )
    ops, unknown_to_them, product = run(program, library)
    assert ops in (["BesideBare"], ["BesideNeeds"])
    assert unknown_to_them
    assert product == [[2.0, 2.0], [2.0, 2.0]]


def test_the_plugin_first(library: Path) -> None:
    """TensorFlow works after a bare plugin, and is refused after one that needs its names."""
    program = (
        LOAD + "try:\n"
        "    import tensorflow as tf\n"
        "    product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2])).numpy().tolist()\n"
        "    print(json.dumps(product))\n"
        "except ImportError as error:\n"
        "    print(json.dumps([error.code, error.found, error.remedy]))\n"
    )
    answer = run(program, library)
    if answer == [[2.0, 2.0], [2.0, 2.0]]:
        assert b"libtensorflow_framework" not in library.read_bytes()
        return
    code, found, remedy = answer
    assert code == "tensorflow-after-plugin"
    assert "drystone's host answers to libtensorflow_framework.so.2 in this process" in found
    assert remedy.startswith("import tensorflow before drystone loads plugins")


def test_a_plugin_that_tensorflow_has_opened(compile_library: Compile) -> None:
    """Its functions lead to TensorFlow; calling them would register with TensorFlow."""
    program = (
        "import ctypes, sys\n"
        "import tensorflow as tf\n"
        "ctypes.CDLL(sys.argv[1])\n"
        + LOAD.replace("plugin = ", "try:\n  plugin = ").replace("ops = plugin", "  ops = plugin")
        + "except Exception as error:\n  print(json.dumps([error.code, error.found]))\n"
    )
    file = compile_library(VARIANTS, flags=['-DOP="OpenedByTensorFlow"'])
    code, found = run(program, file)
    assert code == "plugin-bound-elsewhere"
    assert "bound to" in found
    assert "tensorflow" in found
