"""The host library seen from Python: plugins in C are loaded into it and called through it.

Nothing here is loaded until it is first used. The library is opened privately (RTLD_LOCAL), so it
shares a process with TensorFlow without either seeing the other's symbols.
"""

from drystone_base.host._lib import available, get_include, path, version

__all__ = ["available", "get_include", "path", "version"]
