"""What libraries and nodes state: sizes of results, hashes, what the processor must have."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest
from drystone_tvm.compiling.stated import Form, Tensor, assembly, stated

import drystone_base as ds
from drystone_base.core.errors import KernelError

Compile = Callable[..., Path]
F32 = np.float32


def with_section(compiled: Compile, folder: Path, form: Form) -> Path:
    """The C functions in a library that states a form."""
    about = folder / "about.s"
    about.write_text(assembly(form))
    return compiled(str(about), name="stated.so")


FORM = Form(
    "echo",
    (Tensor("x", "float32", ("n0", 3)),),
    (Tensor("y", "float32", ("n0", 3)), Tensor('facts "of it"', "int64", (5,))),
    "llvm",
)


def test_what_is_stated_is_read_again(compiled: Compile, tmp_path: Path) -> None:
    path = with_section(compiled, tmp_path, FORM)
    assert stated(path) == FORM
    subprocess.run(["strip", path], check=True)
    assert stated(path) == FORM
    function = drystone_tvm.load(path)["echo"]
    x = np.ones((4, 3), F32)
    y, facts = function(x)
    assert y.tolist() == x.tolist()
    assert facts[2] == 2
    with pytest.raises(ds.BadRequest, match=r"needed: x: float32\[n0, 3\]"):
        function(x, x)
    with pytest.raises(ds.BadRequest, match="axes that the inputs have, whose ranks are 0"):
        function(np.ones((), F32))
    assert drystone_tvm.load(path)["addone"].form is None


def test_what_states_nothing(library: Path, tmp_path: Path) -> None:
    assert stated(library) is None
    assert stated(tmp_path / "none.so") is None
    raw = library.read_bytes()
    for kept in (0, 5, 63, 64, 100, len(raw) - 10):
        (tmp_path / "cut.so").write_bytes(raw[:kept])
        assert stated(tmp_path / "cut.so") is None


def test_sizes_that_are_an_inputs(library: Path) -> None:
    config = ds.SessionConfig(access=ds.Access(libraries=(library,)))

    @ds.function(signature=[ds.Spec([None, 3])], config=config)
    def f(x: Any) -> Any:
        y, facts = drystone_tvm.call(
            x, lib_path=library, function_name="echo", output_dtypes=["float32", "int64"],
            output_shapes=[[(0, 0), 3], [5]],
        )  # fmt: skip
        assert y.shape == (None, 3)
        return y, facts

    for rows in (0, 1, 7):
        assert f(np.ones((rows, 3), F32))[0].shape == (rows, 3)
    (node,) = [n for n in f.graph if n.op == "TvmRuntime"]
    assert node.attrs["sizes_of"] == [0, 0]
    with pytest.raises(KernelError, match="sizes_of names an axis of an input"):
        run(library, sizes_of=[3, 0], output_shapes=[(-1,)])
    with pytest.raises(KernelError, match="1 unknown sizes, and sizes_of 0 numbers"):
        run(library, output_shapes=[(-1,)])
    with pytest.raises(KernelError, match="needs axis 4 of input 0, which has rank 1"):
        run(library, sizes_of=[0, 4], output_shapes=[(-1,)])


def run(path: Path, **attrs: Any) -> Any:
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", name="x")
    b.node("TvmRuntime", [x], [], lib_path=str(path), function_name="addone", Tin=["float32"],
           Tout=["float32"], name="y", **attrs)  # fmt: skip
    access = ds.Access(libraries=(path.parent,))
    return ds.Session(graph, ds.SessionConfig(access=access)).run("y:0", {"x:0": np.zeros(2, F32)})


@pytest.mark.parametrize("size", [0, 55, 56, 63, 64, 119, 120, 100_001])
def test_a_library_is_known_by_its_hash(library: Path, tmp_path: Path, size: int) -> None:
    path = tmp_path / "kernels.so"
    path.write_bytes(library.read_bytes() + os.urandom(size))
    known = hashlib.sha256(path.read_bytes()).hexdigest()
    assert run(path, sha256=known).tolist() == [1, 1]
    wrong = "0" + known[1:] if known[0] != "0" else "1" + known[1:]
    with pytest.raises(KernelError, match="another one than the graph was made with") as caught:
        run(path, sha256=wrong)
    assert f"its SHA-256 is {known[:16]}..., needed {wrong[:16]}..." in caught.value.found
    assert run(path).tolist() == [1, 1]


def test_a_library_of_a_processor_with_more(compiled: Compile, tmp_path: Path) -> None:
    path = with_section(compiled, tmp_path, FORM._replace(needs=("sse3", "warp_drive", "avx99")))
    with pytest.raises(KernelError, match="this one lacks warp_drive, avx99; compile it here"):
        run(path)
    fits = with_section(compiled, tmp_path, FORM._replace(needs=("sse3",)))
    assert run(fits).tolist() == [1, 1]
