"""The script that a code point belongs to: Latin, Han, Arabic ...; ICU's numbers.

Source: TensorFlow op UnicodeScript; the data are Unicode's.
"""

from __future__ import annotations

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels.string._unicode_scripts import script_runs


@kernel("UnicodeScript")
def unicode_script(_: Call, points: Array) -> Array:
    """The number of each code point's script, int32; -1 where there is no such code point."""
    starts, scripts = script_runs()
    found = scripts[np.searchsorted(starts, points, side="right") - 1]
    return np.asarray(np.where((points < 0) | (points > 0x10FFFF), np.int32(-1), found))
