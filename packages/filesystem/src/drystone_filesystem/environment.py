"""The environment variables of filesystems and stores."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import flag, number, path, text, whole

__all__ = [
    "AHEAD",
    "ATTEMPTS",
    "CACHE",
    "CACHE_MB",
    "FILESYSTEMS",
    "MEMORY_MB",
    "PART_MB",
    "SECONDS",
    "THREADS",
    "TIMEOUT",
    "VARIABLES",
    "WEBHDFS_HTTPS",
]

_OWNER: Final = "drystone-filesystem"
_MOST_MB: Final = 1e9

FILESYSTEMS: Final = Variable(
    "DRYSTONE_FILESYSTEMS", text("SCHEME=WHERE, with commas between"), "",
    "Who serves schemes: a library, a package or `fsspec`, as in `gs=/path/to/library.so`.",
    _OWNER, "bad-filesystem-setting",
)  # fmt: skip
PART_MB: Final = Variable(
    "DRYSTONE_FILES_PART_MB", number(0, _MOST_MB, above=True, unit="MiB"), 8.0,
    "How much one request of a transfer asks for or sends.", _OWNER,
)  # fmt: skip
THREADS: Final = Variable(
    "DRYSTONE_FILES_THREADS", whole(1, 1024), 8, "Parts of a transfer under way at once.", _OWNER,
)  # fmt: skip
AHEAD: Final = Variable(
    "DRYSTONE_FILES_AHEAD", whole(0, 1024), 2,
    "Parts that are read before they are asked for.", _OWNER,
)  # fmt: skip
ATTEMPTS: Final = Variable(
    "DRYSTONE_FILES_ATTEMPTS", whole(1, 1000), 4, "How often a part is asked for at most.", _OWNER,
)  # fmt: skip
SECONDS: Final = Variable(
    "DRYSTONE_FILES_SECONDS", number(0, 1e9, unit="seconds"), 120.0,
    "How long a part is asked for again, at most.", _OWNER,
)  # fmt: skip
TIMEOUT: Final = Variable(
    "DRYSTONE_FILES_TIMEOUT", number(0, 1e9, above=True, unit="seconds"), 20.0,
    "How long nothing may come before a request counts as failed.", _OWNER,
)  # fmt: skip
CACHE: Final = Variable(
    "DRYSTONE_FILES_CACHE", path("a folder"), "",
    "A folder for blocks of files that were read (default: none).", _OWNER,
)  # fmt: skip
CACHE_MB: Final = Variable(
    "DRYSTONE_FILES_CACHE_MB", number(0, _MOST_MB, unit="MiB"), 1024.0,
    "How much may be in that folder.", _OWNER,
)  # fmt: skip
MEMORY_MB: Final = Variable(
    "DRYSTONE_FILES_MEMORY_MB", number(0, _MOST_MB, unit="MiB"), 64.0,
    "How much of files that were read is kept in memory.", _OWNER,
)  # fmt: skip
WEBHDFS_HTTPS: Final = Variable(
    "DRYSTONE_WEBHDFS_HTTPS", flag(), False, "WebHDFS is spoken over HTTPS.", "drystone-fs-hdfs",
)  # fmt: skip

VARIABLES: Final = tuple(one for one in list(globals().values()) if type(one) is Variable)
