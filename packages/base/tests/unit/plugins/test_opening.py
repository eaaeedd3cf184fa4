"""The steps that run a plugin's code, and TensorFlow in the same process: each way to fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_files import OPEN, VARIANTS, Compile, plugin

from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import Plugin, StepResult
from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._probe import probe

FAILS = 'AFTER_INIT=TF_SetStatus(status, %s, "the quarry is closed");'


CC = shutil.which("cc") or "cc"
TELLS = """
import json, sys
from drystone_base.plugins import load_library
found = load_library(sys.argv[1], policy="allow_unverified")
print(json.dumps([found.steps[-1].reason, found.steps[-1].text]))
"""


def started(path: Path) -> tuple[Plugin, StepResult]:
    record = plugin(path)
    assert open_plugin(record).state == "passed"
    return record, initialise(record)


def error(result: StepResult) -> DrystoneError:
    assert result.state == "failed"
    assert result.error is not None
    return result.error


def test_what_the_linker_refuses(tmp_path: Path) -> None:
    """Row B27."""
    file = tmp_path / "text.so"
    file.write_text("hello", encoding="utf-8")
    found = error(open_plugin(plugin(file)))
    assert found.code == "plugin-not-opened"
    assert found.what == f"plugin text ({file}) cannot be opened"
    assert found.found.endswith("is no library for this machine: the file is too short")
    assert "DRYSTONE_PLUGINS_DISABLE=text" in found.remedy
    assert found.remedy.endswith(f"drystone plugins check {file}")


def test_an_entry_function_that_answers_an_error(compile_library: Compile) -> None:
    file = compile_library(
        "optimizer_variants.c", flags=['-DDEVICE="REFUSED"', "-D" + FAILS % "TF_INTERNAL"]
    )
    found = error(started(file)[1])
    assert found.code == "plugin-init-failed"
    assert found.what == f"plugin {file.stem} ({file}) did not start: TF_InitGraph failed"
    assert found.found.endswith("the quarry is closed")
    assert found.status == "INTERNAL"
    assert f"DRYSTONE_PLUGINS_DISABLE={file.stem}" in found.remedy


def test_a_plugin_without_its_device_is_skipped(compile_library: Compile) -> None:
    file = compile_library(
        "optimizer_variants.c", flags=['-DDEVICE="ABSENT"', "-D" + FAILS % "TF_UNAVAILABLE"]
    )
    _, result = started(file)
    assert (result.state, result.reason) == ("skipped", "plugin-not-available")
    assert result.text.endswith("the quarry is closed")


def test_without_its_device_and_without_kernels_it_is_skipped(
    compile_library: Compile, tmp_path: Path
) -> None:
    """An entry function that cannot report a failure registers nothing where there is no device."""
    kernels = tmp_path / "no_kernels.c"
    kernels.write_text('__attribute__((visibility("default"))) void TF_InitKernel(void) {}\n')
    flags = ['-DDEVICE="BARE"', "-D" + FAILS % "TF_UNAVAILABLE"]
    _, result = started(compile_library("optimizer_variants.c", kernels, flags=flags))
    assert (result.state, result.reason) == ("skipped", "plugin-not-available")
    assert result.text.endswith("the quarry is closed")


def test_one_module_of_two_fails(compile_library: Compile) -> None:
    flags = ['-DOP="HalfThere"', '-DDEVICE="HALF"', "-D" + FAILS % "TF_INTERNAL"]
    record, result = started(compile_library(VARIANTS, "optimizer_variants.c", flags=flags))
    assert (result.state, result.reason) == ("passed", "plugin-partly-loaded")
    assert "the quarry is closed" in result.text
    assert record.registered["ops"] == ["HalfThere"]
    assert result.facts["entries"]["TF_InitKernel (kernels)"] == "ok"


@pytest.mark.parametrize("early", [False, True])
def test_names_that_a_plugin_makes_global_are_reported(
    compile_library: Compile, tmp_path: Path, early: bool
) -> None:
    """As Intel's wheel does with its oneDNN and OpenMP; in a child, as they stay global."""
    names = ("dnnl_version", "GOMP_barrier", "omp_set_num_threads")
    source = tmp_path / "global.c"
    source.write_text("".join(f"void {name}(void) {{}}\n" for name in names), encoding="utf-8")
    library = tmp_path / "libglobal.so"
    subprocess.run([CC, "-shared", "-fPIC", source, "-o", library], check=True)
    flags = [f'-DOPENS="{library}"', '-DOP="OpensForAll"', *(["-DOPENS_EARLY"] if early else [])]
    file = compile_library(VARIANTS, flags=flags)
    done = subprocess.run(
        [sys.executable, "-c", TELLS, str(file)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == 0, done.stderr
    reason, text = json.loads(done.stdout)
    assert reason == "plugin-remarked"
    for family in ("dnnl_*", "GOMP_*", "omp_*"):
        assert f"{family} of {library} became global: libraries that are opened later may" in text


def test_exceptions_stop_at_the_boundary(compile_library: Compile) -> None:
    found = error(started(compile_library("loader_throws.cc"))[1])
    assert found.code == "plugin-init-failed"
    assert found.found.endswith("thrown on purpose")


FAKE = "__version__ = 'not the real one'\n"


def test_a_plugin_that_bears_no_tensorflow(
    compile_library: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With TensorFlow loaded even a trusted plugin is tried in a child that has it, too."""
    (tmp_path / "tensorflow.py").write_text(FAKE, encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "tensorflow", sys)
    found = error(probe(plugin(compile_library(VARIANTS, flags=["-DCRASH"])), OPEN))
    assert found.code == "plugin-beside-tensorflow"
    assert found.found.startswith("signal 6 (SIGABRT); it printed: the wall came down\n")
    assert found.remedy == "use the plugin in a process that does not import tensorflow"
    good = probe(plugin(compile_library(VARIANTS, flags=['-DOP="Beside"'])), OPEN)
    assert (good.state, good.facts["probed"]) == ("passed", True)


IMPORTS = """
import json, sys
from drystone_base.plugins import load_library
load_library(sys.argv[1], policy="allow_unverified")
try:
    import tensorflow
    print(json.dumps(tensorflow.__version__))
except ImportError as error:
    print(json.dumps(error.fields()))
"""


def test_tensorflow_after_its_names_were_taken(compile_library: Compile, tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text(FAKE, encoding="utf-8")
    name = "libtensorflow_framework.so.2"
    empty = compile_library("loader_empty.c", flags=[f"-Wl,-soname,{name}"])
    needs = ['-DOP="TakesNames"', "-Wl,--no-as-needed", str(empty)]
    answers = []
    for flags in (['-DOP="TakesNothing"'], needs):
        file = compile_library(VARIANTS, flags=flags)
        done = subprocess.run(
            [sys.executable, "-c", IMPORTS, str(file)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)]),
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
        )
        answers.append(json.loads(done.stdout))
    assert answers[0] == "not the real one"
    assert answers[1]["code"] == "tensorflow-after-plugin"
    assert answers[1]["plugin"] == file.stem
    assert answers[1]["what"] == f"TensorFlow cannot be imported after plugin {file.stem} ({file})"
    assert answers[1]["found"] == f"drystone's host answers to {name} in this process"
    assert "import tensorflow before drystone loads plugins" in answers[1]["remedy"]
