"""Calls of compiled functions: a node in a function that is traced, values at once on arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import EllipsisType
from typing import Any, Final, NamedTuple

import numpy as np

import drystone_base as ds
from drystone_base.tracing import operations as ops
from drystone_base.tracing.calls import call as emit
from drystone_tvm.compiling.stated import Form, stated

__all__ = ["OP", "Called", "call", "session_callable"]

OP: Final = "TvmRuntime"
_KEPT: Final = 64
"""Sessions of calls on arrays that are kept: for each function and dtypes."""


class Called(NamedTuple):
    """What is called, and what a call gives; a new version of the library is another one.

    ``shapes``: those of the results; ``...`` where each call gives them, None: the first input's.
    """

    path: str
    version: tuple[int, ...]
    function: str
    given: tuple[str, ...]
    results: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...] | EllipsisType | None


def call(
    *inputs: Any,
    lib_path: str | os.PathLike[str],
    function_name: str,
    output_dtypes: Sequence[Any] | None = None,
    output_shapes: Sequence[Any] | None = None,
    gradient: str | None = None,
) -> Any:
    """What a function of a library gives: one tensor or array, or a list of several.

    The function takes the inputs, then one tensor for each result, which it fills: numbers of any
    dtype and rank, contiguous. What its library states of results is not to be said again. Else
    ``output_dtypes`` has one for each result; without it there is one, of the first input's dtype.
    ``output_shapes`` has the shape of each result, as sizes or as an int64 vector that is a tensor
    itself; without it all have the first input's. A size may be a pair ``(k, axis)``, which is the
    size of that axis of input k. ``gradient`` names a function of the same library that takes the
    inputs and the gradient of the one result, and gives the gradient of each input.

    On tensors of a function that is traced this adds a node, ``TvmRuntime``; a session runs it
    only where ``SessionConfig(access=Access(libraries=[...]))`` opens the library. Raises
    ``KernelError`` (``access-denied``, ``plugin-kernel-failed`` with what the library or its
    function says) and ``BadRequest``. Source: apache-tvm-ffi 0.1, C ABI.
    """
    path = os.path.abspath(os.fspath(lib_path))
    if output_dtypes is None and output_shapes is None:
        output_dtypes, output_shapes = _stated_results(inputs, path, function_name)
    _check_counts(inputs, function_name, output_dtypes, output_shapes)
    if gradient is not None:
        _check_gradient(gradient, output_dtypes)
        return _with_gradient(inputs, path, function_name, output_dtypes, output_shapes, gradient)
    symbolic = any(isinstance(x, ds.Tensor) for x in (*inputs, *(output_shapes or ())))
    run = _node if symbolic else _values
    found = run(inputs, path, function_name, output_dtypes, output_shapes)
    return found[0] if output_dtypes is None or len(output_dtypes) == 1 else found


def _stated_results(inputs: Sequence[Any], path: str, name: str) -> tuple[Any, Any]:
    """Dtypes and shapes of what a function gives, as its library states them; else None twice."""
    form = _form(path, _version(path))
    if form is None or form.function != name:
        return None, None
    if len(inputs) == len(form.inputs):
        return [out.dtype for out in form.outputs], form.output_shapes()
    raise ds.BadRequest(
        f"function {name!r} of {path!r} cannot be called so",
        check="a call gives each input that the library states",
        found=f"{len(inputs)} inputs",
        needed=", ".join(map(str, form.inputs)) or "none",
        remedy="give one tensor for each, in this order",
        code="wrong-argument-count",
    )


@lru_cache(_KEPT)
def _form(path: str, version: tuple[int, ...]) -> Form | None:  # noqa: ARG001 — the key
    return stated(path)


def _check_counts(inputs: Sequence[Any], name: str, dtypes: Any, shapes: Any) -> None:
    results = 1 if dtypes is None else len(dtypes)
    if not inputs and (dtypes is None or shapes is None):
        wrong, needed = "no inputs", "output_dtypes and output_shapes, as no input says them"
    elif shapes is not None and len(shapes) != results:
        wrong, needed = f"{len(shapes)} output_shapes", f"{results}, one for each result"
    else:
        return
    raise ds.BadRequest(
        f"the call of {name!r} does not say what it gives",
        check="a call must say dtype and shape of each result",
        found=wrong,
        needed=needed,
        remedy='call(x, ..., output_dtypes=["float32"], output_shapes=[x.shape])',
        code="wrong-argument-count",
    )


def _check_gradient(gradient: str, dtypes: Any) -> None:
    if dtypes is None or len(dtypes) == 1:
        return
    raise ds.BadRequest(
        f"the gradient {gradient!r} cannot be used",
        check="a function with a gradient gives one result",
        found=f"{len(dtypes)} results",
        needed="1",
        remedy="ds.custom_gradient around the call, for functions of several results",
        code="wrong-argument-count",
    )


def _with_gradient(
    inputs: Sequence[Any], path: str, name: str, dtypes: Any, shapes: Any, gradient: str
) -> Any:
    @ds.custom_gradient
    def differentiable(*xs: Any) -> tuple[Any, Callable[[Any], Any]]:
        def back(grad: Any) -> Any:
            found = call(
                *xs, grad, lib_path=path, function_name=gradient,
                output_dtypes=[x.dtype for x in xs],
                output_shapes=[ops.shape(x, out_type="int64") for x in xs],
            )  # fmt: skip
            return found if isinstance(found, list) else [found]

        value = call(
            *xs, lib_path=path, function_name=name, output_dtypes=dtypes, output_shapes=shapes
        )
        return value, back

    return differentiable(*inputs)


def _node(inputs: Sequence[Any], path: str, name: str, dtypes: Any, shapes: Any) -> list[Any]:
    """The results as symbolic tensors."""
    ds.plugins.ensure_loaded()
    types = [inputs[0].dtype] if dtypes is None else [ds.as_dtype(d) for d in dtypes]
    as_inputs = shapes is not None and any(isinstance(s, ds.Tensor) for s in shapes)
    sizes = [] if as_inputs else [_open_sizes(s) for s in shapes or ()]
    found = emit(
        OP,
        [list(inputs), [ops.cast(s, DstT="int64") for s in shapes] if as_inputs else []],
        {
            "lib_path": path,
            "function_name": name,
            "Tout": types,
            "output_shapes": [tuple(known) for known, _ in sizes],
            "sizes_of": [k for _, places in sizes for place in places for k in place],
        },
    )
    return list(found)


def _open_sizes(shape: Any) -> tuple[list[int], list[tuple[int, int]]]:
    """The sizes of a shape, -1 for those that are sizes of inputs; and of which axes."""
    sizes, places = [], []
    for size in shape:
        if isinstance(size, tuple):
            places.append((int(size[0]), int(size[1])))
        elif size is None:
            raise _bad_shape(shape, "sizes, pairs (input, axis), or the shape as an int64 tensor")
        sizes.append(-1 if isinstance(size, tuple) else int(size))
    return sizes, places


def _values(inputs: Sequence[Any], path: str, name: str, dtypes: Any, shapes: Any) -> list[Any]:
    """The results for arrays, at once."""
    arrays = [np.asarray(x.value if isinstance(x, ds.Variable) else x) for x in inputs]
    given = tuple(str(ds.as_dtype(a.dtype)) for a in arrays)
    results = given[:1] if dtypes is None else tuple(str(ds.as_dtype(d)) for d in dtypes)
    sizes = [np.asarray(_of_arrays(s, arrays), np.int64) for s in shapes or ()]
    called = Called(path, _version(path), name, given, results, ... if sizes else None)
    return list(_callable(called)(*arrays, *sizes))


def _of_arrays(shape: Any, arrays: Sequence[Any]) -> list[Any]:
    """A shape, with the sizes that are those of arrays; raises ``BadRequest`` for none such."""
    try:
        return [_size(arrays, *s) if isinstance(s, tuple) else s for s in shape]
    except IndexError:
        pass
    ranks = ", ".join(str(array.ndim) for array in arrays)
    raise _bad_shape(shape, f"axes that the inputs have, whose ranks are {ranks or 'none'}")


def _bad_shape(shape: Any, needed: str) -> ds.BadRequest:
    return ds.BadRequest(
        "output_shapes has a shape that says too little",
        check="each size of a result is a number, or that of an axis of an input",
        found=str(list(shape)),
        needed=needed,
        remedy="output_shapes=[[(0, 0), 3]]: as many rows as input 0 has, of 3",
        code="bad-shape",
    )


def _size(arrays: Sequence[Any], k: int, axis: int) -> int:
    if k < 0 or axis < 0:
        raise IndexError
    size: int = arrays[k].shape[axis]
    return size


def _version(path: str) -> tuple[int, ...]:
    try:
        facts = os.stat(path)
    except OSError:  # which the kernel says with its reason
        return ()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def session_callable(called: Called) -> Callable[..., Any]:
    """A session's callable of one node; it holds the library open."""
    ds.plugins.ensure_loaded()
    graph = ds.Graph()
    b = ds.Builder(graph)
    inputs = [
        b("Placeholder", dtype=dtype, name=f"input_{k}") for k, dtype in enumerate(called.given)
    ]
    counts = range(len(called.results) if called.shapes is ... else 0)
    sizes = [b("Placeholder", dtype="int64", name=f"shape_{k}") for k in counts]
    shapes = () if called.shapes is ... or called.shapes is None else called.shapes
    node = b.node(
        OP, inputs, sizes, lib_path=called.path, function_name=called.function,
        Tin=list(called.given), Tout=list(called.results), output_shapes=list(shapes),
        num_shapes=len(sizes), name="call",
    )  # fmt: skip
    access = ds.Access(libraries=(called.path,))
    session = ds.Session(graph, ds.SessionConfig(access=access, optimizer="off", subgraphs="off"))
    fed = [f"{output[0].name}:0" for output in (*inputs, *sizes)]
    return session.make_callable([f"{node.name}:{k}" for k in range(len(called.results))], fed)


_callable = lru_cache(_KEPT)(session_callable)
