"""Seconds of Allreduce over the processes of MPI; run by mpiexec.

all_reduce_mpi.py ROUNDS MEBIBYTES: process 0 prints the median for 8 bytes and the best for
MEBIBYTES of float32.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
from mpi4py import MPI


def main() -> None:
    """Measure."""
    rounds, mebibytes = map(int, sys.argv[1:])
    world, found = MPI.COMM_WORLD, []
    for elements, count in ((2, rounds), (mebibytes << 18, 7)):
        value, spent = np.ones(elements, np.float32), []
        total = np.empty_like(value)
        for _ in range(count):
            world.Barrier()
            start = time.perf_counter()
            world.Allreduce(value, total)
            spent.append(time.perf_counter() - start)
        found.append(statistics.median(spent) if elements == 2 else min(spent))
    world.Barrier()
    if world.rank == 0:
        print(*found)


main()
