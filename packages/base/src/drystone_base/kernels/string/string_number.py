"""Numbers to strings and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from drystone_base.core.dtypes import BOOL, STRING
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import each, each_number
from drystone_base.kernels.string._number_text import read_number


def _number_format(call: Call) -> str:
    """The C format that precision, notation, width and fill ask for."""
    a, dtype = call.attrs, call.attrs["T"]
    exact = dtype.is_integer or dtype is BOOL
    call.require(
        len(a["fill"]) <= 1 and a["fill"] in ("", " ", "+", "-", "0", "#"),
        "fill must be one flag of a C format",
        found=a["fill"],
        needed="' ', '+', '-', '0' or '#'",
    )
    call.require(
        not (a["scientific"] and a["shortest"]),
        "scientific and shortest exclude each other",
        found="both",
        needed="one of them",
    )
    call.require(
        not exact or not (a["scientific"] or a["shortest"] or a["precision"] >= 0),
        f"precision and notation do not apply to {dtype}",
        found=f"precision {a['precision']}",
        needed="a floating type",
    )
    width = str(a["width"]) if a["width"] >= 0 else ""
    if exact:
        plain = dtype.is_unsigned and a["fill"] in ("+", " ")  # a sign is for signed types
        return f"%{'' if plain else a['fill']}{width}d"
    precision = f".{a['precision']}" if a["precision"] >= 0 else ""
    return f"%{a['fill']}{width}{precision}{_letter(a['scientific'], a['shortest'])}"


def _letter(scientific: bool, shortest: bool) -> str:
    return "e" if scientific else "g" if shortest else "f"


def _without_zeros(pattern: str) -> str:
    """The format for values that are not finite, which C never fills with zeros."""
    return pattern.replace("%0", "%", 1)


@kernel("AsString")
def as_string(call: Call, values: Array) -> Array:
    """Each element as text, in the notation that the attributes choose."""
    pattern = _number_format(call)
    longest = max(call.attrs["width"], call.attrs["precision"], 1)
    check_size(call, (values.size, longest), np.dtype(np.uint8))
    write: Callable[[Any], bytes]
    dtype = call.attrs["T"]
    if dtype is STRING:
        if call.attrs["width"] <= 0:
            return values
        flags = "-" if call.attrs["fill"] == "-" else ""
        cut = f".{call.attrs['precision']}" if call.attrs["precision"] >= 0 else ""
        form = f"%{flags}{call.attrs['width']}{cut}s".encode()
        return each(lambda v: form % v, values)
    if dtype is BOOL:
        write = lambda v: b"true" if v else b"false"  # noqa: E731
    elif dtype.is_complex:
        write = lambda v: f"({_one(pattern, v.real)},{_one(pattern, v.imag)})".encode()  # noqa: E731
    else:
        write = lambda v: _one(pattern, v).encode()  # noqa: E731
    return each(write, values)


def _one(pattern: str, value: float) -> str:
    return (pattern if np.isfinite(value) else _without_zeros(pattern)) % value


@kernel("StringToNumber")
def string_to_number(call: Call, values: Array) -> Array:
    """Each string as a number of ``out_type``; whitespace around it is ignored."""
    dtype = call.attrs["out_type"]

    def read(text: bytes) -> float:
        value = read_number(text, dtype)
        if value is None:
            call.fail(
                "a string must be a number of the output's type",
                found=repr(text[:80]),
                needed=dtype,
            )
        return value

    return each_number(read, values, dtype.np)
