"""The contract against TensorFlow's own headers: prototypes, sizes and offsets, by a compiler.

TensorFlow's headers and ours are compiled apart, in C, and what the compiler says is compared.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import drystone_abi

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)
GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(
    GCC is None, reason="gcc, which prints prototypes, is not installed"
)

# ops.h and filesystem_interface.h of TensorFlow are C++ only; the typedefs make the first valid C.
HEAD = """#include <stdbool.h>
typedef struct TF_OpDefinitionBuilder TF_OpDefinitionBuilder;
typedef struct TF_ShapeInferenceContext TF_ShapeInferenceContext;
typedef struct TF_ShapeHandle TF_ShapeHandle;
typedef struct TF_DimensionHandle TF_DimensionHandle;
typedef struct TF_FilesystemPluginInfo TF_FilesystemPluginInfo;
"""
HEADERS = """c_api c_api_experimental env kernels kernels_experimental ops tf_tstring tf_buffer
experimental/grappler/grappler experimental/stream_executor/stream_executor
experimental/pluggable_profiler/pluggable_profiler"""
SOURCE = HEAD + "".join(f'#include "tensorflow/c/{name}.h"\n' for name in HEADERS.split())
LOCK = json.loads(
    (Path(__file__).resolve().parents[4] / "plugin-abi" / "abi.lock").read_text(encoding="utf-8")
)


def prototypes(include: str, folder: Path) -> dict[str, str]:
    """Normalised prototypes of the functions named TF_, SE_ or TP_."""
    source, listed = folder / "all.c", folder / "all.aux"
    source.write_text(SOURCE)
    command = [str(GCC), "-std=gnu11", "-w", "-fsyntax-only", f"-I{include}"]
    subprocess.run([*command, "-aux-info", str(listed), str(source)], check=True)
    found = {}
    for line in listed.read_text().splitlines():
        text = re.sub(r"/\*.*?\*/", "", line)
        text = re.sub(r"\bextern |\bstruct (?=[ST][FEP]_)", "", text).strip()
        for theirs, ours in (("TSL_", "TF_"), ("_Bool", "bool"), (" ()", " (void)")):
            text = text.replace(theirs, ours)
        name = re.search(r"\b((?:TF|SE|TP)_\w+) \(", text)
        if name and "static" not in text:
            found[name.group(1)] = text
    return found


def test_prototypes_are_tensorflows(tmp_path: Path) -> None:
    """S2-interface-c: what exists in TensorFlow has the same prototype here."""
    theirs = prototypes(tf.sysconfig.get_include(), tmp_path)
    ours = prototypes(drystone_abi.get_include(), tmp_path)
    common = theirs.keys() & ours.keys()
    assert len(common) > 180
    assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}


def test_names_that_tensorflow_lacks_are_drystones() -> None:
    """S2-interface-c: TF_ and SE_ are TensorFlow's, of this or an older release; ours are DS_."""
    include = Path(tf.sysconfig.get_include())
    headers = [*include.glob("tensorflow/c/**/*.h"), *include.glob("xla/tsl/c/*.h")]
    headers += [*include.glob("tensorflow/core/platform/*.h"), *include.glob("**/tf_rendezvous*.h")]
    headers += include.glob("**/ctstring*.h")
    theirs = set(re.findall(r"\b\w+\b", "".join(h.read_text("utf-8") for h in headers)))
    older = {
        "TF_InitGraphPlugin",
        "TF_GetGrapplerItem",
    }  # of RFC 20201027, and of the code beside it
    older |= {"TF_GetInputPropertiesSize", "TF_GetOutputPropertiesSize"}  # of releases up to 2.8
    older |= {"TF_Log", "TF_VLog", "TF_DVLog", "TF_LogLevel"}  # of releases up to 2.16
    named = {*LOCK["functions"], *LOCK["structs"], *LOCK["enums"], *LOCK["constants"]}
    unknown = {n for n in named - older - theirs if not n.startswith("DS_")}
    assert not unknown
    assert not {n for n in named & theirs if n.startswith("DS_")}


def test_sizes_and_offsets_are_tensorflows(tmp_path: Path) -> None:
    """S0-structs: every struct that TensorFlow's headers have in C, member by member."""
    theirs = Path(tf.sysconfig.get_include(), "tensorflow", "c")
    text = "".join((theirs / f"{name}.h").read_text(encoding="utf-8") for name in HEADERS.split())
    structs = [  # modules that TensorFlow has no C interface for have structs of ours alone
        name
        for name in LOCK["structs"]
        if (name.startswith(("SE_", "SP_", "TP_")) and re.search(rf"\b{name}\b", text))
        or name in ("TF_Buffer", "TF_InputRange_Args")
    ]
    structs += ["TF_ProfilerRegistrationParams", "TF_AllocatorAttributes", "TF_TString"]
    lines, expected = [], []
    for name in structs:
        struct = LOCK["structs"][name]
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(struct["size"])
        for member in struct["members"]:
            if member["name"] != "configs":  # our second name of optimizer_configs
                lines.append(f'printf("%zu\\n", offsetof({name}, {member["name"]}));')
                expected.append(member["offset"])
    source, program = tmp_path / "probe.c", tmp_path / "probe"
    body = "\n".join(lines)
    head = "#include <stddef.h>\n#include <stdio.h>\n"
    source.write_text(f"{head}{SOURCE}int main(void) {{\n{body}\nreturn 0; }}\n")
    include = f"-I{tf.sysconfig.get_include()}"
    command = [str(GCC), "-std=gnu11", "-w", include, str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert [int(line) for line in printed.split()] == expected
    assert len(expected) > 150
