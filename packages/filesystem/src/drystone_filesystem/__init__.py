"""Files anywhere, by path: filesystems for schemes, in C and in Python."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone_filesystem import gfile as gfile
    from drystone_filesystem._failures import StoreFailure as StoreFailure
    from drystone_filesystem.from_fsspec import FsspecStore as FsspecStore
    from drystone_filesystem.objects import ObjectStore as ObjectStore
    from drystone_filesystem.objects import client_options as client_options
    from drystone_filesystem.objects import retry_options as retry_options
    from drystone_filesystem.registry import register as register
    from drystone_filesystem.registry import schemes as schemes
    from drystone_filesystem.registry import select as select
    from drystone_filesystem.spool import SpooledUpload as SpooledUpload
    from drystone_filesystem.store import Stat as Stat
    from drystone_filesystem.store import Store as Store
    from drystone_filesystem.store import Upload as Upload
    from drystone_filesystem.to_fsspec import DrystoneFileSystem as DrystoneFileSystem
    from drystone_filesystem.to_fsspec import offer_to_fsspec as offer_to_fsspec
    from drystone_filesystem.transfer import progress as progress

__version__ = "0.1.0"

# Where each public name lives, "" for one that is itself a module; imported when first asked for.
_HOME = {
    "DrystoneFileSystem": "to_fsspec",
    "FsspecStore": "from_fsspec",
    "ObjectStore": "objects",
    "SpooledUpload": "spool",
    "Stat": "store",
    "Store": "store",
    "StoreFailure": "_failures",
    "Upload": "store",
    "client_options": "objects",
    "gfile": "",
    "offer_to_fsspec": "to_fsspec",
    "progress": "transfer",
    "register": "registry",
    "retry_options": "objects",
    "schemes": "registry",
    "select": "registry",
}

__all__ = [
    "DrystoneFileSystem",
    "FsspecStore",
    "ObjectStore",
    "SpooledUpload",
    "Stat",
    "Store",
    "StoreFailure",
    "Upload",
    "__version__",
    "client_options",
    "gfile",
    "offer_to_fsspec",
    "progress",
    "register",
    "retry_options",
    "schemes",
    "select",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'drystone_filesystem' has no attribute {name!r}")
    home = _HOME[name]
    value: Any = import_module(f"drystone_filesystem.{home or name}")
    if home:
        value = getattr(value, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
