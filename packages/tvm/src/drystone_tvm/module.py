"""A library of compiled functions as an object: ``module["addone"](x)``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from drystone_tvm.calls import call

if TYPE_CHECKING:
    from drystone_tvm.compiling.stated import Form

__all__ = ["CompiledFunction", "Module", "load"]


class CompiledFunction:
    """One function of a library; a call takes tensors or arrays, as :func:`drystone_tvm.call`.

    ``form``: what the library states of the function's inputs and outputs, None where nothing.
    """

    __slots__ = ("form", "name", "path")

    def __init__(self, path: str, name: str, form: Form | None = None) -> None:
        self.path, self.name, self.form = path, name, form

    def __repr__(self) -> str:
        return f"<CompiledFunction {self.name!r} of {self.path!r}>"

    def __call__(
        self,
        *inputs: Any,
        output_dtypes: Sequence[Any] | None = None,
        output_shapes: Sequence[Any] | None = None,
        gradient: str | None = None,
    ) -> Any:
        """What the function gives; arguments and errors of :func:`drystone_tvm.call`.

        Where the library states them, dtypes and shapes need not be given.
        """
        return call(
            *inputs,
            lib_path=self.path,
            function_name=self.name,
            output_dtypes=output_dtypes,
            output_shapes=output_shapes,
            gradient=gradient,
        )


class Module:
    """A library of compiled functions, by its file; :func:`load` makes it."""

    __slots__ = ("_form", "path")

    def __init__(self, path: str) -> None:
        from drystone_tvm.compiling.stated import stated

        self.path = path
        self._form = stated(path)

    def __repr__(self) -> str:
        return f"<Module {self.path!r}>"

    def __getitem__(self, name: str) -> CompiledFunction:
        """The function of this name; a call of one that the library does not have says so."""
        form = self._form
        return CompiledFunction(
            self.path, name, form if form is not None and form.function == name else None
        )


def load(path: str | os.PathLike[str]) -> Module:
    """A library that TVM exported, such as by ``export_library``; it is opened by the first call.

    The caller trusts it with what the process may do. In a function that is traced, the session
    must be let, too: ``Access(libraries=[path])``.
    """
    return Module(os.path.abspath(os.fspath(path)))
