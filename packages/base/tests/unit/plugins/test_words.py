"""What errors of plugins say: to whom, how long, in which letters, each reason once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin_files import OPEN, VARIANTS, Compile, own_settings, plugin

from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings
from drystone_base.core.printable import bounded
from drystone_base.plugins import _manager
from drystone_base.plugins._demangle import by_owner, demangled, owner
from drystone_base.plugins._manager import Manager, check_file
from drystone_base.plugins._open import initialise, open_plugin
from drystone_base.plugins._probe import probe
from drystone_base.plugins._words import advice, makers, once
from drystone_base.plugins.audit import audit_symbols
from drystone_base.plugins.isolation import load_isolated

pytestmark = pytest.mark.cases_in_gate(3)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_settings(monkeypatch, tmp_path)


# to whom ---------------------------------------------------------------------------------------


def site(folder: Path, metadata: str) -> Path:
    """A library in a site-packages folder, with what its package says of itself."""
    info = folder / "acme_xpu-1.2.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("drystone-plugins/libacme.so,sha256=x,1\n", encoding="utf-8")
    (info / "METADATA").write_text(f"Name: acme-xpu\nVersion: 1.2\n{metadata}", encoding="utf-8")
    (folder / "drystone-plugins").mkdir()
    return folder / "drystone-plugins" / "libacme.so"


@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ("Project-URL: Home, https://a\nProject-URL: Bug Tracker, https://b\n", " (https://b)"),
        ("Project-URL: Docs, https://c\nHome-page: https://a\n", " (https://a)"),
        ("Author-email: Ann <ann@acme.example>\n", " (Ann <ann@acme.example>)"),
        ("", ""),
    ],
)
def test_whom_to_ask_is_who_made_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, metadata: str, place: str
) -> None:
    file = site(tmp_path, metadata)
    monkeypatch.syspath_prepend(tmp_path)
    assert makers(str(file)) == f"the makers of acme_xpu{place}"
    assert makers(str(file.with_name("libother.so"))) == "the person who gave you the file"
    assert makers("/nowhere/x.so", "never-heard-of") == "the makers of never-heard-of"


def test_users_are_told_how_to_go_on_and_authors_what_to_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = "disable it meanwhile (DRYSTONE_PLUGINS_DISABLE='my stone') and report this to "
    assert advice("my stone", "/x/y.so") == asked + "the person who gave you the file"
    both = advice("my stone", "/x/y.so", author="link it")
    assert both == asked + "the person who gave you the file; its author: link it"
    monkeypatch.setenv("DRYSTONE_DEVELOPER_MODE", "1")
    assert advice("my stone", "/x/y.so", author="link it") == "link it"
    assert advice("my stone", "/x/y.so").startswith("disable it meanwhile")


@pytest.mark.parametrize("flag", ["-DNO_ENTRY", "-DNEEDS_SYMBOL", "-DHANG", "-DCRASH"])
def test_every_refusal_says_how_to_go_on_without(compile_library: Compile, flag: str) -> None:
    seconds = 2 if flag == "-DHANG" else 60
    record = check_file(
        str(compile_library(VARIANTS, flags=[flag])),
        Settings(policy="allow_unverified", probe_seconds=seconds),
    )
    assert record.error is not None
    assert f"DRYSTONE_PLUGINS_DISABLE={record.name}" in record.error.remedy
    assert "; its author: " in record.error.remedy


# symbols ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "who"),
    [
        ("_ZN10tensorflow8OpKernel3runEv", "tensorflow::OpKernel::run()", "tensorflow"),
        ("_ZNK10tensorflow6Status2okEv", "tensorflow::Status::ok() const", "tensorflow"),
        ("_ZTVN10tensorflow8OpKernelE", "vtable for tensorflow::OpKernel", "tensorflow"),
        ("_ZN6google8protobuf7MessageC2Ev", "google::protobuf::Message::Message()", "google"),
        ("_ZNSt6vectorE", None, "std"),
        ("_ZSt4cout", "std::cout", "std"),
        ("_Z5stonei", "stone(int)", "no namespace"),
        ("TF_NobodyHasThis", "TF_NobodyHasThis", "TensorFlow's C interface"),
        ("PyLong_Wall", "PyLong_Wall", "Python"),
        ("GOMP_parallel", "GOMP_parallel", "OpenMP"),
        ("wall_build", "wall_build", "no known interface"),
        ("_Znonsense", "_Znonsense", "no namespace"),
        ("_ZN99999999999999999999x", "_ZN99999999999999999999x", ""),
    ],
)
def test_symbols_are_shown_as_their_authors_wrote_them(
    name: str, text: str | None, who: str
) -> None:
    assert text is None or demangled(name) == text
    assert who in owner(name)


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="_ZNKSt0123456789IEvax\x1b", max_size=40))
def test_any_name_is_demangled_or_left(rest: str) -> None:
    name = "_Z" + rest.replace("\0", "")
    assert len(demangled(name)) <= 203
    assert by_owner([name]).startswith("1 of ")


def test_all_missing_symbols_are_counted_by_owner(compile_library: Compile, tmp_path: Path) -> None:
    source = tmp_path / "cxx.cc"
    declared = "".join(f"void f{k}(); " for k in range(5))
    plain = "".join(f"void wall_g{k}(); " for k in range(5))
    calls = "".join(f"  tensorflow::f{k}(); wall_g{k}();\n" for k in range(5))
    source.write_text(
        f'namespace tensorflow {{ {declared} }}\nextern "C" {{ {plain} void TF_Lost();\n'
        '__attribute__((visibility("default"))) void TF_InitKernel() {\n'
        f"{calls}  TF_Lost();\n}} }}\n",
        encoding="utf-8",
    )
    found = audit_symbols(plugin(compile_library(source)), Settings()).error
    assert found is not None
    assert found.code == "plugin-needs-cxx"
    assert (
        "leaves 11 undefined: 5 of no known interface (wall_g0, wall_g1, wall_g2 and 2 more)"
        in (found.found)
    )
    assert (
        "5 of tensorflow (tensorflow::f0(), tensorflow::f1(), tensorflow::f2() and" in found.found
    )
    assert found.found.endswith("1 of TensorFlow's C interface (TF_Lost)")


# once, bounded, printable ----------------------------------------------------------------------


def test_a_reason_is_given_once() -> None:
    assert once(["a", "b", "a", "a"]) == "a (3 times); b"
    assert once(map(str, range(20))).endswith("; 7; and 12 other reasons")
    error = PluginError("x", found="OSError: no wall", inner=OSError("no wall"))
    assert "caused by" not in str(error)
    assert "caused by: OSError: another" in str(
        PluginError("x", found="OSError: no wall", inner=OSError("another"))
    )


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=8), st.integers(0, 3000), st.sampled_from([60, 300, 1500]))
def test_bounded_text_is_short_and_printable(text: str, times: int, most: int) -> None:
    found = bounded(text * times, most)
    assert len(found.encode()) <= most
    assert all(c.isprintable() or c in "\n\t" for c in found)
    assert bounded(found, most) == found


@pytest.mark.parametrize("letter", ["x", "\x1b", "é", "\u202e", "\ud800", "\n"])
def test_errors_have_at_most_four_kilobytes(letter: str) -> None:
    long = letter * 100_000
    parts: dict[str, Any] = dict.fromkeys(("check", "found", "needed", "remedy"), long)
    error = PluginError(f"plugin {long} ends", inner=OSError(long + "y"), **parts)
    text = str(error)
    assert len(text.encode()) <= 4096
    assert "\x1b" not in text
    assert " left out" in text
    texts = (part for part in error.fields().values() if isinstance(part, str))
    assert sum(len(part.encode()) for part in texts) <= 4096


# codes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "after", "code", "status"),
    [
        (
            "WORDS_INIT",
            'TF_SetStatus(status, TF_INTERNAL, "shut")',
            "plugin-init-failed",
            "INTERNAL",
        ),
        (
            "WORDS_ABSENT",
            'TF_SetStatus(status, TF_UNAVAILABLE, "shut")',
            "plugin-not-available",
            "UNAVAILABLE",
        ),
    ],
)
def test_isolation_keeps_the_codes(
    compile_library: Compile, device: str, after: str, code: str, status: str
) -> None:
    flags = [f'-DDEVICE="{device}"', f"-DAFTER_INIT={after}"]
    file = compile_library("optimizer_variants.c", flags=flags)
    record = plugin(file)
    assert record.take(open_plugin(record))
    assert initialise(record).reason == code
    with pytest.raises(PluginError) as caught:
        load_isolated(file)
    assert (caught.value.code, caught.value.status) == (code, status)
    assert "shut" in caught.value.found
    with pytest.raises(PluginError) as caught:
        Manager().load(file, policy="allow_unverified", isolation="process")
    skipped = code == "plugin-not-available"
    assert caught.value.code == ("plugin-failed" if skipped else code)
    assert "shut" in caught.value.found


def test_who_registers_nothing_is_refused(compile_library: Compile, tmp_path: Path) -> None:
    source = tmp_path / "silent.c"
    source.write_text(
        '__attribute__((visibility("default"))) void TF_InitKernel(void) {}\n', encoding="utf-8"
    )
    record = plugin(compile_library(source))
    assert record.take(open_plugin(record))
    result = initialise(record)
    assert (result.state, result.reason) == ("failed", "plugin-registered-nothing")
    assert result.text == "its entry functions succeeded, and registered nothing"


# what Python raises ----------------------------------------------------------------------------


@pytest.mark.parametrize("raised", [OSError(24, "Too many open files"), MemoryError("no more")])
def test_a_trial_that_cannot_be_made_is_an_error_of_ours(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="NotTried"'])

    def none(*_: object, **__: object) -> Any:
        raise raised

    monkeypatch.setattr("subprocess.Popen", none)
    before = len(os.listdir("/proc/self/fd"))
    record = check_file(str(file), OPEN)
    assert record.error is not None
    assert record.error.code == "plugin-probe-not-started"
    assert record.error.found == f"{type(raised).__name__}: {raised}"
    assert "DRYSTONE_PLUGIN_PROBE_SECONDS=0" in record.error.remedy
    assert "caused by" not in str(record.error)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_process_without_pipes_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Any:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("os.pipe", none)
    with pytest.raises(PluginError) as caught:
        load_isolated(tmp_path / "x.so")
    assert caught.value.code == "isolated-plugin-not-started"
    assert "Too many open files" in caught.value.found


def test_plugins_load_without_a_home(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = compile_library(VARIANTS, flags=['-DOP="Homeless"'])
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    result = probe(plugin(file), OPEN)
    assert (result.state, result.facts["probed"]) == ("passed", True)


def test_an_error_of_a_step_keeps_its_code(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(*_: object) -> Any:
        raise PluginError("plugin x is shut", code="plugin-changed")

    monkeypatch.setattr(_manager, "_CHECKS", (raises,))
    with pytest.raises(PluginError) as caught:
        Manager().load(compile_library(VARIANTS))
    assert caught.value.code == "plugin-changed"
