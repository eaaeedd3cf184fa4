"""Files anywhere, by path: filesystems for schemes, in C and in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_filesystem._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_base.host.filesystem_options import Option as Option
    from drystone_base.host.filesystem_options import Transaction as Transaction
    from drystone_base.host.filesystem_options import get_option as get_option
    from drystone_base.host.filesystem_options import option_names as option_names
    from drystone_base.host.filesystem_options import options as options
    from drystone_base.host.filesystem_options import set_option as set_option
    from drystone_base.host.filesystem_options import set_options as set_options
    from drystone_base.host.filesystem_options import transaction as transaction
    from drystone_base.host.filesystem_options import transaction_of as transaction_of
    from drystone_filesystem import gfile as gfile
    from drystone_filesystem._failures import StoreFailure as StoreFailure
    from drystone_filesystem.answers import http_seconds as http_seconds
    from drystone_filesystem.answers import retry_after as retry_after
    from drystone_filesystem.from_fsspec import FsspecStore as FsspecStore
    from drystone_filesystem.objects import ObjectStore as ObjectStore
    from drystone_filesystem.objects import client_options as client_options
    from drystone_filesystem.objects import retry_options as retry_options
    from drystone_filesystem.redirects import check_plain as check_plain
    from drystone_filesystem.redirects import redirected as redirected
    from drystone_filesystem.registry import register as register
    from drystone_filesystem.registry import schemes as schemes
    from drystone_filesystem.registry import select as select
    from drystone_filesystem.spool import Sending as Sending
    from drystone_filesystem.spool import SpooledUpload as SpooledUpload
    from drystone_filesystem.store import Stat as Stat
    from drystone_filesystem.store import Store as Store
    from drystone_filesystem.store import Take as Take
    from drystone_filesystem.store import Upload as Upload
    from drystone_filesystem.to_fsspec import DrystoneFileSystem as DrystoneFileSystem
    from drystone_filesystem.to_fsspec import offer_to_fsspec as offer_to_fsspec
    from drystone_filesystem.transfer import progress as progress

__version__ = "0.1.1"

_OPTIONS = "drystone_base.host.filesystem_options"
# Where each public name lives, "" for one that is itself a module; imported when first asked for.
_HOME = {
    "DrystoneFileSystem": ".to_fsspec",
    "FsspecStore": ".from_fsspec",
    "ObjectStore": ".objects",
    "Option": _OPTIONS,
    "Sending": ".spool",
    "SpooledUpload": ".spool",
    "Stat": ".store",
    "Store": ".store",
    "StoreFailure": "._failures",
    "Take": ".store",
    "Transaction": _OPTIONS,
    "Upload": ".store",
    "check_plain": ".redirects",
    "client_options": ".objects",
    "get_option": _OPTIONS,
    "gfile": "",
    "http_seconds": ".answers",
    "offer_to_fsspec": ".to_fsspec",
    "option_names": _OPTIONS,
    "options": _OPTIONS,
    "progress": ".transfer",
    "redirected": ".redirects",
    "register": ".registry",
    "retry_after": ".answers",
    "retry_options": ".objects",
    "schemes": ".registry",
    "select": ".registry",
    "set_option": _OPTIONS,
    "set_options": _OPTIONS,
    "transaction": _OPTIONS,
    "transaction_of": _OPTIONS,
}

__all__ = [
    "DrystoneFileSystem",
    "FsspecStore",
    "ObjectStore",
    "Option",
    "Sending",
    "SpooledUpload",
    "Stat",
    "Store",
    "StoreFailure",
    "Take",
    "Transaction",
    "Upload",
    "__version__",
    "check_plain",
    "client_options",
    "get_option",
    "gfile",
    "http_seconds",
    "offer_to_fsspec",
    "option_names",
    "options",
    "progress",
    "redirected",
    "register",
    "retry_after",
    "retry_options",
    "schemes",
    "select",
    "set_option",
    "set_options",
    "transaction",
    "transaction_of",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
