"""Compilers behind the PJRT C API, such as XLA, as the subgraph backend ``pjrt``.

``ds.SessionConfig(subgraphs="pjrt")`` gives regions of a graph to the PJRT plugin that is
installed; :func:`plugins` says which there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_pjrt.api._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_pjrt.backend.pjrt import PjrtBackend as PjrtBackend
    from drystone_pjrt.libraries.found import Found as Found
    from drystone_pjrt.libraries.found import plugins as plugins

__version__ = "0.1.0"

# Where each public name lives; modules are imported when a name is first asked for.
_HOME = {"Found": ".libraries.found", "PjrtBackend": ".backend.pjrt", "plugins": ".libraries.found"}

__all__ = ["Found", "PjrtBackend", "__version__", "plugins"]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
