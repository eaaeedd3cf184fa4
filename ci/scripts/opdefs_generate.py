"""Write the definitions of all of TensorFlow's ops as data for drystone-base.

Run with a Python that has tensorflow and drystone-plugin-abi. Descriptions are left out. Ops are
sorted by name, so the same TensorFlow gives the same file.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

from drystone_abi.protos import OpDef, OpList

TARGET = (
    Path(__file__).resolve().parents[2]
    / "packages/base/src/drystone_base/ops/_data/op_defs.binpb.z"
)


def registered_ops() -> bytes:
    """Serialized list of every op of the installed TensorFlow, internal ones included."""
    client = importlib.import_module("tensorflow.python.client.pywrap_tf_session")
    content: bytes = client.TF_GetBuffer(client.TF_GetAllOpList())
    return content


def without_prose(op: OpDef) -> OpDef:
    """The definition less its descriptions."""
    op.ClearField("summary")
    op.ClearField("description")
    op.deprecation.ClearField("explanation")
    if not op.deprecation.version:
        op.ClearField("deprecation")
    for part in (*op.input_arg, *op.output_arg, *op.attr):
        part.ClearField("description")
    return op


def render(version: str, ops: Sequence[OpDef]) -> bytes:
    """The data: TensorFlow's version, names with sizes, an empty line, definitions in a row."""
    texts = [op.SerializeToString(deterministic=True) for op in ops]
    lines = [f"{op.name} {len(text)}" for op, text in zip(ops, texts, strict=True)]
    return "\n".join([version, *lines]).encode("ascii") + b"\n\n" + b"".join(texts)


def main() -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    options = parser.parse_args()
    ops = sorted(OpList.FromString(registered_ops()).op, key=lambda op: op.name)
    version = importlib.import_module("tensorflow").__version__
    plain = render(version, [without_prose(op) for op in ops])
    if options.check:
        same = zlib.decompress(TARGET.read_bytes()) == plain
        print("up to date" if same else f"not up to date: {TARGET.name}")
        return 0 if same else 1
    packed = zlib.compress(plain, 9)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(packed)
    print(f"{len(ops)} ops, {len(plain)} bytes, {len(packed)} packed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
