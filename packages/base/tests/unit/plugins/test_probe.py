"""Settings of plugins, and trying them in a child process."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest
from plugin_files import VARIANTS, Compile, own_settings, plugin

from drystone_base.core.errors import BadRequest
from drystone_base.core.plugin_settings import Settings, current
from drystone_base.modules import wanted
from drystone_base.plugins import _manager, _probe, _probe_child, _probe_run, configure
from drystone_base.plugins._manager import check_file
from drystone_base.plugins._probe import probe
from drystone_base.plugins._record import StepResult, passed

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_settings(monkeypatch, tmp_path)


# settings --------------------------------------------------------------------------------------


def test_settings_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert current() == Settings()
    monkeypatch.setenv("DRYSTONE_PLUGIN_POLICY", "allow-unverified")
    monkeypatch.setenv("DRYSTONE_DEVELOPER_MODE", "1")
    monkeypatch.setenv("DRYSTONE_PLUGINS_DISABLE", " a, b ,")
    monkeypatch.setenv("DRYSTONE_TF_PLUGINS", "1")
    monkeypatch.setenv("DRYSTONE_PLUGIN_ISOLATION", "process")
    monkeypatch.setenv("DRYSTONE_PLUGIN_PROBE_SECONDS", "2.5")
    assert current() == Settings(
        "allow_unverified", True, frozenset({"a", "b"}), True, "process", 2.5
    )
    configure(policy="strict", disabled=["c"])
    assert current().policy == "strict"
    assert current().disabled == {"c"}
    configure(policy=None)
    assert current().policy == "allow_unverified"


@pytest.mark.parametrize(
    ("variable", "value", "needed"),
    [
        ("DRYSTONE_PLUGIN_POLICY", "strikt", "strict or default or allow_unverified"),
        ("DRYSTONE_DEVELOPER_MODE", "maybe", "1 or 0"),
        ("DRYSTONE_PLUGIN_ISOLATION", "thread", "none or unsigned or process"),
        ("DRYSTONE_PLUGIN_PROBE_SECONDS", "-1", "a number of seconds from 0 to 86400"),
        ("DRYSTONE_PLUGIN_PROBE_SECONDS", "nan", "a number of seconds from 0 to 86400"),
    ],
)
def test_settings_that_are_not_understood(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, needed: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(BadRequest) as caught:
        current()
    assert caught.value.code == "bad-plugin-setting"
    assert caught.value.what == f"{value!r} is not a value of {variable}"
    assert caught.value.needed == needed


def test_unknown_settings() -> None:
    with pytest.raises(BadRequest, match="'polcy' is not a setting of plugins") as caught:
        configure(polcy="strict")
    assert caught.value.remedy == "did you mean policy?"
    with pytest.raises(BadRequest, match=r"Settings\.policy is not understood"):
        configure(policy="lax")


# probes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "code", "what", "found"),
    [
        (["-DCRASH"], "plugin-probe-crashed", "crashes while it is loaded",
         ("signal 6 (SIGABRT); it printed: the wall came down\ndrystone: SIGABRT while a "
         "constructor of plugin {file} ran")),
        (["-DEXIT=0"], "plugin-probe-exited", "ends the process while it is loaded",
         ("it ended the process with exit status 0; it printed: drystone: the process was ended by "
         "exit() while TF_InitKernel of plugin {file} ran")),
        (["-DEXIT=3"], "plugin-probe-exited", "ends the process while it is loaded",
         ("it ended the process with exit status 3; it printed: drystone: the process was ended by "
         "exit() while TF_InitKernel of plugin {file} ran")),
        (["-DHANG"], "plugin-probe-hung", "hangs while it is loaded",
         "it did not end within 2 s; it printed nothing"),
    ],
)  # fmt: skip
def test_dangerous_plugins_die_in_a_child(
    compile_library: Compile, flags: list[str], code: str, what: str, found: str
) -> None:
    file = compile_library(VARIANTS, flags=flags)
    seconds = 2 if code == "plugin-probe-hung" else 60  # a busy machine needs more than two
    settings = Settings(policy="allow_unverified", probe_seconds=seconds)
    for _ in range(2):  # the second time from memory
        record = check_file(str(file), settings)
        assert record.state == "failed"
        assert record.error is not None
        assert record.error.code == code
        assert record.error.what == f"plugin {record.name} ({file}) {what}"
        assert record.error.found.startswith(found.format(file=file))
        again = probe(plugin(file), settings)
        assert again.reason == code


def _probed(compile_library: Compile, changes: str, when: str = "kOpened") -> StepResult:
    """What a trial finds of a library that does this."""
    flags = ['-DDEVICE="PROBED"', f"-DWHEN={when}", f"-DCHANGES=(void)change_all;{changes}"]
    return probe(plugin(compile_library("host_state.c", flags=flags)), Settings())


@pytest.mark.parametrize(
    ("changes", "when", "found"),
    [
        ("setsid();", "kEntry", ("while TF_InitGraph ran it changed what belongs to the process "
         "and cannot be put back: the session; the process group")),
        ("setresuid(4,4,4)==0?0:abort();", "kOpened", ("while it was opened it changed what "
         "belongs to the process and cannot be put back: the user")),
    ],
)  # fmt: skip
def test_what_harms_the_process_is_refused_by_the_trial(
    compile_library: Compile, changes: str, when: str, found: str
) -> None:
    if "setresuid" in changes and os.geteuid() != 0:
        pytest.skip("only root may become another user")
    result = _probed(compile_library, changes, when)
    assert result.state == "failed"
    assert result.reason == "plugin-changed-host", result.text
    assert found in result.text


def test_files_that_were_open_before_cannot_be_closed(compile_library: Compile) -> None:
    """Those that the trial tells of itself by are among them."""
    changes = "for(int k=3;k<4096;++k)close(k);"
    assert _probed(compile_library, changes, "kEntry").state == "passed"


def test_a_trial_that_says_it_has_finished_has_not(compile_library: Compile) -> None:
    """Only who knows the trial's number can say so."""
    line = r'"finished[]\n\nfinished {\"steps\": []}\n"'
    changes = f"for(int k=3;k<64;++k)dprintf(k,{line});_exit(0);"
    assert _probed(compile_library, changes).reason == "plugin-probe-exited"


def test_a_trial_holds_no_more_memory_than_it_may(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_probe, "MOST_MEMORY", 512 << 20)
    grows = "for(int k=0;k<60;++k){char*p=malloc(16<<20);memset(p,1,16<<20);usleep(20000);}"
    result = _probed(compile_library, grows)
    assert result.reason == "plugin-probe-memory"
    assert "MiB of the 512 MiB that a trial may hold" in result.text


@pytest.mark.parametrize("ending", ["(void)0;", "abort();", "pause();"])
def test_nothing_that_a_trial_starts_outlives_it(
    compile_library: Compile, tmp_path: Path, ending: str
) -> None:
    """Not even who has left its process group and lost its parent."""
    note = tmp_path / "daemon"
    daemon = (
        f'if(fork()==0){{setsid();if(fork()==0){{FILE*f=fopen("{note}","w");fprintf(f,"%d",getpid());'
        f"fclose(f);for(int k=0;k<99;++k)sleep(1);}}_exit(0);}}usleep(300000);{ending}"
    )
    flags = ['-DDEVICE="PROBED"', "-DWHEN=kOpened", f"-DCHANGES=(void)change_all;{daemon}"]
    record = plugin(compile_library("host_state.c", flags=flags))
    probe(record, Settings(probe_seconds=3))
    assert not Path("/proc", note.read_text(encoding="ascii")).exists()


def test_a_good_probe_is_remembered(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Remembered"'])
    first = probe(plugin(file), Settings())
    assert first.facts["probed"] is True
    assert probe(plugin(file), Settings()).facts["seconds"] == first.facts["seconds"]
    os.utime(file)
    assert probe(plugin(file), Settings()).state == "passed"


@pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"outcome": "hung"}', "null"])
def test_a_damaged_memory_is_no_memory(compile_library: Compile, tmp_path: Path, text: str) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Damaged"'])
    assert probe(plugin(file), Settings()).state == "passed"
    for memory in (tmp_path / "cache" / "drystone" / "probes").iterdir():
        memory.write_text(text, encoding="utf-8")
    assert probe(plugin(file), Settings()).facts["probed"] is True


def test_who_is_not_probed(compile_library: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    record = plugin(compile_library(VARIANTS, flags=["-DHANG"]))
    assert probe(record, Settings(probe_seconds=0)).facts["why"] == "probing is off"
    monkeypatch.setattr(sys, "executable", "/usr/sbin/server")
    why = probe(record, Settings()).facts["why"]
    assert why == "there is no Python program to run it in"


def test_a_check_sees_what_loading_refuses_after_opening(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Twice Named"'])
    record = check_file(str(file), Settings(policy="allow_unverified"))
    assert [step.step for step in record.steps][-3:] == ["probe", "open", "entry"]
    assert (record.state, record.reason) == ("failed", "plugin-registered-nothing")
    assert record.error is not None
    assert "Twice Named" in record.error.found
    assert record.error.path == str(file)


def test_what_the_child_tells_fits_a_pipe() -> None:
    long = {"step": "entry", "facts": {"errors": ["x" * 10**6]}, "error": {"found": "é" * 10**6}}
    told = _probe_child._short([long])
    assert told == [{"step": "entry", "error": {"found": "é" * 1000}}]


def test_a_check_opens_what_loading_would_open_untried(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Twice Named"'])
    settings = Settings(policy="allow_unverified", isolation="process")
    assert check_file(str(file), settings).reason == "plugin-registered-nothing"
    trusted = plugin(file)
    trusted.take(passed("signature", trusted=True))
    tried: list[StepResult] = []
    assert probe(trusted, settings, tried=tried).facts["probed"] is True
    assert tried[-1].reason == "plugin-registered-nothing"


def test_a_trial_loads_no_other_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or each trial would try all plugins, which would each be tried: a process for ever."""
    monkeypatch.setattr(wanted, "_alone", False)
    monkeypatch.setattr(_manager.manager, "ensure_loaded", lambda: pytest.fail("loads plugins"))
    monkeypatch.setattr(wanted, "_is_there", None)
    monkeypatch.setattr(_probe_child, "import_module", lambda _: wanted.ensure_loaded())

    def opened(_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(_probe_child, "open_plugin", opened)
    request = {"imports": ["any"], "name": "x", "path": "x.so", "modules": [], "without": []}
    with pytest.raises(InterruptedError):
        _probe_child._try(request, pytest.fail)


def test_the_child_is_not_told_of_a_backend_of_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow imports Keras, which would refuse one that only this process knows."""
    monkeypatch.setenv("KERAS_BACKEND", "drystone")
    code = "import os; raise SystemExit(int('KERAS_BACKEND' in os.environ))"
    monkeypatch.setattr(_probe_run, "_CHILD", code)
    with tempfile.TemporaryFile() as log:
        child = _probe_run._started({}, log.fileno(), log, {})
        assert child.wait(60) == 0
