"""Libraries with kernels for CUDA: compiled here, and run on a driver of tests."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest
from click.testing import CliRunner

import drystone_base as ds
from drystone_base.core.errors import KernelError
from drystone_base.tracing import operations as ops

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")
te = tvm.te
cuda = pytest.importorskip("drystone_tvm.compiling.cuda")
if cuda.nvcc() is None:
    pytest.skip("there is no nvcc: `nox -s tvm` installs it", allow_module_level=True)
FAKE = Path(__file__).with_name("fake_cuda.c")
N = 256


def _element(name: str, a: Any, i: Any) -> Any:
    return a[i] + 1 if name == "addone" else a[i] * 2


def kernels() -> Any:
    """What TVM has compiled: ``addone`` of vectors of 256, ``twice`` of any."""
    n = te.var("n", "int32")
    parts = {}
    for name, size in (("addone", N), ("twice", n)):
        a = te.placeholder((size,), "float32", "a")
        b = te.compute((size,), partial(_element, name, a), "b")
        parts[name] = te.create_prim_func([a, b]).with_attr("global_symbol", name)
    schedule = tvm.s_tir.Schedule(tvm.IRModule(parts))
    for name in parts:
        (loop,) = schedule.get_loops(schedule.get_sblock("b", func_name=name))
        around, inside = schedule.split(loop, [None, 64])
        schedule.bind(around, "blockIdx.x")
        schedule.bind(inside, "threadIdx.x")
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host={"kind": "llvm"})
    return tvm.compile(schedule.mod, target=target)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cuda") / "kernels.so"
    drystone_tvm.export(kernels(), path)
    return path


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("driver")
    flags = ("-O1", "-fPIC", "-shared", "-Wall", "-Wextra")
    command = ["cc", *flags, "-o", folder / "libcuda.so.1", FAKE]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


HEAD = """
import ctypes, os, sys
import numpy as np
import drystone_tvm
from conftest import load_plugin
from pathlib import Path
load_plugin(Path(sys.argv[2]))
from drystone_base.core.errors import KernelError
module = drystone_tvm.load(sys.argv[1])
x = np.arange(256, dtype=np.float32)
"""


def run(body: str, library: Path, driver: Path | None, **variables: str) -> str:
    """What a program prints, in a process with that driver, or with none."""
    there = {"LD_LIBRARY_PATH": str(driver)} if driver else {}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HEAD + body, str(library), str(library.parent)],
        env=os.environ | there | variables, cwd=Path(__file__).parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_kernels_get_memory_sizes_and_threads(library: Path, driver: Path) -> None:
    found = run(
        """
for _ in range(2):
    assert (module["addone"](x) == x + 1).all()
for size in (0, 1, 64, 200, 1000):
    y = np.arange(size, dtype=np.float32)
    assert (module["twice"](y) == 2 * y).all()
fake = ctypes.CDLL("libcuda.so.1")
fake.told.restype = ctypes.c_char_p
print(fake.told().decode(), fake.left())
""",
        library,
        driver,
    )
    launches = [line for line in found.splitlines() if "_kernel " in line]
    assert launches == ["addone_kernel 4 1 1, 64 1 1, 0"] * 2 + [
        f"twice_kernel {blocks} 1 1, 64 1 1, 0" for blocks in (1, 1, 1, 4, 16)
    ]
    assert found.count("cuInit") == 1
    assert found.count("cuMemAllocAsync") == found.count("cuMemcpyHtoDAsync") * 2
    assert found.splitlines()[-1].strip() == "1"  # the module of kept calls; no memory


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("cuInit", "CUDA: no device: no device (100)"),
        ("cuModuleLoadData", "its code cannot be loaded: no kernel image (209)"),
        ("cuModuleGetFunction", "its code has no kernel addone_kernel"),
        ("cuMemAllocAsync", "CUDA: no memory of 1024 bytes: out of memory (2)"),
        ("cuMemcpyHtoDAsync", "CUDA: an input cannot be copied: an unknown error (1)"),
        ("cuLaunchKernel", "raised RuntimeError: CUDA: kernel addone_kernel cannot be launched"),
        ("cuMemcpyDtoHAsync", "CUDA: a result cannot be copied: an unknown error (1)"),
        ("cuStreamSynchronize", "CUDA: the kernels failed: an unknown error (700)"),
    ],
)
def test_what_a_driver_refuses_is_an_error_and_the_next_call_works(
    library: Path, driver: Path, call: str, text: str
) -> None:
    found = run(
        """
try:
    module["addone"](x)
except KernelError as error:
    print(error)
del os.environ["FAKE_CUDA"]
print((module["addone"](x) == x + 1).all())
""",
        library,
        driver,
        FAKE_CUDA=call,
    )
    assert text in found
    assert found.splitlines()[-1] == "True"


def test_without_a_driver_the_library_is_refused(library: Path) -> None:
    found = run(
        """
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    try:
        module["addone"](x)
    except KernelError as error:
        print(error)
else:
    print("CUDA's driver cannot be opened: libcuda.so.1 is installed here")
    print((module["addone"](x) == x + 1).all())
""",
        library,
        None,
    )
    assert "CUDA's driver cannot be opened: libcuda.so.1" in found
    assert "False" not in found


def test_arguments_that_are_wrong_end_in_errors(library: Path, driver: Path) -> None:
    found = run(
        """
for wrong in (x.astype(np.float64), x[:3], x.reshape(2, 128)):
    try:
        module["addone"](wrong)
    except KernelError as error:
        print(error.found)
""",
        library,
        driver,
    )
    assert found.count("raised TypeError: Mismatched a.dtype") == 1
    assert found.count("raised ValueError: ") == 2
    assert found.count("Mismatched a.ndim") == 1


def test_text_is_refused_by_name(tmp_path: Path) -> None:
    kernels().export_library(str(tmp_path / "text.so"))
    with pytest.raises(KernelError, match=r"its code for CUDA is text, .*drystone_tvm\.export"):
        drystone_tvm.load(tmp_path / "text.so")["addone"](np.zeros(N, np.float32))


def test_modules_that_are_cut_off_are_refused(library: Path, tmp_path: Path) -> None:
    whole = library.read_bytes()
    size, name = struct.Struct("<Q").pack, b"addone_kernel"
    for old, new in (
        (size(len(name)) + name, size(1 << 40) + name),
        (size(len(b"fatbin")) + b"fatbin" + size(2), size(6) + b"fatbin" + size(1 << 60)),
        (whole[_module(whole) :][:12], b"cuda" + size(1 << 62)),
    ):
        assert old in whole
        (tmp_path / "cut.so").write_bytes(whole.replace(old, new))
        with pytest.raises(KernelError, match=r"cannot be used: its mod.* cut off"):
            drystone_tvm.load(tmp_path / "cut.so")["addone"](np.zeros(N, np.float32))


def _module(whole: bytes) -> int:
    """Where the module for CUDA begins, with its kind: behind the library itself."""
    own = struct.pack("<Q", 4) + b"_lib"
    return whole.index(own) + len(own) + 8


def test_modules_for_other_devices_are_refused_by_name(library: Path, tmp_path: Path) -> None:
    whole = library.read_bytes()
    at = _module(whole)
    (tmp_path / "other.so").write_bytes(whole[:at] + b"rocm" + whole[at + 4 :])
    with pytest.raises(KernelError, match="it has a module for rocm, and there is a run time for"):
        drystone_tvm.load(tmp_path / "other.so")["addone"](np.zeros(N, np.float32))


def test_a_region_is_compiled_to_machine_code(tmp_path: Path) -> None:
    """It states its form; kernels are there for each step that is not inlined."""

    def layer(x: Any, w: Any) -> Any:
        return ops.softmax(ops.tanh(ops.matmul(x, w)) + ops.mean(x, [0, 1]))

    compiled = drystone_tvm.compile(
        layer, ds.Spec([None, 3]), ds.Spec([3, 4]), path=tmp_path / "layer.so", target="cuda"
    )
    assert compiled.form is not None
    assert compiled.form.target == "cuda"
    assert [str(t) for t in compiled.form.outputs] == ["output: float32[n0, 4]"]
    whole = (tmp_path / "layer.so").read_bytes()
    assert struct.pack("<I", 0xBA55ED50) in whole
    assert b"__global__" not in whole
    assert b"main_kernel" in whole


def test_without_nvcc_a_region_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cuda, "nvcc", lambda: None)
    with pytest.raises(ds.BadRequest, match="no nvcc") as caught:
        drystone_tvm.compile(ops.tanh, ds.Spec([3]), path=tmp_path / "f.so", target="cuda")
    assert caught.value.code == "package-missing"
    assert not (tmp_path / "f.so").exists()


CONVERTED = """
import sys
sys.modules["tvm"] = sys.modules["tvm_ffi"] = None
import ctypes, json
from pathlib import Path
import numpy as np
import drystone_base as ds
from conftest import load_plugin
load_plugin(Path(sys.argv[2]))
folder, x = sys.argv[1], np.load(sys.argv[2] + "/x.npy")
model = ds.load(folder, config=ds.SessionConfig(access=ds.Access(libraries=[folder])))
try:
    np.save(sys.argv[2] + "/y.npy", next(iter(model(x).values())))
except ds.KernelError as error:
    print(error.found)
    assert ds.function(lambda a: a + 1)(x).shape == x.shape
else:
    fake = ctypes.CDLL("libcuda.so.1")
    fake.told.restype = ctypes.c_char_p
    print(fake.told().decode())
"""


def chain(x: Any) -> Any:
    """What the driver of tests computes as main_kernel, and an op without a rule behind it."""
    return ops.cumsum(ops.relu(x * 2.0 + 1.0), 1)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SavedModel that was converted for CUDA and moved."""
    folder = tmp_path_factory.mktemp("model")
    ds.save(ds.function(chain).trace(ds.Spec([None, 4])), folder / "saved")
    command = [sys.executable, "-m", "drystone_base", "convert", str(folder / "saved"), "--json",
               "--backend", "tvm", "--target", "cuda", "-o", str(folder / "out")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    (region,) = report["regions"]
    assert (report["target"], region["needs"]) == ("cuda", [])
    assert {"Relu", "Mul", "AddV2"} == set(region["ops"])
    assert {one["op"] for one in report["left"]} >= {"Placeholder", "Cumsum"}
    return (folder / "out").rename(folder / "moved")


def run_converted(model: Path, work: Path, driver: Path, **variables: str) -> str:
    x = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    np.save(work / "x.npy", x)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONVERTED, str(model), str(work)],
        env=os.environ | {"LD_LIBRARY_PATH": str(driver)} | variables, cwd=Path(__file__).parent,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    if (work / "y.npy").exists():
        expected = ds.function(chain)(x)
        np.testing.assert_allclose(np.load(work / "y.npy"), expected, rtol=1e-6)
    return done.stdout


def test_a_model_that_was_converted_for_cuda_runs_by_the_driver(
    model: Path, tmp_path: Path, driver: Path
) -> None:
    said = run_converted(model, tmp_path, driver)
    assert (tmp_path / "y.npy").exists()
    assert "main_kernel 1 1 1, 256 1 1, 0" in said


def test_a_model_for_cuda_is_refused_where_there_is_no_gpu(
    model: Path, tmp_path: Path, driver: Path
) -> None:
    """When its plan is made: nothing of it has run, and the process goes on."""
    (library,) = (model / "assets.extra" / "tvm").iterdir()
    (tmp_path / "libcuda.so.1").write_text("of no use, and found before one that is installed")
    for place, text, call in (
        (driver, "CUDA: no device: no device (100)", "cuInit"),
        (driver, "its code cannot be loaded: no kernel image", "cuModuleLoadData"),
        (tmp_path, "CUDA's driver cannot be opened", ""),
    ):
        said = run_converted(model, tmp_path, place, FAKE_CUDA=call)
        assert text in said
        assert f"library '{library}' cannot be used" in said
        assert not (tmp_path / "y.npy").exists()


def test_without_nvcc_no_model_is_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from drystone_subgraph.session.converting import convert

    monkeypatch.setattr(cuda, "nvcc", lambda: None)
    out = model.parent / "other"
    words = [str(model.parent / "saved"), "--target", "cuda", "-o", str(out)]
    done = CliRunner().invoke(convert, words)
    assert isinstance(done.exception, ds.BadRequest)
    assert "pip install drystone-tvm[cuda]" in str(done.exception)
    assert sorted(p.name for p in model.parent.iterdir()) == ["moved", "saved"]
