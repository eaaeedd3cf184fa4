"""Plugins that were built beside a larger host: who trusts them loads them with what they have.

An undefined function fails when it is called, by name; data must be there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_zoo import LOAD, OPTIMIZE, child, refusal

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

__all__ = ["child"]

CALLED = (
    "called larger::ask(int, char const*), a function that neither the host nor a library of the "
    "plugin's defines"
)
OPTIMIZE_LACKING = OPTIMIZE.replace("/device:ZOO:0", "/device:LACKS:0")
Lacking = Callable[..., Path]


@pytest.fixture
def lacking(compile_library: Callable[..., Path]) -> Lacking:
    """Build one that calls it in one place (0: nowhere), with further macros."""

    def build(calls: int = 0, *macros: str) -> Path:
        flags = [f"-DCALLS={calls}", *(f"-D{macro}" for macro in macros)]
        return compile_library("lacking.cc", flags=flags)

    return build


def remark(child: Callable[..., Any], path: Path) -> str:
    """What is said of one that loads."""
    answer = child(LOAD, "allow_unverified", path)
    assert answer["errors"] == []
    assert answer["loaded"]
    (text,) = [text for text in answer["warnings"] if "undefined" in text]
    return str(text)


def test_one_that_calls_none_loads_with_a_remark(
    lacking: Lacking, child: Callable[..., Any]
) -> None:
    assert remark(child, lacking()) == (
        "leaves 1 functions undefined, which fail when they are called: "
        "1 of TensorFlow's C interface (TF_OfALaterHost)"
    )


def test_all_are_counted_by_owner(lacking: Lacking, child: Callable[..., Any]) -> None:
    text = remark(child, lacking(0, "SEVERAL", "TAKEN"))
    assert "leaves 4 functions undefined" in text
    assert (
        "2 of larger (larger::ask(int, char const*), larger::Host::answer(char const*) const)"
    ) in text
    assert "1 of TensorFlow's C interface (TF_OfALaterHost)" in text
    assert "1 of no known interface (nobody_has_this)" in text


def test_undefined_data_is_refused(lacking: Lacking, child: Callable[..., Any]) -> None:
    code, text = refusal(child, lacking(0, "DATA"))
    assert code == "plugin-needs-cxx"
    assert "; 1 of them are data, not functions: 1 of larger (larger::number)" in text
    assert "allow_unverified" not in text


CHECK = """
import json, sys
from drystone_base.plugins import check, configure
configure(developer_mode=True)
error = check(sys.argv[1]).error
print(json.dumps([error.code, str(error)]))
"""


def test_who_asks_for_all_symbols_is_told_how(lacking: Lacking, child: Callable[..., Any]) -> None:
    code, text = child(CHECK, lacking())
    assert code == "plugin-unresolved-symbols"
    assert "1 of TensorFlow's C interface (TF_OfALaterHost)" in text
    code, text = child(CHECK.replace("developer_mode=True", "developer_mode=False"), lacking())
    assert code == "plugin-unsigned"


def test_a_call_in_a_constructor_is_found_out_in_the_trial(
    lacking: Lacking, child: Callable[..., Any]
) -> None:
    code, text = refusal(child, lacking(1))
    assert code == "plugin-probe-crashed"
    assert CALLED in text
    assert "symbol lookup error" not in text


def test_a_call_in_the_entry_function_is_its_failure(
    lacking: Lacking, child: Callable[..., Any]
) -> None:
    code, text = refusal(child, lacking(2))
    assert code == "plugin-init-failed"
    assert CALLED in text


@pytest.mark.parametrize("taken", [(), ("TAKEN",)])
def test_a_call_later_costs_one_warning(
    lacking: Lacking, child: Callable[..., Any], taken: tuple[str, ...]
) -> None:
    """Also where every symbol is bound at once."""
    path = lacking(3, *taken)
    answer = child(OPTIMIZE_LACKING, "", path)
    assert answer["value"] == [-1, -2]
    (text,) = [text for text in answer["warnings"] if str(path) in text]
    assert f"plugin {path} {CALLED}" in text
    assert "did not optimize the graph" in text


def test_a_plugin_may_catch_what_a_call_throws(lacking: Lacking, child: Callable[..., Any]) -> None:
    answer = child(OPTIMIZE_LACKING, "", lacking(3, "CAUGHT"))
    assert answer["value"] == [-1, -2]
    assert not [text for text in answer["warnings"] if "larger::ask" in text]


def test_a_call_where_nothing_can_catch_it_ends_in_its_name(
    lacking: Lacking, child: Callable[..., Any]
) -> None:
    with pytest.raises(AssertionError) as caught:
        child(OPTIMIZE_LACKING, "", lacking(4))
    assert CALLED in str(caught.value)
    assert "symbol lookup error" not in str(caught.value)


def test_a_process_of_its_own_stands_in_as_well(
    lacking: Lacking, child: Callable[..., Any]
) -> None:
    apart = OPTIMIZE_LACKING.replace(
        '"allow_unverified")', '"allow_unverified", isolation="process")'
    )
    answer = child(apart, "", lacking(0, "TAKEN"))
    assert answer["value"] == [-1, -2]
    path = lacking(3)
    answer = child(apart, "", path)
    assert answer["value"] == [-1, -2]
    (text,) = [text for text in answer["warnings"] if str(path) in text]
    assert CALLED in text


def test_nobody_else_finds_a_stand_in(lacking: Lacking, child: Callable[..., Any]) -> None:
    program = LOAD.replace(
        "print(json", "import ctypes\nanswer['found'] = hasattr(ctypes.CDLL(None), "
        "'TF_OfALaterHost')\nprint(json",
    )  # fmt: skip
    answer = child(program, "allow_unverified", lacking())
    assert answer["loaded"]
    assert answer["found"] is False


def test_there_is_an_end_to_standing_in(lacking: Lacking) -> None:
    """Attempts that failed count once: this one is not told of the function that it lacks."""
    from drystone_base.core.errors import HostError
    from drystone_base.host.library import open_library

    path = lacking()
    names = [f"nobody_has_{k}" for k in range(400)]
    for _ in range(4):
        with pytest.raises(HostError, match="undefined symbol: TF_OfALaterHost"):
            open_library(path, "lacking", names)
    more = [f"nobody_has_{k}" for k in range(1025)]
    with pytest.raises(HostError, match="more undefined functions than the 1024") as caught:
        open_library(path, "lacking", more)
    assert caught.value.status == "RESOURCE_EXHAUSTED"
