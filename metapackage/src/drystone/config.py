"""Settings of the process under TensorFlow's names.

`ds.config.optimizer.set_experimental_options({"remapping": False})`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import drystone

if TYPE_CHECKING:
    import drystone_optimizer

    optimizer = drystone_optimizer

__all__ = ["optimizer"]


def __getattr__(name: str) -> Any:
    if name != "optimizer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return drystone.optimizer
