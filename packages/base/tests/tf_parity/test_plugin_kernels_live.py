"""One kernel library, unchanged, in TensorFlow and here: it gets the same answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drystone_abi.protos import AttrValue, DataType, GraphDef
from drystone_base.host import _lib

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")
if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

SCRIPT = Path(__file__).with_name("kernel_hosts.py")
# Where drystone/kernels.h says that this host answers otherwise: (here, TensorFlow).
DOCUMENTED = {("IsHostMemory 1 1", "IsHostMemory 0 0"), ("GetStream 1 12", "GetStream 1 9")}
LISTS: dict[str, tuple[str, Any]] = {
    "ls": ("s", [b"a", b"", b"ccc"]),
    "li": ("i", [1, -2, 3]),
    "lf": ("f", [0.5, 1.5]),
    "lb": ("b", [True, False]),
    "lt": ("type", [DataType.DT_FLOAT, DataType.DT_INT64]),
    "none": ("i", []),
    "nos": ("s", []),
}


def scalar(value: float, into: Any) -> None:
    into.dtype = DataType.DT_FLOAT
    into.tensor_shape.SetInParent()
    into.float_val.append(value)


def shape(dims: list[int] | None, into: Any) -> None:
    into.unknown_rank = dims is None
    for size in dims or []:
        into.dim.add().size = size


def attributes(path: Path) -> dict[str, AttrValue]:
    """One attribute of every kind."""
    values = {
        "path": AttrValue(s=str(path).encode()),
        "s": AttrValue(s=b"hello"),
        "i": AttrValue(i=-7),
        "big": AttrValue(i=1 << 40),
        "f": AttrValue(f=1.5),
        "b": AttrValue(b=True),
        "t": AttrValue(type=DataType.DT_HALF),
        "N": AttrValue(i=2),
    }
    for name in ("shape", "unknown", "part", "tensor", "func", "lsh", "lten", *LISTS):
        values[name] = AttrValue()
    shape([2, 3], values["shape"].shape)
    shape(None, values["unknown"].shape)
    shape([2, -1], values["part"].shape)
    scalar(2.5, values["tensor"].tensor)
    values["func"].func.name = "body"
    for dims in ([1, 2], None, [3]):
        shape(dims, values["lsh"].list.shape.add())
    for value in (1.0, 2.0):
        scalar(value, values["lten"].list.tensor.add())
    for name, (field, elements) in LISTS.items():
        values[name].list.SetInParent()
        getattr(values[name].list, field).extend(elements)
    return values


def graph_with_facts(path: Path) -> GraphDef:
    out = GraphDef()
    out.versions.producer = 1286
    floats, ints = DataType.DT_FLOAT, DataType.DT_INT32
    for name, dtype in (("x", floats), ("a", ints), ("b", ints)):
        node = out.node.add(name=name, op="Const")
        node.attr["dtype"].type = dtype
        node.attr["value"].tensor.dtype = dtype
        node.attr["value"].tensor.tensor_shape.dim.add().size = 2
    facts = out.node.add(name="facts", op="Facts", input=["x", "a", "b"])
    for name, value in attributes(path).items():
        facts.attr[name].CopyFrom(value)
    return out


def answers(host: str, library: Path, folder: Path) -> list[str]:
    """What the kernel wrote down when the host ran it."""
    file, log = folder / f"{host}.pb", folder / f"{host}.log"
    file.write_bytes(graph_with_facts(log).SerializeToString())
    done = subprocess.run(
        [sys.executable, str(SCRIPT), host, str(library), str(file), "facts:0"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[0. 0.]\n", done.stderr
    return log.read_text().splitlines()


def test_a_kernel_gets_the_same_answers(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    library = compile_library("kernels_facts.c")
    ours = answers("drystone", library, tmp_path)
    theirs = answers("tensorflow", library, tmp_path)
    assert len(ours) == len(theirs) > 400
    assert {pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]} == DOCUMENTED
