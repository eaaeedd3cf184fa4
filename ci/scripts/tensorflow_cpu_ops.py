"""Write the list of TensorFlow's CPU ops: python -m ci.scripts.tensorflow_cpu_ops

Run with a Python that has tensorflow. Writes ci/config/tensorflow_cpu_ops.txt: each op that the
installed TensorFlow has both a definition and a kernel for the CPU of, one a line, by name.
"""

from __future__ import annotations

import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "ci" / "config" / "tensorflow_cpu_ops.txt"


def main() -> int:
    """Ask for all kernels and write the list."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels, op_def_registry

    found = {
        k.op
        for k in kernels.get_all_registered_kernels().kernel
        if k.device_type in ("CPU", "DEFAULT")
    }
    ops = sorted(op for op in found if op_def_registry.get(op) is not None)
    head = f"# Ops of TensorFlow {tf.__version__} with a CPU kernel"
    TARGET.write_text("\n".join([head, *ops, ""]), encoding="utf-8")
    print(f"{len(ops)} ops written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
