"""Gradients: of functions of tensors, custom ones, and none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from keras.src import tree
from keras.src.backend.common.backend_utils import standardize_argnums

from drystone_base.api.function import Function
from drystone_base.autodiff.asking import gradients
from drystone_base.tracing.gradient import custom_gradient as base_custom_gradient
from drystone_base.tracing.gradient import recompute
from drystone_base.tracing.trace import Trace
from keras_drystone.src.dispatch import added, emit, is_symbolic
from keras_drystone.src.tensor import wrapped

__all__ = ["custom_gradient", "grad", "remat", "stop_gradient"]


def stop_gradient(variable: Any) -> Any:
    """The value, through which no gradient goes."""
    from keras_drystone.src.ops.core import convert_to_tensor

    x = convert_to_tensor(variable)
    return emit("StopGradient", x) if is_symbolic(x) else x


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives its result, and a function for its gradient."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        from keras_drystone.src.ops.core import convert_to_tensor

        if Trace.active() is None or not is_symbolic([convert_to_tensor(a) for a in args]):
            return f(*args, **kwargs)[0]

        def both(*inner: Any) -> Any:
            result, back = f(*map(wrapped, inner), **kwargs)

            def way(*grads: Any) -> Any:
                return _called_back(back, *map(wrapped, grads))

            return result, way

        found = base_custom_gradient(both)(*map(convert_to_tensor, args))
        return tuple(map(wrapped, found)) if isinstance(found, tuple) else wrapped(found)

    return call


def _called_back(back: Callable[..., Any], *grads: Any) -> Any:
    """A way back takes the gradients by position, or the one as ``upstream``."""
    found = back(*grads)
    return tuple(found) if isinstance(found, list | tuple) else found


def remat(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose values are computed again for its gradients, rather than held."""
    found: Callable[..., Any] = recompute(f)
    return found


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that gives the gradient of ``f`` by arguments."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        places = standardize_argnums(argnums, len(args))
        if Trace.active() is not None:
            found = _traced(f, places, args, kwargs)
        else:
            found = Function(lambda *a: _traced(f, places, a, kwargs), None, None)(
                *_arrays(args, places)
            )
        return found[0] if isinstance(argnums, int) else tuple(found)

    return gradient


def _arrays(args: Sequence[Any], places: Sequence[int]) -> list[Any]:
    from keras_drystone.src.ops.core import convert_to_tensor

    return [
        tree.map_structure(convert_to_tensor, a) if k in places else a for k, a in enumerate(args)
    ]


def _traced(f: Any, places: Sequence[int], args: Sequence[Any], kwargs: Any) -> list[Any]:
    from keras_drystone.src.ops.core import convert_to_tensor

    def own(x: Any) -> Any:
        return _identity(convert_to_tensor(wrapped(x)))

    given = [tree.map_structure(own if k in places else wrapped, a) for k, a in enumerate(args)]
    result = f(*given, **kwargs)
    chosen = [given[k] for k in places]
    flat = tree.flatten(chosen)
    found = [_dense(g, x) for g, x in zip(gradients(result, flat), flat, strict=True)]
    packed = tree.pack_sequence_as(chosen, found)
    return list(packed)


def _identity(x: Any) -> Any:
    return added("Identity", [x], {})[0]


def _dense(found: Any, x: Any) -> Any:
    from keras_drystone.src.ops.densify import dense

    return emit("ZerosLike", x) if found is None else dense(found)


def forward_derivative(fun: Any, primals: Any, tangents: Any, has_aux: bool) -> Any:
    """The function's value and its derivative along a direction; and what it gives beside."""
    from keras_drystone.src.ops.core import convert_to_tensor

    primals, tangents = (tree.map_structure(convert_to_tensor, v) for v in (primals, tangents))
    if Trace.active() is not None:
        return _forward(fun, primals, tangents, has_aux)
    run = Function(lambda p, t: _forward(fun, p, t, has_aux), None, None)
    return run(primals, tangents)


def _forward(fun: Any, primals: Any, tangents: Any, has_aux: bool) -> Any:
    given = tree.map_structure(lambda x: _identity(wrapped(x)), primals)
    result = fun(*given)
    value, *aux = result if has_aux else (result,)
    sources, ends = tree.flatten(given), tree.flatten(value)
    seeds = [_identity(emit("ZerosLike", y)) for y in ends]
    back = gradients(ends, sources, grad_ys=seeds)
    found = [(g, t) for g, t in zip(back, tree.flatten(tangents), strict=True) if g is not None]
    changes = [None] * len(ends)
    if found:
        weights = [wrapped(t) for _, t in found]
        changes = gradients([g for g, _ in found], seeds, grad_ys=weights)
    flat = [_dense(g, y) for g, y in zip(changes, ends, strict=True)]
    return (value, tree.pack_sequence_as(value, flat), *aux)
