"""Arrays described to ``DS_RunKernelOnArrays`` by words that describe no tensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError
from drystone_base.executor.plugin_kernels import PluginKernel
from drystone_base.graph import Graph
from drystone_base.host import available, tensors
from drystone_base.host.library import open_library
from drystone_base.inference.plugin_ops import sync

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)


SHAPE = "no tensor has that dtype and those dimensions"
SIZE = "the memory is too small for dtype and dimensions"


@pytest.mark.parametrize(
    ("word", "value", "found"),
    [(0, 99, SHAPE), (1, -1, SHAPE), (1, 1 << 20, SHAPE), (3, 7, SIZE)],
)
def test_words_that_describe_no_tensor_are_refused(
    word: int,
    value: int,
    found: str,
    compile_library: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dtype, rank and bytes; what is not taken stays the caller's."""
    open_library(compile_library("session_kernels.c", flags=["-pthread"])).initialise(
        "TF_InitKernel"
    )
    sync()
    whole = PluginKernel._describe
    given: list[int] = []

    def described(kernel: PluginKernel, values: Any) -> list[int]:
        given[:] = whole(kernel, values)
        changed = list(given)
        changed[word] = value
        return changed

    monkeypatch.setattr(PluginKernel, "_describe", described)
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("TestScale", "y", [x])
    before = tensors.held()
    with pytest.raises(KernelError) as caught:
        Session(graph, SessionConfig(executor="reference")).run("y:0", {"x:0": np.ones(2, "f")})
    assert caught.value.status == "INVALID_ARGUMENT"
    assert caught.value.found == found
    assert tensors.held() == before + 1
    tensors.forget(given)
    assert tensors.held() == before
