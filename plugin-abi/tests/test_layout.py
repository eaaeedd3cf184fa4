"""Layout of the contract: golden numbers hold, and every struct that can grow states its size."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import compiling
import pytest

HERE = Path(__file__).parent
LOCK = json.loads((HERE.parent / "abi.lock").read_text(encoding="utf-8"))
# Structs without a size, which therefore never change: TensorFlow's that were made so, and bare
# room that a caller has for the host.
WITHOUT_SIZE = {
    "DS_ParallelStorage",
    "TFDevice_AllocatorAttributes",
    "TF_Buffer",
    "TF_FileStatistics",
    "TF_Filesystem",
    "TF_FilesystemOps",
    "TF_FilesystemPluginInfo",
    "TF_FilesystemPluginOps",
    "TF_Filesystem_Option",
    "TF_Filesystem_Option_Value",
    "TF_RandomAccessFile",
    "TF_RandomAccessFileOps",
    "TF_ReadOnlyMemoryRegion",
    "TF_ReadOnlyMemoryRegionOps",
    "TF_RendezvousArgsStruct",
    "TF_RendezvousAsyncRecv_Params",
    "TF_RendezvousDoneCallbackImpl",
    "TF_RendezvousDoneCallback_Params",
    "TF_RendezvousParsedKey",
    "TF_RendezvousSend_Params",
    "TF_RendezvousThunk",
    "TF_StringView",
    "TF_TString",
    "TF_TString_Large",
    "TF_TString_Offset",
    "TF_TString_Raw",
    "TF_TString_Small",
    "TF_TString_View",
    "TF_ThreadOptions",
    "TF_TransactionToken",
    "TF_WritableFile",
    "TF_WritableFileOps",
}


def test_golden_numbers_compile(compile_library: Callable[..., Path]) -> None:
    """Row B4. S0-structs: sizes and offsets of params, configs and optimizer."""
    assert compile_library(HERE / "layout.c").is_file()


def test_a_wrong_number_does_not_compile(tmp_path: Path) -> None:
    text = (HERE / "layout.c").read_text().replace("STRUCT_SIZE, 288)", "STRUCT_SIZE, 264)")
    assert "264" in text
    (tmp_path / "wrong.c").write_text(text)
    command = [*compiling.compiler(".c"), f"-I{compiling.INCLUDE}", "-fsyntax-only"]
    done = subprocess.run([*command, str(tmp_path / "wrong.c")], capture_output=True, text=True)
    assert done.returncode != 0
    assert "SP_STREAMEXECUTOR_STRUCT_SIZE" in done.stderr


def test_every_other_struct_begins_with_its_size() -> None:
    first = {
        name: struct["members"][0]["name"]
        for name, struct in LOCK["structs"].items()
        if struct["kind"] == "struct"
    }
    assert {name for name in first if first[name] != "struct_size"} == WITHOUT_SIZE


@pytest.mark.parametrize("name", sorted(set(LOCK["structs"]) - WITHOUT_SIZE))
def test_stated_sizes_end_with_the_last_member(name: str) -> None:
    struct = LOCK["structs"][name]
    if struct["kind"] == "union":
        assert struct["stated_size"] is None
        return
    last = struct["members"][-1]
    assert struct["stated_size"] == last["offset"] + last["size"]
