"""Libraries that TVM itself has compiled, beside TVM's own run time in the same process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.errors import KernelError

REASON = "apache-tvm is not installed: `nox -s tvm` installs it"
tvm = pytest.importorskip("tvm", reason=REASON)
tvm_ffi = pytest.importorskip("tvm_ffi", reason=REASON)
te = tvm.te
Array = np.ndarray[Any, Any]


def exported(path: Path, name: str, inputs: int, body: Callable[..., Any], dtype: str) -> Path:
    """A library with one element-wise function of vectors."""
    n = te.var("n")
    given = [te.placeholder((n,), dtype, f"x{k}") for k in range(inputs)]
    result = te.compute((n,), lambda i: body(*(x[i] for x in given)), "y")
    function = te.create_prim_func([*given, result]).with_attr("global_symbol", name)
    tvm.compile(tvm.IRModule({name: function}), target="llvm").export_library(str(path))
    return path


def test_the_example_of_the_proposal(tmp_path: Path) -> None:
    path = exported(tmp_path / "test_addone_dll.so", "addone", 1, lambda a: a + 1, "float32")
    a = np.array([10.1, 20.0, 11.2, -30.3], np.float32)

    @ds.function(config=ds.SessionConfig(access=ds.Access(libraries=(path,))))
    def option_one(a: Any) -> Any:
        return drystone_tvm.call(a, lib_path=path, function_name="addone")

    module = drystone_tvm.load(path)
    addone = module["addone"]
    for b in (option_one(a), addone(a)):
        np.testing.assert_array_equal(b, a + np.float32(1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_regions_of_elements_have_numpys_values(tmp_path: Path, dtype: str) -> None:
    bodies: dict[str, tuple[Callable[..., Any], Callable[..., Array]]] = {
        "product": (lambda a, b: a * b, np.multiply),
        "larger": (lambda a, b: tvm.tirx.max(a, b), np.maximum),
        "both": (lambda a, b: (a + b) * a, lambda a, b: (a + b) * a),
    }
    chance = np.random.default_rng(1)
    for name, (body, expected) in bodies.items():
        module = drystone_tvm.load(exported(tmp_path / f"{name}.so", name, 2, body, dtype))
        for size in (0, 1, 7, 1000):
            a, b = (chance.integers(0, 10, size).astype(dtype) for _ in range(2))
            np.testing.assert_array_equal(module[name](a, b), expected(a, b))


def test_errors_of_a_compiled_function(tmp_path: Path) -> None:
    module = drystone_tvm.load(exported(tmp_path / "f.so", "f", 1, lambda a: a * 2, "float32"))
    with pytest.raises(KernelError, match=r"raised TypeError: Mismatched x0\.dtype"):
        module["f"](np.zeros(3, np.float64))
    with pytest.raises(KernelError, match="raised TypeError: Expected 2 arguments"):
        module["f"](np.zeros(3, np.float32), np.zeros(3, np.float32))
    with pytest.raises(KernelError, match=r"raised ValueError: .*Mismatched x0\.ndim"):
        module["f"](np.zeros((3, 1), np.float32))
    assert module["f"](np.ones(3, np.float32)).tolist() == [2, 2, 2]


def test_tvms_own_run_time_keeps_its_errors(tmp_path: Path) -> None:
    """The same file, opened by both: each is told its own errors."""
    path = exported(tmp_path / "f.so", "f", 1, lambda a: a * 2, "float32")
    ours, theirs = drystone_tvm.load(path)["f"], tvm_ffi.load_module(str(path))["f"]
    wrong, right = np.zeros(3, np.float64), np.ones(3, np.float32)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"Mismatched x0\.dtype"):
            theirs(tvm_ffi.from_dlpack(wrong), tvm_ffi.from_dlpack(wrong))
        with pytest.raises(KernelError, match=r"Mismatched x0\.dtype"):
            ours(wrong)
        out = np.zeros(3, np.float32)
        theirs(tvm_ffi.from_dlpack(right), tvm_ffi.from_dlpack(out))
        assert out.tolist() == ours(right).tolist() == [2, 2, 2]
