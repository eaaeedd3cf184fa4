"""The contract between drystone and its plugins.

Protos live in `drystone_abi.protos` and the scanner of platform strings in
`drystone_abi.platform_strings`; importing this package alone loads neither.
"""

from drystone_abi.headers import (
    ABI_VERSION,
    get_cmake_dir,
    get_compile_flags,
    get_include,
    get_link_flags,
)

__version__ = "0.2.0"

__all__ = [
    "ABI_VERSION",
    "__version__",
    "get_cmake_dir",
    "get_compile_flags",
    "get_include",
    "get_link_flags",
]
