"""What a library that was compiled here states of itself, in a section of its file.

The section is text: a line with the version of this form, one with what the processor must have,
then JSON. It is no part of what is loaded, and ``strip`` leaves it alone.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from drystone_base import DrystoneError, as_dtype

__all__ = ["SECTION", "Form", "Tensor", "assembly", "stated"]

SECTION: Final = ".drystone_tvm"
_FIRST: Final = "drystone-tvm 1"
_HEADER: Final = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION_HEADER: Final = struct.Struct("<IIQQQQIIQQ")


class Tensor(NamedTuple):
    """A tensor that goes in or out: sizes are numbers, or names of sizes that a call decides."""

    name: str
    dtype: str
    sizes: tuple[int | str, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.sizes))}]"


class Form(NamedTuple):
    """A function of a library: its name, what it takes and gives, what it was compiled for."""

    function: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    target: str
    needs: tuple[str, ...] = ()
    made_by: str = ""

    def output_shapes(self) -> list[list[int | tuple[int, int]]]:
        """The shapes of the outputs; of a size that a call decides an input and an axis with it."""
        known = {
            size: (k, axis)
            for k, given in reversed(list(enumerate(self.inputs)))
            for axis, size in enumerate(given.sizes)
        }
        return [
            [known[size] if isinstance(size, str) else size for size in out.sizes]
            for out in self.outputs
        ]


def assembly(form: Form) -> str:
    """The section as a file for an assembler."""
    text = "\n".join([_FIRST, f"needs {' '.join(form.needs)}".strip(), json.dumps(_plain(form))])
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return (
        f'.section {SECTION},"",@progbits\n.ascii "{quoted}"\n'
        '.section .note.GNU-stack,"",@progbits\n'
    )


def _plain(form: Form) -> dict[str, Any]:
    tensors = {
        key: [[t.name, t.dtype, list(t.sizes)] for t in given]
        for key, given in (("inputs", form.inputs), ("outputs", form.outputs))
    }
    return {**form._asdict(), **tensors}


def stated(path: str | os.PathLike[str]) -> Form | None:
    """What a library states; None for one that states nothing, or nothing that makes sense."""
    file = Path(path)
    try:
        text = _section(file.read_bytes()) if file.is_file() else ""  # a pipe is not waited for
    except (OSError, ValueError, struct.error):
        return None
    first, _, rest = text.partition("\n")
    if first != _FIRST:
        return None
    try:
        found = json.loads(rest.partition("\n")[2])
        inputs, outputs = (_tensors(found[key]) for key in ("inputs", "outputs"))
        form = Form(
            str(found["function"]), inputs, outputs, str(found["target"]),
            tuple(map(str, found["needs"])), str(found["made_by"]),
        )  # fmt: skip
        form.output_shapes()  # sizes of outputs are numbers, or those of inputs
    except (ValueError, KeyError, TypeError, RecursionError, DrystoneError):
        return None
    return form


def _tensors(found: Sequence[Any]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(str(name), str(as_dtype(dtype)), tuple(map(_size, sizes)))
        for name, dtype, sizes in found
    )


def _size(size: Any) -> int | str:
    if isinstance(size, str) or (type(size) is int and 0 <= size < 1 << 63):
        return size
    raise ValueError


def _section(data: bytes) -> str:
    """The text of the section; "" for a file without it."""
    if data[:6] != b"\x7fELF\x02\x01":
        return ""
    *_, begin, _, _, _, _, size, count, names = _HEADER.unpack_from(data)
    if not begin or names >= count:
        return ""
    headers = [_SECTION_HEADER.unpack_from(data, begin + k * size) for k in range(count)]
    table = headers[names][4]
    for header in headers:
        at = table + header[0]
        if data[at : at + len(SECTION) + 1] == SECTION.encode() + b"\0":
            return data[header[4] : header[4] + header[5]].decode("utf-8", "replace")
    return ""
