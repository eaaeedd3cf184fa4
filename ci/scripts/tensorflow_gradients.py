"""Write the list of ops that TensorFlow differentiates: python -m ci.scripts.tensorflow_gradients

Run with a Python that has tensorflow. Writes ci/config/tensorflow_gradients.txt: each op that the
installed TensorFlow has a gradient rule of, one a line, by name.
"""

from __future__ import annotations

import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parents[2] / "ci" / "config" / "tensorflow_gradients.txt"


def main() -> int:
    """Ask for all rules and write the list."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry, ops

    rules = ops.gradient_registry
    ops_with = sorted(
        name for name in rules.list()
        if rules.lookup(name) is not None and op_def_registry.get(name) is not None
    )  # fmt: skip
    head = f"# Ops of TensorFlow {tf.__version__} with a gradient rule"
    TARGET.write_text("\n".join([head, *ops_with, ""]), encoding="utf-8")
    print(f"{len(ops_with)} ops written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
