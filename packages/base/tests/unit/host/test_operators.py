"""Operators of compiled regions: a program of its own, with sanitizers."""

import host_programs


def test_executables_come_and_go_while_they_are_called() -> None:
    assert host_programs.run("operators_test.cc") == "0 failures\n"
