"""Compiled functions on arrays and in graphs: values, shapes, errors, what may be opened."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_base.core.dtypes import all_dtypes
from drystone_base.core.errors import KernelError
from drystone_base.tracing import operations as ops

Compile = Callable[..., Path]
F32 = np.float32
CODES = {
    "bool": 6, "bfloat16": 4, "complex64": 5, "complex128": 5, "float16": 2, "float32": 2,
    "float64": 2, "float8_e4m3b11fnuz": 9, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11,
    "float8_e5m2": 12, "float8_e5m2fnuz": 13, "int8": 0, "int16": 0, "int32": 0, "int64": 0,
    "qint8": 0, "qint16": 0, "qint32": 0, "quint8": 1, "quint16": 1, "uint8": 1, "uint16": 1,
    "uint32": 1, "uint64": 1,
}  # fmt: skip
"""DLPack's number of each dtype; what is stored in another way than DLPack says is none of them."""


def opened(library: Path) -> ds.SessionConfig:
    return ds.SessionConfig(access=ds.Access(libraries=(library,)))


def refused(text: str, *call: Any, **options: Any) -> KernelError:
    with pytest.raises(KernelError, match=text) as caught:
        drystone_tvm.call(*call, **options)
    assert caught.value.code == "plugin-kernel-failed"
    return caught.value


# ---- values ----------------------------------------------------------------------------------


def test_a_function_by_its_library_and_name(library: Path) -> None:
    x = np.array([10.1, 20.0, 11.2, -30.3], F32)
    y = drystone_tvm.call(x, lib_path=library, function_name="addone")
    np.testing.assert_array_equal(y, x + F32(1))


def test_a_function_of_a_module(library: Path) -> None:
    module = drystone_tvm.load(library)
    x = np.arange(6, dtype=F32).reshape(2, 3)
    np.testing.assert_array_equal(module["addone"](x), x + 1)
    assert repr(module["addone"]) == f"<CompiledFunction 'addone' of {str(library)!r}>"


@given(
    st.sampled_from(sorted(CODES)),
    st.lists(st.integers(0, 4), max_size=5),
    st.integers(0, 63),
)
@settings(max_examples=120, deadline=None)
def test_every_dtype_rank_and_alignment_reaches_the_function(
    library: Path, dtype: str, sizes: list[int], offset: int
) -> None:
    kind = ds.as_dtype(dtype).np
    count = int(np.prod(sizes))
    raw = np.random.default_rng(count).integers(0, 2, count * kind.itemsize + offset, np.uint8)
    x = np.frombuffer(raw.tobytes()[offset:], kind).reshape(sizes)
    y, facts = drystone_tvm.call(
        x, lib_path=library, function_name="echo",
        output_dtypes=[dtype, "int64"], output_shapes=[sizes, [5]],
    )  # fmt: skip
    assert y.tobytes() == x.tobytes()
    assert y.shape == tuple(sizes)
    assert facts.tolist() == [CODES[dtype], kind.itemsize * 8, len(sizes), 1, 1]


@pytest.mark.parametrize("offset", [0, 4, 64])
def test_memory_is_lent_where_it_is_aligned_and_copied_once_where_not(
    library: Path, offset: int
) -> None:
    raw = np.zeros(4096 + 128, np.uint8)
    begin = -raw.ctypes.data % 64 + offset
    x = raw[begin : begin + 4096].view(F32)
    found = drystone_tvm.call(
        x, lib_path=library, function_name="address", output_dtypes=["int64"], output_shapes=[[]]
    )
    assert (found == x.ctypes.data) == (offset % 64 == 0)
    assert found % 64 == 0


@pytest.mark.parametrize("dtype", [str(dtype) for dtype in all_dtypes()])
def test_each_dtype_of_tensorflow_is_taken_or_refused_by_name(library: Path, dtype: str) -> None:
    config = opened(library)
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype=dtype, name="x")
    b.node("TvmRuntime", [x], [], lib_path=str(library), function_name="echo", Tin=[dtype],
           Tout=[dtype, "int64"], output_shapes=[(1,), (5,)], name="y")  # fmt: skip
    make = ds.Session(graph, config).make_callable
    if dtype in CODES:
        kind = ds.as_dtype(dtype).np
        assert make("y:1", ["x:0"])(np.ones(1, kind)).tolist()[0] == CODES[dtype]
        return
    with pytest.raises(KernelError, match=f"take no tensors of dtype {dtype} "):
        make("y:1", ["x:0"])


def test_a_function_without_inputs(library: Path) -> None:
    y = drystone_tvm.call(
        lib_path=library, function_name="constant", output_dtypes=["float64"], output_shapes=[[]]
    )
    assert y == 42


def test_loops_run_on_the_threads_of_the_host(library: Path) -> None:
    x = np.arange(10_000, dtype=F32)
    square = drystone_tvm.load(library)["square"]
    np.testing.assert_array_equal(square(x), x * x)
    with pytest.raises(KernelError, match="raised ValueError: thirteen: needed another one"):
        square(x[:13])


def test_calls_from_many_threads(library: Path) -> None:
    addone = drystone_tvm.load(library)["addone"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: addone(np.full(8, k, F32)), range(100)))
    assert [y[0] for y in found] == list(range(1, 101))


# ---- graphs ----------------------------------------------------------------------------------


def test_a_call_in_a_function_is_a_node_among_others(library: Path) -> None:
    @ds.function(config=opened(library))
    def f(x: Any) -> Any:
        y = drystone_tvm.call(x * 2, lib_path=library, function_name="addone")
        assert y.shape == (3,)
        return y * 10

    x = np.arange(3, dtype=F32)
    np.testing.assert_array_equal(f(x), (x * 2 + 1) * 10)
    nodes = [node for node in f.graph if node.op == "TvmRuntime"]
    assert [node.attrs["function_name"] for node in nodes] == ["addone"]


def test_shapes_may_be_tensors(library: Path) -> None:
    @ds.function(config=opened(library))
    def f(x: Any) -> Any:
        shape = ops.shape(x, out_type="int64")
        return drystone_tvm.call(
            x, lib_path=library, function_name="echo",
            output_dtypes=["float32", "int64"], output_shapes=[shape, [5]],
        )  # fmt: skip

    y, facts = f(np.ones((2, 3), F32))
    assert y.shape == (2, 3)
    assert facts[2] == 2


def test_a_gradient_is_a_function_of_the_same_library(library: Path) -> None:
    def loss(x: Any) -> Any:
        y = drystone_tvm.call(
            x, lib_path=library, function_name="triple", gradient="triple_gradient"
        )
        return ops.sum(y * y, [0])

    gradient = ds.function(lambda x: ds.grad(loss)(x), config=opened(library))  # type: ignore[call-overload]
    x = np.array([1.0, -2.0], F32)
    np.testing.assert_allclose(gradient(x), 18 * x)


def test_a_model_that_calls_a_library_is_saved_and_loaded(library: Path, tmp_path: Path) -> None:
    @ds.function(config=opened(library))
    def f(x: Any) -> Any:
        return drystone_tvm.call(x, lib_path=library, function_name="addone")

    x = np.zeros(2, F32)
    f(x)
    ds.save(f, tmp_path / "model")
    with pytest.raises(KernelError, match="may not open library") as caught:
        ds.load(tmp_path / "model")(x)
    assert caught.value.code == "access-denied"
    model = ds.load(tmp_path / "model", config=opened(library.parent))
    assert np.all(next(iter(model(x).values())) == 1)


# ---- what may be opened ----------------------------------------------------------------------


def graph_of(library: Path) -> ds.Graph:
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", name="x")
    b.node("TvmRuntime", [x], [], lib_path=str(library), function_name="addone", Tin=["float32"],
           Tout=["float32"], name="y")  # fmt: skip
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_graph_opens_only_what_its_session_lets_it(library: Path, executor: Any) -> None:
    graph, x = graph_of(library), np.zeros(2, F32)
    with pytest.raises(KernelError) as caught:
        ds.Session(graph, ds.SessionConfig(executor=executor)).run("y:0", {"x:0": x})
    assert str(caught.value) == (
        f"node 'y' (TvmRuntime) may not open library {str(library)!r} [access-denied]\n"
        "  check: an op may open only the libraries that the session's config opens\n"
        f"  found: a library outside of them, {library}\n"
        "  needed: no op may open libraries\n"
        "  remedy: a library is code that runs as this program does; if you trust it: "
        f"SessionConfig(access=Access().with_libraries({str(library)!r})), on the command line "
        f"--allow-library {library}"
    )
    access = ds.Access().with_libraries(library.parent)
    config = ds.SessionConfig(executor=executor, access=access)
    assert ds.Session(graph, config).run("y:0", {"x:0": x}).tolist() == [1, 1]


def test_neither_a_link_nor_a_function_leads_out(library: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.so"
    link.symlink_to(library)
    config = ds.SessionConfig(access=ds.Access(libraries=(tmp_path,)))

    @ds.function(config=config)
    def f(x: Any) -> Any:
        def called(z: Any) -> Any:
            return drystone_tvm.call(z, lib_path=link, function_name="addone")

        return ds.cond(ops.sum(x, [0]) > 0, lambda: called(x), lambda: x)

    with pytest.raises(KernelError, match="may not open library"):
        f(np.ones(2, F32))


# ---- errors ----------------------------------------------------------------------------------


def test_a_library_that_is_not_there(tmp_path: Path) -> None:
    x = np.zeros(1, F32)
    error = refused("No such file", x, lib_path=tmp_path / "none.so", function_name="f")
    assert f"library '{tmp_path / 'none.so'}' cannot be read" in error.found
    refused("is no file", x, lib_path=tmp_path, function_name="f")


def test_a_function_that_is_not_there(library: Path) -> None:
    error = refused("has no function", np.zeros(1, F32), lib_path=library, function_name="addtwo")
    assert (
        "it has addone, address, constant, echo, object, raises, silent, square, triple"
        in error.found
    )


@pytest.mark.parametrize(
    ("name", "found", "status"),
    [
        ("raises", "raised IndexError: no such row", "OUT_OF_RANGE"),
        ("silent", "failed with -3 and said nothing", "INTERNAL"),
        ("object", "returned an object; results go to the tensors after", "UNIMPLEMENTED"),
    ],
)
def test_a_function_that_fails(library: Path, name: str, found: str, status: str) -> None:
    error = refused(found, np.zeros(1, F32), lib_path=library, function_name=name)
    assert error.status == status
    y = drystone_tvm.call(np.zeros(1, F32), lib_path=library, function_name="addone")
    assert y == 1  # the error before is not told again


def test_other_arguments_than_the_function_takes(library: Path) -> None:
    x = np.zeros(1, F32)
    refused(
        "addone takes 2 tensors: needed another", x, x, lib_path=library, function_name="addone"
    )
    error = refused(
        "dtype of argument 0", x.astype("float64"), lib_path=library, function_name="addone"
    )
    assert error.status == "INVALID_ARGUMENT"
    refused("no tensors of dtype string", np.array([b"a"]), lib_path=library, function_name="echo")
    with pytest.raises(ds.BadRequest, match=r"found: 1 output_shapes\n  needed: 2, one for each"):
        drystone_tvm.call(
            x, lib_path=library, function_name="echo", output_dtypes=["float32", "int64"],
            output_shapes=[[1]],
        )  # fmt: skip
    with pytest.raises(ds.BadRequest, match="found: no inputs"):
        drystone_tvm.call(lib_path=library, function_name="constant")
    with pytest.raises(ds.BadRequest, match=r"found: 2 results\n  needed: 1"):
        drystone_tvm.call(
            x, lib_path=library, function_name="echo", output_dtypes=["float32", "int64"],
            output_shapes=[[1], [5]], gradient="triple_gradient",
        )  # fmt: skip
    refused(
        "a size of -4, needed 0 or more", x, lib_path=library, function_name="addone",
        output_shapes=[[-4]],
    )  # fmt: skip


def test_a_library_that_needs_tvm_is_refused_by_name(compiled: Compile) -> None:
    x = np.zeros(1, F32)
    needs = compiled("-DNEEDS_TVM")
    refused("it needs TVMFFIFunctionGetGlobal, which only TVM's own run time has", x,
            lib_path=needs, function_name="addone")  # fmt: skip
    asks = compiled("-DNEEDS_CALLS")
    refused("asks its host for __TVMFFIFunctionCall", x, lib_path=asks, function_name="addone")


def test_files_that_are_no_library_of_this_processor(library: Path, tmp_path: Path) -> None:
    x, other = np.zeros(1, F32), tmp_path / "other.so"
    raw = library.read_bytes()
    other.write_bytes(raw[:18] + b"\x08\x00" + raw[20:])  # MIPS
    refused(r"another processor than this one \(ELF machine 8", x, lib_path=other,
            function_name="addone")  # fmt: skip
    other.write_text("not a library")
    refused("does not begin as ELF files do", x, lib_path=other, function_name="addone")


@pytest.mark.parametrize("kept", [0, 3, 63, 64, 100, 700, 0.1, 0.3, 0.5])
def test_a_library_that_is_cut_off(library: Path, tmp_path: Path, kept: float) -> None:
    raw, cut = library.read_bytes(), tmp_path / "cut.so"
    cut.write_bytes(raw[: int(kept * len(raw)) if isinstance(kept, float) else kept])
    refused(
        "cannot be used|cannot be opened", np.zeros(1, F32), lib_path=cut, function_name="addone"
    )


# ---- versions and many of them ---------------------------------------------------------------


@pytest.mark.parametrize("flags", [(), ("-Wl,-z,now", "-Wl,-z,relro"), ("-fno-plt",)])
def test_however_a_library_is_linked_its_errors_are_told(
    compiled: Compile, flags: tuple[str, ...]
) -> None:
    refused("no such row", np.zeros(1, F32), lib_path=compiled(*flags), function_name="raises")


def test_a_library_that_changes_is_another_one(compiled: Compile, tmp_path: Path) -> None:
    x, path = np.zeros(2, F32), tmp_path / "kernels.so"
    shutil.copy(compiled(), path)
    config = opened(path)
    before = ds.Session(graph_of(path), config)
    assert before.run("y:0", {"x:0": x}).tolist() == [1, 1]
    shutil.copyfile(compiled("-DSTEP=5"), path)  # in place, as linkers write
    assert before.run("y:0", {"x:0": x}).tolist() == [1, 1]
    assert ds.Session(graph_of(path), config).run("y:0", {"x:0": x}).tolist() == [5, 5]
    assert drystone_tvm.call(x, lib_path=path, function_name="addone").tolist() == [5, 5]


def test_a_library_is_opened_once_for_each_version_when_a_plan_is_made(
    compiled: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, link, told = tmp_path / "kernels.so", tmp_path / "link.so", tmp_path / "told"
    monkeypatch.setenv("OPENED", str(told))
    shutil.copy(compiled("-DTELLS_OPENING"), path)
    link.symlink_to(path)
    x, config, made = np.zeros(2, F32), opened(tmp_path), []
    for file in (path, link, path):
        made.append(ds.Session(graph_of(file), config).make_callable("y:0", ["x:0"]))
        assert told.read_text() == "x"  # before anything has run
    assert [call(x).tolist() for call in made] == [[1, 1]] * 3
    os.utime(path, ns=(0, 0))
    made.append(ds.Session(graph_of(link), config).make_callable("y:0", ["x:0"]))
    assert [call(x).tolist() for call in made] == [[1, 1]] * 4
    assert told.read_text() == "xx"


def test_two_hundred_libraries_in_one_process(compiled: Compile, tmp_path: Path) -> None:
    first, second = compiled(), compiled("-DSTEP=5")
    open_before = len(os.listdir("/proc/self/fd"))
    sessions = []
    for k in range(200):
        path = tmp_path / f"{k}.so"
        shutil.copy(second if k % 2 else first, path)
        sessions.append(ds.Session(graph_of(path), opened(tmp_path)))
    x = np.zeros(1, F32)
    found = [int(session.run("y:0", {"x:0": x})[0]) for session in sessions]
    assert found == [1, 5] * 100
    assert len(os.listdir("/proc/self/fd")) <= open_before + 2
