"""Clusters that are compiled while their functions run.

Source: TensorFlow ops _XlaCompile, _XlaRun. The attribute ``_compiler`` says by whom.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.ops.attrs import FunctionRef
from drystone_base.state.compilers import Executables


def _executables(call: Call) -> Executables:
    return call.runtime.resources.get_or_create("", "executables", "", Executables)


@kernel("_XlaCompile")
def xla_compile(call: Call, *inputs: Array) -> list[Array]:
    """A key for ``function`` with such inputs, and whether it is compiled by now."""
    function: FunctionRef = call.attrs["function"]
    library = call.runtime.library
    key, is_ready = _executables(call).ask(
        function.name, call.attrs["_library"], call.attrs["_compiler"],
        lambda: library[function.name].body(library, function.attrs),
        inputs, wait=bool(call.attrs["must_compile"]),
    )  # fmt: skip
    return [string_array([key.encode()], ()), np.array(is_ready)]


@kernel("_XlaRun")
def xla_run(call: Call, *inputs: Array) -> Sequence[Array]:
    """What the compiled function of the key gives; where it fails, what its function gives."""
    *args, key = inputs
    text = key.item().decode()
    function: FunctionRef = call.attrs["_function"]
    found = _executables(call).run(text, function.name, args)
    return call.runtime.invoke(function, args) if found is None else list(found)
