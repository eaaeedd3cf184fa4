"""Symbols that a library needs and no library defines: functions, which may stay so, and data."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugin_files import OPEN, VARIANTS, Compile, plugin

from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins import audit
from drystone_base.plugins.audit import audit_symbols


def test_symbols_that_nobody_has_are_listed(compile_library: Compile) -> None:
    file = compile_library(VARIANTS, flags=["-DNEEDS_SYMBOL"])
    found = audit_symbols(plugin(file), Settings()).error
    assert found is not None
    assert found.code == "plugin-unresolved-symbols"
    assert "allow_unverified loads it with what it does have, if you trust it" in found.remedy
    owned = "1 of TensorFlow's C interface (TF_NobodyHasThis)"
    assert found.found == f"{file.name} leaves 1 undefined: {owned}"
    assert audit.read(file).unresolved == ("TF_NobodyHasThis",)
    trusting = plugin(file)
    result = audit_symbols(trusting, OPEN)
    assert (result.state, result.reason) == ("passed", "plugin-undefined-functions")
    assert result.text.endswith(f"which fail when they are called: {owned}")
    assert trusting.without == ("TF_NobodyHasThis",)


USES_DATA = """
extern "C" { extern int %s; }
namespace larger { struct Base { virtual ~Base(); virtual void run(); }; extern int number; }
struct Mine : larger::Base { void run() override {} };
extern "C" __attribute__((visibility("default"))) void TF_InitKernel() { %s; }
"""


@pytest.mark.parametrize(
    ("use", "data", "functions"),
    [
        ("(void)nobody_has", (), ()),
        ("nobody_has = 1", ("nobody_has",), ()),
        ("larger::number = 1", ("_ZN6larger6numberE",), ()),
        ("delete new Mine", ("_ZTIN6larger4BaseE",), ("_ZN6larger4BaseD2Ev",)),
        ("throw static_cast<larger::Base*>(nullptr)", ("_ZTIN6larger4BaseE",), ()),
    ],
)
@pytest.mark.parametrize("more", [(), ("-O2", "-fno-plt"), ("-Wl,-z,now",)])
def test_data_are_told_from_functions(
    compile_library: Compile,
    tmp_path: Path,
    use: str,
    data: tuple[str, ...],
    functions: tuple[str, ...],
    more: tuple[str, ...],
) -> None:
    source = tmp_path / "data.cc"
    source.write_text(USES_DATA % ("nobody_has", use), encoding="utf-8")
    found = audit.read(compile_library(source, flags=[*more, "-Wno-unused-value"]))
    missing = {name for name in found.unresolved if not name.startswith("_ZTVN10__cxxabiv1")}
    assert set(data) <= set(found.data)
    assert set(functions) <= missing - set(found.data)
    assert missing - set(data) - set(functions) <= {"_ZN6larger4Base3runEv", "_ZTVN6larger4BaseE"}
    assert "_ZTVN6larger4BaseE" not in found.functions
