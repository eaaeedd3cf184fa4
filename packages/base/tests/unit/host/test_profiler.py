"""Profilers of plugins: start, stop, collect, and what a host refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import _lib
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.profiler import collect, list_profilers, start, stop

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

EXAMPLE = Path(__file__).resolve().parents[5] / "plugin-abi" / "examples" / "device_c"
Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def library(compile_library: Compile) -> HostLibrary:
    """S2-several: the library that also holds a device."""
    opened = open_library(
        compile_library(EXAMPLE / "fake_device.c", EXAMPLE / "fake_profiler.c", flags=["-DPROFILE"])
    )
    opened.initialise("TF_InitProfiler")
    return opened


@pytest.fixture(scope="module")
def variant(compile_library: Compile) -> Callable[..., HostLibrary]:
    def make(**macros: str) -> HostLibrary:
        flags = [f"-D{macro}={text}" for macro, text in macros.items()]
        return open_library(compile_library("profiler_variants.c", flags=flags))

    return make


def test_a_profile_is_an_xspace(library: HostLibrary) -> None:
    (fake,) = [item for item in list_profilers() if item["type"] == "FAKE"]
    assert fake == {
        "type": "FAKE",
        "library": library.path,
        "version": "0.0.1",
        "running": False,
    }
    start("FAKE")
    assert next(i["running"] for i in list_profilers() if i["type"] == "FAKE")
    stop("FAKE")
    data = collect("FAKE")
    assert data[0] == 0x0A, "field 1 of XSpace: planes"
    assert data[1] == len(data) - 2
    assert b"/device:FAKE" in data
    assert collect("FAKE") == data, "the plugin keeps a profile until the next"


def test_wrong_order_is_refused(library: HostLibrary) -> None:
    with pytest.raises(HostError, match="the profiler of FAKE is not running") as error:
        stop("FAKE")
    assert error.value.status == "FAILED_PRECONDITION"
    start("FAKE")
    with pytest.raises(HostError, match="the profiler of FAKE is running already"):
        start("FAKE")
    with pytest.raises(HostError, match="is running already"):
        collect("FAKE")
    stop("FAKE")


def test_unknown_type_is_named_with_the_known(library: HostLibrary) -> None:
    with pytest.raises(HostError, match=r"no library registered a profiler of .*'NPU'.*FAKE"):
        start("NPU")


def test_second_profiler_of_a_type_names_both_files(
    library: HostLibrary, variant: Callable[..., HostLibrary]
) -> None:
    second = variant()
    with pytest.raises(HostError) as error:
        second.initialise("TF_InitProfiler")
    assert error.value.status == "ALREADY_EXISTS"
    assert library.path in error.value.found
    assert second.path in error.value.found


REFUSED = {
    "params->struct_size=0": r"TF_ProfilerRegistrationParams.struct_size is 0; it must be set to "
    r"TF_PROFILER_REGISTRATION_PARAMS_STRUCT_SIZE, which is 64",
    "params->profiler->struct_size=0": r"TP_Profiler.struct_size is 0.*which is 24",
    "params->profiler_fns->struct_size=32": r"lacks required members: collect_data_xspace;",
    "params->profiler->device_type=NULL": r"TP_Profiler lacks required members: device_type;",
    "params->profiler->device_type=(void*)16": r"TP_Profiler.device_type is no text of at most 256",
    "static char far[300];params->profiler->device_type=memset(far,65,299)": r"is no text of at",
    "params->major_version=2": r"version 2\.0\.1 of the plugin does not fit this host",
    "params->destroy_profiler=NULL": r"lacks required members: destroy_profiler;",
    "params->profiler_fns=NULL": r"replaced profiler or profiler_fns",
    'TF_SetStatus(status, TF_UNAVAILABLE, "no counters")': r"TF_InitProfiler: no counters",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_profilers_are_refused(statement: str, variant: Callable[..., HostLibrary]) -> None:
    macros = {"TYPE": '"REFUSED"', "AFTER_INIT": statement}
    with pytest.raises(HostError, match=REFUSED[statement]):
        variant(**macros).initialise("TF_InitProfiler")
    assert "REFUSED" not in [item["type"] for item in list_profilers()]
