"""Reports of sanitizers about the zoo: what its plugins do on purpose, and what the host does."""

from __future__ import annotations

import subprocess

import pytest

from ci.scripts import sanitize_zoo
from ci.scripts.sanitize_zoo import findings, is_plugins_own

HEAD = "=====\n==7443==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x61 at pc 0x7f\n"
PLUGIN = (
    f"{HEAD}WRITE of size 8192 at 0x613000054f80 thread T2\n"
    "    #0 0x7f97 in __interceptor_memset ../libsanitizer/interceptors.inc:799\n"
    "    #1 0x7f98 in past (/tmp/drystone-compiled-jy/hostile_kernels-5975.so+0x29d5)\n"
    "    #2 0x7f99 in (anonymous namespace)::call() (/env/libdrystone_host.so+0x4d6fb7)\n"
)
FREES = PLUGIN.replace(
    "    #1",
    "    #1 0x7f90 in drystone::host::FreedBlocks::take(void*, void (*)(void*)) f.cc:32\n"
    "    #2 0x7f90 in give_back ../host/src/library/redirected_memory.cc:18\n"
    "    #3 0x7f90 in freed ../host/src/library/redirected_memory.cc:21\n    #4",
)
HOST = PLUGIN.replace("    #1", "    #1 0x7f91 in TF_DeleteStatus status.cc:159\n    #2")


def test_whose_report_it_is() -> None:
    assert is_plugins_own(PLUGIN)
    assert is_plugins_own(FREES)
    assert not is_plugins_own(HOST)
    assert not is_plugins_own("AddressSanitizer: CHECK failed: asan_allocator.cpp:189\n")
    assert findings([PLUGIN, HOST, FREES]) == [HOST.strip("\n")]


def test_all_files_of_the_zoo_are_run() -> None:
    assert len(sanitize_zoo.FILES) >= 13


@pytest.mark.parametrize(("report", "wrong"), [(PLUGIN, []), (HOST, ["reports of the host"])])
def test_a_report_is_a_finding_though_all_tests_pass(
    report: str, wrong: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the process that met it was to die anyway."""
    text = (
        "import os\n"
        "place = os.environ['ASAN_OPTIONS'].rpartition('log_path=')[2]\n"
        f"open(place + '.1', 'w').write({report!r})\n"
    )
    monkeypatch.setattr(sanitize_zoo, "FILES", ())
    command = ("python3", "-c", text)
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda _words, **more: real(command, **more))
    assert sanitize_zoo.run_zoo({"ASAN_OPTIONS": "detect_leaks=0"}, ()) == wrong
