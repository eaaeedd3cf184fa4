"""Run TensorFlow models without TensorFlow: `import drystone as ds`.

Every public name of `drystone_base` is available here and is loaded on first use, so that
importing drystone itself costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from drystone_base import *  # noqa: F403
    from drystone_base import __all__ as __all__

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Resolve a public name of `drystone_base` and keep it, so that it is looked up once.

    Raises `AttributeError` for any other name.
    """
    import drystone_base

    if name == "__all__":
        return list(drystone_base.__all__)
    if name not in drystone_base.__all__:
        raise AttributeError(f"module 'drystone' has no attribute {name!r}")
    value = getattr(drystone_base, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Names for tab completion: the public API of the installed `drystone_base`."""
    import drystone_base

    return sorted({*drystone_base.__all__, "__version__"})
