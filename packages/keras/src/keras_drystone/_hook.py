"""Keras is told that there is a backend named ``drystone``.

Keras 3.16 has backends of others, ``keras_NAME`` for ``KERAS_BACKEND=NAME``, but only for names in
a set of its own (``PLUGGABLE_BACKENDS`` of ``keras.src.backend.config``). Until it takes ours, the
set is changed in the source text when that module is loaded: it imports others while it runs, and
they read the set before its last line. Nothing of Keras is changed on disk.
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import CodeType, ModuleType
from typing import Final

from drystone_base.core.errors import BadRequest

__all__ = ["install"]

NAME: Final = "drystone"
_ASKED: Final = "KERAS_BACKEND"
_CONFIG: Final = "keras.src.backend.config"
_SET: Final = "PLUGGABLE_BACKENDS = frozenset(["
_NEEDED: Final = "keras>=3.16, or keras-nightly>=3.16.0.dev2026102704"
_COMMAND: Final = "pip install 'keras-nightly==3.16.0.dev2026102704'"


def install() -> None:
    """Make drystone the backend that ``import keras`` takes, unless another one was asked for.

    Raises ``BadRequest`` (``keras-missing``, ``keras-too-old``) where Keras is not installed or
    knows no backends of others, and (``keras-imported``) where it runs on another one already.
    """
    _check_installed()
    if os.environ.get(_ASKED, NAME) != NAME:
        return
    loaded = sys.modules.get(_CONFIG)
    if loaded is not None:
        _check_loaded(loaded)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _check_installed() -> None:
    if importlib.util.find_spec("keras") is None:
        raise BadRequest(
            "drystone-keras cannot be used without Keras",
            check="the package keras must be installed",
            found="no module keras",
            needed=_NEEDED,
            remedy=_COMMAND,
            code="keras-missing",
        )


def _check_loaded(config: ModuleType) -> None:
    if config.backend() != NAME:
        raise BadRequest(
            "Keras runs on another backend already",
            check="keras_drystone must be imported before keras",
            found=f"keras with the backend {config.backend()}",
            needed="import keras_drystone, then import keras",
            remedy="move the import to the top of the program, or set KERAS_BACKEND=drystone and "
            "start it with python -m keras_drystone",
            code="keras-imported",
        )


class _Finder(MetaPathFinder):
    """Finds one module, and lets another loader load it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != _CONFIG:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the module with one more name in its set, and that name as the one asked for.

    The name is in the environment no longer than the module reads it: a process that this one
    starts, and TensorFlow in it, import Keras without this loader, and would find no such backend.
    """

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed text."""
        asked = os.environ.get(_ASKED)
        os.environ[_ASKED] = NAME
        try:
            super().exec_module(module)
        finally:
            if asked is None:
                del os.environ[_ASKED]

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        """The code of the changed text; compiled again: the cached one has not the name."""
        text = self.get_data(self.path).decode("utf-8")
        if f'"{NAME}"' not in text:
            if _SET not in text:
                raise _too_old()
            text = text.replace(_SET, f'{_SET}"{NAME}", ', 1)
        return compile(text, self.path, "exec", dont_inherit=True)


def _too_old() -> BadRequest:
    names = ("keras", "keras-nightly")
    found = [f"{n} {v}" for n in names if (v := _version(n)) is not None]
    return BadRequest(
        "this Keras takes no backend but its own",
        check="Keras must have pluggable backends",
        found=", ".join(found) or "a keras of no version",
        needed=_NEEDED,
        remedy=f"pip uninstall keras; {_COMMAND}",
        code="keras-too-old",
    )


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
