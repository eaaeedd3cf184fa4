"""What is read of a plugin before it is opened: ELF, manifest, platform strings, symbols."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
from plugin_files import OPEN, VARIANTS, Compile, plugin, records_flag, rewritten

from drystone_abi import ABI_VERSION
from drystone_base.core import processor as _processor
from drystone_base.core.errors import DrystoneError
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins import _linker, _manifest, audit
from drystone_base.plugins._elf import BadElf, parse, read_elf
from drystone_base.plugins._manifest import manifest_for, read_manifest, take_manifest
from drystone_base.plugins._platform import check_platform
from drystone_base.plugins._record import StepResult, library_stem, plugin_name
from drystone_base.plugins.audit import audit_symbols

CURRENT = tuple(int(part) for part in ABI_VERSION.split("."))


def error(result: StepResult) -> DrystoneError:
    assert result.state == "failed"
    assert result.error is not None
    assert result.reason == result.error.code
    return result.error


# ELF -------------------------------------------------------------------------------------------


def test_elf_of_a_plugin(compile_library: Compile) -> None:
    elf = read_elf(
        compile_library(VARIANTS, flags=["-DEXTRA_EXPORT", "-DCRASH", "-Wl,-soname,libwall.so.3"])
    )
    assert elf.header.target == "64-bit little-endian x86-64"
    assert elf.soname == "libwall.so.3"
    assert elf.needed == ("libc.so.6",)
    assert elf.exports == {"TF_InitKernel", "extra_export"}
    assert elf.imports >= {"TF_NewStatus", "TF_RegisterOpDefinition"}
    assert not elf.is_program


@pytest.mark.parametrize("style", ["sysv", "gnu", "both"])
def test_symbols_are_counted_by_any_hash_table(compile_library: Compile, style: str) -> None:
    elf = read_elf(compile_library(VARIANTS, flags=[f"-Wl,--hash-style={style}"]))
    assert elf.exports == {"TF_InitKernel"}
    assert "TF_NewStatus" in elf.imports


def test_symbols_without_any_export_are_counted(compile_library: Compile) -> None:
    elf = read_elf(compile_library(VARIANTS, flags=["-DNO_ENTRY", "-Wl,--hash-style=gnu"]))
    assert elf.exports == frozenset()
    assert "TF_NewStatus" in elf.imports


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "the file is empty"),
        (b"#!/bin/sh\n", "it is no ELF file: it begins with b'#!/b'"),
        (b"\x7fEL", "the ELF header ends at byte 16, but the file has 3: truncated?"),
        (b"\x7fELF" + bytes(60), "its ELF header states class 0 and byte order 0"),
        (b"\x7fELF\x02\x01" + bytes(10), "the ELF header ends at byte 20, but the file has 16"),
    ],
)
def test_what_is_no_elf_file(data: bytes, text: str) -> None:
    with pytest.raises(BadElf) as caught:
        parse(data)
    assert text in str(caught.value)


def test_truncated_files_say_so(compile_library: Compile, tmp_path: Path) -> None:
    file = compile_library(VARIANTS)
    data = file.read_bytes()
    with pytest.raises(BadElf, match="truncated"):
        parse(data[: len(data) // 3])
    fifo = tmp_path / "pipe.so"
    os.mkfifo(fifo)
    with pytest.raises(BadElf, match="not a regular file"):
        read_elf(fifo)


def test_the_linkers_cache_is_read_or_left_alone() -> None:
    head = b"glibc-ld.so.cache1.1" + (1).to_bytes(4, "little") + bytes(24)
    entry = bytes(4) + (72).to_bytes(4, "little") + (78).to_bytes(4, "little") + bytes(12)
    data = head + entry + b"a.so\0\0/x/a.so\0"
    assert _linker.parse_cache(data) == {"a.so": "/x/a.so"}
    assert _linker.parse_cache(b"ld.so-1.7.0 old") == {}
    assert _linker.parse_cache(data[:50]) == {}


# manifest --------------------------------------------------------------------------------------

MANIFEST = """
name = "cobble"
version = "1.4.0"
package = "cobble-kernels"
library = "libcobble.so"
abi = ">=1.0,<2"
modules = ["kernels"]
isolation = "process"
ops = ["Cobble"]
optimizers = ["CPU"]
schemes = ["cobble"]
devices = ["COBBLE"]
[extra]
anything = 1
"""


def test_every_field_of_a_manifest_is_honoured(tmp_path: Path) -> None:
    (tmp_path / "libcobble.so.toml").write_text(MANIFEST, encoding="utf-8")
    record = plugin(tmp_path / "libcobble.so")
    result = take_manifest(record)
    assert result.state == "passed"
    assert (record.name, record.version, record.package) == ("cobble", "1.4.0", "cobble-kernels")
    assert record.modules == ("kernels",)
    assert record.isolation == "process"
    assert record.offers == {
        "ops": ("Cobble",),
        "optimizers": ("CPU",),
        "schemes": ("cobble",),
        "devices": ("COBBLE",),
    }


def test_the_manifest_of_a_folder_names_its_library(tmp_path: Path) -> None:
    (tmp_path / "drystone-plugin.toml").write_text(MANIFEST, encoding="utf-8")
    assert manifest_for(str(tmp_path / "libother.so")) is None
    named = manifest_for(str(tmp_path / "libcobble.so"))
    assert named is not None
    assert named.manifest is not None
    assert named.manifest.name == "cobble"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name = ", "it is no TOML file"),
        ("nmae = 'x'", "the key 'nmae' is not known; did you mean name?"),
        ("name = 3", "name must be a string, found 3"),
        ("name = '../x'", "name must be a name of letters"),
        ("name = ''", "name must be a name of letters"),
        ("name = 'x-'", "name must be a name of letters"),
        ("name = 'é'", "name must be a name of letters"),
        (f"name = '{'x' * 101}'", "name must be a name of letters"),
        ("package = 'a b'", "package must be the name of a distribution, found 'a b'"),
        ("version = 'new'", "version must be a version that begins with a digit"),
        ("version = '1 2'", "version must be a version that begins with a digit"),
        ("library = '/etc/x.so'", "library must be the name of a file beside the manifest"),
        ("library = '..'", "library must be the name of a file beside the manifest"),
        ("library = 'b.so'", "library is 'b.so', but it lies beside a.so"),
        ("abi = '~1'", "abi must be bounds such as '>=1.0,<2', found '~1'"),
        *(
            (f"abi = '{bad}'", f"abi must be bounds such as '>=1.0,<2', found '{bad}'")
            for bad in (
                "",
                ">=",
                ">=1.",
                ">=1.0.0",
                ">=1,",
                "> =1",
                "=>1",
                ">=1234567",
                ">=-1",
                "1.0",
            )
        ),
        ("modules = 'kernels'", "modules must be a list of strings"),
        ("isolation = 'thread'", "isolation must be 'none' or 'process', found 'thread'"),
        ("extra = 1", "extra must be a table, found 1"),
        ("#" * 70000, "it is larger than 65536 bytes"),
    ],
)
def test_bad_manifests(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "a.so.toml").write_text(text, encoding="utf-8")
    found = error(take_manifest(plugin(tmp_path / "a.so")))
    assert found.code == "plugin-bad-manifest"
    assert problem in found.found
    assert "must be the manifest of a plugin" in found.check
    assert str(tmp_path / "a.so.toml") in found.remedy


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\n", 'name = "a b"\nversion="1"\n', ' name\t=\t"x" ', 'name = ""', 'name = "é = #"',
        'name = "x" # why', "name = 'x'", 'name = "x"\r\nversion = "1"\r\n', 'name = "a\\tb"',
        'name = "x"\nname = "y"', 'name = "x', 'name = x"', 'name = """x"""', 'name = "a" "b"',
        "name", '= "x"', '"name" = "x"', 'a.b = "x"', '[extra]\nname = "x"', 'name = "a\tb"',
        'name = "a\u2028b"', 'name = "x"\x0bversion = "1"', 'name == "x"', 'é = "x"', "# name",
        'name = "a = b"', '\ufeffname = "x"', 'modules = ["a"]', 'modules = [ "a" ,\t"b, c" ]',
        'modules = ["a", "b"]\n\nname = "x"', "modules = []", 'modules = ["a",]',
        'modules = ["a" "b"]', 'modules = ["a"', 'modules = [["a"]]', 'modules = ["a"] # why',
        'modules = [, "a"]',
    ],
)  # fmt: skip
def test_simple_manifests_are_read_as_the_parser_of_toml_does(text: str) -> None:
    try:
        wanted: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        wanted = "it is no TOML file"
    try:
        found: object = _manifest._table_of(text.encode())
    except ValueError as error:
        found = str(error).partition(":")[0]
    assert found == wanted


def test_a_shared_manifest_without_library_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "drystone-plugin.toml").write_text("name = 'x'", encoding="utf-8")
    found = error(take_manifest(plugin(tmp_path / "a.so")))
    assert "must name its library" in found.found


@pytest.mark.parametrize(
    ("bounds", "fits"),
    [
        (">=1.0,<2", True), (f"=={ABI_VERSION}", True), (f">{ABI_VERSION}", False), ("<1", False),
        (" >= 1 , <\t2.0 ", True), (f"<={ABI_VERSION}", True), ("<=0.9", False),
        ("==1", CURRENT == (1, 0)), (">0.999999", True),
    ],
)  # fmt: skip
def test_ranges_of_abi_versions(tmp_path: Path, bounds: str, fits: bool) -> None:
    (tmp_path / "a.so.toml").write_text(f"abi = '{bounds}'", encoding="utf-8")
    result = take_manifest(plugin(tmp_path / "a.so"))
    assert (result.state == "passed") == fits
    if not fits:
        assert error(result).code == "plugin-wrong-abi"
        assert error(result).needed == f"plugin ABI {bounds}"
    found = read_manifest(f"abi = '{bounds}'".encode()).abi
    assert found is not None
    assert found.holds(CURRENT) == fits


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("libfoo.so", "foo"), ("foo.so.2", "foo"), ("libfoo.so.1.2", "foo"), ("x.txt", "x.txt"),
        ("lib.so", "lib"), ("a.so.so", "a.so"), ("a.so.1.so.2", "a.so.1"), ("a.b.so", "a.b"),
        (".so", ".so"), (".so.1", ".so.1"), ("so", "so"), ("1", "1"), ("a.1", "a.1"), ("", ""),
        ("a.so.", "a.so."), ("a.so.x", "a.so.x"), ("a.so.1.", "a.so.1."), ("a.sox", "a.sox"),
    ],
)  # fmt: skip
def test_names_of_files(file: str, name: str) -> None:
    """Row B27."""
    assert plugin_name(file) == name
    assert bool(library_stem(file)) == (re.search(r".\.so(\.\d+)*$", file) is not None)


# platform strings ------------------------------------------------------------------------------


def test_own_platform_fits(compile_library: Compile) -> None:
    result = check_platform(plugin(compile_library(VARIANTS)), Settings(policy="strict"))
    assert result.state == "passed"
    assert result.facts["abi"] == ABI_VERSION
    assert "sse2" in result.facts["features"]


@pytest.mark.parametrize("policy", ["strict", "default"])
def test_without_platform_strings_by_policy_only(compile_library: Compile, policy: str) -> None:
    file = compile_library(VARIANTS, flags=["-DNO_STRINGS"])
    found = error(check_platform(plugin(file), Settings(policy=policy)))
    assert found.code == "plugin-no-platform-strings"
    assert found.check == f"policy {policy}: a library carries platform strings"
    assert "this machine: DRYSTONE_PLUGIN_POLICY=allow_unverified; its author: " in found.remedy
    passed = check_platform(plugin(file), OPEN)
    assert (passed.state, passed.reason) == ("passed", "plugin-no-platform-strings")
    assert "nothing is known of the machine" in passed.text


@pytest.mark.parametrize(
    ("records", "code", "found", "needed"),
    [
        (["__aarch64__=1"], "plugin-wrong-platform", "unknown, aarch64, unknown-endian", "Linux,"),
        (["__APPLE__=1"], "plugin-wrong-platform", "Darwin, unknown", "Linux,"),
        (["__linux__=1", "__ANDROID__=1"], "plugin-wrong-platform", "Android or Linux", "Linux,"),
        (["__BYTE_ORDER__=4321"], "plugin-wrong-platform", "big-endian", "little-endian"),
        (["__AVX5124FMAPS__=1"], "plugin-wrong-processor",
         "this processor lacks avx512_4fmaps (__AVX5124FMAPS__)", "avx512_4fmaps"),
        (["DRYSTONE_ABI_VERSION=2.0"], "plugin-wrong-abi", "plugin ABI 2.0", "plugin ABI 1.x"),
        (["DRYSTONE_ABI_VERSION=0.9"], "plugin-wrong-abi", "plugin ABI 0.9", "plugin ABI 1.x"),
        *((["DRYSTONE_ABI_VERSION=" + bad], "plugin-wrong-abi", f"plugin ABI {bad}",
           "plugin ABI 1.x") for bad in ("x", "1", "1.", "1.0.0", "1.1234567", "1.-1")),
    ],
)  # fmt: skip
def test_another_platform_is_refused_under_every_policy(
    compile_library: Compile, records: list[str], code: str, found: str, needed: str
) -> None:
    file = compile_library(VARIANTS, flags=[records_flag(*records), "-DCRASH"])
    for settings in (OPEN, Settings(), Settings(policy="strict", developer_mode=True)):
        refused = error(check_platform(plugin(file), settings))
        assert refused.code == code
        assert found in refused.found
        assert needed in refused.needed


def test_an_old_plugin_is_told_from_an_old_host(compile_library: Compile) -> None:
    older = compile_library(VARIANTS, flags=[records_flag("DRYSTONE_ABI_VERSION=0.9")])
    newer = compile_library(VARIANTS, flags=[records_flag("DRYSTONE_ABI_VERSION=2.0")])
    assert (
        error(check_platform(plugin(older), OPEN)).remedy == f"pip install --upgrade {older.name}"
    )
    assert (
        error(check_platform(plugin(newer), OPEN)).remedy == "pip install --upgrade drystone-base"
    )


def test_a_newer_minor_version_is_worth_a_remark(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=[records_flag("DRYSTONE_ABI_VERSION=1.99")])
    result = check_platform(plugin(file), Settings())
    assert (result.state, result.reason) == ("passed", "plugin-abi-newer")
    assert "newer plugin ABI 1.99" in result.text


def test_tensorflows_own_strings_have_no_abi_version(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=[records_flag("__linux__=1", "__x86_64__=1")])
    result = check_platform(plugin(file), Settings())
    assert (result.state, result.reason) == ("passed", "plugin-abi-unknown")


def test_an_unknown_format_is_refused(compile_library: Compile, tmp_path: Path) -> None:
    def newer(data: bytearray) -> None:
        at = data.find(b"TF_PLAT_STR_VERSION=1.0")
        data[at + 20 : at + 21] = b"2"

    file = rewritten(compile_library(VARIANTS), tmp_path / "v2.so", newer)
    found = error(check_platform(plugin(file), OPEN))
    assert found.code == "plugin-bad-platform-strings"
    assert found.found == "TF_PLAT_STR_VERSION=2.0"


def test_a_vanished_file(tmp_path: Path) -> None:
    found = error(check_platform(plugin(tmp_path / "gone.so"), OPEN))
    assert found.code == "plugin-unreadable"
    assert found.status == "NOT_FOUND"


def test_features_of_processors(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("flags\t: sse sse2 avx2\n\nflags\t: sse sse2\n", encoding="utf-8")
    assert _processor.features(str(info)) == {"sse", "sse2"}
    info = tmp_path / "power"
    info.write_text("cpu\t\t: POWER9 (raw), altivec supported\n", encoding="utf-8")
    assert _processor.features(str(info)) == {"altivec", "power7", "power8", "power9"}
    info = tmp_path / "arm"
    info.write_text("Features\t: fp asimd sve\n", encoding="utf-8")
    assert _processor.features(str(info)) == {"fp", "asimd", "sve"}
    assert _processor.features(str(tmp_path / "none")) == frozenset()


def test_every_recorded_macro_of_a_processor_is_known() -> None:
    """A macro that is recorded and neither checked nor known to be no instruction is a hole."""
    from drystone_abi import get_include

    include = Path(str(get_include())) / "drystone"
    known = set(_processor.known_macros())
    text = "".join((include / f"platform_macros_{k}.h").read_text() for k in ("x86", "x86_late"))
    recorded = set(re.findall(r"DRYSTONE_PLATFORM_RECORD_\((\w+)\)", text))
    harmless = {
        "_M_IX86_FP", "_NO_PREFETCHW", "__FP_FAST_FMA", "__FP_FAST_FMAF", "__SSE2_MATH__",
        "__SSE_MATH__", "__SGX__", "__MPX__", "__PREFETCHWT1__",
    }  # fmt: skip
    assert recorded - known - harmless == set()


# symbols ---------------------------------------------------------------------------------------


def test_a_clean_plugin_passes_strictly(compile_library: Compile) -> None:
    result = audit_symbols(plugin(compile_library(VARIANTS)), Settings(policy="strict"))
    assert result.state == "passed"
    assert result.facts["entries"] == ["TF_InitKernel"]
    assert result.facts["exports"] == 0


def test_extra_exports_are_remarked_and_strictly_refused(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=["-DEXTRA_EXPORT"])
    result = audit_symbols(plugin(file), Settings())
    assert (result.state, result.reason) == ("passed", "plugin-exports")
    assert result.text == "exports 1 symbols beside its entry symbols, such as extra_export"
    found = error(audit_symbols(plugin(file), Settings(policy="strict")))
    assert found.code == "plugin-exports"
    assert found.found == "1 others: extra_export"


def test_mangled_symbols_of_a_host_are_refused(compile_library: Compile, tmp_path: Path) -> None:
    source = tmp_path / "cxx.cc"
    source.write_text(
        "namespace tensorflow { struct OpKernel { void run(); }; }\n"
        'extern "C" __attribute__((visibility("default"))) void TF_InitKernel() {\n'
        "  tensorflow::OpKernel().run();\n}\n",
        encoding="utf-8",
    )
    found = error(audit_symbols(plugin(compile_library(source)), Settings()))
    assert found.code == "plugin-needs-cxx"
    assert found.found.endswith("1 undefined: 1 of tensorflow (tensorflow::OpKernel::run())")
    assert "instead of TensorFlow's C++ headers" in found.remedy


def test_missing_libraries_are_listed_with_the_search(compile_library: Compile) -> None:
    empty = compile_library("loader_empty.c", flags=["-Wl,-soname,libmissing_wall.so"])
    file = compile_library(VARIANTS, flags=["-Wl,--no-as-needed", str(empty)])
    found = error(audit_symbols(plugin(file), OPEN))
    assert found.code == "plugin-missing-library"
    assert found.found == f"not found: libmissing_wall.so (for {file.name})"
    assert "/usr/lib" in found.needed


def test_tensorflows_names_are_not_missing(compile_library: Compile) -> None:
    empty = compile_library("loader_empty.c", flags=["-Wl,-soname,libtensorflow_framework.so.2"])
    file = compile_library(VARIANTS, flags=["-Wl,--no-as-needed", str(empty)])
    result = audit_symbols(plugin(file), OPEN)
    assert result.state == "passed"
    assert result.facts["aliased"] == ["libtensorflow_framework.so.2"]


def test_companions_are_found_by_origin(compile_library: Compile, tmp_path: Path) -> None:
    wall = compile_library("loader_empty.c", flags=["-Wl,-soname,libwall.so"])
    (tmp_path / "lib").mkdir()
    rewritten(wall, tmp_path / "lib" / "libwall.so", lambda _: None)
    flags = ["-Wl,--no-as-needed", str(wall), "-Wl,-rpath,$ORIGIN/lib"]
    file = rewritten(compile_library(VARIANTS, flags=flags), tmp_path / "p.so", lambda _: None)
    assert audit.read(file).missing == {}
    assert audit_symbols(plugin(file), OPEN).state == "passed"


def test_a_library_without_entry_symbol_is_not_opened(compile_library: Compile) -> None:
    found = error(audit_symbols(plugin(compile_library(VARIANTS, flags=["-DNO_ENTRY"])), OPEN))
    assert found.code == "plugin-no-entry"
    assert "TF_InitKernel" in found.needed
    assert "TF_CAPI_EXPORT" in found.remedy


def test_files_that_are_no_library(compile_library: Compile, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("hello\n", encoding="utf-8")
    found = error(audit_symbols(plugin(text), OPEN))
    assert found.code == "plugin-not-a-library"
    assert "it begins with b'hell'" in found.found
    found = error(audit_symbols(plugin(Path(sys.executable).resolve()), OPEN))
    assert found.code == "plugin-not-a-library"
    assert found.found == "a program"

    def cut(data: bytearray) -> None:
        del data[len(data) // 3 :]

    file = rewritten(compile_library(VARIANTS), tmp_path / "cut.so", cut)
    assert "truncated" in error(audit_symbols(plugin(file), OPEN)).found


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ((18, b"\xb7\x00"), "64-bit little-endian AArch64"),
        ((4, b"\x01"), "32-bit little-endian x86-64"),
        ((18, b"\xf7\x00"), "64-bit little-endian BPF"),
    ],
)
def test_another_machine(
    compile_library: Compile, tmp_path: Path, change: tuple[int, bytes], found: str
) -> None:
    at, value = change
    file = rewritten(
        compile_library(VARIANTS),
        tmp_path / "other.so",
        lambda data: data.__setitem__(slice(at, at + len(value)), value),
    )
    refused = error(audit_symbols(plugin(file), OPEN))
    assert refused.code == "plugin-wrong-platform"
    assert refused.found == found
    assert refused.needed == "64-bit little-endian x86-64"


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "gone.so"
    file.symlink_to(tmp_path / "nowhere")
    found = error(audit_symbols(plugin(file), OPEN))
    assert found.code == "plugin-unreadable"
    assert found.remedy == f"look at it: ls -lL {file}"
