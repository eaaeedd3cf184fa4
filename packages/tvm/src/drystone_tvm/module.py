"""A library of compiled functions as an object: ``module["addone"](x)``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from drystone_tvm.calls import call

__all__ = ["CompiledFunction", "Module", "load"]


class CompiledFunction:
    """One function of a library; a call takes tensors or arrays, as :func:`drystone_tvm.call`."""

    __slots__ = ("name", "path")

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = path, name

    def __repr__(self) -> str:
        return f"<CompiledFunction {self.name!r} of {self.path!r}>"

    def __call__(
        self,
        *inputs: Any,
        output_dtypes: Sequence[Any] | None = None,
        output_shapes: Sequence[Any] | None = None,
        gradient: str | None = None,
    ) -> Any:
        """What the function gives; arguments and errors of :func:`drystone_tvm.call`."""
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

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"<Module {self.path!r}>"

    def __getitem__(self, name: str) -> CompiledFunction:
        """The function of this name; a call of one that the library does not have says so."""
        return CompiledFunction(self.path, name)


def load(path: str | os.PathLike[str]) -> Module:
    """A library that TVM exported, such as by ``export_library``; it is opened by the first call.

    Raises ``FileNotFoundError`` where there is no file.
    """
    return Module(os.path.abspath(os.fspath(path)))
