"""Machines whose clocks differ: nothing that goes between tasks says what time it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from clusters import Cluster, endless, there_and_back

from drystone_base.core.errors import DrystoneError

CLOCK = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long off(void) { const char* said = getenv("CLOCK_IS_OFF"); return said ? atol(said) : 0; }
int clock_gettime(clockid_t which, struct timespec* out) {
  const int done = (int)syscall(SYS_clock_gettime, which, out);
  out->tv_sec += which == CLOCK_REALTIME ? off() : which == CLOCK_MONOTONIC ? labs(off()) / 2 : 0;
  return done;
}
int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  (void)zone;
  const int done = (int)syscall(SYS_gettimeofday, out, NULL);
  out->tv_sec += off();
  return done;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
"""


@pytest.mark.parametrize("off", [86_400, pytest.param(-86_400, marks=pytest.mark.nightly)])
def test_workers_whose_clocks_are_off(tmp_path: Path, off: int) -> None:
    """By a day, that of the calendar and that since the start: runs and deadlines are as ever."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler for another clock")
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(CLOCK)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True, timeout=60
    )
    more = {"LD_PRELOAD": str(library), "CLOCK_IS_OFF": str(off)}
    says = subprocess.run(
        ["date", "+%s"], env=os.environ | more, capture_output=True, text=True, check=True
    )
    assert abs(int(says.stdout) - time.time() - off) < 60, "the clock is off"
    with Cluster(tmp_path, 2, more=more) as cluster:
        with cluster.session(there_and_back()) as session:
            assert session.run("y:0", {"x:0": 0}) == 0
        with cluster.session(endless(), deadline=1.0) as session:
            start = time.monotonic()
            with pytest.raises(DrystoneError) as caught:
                session.run("y:0", {"x:0": 1})
            assert caught.value.code == "deadline-exceeded"
            assert 0.9 < time.monotonic() - start < 6
