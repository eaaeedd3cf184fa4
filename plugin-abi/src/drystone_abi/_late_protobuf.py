"""Protobuf without its implementation in Python, which it imports also where another one is used.

That module brings a dozen others, which take 5 ms, and is needed where protobuf has no extension.
"""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec

__all__ = ["import_late"]


def import_late(package: str, name: str) -> None:
    """Let a module of a package run when somebody first asks for something in it.

    Nothing changes where it is imported already, or is not there.
    """
    whole = f"{package}.{name}"
    if whole in sys.modules:
        return
    try:
        spec = find_spec(whole)
    except ImportError:
        return
    if spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[whole] = module
    spec.loader.exec_module(module)
    setattr(sys.modules[package], name, module)
