"""Batches that run in tiles: a program of its own, with sanitizers."""

import host_programs


def test_tiles_give_what_a_whole_batch_gives() -> None:
    assert host_programs.run("tiles_test.cc") == "0 failures\n"
