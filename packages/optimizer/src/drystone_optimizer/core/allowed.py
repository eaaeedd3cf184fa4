"""Whether an op may take the place of another one: it is defined for some dtypes, not for all."""

from __future__ import annotations

from functools import lru_cache

from drystone_base.core.dtypes import DType
from drystone_base.ops.defs import find

__all__ = ["allows"]


@lru_cache(maxsize=4096)
def allows(op: str, dtype: DType | None, attr: str = "T") -> bool:
    """Whether nodes of ``op`` may state that dtype; False where it is not known."""
    definition = find(op)
    declared = definition.attrs.get(attr) if definition is not None else None
    if dtype is None or declared is None:
        return False
    return not declared.allowed or dtype.base in declared.allowed
