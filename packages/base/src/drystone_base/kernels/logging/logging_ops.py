"""Checks and messages: Assert, Print and the clock."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import Final

import numpy as np

from drystone_base.core.printable import plain_lines, shown_on
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.string._summary_text import flat_text

_log: Final = logging.getLogger("drystone.graph")
_LEVELS: Final = {
    "log(info)": logging.INFO,
    "log(warning)": logging.WARNING,
    "log(error)": logging.ERROR,
}


@kernel("Assert")
def assert_(call: Call, condition: Array, *data: Array) -> tuple[()]:
    """Nothing if the condition holds; else INVALID_ARGUMENT with the data's first elements."""
    call.require(
        condition.ndim == 0,
        "the condition must be a scalar",
        found=list(condition.shape),
        needed="rank 0",
    )
    if not condition:
        texts = [f"[{flat_text(np.asarray(d), call.attrs['summarize'])}]" for d in data]
        call.fail("assertion failed: " + " ".join(texts), found="False", needed="True")
    return ()


@kernel("Print")
def print_(call: Call, value: Array, *data: Array) -> Array:
    """The first input; the others go to standard error, ``first_n`` times (-1: always)."""
    key = ("printed", call.node)
    times: list[int] = call.runtime.resources.get_or_create("", *key, lambda: [0])
    times[0] += 1
    if not 0 <= call.attrs["first_n"] < times[0]:
        texts = [f"[{flat_text(np.asarray(d), call.attrs['summarize'])}]" for d in data]
        print(shown_on(call.attrs["message"] + "".join(texts), sys.stderr), file=sys.stderr)
    return value


@kernel("PrintV2")
def print_v2(call: Call, text: Array) -> tuple[()]:
    """Write a string to ``output_stream``: a standard stream, the log, or ``file://`` a path.

    What a terminal would act on is escaped in a terminal and in the log; a pipe and a file get it.
    """
    line = scalar_string(call, text, "the text").decode("utf-8", "backslashreplace")
    stream, end = call.attrs["output_stream"], call.attrs["end"]
    if stream in ("stdout", "stderr"):
        file = getattr(sys, stream)
        print(shown_on(line, file), end=shown_on(end, file), file=file)
    elif stream in _LEVELS:
        _log.log(_LEVELS[stream], "%s", plain_lines(line))
    else:
        call.require(
            stream.startswith("file://"),
            "the output stream must be one that is known",
            found=stream,
            needed="stdout, stderr, log(info), log(warning), log(error) or file://PATH",
        )
        path = Path(stream.removeprefix("file://"))
        call.runtime.access.check_write(call, path)
        with path.open("a", encoding="utf-8") as file:
            file.write(line + end)
    return ()


@kernel("Timestamp")
def timestamp(_: Call) -> Array:
    """Seconds since 1970, float64."""
    return np.array(time.time())
