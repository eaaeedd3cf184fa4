"""Write the table of Unicode scripts: python -m ci.scripts.unicode_scripts

Run with a Python that has tensorflow. Asks its UnicodeScript op (ICU's data, from Unicode's
Scripts.txt) for every code point, and writes where runs of one script begin to
packages/base/src/drystone_base/kernels/string/_unicode_scripts.py.
"""

from __future__ import annotations

import base64
import sys
import textwrap
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "packages/base/src/drystone_base/kernels/string/_unicode_scripts.py"

HEAD = '''"""Where runs of code points of one Unicode script begin, and ICU's number of the script.

`python -m ci.scripts.unicode_scripts` writes it, from the data of Unicode's Scripts.txt.
"""

import base64
import zlib
from functools import cache
from typing import Any, Final

import numpy as np

__all__ = ["script_runs"]

_COUNT: Final = {count}
_DATA: Final = """
{data}
"""


@cache
def script_runs() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Sorted first code points of runs, and the script of each run; int32."""
    table = np.frombuffer(zlib.decompress(base64.b85decode(_DATA.replace("\\n", ""))), "<i4")
    starts, scripts = table.reshape(2, _COUNT)
    return np.cumsum(starts), scripts.astype(np.int32)
'''


def main() -> int:
    """Ask for all code points and write the module."""
    import tensorflow as tf

    scripts = tf.raw_ops.UnicodeScript(input=np.arange(0x110000, dtype=np.int32)).numpy()
    starts = np.flatnonzero(np.diff(scripts, prepend=-2))
    table = np.stack([np.diff(starts, prepend=0), scripts[starts]]).astype("<i4")
    data = base64.b85encode(zlib.compress(table.tobytes(), 9)).decode()
    lines = textwrap.fill(data.replace("\\", "\\\\"), 99)
    TARGET.write_text(HEAD.format(count=len(starts), data=lines), encoding="utf-8")
    print(f"unicode scripts: {len(starts)} runs, {len(data)} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
