"""Backends of plugins, by DS_InitSubgraph."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh_process import run_program

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.plugins import load_library
from drystone_subgraph import (
    PartitionConfig,
    SubgraphWarning,
    executables,
    find_backend,
    partition_with_report,
)
from drystone_subgraph.c_abi.c_structs import (
    Backend,
    Fns,
    NodeView,
    Params,
    RegionView,
    SelectorFns,
    ValueView,
)

TOP = Path(__file__).resolve().parents[5]
FLOAT = as_dtype("float32")
Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def library(compile_library: Compile) -> Path:
    source = TOP / "plugin-abi" / "examples" / "subgraph_c" / "elementwise.c"
    found: Path = compile_library(source)
    return found


@pytest.fixture
def loaded(library: Path) -> Any:
    from drystone_subgraph.c_abi import c_backend
    from drystone_subgraph.contract import backend

    plugin = load_library(str(library), policy="allow_unverified")
    if "elementwise" not in backend.backends():  # taken out after another test
        c_backend.initialise(plugin.library, "DS_InitSubgraph")
    return plugin


def graph_of(shape: Any = None) -> Graph:
    """``y = -((x + k) * x)`` and ``z = x + k``, all but ``exp(y)`` element-wise."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT, "shape": shape})
    k = graph.add("Placeholder", "k", attrs={"dtype": FLOAT, "shape": None})
    types = {"T": FLOAT}
    total = graph.add("AddV2", "z", [x, k], attrs=types)
    product = graph.add("Mul", "p", [total, x], attrs=types)
    graph.add("Exp", "e", [graph.add("Neg", "y", [product], attrs=types)], attrs=types)
    return graph


def test_the_structs_are_those_of_the_header(compile_library: Compile, tmp_path: Path) -> None:
    pairs = {
        "DS_SubgraphNode": NodeView, "DS_SubgraphValue": ValueView, "DS_SubgraphRegion": RegionView,
        "DS_SubgraphBackend": Backend, "DS_SubgraphSelectorFns": SelectorFns,
        "DS_SubgraphFns": Fns, "DS_SubgraphRegistrationParams": Params,
    }  # fmt: skip
    members = [
        (name, field[0], getattr(kind, field[0]).offset)
        for name, kind in pairs.items()
        for field in kind._fields_
    ]
    rows = ", ".join(f"offsetof({name}, {member})" for name, member, _ in members)
    source = tmp_path / "offsets.c"
    source.write_text(
        f'#include "drystone/subgraph.h"\n'
        f'__attribute__((visibility("default"))) const size_t offsets[] = {{{rows}}};\n',
        encoding="utf-8",
    )
    found = ctypes.CDLL(str(compile_library(source)))
    offsets = (ctypes.c_size_t * len(members)).in_dll(found, "offsets")
    assert list(offsets) == [offset for *_, offset in members]


def test_a_region_is_computed_by_the_library(loaded: Any) -> None:
    """Row D25."""
    assert loaded.state == "loaded"
    session = ds.Session(
        graph_of(), ds.SessionConfig(subgraphs="elementwise", optimizer="off", executor="native")
    )
    x, k = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32(0.5)
    y, z, e = session.run(["y:0", "z:0", "e:0"], {"x:0": x, "k:0": k})
    np.testing.assert_array_equal(z, x + k)
    np.testing.assert_array_equal(y, -((x + k) * x))
    np.testing.assert_allclose(e, np.exp(y), rtol=1e-6)
    (found,) = executables(session)
    assert (found.backend, found.state, found.runs) == ("elementwise", "ready", 1)


@pytest.mark.usefixtures("loaded")
def test_what_the_library_declines_is_run_by_the_host() -> None:
    session = ds.Session(graph_of(), ds.SessionConfig(subgraphs="elementwise", optimizer="off"))
    x, k = np.ones((2, 3), np.float32), np.arange(3, dtype=np.float32)
    with pytest.warns(SubgraphWarning, match="inputs of different shapes"):
        np.testing.assert_array_equal(session.run("p:0", {"x:0": x, "k:0": k}), x + k)


@pytest.mark.usefixtures("loaded")
def test_the_report_names_its_regions() -> None:
    config = PartitionConfig(("elementwise",), why=True)
    _, report = partition_with_report(graph_of(), ["e"], ["x", "k"], config)
    assert [s.nodes for s in report.taken] == [("z", "p", "y")]
    assert report.why["", "e"] == {"elementwise": "the backend does not select Exp"}
    assert find_backend("elementwise").compiles


VARIANT = """
#include <string.h>
#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"
TF_PLATFORM_STRINGS()
static unsigned char wants(const DS_SubgraphBackend* b, void* s, const DS_SubgraphNode* n) {
  (void)b; (void)s; (void)n; return 1;
}
static void* make(const DS_SubgraphBackend* b, const DS_SubgraphRegion* r, TF_Status* s) {
  (void)b; (void)r; (void)s; return NULL;
}
TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status* status) {
  (void)status; (void)make;
  params->backend->name = "variant";
  params->selector_fns->select = wants;
  %s
}
"""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("params->major_version = 7;", "the major version of the interface must be the host's"),
        ("params->fns->struct_size = 0;", "Fns of 0 bytes"),
        ("params->selector_fns->select = NULL;", "a backend has a name, and a function select"),
        ("params->fns->compile = make;", "compile alone"),
        ('TF_SetStatus(status, TF_UNAVAILABLE, "no device");', "no device"),
        ("params->backend->name = (const char*)16;", "has no end, or cannot be read"),
        ("params->backend->version = (const char*)16;", "has no end, or cannot be read"),
        ('params->backend->name = "\\33[2J";', r"\x1b[2J"),
        ('params->backend->name = "default";', "it is registered by drystone-subgraph"),
    ],
)
def test_a_library_that_fills_in_nonsense(
    compile_library: Compile, tmp_path: Path, code: str, text: str
) -> None:
    source = tmp_path / "variant.c"
    source.write_text(VARIANT % code, encoding="utf-8")
    made = compile_library(source)
    with pytest.raises(DrystoneError) as caught:
        load_library(str(made), policy="allow_unverified")
    assert text in str(caught.value)


def test_an_older_plugin_knows_fewer_members(compile_library: Compile, tmp_path: Path) -> None:
    source = tmp_path / "older.c"
    code = (
        "params->fns->compile = make;"
        "params->fns->struct_size = TF_OFFSET_OF_END(DS_SubgraphFns, accept);"
    )
    source.write_text(VARIANT % code, encoding="utf-8")
    load_library(str(compile_library(source)), policy="allow_unverified")
    assert not find_backend("variant").compiles
    session = ds.Session(graph_of(), ds.SessionConfig(subgraphs="variant", optimizer="off"))
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(session.run("z:0", {"x:0": x, "k:0": x}), x + x)


def test_installed_backends_are_known_before_any_session(library: Path, tmp_path: Path) -> None:
    """Also where the plugin is tried in a child first, which must not try all plugins itself."""
    folder = tmp_path / "site-packages" / "drystone-plugins"
    folder.mkdir(parents=True)
    shutil.copy(library, folder / "libelementwise.so")
    code = (
        "import sys\n"
        f"sys.path.append({str(folder.parent)!r})\n"
        "from drystone_base import modules\n"
        "from drystone_subgraph import backends\n"
        "from drystone_subgraph.session.module import MODULE\n"
        "if not modules.stage('partition'):\n"  # found by a path, not installed
        "    modules.register(MODULE)\n"
        "print(*backends())\n"
    )
    found = run_program(code, tmp_path, DRYSTONE_PLUGIN_POLICY="allow_unverified")
    assert "elementwise" in found.split()
