"""The environment variables of the package."""

from __future__ import annotations

from typing import Final

from drystone_base.core.environment import Variable
from drystone_base.core.settings import flag, path, text

__all__ = ["DEVICES", "MEASURED", "TUNED", "VARIABLES"]

_OWNER: Final = "drystone-tvm"

DEVICES: Final = Variable(
    "DRYSTONE_TVM_DEVICES", text("types of devices, with commas between"), "",
    "Devices of plugins that compiled functions run on, too: as DLPack's external devices.",
    _OWNER,
)  # fmt: skip
MEASURED: Final = Variable(
    "DRYSTONE_TVM_MEASURED", flag(), True,
    "Whether a region that TVM has compiled must be faster than drystone's own kernels to be used.",
    _OWNER,
)  # fmt: skip
TUNED: Final = Variable(
    "DRYSTONE_TVM_TUNED", path("a folder, or off"), "",
    "Where ``drystone tvm tune`` keeps what it has found (default: the user's cache folder).",
    _OWNER,
)  # fmt: skip

VARIABLES: Final = (DEVICES, MEASURED, TUNED)
