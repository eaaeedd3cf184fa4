"""Python functions that graphs may call, by the token that PyFunc and its kin carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from drystone_base.core.arguments import checked

__all__ = ["py_func", "register_py_func"]

_functions: Final[dict[str, Callable[..., Any]]] = {}


@checked
def register_py_func(token: str, function: Callable[..., Any]) -> None:
    """Let nodes with this ``token`` call ``function``, in every session that opens Python.

    A graph that TensorFlow made by ``tf.py_function`` or ``tf.numpy_function`` holds no code, only
    tokens such as ``pyfunc_0``. The function is called with NumPy arrays, which it must not change,
    and returns what can be turned into one array, or a tuple or list of such, one per output (None
    where there are none). Registering a token again replaces its function. Sessions call it only
    with ``SessionConfig(access=Access(python=True))``.
    """
    _functions[token] = function


def py_func(token: str) -> Callable[..., Any] | None:
    """The function registered for a token, or None."""
    return _functions.get(token)
