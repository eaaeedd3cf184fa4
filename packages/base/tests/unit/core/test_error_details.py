"""Errors are objects: their class, code and details come from payloads, not from sentences."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core import payloads as keys
from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.core.errors import (
    BadModelFile,
    DrystoneError,
    HostError,
    KernelError,
    PluginError,
)
from drystone_base.core.payloads import bounded_details, from_json, json_ready
from drystone_base.executor import native
from drystone_base.graph import Graph
from drystone_base.host import _lib
from drystone_base.host.status import CODES, Said, Status, told
from drystone_base.plugins import load_library

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Payloads = dict[str, str]
PROSE = (keys.WHAT, keys.CHECK, keys.FOUND, keys.NEEDED)


def raised(status: str, message: str, payloads: Payloads) -> DrystoneError:
    """What the native executor makes of a status."""
    pairs = [(key.encode(), value.encode()) for key, value in payloads.items()]
    with pytest.raises(DrystoneError) as caught:
        native._raise({}, CODES.index(status), message.encode(), pairs)
    return caught.value


NODE = {keys.NODE: "it's", keys.OP: "Relu"}
PLUGIN = NODE | {keys.KERNEL: "Mine", keys.LIBRARY: "/p.so"}
KINDS: dict[str, tuple[str, Payloads, type[DrystoneError], str]] = {
    "no value": ("INVALID_ARGUMENT", {keys.CODE: "dead-fetch", keys.TENSOR: "a:1"},
                 DrystoneError, "dead-fetch"),
    "unset": ("FAILED_PRECONDITION",
              PLUGIN | {keys.CODE: "uninitialized-variable", keys.VARIABLE: "v'"},
              KernelError, "uninitialized-variable"),
    "late": ("DEADLINE_EXCEEDED",
             NODE | {keys.CODE: "deadline-exceeded", keys.WHAT: "the run was stopped"},
             KernelError, "deadline-exceeded"),
    "left": ("CANCELLED", PLUGIN | {keys.CODE: "run-cancelled", keys.AWAITED: "return",
                                    keys.WHAT: "the run was cancelled"},
             KernelError, "run-cancelled"),
    "stuck": ("UNAVAILABLE", NODE | {keys.CODE: "session-stuck"}, KernelError, "session-stuck"),
    "damaged": ("DATA_LOSS", {keys.CODE: "session-damaged"}, KernelError, "session-damaged"),
    "cut": ("DATA_LOSS", {keys.CODE: "file-changed"}, DrystoneError, "file-changed"),
    "large": ("RESOURCE_EXHAUSTED", PLUGIN | {keys.CHECK: "it must fit", keys.NEEDED: "less"},
              KernelError, "kernel-failed"),
    "plugin": ("ABORTED", PLUGIN, KernelError, "plugin-kernel-failed"),
    "made": ("ABORTED", PLUGIN | {keys.FUNCTION: "DS_NewPlan"}, KernelError,
             "plugin-kernel-failed"),
    "node": ("INVALID_ARGUMENT", NODE | {keys.CALLS: '[["f","n"],["g","m"]]'}, KernelError,
             "kernel-failed"),
    "run": ("INTERNAL", {}, KernelError, "kernel-failed"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15, deadline=None)
@given(message=st.text(), words=st.lists(st.text(min_size=1), min_size=4, max_size=4))
def test_reworded_sentences_change_no_class_code_or_detail(
    kind: str, message: str, words: list[str]
) -> None:
    status, payloads, cls, code = KINDS[kind]
    first = raised(status, "as it is said today", payloads)
    prose = {key: word for key, word in zip(PROSE, words, strict=True) if key in payloads}
    again = raised(status, message, payloads | prose)
    assert isinstance(first, cls)
    assert first.code == code
    for error in (first, again):
        assert (type(error), error.code, error.status) == (type(first), code, status)
        assert error.details == first.details
        assert error.calls == first.calls
    kept = {key: value for key, value in payloads.items() if key not in keys.FIELDS}
    assert kept.items() <= first.details.items()


def test_sentences_that_sound_like_others_are_not_read() -> None:
    """Texts that regular expressions took for names and for other failures once."""
    for text in (
        "variable 'x' has no value yet",
        "the run was cancelled before node 'a' (Relu)",
        "the session is stuck: of it",
        "tensor 'x' has no value: it belongs to a branch",
        "node 'a' (op Relu, kernel 'K' of /p.so): no",
        "the model's file has become shorter than it was when it was loaded",
        "it failed\n  in function 'f', called by node 'n'",
    ):
        error = raised("INTERNAL", text, {})
        assert (error.what, error.code, error.calls) == ("the run failed", "kernel-failed", [])
        assert not error.details


def session(graph: Graph) -> Session:
    return Session(graph, SessionConfig(executor="native", optimizer="off"))


def test_a_dead_fetch_names_its_tensor() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32})
    which = graph.add("Placeholder", "which", attrs={"dtype": BOOL})
    graph.add("Switch", "it's", [(x, 0), (which, 0)], attrs={"T": FLOAT32})
    graph.add("Identity", "out", [(graph["it's"], 1)], attrs={"T": FLOAT32})
    with pytest.raises(DrystoneError) as caught:
        session(graph).run("out:0", {"x:0": np.float32(1), "which:0": False})
    assert caught.value.code == "dead-fetch"
    assert caught.value.details[keys.TENSOR] in ("out", "out:0")
    assert caught.value.details[keys.FUNCTION] == "DS_RunPlan"


def test_a_kernel_in_python_is_named_alike() -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("Cholesky", "c", [(x, 0)], attrs={"T": FLOAT32})
    for executor in ("native", "reference"):
        running = Session(graph, SessionConfig(executor=executor, optimizer="off"))  # type: ignore[arg-type]
        with pytest.raises(KernelError) as caught:
            running.run("c:0", {"x:0": np.ones((2, 3), np.float32)})
        assert caught.value.details[keys.NODE] == "c"
        assert caught.value.details[keys.OP] == "Cholesky"


# payloads of plugins ---------------------------------------------------------------------------


def failing(library: Path, executor: str) -> KernelError:
    load_library(str(library), developer_mode=True)
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("Test>Payloads", "y", [(x, 0)])
    running = Session(graph, SessionConfig(executor=executor, optimizer="off"))  # type: ignore[arg-type]
    with pytest.raises(KernelError) as caught:
        running.run("y:0", {"x:0": np.float32(1)})
    return caught.value


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_payloads_of_a_plugin_are_details(
    compile_library: Callable[..., Path], executor: str
) -> None:
    library = compile_library("kernels_payloads.c")
    error = failing(library, executor)
    assert (error.code, error.status) == ("plugin-kernel-failed", "OUT_OF_RANGE")
    assert error.found == "row 17 is no number"
    assert error.details["acme/row"] == "17"
    assert error.details["acme/raw"] == b"\xff\xfe"
    assert error.details["acme/shown"] == "a\x1b[31mb\nc"
    assert error.details[keys.NODE] == "y", "a plugin's key of the host's is ignored"
    assert error.details[keys.OP] == "Test>Payloads"
    assert error.details[keys.KERNEL] == "Payloads"
    assert error.details[keys.LIBRARY] == os.path.realpath(library)
    assert str(error.details[keys.DEVICE]).endswith("CPU:0")
    lines = [line for line in str(error).splitlines() if line.startswith("  detail: ")]
    assert lines == [
        r"  detail: acme/raw = \xff\xfe",
        "  detail: acme/row = 17",
        r"  detail: acme/shown = a\x1b[31mb\nc",
    ]
    shown = json.loads(json.dumps(error.fields()))["details"]
    assert shown["acme/raw"] == {"base64": "//4="}
    assert pickle.loads(pickle.dumps(error)).details == error.details


def test_payloads_are_bounded_in_number_and_size(compile_library: Callable[..., Path]) -> None:
    code = (
        "import sys, test_error_details as t; from pathlib import Path;"
        "e = t.failing(Path(sys.argv[1]), 'native');"
        "print(sum(k.startswith('acme') for k in e.details), e.details['drystone/left-out']);"
        "print(e)"
    )
    library = compile_library("kernels_payloads.c", flags=["-DMANY"])
    there = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(library)],
        env={**os.environ, "PYTHONPATH": there},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[0] == "32 13"
    assert "  ... and 29 details more" in done.stdout


def test_a_status_keeps_its_payloads_through_callbacks() -> None:
    failed = KernelError(
        "it failed", details={"acme/row": "3", "acme/raw": b"\xff", keys.NODE: "n"}
    )
    failed.reached_through('[["f", "n"]]')
    with pytest.raises(HostError) as caught, Status("asking Python") as status:
        told(status.pointer, failed)
    assert caught.value.details == failed.details
    assert caught.value.calls == [("f", "n")]


details = st.dictionaries(st.text(max_size=200), st.text(max_size=60) | st.binary(max_size=60))


@settings(max_examples=50, deadline=None)
@given(details)
def test_details_survive_json_within_their_bounds(given_: dict[str, Any]) -> None:
    kept = bounded_details(given_)
    assert from_json(json.loads(json.dumps(json_ready(kept)))) == kept
    own = [key for key in kept if not key.startswith(keys.PREFIX)]
    assert len(own) <= keys.MOST
    assert all(len(key.encode("utf-8", "surrogatepass")) <= keys.MOST_KEY for key in own)
    assert {key: given_[key] for key in own} == {key: kept[key] for key in own}


@pytest.mark.parametrize("document", [None, 3, [], {"a": 3}, {"a": {"base64": "x"}}, {"a": None}])
def test_what_is_no_details_is_left_out(document: Any) -> None:
    assert from_json(document) == {}


class _Hostile:
    def __bool__(self) -> bool:
        raise RuntimeError("__bool__ of a hostile object")

    __str__ = __repr__ = __bool__  # type: ignore[assignment]  # none of them answers


@pytest.mark.parametrize(
    "told",
    [np.zeros(3), "text", b"x", 3, _Hostile(), {None: None}, {"a": {b"x": 1}}, {b"x": [1.0]},
     {"a": _Hostile()}, Path("x"), {1: {2: 3}}],
    ids=lambda told: type(told).__name__,
)  # fmt: skip
def test_an_error_is_made_whatever_it_is_told(told: Any) -> None:
    error = BadModelFile(told, check=told, found=told, details=told, subject=told)
    error.add_details(told)
    error.reached_through(told)
    error.name_file(told)
    again = PluginError.of_fields(told, plugin=told)
    for one in (error, again):
        assert all(isinstance(v, str | bytes) for v in one.details.values())
        json.dumps(one.fields())
        assert str(one)


@settings(max_examples=30, deadline=None)
@given(details)
def test_text_and_json_of_an_error_show_nothing_that_does_not_print(given_: dict[str, Any]) -> None:
    error = PluginError("what", details=given_, found="x" * 9999, check="y" * 9999)
    assert all(c.isprintable() or c in "\n\t" for c in str(error))
    assert len(str(error).encode()) <= 4096
    json.dumps(error.fields())
    again = PluginError.of_fields(error.fields())
    assert (again.code, again.found) == (error.code, error.found)


def test_a_status_of_a_later_release_is_unknown() -> None:
    assert Said.of(99, b"new", []).status == "UNKNOWN"
