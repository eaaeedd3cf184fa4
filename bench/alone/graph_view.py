"""What the C++ SDK needs for large graphs: ``python -m bench.alone.graph_view [NODES]``.

Prints milliseconds to parse a view with edges both ways, to order it, to bypass every Identity, and
to write the result; beside them what protobuf needs to parse the same bytes.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from drystone_abi import get_include
from drystone_abi.protos import DataType, GraphDef

__all__ = ["main", "measure"]

PROBE = Path(__file__).resolve().parents[2] / "plugin-abi" / "tests" / "plugins" / "sdk_probe.cc"
REPEATS = 5


def graph_of(nodes: int) -> bytes:
    """A chain with a shared constant: a third Identity, a third Neg, a third Add."""
    graph = GraphDef()
    graph.node.add(name="constant", op="Const")
    for number in range(1, nodes):
        before = f"layer_{number - 1}/some_scope/node" if number > 1 else "constant"
        op = ("Identity", "Neg", "AddV2")[number % 3]
        inputs = [before, "constant"] if op == "AddV2" else [before]
        node = graph.node.add(name=f"layer_{number}/some_scope/node", op=op, input=inputs)
        node.device = "/job:localhost/replica:0/task:0/device:CPU:0"
        node.attr["T"].type = DataType.DT_FLOAT
        node.attr["_class"].list.s.append(b"loc:@constant")
    return graph.SerializeToString()


def compiled(folder: Path) -> ctypes.CDLL:
    """The probe, optimized as a plugin would be."""
    library = folder / "probe.so"
    flags = ("-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-shared", "-fPIC")
    subprocess.run(
        ["c++", *flags, f"-I{get_include()}", str(PROBE), "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library))


def measure(library: ctypes.CDLL, graph: bytes) -> dict[str, float]:
    """The best of several runs, in milliseconds by step, and how many nodes were bypassed."""
    library.probe_times.restype = ctypes.c_void_p
    best = [float("inf")] * 4
    bypassed = 0
    for _ in range(REPEATS):
        length = ctypes.c_size_t()
        answer = library.probe_times(graph, ctypes.c_size_t(len(graph)), ctypes.byref(length))
        ordered, *times, count, _ = ctypes.string_at(answer, length.value).split()
        library.probe_free(ctypes.c_void_p(answer))
        assert ordered == b"1"
        best = [min(old, float(new)) for old, new in zip(best, times, strict=True)]
        bypassed = int(count)
    return dict(zip(("parse", "order", "bypass", "write"), best, strict=True)) | {"count": bypassed}


def main() -> int:
    """Print one row."""
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    graph = graph_of(nodes)
    with tempfile.TemporaryDirectory() as folder:
        row = measure(compiled(Path(folder)), graph)
    begin = time.perf_counter()
    GraphDef.FromString(graph)
    row["protobuf parse"] = (time.perf_counter() - begin) * 1e3
    print(f"{nodes} nodes, {len(graph) / 1e6:.1f} MB, {row.pop('count'):.0f} identities; ms:")
    print("  ".join(f"{step} {ms:.1f}" for step, ms in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
