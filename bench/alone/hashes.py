"""How fast the hashes of Python's library are: ``python -m bench.alone.hashes [MEGABYTES]``.

The key of a kept executable has a hash of every constant of its region. Processor time, the least
of some rounds.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from typing import Final

NAMES: Final = ("sha256", "sha1", "sha512", "blake2b", "blake2s", "sha3_256", "md5")
ROUNDS: Final = 5


def main() -> None:
    """Print gigabytes a second, the fastest first."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 64) << 20
    data = os.urandom(size)
    least = dict.fromkeys(NAMES, float("inf"))
    for _ in range(ROUNDS):
        for name in NAMES:
            begin = time.process_time()
            hashlib.new(name, data).digest()
            least[name] = min(least[name], time.process_time() - begin)
    for name in sorted(NAMES, key=least.__getitem__):
        print(f"{name:10}{size / least[name] / 1e9:6.2f} GB/s")


if __name__ == "__main__":
    main()
