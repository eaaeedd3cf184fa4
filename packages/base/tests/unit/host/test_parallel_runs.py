"""Kernels of one block that run at once: a program of its own, with sanitizers."""

import host_programs


def test_blocks_give_what_they_give_in_order() -> None:
    assert host_programs.run("parallel_run_test.cc") == "0 failures\n"
