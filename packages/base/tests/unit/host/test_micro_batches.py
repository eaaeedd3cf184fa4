"""Batches that run in micro-batches: a program of its own, with sanitizers."""

import host_programs


def test_micro_batches_give_what_a_whole_batch_gives() -> None:
    assert host_programs.run("micro_batches_test.cc") == "0 failures\n"
