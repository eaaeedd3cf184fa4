"""Tensors put into a template."""

from __future__ import annotations

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.string._summary_text import nested_text


@kernel("StringFormat")
def string_format(call: Call, *values: Array) -> Array:
    """The template with each placeholder replaced by the text of one input."""
    pieces = call.attrs["template"].split(call.attrs["placeholder"])
    call.require(
        len(pieces) == len(values) + 1,
        "the template must have one placeholder for each input",
        found=f"{len(pieces) - 1} placeholders",
        needed=len(values),
    )
    texts = [nested_text(np.asarray(v), call.attrs["summarize"]) for v in values]
    out = pieces[0] + "".join(t + p for t, p in zip(texts, pieces[1:], strict=True))
    return string_array([out.encode("utf-8", "surrogateescape")], ())
