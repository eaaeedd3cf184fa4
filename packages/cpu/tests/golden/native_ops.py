"""One op run by drystone-cpu's kernel through a session: what the tests hold against TensorFlow."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

import pytest
from one_op import OneOp

from drystone_base import plugins
from drystone_base.api.prepared import Prepared
from drystone_base.executor.selection import registered

__all__ = ["NoNativeKernel", "load", "native_ops", "needs_onednn", "run_native"]


class NoNativeKernel(BaseException):
    """No kernel of drystone-cpu fits the node. No `except Exception` catches it."""


@cache
def load() -> None:
    """Load the plugin: the one that `$DRYSTONE_CPU_PLUGIN` names, else the installed one."""
    built = os.environ.get("DRYSTONE_CPU_PLUGIN")
    if built:
        plugins.load_library(built, policy="allow_unverified")
    else:
        plugins.ensure_loaded()


def native_ops() -> set[str]:
    """Ops that drystone-cpu has a kernel for."""
    load()
    return {
        op for op, rows in registered().items() if any("drystone_cpu" in r.library for r in rows)
    }


def needs_onednn() -> pytest.MarkDecorator:
    """A mark for tests of what is left out of a plugin that is built without oneDNN."""
    return pytest.mark.skipif(
        "Conv2D" not in native_ops(), reason="drystone-cpu was built without oneDNN"
    )


def run_native(op: str, *inputs: Any, **attrs: Any) -> list[Any]:
    """Outputs of one op, as :func:`drystone_base.executor.testing.run_op` gives them.

    Raises ``NoNativeKernel`` when drystone-cpu has no kernel for these dtypes.
    """
    load()
    made = OneOp.of(op, inputs, attrs, "native")
    prepared = made.session._prepare(list(made.fetches), list(made.feeds), None)
    assert isinstance(prepared, Prepared)
    assert prepared.native is not None
    if not _is_native(prepared.native.describe()):
        raise NoNativeKernel(op)
    return made.run()


def _is_native(described: bytes) -> bool:
    instructions = json.loads(described)["blocks"][0]["instructions"]
    libraries = [i.get("library", "") for i in instructions if i["node"] == "node"]
    return any("drystone_cpu" in library for library in libraries)
