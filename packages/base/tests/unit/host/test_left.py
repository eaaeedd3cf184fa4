"""Runs that are left while a kernel does not return: a program of its own, with sanitizers."""

import host_programs


def test_kernels_that_do_not_return() -> None:
    assert host_programs.run("left_test.cc") == "0 failures\n"
