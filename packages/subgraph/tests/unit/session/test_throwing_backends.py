"""Functions of a library that throw C++ exceptions, or fail: runs go on without the backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from partitions import chain

import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library
from drystone_subgraph import SubgraphWarning

pytestmark = pytest.mark.cases_in_gate(3)

SOURCE = """
#include <stdexcept>
#include "drystone/platform_strings.h"
#include "drystone/subgraph.h"
TF_PLATFORM_STRINGS()
namespace {
constexpr int kHere = PLACE;
void at(int place) {
  if (place == kHere) throw std::runtime_error("lost my footing");
}
int one;
void* const any_address = &one;
void* selector(const DS_SubgraphBackend*, TF_Status* status) {
  at(1);
  if (kHere == 2) TF_SetStatus(status, TF_UNAVAILABLE, "no selector today");
  return kHere == 2 ? nullptr : any_address;
}
unsigned char wants(const DS_SubgraphBackend*, void*, const DS_SubgraphNode*) {
  at(9);
  return 1;
}
unsigned char wants_neighbour(const DS_SubgraphBackend*, void*, const DS_SubgraphNode*,
                              const DS_SubgraphNode*) {
  at(10);
  return 1;
}
void filter(const DS_SubgraphBackend*, void*, const DS_SubgraphNode* const*, int32_t,
            unsigned char*) {
  at(11);
}
void reset(const DS_SubgraphBackend*, void*) { at(12); }
void destroy_selector(const DS_SubgraphBackend*, void*) { at(13); }
unsigned char accept(const DS_SubgraphBackend*, const DS_SubgraphRegion*, TF_Status*) {
  at(3);
  return 1;
}
void review(const DS_SubgraphBackend*, const DS_SubgraphRegion*, unsigned char*, TF_Buffer* attrs,
            TF_Status*) {
  attrs->data = new char[3];
  attrs->length = 3;
  attrs->data_deallocator = [](void* data, size_t) { delete[] static_cast<char*>(data); };
  at(14);
  attrs->data_deallocator(const_cast<void*>(attrs->data), attrs->length);
  *attrs = {};
}
void* compile(const DS_SubgraphBackend*, const DS_SubgraphRegion*, TF_Status*) {
  at(4);
  return new int(0);
}
void execute(const DS_SubgraphBackend*, void*, TF_Tensor* const* inputs, int32_t,
             TF_Tensor** outputs, int32_t, TF_Status*) {
  at(5);
  if (kHere == 8) outputs[0] = inputs[0];
}
void destroy(const DS_SubgraphBackend*, void* executable) {
  delete static_cast<int*>(executable);
  if (kHere == 6) throw 6;
}
void serialize(const DS_SubgraphBackend*, void*, TF_Buffer*, TF_Status*) { at(6); }
void* deserialize(const DS_SubgraphBackend*, const DS_SubgraphRegion*, const TF_Buffer*,
                  TF_Status*) {
  return nullptr;
}
}  // namespace
extern "C" TF_CAPI_EXPORT void DS_InitSubgraph(DS_SubgraphRegistrationParams* params, TF_Status*) {
  at(7);
  params->backend->name = NAME;
  params->selector_fns->create_selector = selector;
  params->selector_fns->destroy_selector = destroy_selector;
  params->selector_fns->select = wants;
  params->selector_fns->select_input = wants_neighbour;
  params->selector_fns->select_output = wants_neighbour;
  params->selector_fns->filter = filter;
  params->selector_fns->reset = reset;
  params->fns->accept = accept;
  params->fns->review = review;
  params->fns->compile = compile;
  params->fns->execute = execute;
  params->fns->destroy_executable = destroy;
  params->fns->serialize = serialize;
  params->fns->deserialize = deserialize;
}
"""
X = np.ones(2, np.float32)


def library(place: int, folder: Path, compile_library: Callable[..., Path]) -> str:
    """The file of a library that fails in one place, and names its backend after that."""
    source = folder / "throwing.cc"
    source.write_text(SOURCE, encoding="utf-8")
    flags = [f"-DPLACE={place}", f'-DNAME="throws{place}"']
    return str(compile_library(source, flags=flags))


@pytest.mark.parametrize(
    ("place", "texts"),
    [
        (1, ["subgraph backend 'throws1' failed on the graph", "lost my footing"]),
        (2, ["subgraph backend 'throws2' failed on the graph", "no selector today"]),
        (3, []),  # it refuses the region
        (4, ["cannot compile it", "lost my footing"]),
        (5, ["failed while it ran", "lost my footing"]),
        (6, ["is not kept", "lost my footing"]),
        (8, ["an output is one of the inputs"]),
        *((k, [f"'throws{k}' failed on the graph", "lost my footing"]) for k in (9, 10, 11, 12)),
        (13, []),  # it is logged
        (14, []),  # it refuses the region
    ],
)
def test_a_library_that_fails_somewhere_ends_no_run(
    compile_library: Callable[..., Path],
    tmp_path: Path,
    place: int,
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    recwarn: pytest.WarningsRecorder,
) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", str(tmp_path / "cache"))
    load_library(library(place, tmp_path, compile_library), policy="allow_unverified")
    settings = ds.SessionConfig(subgraphs=f"throws{place}", optimizer="off")
    with ds.Session(chain(3), settings) as session:
        for _ in range(2):
            np.testing.assert_array_equal(session.run("n2:0", {"x:0": X}), X)
    told = " ".join(str(w.message) for w in recwarn if w.category is SubgraphWarning)
    assert all(text in told for text in texts), told


def test_a_library_that_throws_as_it_begins_is_refused(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(DrystoneError, match="lost my footing"):
        load_library(library(7, tmp_path, compile_library), policy="allow_unverified")
