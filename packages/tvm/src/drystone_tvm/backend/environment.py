"""The environment variable of the backend."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import flag

__all__ = ["MEASURED", "VARIABLES"]

MEASURED: Final = Variable(
    "DRYSTONE_TVM_MEASURED", flag(), True,
    "Whether a region that TVM has compiled must be faster than drystone's own kernels to be used.",
    "drystone-tvm",
)  # fmt: skip

VARIABLES: Final = (MEASURED,)
