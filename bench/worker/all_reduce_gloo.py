"""Seconds of all_reduce over the processes of torch.distributed with gloo; run once per process.

all_reduce_gloo.py RANK SIZE PORT ROUNDS MEBIBYTES: process 0 prints the median for 8 bytes and the
best for MEBIBYTES of float32.
"""

from __future__ import annotations

import statistics
import sys
import time

import torch
import torch.distributed as dist


def main() -> None:
    """Measure."""
    rank, size, port, rounds, mebibytes = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size
    )
    found = []
    for elements, count in ((2, rounds), (mebibytes << 18, 7)):
        value, spent = torch.ones(elements), []
        for _ in range(count):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(value)
            spent.append(time.perf_counter() - start)
            value.fill_(1.0)
        found.append(statistics.median(spent) if elements == 2 else min(spent))
    dist.barrier()
    if rank == 0:
        print(*found)


main()
