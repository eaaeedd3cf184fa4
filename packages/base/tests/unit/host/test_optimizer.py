"""Optimizers in the host: registration and runs (S0-structs, S0-optimize)."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from optimizing import small_graph

from drystone_base.core.errors import HostError
from drystone_base.graph import Graph
from drystone_base.host import _lib, optimizer
from drystone_base.host.library import HostLibrary, open_library

pytestmark = pytest.mark.cases_in_gate(3)

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Compile = Callable[..., Path]
Make = Callable[..., HostLibrary]


@pytest.fixture(scope="module")
def variant(compile_library: Compile) -> Make:
    """``variant(DEVICE="A", AFTER_INIT="...")``: open a changed optimizer, not yet registered."""

    def make(**macros: str) -> HostLibrary:
        device = macros.pop("DEVICE", None)
        flags = [f"-D{macro}={text}" for macro, text in macros.items()]
        flags += [f'-DDEVICE="{device}"'] if device is not None else []
        return open_library(compile_library("optimizer_variants.c", flags=flags))

    return make


def registered(library: HostLibrary, entry: str = "TF_InitGraph") -> optimizer.HostOptimizer:
    library.initialise(entry)
    (found,) = [o for o in optimizer.optimizers() if o.library == library.path]
    return found


def refusal(library: HostLibrary, entry: str = "TF_InitGraph") -> str:
    with pytest.raises(HostError) as caught:
        library.initialise(entry)
    assert library.path not in [o.library for o in optimizer.optimizers()]
    return caught.value.found


@pytest.fixture
def graph() -> Graph:
    return small_graph()


# ---- registration ------------------------------------------------------------------------------


def test_registered_optimizer_is_listed_with_sizes_and_versions(variant: Make) -> None:
    """S0-structs, S0-version: struct_size and version are the first things read."""
    found = registered(
        variant(
            DEVICE="LISTED",
            AFTER_INIT="params->optimizer_configs->remapping = TF_TriState_Off; "
            "params->configs->auto_mixed_precision = TF_TriState_On",
        )
    )
    assert found.device == "LISTED"
    assert found.entry == "TF_InitGraph"
    assert found.version == (0, 0, 1)
    assert found.sizes == {"params": 56, "configs": 92, "optimizer": 40}
    assert found.configs == {"remapping": "off", "auto_mixed_precision": "on"}


def test_rfc_entry_symbol_registers(variant: Make) -> None:
    """Row B3. S0-entry: ``TF_InitGraphPlugin`` is the entry symbol of the proposal."""
    found = registered(variant(DEVICE="RFC", ENTRY="TF_InitGraphPlugin"), "TF_InitGraphPlugin")
    assert found.entry == "TF_InitGraphPlugin"


def test_library_with_both_entry_symbols_registers_once(variant: Make) -> None:
    both = "} void TF_InitGraphPlugin(TP_OptimizerRegistrationParams* p, TF_Status* s) {"
    library = variant(DEVICE="BOTH", AFTER_INIT=f"{both} TF_InitGraph(p, s)")
    assert library.entries() == ["TF_InitGraph", "TF_InitGraphPlugin"]
    library.initialise("TF_InitGraph")
    library.initialise("TF_InitGraphPlugin")
    assert library.describe()["optimizers"] == ["BOTH"]


@pytest.mark.parametrize(
    ("struct", "path"),
    [
        ("TP_OptimizerRegistrationParams", "params"),
        ("TP_OptimizerConfigs", "params->optimizer_configs"),
        ("TP_Optimizer", "params->optimizer"),
    ],
)
@pytest.mark.parametrize("size", [0, 15])
def test_struct_size_of_zero_or_less_than_a_head_is_refused(
    variant: Make, struct: str, path: str, size: int
) -> None:
    """S0-version: struct size is used to track compatibility."""
    text = refusal(variant(DEVICE="SIZE", AFTER_INIT=f"{path}->struct_size = {size}"))
    assert f"{struct}.struct_size is {size}; it must be set to TP_" in text


OLD = """
  int* raw = (int*)((char*)params->optimizer_configs + 16);
  for (int k = 0; k < 18; ++k) raw[k] = 0;
  raw[8] = TF_TriState_On; raw[9] = TF_TriState_Off; raw[12] = TF_TriState_Off;
  raw[17] = TF_TriState_On; params->optimizer_configs->struct_size = 88
"""


def test_configs_of_88_bytes_are_told_apart(variant: Make) -> None:
    """S0-version: 18 tri-states before TensorFlow 2.10, those after the ninth moved."""
    found = registered(variant(DEVICE="OLD_CONFIGS", AFTER_INIT=OLD.replace("\n", " ")))
    assert found.sizes["configs"] == 88
    assert found.configs == {
        "auto_mixed_precision": "on",
        "auto_mixed_precision_mkl": "off",
        "remapping": "off",
        "scoped_allocator_optimization": "on",
    }


def test_truncated_configs_mean_default_beyond_their_size(variant: Make) -> None:
    """S0-version: a missing trailing member means its default."""
    init = (
        "params->configs->implementation_selector = TF_TriState_Off; "
        "params->configs->remapping = TF_TriState_Off; params->configs->struct_size = 24"
    )
    assert registered(variant(DEVICE="SHORT", AFTER_INIT=init)).configs == {
        "implementation_selector": "off"
    }


def test_longer_structs_of_a_later_release_are_served(variant: Make) -> None:
    """Row B32. S0-version: a minor version appends; the known prefix is used."""
    init = (
        "params->configs->remapping = TF_TriState_Off; params->configs->struct_size = 120; "
        "memset((char*)params->configs + 92, 7, 28); params->optimizer->struct_size = 64; "
        "params->struct_size = 72; params->minor_version = 9"
    )
    found = registered(variant(DEVICE="LATER", AFTER_INIT=init))
    assert found.sizes == {"params": 72, "configs": 120, "optimizer": 64}
    assert found.version == (0, 9, 1)
    assert found.configs == {"remapping": "off"}


def test_value_outside_the_tri_state_counts_as_default(variant: Make) -> None:
    init = "*(int*)&params->configs->remapping = 77"
    assert registered(variant(DEVICE="ODD", AFTER_INIT=init)).configs == {}


def test_other_major_version_is_refused(variant: Make) -> None:
    """S0-version: semantic versions; TensorFlow never compared them."""
    text = refusal(variant(DEVICE="MAJOR", AFTER_INIT="params->major_version = 3"))
    assert "graph optimizer interface version 3.0.1 of the plugin does not fit this host" in text


@pytest.mark.parametrize(
    ("init", "text"),
    [
        ("params->device_type = NULL", "TP_OptimizerRegistrationParams.device_type is not set"),
        ('params->device_type = ""', "TP_OptimizerRegistrationParams.device_type is not set"),
        ('params->device_type = "A B"', "device_type is no device type"),
        ('params->device_type = "1GPU"', "device_type is no device type"),
        ("params->optimizer->optimize_func = NULL", "lacks required members: optimize_func"),
        ("params->optimizer->struct_size = 24", "lacks required members: optimize_func"),
        ("params->optimizer->create_func = (void* (*)(void))abort", "destroy_func is not"),
        ("params->struct_size = 40", "too short for the member optimizer"),
        ("static TP_Optimizer own; params->optimizer = &own", "was changed; fill in the structs"),
        ("memset((char*)params->configs + 96, 1, 64)", "wrote outside the TP_OptimizerConfigs"),
        ("memset((char*)params - 8, 1, 8)", "wrote outside the TP_OptimizerRegistrationParams"),
        ('TF_SetStatus(status, TF_UNAVAILABLE, "no licence")', "TF_InitGraph: no licence"),
    ],
)
def test_bad_registration_is_refused(variant: Make, init: str, text: str) -> None:
    """S0-structs: required members, and sizes that are not overrun."""
    assert text in refusal(variant(DEVICE="BAD", AFTER_INIT=init))


def test_second_optimizer_of_a_device_type_is_refused_naming_both(variant: Make) -> None:
    """Row B16. S0-one-per-type: multiple optimizers cannot register to the same device type."""
    first = variant(DEVICE="TWICE")
    registered(first)
    second = variant(DEVICE="TWICE", AFTER_INIT="(void)params")
    text = refusal(second)
    assert first.path in text
    assert second.path in text
    assert [o.library for o in optimizer.optimizers() if o.device == "TWICE"] == [first.path]


def test_device_type_is_copied(variant: Make, graph: Graph) -> None:
    init = 'static char name[] = "COPIED"; params->device_type = name; (void)0'
    body = "copy_graph(graph, optimized)"
    registered(variant(AFTER_INIT=init, OPTIMIZE=body))
    assert optimizer.run("COPIED", graph.to_bytes()) is None


# ---- runs --------------------------------------------------------------------------------------


def test_same_bytes_mean_unchanged(variant: Make, graph: Graph) -> None:
    registered(variant(DEVICE="IDENTITY"))
    assert optimizer.run("IDENTITY", graph.to_bytes(), ["z:0"]) is None
    registered(variant(DEVICE="ALIAS", OPTIMIZE="*optimized = *graph"))
    assert optimizer.run("ALIAS", graph.to_bytes()) is None


def test_changed_graph_loses_the_default_device_again(variant: Make, graph: Graph) -> None:
    """S0-buffers: bytes in, bytes out; no proto type crosses."""
    registered(variant(DEVICE="APPEND", OPTIMIZE='append_node(graph, "n", "NoOp", optimized)'))
    data = optimizer.run("APPEND", graph.to_bytes(), ["z:0"])
    assert data is not None
    changed = Graph.from_bytes(data)
    assert [n.name for n in changed] == ["x", "y", "z", "n"]
    assert {n.name: n.device for n in changed} == {"x": "", "y": "/device:CPU:0", "z": "", "n": ""}


def test_unknown_fields_survive_the_round_trip(variant: Make, graph: Graph) -> None:
    """Row B23. S0-graphdef-compat: as in protobuf, fields that one side does not know stay."""
    registered(variant(DEVICE="UNKNOWN", OPTIMIZE='append_node(graph, "n", "NoOp", optimized)'))
    node = b"\x0a\x01u\x12\x04NoOp\xfa\x3e\x05field"  # field 1007 of the node
    data = graph.to_bytes() + b"\x0a" + bytes([len(node)]) + node + b"\xfa\x3e\x05graph"
    changed = optimizer.run("UNKNOWN", data)
    assert changed is not None
    assert changed.startswith(data)


def test_plugin_sees_devices_and_stated_ones_stay(variant: Make) -> None:
    """Every node states a device while a plugin sees the graph."""
    made = Graph()
    made.add("NoOp", "plain")
    made.add("NoOp", "stated", device=optimizer.DEFAULT_DEVICE)
    shape = "0123456789"
    body = (
        "int seen = 0; const char* bytes = (const char*)graph->data; "
        "for (size_t k = 0; k + 12 <= graph->length; ++k) "
        'seen += memcmp(bytes + k, "device:CPU:0", 12) == 0; '
        f'TF_SetStatus(status, TF_ABORTED, &"{shape}"[seen])'
    )
    registered(variant(DEVICE="SEES", OPTIMIZE=body))
    with pytest.raises(HostError, match="failed: 23456789"):
        optimizer.run("SEES", made.to_bytes())
    append = 'append_node(graph, "n", "NoOp", optimized)'
    registered(variant(DEVICE="STATED", OPTIMIZE=append))
    data = optimizer.run("STATED", made.to_bytes())
    assert data is not None
    assert Graph.from_bytes(data)["stated"].device == optimizer.DEFAULT_DEVICE
    assert Graph.from_bytes(data)["plain"].device == ""


def test_item_answers_inside_an_optimizer(variant: Make, graph: Graph) -> None:
    """S0-item, S0-properties: inside an optimizer; symbols stand for unknown dimensions."""
    body = 'report_item(item, "y", status)'
    registered(variant(DEVICE="REPORT", OPTIMIZE=body))
    with pytest.raises(HostError) as caught:
        optimizer.run("REPORT", graph.to_bytes(), ["z:0"], ["x:0"], ["z", "x"])
    assert caught.value.status == "ABORTED"
    # DT_FLOAT, [-2, 3]
    shape = "08011211120b08feffffffffffffffff0112020803"
    assert f"failed: preserve: x z; fetch: z:0; outputs of y: 1,{shape}" in caught.value.found


def test_create_and_destroy_are_called_once_for_each_run(variant: Make, graph: Graph) -> None:
    """Row B6. S0-optimize: creation and deletion functions are optional."""
    library = variant(DEVICE="STATE", HAS_STATE="1")
    failing = variant(DEVICE="STATE_BAD", HAS_STATE="1", OPTIMIZE="(void)status")
    for each in (library, failing):
        registered(each)
    for _ in range(3):
        optimizer.run("STATE", graph.to_bytes())
        with pytest.raises(HostError):
            optimizer.run("STATE_BAD", graph.to_bytes())

    def value(of: HostLibrary, name: str) -> int:
        address = of.symbol(name)
        assert address
        return ctypes.c_int.from_address(address).value

    for each in (library, failing):
        assert (value(each, "created_states"), value(each, "live_states")) == (3, 0)


@pytest.mark.parametrize(
    ("name", "body", "status", "text"),
    [
        ("EMPTY", "(void)graph", "INTERNAL", "said OK but left the optimized graph empty"),
        ("NOTHING", 'put_bytes("", 0, optimized)', "INTERNAL", "left the optimized graph empty"),
        ("GARBAGE", 'put_bytes("\\xff\\xff\\xff", 3, optimized)', "INTERNAL", "is no GraphDef"),
        ("CUT", "copy_graph(graph, optimized); optimized->length -= 3", "INTERNAL", "truncated"),
        ("NAMELESS", 'put_bytes("\\x0a\\x00", 2, optimized)', "INTERNAL", "lacks name or op"),
        (
            "ERROR",
            'copy_graph(graph, optimized); TF_SetStatus(status, TF_UNIMPLEMENTED, "not this one")',
            "UNIMPLEMENTED",
            "failed: not this one",
        ),
    ],
)
def test_bad_answers_are_refused(
    variant: Make, graph: Graph, name: str, body: str, status: str, text: str
) -> None:
    library = variant(DEVICE=name, OPTIMIZE=body)
    registered(library)
    with pytest.raises(HostError) as caught:
        optimizer.run(name, graph.to_bytes(), ["z:0"])
    assert caught.value.status == status
    assert text in caught.value.found
    assert library.path in caught.value.found


def test_thrown_exceptions_become_errors(compile_library: Compile, graph: Graph) -> None:
    library = open_library(compile_library("optimizer_throws.cc"))
    registered(library)
    with pytest.raises(
        HostError, match="threw a C\\+\\+ exception out of optimize_func: deliberate"
    ):
        optimizer.run("THROWS", graph.to_bytes())


def test_four_arguments_of_tensorflow_2_5(compile_library: Compile, graph: Graph) -> None:
    """S0-version: without the item, which TF_GetGrapplerItem gives."""
    registered(open_library(compile_library("optimizer_four.c")))
    with pytest.raises(HostError, match="failed: preserve: x z; fetch: z:0"):
        optimizer.run("FOUR", graph.to_bytes(), ["z:0"], ["x:0"], ["z", "x"])


# What is where a status would be when a function is called that the RFC gave none.
JUNK = {
    "null": "NULL",
    "odd": "(char*)words + 1",
    "unmapped": "8",
    "kernel": "-4096",
    "other": "words",
    "code": "rewrite",
    "freed": "gone()",
    "graph": "graph",
    "answer": "optimized",
}


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("arguments", [3, 4])
def test_forms_of_the_proposal(
    compile_library: Compile, graph: Graph, arguments: int, junk: str
) -> None:
    """S0-optimize: three arguments by its header, four by its example; nothing states which."""
    device = f"RFC_{arguments}_{junk.upper()}"
    flags = [f'-DDEVICE="{device}"', f"-DARGUMENTS={arguments}", f"-DJUNK={JUNK[junk]}"]
    library = open_library(compile_library("optimizer_rfc.c", flags=flags))
    found = registered(library, "TF_InitGraphPlugin")
    assert found.sizes["configs"] == 88
    assert found.configs == {
        "remapping": "off",
        "memory_optimization": "on",
        "auto_parallel": "off",
    }
    for _ in range(2):
        changed = optimizer.run(device, graph.to_bytes(), ["z:0"], ["x:0"], ["z", "x"])
        assert changed is not None
        assert b"saw_1_1_1_1" in changed


def test_a_failure_in_four_arguments_is_told(compile_library: Compile, graph: Graph) -> None:
    flags = ['-DDEVICE="RFC_FAILS"', "-DARGUMENTS=4", "-DJUNK=NULL", "-DFAILS"]
    library = open_library(compile_library("optimizer_rfc.c", flags=flags))
    registered(library, "TF_InitGraphPlugin")
    with pytest.raises(
        HostError, match=r"the RFC_FAILS optimizer of .* failed: not today"
    ) as caught:
        optimizer.run("RFC_FAILS", graph.to_bytes(), ["z:0"])
    assert caught.value.status == "ABORTED"


def test_an_item_that_is_kept_is_gone(variant: Make, graph: Graph) -> None:
    registered(
        variant(
            DEVICE="KEEPS",
            BEFORE_OPTIMIZE="static const TF_GrapplerItem* kept;",
            OPTIMIZE="int n; size_t s; if (kept != NULL) TF_GetFetchNodesListSize(kept, &n, &s, "
            "status); kept = item; copy_graph(graph, optimized)",
        )
    )
    assert optimizer.run("KEEPS", graph.to_bytes()) is None
    with pytest.raises(HostError, match="the item is gone: it is there while optimize_func runs"):
        optimizer.run("KEEPS", graph.to_bytes())


def test_unknown_device_type_lists_the_known(variant: Make, graph: Graph) -> None:
    registered(variant(DEVICE="KNOWN"))
    with pytest.raises(
        HostError, match="no optimizer is registered for device type NONE"
    ) as caught:
        optimizer.run("NONE", graph.to_bytes())
    assert "KNOWN" in caught.value.found


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x05", b"\x0a\x00"])
def test_malformed_graph_makes_no_item(data: bytes) -> None:
    with pytest.raises(HostError) as caught:
        optimizer.run("IDENTITY", data)
    assert caught.value.status == "INVALID_ARGUMENT"


def test_several_threads_run_one_optimizer(variant: Make, graph: Graph) -> None:
    registered(variant(DEVICE="THREADS", OPTIMIZE='append_node(graph, "n", "NoOp", optimized)'))
    data, found = graph.to_bytes(), []
    threads = [
        threading.Thread(target=lambda: found.append(optimizer.run("THREADS", data)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4
